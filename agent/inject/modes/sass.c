/* SASS metrics of each context: CUPTI patches kernels and counts for each of their instructions.
 *
 * Undocumented limits, seen on an H100 and an H200 with CUPTI 13.0: CUPTI patches the code loaded at a context's first
 * launch, and none that is loaded later; it counts in the first of two contexts only; once counts have been fetched it
 * counts no more, and enabling it again does not help. So counts are fetched once: when the context or the program
 * ends, or when the program begins to make its first CUDA graph. Launched kernels without counts are reported. */
#define _GNU_SOURCE
#include "agent/inject/modes/sass.h"

#include <stdlib.h>

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/ranges/gate.h"

struct patched { /* a context under SASS metrics */
    CUcontext context;
    uint32_t device;
    bool launched, running;
    uint64_t since_ns;
};

static struct {
    /* from SETUP: */
    uint32_t metric_count;
    struct cw_sass_metric *metrics;
    struct cw_filter_options options;
    struct cw_filter filter;            /* selects kernels */
    uint64_t ids[CW_SASS_MOST_METRICS]; /* CUPTI's ids of the metrics */
    uint64_t configured;                /* bit for each device number */
    uint32_t context_count;
    struct patched contexts[CW_MOST_CONTEXTS];
    size_t launched_count, launched_capacity;
    struct cw_sass_kernel *launched;
    bool one_context; /* this CUPTI counts in one context at a time */
    bool until_graph; /* counting ended before the first graph */
} state CW_STATE;
#define self (&state)

struct cw_sass_kernel { /* a kernel that a context has launched */
    CUcontext context;
    const char *key; /* the driver's own text, the same pointer at every launch */
    char *name;
    bool counted; /* counted, or not wanted */
};

/* Limit on the wait for earlier work: CUPTI delivers counts only after it, and a kernel may never end. */
static const uint64_t patience_ns = 60000000000;
enum { MOST_KERNELS = 1 << 16 };

static bool setup(struct cw_reader *in)
{
    cw_sent_modules->wanted = cw_read_u8(in);
    self->metric_count = cw_read_count(in, 5, "metrics");
    if (self->metric_count > CW_SASS_MOST_METRICS)
        return false;
    self->metrics = cw_arena_alloc(cw_inject->arena, self->metric_count, sizeof *self->metrics);
    for (uint32_t i = 0; self->metrics && i < self->metric_count; i++) {
        self->metrics[i].name = cw_read_string(in, cw_inject->arena);
        self->metrics[i].level = (enum cw_sass_level)cw_read_u8(in);
    }
    cw_filter_read(in, &self->options, cw_inject->arena);
    if (!cw_gate_read(in))
        return false;
    uint32_t version = 0;
    cw_inject->api.cuptiGetVersion(&version);
    self->one_context = version / 100 == 1300;
    return self->metrics && in->status == CW_OK && cw_filter_open(&self->filter, &self->options, NULL) == CW_OK;
}

/* ---- start ------------------------------------------------------------------------------------------------------ */

static bool find_metric(const char *chip, const char *name, uint64_t *id)
{
    PARAMS(CUpti_SassMetrics_GetProperties_Params, properties, .pChipName = chip, .pMetricName = name);
    if (cw_inject->api.cuptiSassMetricsGetProperties(&properties) == CUPTI_SUCCESS) {
        *id = properties.metric.metricId;
        return true;
    }
    cw_inject_fail(CW_ERR_USAGE, "found the SASS metric '%s', expected one of %s: capture-agent sass --list names them",
                   name, chip);
    return false;
}

