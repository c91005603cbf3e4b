#define _GNU_SOURCE
#include "agent/inject/collection.h"

#include <stdlib.h>

#include "agent/inject/user_ranges.h"

enum { MOST_CONTEXTS = 64, MOST_AT_ONCE = 4096 };

/* Ranges are handed over about this often, so that a program that is killed takes few with it. Starting again costs
 * CUPTI most of a second when software counters are in the plan. */
static const uint64_t flush_ns = 5000000000;

static struct {
    /* from SETUP */
    uint32_t at_once, metric_count;
    const char **metrics;
    uint8_t *config;
    size_t config_size;
    uint32_t context_count;
    struct cw_collection contexts[MOST_CONTEXTS];
} self;

bool cw_collection_setup(struct cw_reader *in)
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

uint32_t cw_collection_at_once(void)
{
    return self.at_once;
}

/* ---- contexts --------------------------------------------------------------------------------------------------- */

struct cw_collection *cw_collection_find(CUcontext context)
{
    for (uint32_t i = 0; i < self.context_count; i++)
        if (self.contexts[i].context == context)
            return &self.contexts[i];
    return NULL;
}

struct cw_collection *cw_collection_only(void)
{
    return self.context_count == 1 ? &self.contexts[0] : NULL;
}

struct cw_collection *cw_collection_with_range(uint64_t range)
{
    for (uint32_t i = 0; i < self.context_count; i++)
        if (self.contexts[i].open_range == range)
            return &self.contexts[i];
    return NULL;
}

static bool enable(struct cw_collection *c)
{
    PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = c->context;
    if (!CALL(cuptiRangeProfilerEnable, enable))
        return false;
    c->object = enable.pRangeProfilerObject;
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = c->object;
    size.pMetricNames = self.metrics;
    size.numMetrics = self.metric_count;
    size.maxNumOfRanges = self.at_once;
    size.maxNumRangeTreeNodes = self.at_once;
    if (!CALL(cuptiRangeProfilerGetCounterDataSize, size))
        return false;
    c->image_size = size.counterDataSize;
    c->image = calloc(1, c->image_size);
    c->launches = calloc(self.at_once, sizeof *c->launches);
    if (!c->image || !c->launches) {
        cw_inject_fail(CW_ERR_NOMEM, "out of memory in the profiled program");
        return false;
    }
    return true;
}

struct cw_collection *cw_collection_open(CUcontext context, uint32_t device)
{
    if (cw_collection_find(context) || self.context_count == MOST_CONTEXTS)
        return NULL;
    struct cw_collection *c = &self.contexts[self.context_count++];
    *c = (struct cw_collection){.context = context, .device = device};
    return enable(c) ? c : NULL;
}

void cw_collection_release(struct cw_collection *c)
{
    PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
    disable.pRangeProfilerObject = c->object;
    if (c->object)
        cw_inject.api.cuptiRangeProfilerDisable(&disable);
    c->object = NULL;
}

void cw_collection_close(struct cw_collection *c)
{
    cw_collection_release(c);
    cw_collection_forget(c);
    free(c->image);
    free(c->launches);
    *c = self.contexts[--self.context_count];
}

void cw_collection_each(void (*each)(struct cw_collection *c))
{
    for (uint32_t i = 0; i < self.context_count && !cw_inject.over; i++)
        each(&self.contexts[i]);
}

/* ---- collecting ------------------------------------------------------------------------------------------------- */

static bool start(struct cw_collection *c, CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay)
{
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init);
    init.pRangeProfilerObject = c->object;
    init.counterDataSize = c->image_size;
    init.pCounterData = c->image;
    PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
    config.pRangeProfilerObject = c->object;
    config.configSize = self.config_size;
    config.pConfig = self.config;
    config.counterDataImageSize = c->image_size;
    config.pCounterDataImage = c->image;
    config.range = range;
    config.replayMode = replay;
    config.maxRangesPerPass = self.at_once;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.targetNestingLevel = 1;
    PARAMS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = c->object;
    c->running = CALL(cuptiRangeProfilerCounterDataImageInitialize, init) &&
                 CALL(cuptiRangeProfilerSetConfig, config) && CALL(cuptiRangeProfilerStart, start);
    c->armed_ns = cw_inject_now_ns();
    return c->running;
}

bool cw_collection_arm(struct cw_collection *c, CUpti_ProfilerReplayMode replay)
{
    return start(c, CUPTI_AutoRange, replay);
}

