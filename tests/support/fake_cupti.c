#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fake_cupti.h"

struct fake_cupti fake_cupti;
static bool library_is_loaded, library_is_gone;
static _Atomic unsigned states; /* that it is to tell of, a bit for each */
static uint32_t passes[2];      /* of each context */
static const CUcontext context = FAKE_CUPTI_CONTEXT;
#define DOMAINS (CUPTI_CB_DOMAIN_RESOURCE + 1)
#define MOST_CALLS CUPTI_DRIVER_TRACE_CBID_SIZE
static _Atomic bool enabled[DOMAINS][MOST_CALLS]; /* callbacks, since the subscription */
static _Thread_local CUcontext pushed[4];         /* by a thread */
static _Thread_local uint32_t depth;

static void tell(const char *call)
{
    if (fake_cupti.called)
        fake_cupti.called(call);
}

static void unload_library(void)
{
    library_is_gone = true;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function, void *user)
{
    *subscriber = NULL;
    fake_cupti.callback = function;
    return user ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

static CUptiResult enable_callback(uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                   CUpti_CallbackId id)
{
    if (domain < DOMAINS && id < MOST_CALLS)
        enabled[domain][id] = on;
    if (domain == CUPTI_CB_DOMAIN_STATE)
        states |= 1u << id;
    fake_cupti.newer += domain == CUPTI_CB_DOMAIN_DRIVER_API && id >= CUPTI_DRIVER_TRACE_CBID_SIZE;
    fake_cupti.profiler += domain == CUPTI_CB_DOMAIN_DRIVER_API && (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart ||
                                                                    id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
    return on && !subscriber && domain && id ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult chip_name(CUpti_Device_GetChipName_Params *p)
{
    p->pChipName = fake_cupti.early ? "Unknown" : "GH100";
    return CUPTI_SUCCESS;
}

static CUptiResult callback_name(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    *name = "cuLaunchKernel";
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_SIZE) {
        *name = "cuMemcpySomeNewWay";
        return CUPTI_SUCCESS;
    }
    return domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel
               ? CUPTI_SUCCESS
               : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult version(uint32_t *number)
{
    tell("cuptiGetVersion");
    *number = 130001;
    return CUPTI_SUCCESS;
}

static CUptiResult result_string(CUptiResult result, const char **text)
{
    static _Thread_local char name[32];
    snprintf(name, sizeof name, "result %d", (int)result);
    *text = name;
    return CUPTI_SUCCESS;
}

static CUptiResult context_id(CUcontext c, uint32_t *id)
{
    tell("cuptiGetContextId");
    *id = 1;
    return c ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

static CUptiResult stream_id(CUcontext c, CUstream stream, uint8_t of_thread, uint32_t *id)
{
    *id = 7;
    return c && !stream && !of_thread ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM;
}

static CUptiResult initialize(CUpti_Profiler_Initialize_Params *p)
{
    tell("cuptiProfilerInitialize");
    return p ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult enable(CUpti_RangeProfiler_Enable_Params *p)
{
    p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&passes[p->ctx == FAKE_CUPTI_SECOND];
    library_is_loaded = library_is_loaded || atexit(unload_library) == 0;
    return library_is_loaded ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

static CUptiResult disable(CUpti_RangeProfiler_Disable_Params *p)
{
    tell("cuptiRangeProfilerDisable");
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
    fake_cupti.busy = false;
    tell("cuptiRangeProfilerStart");
    return !p->pRangeProfilerObject ? CUPTI_ERROR_INVALID_PARAMETER
           : fake_cupti.busy        ? CUPTI_ERROR_HARDWARE_BUSY
                                    : CUPTI_SUCCESS;
}

static CUptiResult stop(CUpti_RangeProfiler_Stop_Params *p)
{
    if (library_is_gone)
        abort();
    tell("cuptiRangeProfilerStop");
    p->isAllPassSubmitted = ++*(uint32_t *)p->pRangeProfilerObject % (fake_cupti.parts ? fake_cupti.parts : 1) == 0;
    return CUPTI_SUCCESS;
}

static CUptiResult push_range(CUpti_RangeProfiler_PushRange_Params *p)
{
    return p->pRangeProfilerObject && p->pRangeName ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult pop_range(CUpti_RangeProfiler_PopRange_Params *p)
{
    return p->pRangeProfilerObject ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult decode(CUpti_RangeProfiler_DecodeData_Params *p)
{
    p->numOfRangeDropped = 0;
    return library_is_gone ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

static CUresult current(CUcontext *c)
{
    *c = depth ? pushed[depth - 1] : fake_cupti.current;
    return CUDA_SUCCESS;
}

static CUresult push_current(CUcontext c)
{
    if ((c != context && c != FAKE_CUPTI_SECOND) || depth == sizeof pushed / sizeof *pushed)
        return CUDA_ERROR_INVALID_CONTEXT;
    pushed[depth++] = c;
    return CUDA_SUCCESS;
}

static CUresult pop_current(CUcontext *c)
{
    current(c);
    depth -= depth > 0;
    return CUDA_SUCCESS;
}

static CUresult device_of(CUdevice *device)
{
    *device = 0;
    return depth || fake_cupti.current == context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult device_name(char *text, int size, CUdevice device)
{
    snprintf(text, (size_t)size, "GPU %d", device);
    return CUDA_SUCCESS;
}

static CUresult pci_address(char *text, int size, CUdevice device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", 10 + (unsigned)device);
    return CUDA_SUCCESS;
}

static CUresult synchronize(void)
{
    return CUDA_SUCCESS;
}

static CUresult no_other_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    const bool mps = attribute == CU_DEVICE_ATTRIBUTE_MPS_ENABLED;
    *value = mps ? fake_cupti.mps : (int)attribute + device;
    return mps ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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

static CUresult no_parameter(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    *offset = *size = 0;
    return function && index ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
}

static CUresult function_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    tell("cuFuncGetAttribute");
    *value = (int)attribute;
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult launch_kernel(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
    return config && function && parameters && extra ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

/* ---- activity records ------------------------------------------------------------------------------------------- */

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static _Atomic bool records_kernels;
static uint32_t unrecorded;
static _Atomic bool flushed; /* until then a kind that is disabled takes its records along */
enum { RECORD = 512 };       /* each has so much room here */

static CUptiResult take_clock(CUpti_TimestampCallbackFunc clock)
{
    return clock ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult take_callbacks(CUpti_BuffersCallbackRequestFunc r, CUpti_BuffersCallbackCompleteFunc c)
{
    request = r;
    complete = c;
    return CUPTI_SUCCESS;
}

static CUptiResult set_kind(CUpti_ActivityKind kind, bool on)
{
    records_kernels = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? on : records_kernels;
    return CUPTI_SUCCESS;
}

static CUptiResult enable_kind(CUpti_ActivityKind kind)
{
    return set_kind(kind, true);
}

static CUptiResult disable_kind(CUpti_ActivityKind kind)
{
    if (!flushed)
        __atomic_store_n(&unrecorded, 0, __ATOMIC_SEQ_CST);
    return set_kind(kind, false);
}

static CUptiResult next_record(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + RECORD : buffer;
    *record = (void *)next;
    return next < buffer + valid ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
}

static CUptiResult flush(uint32_t flag)
{
    static _Atomic uint32_t correlation;
    CUpti_ActivityKernel9 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                    .start = 10,
                                    .end = 20,
                                    .contextId = 1,
                                    .streamId = 7,
                                    .name = "step"};
    uint8_t *buffer = NULL;
    size_t size, most, valid = 0;
    uint32_t left = __atomic_exchange_n(&unrecorded, 0, __ATOMIC_SEQ_CST);
    (void)flag;
    flushed = flushed || records_kernels;
    while (left) {
        request(&buffer, &size, &most);
        for (valid = 0; buffer && left && valid + RECORD <= size; left--, valid += RECORD) {
            kernel.correlationId = ++correlation;
            memset(buffer + valid, 0, RECORD);
            memcpy(buffer + valid, &kernel, sizeof kernel);
        }
        complete(context, 0, buffer, size, valid);
        left = valid ? left : 0; /* without room they are lost */
    }
    return CUPTI_SUCCESS;
}

static CUptiResult count_dropped(CUcontext c, uint32_t stream, size_t *count)
{
    *count = 0;
    return c && !stream ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult unsubscribe(CUpti_SubscriberHandle subscriber)
{
    fake_cupti.callback = NULL;
    for (int i = 0; i < DOMAINS * MOST_CALLS; i++)
        enabled[i / MOST_CALLS][i % MOST_CALLS] = false;
    return subscriber ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

static CUptiResult finalize(void)
{
    fake_cupti.finalized++;
    flushed = false;
    return CUPTI_SUCCESS;
}

static CUresult count_devices(int *count)
{
    *count = 2;
    return fake_cupti.early && fake_cupti.early-- ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
}

static CUresult primary_context(CUdevice device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = device == 0;
    return CUDA_SUCCESS;
}

static void add_tracing(struct cw_cupti *api)
{
    api->cuptiActivityRegisterTimestampCallback = take_clock;
    api->cuptiActivityRegisterCallbacks = take_callbacks;
    api->cuptiActivityEnable = enable_kind;
    api->cuptiActivityDisable = disable_kind;
    api->cuptiActivityFlushAll = flush;
    api->cuptiActivityGetNextRecord = next_record;
    api->cuptiActivityGetNumDroppedRecords = count_dropped;
    api->cuptiUnsubscribe = unsubscribe;
    api->cuptiFinalize = finalize;
    api->cuDeviceGetCount = count_devices;
    api->cuDevicePrimaryCtxGetState = primary_context;
}

/* ---- PC sampling ------------------------------------------------------------------------------------------------ */

static struct {
    _Atomic bool by_hand, started; /* by_hand: the library starts it */
    CUpti_PCSamplingData *kept;    /* the library's buffer for the samples that are left in the end */
    uint32_t period;
    _Atomic uint32_t launches; /* that were sampled and not yet handed over */
    bool small;                /* the hardware's buffer */
} sampling;
static const struct {
    uint32_t number;
    const char *name;
} reasons[] = {{4, "smsp__pcsamp_warps_issue_stalled_wait"},
               {2, "smsp__pcsamp_warps_issue_stalled_wait_not_issued"},
               {3, "smsp__pcsamp_warps_issue_stalled_long_scoreboard"}};
enum { REASONS = sizeof reasons / sizeof *reasons, PCS = 2, SAMPLES = 5 }; /* PCs of a launch, samples of a PC */

static CUptiResult enable_sampling(CUpti_PCSamplingEnableParams *p)
{
    if (p->ctx != context || fake_cupti.sampled)
        return CUPTI_ERROR_INVALID_OPERATION;
    sampling.by_hand = sampling.started = sampling.small = false;
    sampling.kept = NULL;
    sampling.period = 10;
    sampling.launches = 0;
    fake_cupti.sampled = true;
    return CUPTI_SUCCESS;
}

static CUptiResult count_reasons(CUpti_PCSamplingGetNumStallReasonsParams *p)
{
    *p->numStallReasons = REASONS;
    return fake_cupti.sampled ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

static CUptiResult list_reasons(CUpti_PCSamplingGetStallReasonsParams *p)
{
    for (size_t i = 0; i < REASONS && i < p->numStallReasons; i++) {
        p->stallReasonIndex[i] = reasons[i].number;
        snprintf(p->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE, "%s", reasons[i].name);
    }
    return CUPTI_SUCCESS;
}

static CUptiResult set_attribute(CUpti_PCSamplingConfigurationInfo *a)
{
    switch (a->attributeType) {
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD:
        sampling.period = a->attributeData.samplingPeriodData.samplingPeriod;
        return sampling.period >= 5 && sampling.period < 32 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER:
        sampling.kept = a->attributeData.samplingDataBufferData.samplingDataBuffer;
        return CUPTI_SUCCESS;
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE:
        sampling.small = a->attributeData.hardwareBufferSizeData.hardwareBufferSize < 1 << 20;
        return CUPTI_SUCCESS;
    case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL:
        sampling.by_hand = a->attributeData.enableStartStopControlData.enableStartStopControl;
        return CUPTI_SUCCESS;
    default:
        return CUPTI_SUCCESS;
    }
}

static CUptiResult set_attributes(CUpti_PCSamplingConfigurationInfoParams *p)
{
    for (size_t i = 0; i < p->numAttributes; i++)
        p->pPCSamplingConfigurationInfo[i].attributeStatus = set_attribute(&p->pPCSamplingConfigurationInfo[i]);
    return fake_cupti.sampled && sampling.kept ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

static CUptiResult get_attributes(CUpti_PCSamplingConfigurationInfoParams *p)
{
    p->pPCSamplingConfigurationInfo->attributeData.samplingPeriodData.samplingPeriod = sampling.period;
    return fake_cupti.sampled ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

/* The first PC has samples of every reason, the second of one without a name in place of the last. */
static void hand_over(CUpti_PCSamplingData *to)
{
    const uint32_t launches = atomic_exchange(&sampling.launches, 0);
    const size_t pcs = PCS * (size_t)launches;
    for (to->totalNumPcs = 0; to->totalNumPcs < pcs && to->totalNumPcs < to->collectNumPcs; to->totalNumPcs++) {
        CUpti_PCSamplingPCData *pc = &to->pPcData[to->totalNumPcs];
        pc->cubinCrc = 0xc0de;
        pc->pcOffset = 16 * (to->totalNumPcs % PCS);
        pc->functionIndex = 3;
        pc->functionName = (char *)"step";
        pc->correlationId = 7;
        pc->stallReasonCount = REASONS;
        for (uint32_t i = 0; i < REASONS; i++)
            pc->stallReason[i] = (CUpti_PCSamplingStallReason){reasons[i].number, SAMPLES};
        pc->stallReason[REASONS - 1].pcSamplingStallReasonIndex += pc->pcOffset ? 100 : 0;
    }
    to->remainingNumPcs = pcs - to->totalNumPcs;
    to->totalSamples = SAMPLES * (REASONS - 1) * to->totalNumPcs + launches;
    to->nonUsrKernelsTotalSamples = launches;
}

static CUptiResult get_samples(CUpti_PCSamplingGetDataParams *p)
{
    tell("cuptiPCSamplingGetData");
    if (!fake_cupti.sampled)
        return CUPTI_ERROR_INVALID_OPERATION;
    hand_over(p->pcSamplingData);
    return sampling.small ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

static CUptiResult disable_sampling(CUpti_PCSamplingDisableParams *p)
{
    tell("cuptiPCSamplingDisable");
    if (p->ctx != context || !fake_cupti.sampled)
        return CUPTI_ERROR_INVALID_OPERATION;
    if (sampling.kept)
        hand_over(sampling.kept);
    fake_cupti.sampled = false;
    return CUPTI_SUCCESS;
}

static CUptiResult turn_sampling(bool on)
{
    if (!fake_cupti.sampled || !sampling.by_hand || sampling.started == on)
        return CUPTI_ERROR_INVALID_OPERATION;
    sampling.started = on;
    return CUPTI_SUCCESS;
}

static CUptiResult start_sampling(CUpti_PCSamplingStartParams *p)
{
    return p->ctx == context ? turn_sampling(true) : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult stop_sampling(CUpti_PCSamplingStopParams *p)
{
    return p->ctx == context ? turn_sampling(false) : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult cubin_crc(CUpti_GetCubinCrcParams *p)
{
    p->cubinCrc = 0xc0de;
    return p->cubin && p->cubinSize ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static void add_sampling(struct cw_cupti *api)
{
    api->cuptiPCSamplingEnable = enable_sampling;
    api->cuptiPCSamplingDisable = disable_sampling;
    api->cuptiPCSamplingStart = start_sampling;
    api->cuptiPCSamplingStop = stop_sampling;
    api->cuptiPCSamplingGetData = get_samples;
    api->cuptiPCSamplingGetNumStallReasons = count_reasons;
    api->cuptiPCSamplingGetStallReasons = list_reasons;
    api->cuptiPCSamplingSetConfigurationAttribute = set_attributes;
    api->cuptiPCSamplingGetConfigurationAttribute = get_attributes;
    api->cuptiGetCubinCrc = cubin_crc;
}

/* ---- SASS metrics ----------------------------------------------------------------------------------------------- */

static const char *const sass_metrics[] = {"smsp__sass_inst_executed", "smsp__sass_thread_inst_executed"};
enum { SASS_METRICS = sizeof sass_metrics / sizeof *sass_metrics, MOST_SASS_METRICS = 256, INSTRUCTIONS = 3 };
static struct {
    size_t metrics; /* of the device's config; 0: it has none */
    CUpti_SassMetrics_Config configs[MOST_SASS_METRICS];
    _Atomic bool counted; /* a kernel has run since the counts were fetched */
} sass;

static CUptiResult find_sass_metric(CUpti_SassMetrics_GetProperties_Params *p)
{
    for (size_t i = 0; i < SASS_METRICS; i++)
        if (strcmp(p->pMetricName, sass_metrics[i]) == 0) {
            p->metric = (CUpti_SassMetrics_MetricDetails){.metricId = i + 1, .pMetricName = sass_metrics[i]};
            return strcmp(p->pChipName, "GH100") == 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
        }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult configure_sass(CUpti_SassMetricsSetConfig_Params *p)
{
    if (sass.metrics)
        return CUPTI_ERROR_INVALID_OPERATION;
    for (size_t i = 0; i < p->numOfMetricConfig; i++)
        if (p->pConfigs[i].outputGranularity >= CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_INVALID)
            return CUPTI_ERROR_INVALID_PARAMETER;
    if (p->deviceIndex || !p->numOfMetricConfig || p->numOfMetricConfig > MOST_SASS_METRICS)
        return CUPTI_ERROR_INVALID_PARAMETER;
    sass.metrics = p->numOfMetricConfig;
    memcpy(sass.configs, p->pConfigs, sass.metrics * sizeof *sass.configs);
    return CUPTI_SUCCESS;
}

static CUptiResult forget_sass(CUpti_SassMetricsUnsetConfig_Params *p)
{
    if (p->deviceIndex || !sass.metrics || fake_cupti.patched)
        return CUPTI_ERROR_INVALID_OPERATION;
    sass.metrics = 0;
    return CUPTI_SUCCESS;
}

static CUptiResult enable_sass(CUpti_SassMetricsEnable_Params *p)
{
    if (p->ctx != context || !sass.metrics || fake_cupti.patched)
        return CUPTI_ERROR_INVALID_OPERATION;
    fake_cupti.patched = true; /* even if it is refused: agent/inject/modes/sass.c */
    sass.counted = false;
    return fake_cupti.singly && !p->enableLazyPatching ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

/* Values of an instruction, over all metrics: one of a GPU, more of its SMs and their parts. */
static size_t count_values(void)
{
    size_t values = 0;
    for (size_t i = 0; i < sass.metrics; i++)
        values += (size_t)1 << sass.configs[i].outputGranularity;
    return values;
}

static CUptiResult disable_sass(CUpti_SassMetricsDisable_Params *p)
{
    tell("cuptiSassMetricsDisable");
    if (p->ctx != context || !fake_cupti.patched)
        return CUPTI_ERROR_INVALID_OPERATION;
    p->numOfDroppedRecords = sass.counted ? INSTRUCTIONS * count_values() : 0;
    fake_cupti.patched = sass.counted = false;
    return CUPTI_SUCCESS;
}

static CUptiResult describe_counts(CUpti_SassMetricsGetDataProperties_Params *p)
{
    p->numOfPatchedInstructionRecords = sass.counted ? INSTRUCTIONS : 0;
    p->numOfInstances = count_values();
    return p->ctx == context && fake_cupti.patched ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

static CUptiResult fetch_counts(CUpti_SassMetricsFlushData_Params *p)
{
    if (p->ctx != context || !fake_cupti.patched || !sass.counted || p->numOfPatchedInstructionRecords > INSTRUCTIONS ||
        p->numOfInstances > count_values())
        return CUPTI_ERROR_INVALID_OPERATION;
    for (size_t i = 0; i < p->numOfPatchedInstructionRecords; i++) {
        CUpti_SassMetrics_Data *record = &p->pMetricsData[i];
        size_t k = 0;
        record->cubinCrc = 0xc0de;
        record->functionIndex = 3;
        record->functionName = strdup("step"); /* the caller frees it */
        record->pcOffset = (uint32_t)(16 * i);
        for (size_t m = 0; m < sass.metrics; m++)
            for (size_t j = 0; j < (size_t)1 << sass.configs[m].outputGranularity && k < p->numOfInstances; j++)
                record->pInstanceValues[k++] = (CUpti_SassMetrics_InstanceValue){sass.configs[m].metricId, 10 + i};
    }
    sass.counted = false;
    return CUPTI_SUCCESS;
}

static CUresult load_function(CUfunction function)
{
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void add_sass(struct cw_cupti *api)
{
    api->cuptiSassMetricsGetProperties = find_sass_metric;
    api->cuptiSassMetricsSetConfig = configure_sass;
    api->cuptiSassMetricsUnsetConfig = forget_sass;
    api->cuptiSassMetricsEnable = enable_sass;
    api->cuptiSassMetricsDisable = disable_sass;
    api->cuptiSassMetricsGetDataProperties = describe_counts;
    api->cuptiSassMetricsFlushData = fetch_counts;
    api->cuFuncLoad = load_function;
}

static CUresult memory_info(size_t *unused, size_t *total)
{
    *unused = *total = (size_t)1 << 30;
    return CUDA_SUCCESS;
}

bool cw_cupti_load(struct cw_cupti *api, const char *path)
{
    if (path && strncmp(path, "/none/", 6) == 0) { /* nor does anything work that was loaded before */
        *api = (struct cw_cupti){.missing = "libcupti.so cannot be loaded"};
        return false;
    }
    *api = (struct cw_cupti){.cuptiSubscribe = subscribe,
                             .cuptiEnableCallback = enable_callback,
                             .cuptiDeviceGetChipName = chip_name,
                             .cuptiGetCallbackName = callback_name,
                             .cuptiGetContextId = context_id,
                             .cuptiGetStreamIdEx = stream_id,
                             .cuptiGetVersion = version,
                             .cuptiGetResultString = result_string,
                             .cuptiProfilerInitialize = initialize,
                             .cuptiRangeProfilerEnable = enable,
                             .cuptiRangeProfilerDisable = disable,
                             .cuptiRangeProfilerGetCounterDataSize = data_size,
                             .cuptiRangeProfilerCounterDataImageInitialize = initialize_data,
                             .cuptiRangeProfilerSetConfig = set_config,
                             .cuptiRangeProfilerStart = start,
                             .cuptiRangeProfilerPushRange = push_range,
                             .cuptiRangeProfilerPopRange = pop_range,
                             .cuptiRangeProfilerStop = stop,
                             .cuptiRangeProfilerDecodeData = decode,
                             .cuCtxGetCurrent = current,
                             .cuCtxPushCurrent_v2 = push_current,
                             .cuCtxPopCurrent_v2 = pop_current,
                             .cuMemGetInfo_v2 = memory_info,
                             .cuCtxGetDevice = device_of,
                             .cuDeviceGetName = device_name,
                             .cuDeviceGetAttribute = no_other_attribute,
                             .cuDeviceGetPCIBusId = pci_address,
                             .cuCtxSynchronize = synchronize,
                             .cuDriverGetVersion = driver_version,
                             .cuStreamIsCapturing = is_capturing,
                             .cuFuncGetAttribute = function_attribute,
                             .cuFuncGetParamInfo = no_parameter,
                             .cuLaunchKernelEx = launch_kernel};
    add_sampling(api);
    add_sass(api);
    if (fake_cupti.traces)
        add_tracing(api);
    return path == NULL || fake_cupti.traces;
}

enum cw_status cw_cupti_explain(const struct cw_cupti *api, CUptiResult result, const char *call, char *text,
                                size_t size)
{
    snprintf(text, size, "%s failed: %d", call, (int)result);
    return api ? CW_ERR_DEVICE : CW_ERR_INPUT;
}

/* ---- what the program does -------------------------------------------------------------------------------------- */

static void tell_of_context(CUpti_CallbackId id)
{
    const CUpti_ResourceData data = {.context = context};
    fake_cupti.callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void fake_cupti_create_context(void)
{
    tell_of_context(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
}

void fake_cupti_destroy_context(void)
{
    tell_of_context(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

void fake_cupti_load_module(void)
{
    tell_of_context(CUPTI_CBID_RESOURCE_MODULE_LOADED);
}

void fake_cupti_tell_state(CUpti_CallbackIdState id, CUptiResult result, const char *message)
{
    const CUpti_StateData data = {.notification = {result, message}};
    const CUpti_CallbackFunc callback = fake_cupti.callback;
    if (callback && states >> id & 1)
        callback(NULL, CUPTI_CB_DOMAIN_STATE, id, &data);
}

void fake_cupti_launch(CUpti_ApiCallbackSite site)
{
    fake_cupti_launch_numbered(site, 7);
}

void fake_cupti_launch_numbered(CUpti_ApiCallbackSite site, uint32_t number)
{
    cuLaunchKernel_params params = {
        .f = (CUfunction)0x100, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32};
    CUresult result = CUDA_SUCCESS;
    static _Thread_local uint64_t data; /* from the begin of a call to its return */
    const CUpti_CallbackFunc callback = fake_cupti.callback;
    if (!callback) /* nobody is subscribed */
        return;
    if (site == CUPTI_API_EXIT && records_kernels)
        __atomic_add_fetch(&unrecorded, 1, __ATOMIC_SEQ_CST);
    if (site == CUPTI_API_EXIT && fake_cupti.sampled)
        sampling.launches += !sampling.by_hand || sampling.started;
    if (site == CUPTI_API_EXIT && fake_cupti.patched)
        sass.counted = true;
    const CUpti_CallbackData call = {.callbackSite = site,
                                     .functionParams = &params,
                                     .functionReturnValue = &result,
                                     .correlationData = &data,
                                     .context = context,
                                     .symbolName = "step",
                                     .correlationId = number};
    callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
}

static void call_driver(CUpti_CallbackId id)
{
    uint64_t data = 0;
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .correlationData = &data, .context = context};
    fake_cupti.callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    fake_cupti.callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
}

void fake_cupti_profile(bool starts)
{
    call_driver(starts ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
}

void fake_cupti_take_time(void)
{
    call_driver(CUPTI_DRIVER_TRACE_CBID_cuEventElapsedTime);
}

void fake_cupti_call(CUpti_CallbackId id, const void *parameters)
{
    uint64_t data = 0;
    CUresult result = CUDA_SUCCESS;
    for (CUpti_ApiCallbackSite site = CUPTI_API_ENTER; site <= CUPTI_API_EXIT; site++) {
        const CUpti_CallbackFunc callback = fake_cupti.callback;
        const CUpti_CallbackData call = {.callbackSite = site,
                                         .functionParams = parameters,
                                         .functionReturnValue = &result,
                                         .correlationData = &data,
                                         .context = context};
        if (callback && enabled[CUPTI_CB_DOMAIN_DRIVER_API][id])
            callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
    }
}

void fake_cupti_change(CUcontext of, CUpti_CallbackIdResource id, void *changed)
{
    const CUpti_CallbackFunc callback = fake_cupti.callback;
    const CUpti_ResourceData data = {.context = of, .resourceDescriptor = changed};
    if (callback && enabled[CUPTI_CB_DOMAIN_RESOURCE][id])
        callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}