/* Configures a device, once for all its contexts. */
static bool configure(uint32_t device)
{
    static const CUpti_SassMetrics_OutputGranularity levels[] = {
        [CW_SASS_GPU] = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU,
        [CW_SASS_SM] = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_SM,
        [CW_SASS_SMSP] = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_SMSP};
    CUpti_SassMetrics_Config configs[CW_SASS_MOST_METRICS];
    uint64_t bit = device < 64 ? UINT64_C(1) << device : 0;
    if (self->configured & bit)
        return true;
    PARAMS(CUpti_Device_GetChipName_Params, chip, .deviceIndex = device);
    if (!CALL(cuptiDeviceGetChipName, chip))
        return false;
    for (uint32_t i = 0; i < self->metric_count; i++) {
        if (!find_metric(chip.pChipName, self->metrics[i].name, &self->ids[i]))
            return false;
        configs[i] = (CUpti_SassMetrics_Config){.metricId = self->ids[i],
                                                .outputGranularity = (uint8_t)levels[self->metrics[i].level]};
    }
    PARAMS(CUpti_SassMetricsSetConfig_Params, set, .numOfMetricConfig = self->metric_count, .pConfigs = configs,
           .deviceIndex = device);
    if (!CALL(cuptiSassMetricsSetConfig, set))
        return false;
    self->configured |= bit;
    return true;
}

static void context_created(CUcontext context, uint32_t device)
{
    if (self->context_count < CW_MOST_CONTEXTS)
        self->contexts[self->context_count++] =
            (struct patched){.context = context, .device = device, .since_ns = cw_inject_now_ns()};
    else
        cw_inject_say_contexts();
}

static bool may_enable(void)
{
    for (uint32_t i = 0; i < self->context_count && self->one_context; i++)
        if (self->contexts[i].running)
            return false;
    return true;
}

