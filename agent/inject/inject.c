/* The library that CUDA loads into the profiled program (CUDA_INJECTION64_PATH).
 *
 * It profiles every kernel launch of the first context of each device as a range of its own, with CUPTI's kernel
 * replay, and sends what it collects to capture-agent. Whatever goes wrong here ends the capture, never the program. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/cupti_api.h"
#include "agent/message.h"

enum { MOST_CONTEXTS = 64, MOST_AT_ONCE = 4096 };

/* Ranges are handed over about this often, so that a program that is killed takes few with it. Starting again costs
 * CUPTI most of a second when software counters are in the plan. */
static const uint64_t flush_ns = 5000000000;

struct launch { /* what is known of a range before it is sent */
    char *kernel;
    uint32_t correlation; /* pairs the call's return with its start; threads may launch at the same time */
    struct cw_launch data;
};

struct profiled { /* a context under the range profiler */
    CUcontext context;
    uint32_t device;
    CUpti_RangeProfiler_Object *object;
    uint8_t *image;
    size_t image_size;
    bool running;
    uint64_t armed_ns;
    uint32_t count, pending; /* launches so far, and those of them that have not returned */
    struct launch *launches;
};

static struct {
    pthread_mutex_t lock;
    struct cw_cupti api;
    int socket;
    bool over; /* nothing more is collected */
    pid_t process;
    /* from SETUP */
    uint32_t at_once, metric_count;
    const char **metrics;
    uint8_t *config;
    size_t config_size;
    struct cw_arena *arena;
    uint32_t context_count;
    struct profiled contexts[MOST_CONTEXTS];
    CUpti_SubscriberHandle subscriber;
} self = {.lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- telling the agent ------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void fail(enum cw_status status, const char *format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u32(&out, status);
    cw_write_string(&out, text);
    if (self.socket >= 0 && out.status == CW_OK)
        cw_message_send(self.socket, CW_MESSAGE_FAIL, out.data, out.size);
    cw_writer_free(&out);
    self.over = true;
}

/* True when `result` is success; otherwise the capture is over and the agent knows why. */
static bool good(CUptiResult result, const char *call)
{
    if (result == CUPTI_SUCCESS)
        return true;
    const char *name = NULL;
    self.api.cuptiGetResultString(result, &name);
    enum cw_status status = CW_ERR_DEVICE;
    const char *advice = "";
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
    fail(status, "%s failed: %s (%d)%s", call, name ? name : "unknown error", (int)result, advice);
    return false;
}

#define CALL(name, params) good(self.api.name(&(params)), #name)
#define PARAMS(type, variable)                                                                                         \
    type variable;                                                                                                     \
    memset(&variable, 0, sizeof variable);                                                                             \
    variable.structSize = type##_STRUCT_SIZE

/* ---- the range profiler ----------------------------------------------------------------------------------------- */

static bool arm(struct profiled *p)
{
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init);
    init.pRangeProfilerObject = p->object;
    init.counterDataSize = p->image_size;
    init.pCounterData = p->image;
    PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
    config.pRangeProfilerObject = p->object;
    config.configSize = self.config_size;
    config.pConfig = self.config;
    config.counterDataImageSize = p->image_size;
    config.pCounterDataImage = p->image;
    config.range = CUPTI_AutoRange;
    config.replayMode = CUPTI_KernelReplay;
    config.maxRangesPerPass = self.at_once;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.targetNestingLevel = 1;
    PARAMS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = p->object;
    p->running = CALL(cuptiRangeProfilerCounterDataImageInitialize, init) &&
                 CALL(cuptiRangeProfilerSetConfig, config) && CALL(cuptiRangeProfilerStart, start);
    p->armed_ns = now_ns();
    return p->running;
}

static void send_ranges(const struct profiled *p, size_t dropped)
{
    PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = p->image;
    info.counterDataImageSize = p->image_size;
    if (!CALL(cuptiRangeProfilerGetCounterDataInfo, info))
        return;
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u32(&out, p->device);
    cw_write_u32(&out, (uint32_t)dropped);
    cw_write_u32(&out, p->count);
    for (uint32_t i = 0; i < p->count; i++)
        cw_launch_write(&out, &p->launches[i].data);
    cw_write_bytes(&out, p->image, p->image_size);
    if (out.status != CW_OK)
        fail(CW_ERR_NOMEM, "out of memory in the profiled program");
    else if (!cw_message_send(self.socket, CW_MESSAGE_RANGES, out.data, out.size))
        self.over = true;
    cw_writer_free(&out);
}

