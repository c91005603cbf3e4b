/* Finds NVIDIA's profiling library. */
#ifndef CW_AGENT_CUPTI_PATH_H
#define CW_AGENT_CUPTI_PATH_H

#include <stddef.h>

/* Writes the path of libcupti, "" if it was not found. Returns `path`. */
const char *cw_cupti_path(char *path, size_t size);

#endif
