#define _GNU_SOURCE
#include "agent/common/cupti_api.h"

#include <dlfcn.h>
#include <stdio.h>

#include "agent/common/cupti_path.h"

bool cw_cupti_load(struct cw_cupti *api, const char *path)
{
    void *cupti = cw_cupti_open(path);
    if (!cupti) {
        snprintf(api->missing, sizeof api->missing, "libcupti.so cannot be loaded: %s", dlerror());
        return false;
    }
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!cuda) {
        snprintf(api->missing, sizeof api->missing, "libcuda.so.1 is not loaded in the program");
        return false;
    }
    api->cupti_library = cupti;
    api->cuda_library = cuda;
    const char *wanted = NULL;
#define X(name)                                                                                                        \
    *(void **)&api->name = dlsym(cupti, #name);                                                                        \
    if (!api->name && !wanted)                                                                                         \
        wanted = #name;
    CW_CUPTI_FUNCTIONS(X)
#undef X
#define X(name)                                                                                                        \
    *(void **)&api->name = dlsym(cuda, #name);                                                                         \
    if (!api->name && !wanted)                                                                                         \
        wanted = #name;
    CW_CUDA_FUNCTIONS(X)
#undef X
#define X(name) *(void **)&api->name = dlsym(cupti, #name);
    CW_CUPTI_OPTIONAL_FUNCTIONS(X)
#undef X
#define X(name) *(void **)&api->name = dlsym(cuda, #name);
    CW_CUDA_OPTIONAL_FUNCTIONS(X)
#undef X
    if (wanted)
        snprintf(api->missing, sizeof api->missing, "this CUPTI or driver lacks %s; CUDA 12.6 or newer is expected",
                 wanted);
    return !wanted;
}

enum cw_status cw_cupti_explain(const struct cw_cupti *api, CUptiResult result, const char *call, char *text,
                                size_t size)
{
    const char *name = NULL, *advice = "";
    enum cw_status status = CW_ERR_DEVICE;
    api->cuptiGetResultString(result, &name);
    switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        advice = "; no permission for GPU performance counters: run as root or with CAP_SYS_ADMIN, or let the "
                 "administrator load the driver with NVreg_RestrictProfilingToAdminUsers=0";
        break;
    case CUPTI_ERROR_HARDWARE_BUSY:
        advice = "; another profiler holds the counters";
        break;
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        status = CW_ERR_UNSUPPORTED;
        break;
    default:
        break;
    }
    snprintf(text, size, "%s failed: %s (%d)%s", call, name ? name : "unknown error", (int)result, advice);
    return status;
}
