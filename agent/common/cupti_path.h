/* Finds NVIDIA's profiling libraries. */
#ifndef CW_AGENT_CUPTI_PATH_H
#define CW_AGENT_CUPTI_PATH_H

#include <stddef.h>

/* Writes the path of libcupti, "" if it was not found. Returns `path`. */
const char *cw_cupti_path(char *path, size_t size);
/* Loads libcupti: the one that the process has, the one at `path` (NULL or "": none), or the loader's. NULL if there is
 * none, with dlerror. */
void *cw_cupti_open(const char *path);
/* Loads another library from the folder of the library that has the function or variable at `address`. NULL if there is
 * none, with dlerror. */
void *cw_open_beside(const void *address, const char *name);

#endif