/* Ends the current collection and sends its ranges. */
static void flush(struct profiled *p)
{
    if (!p->running)
        return;
    p->running = false;
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = p->object;
    PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = p->object;
    if (CALL(cuptiRangeProfilerStop, stop) && CALL(cuptiRangeProfilerDecodeData, decode) && p->count)
        send_ranges(p, decode.numOfRangeDropped);
    for (uint32_t i = 0; i < p->count; i++)
        free(p->launches[i].kernel);
    p->count = p->pending = 0;
}

static bool prepare(struct profiled *p)
{
    PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = p->context;
    if (!CALL(cuptiRangeProfilerEnable, enable))
        return false;
    p->object = enable.pRangeProfilerObject;
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = p->object;
    size.pMetricNames = self.metrics;
    size.numMetrics = self.metric_count;
    size.maxNumOfRanges = self.at_once;
    size.maxNumRangeTreeNodes = self.at_once;
    if (!CALL(cuptiRangeProfilerGetCounterDataSize, size))
        return false;
    p->image_size = size.counterDataSize;
    p->image = calloc(1, p->image_size);
    p->launches = calloc(self.at_once, sizeof *p->launches);
    if (!p->image || !p->launches) {
        fail(CW_ERR_NOMEM, "out of memory in the profiled program");
        return false;
    }
    return arm(p);
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static void put_pair(struct cw_writer *out, uint32_t *count, const char *key, const char *value)
{
    cw_write_string(out, key);
    cw_write_string(out, value);
    (*count)++;
}

static void put_number(struct cw_writer *out, uint32_t *count, const char *key, int value)
{
    char text[32];
    snprintf(text, sizeof text, "%d", value);
    put_pair(out, count, key, text);
}

static void put_kernel_driver(struct cw_writer *out, uint32_t *count)
{
    char line[256] = "";
    FILE *f = fopen("/sys/module/nvidia/version", "re");
    if (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        put_pair(out, count, "driver", line);
    }
    if (f)
        fclose(f);
}

static bool put_device(struct cw_writer *out, uint32_t *count, CUdevice device)
{
    static const struct {
        CUdevice_attribute attribute;
        const char *key;
    } numbers[] = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "multiprocessors"},
                   {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, "compute_capability_major"},
                   {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, "compute_capability_minor"},
                   {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, "clock_khz"},
                   {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, "memory_clock_khz"},
                   {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, "memory_bus_bits"},
                   {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, "l2_bytes"}};
    char name[256] = "";
    PARAMS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = (size_t)device;
    if (self.api.cuDeviceGetName(name, sizeof name, device) != CUDA_SUCCESS || !CALL(cuptiDeviceGetChipName, chip))
        return false;
    put_pair(out, count, "name", name);
    put_pair(out, count, "chip", chip.pChipName);
    put_pair(out, count, "backend", "cupti");
    put_pair(out, count, "simulated", "no");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int value;
        if (self.api.cuDeviceGetAttribute(&value, numbers[i].attribute, device) == CUDA_SUCCESS)
            put_number(out, count, numbers[i].key, value);
    }
    put_kernel_driver(out, count);
    int cuda = 0;
    uint32_t cupti = 0;
    if (self.api.cuDriverGetVersion(&cuda) == CUDA_SUCCESS)
        put_number(out, count, "cuda_driver", cuda);
    if (self.api.cuptiGetVersion(&cupti) == CUPTI_SUCCESS)
        put_number(out, count, "cupti", (int)cupti);
    return true;
}