bool cw_collection_arm_user(struct cw_collection *c)
{
    return start(c, CUPTI_UserRange, CUPTI_UserReplay);
}

void cw_collection_forget(struct cw_collection *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->launches[i].kernel);
        free(c->launches[i].nvtx);
    }
    c->count = c->pending = 0;
}

/* Sends the launches with the counter data in `image`; without it only how many there are none of. */
static void send(struct cw_collection *c, size_t dropped, const uint8_t *image, size_t size)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u32(&out, c->device);
    cw_write_u32(&out, (uint32_t)dropped + c->skipped);
    cw_write_u32(&out, c->count);
    for (uint32_t i = 0; i < c->count; i++)
        cw_launch_write(&out, &c->launches[i].data);
    cw_write_bytes(&out, image, size);
    cw_inject_send(CW_MESSAGE_RANGES, &out);
    c->skipped = 0;
}

void cw_collection_report_skipped(struct cw_collection *c)
{
    if (c->skipped && !c->count)
        send(c, 0, NULL, 0);
}

static void send_ranges(struct cw_collection *c, size_t dropped)
{
    PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = c->image;
    info.counterDataImageSize = c->image_size;
    if (CALL(cuptiRangeProfilerGetCounterDataInfo, info))
        send(c, dropped, c->image, c->image_size);
}

void cw_collection_deliver(struct cw_collection *c)
{
    PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = c->object;
    if (CALL(cuptiRangeProfilerDecodeData, decode) && c->count)
        send_ranges(c, decode.numOfRangeDropped);
    cw_collection_forget(c);
}

void cw_collection_flush(struct cw_collection *c)
{
    if (!c->running)
        return;
    c->running = false;
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = c->object;
    if (CALL(cuptiRangeProfilerStop, stop))
        cw_collection_deliver(c);
}

void cw_collection_stop_all(void)
{
    for (uint32_t i = 0; i < self.context_count; i++) {
        PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
        stop.pRangeProfilerObject = self.contexts[i].object;
        if (self.contexts[i].running)
            cw_inject.api.cuptiRangeProfilerStop(&stop);
        self.contexts[i].running = false;
        cw_collection_forget(&self.contexts[i]);
    }
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static void note(struct cw_collection *c, struct cw_seen_launch *l, const char *kernel, uint64_t range)
{
    l->kernel = strdup(kernel);
    l->nvtx = cw_user_ranges_path(range);
    l->data.kernel = l->kernel ? l->kernel : "";
    l->data.nvtx = l->nvtx ? l->nvtx : "";
    l->data.context = (uint64_t)(uintptr_t)c->context;
    l->data.start_ns = cw_inject_now_ns();
    c->launches[c->count++] = *l;
}

bool cw_collection_range(struct cw_collection *c, const struct cw_open_range *range)
{
    struct cw_seen_launch l = {.data.user = true};
    if (c->count == self.at_once)
        return false;
    note(c, &l, "", range->id);
    return true;
}

bool cw_collection_launch(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_seen_launch l = {.correlation = call->correlationId};
    if (c->count == self.at_once || !cw_inject_launch_shape(&l.data, id, call->functionParams))
        return false;
    note(c, &l, !l.data.graph && call->symbolName ? call->symbolName : "", 0);
    c->pending++;
    return true;
}

bool cw_collection_launch_replayed(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    bool full = c->count == self.at_once;
    if (!c->pending && (full || (c->count && cw_inject_now_ns() - c->armed_ns > flush_ns))) {
        cw_collection_flush(c);
        if (cw_inject.over || !cw_collection_arm(c, CUPTI_KernelReplay))
            return false;
    }
    return cw_collection_launch(c, id, call);
}

bool cw_collection_launched(struct cw_collection *c, const CUpti_CallbackData *data)
{
    uint32_t i = c->count;
    while (i > 0 && c->launches[i - 1].correlation != data->correlationId)
        i--;
    if (i-- == 0 || c->launches[i].data.end_ns)
        return false;
    c->pending--;
    c->launches[i].data.end_ns = cw_inject_now_ns();
    /* a launch that the driver refused makes no range */
    if (data->functionReturnValue && *(const CUresult *)data->functionReturnValue != CUDA_SUCCESS) {
        free(c->launches[i].kernel);
        free(c->launches[i].nvtx);
        memmove(&c->launches[i], &c->launches[i + 1], (--c->count - i) * sizeof *c->launches);
    }
    return true;
}
