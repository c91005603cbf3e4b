/* Where NVIDIA's profiling library lies. */
#ifndef CW_AGENT_CUPTI_PATH_H
#define CW_AGENT_CUPTI_PATH_H

#include <stddef.h>

/* Where libcupti was found, "" where it was not. Returns `path`. */
const char *cw_cupti_path(char *path, size_t size);

#endif
