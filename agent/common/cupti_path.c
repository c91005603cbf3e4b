#define _GNU_SOURCE
#include "agent/common/cupti_path.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void *cw_cupti_open(const char *path)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    void *handle = NULL;
    for (int i = 0; i < 3 && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    if (!handle && path && *path)
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < 3 && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

void *cw_open_beside(const void *address, const char *name)
{
    Dl_info found;
    char path[PATH_MAX] = "";
    if (dladdr(address, &found) && found.dli_fname)
        snprintf(path, sizeof path, "%s", found.dli_fname);
    char *slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    snprintf(path + folder, sizeof path - folder, "%s", name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
