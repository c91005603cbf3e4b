/* SASS metrics of each context: CUPTI patches the modules that are loaded when it is enabled, and counts for each of
 * their instructions; for a module that comes later it is enabled again. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/inject/inject.h"
#include "host/image/pc_data.h"

enum { MOST_CONTEXTS = 64, MOST_METRICS = 256 };

struct patched { /* a context under SASS metrics */
    CUcontext context;
    uint32_t device;
    bool configured, running;
    bool stale; /* a module came since CUPTI was enabled */
    uint64_t since_ns;
};

static struct {
    /* from SETUP */
    uint64_t flush_ns;
    bool code;
    uint32_t metric_count;
    struct cw_sass_metric *metrics;
    uint64_t ids[MOST_METRICS]; /* CUPTI's, of the metrics */
    uint64_t configured;        /* bit for each device number */
    uint32_t context_count;
    struct patched contexts[MOST_CONTEXTS];
} self;

static bool setup(struct cw_reader *in)
{
    self.flush_ns = cw_read_u64(in);
    self.code = cw_read_u8(in);
    self.metric_count = cw_read_count(in, 5, "metrics");
    if (self.metric_count > MOST_METRICS)
        return false;
    self.metrics = cw_arena_alloc(cw_inject.arena, self.metric_count, sizeof *self.metrics);
    for (uint32_t i = 0; self.metrics && i < self.metric_count; i++) {
        self.metrics[i].name = cw_read_string(in, cw_inject.arena);
        self.metrics[i].level = (enum cw_sass_level)cw_read_u8(in);
    }
    return self.metrics && in->status == CW_OK;
}

/* ---- start ------------------------------------------------------------------------------------------------------ */

static bool find_metric(const char *chip, const char *name, uint64_t *id)
{
    PARAMS(CUpti_SassMetrics_GetProperties_Params, properties);
    properties.pChipName = chip;
    properties.pMetricName = name;
    if (cw_inject.api.cuptiSassMetricsGetProperties(&properties) == CUPTI_SUCCESS) {
        *id = properties.metric.metricId;
        return true;
    }
    cw_inject_fail(CW_ERR_USAGE, "found the SASS metric '%s', expected one of %s: capture-agent sass --list names them",
                   name, chip);
    return false;
}

/* Once for each device, whatever contexts it has. */
static bool configure(uint32_t device)
{
    static const CUpti_SassMetrics_OutputGranularity levels[] = {
        [CW_SASS_GPU] = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU,
        [CW_SASS_SM] = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_SM,
        [CW_SASS_SMSP] = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_SMSP};
    CUpti_SassMetrics_Config configs[MOST_METRICS];
    uint64_t bit = device < 64 ? UINT64_C(1) << device : 0;
    if (self.configured & bit)
        return true;
    PARAMS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = device;
    if (!CALL(cuptiDeviceGetChipName, chip))
        return false;
    for (uint32_t i = 0; i < self.metric_count; i++) {
        if (!find_metric(chip.pChipName, self.metrics[i].name, &self.ids[i]))
            return false;
        configs[i] = (CUpti_SassMetrics_Config){.metricId = self.ids[i],
                                                .outputGranularity = (uint8_t)levels[self.metrics[i].level]};
    }
    PARAMS(CUpti_SassMetricsSetConfig_Params, set);
    set.numOfMetricConfig = self.metric_count;
    set.pConfigs = configs;
    set.deviceIndex = device;
    if (!CALL(cuptiSassMetricsSetConfig, set))
        return false;
    self.configured |= bit;
    return true;
}

static void context_created(CUcontext context, uint32_t device)
{
    if (self.context_count < MOST_CONTEXTS)
        self.contexts[self.context_count++] =
            (struct patched){.context = context, .device = device, .since_ns = cw_inject_now_ns()};
}

