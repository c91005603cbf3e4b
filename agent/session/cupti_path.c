#include "agent/session/cupti_path.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const cupti_places[] = {
    "/usr/local/cuda/lib64/libcupti.so.1*",
    "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so.1*",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1*",
    "/usr/local/cuda-*/targets/x86_64-linux/lib/libcupti.so.1*",
};

const char *cw_cupti_path(char *path, size_t size)
{
    const char *set = getenv("CW_CUPTI");
    snprintf(path, size, "%s", set ? set : "");
    for (size_t i = 0; !*path && i < sizeof cupti_places / sizeof *cupti_places; i++) {
        glob_t found;
        if (glob(cupti_places[i], 0, NULL, &found) == 0)
            snprintf(path, size, "%s", found.gl_pathv[found.gl_pathc - 1]);
        globfree(&found);
    }
    return path;
}
