/* Every kernel launch of the first context of each device is a range of its own, by CUPTI's kernel replay. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "agent/inject/inject.h"

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
    /* from SETUP */
    uint32_t at_once, metric_count;
    const char **metrics;
    uint8_t *config;
    size_t config_size;
    uint32_t context_count;
    struct profiled contexts[MOST_CONTEXTS];
} self;

static bool setup(struct cw_reader *in)
{
    self.at_once = cw_read_u32(in);
    self.metric_count = cw_read_count(in, 4, "metrics");
    self.metrics = cw_arena_alloc(cw_inject.arena, self.metric_count, sizeof *self.metrics);
    for (uint32_t i = 0; self.metrics && i < self.metric_count; i++)
        self.metrics[i] = cw_read_string(in, cw_inject.arena);
    self.config_size = cw_read_count(in, 1, "bytes");
    const uint8_t *config = cw_read_bytes(in, self.config_size);
    self.config = cw_arena_alloc(cw_inject.arena, self.config_size, 1);
    if (!self.metrics || !self.config || in->status != CW_OK || !self.at_once || self.at_once > MOST_AT_ONCE)
        return false;
    memcpy(self.config, config, self.config_size);
    return true;
}

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
    p->armed_ns = cw_inject_now_ns();
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
    cw_inject_send(CW_MESSAGE_RANGES, &out);
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
        cw_inject_fail(CW_ERR_NOMEM, "out of memory in the profiled program");
        return false;
    }
    return arm(p);
}

static struct profiled *find(CUcontext context)
{
    for (uint32_t i = 0; i < self.context_count; i++)
        if (self.contexts[i].context == context)
            return &self.contexts[i];
    return NULL;
}

static void context_created(CUcontext context, uint32_t device)
{
    if (find(context) || self.context_count == MOST_CONTEXTS)
        return;
    struct profiled *p = &self.contexts[self.context_count++];
    *p = (struct profiled){.context = context, .device = device};
    prepare(p);
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
        cw_inject.api.cuptiRangeProfilerDisable(&disable);
    free(p->image);
    free(p->launches);
    *p = self.contexts[--self.context_count];
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    struct profiled *p = find(data->context);
    if (!p || !p->running)
        return;
    bool full = p->count == self.at_once;
    if (!p->pending && (full || (p->count && cw_inject_now_ns() - p->armed_ns > flush_ns))) {
        flush(p);
        if (cw_inject.over || !arm(p))
            return;
        full = false;
    }
    struct launch l = {.correlation = data->correlationId};
    if (full || !cw_inject_launch_shape(&l.data, id, data->functionParams))
        return;
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    if (cw_inject.api.cuStreamIsCapturing((CUstream)(uintptr_t)l.data.stream, &capture) == CUDA_SUCCESS &&
        capture != CU_STREAM_CAPTURE_STATUS_NONE)
        return; /* it becomes a node of a graph and does not run now */
    l.kernel = strdup(!l.data.graph && data->symbolName ? data->symbolName : "");
    l.data.kernel = l.kernel ? l.kernel : "";
    l.data.context = (uint64_t)(uintptr_t)p->context;
    l.data.start_ns = cw_inject_now_ns();
    p->launches[p->count++] = l;
    p->pending++;
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
    (void)id;
    struct profiled *p = find(data->context);
    if (!p || !p->running)
        return;
    uint32_t i = p->count;
    while (i > 0 && p->launches[i - 1].correlation != data->correlationId)
        i--;
    if (i-- == 0 || p->launches[i].data.end_ns)
        return;
    p->pending--;
    p->launches[i].data.end_ns = cw_inject_now_ns();
    /* a launch that the driver refused makes no range */
    if (data->functionReturnValue && *(const CUresult *)data->functionReturnValue != CUDA_SUCCESS) {
        free(p->launches[i].kernel);
        memmove(&p->launches[i], &p->launches[i + 1], (--p->count - i) * sizeof *p->launches);
    }
}

static void finish(void)
{
    for (uint32_t i = 0; i < self.context_count && !cw_inject.over; i++)
        flush(&self.contexts[i]);
}

const struct cw_inject_mode cw_inject_range = {setup,          context_created, context_destroyed,
                                               launch_entered, launch_left,     finish};