static bool take_setup(const uint8_t *payload, size_t size)
{
    struct cw_reader in;
    cw_reader_init(&in, payload, size, "setup", 0, NULL);
    self.at_once = cw_read_u32(&in);
    self.metric_count = cw_read_count(&in, 4, "metrics");
    self.metrics = cw_arena_alloc(self.arena, self.metric_count, sizeof *self.metrics);
    for (uint32_t i = 0; self.metrics && i < self.metric_count; i++)
        self.metrics[i] = cw_read_string(&in, self.arena);
    self.config_size = cw_read_count(&in, 1, "bytes");
    const uint8_t *config = cw_read_bytes(&in, self.config_size);
    self.config = cw_arena_alloc(self.arena, self.config_size, 1);
    if (!self.metrics || !self.config || in.status != CW_OK || !self.at_once || self.at_once > MOST_AT_ONCE)
        return false;
    memcpy(self.config, config, self.config_size);
    return true;
}

/* Introduces the device and learns what to collect. */
static bool hello(struct profiled *p)
{
    struct cw_writer pairs, out;
    uint32_t count = 0;
    CUdevice device;
    cw_writer_init(&pairs);
    cw_writer_init(&out);
    bool ok = self.api.cuCtxGetDevice(&device) == CUDA_SUCCESS && put_device(&pairs, &count, device);
    if (ok) {
        p->device = (uint32_t)device;
        cw_write_u32(&out, (uint32_t)self.process);
        cw_write_u32(&out, p->device);
        cw_write_u32(&out, count);
        cw_write_bytes(&out, pairs.data, pairs.size);
        enum cw_message_type type;
        uint8_t *payload = NULL;
        size_t size = 0;
        ok = pairs.status == CW_OK && out.status == CW_OK &&
             cw_message_send(self.socket, CW_MESSAGE_HELLO, out.data, out.size) &&
             cw_message_receive(self.socket, &type, &payload, &size) && type == CW_MESSAGE_SETUP &&
             take_setup(payload, size);
        free(payload);
    }
    cw_writer_free(&pairs);
    cw_writer_free(&out);
    self.over = self.over || !ok;
    return ok;
}

/* ---- callbacks -------------------------------------------------------------------------------------------------- */

static struct profiled *find(CUcontext context)
{
    for (uint32_t i = 0; i < self.context_count; i++)
        if (self.contexts[i].context == context)
            return &self.contexts[i];
    return NULL;
}

static void context_created(CUcontext context)
{
    if (find(context) || self.context_count == MOST_CONTEXTS)
        return;
    struct profiled *p = &self.contexts[self.context_count];
    *p = (struct profiled){.context = context};
    CUcontext current = NULL;
    self.api.cuCtxGetCurrent(&current);
    PARAMS(CUpti_Profiler_Initialize_Params, init);
    if (current == context && CALL(cuptiProfilerInitialize, init) && hello(p)) {
        self.context_count++;
        prepare(p);
    }
}

static void context_destroyed(CUcontext context)
{
    struct profiled *p = find(context);
    if (!p)
        return;
    flush(p);
    PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
    disable.pRangeProfilerObject = p->object;
    if (p->object)
        self.api.cuptiRangeProfilerDisable(&disable);
    free(p->image);
    free(p->launches);
    *p = self.contexts[--self.context_count];
}

/* Grid, block and stream of a launch, by the parameters of whichever call it is. */
static bool launch_shape(CUpti_CallbackId id, const void *params, struct cw_launch *l)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: {
        const cuLaunchKernel_params *p = params; /* the others begin alike */
        *l = (struct cw_launch){.grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                .stream = (uint64_t)(uintptr_t)p->hStream};
        return true;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
        const CUlaunchConfig *c = ((const cuLaunchKernelEx_params *)params)->config;
        *l = (struct cw_launch){.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                .stream = (uint64_t)(uintptr_t)c->hStream};
        return true;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
        *l = (struct cw_launch){.graph = (uint64_t)(uintptr_t)((const cuGraphLaunch_params *)params)->hGraph,
                                .stream = (uint64_t)(uintptr_t)((const cuGraphLaunch_params *)params)->hStream};
        return true;
    default:
        return false;
    }
}