static void enable(struct patched *p)
{
    PARAMS(CUpti_SassMetricsEnable_Params, enable);
    enable.ctx = p->context;
    enable.enableLazyPatching = 1;
    p->configured = true;
    p->stale = false;
    p->running = configure(p->device) && CALL(cuptiSassMetricsEnable, enable);
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

static bool out_of_memory(void)
{
    cw_inject_fail(CW_ERR_NOMEM, "out of memory in the profiled program");
    return false;
}

struct harvest {             /* what CUPTI fills, and the same in our form */
    size_t records, entries; /* entries of each record: its values, of all metrics */
    CUpti_SassMetrics_Data *data;
    CUpti_SassMetrics_InstanceValue *room;
    struct cw_sass_record *own;
    uint32_t *counts;       /* [record][metric] */
    const uint64_t **lists; /* [record][metric] */
    uint64_t *values;       /* [record][entry] */
};

static bool make_harvest(struct harvest *h)
{
    size_t metrics = self.metric_count;
    h->data = calloc(h->records, sizeof *h->data);
    h->room = calloc(h->records * h->entries + 1, sizeof *h->room);
    h->own = calloc(h->records, sizeof *h->own);
    h->counts = calloc(h->records * metrics + 1, sizeof *h->counts);
    h->lists = calloc(h->records * metrics + 1, sizeof *h->lists);
    h->values = calloc(h->records * h->entries + 1, sizeof *h->values);
    if (!h->data || !h->room || !h->own || !h->counts || !h->lists || !h->values)
        return out_of_memory();
    for (size_t i = 0; i < h->records; i++)
        h->data[i] = (CUpti_SassMetrics_Data){.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
                                              .pInstanceValues = h->room + i * h->entries};
    return true;
}

static void free_harvest(struct harvest *h)
{
    free(h->data);
    free(h->room);
    free(h->own);
    free(h->counts);
    free(h->lists);
    free(h->values);
}

/* CUPTI's values of a record name their metric; ours are a list for each metric. */
static void take_record(struct harvest *h, size_t i)
{
    const CUpti_SassMetrics_Data *data = &h->data[i];
    uint32_t *counts = h->counts + i * self.metric_count;
    const uint64_t **lists = h->lists + i * self.metric_count;
    uint64_t *values = h->values + i * h->entries;
    for (uint32_t m = 0; m < self.metric_count; m++) {
        lists[m] = values;
        for (size_t k = 0; k < h->entries; k++)
            if (data->pInstanceValues[k].metricId == self.ids[m]) {
                *values++ = data->pInstanceValues[k].value;
                counts[m]++;
            }
    }
    h->own[i] = (struct cw_sass_record){.at = {.module = data->cubinCrc,
                                               .pc = data->pcOffset,
                                               .function = data->functionName ? data->functionName : "",
                                               .symbol = data->functionIndex},
                                        .counts = counts,
                                        .values = lists};
}

static bool send_records(const struct patched *p, struct harvest *h)
{
    PARAMS(CUpti_SassMetricsFlushData_Params, flush_data);
    flush_data.ctx = p->context;
    flush_data.numOfPatchedInstructionRecords = h->records;
    flush_data.numOfInstances = h->entries;
    if (!make_harvest(h))
        return false;
    flush_data.pMetricsData = h->data;
    if (!CALL(cuptiSassMetricsFlushData, flush_data))
        return false;
    for (size_t i = 0; i < h->records; i++)
        take_record(h, i);
    struct cw_sass_batch batch = {.device = p->device,
                                  .process = (uint32_t)cw_inject.process,
                                  .start_ns = p->since_ns,
                                  .end_ns = cw_inject_now_ns(),
                                  .metric_count = self.metric_count,
                                  .metrics = self.metrics,
                                  .record_count = (uint32_t)h->records,
                                  .records = h->own};
    struct cw_writer out;
    cw_writer_init(&out);
    cw_sass_batch_write(&batch, &out);
    return cw_inject_send(CW_MESSAGE_SASS, &out);
}

static void flush(struct patched *p)
{
    if (!p->running)
        return;
    PARAMS(CUpti_SassMetricsGetDataProperties_Params, properties);
    properties.ctx = p->context;
    if (!CALL(cuptiSassMetricsGetDataProperties, properties)) {
        p->running = false;
        return;
    }
    struct harvest h = {.records = properties.numOfPatchedInstructionRecords, .entries = properties.numOfInstances};
    if (h.records && h.entries)
        p->running = send_records(p, &h);
    free_harvest(&h);
    p->since_ns = cw_inject_now_ns();
}

static void send_dropped(const struct patched *p, size_t dropped)
{
    struct cw_sass_batch batch = {.device = p->device,
                                  .process = (uint32_t)cw_inject.process,
                                  .start_ns = p->since_ns,
                                  .end_ns = cw_inject_now_ns(),
                                  .dropped = dropped,
                                  .metric_count = self.metric_count,
                                  .metrics = self.metrics};
    struct cw_writer out;
    cw_writer_init(&out);
    cw_sass_batch_write(&batch, &out);
    cw_inject_send(CW_MESSAGE_SASS, &out);
}

static void stop(struct patched *p)
{
    flush(p);
    if (!p->running)
        return;
    p->running = false;
    PARAMS(CUpti_SassMetricsDisable_Params, disable);
    disable.ctx = p->context;
    if (CALL(cuptiSassMetricsDisable, disable) && disable.numOfDroppedRecords)
        send_dropped(p, disable.numOfDroppedRecords);
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static struct patched *find(CUcontext context)
{
    for (uint32_t i = 0; i < self.context_count; i++)
        if (self.contexts[i].context == context)
            return &self.contexts[i];
    return NULL;
}

static void context_destroyed(CUcontext context)
{
    struct patched *p = find(context);
    if (!p)
        return;
    cw_inject_synchronize(context);
    stop(p);
    *p = self.contexts[--self.context_count];
}

/* Enabled at the first launch: CUPTI patches what is loaded then, which is why the agent has programs load their
 * modules whole. Fetching the records waits for the GPU, which a stream that is being captured forbids. */
static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct patched *p = find(call->context);
    if (p && !p->configured)
        enable(p);
    bool due = p && p->running && (p->stale || cw_inject_now_ns() - p->since_ns > self.flush_ns);
    if (!due || !cw_inject_launch_runs(id, call))
        return;
    if (!p->stale) {
        flush(p);
        return;
    }
    cw_inject_synchronize(p->context);
    stop(p);
    if (!cw_inject.over)
        enable(p);
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id;
    (void)call;
}

static void module_loaded(CUcontext context, const CUpti_ModuleResourceData *module)
{
    struct patched *p = find(context);
    if (p)
        p->stale = true;
    if (self.code)
        cw_inject_send_module(module);
}

static void module_unloading(CUcontext context)
{
    struct patched *p = find(context);
    if (p)
        flush(p);
}

static void finish(void)
{
    for (uint32_t i = 0; i < self.context_count && !cw_inject.over; i++) {
        cw_inject_synchronize(self.contexts[i].context);
        stop(&self.contexts[i]);
    }
}

const struct cw_inject_mode cw_inject_sass = {.setup = setup,
                                              .context_created = context_created,
                                              .context_destroyed = context_destroyed,
                                              .launch_entered = launch_entered,
                                              .launch_left = launch_left,
                                              .finish = finish,
                                              .module_loaded = module_loaded,
                                              .module_unloading = module_unloading};
