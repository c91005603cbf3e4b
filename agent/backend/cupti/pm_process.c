/* The messages of the sampling process to the agent, its driver and CUPTI, and the GPU's clock beside the wall's. */
#define _GNU_SOURCE
#include "agent/backend/cupti/pm_process.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "agent/backend/lacking.h"
#include "agent/common/cupti_path.h"
#include "base/text.h"
#include "host/nvperf/lower.h"

struct cw_pm_process cw_pm_process = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t wire = PTHREAD_MUTEX_INITIALIZER; /* for whole messages to the agent */

/* ---- messages to the agent -------------------------------------------------------------------------------------- */

void cw_pm_send(enum cw_message_type type, const void *payload, size_t size)
{
    pthread_mutex_lock(&wire);
    if (!cw_message_send(cw_pm_process.fd, type, payload, size))
        _exit(1);
    pthread_mutex_unlock(&wire);
}

void cw_pm_give_up(enum cw_status status, const char *format, ...)
{
    struct cw_writer out;
    va_list args;
    va_start(args, format);
    cw_message_write_failure(&out, status, format, args);
    va_end(args);
    cw_pm_send(CW_MESSAGE_FAIL, out.data, out.size);
    _exit(1);
}

void cw_pm_need(bool condition)
{
    if (!condition)
        cw_pm_give_up(CW_ERR_NOMEM, "out of memory in the sampling process");
}

void cw_pm_good(CUptiResult result, const char *call)
{
    char text[600];
    if (result == CUPTI_SUCCESS)
        return;
    enum cw_status status = cw_cupti_explain(&cw_pm_process.api, result, call, text, sizeof text);
    cw_pm_give_up(status, "%s", text);
}

void cw_pm_send_chunks(uint32_t samples, uint64_t lost, const struct cw_writer *chunks)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u32(&out, samples);
    cw_write_u64(&out, lost);
    cw_write_u64(&out, cw_pm_process.sample_ns);
    cw_write_bytes(&out, chunks->data, chunks->size);
    cw_pm_need(chunks->status == CW_OK && out.status == CW_OK);
    cw_pm_send(CW_MESSAGE_CHUNKS, out.data, out.size);
    cw_writer_free(&out);
}

void cw_pm_tell_window(enum cw_window_state state)
{
    const uint8_t at = (uint8_t)state;
    cw_pm_send(CW_MESSAGE_WINDOW, &at, sizeof at);
}

/* ---- driver and CUPTI ------------------------------------------------------------------------------------------- */