static void launch_entered(struct profiled *p, CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    bool full = p->count == self.at_once;
    if (!p->pending && (full || (p->count && now_ns() - p->armed_ns > flush_ns))) {
        flush(p);
        if (self.over || !arm(p))
            return;
        full = false;
    }
    struct launch l = {.correlation = data->correlationId};
    if (full || !launch_shape(id, data->functionParams, &l.data))
        return;
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    if (self.api.cuStreamIsCapturing((CUstream)(uintptr_t)l.data.stream, &capture) == CUDA_SUCCESS &&
        capture != CU_STREAM_CAPTURE_STATUS_NONE)
        return; /* it becomes a node of a graph and does not run now */
    l.kernel = strdup(!l.data.graph && data->symbolName ? data->symbolName : "");
    l.data.kernel = l.kernel ? l.kernel : "";
    l.data.context = (uint64_t)(uintptr_t)p->context;
    l.data.start_ns = now_ns();
    p->launches[p->count++] = l;
    p->pending++;
}

static void launch_left(struct profiled *p, const CUpti_CallbackData *data)
{
    uint32_t i = p->count;
    while (i > 0 && p->launches[i - 1].correlation != data->correlationId)
        i--;
    if (i-- == 0 || p->launches[i].data.end_ns)
        return;
    p->pending--;
    p->launches[i].data.end_ns = now_ns();
    /* a launch that the driver refused makes no range */
    if (data->functionReturnValue && *(const CUresult *)data->functionReturnValue != CUDA_SUCCESS) {
        free(p->launches[i].kernel);
        memmove(&p->launches[i], &p->launches[i + 1], (--p->count - i) * sizeof *p->launches);
    }
}

static void CUPTIAPI callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user;
    if (self.over || self.process != getpid()) /* a fork without exec has no GPU of its own to profile */
        return;
    pthread_mutex_lock(&self.lock);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        CUcontext context = ((const CUpti_ResourceData *)data)->context;
        if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
            context_created(context);
        else if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
            context_destroyed(context);
    } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        const CUpti_CallbackData *call = data;
        struct profiled *p = find(call->context);
        if (p && p->running && call->callbackSite == CUPTI_API_ENTER)
            launch_entered(p, id, call);
        else if (p && p->running)
            launch_left(p, call);
    }
    pthread_mutex_unlock(&self.lock);
}

static void at_exit(void)
{
    if (self.process != getpid())
        return;
    pthread_mutex_lock(&self.lock);
    for (uint32_t i = 0; i < self.context_count && !self.over; i++)
        flush(&self.contexts[i]);
    self.over = true;
    pthread_mutex_unlock(&self.lock);
}

/* ---- entry ------------------------------------------------------------------------------------------------------ */

static bool subscribe(void)
{
    static const CUpti_CallbackId launches[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                                CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                                                CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                                CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
                                                CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
                                                CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
                                                CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
                                                CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};
    static const CUpti_CallbackId resources[] = {CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                                                 CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};
    if (!good(self.api.cuptiSubscribe(&self.subscriber, (CUpti_CallbackFunc)callback, NULL), "cuptiSubscribe"))
        return false;
    bool ok = true;
    for (size_t i = 0; i < sizeof launches / sizeof *launches && ok; i++)
        ok = good(self.api.cuptiEnableCallback(1, self.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launches[i]),
                  "cuptiEnableCallback");
    for (size_t i = 0; i < sizeof resources / sizeof *resources && ok; i++)
        ok = good(self.api.cuptiEnableCallback(1, self.subscriber, CUPTI_CB_DOMAIN_RESOURCE, resources[i]),
                  "cuptiEnableCallback");
    return ok;
}

static bool connect_agent(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return false;
    strcpy(address.sun_path, path);
    self.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return self.socket >= 0 && connect(self.socket, (struct sockaddr *)&address, sizeof address) == 0;
}

/* Called by the CUDA driver when it initialises. The value is what CUDA expects of a library that has loaded. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
    const char *path = getenv(CW_AGENT_SOCKET_VARIABLE);
    if (!path || self.socket >= 0)
        return 1;
    self.process = getpid();
    self.arena = cw_arena_create();
    if (!self.arena || !connect_agent(path))
        return 1;
    if (!cw_cupti_load(&self.api, getenv(CW_AGENT_CUPTI_VARIABLE))) {
        fail(CW_ERR_UNSUPPORTED, "%s", self.api.missing);
        return 1;
    }
    if (subscribe())
        atexit(at_exit);
    return 1;
}
