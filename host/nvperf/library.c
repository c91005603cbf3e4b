#define _GNU_SOURCE
#include "host/nvperf/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usual_places[] = {
    "/usr/local/cuda/lib64/libnvperf_host.so",
    "/usr/local/cuda/targets/x86_64-linux/lib/libnvperf_host.so",
    "/usr/local/cuda/extras/CUPTI/lib64/libnvperf_host.so",
    "/usr/local/cuda-*/lib64/libnvperf_host.so",
    "/usr/local/cuda-*/targets/x86_64-linux/lib/libnvperf_host.so",
    "/opt/nvidia/nsight-compute/*/host/linux-desktop-glibc_2_11_3-x64/libnvperf_host.so",
    "/opt/nvidia/nsight-compute/*/target/linux-desktop-glibc_2_11_3-x64/libnvperf_host.so",
};

enum cw_status cw_nvperf_check(NVPA_Status status, const char *call, struct cw_error *err)
{
    static const char *const meaning[] = {
        [NVPA_STATUS_NOT_SUPPORTED] = "not supported",
        [NVPA_STATUS_INVALID_ARGUMENT] = "invalid argument",
        [NVPA_STATUS_INVALID_METRIC_ID] = "unknown metric or raw counter",
        [NVPA_STATUS_OUT_OF_MEMORY] = "out of memory",
        [NVPA_STATUS_UNSUPPORTED_GPU] = "unsupported GPU",
        [NVPA_STATUS_INSUFFICIENT_SPACE] = "insufficient space",
    };
    if (status == NVPA_STATUS_SUCCESS)
        return CW_OK;
    const char *text = (size_t)status < sizeof meaning / sizeof *meaning ? meaning[status] : NULL;
    return cw_error_set(err, CW_ERR_UNSUPPORTED, "NVIDIA's host library: %s failed with status %d%s%s", call,
                        (int)status, text ? ", " : "", text ? text : "");
}

static void *load_from(const char *pattern)
{
    glob_t found;
    void *handle = NULL;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i > 0 && !handle; i--) /* names sort by version, so the newest is last */
            handle = dlopen(found.gl_pathv[i - 1], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    return handle;
}

static void *load(const char *path, struct cw_error *err)
{
    if (!path)
        path = getenv("CW_NVPERF_HOST");
    if (path && *path) {
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            cw_error_set(err, CW_ERR_UNSUPPORTED, "cannot load NVIDIA's host library: %s", dlerror());
        return handle;
    }
    void *handle = dlopen("libnvperf_host.so", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof usual_places / sizeof *usual_places && !handle; i++)
        handle = load_from(usual_places[i]);
    if (!handle)
        cw_error_set(err, CW_ERR_UNSUPPORTED,
                     "NVIDIA's host library libnvperf_host.so was not found; it comes with the CUDA toolkit and with "
                     "Nsight Compute, and CW_NVPERF_HOST may name it");
    return handle;
}

enum cw_status cw_nvperf_open(const struct cw_nvperf **out, const char *path, struct cw_error *err)
{
    static struct cw_nvperf library;
    static bool loaded;
    if (!loaded) {
        void *handle = load(path, err);
        if (!handle)
            return CW_ERR_UNSUPPORTED;
#define X(name)                                                                                                        \
    *(void **)&library.name = dlsym(handle, "NVPW_" #name);                                                            \
    if (!library.name)                                                                                                 \
        return cw_error_set(err, CW_ERR_UNSUPPORTED,                                                                   \
                            "NVIDIA's host library lacks NVPW_" #name ", expected that of CUDA 13.0, which an older "  \
                            "CUPTI works with too; CW_NVPERF_HOST may name it");
        CW_NVPERF_FUNCTIONS(X)
#undef X
        *(void **)&library.CounterData_GetNumRanges = dlsym(handle, "NVPW_CounterData_GetNumRanges");
        *(void **)&library.Device_MetricsEvaluator_CalculateScratchBufferSize =
            dlsym(handle, "NVPW_Device_MetricsEvaluator_CalculateScratchBufferSize");
        *(void **)&library.Device_MetricsEvaluator_Initialize =
            dlsym(handle, "NVPW_Device_MetricsEvaluator_Initialize");
        Dl_info info;
        if (dladdr(*(void **)&library.InitializeHost, &info) && info.dli_fname)
            snprintf(library.path, sizeof library.path, "%s", info.dli_fname);
        CW_NVPERF_PARAMS(InitializeHost, init);
        CW_NVPERF_TRY(&library, InitializeHost, init, err);
        loaded = true;
    }
    *out = &library;
    return CW_OK;
}

enum cw_status cw_nvperf_chips(const struct cw_nvperf *library, const char *const **names, size_t *count,
                               struct cw_error *err)
{
    CW_NVPERF_PARAMS(GetSupportedChipNames, p);
    CW_NVPERF_TRY(library, GetSupportedChipNames, p, err);
    *names = p.ppChipNames;
    *count = p.numChipNames;
    return CW_OK;
}

const char *cw_nvperf_raw_name(uint64_t raw, char name[CW_NVPERF_NAME_SIZE])
{
    snprintf(name, CW_NVPERF_NAME_SIZE, "0x%016" PRIx64, raw);
    return name;
}

bool cw_nvperf_raw_number(const char *name, uint64_t *raw)
{
    char *end;
    errno = 0;
    *raw = strtoull(name, &end, 16);
    return errno == 0 && strncmp(name, "0x", 2) == 0 && !*end;
}
