/* What a capture on this node needs, asked of the driver and CUPTI in a process of its own: the agent itself never
 * holds a GPU context, and a library that crashes takes only the check down. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/backend.h"
#include "agent/inject/cupti_api.h"
#include "host/nvperf/nvperf.h"

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

/* The answers of the checking process, in its pipe: a line each, "ok TEXT" or "N TEXT" with the status N. */
struct answers {
    FILE *to;
};

__attribute__((format(printf, 3, 4))) static bool answer(const struct answers *a, enum cw_status status,
                                                         const char *format, ...)
{
    va_list args;
    fprintf(a->to, "%d ", (int)status);
    va_start(args, format);
    vfprintf(a->to, format, args);
    va_end(args);
    fputc('\n', a->to);
    fflush(a->to);
    return status == CW_OK;
}

static bool check_driver(const struct answers *a, CUdevice *count)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!cuda)
        return answer(a, CW_ERR_DEVICE, "no NVIDIA driver: libcuda.so.1 was not found; is this a GPU node?");
    CUresult (*init)(unsigned) = NULL;
    CUresult (*devices)(int *) = NULL;
    *(void **)&init = dlsym(cuda, "cuInit");
    *(void **)&devices = dlsym(cuda, "cuDeviceGetCount");
    CUresult result = init ? init(0) : CUDA_ERROR_UNKNOWN;
    if (result == CUDA_ERROR_NO_DEVICE)
        return answer(a, CW_ERR_DEVICE, "no GPU: the driver is here but finds no device");
    if (result != CUDA_SUCCESS || devices(count) != CUDA_SUCCESS || *count == 0)
        return answer(a, CW_ERR_DEVICE, "no usable GPU: cuInit returned %d", (int)result);
    return answer(a, CW_OK, "driver and %d GPU%s", *count, *count == 1 ? "" : "s");
}

/* What the profiler's first answers mean for a capture. */
static bool profiler_answer(const struct answers *a, const struct cw_cupti *api, CUptiResult result, CUdevice device)
{
    switch (result) {
    case CUPTI_SUCCESS:
        return answer(a, CW_OK, "permission for counters");
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        return answer(a, CW_ERR_DEVICE,
                      "no permission for GPU performance counters: run as root or with CAP_SYS_ADMIN, or let the "
                      "administrator load the driver with NVreg_RestrictProfilingToAdminUsers=0");
    case CUPTI_ERROR_HARDWARE_BUSY:
        return answer(a, CW_ERR_DEVICE, "another profiler holds the counters of GPU %d", device);
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        return answer(a, CW_ERR_UNSUPPORTED, "GPU %d is split by MIG, which the range profiler does not support",
                      device);
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
        return answer(a, CW_ERR_UNSUPPORTED, "GPU %d runs in confidential-computing mode, which hides its counters",
                      device);
    default: {
        const char *name = NULL;
        api->cuptiGetResultString(result, &name);
        return answer(a, CW_ERR_DEVICE, "the range profiler does not start: %s (%d)", name ? name : "?", (int)result);
    }
    }
}

static bool check_chip(const struct answers *a, struct cw_cupti *api, int count, const char *wanted, CUdevice *device)
{
    char seen[256] = "";
    *device = 0;
    for (int i = 0; i < count; i++) {
        CUpti_Device_GetChipName_Params p;
        memset(&p, 0, sizeof p);
        p.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
        p.deviceIndex = (size_t)i;
        if (api->cuptiDeviceGetChipName(&p) != CUPTI_SUCCESS)
            continue;
        size_t used = strlen(seen);
        snprintf(seen + used, sizeof seen - used, "%s%s", used ? ", " : "", p.pChipName);
        if (!wanted || strcmp(p.pChipName, wanted) == 0) {
            *device = i;
            return answer(a, CW_OK, "chip %s", p.pChipName);
        }
    }
    return answer(a, CW_ERR_DEVICE, "found the chip %s, expected %s, which the plan is for", *seen ? seen : "?",
                  wanted);
}

/* Whether this user may read counters shows when the profiler is enabled on a context. */
static bool check_permission(const struct answers *a, struct cw_cupti *api, CUdevice device)
{
    CUresult (*retain)(CUcontext *, CUdevice) = NULL;
    *(void **)&retain = dlsym(RTLD_DEFAULT, "cuDevicePrimaryCtxRetain");
    CUcontext context = NULL;
    if (!retain || retain(&context, device) != CUDA_SUCCESS)
        return answer(a, CW_ERR_DEVICE, "cannot make a context on GPU %d: is it used exclusively by another process?",
                      device);
    CUpti_RangeProfiler_Enable_Params enable;
    memset(&enable, 0, sizeof enable);
    enable.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
    enable.ctx = context;
    return profiler_answer(a, api, api->cuptiRangeProfilerEnable(&enable), device);
}

static void check_all(const struct answers *a, const char *chip)
{
    static struct cw_cupti api;
    int count;
    CUdevice device;
    char path[1024];
    if (!check_driver(a, &count))
        return;
    if (!cw_cupti_load(&api, cw_cupti_path(path, sizeof path))) {
        answer(a, CW_ERR_UNSUPPORTED, "%s; CW_CUPTI may name it", api.missing);
        return;
    }
    uint32_t version = 0;
    api.cuptiGetVersion(&version);
    answer(a, CW_OK, "CUPTI %u", version);
    CUpti_Profiler_Initialize_Params init; /* chip names cannot be asked for before */
    memset(&init, 0, sizeof init);
    init.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    CUptiResult result = api.cuptiProfilerInitialize(&init);
    if (result != CUPTI_SUCCESS)
        profiler_answer(a, &api, result, 0);
    else if (check_chip(a, &api, count, chip, &device))
        check_permission(a, &api, device);
}

static enum cw_status read_answers(FILE *from, bool report, struct cw_error *err)
{
    char line[1024];
    enum cw_status status = CW_OK;
    while (fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = 0;
        char *text;
        enum cw_status one = (enum cw_status)strtol(line, &text, 10);
        text += *text == ' ';
        if (report)
            printf("%-5s %s\n", one == CW_OK ? "ok" : "FAIL", text);
        if (one != CW_OK)
            status = cw_error_set(err, one, "%s", text);
    }
    return status;
}

static enum cw_status check_device(const char *chip, bool report, struct cw_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cw_error_set(err, CW_ERR_IO, "cannot create a pipe");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct answers a = {fdopen(ends[1], "w")};
        if (a.to)
            check_all(&a, chip);
        _exit(0);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    enum cw_status status = pid > 0 && from ? read_answers(from, report, err) : cw_error_nomem(err);
    if (from)
        fclose(from);
    int how = 0;
    if (pid > 0 && waitpid(pid, &how, 0) == pid && WIFSIGNALED(how) && status == CW_OK)
        status =
            cw_error_set(err, CW_ERR_DEVICE, "the check of driver and CUPTI crashed with signal %d", WTERMSIG(how));
    return status;
}

enum cw_status cw_cupti_check(const char *chip, bool report, struct cw_error *err)
{
    const struct cw_nvperf *library;
    struct cw_error missing = CW_ERROR_INIT;
    enum cw_status status = cw_nvperf_open(&library, NULL, &missing);
    if (report)
        printf("%-5s %s\n", status == CW_OK ? "ok" : "FAIL",
               status == CW_OK ? "NVIDIA's host library" : missing.message);
    if (status != CW_OK) {
        cw_error_set(err, status, "%s", missing.message);
        if (!report)
            return status;
    }
    enum cw_status device = check_device(chip, report, err);
    return status != CW_OK ? status : device;
}