static void enable(struct patched *p)
{
    PARAMS(CUpti_SassMetricsEnable_Params, enable, .ctx = p->context, .enableLazyPatching = 1);
    p->running = may_enable() && configure(p->device) && CALL(cuptiSassMetricsEnable, enable);
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static bool grow(void)
{
    size_t capacity = self->launched_capacity ? 2 * self->launched_capacity : 256;
    struct cw_sass_kernel *grown = capacity <= MOST_KERNELS ? realloc(self->launched, capacity * sizeof *grown) : NULL;
    if (!grown)
        return false;
    self->launched = grown;
    self->launched_capacity = capacity;
    return true;
}

static void note_launch(CUcontext context, const char *name)
{
    for (size_t i = self->launched_count; name && i-- > 0;)
        if (self->launched[i].key == name && self->launched[i].context == context)
            return;
    char *copy = name && (self->launched_count < self->launched_capacity || grow()) ? strdup(name) : NULL;
    if (copy)
        self->launched[self->launched_count++] = (struct cw_sass_kernel){
            .context = context, .key = name, .name = copy, .counted = !cw_filter_kernel(&self->filter, name)};
}

static void mark_counted(CUcontext context, const char *function)
{
    for (size_t i = 0; i < self->launched_count; i++)
        if (self->launched[i].context == context && strcmp(self->launched[i].name, function) == 0)
            self->launched[i].counted = true;
}

/* Counts a context's launched kernels that were not counted, with the first as an example, and forgets all its
 * kernels. */
static uint32_t take_uncounted(CUcontext context, char **first)
{
    uint32_t count = 0;
    size_t kept = 0;
    *first = NULL;
    for (size_t i = 0; i < self->launched_count; i++) {
        struct cw_sass_kernel *l = &self->launched[i];
        if (l->context != context) {
            self->launched[kept++] = *l;
            continue;
        }
        count += !l->counted;
        if (!l->counted && !*first)
            *first = l->name;
        else
            free(l->name);
    }
    self->launched_count = kept;
    return count;
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

struct harvest { /* CUPTI's data, and our form of it */
    struct cw_arena *arena;
    size_t records, entries; /* entries: values of each record, over all metrics */
    CUpti_SassMetrics_Data *data;
    CUpti_SassMetrics_InstanceValue *room;
    struct cw_sass_record *own;
    uint32_t *counts;       /* [record][metric] */
    const uint64_t **lists; /* [record][metric] */
    uint64_t *values;       /* [record][entry] */
};

static bool make_harvest(struct harvest *h)
{
    size_t metrics = self->metric_count;
    h->arena = cw_arena_create();
    if (!h->arena)
        return cw_inject_fail_memory();
    h->data = cw_arena_alloc(h->arena, h->records, sizeof *h->data);
    h->room = cw_arena_alloc(h->arena, h->records * h->entries, sizeof *h->room);
    h->own = cw_arena_alloc(h->arena, h->records, sizeof *h->own);
    h->counts = cw_arena_alloc(h->arena, h->records * metrics, sizeof *h->counts);
    h->lists = cw_arena_alloc(h->arena, h->records * metrics, sizeof *h->lists);
    h->values = cw_arena_alloc(h->arena, h->records * h->entries, sizeof *h->values);
    if (!h->data || !h->room || !h->own || !h->counts || !h->lists || !h->values)
        return cw_inject_fail_memory();
    for (size_t i = 0; i < h->records; i++)
        h->data[i] = (CUpti_SassMetrics_Data){.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
                                              .pInstanceValues = h->room + i * h->entries};
    return true;
}

/* Sorts a record's values, which name their metric, into a list for each metric. */
static void take_record(struct harvest *h, size_t i)
{
    const CUpti_SassMetrics_Data *data = &h->data[i];
    uint32_t *counts = h->counts + i * self->metric_count;
    const uint64_t **lists = h->lists + i * self->metric_count;
    uint64_t *values = h->values + i * h->entries;
    for (uint32_t m = 0; m < self->metric_count; m++) {
        lists[m] = values;
        for (size_t k = 0; k < h->entries; k++)
            if (data->pInstanceValues[k].metricId == self->ids[m]) {
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

static bool fetch(const struct patched *p, struct harvest *h)
{
    PARAMS(CUpti_SassMetricsGetDataProperties_Params, properties, .ctx = p->context);
    if (!CALL(cuptiSassMetricsGetDataProperties, properties))
        return false;
    h->records = properties.numOfPatchedInstructionRecords;
    h->entries = properties.numOfInstances;
    if (!h->records || !h->entries) {
        h->records = 0;
        return true;
    }
    if (!make_harvest(h))
        return false;
    PARAMS(CUpti_SassMetricsFlushData_Params, flush_data, .ctx = p->context,
           .numOfPatchedInstructionRecords = h->records, .numOfInstances = h->entries, .pMetricsData = h->data);
    return CALL(cuptiSassMetricsFlushData, flush_data);
}

/* Sends the counts, possibly none, and reports uncounted kernels. */
static void send_records(const struct patched *p, struct harvest *h, size_t dropped)
{
    const char *function = "";
    uint32_t kept = 0; /* records of wanted kernels */
    for (size_t i = 0; i < h->records; i++) {
        take_record(h, i);
        if (strcmp(function, h->own[i].at.function) != 0)
            mark_counted(p->context, h->own[i].at.function);
        function = h->own[i].at.function;
        if (cw_filter_kernel(&self->filter, function))
            h->own[kept++] = h->own[i];
    }
    char *first;
    uint32_t uncounted = take_uncounted(p->context, &first);
    struct cw_sass_batch batch = {.device = p->device,
                                  .process = (uint32_t)cw_inject->process,
                                  .start_ns = p->since_ns,
                                  .end_ns = cw_inject_now_ns(),
                                  .dropped = dropped,
                                  .metric_count = self->metric_count,
                                  .metrics = self->metrics,
                                  .record_count = kept,
                                  .records = h->own};
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u32(&out, uncounted);
    cw_write_string(&out, first ? first : "");
    cw_write_u8(&out, self->until_graph);
    cw_sass_batch_write(&batch, &out);
    cw_inject_send(CW_MESSAGE_SASS, &out);
    free(first);
}

/* Called after the device's last context was disabled: makes CUPTI free the config. A later context is configured
 * again. */
static void give_up_config(uint32_t device)
{
    uint64_t bit = device < 64 ? UINT64_C(1) << device : 0;
    PARAMS(CUpti_SassMetricsUnsetConfig_Params, unset, .deviceIndex = device);
    for (uint32_t i = 0; i < self->context_count; i++)
        if (self->contexts[i].running && self->contexts[i].device == device)
            return;
    if (self->configured & bit)
        cw_inject->api.cuptiSassMetricsUnsetConfig(&unset);
    self->configured &= ~bit;
}

static void stop(struct patched *p)
{
    struct harvest h = {0};
    PARAMS(CUpti_SassMetricsDisable_Params, disable, .ctx = p->context);
    bool good = p->launched && (!p->running || fetch(p, &h));
    const bool disabled = p->running && good && cw_inject->api.cuptiSassMetricsDisable(&disable) == CUPTI_SUCCESS;
    p->running = false;
    if (disabled)
        give_up_config(p->device);
    if (good)
        send_records(p, &h, disable.numOfDroppedRecords);
    cw_arena_destroy(h.arena);
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static struct patched *find(CUcontext context)
{
    for (uint32_t i = 0; i < self->context_count; i++)
        if (self->contexts[i].context == context)
            return &self->contexts[i];
    return NULL;
}

/* Fetches the counts of an idle context; other threads go on meanwhile. */
static void settle(CUcontext context, bool rests, const char *where)
{
    struct patched *p = find(context);
    if (p && p->running && !rests)
        cw_inject_fail(CW_ERR_DEVICE, "found a kernel that does not end before %s: its counts are lost", where);
    else if (p)
        stop(p);
}

static void settle_all(const char *where)
{
    for (uint32_t i = self->context_count; i-- > 0 && !cw_inject->over;) {
        if (i >= self->context_count) /* contexts were removed meanwhile */
            continue;
        const CUcontext context = self->contexts[i].context;
        settle(context, !self->contexts[i].running || cw_idle_wait_before_capture(context, patience_ns), where);
    }
}

static void context_destroyed(CUcontext context)
{
    if (!find(context))
        return;
    settle(context, cw_idle_wait_before_capture(context, patience_ns), "its context does");
    struct patched *p = find(context);
    if (p)
        *p = self->contexts[--self->context_count];
}

/* Enables counting at the first launch, because CUPTI patches the code loaded then: the agent makes programs load their
 * modules as a whole. */
static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id;
    struct patched *p = cw_gate->closed ? NULL : find(call->context);
    if (!p)
        return;
    if (!p->launched && !self->until_graph)
        enable(p);
    p->launched = true;
    note_launch(p->context, call->symbolName);
}

static bool wants(CUpti_CallbackId id)
{
    return cw_stream_capture_begins(id) || cw_graph_makes(id);
}

/* Ends counting before the first graph: CUPTI 13.0 loses copies between devices in a graph's first launch, and captured
 * kernels would stay patched in the graph. */
static void call_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id;
    (void)call;
    if (self->until_graph)
        return;
    self->until_graph = true;
    if (!cw_in_flight_wait(cw_in_flight_no_launch))
        cw_inject_fail(CW_ERR_DEVICE,
                       "found a launch that does not return where a CUDA graph begins to be made; expected "
                       "SASS metrics to end before it");
    settle_all("a CUDA graph begins to be made");
}

/* Ends counting with the window: counts are fetched once, so another window has none. */
static void gate_turned(bool open)
{
    if (!open && cw_in_flight_wait(cw_in_flight_no_launch))
        settle_all("the capture does");
}

static void finish(void)
{
    settle_all("the program does");
}

static void reset(void)
{
    cw_filter_close(&self->filter);
    for (size_t i = 0; i < self->launched_count; i++)
        free(self->launched[i].name);
    free(self->launched);
    memset(self, 0, sizeof *self);
}

const struct cw_inject_mode cw_inject_sass = {.setup = setup,
                                              .context_created = context_created,
                                              .context_destroyed = context_destroyed,
                                              .launch_entered = launch_entered,
                                              .finish = finish,
                                              .wants = wants,
                                              .call_entered = call_entered,
                                              .gate_turned = gate_turned,
                                              .reset = reset,
                                              .module_loaded = cw_module_send};
