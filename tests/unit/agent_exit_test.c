/* The end of a profiled program: what is still being collected is sent, while CUPTI is whole. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/filter.h"
#include "agent/inject/inject.h"
#include "host/base/arena.h"

int InitializeInjection(void);

static CUpti_CallbackFunc callback;
static bool library_is_gone;
static const CUcontext context = (CUcontext)0x10;
static CUcontext thread_has; /* none, as in a program that makes contexts with the driver's calls */

/* ---- a CUPTI that loads a library when it is first needed ------------------------------------------------------- */

static void unload_library(void)
{
    library_is_gone = true;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function, void *user)
{
    *subscriber = NULL;
    callback = function;
    return user ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

static CUptiResult enable_callback(uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                   CUpti_CallbackId id)
{
    return on && !subscriber && domain && id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult chip_name(CUpti_Device_GetChipName_Params *p)
{
    p->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

static CUptiResult callback_name(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    *name = "cuLaunchKernel";
    return domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel
               ? CUPTI_SUCCESS
               : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult version(uint32_t *number)
{
    *number = 130001;
    return CUPTI_SUCCESS;
}

static CUptiResult initialize(CUpti_Profiler_Initialize_Params *p)
{
    return p ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult enable(CUpti_RangeProfiler_Enable_Params *p)
{
    p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&library_is_gone;
    return atexit(unload_library) == 0 ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

static CUptiResult disable(CUpti_RangeProfiler_Disable_Params *p)
{
    return p->pRangeProfilerObject ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult data_size(CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
    p->counterDataSize = 16;
    return CUPTI_SUCCESS;
}

static CUptiResult initialize_data(CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p)
{
    return p->pCounterData ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult set_config(CUpti_RangeProfiler_SetConfig_Params *p)
{
    return p->pConfig ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult start(CUpti_RangeProfiler_Start_Params *p)
{
    return p->pRangeProfilerObject ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult stop(CUpti_RangeProfiler_Stop_Params *p)
{
    if (library_is_gone)
        abort();
    p->isAllPassSubmitted = 1;
    return CUPTI_SUCCESS;
}

static CUptiResult decode(CUpti_RangeProfiler_DecodeData_Params *p)
{
    p->numOfRangeDropped = 0;
    return library_is_gone ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

static CUresult current(CUcontext *c)
{
    *c = thread_has;
    return CUDA_SUCCESS;
}

static CUresult push_current(CUcontext c)
{
    thread_has = c;
    return CUDA_SUCCESS;
}

static CUresult pop_current(CUcontext *c)
{
    *c = thread_has;
    thread_has = NULL;
    return CUDA_SUCCESS;
}

static CUresult device_of(CUdevice *device)
{
    *device = 0;
    return thread_has == context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult device_name(char *text, int size, CUdevice device)
{
    snprintf(text, (size_t)size, "GPU %d", device);
    return CUDA_SUCCESS;
}

static CUresult no_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    *value = (int)attribute + device;
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult driver_version(int *number)
{
    *number = 13000;
    return CUDA_SUCCESS;
}

static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

bool cw_cupti_load(struct cw_cupti *api, const char *path)
{
    *api = (struct cw_cupti){.cuptiSubscribe = subscribe,
                             .cuptiEnableCallback = enable_callback,
                             .cuptiDeviceGetChipName = chip_name,
                             .cuptiGetCallbackName = callback_name,
                             .cuptiGetVersion = version,
                             .cuptiProfilerInitialize = initialize,
                             .cuptiRangeProfilerEnable = enable,
                             .cuptiRangeProfilerDisable = disable,
                             .cuptiRangeProfilerGetCounterDataSize = data_size,
                             .cuptiRangeProfilerCounterDataImageInitialize = initialize_data,
                             .cuptiRangeProfilerSetConfig = set_config,
                             .cuptiRangeProfilerStart = start,
                             .cuptiRangeProfilerStop = stop,
                             .cuptiRangeProfilerDecodeData = decode,
                             .cuCtxGetCurrent = current,
                             .cuCtxPushCurrent_v2 = push_current,
                             .cuCtxPopCurrent_v2 = pop_current,
                             .cuCtxGetDevice = device_of,
                             .cuDeviceGetName = device_name,
                             .cuDeviceGetAttribute = no_attribute,
                             .cuDeviceGetPCIBusId = device_name,
                             .cuDriverGetVersion = driver_version,
                             .cuStreamIsCapturing = is_capturing};
    return path == NULL;
}

enum cw_status cw_cupti_explain(const struct cw_cupti *api, CUptiResult result, const char *call, char *text,
                                size_t size)
{
    snprintf(text, size, "%s failed: %d", call, (int)result);
    return api ? CW_ERR_DEVICE : CW_ERR_INPUT;
}

/* ---- the program, and the agent that listens -------------------------------------------------------------------- */

static void launch(CUpti_ApiCallbackSite site)
{
    cuLaunchKernel_params params = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32};
    CUresult result = CUDA_SUCCESS;
    const CUpti_CallbackData call = {.callbackSite = site,
                                     .functionParams = &params,
                                     .functionReturnValue = &result,
                                     .context = context,
                                     .symbolName = "step",
                                     .correlationId = 7};
    callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
}

/* Launches once, and ends without waiting for it. */
static void program(const char *path)
{
    const CUpti_ResourceData created = {.context = context};
    setenv(CW_AGENT_SOCKET_VARIABLE, path, 1);
    InitializeInjection();
    callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &created);
    if (thread_has)
        abort();
    launch(CUPTI_API_ENTER);
    launch(CUPTI_API_EXIT);
    exit(0);
}

static void answer(int fd)
{
    struct cw_writer setup;
    cw_writer_init(&setup);
    cw_write_u32(&setup, CW_MODE_RANGE);
    cw_write_u32(&setup, 4);
    cw_write_u32(&setup, 1);
    cw_write_u32(&setup, 1);
    cw_write_string(&setup, "smsp__inst_executed.sum");
    cw_write_u32(&setup, 1);
    cw_write_u32(&setup, 8);
    cw_write_u64(&setup, 0);
    for (int none = 0; none < 5; none++) /* for the device, and what is counted once */
        cw_write_u32(&setup, 0);
    cw_write_u32(&setup, CW_REPLAY_KERNEL);
    cw_write_u8(&setup, 0);
    cw_write_u32(&setup, 0);
    cw_write_u32(&setup, 1);
    cw_filter_write(&setup, &(struct cw_filter_options){.launch_count = UINT64_MAX});
    cr_expect(cw_message_send(fd, CW_MESSAGE_SETUP, setup.data, setup.size));
    cw_writer_free(&setup);
}

/* How many messages of a type come until the program ends; besides HELLO there are no others. */
static int listen_to(int fd, enum cw_message_type expected)
{
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    int count = 0;
    while (cw_message_receive(fd, &type, &payload, &size)) {
        cr_expect(type == CW_MESSAGE_HELLO || type == expected, "%d", type);
        if (type == CW_MESSAGE_HELLO)
            answer(fd);
        if (type == CW_MESSAGE_RANGES)
            cr_expect(cw_message_send(fd, CW_MESSAGE_TAKEN, NULL, 0));
        count += type == expected;
        free(payload);
    }
    return count;
}

/* Runs the program, whose files may not become larger, and expects one message of a type. */
static void run(rlim_t largest_file, enum cw_message_type expected)
{
    char folder[] = "/tmp/exit_test_XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    cr_assert(mkdtemp(folder));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), status = -1;
    cr_assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){largest_file, RLIM_INFINITY});
        program(address.sun_path);
    }
    int fd = accept(listener, NULL, NULL);
    cr_expect_eq(listen_to(fd, expected), 1);
    cr_expect(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    close(fd);
    close(listener);
    unlink(address.sun_path);
    rmdir(folder);
}

Test(exit, sends_what_is_open_before_the_profiler_is_taken_down, .timeout = 60)
{
    run(RLIM_INFINITY, CW_MESSAGE_RANGES);
}

/* Memory that is handed over is a file, and one that is too large would end the program by a signal. */
Test(exit, a_limit_on_files_ends_the_capture_and_not_the_program, .timeout = 60)
{
    run(8, CW_MESSAGE_FAIL);
}