static void load_libraries(void)
{
    char path[1024];
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    CUresult (*init)(unsigned) = NULL;
    if (cuda)
        *(void **)&init = dlsym(cuda, "cuInit");
    if (!init || init(0) != CUDA_SUCCESS)
        cw_pm_give_up(CW_ERR_DEVICE, "the sampling process cannot initialise the NVIDIA driver");
    if (!cw_cupti_load(&cw_pm_process.api, cw_cupti_path(path, sizeof path)))
        cw_pm_give_up(CW_ERR_UNSUPPORTED, "%s; CW_CUPTI may name it", cw_pm_process.api.missing);
#define X(name)                                                                                                        \
    *(void **)&cw_pm_process.name = dlsym(cw_pm_process.api.cupti_library, #name);                                     \
    if (!cw_pm_process.name)                                                                                           \
        cw_pm_give_up(CW_ERR_UNSUPPORTED, "this CUPTI lacks " #name "; CUDA 12.6 or newer is expected");
    CW_PM_FUNCTIONS(X)
#undef X
    cw_availability_load(&cw_pm_process.availability, cw_pm_process.api.cupti_library);
    PARAMS(CUpti_Profiler_Initialize_Params, init_params);
    CUptiResult result = cw_pm_process.api.cuptiProfilerInitialize(&init_params);
    cw_pm_good(result, "cuptiProfilerInitialize");
}

static void check_chip(void)
{
    PARAMS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = cw_pm_process.device;
    cw_pm_good(cw_pm_process.api.cuptiDeviceGetChipName(&chip), "cuptiDeviceGetChipName");
    if (strcmp(chip.pChipName, cw_pm_process.schema->chip) != 0)
        cw_pm_give_up(CW_ERR_DEVICE, "found the chip %s, expected %s, which the plan is for", chip.pChipName,
                      cw_pm_process.schema->chip);
}

void cw_pm_lower(void)
{
    static struct cw_writer lowered;
    struct cw_config_image rest;
    const struct cw_nvperf *library;
    struct cw_error err = CW_ERROR_INIT;
    struct cw_arena *arena = cw_arena_create();
    cw_pm_need(arena);
    cw_writer_free(&lowered);
    cw_writer_init(&lowered);
    enum cw_status status =
        cw_lacking_rest(&rest, cw_pm_process.options->capture.plan, cw_pm_process.lacks, arena, &err);
    if (status == CW_OK)
        status = cw_nvperf_open(&library, NULL, &err);
    if (status == CW_OK)
        status = cw_nvperf_lower(library, &rest, 0, &lowered, &err);
    if (status != CW_OK)
        cw_pm_give_up(status, "%s", err.message);
    cw_pm_need(lowered.status == CW_OK);
    cw_pm_process.native = &lowered;
    cw_arena_destroy(arena);
}

/* ---- pairs of GPU clock and wall clock -------------------------------------------------------------------------- */

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

static struct {
#define X(name) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
    CUcontext context;
    CUfunction kernel;
    volatile uint64_t *time;   /* memory of both host and device; NULL: the clock cannot be read */
    struct cw_clock_pair last; /* last reading, unsent if it is due */
    bool is_due;
} gpu_clock;

/* Loads a kernel of one thread that reads the GPU's nanosecond clock, in the device's primary context, which stays
 * until the process ends. */
static CUresult load_kernel(const char **call)
{
    CUmodule module;
    CUresult result;
    void *memory = NULL;
#define TRY(name, ...)                                                                                                 \
    if (*call = #name, (result = gpu_clock.name(__VA_ARGS__)) != CUDA_SUCCESS)                                         \
        return result;
    TRY(cuDevicePrimaryCtxRetain, &gpu_clock.context, (CUdevice)cw_pm_process.device)
    TRY(cuCtxSetCurrent, gpu_clock.context)
    TRY(cuModuleLoadData, &module, kernel_source)
    TRY(cuModuleGetFunction, &gpu_clock.kernel, module, "read_clock")
    TRY(cuMemHostAlloc, &memory, sizeof *gpu_clock.time, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)
#undef TRY
    gpu_clock.time = memory;
    return CUDA_SUCCESS;
}

static void load_clock(void)
{
    const char *missing = NULL, *call = "";
    char why[200];
#define X(name)                                                                                                        \
    *(void **)&gpu_clock.name = dlsym(cw_pm_process.api.cuda_library, #name);                                          \
    if (!gpu_clock.name)                                                                                               \
        missing = #name;
    FUNCTIONS(X)
#undef X
    CUresult result = missing ? CUDA_SUCCESS : load_kernel(&call);
    if (missing)
        snprintf(why, sizeof why, "this driver lacks %s", missing);
    else
        snprintf(why, sizeof why, "%s failed (%d)", call, (int)result);
    if (!gpu_clock.time)
        cw_text_print(stderr, "capture-agent: GPU %u: %s, so times are its own and not the wall clock's\n",
                      cw_pm_process.device, why);
}

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads both clocks. Each try proves that the wall clock was between `before` and `after` when the device's read
 * `seen`; several tries narrow the interval. On a busy GPU the kernel waits, but its result is seen soon after it
 * reads, so the true value lies near the upper end. */
static bool read_clock(struct cw_clock_pair *pair)
{
    static const int64_t moment_ns = 3000;
    int64_t low = INT64_MIN, high = INT64_MAX; /* wall clock minus device clock */
    uint64_t seen = 0;
    CUdeviceptr place = (CUdeviceptr)(uintptr_t)gpu_clock.time;
    void *arguments[] = {&place};
    if (!gpu_clock.time || gpu_clock.cuCtxSetCurrent(gpu_clock.context) != CUDA_SUCCESS)
        return false;
    for (int i = 0; i < TRIES; i++) {
        *gpu_clock.time = 0;
        uint64_t before = wall_ns(), after = before;
        if (gpu_clock.cuLaunchKernel(gpu_clock.kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL) != CUDA_SUCCESS)
            return false;
        while (!(seen = *gpu_clock.time) && after - before < 1000000000)
            after = wall_ns();
        after = wall_ns(); /* the result has arrived */
        if (gpu_clock.cuCtxSynchronize() != CUDA_SUCCESS || !seen)
            return false;
        low = (int64_t)(before - seen) > low ? (int64_t)(before - seen) : low;
        high = (int64_t)(after - seen) < high ? (int64_t)(after - seen) : high;
    }
    int64_t width = high - low, below = width / 2 < moment_ns ? width / 2 : moment_ns;
    *pair = (struct cw_clock_pair){seen, seen + (uint64_t)(high - below), (uint64_t)(width - below)};
    return true;
}

void cw_pm_send_clock(void)
{
    struct cw_writer out;
    if (!gpu_clock.is_due)
        return;
    gpu_clock.is_due = false;
    cw_writer_init(&out);
    cw_pm_write_clock(cw_pm_process.device, &gpu_clock.last, &out);
    cw_pm_send_chunks(0, 0, &out);
    cw_writer_free(&out);
}

void cw_pm_correlate(void)
{
    gpu_clock.is_due = read_clock(&gpu_clock.last);
    if (cw_pm_process.device_sent) /* a file has the device before its clocks */
        cw_pm_send_clock();
}

void cw_pm_load(void)
{
    load_libraries();
    check_chip();
    load_clock();
}
