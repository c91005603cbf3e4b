#define _GNU_SOURCE
#include "agent/backend/cupti/pm_clock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TRIES = 24 };

static const char kernel_source[] = ".version 7.0\n"
                                    ".target sm_52\n"
                                    ".address_size 64\n"
                                    ".visible .entry read_clock(.param .u64 to)\n"
                                    "{\n"
                                    "    .reg .b64 %place, %time;\n"
                                    "    ld.param.u64 %place, [to];\n"
                                    "    mov.u64 %time, %globaltimer;\n"
                                    "    st.volatile.u64 [%place], %time;\n"
                                    "    membar.sys;\n"
                                    "    ret;\n"
                                    "}\n";

#define FUNCTIONS(X)                                                                                                   \
    X(cuDevicePrimaryCtxRetain)                                                                                        \
    X(cuCtxSetCurrent)                                                                                                 \
    X(cuModuleLoadData)                                                                                                \
    X(cuModuleGetFunction)                                                                                             \
    X(cuMemHostAlloc)                                                                                                  \
    X(cuLaunchKernel)                                                                                                  \
    X(cuCtxSynchronize)

struct cw_pm_clock {
#define X(name) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
    CUcontext context;
    CUfunction kernel;
    volatile uint64_t *time; /* of the host and of the device alike */
};

static CUresult prepare(struct cw_pm_clock *c, CUdevice device, const char **call)
{
    CUmodule module;
    CUresult result;
    void *memory = NULL;
#define TRY(name, ...)                                                                                                 \
    if (*call = #name, (result = c->name(__VA_ARGS__)) != CUDA_SUCCESS)                                                \
        return result;
    TRY(cuDevicePrimaryCtxRetain, &c->context, device)
    TRY(cuCtxSetCurrent, c->context)
    TRY(cuModuleLoadData, &module, kernel_source)
    TRY(cuModuleGetFunction, &c->kernel, module, "read_clock")
    TRY(cuMemHostAlloc, &memory, sizeof *c->time, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)
#undef TRY
    c->time = memory;
    return CUDA_SUCCESS;
}

struct cw_pm_clock *cw_pm_clock_create(const struct cw_cupti *api, CUdevice device, char *why, size_t size)
{
    struct cw_pm_clock *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    const char *missing = NULL, *call = "";
#define X(name)                                                                                                        \
    *(void **)&c->name = dlsym(api->cuda_library, #name);                                                              \
    if (!c->name)                                                                                                      \
        missing = #name;
    FUNCTIONS(X)
#undef X
    CUresult result = missing ? CUDA_SUCCESS : prepare(c, device, &call);
    if (!missing && result == CUDA_SUCCESS)
        return c;
    if (missing)
        snprintf(why, size, "this driver lacks %s", missing);
    else
        snprintf(why, size, "%s failed (%d)", call, (int)result);
    free(c);
    return NULL;
}

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Each try says that the wall's clock was between `before` and `after` when the device's read `seen`; together they say
 * it best. A busy GPU lets the kernel wait, but not what it has read: that is seen a moment later, so that the truth is
 * near the upper end. */
bool cw_pm_clock_read(struct cw_pm_clock *c, struct cw_clock_pair *pair)
{
    static const int64_t moment_ns = 3000;
    int64_t low = INT64_MIN, high = INT64_MAX; /* of wall minus device */
    uint64_t seen = 0;
    CUdeviceptr place = (CUdeviceptr)(uintptr_t)c->time;
    void *arguments[] = {&place};
    if (c->cuCtxSetCurrent(c->context) != CUDA_SUCCESS)
        return false;
    for (int i = 0; i < TRIES; i++) {
        *c->time = 0;
        uint64_t before = wall_ns(), after = before;
        if (c->cuLaunchKernel(c->kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL) != CUDA_SUCCESS)
            return false;
        while (!(seen = *c->time) && after - before < 1000000000)
            after = wall_ns();
        after = wall_ns(); /* once it is there */
        if (c->cuCtxSynchronize() != CUDA_SUCCESS || !seen)
            return false;
        low = (int64_t)(before - seen) > low ? (int64_t)(before - seen) : low;
        high = (int64_t)(after - seen) < high ? (int64_t)(after - seen) : high;
    }
    int64_t width = high - low, below = width / 2 < moment_ns ? width / 2 : moment_ns;
    *pair = (struct cw_clock_pair){seen, seen + (uint64_t)(high - below), (uint64_t)(width - below)};
    return true;
}

void cw_pm_clock_destroy(struct cw_pm_clock *c)
{
    free(c);
}
