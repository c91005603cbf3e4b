/* SASS metrics of each context: CUPTI patches kernels and counts for each of their instructions.
 *
 * Undocumented needs, seen on an H200 with CUPTI 13.0: without a callback for profiled modules CUPTI counts the first
 * kernel of each thread only, and no more once counts have been fetched. A second config of a device fails (out of
 * memory), but one config serves any number of contexts, parts and fetches. A graph's first launch beside patched
 * kernels may lose its copies. A kernel that the GPU launches faults or miscounts if it was patched for the host's
 * launches. So counting pauses around the launches of graphs, and of kernels that launch others. Patched kernels of
 * NCCL did not end on two GPUs, so collectives are left alone in the same way. To patch a kernel CUPTI waits for the
 * kernels that run, and these may wait for the very launch. With lazy patching CUPTI does this inside a kernel's first
 * launch, and nothing keeps it from it. Without, it patches the kernels that are loaded when it is enabled, and no
 * others: so at the first launch of a kernel its code is loaded, and CUPTI enabled again on an idle GPU, or else the
 * launch is not counted. Of cuBLAS's code CUPTI can only patch single kernels, lazily; otherwise it is refused. It
 * counts as enabled then. Inside a thread's first launch CUPTI patches nothing, and tries that kernel no more until it
 * is enabled again. All of NCCL's code takes 6 s each time, so where there are collectives single kernels are patched
 * as well: counting pauses around collectives, and other kernels of such programs wait for none that follows.
 */
#define _GNU_SOURCE
#include "agent/inject/modes/sass.h"

#include <stdlib.h>

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/kernel_facts.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/modes/sass_counts.h"
#include "agent/inject/ranges/gate.h"
#include "agent/inject/ranges/user_ranges.h"

struct patched { /* a context under SASS metrics */
    CUcontext context;
    uint32_t device;
    bool launched, running;
    bool refused;              /* CUPTI cannot patch all of its loaded kernels */
    bool lazy;                 /* patches a kernel inside its first launch */
    bool beside;               /* work that must not meet patched kernels may still be under way */
    uint64_t again_ns;         /* not before this time another wait for rest */
    uint32_t enables;          /* how often it was enabled */
    uint64_t since_ns, due_ns; /* the last sending, and the next one while the program runs */
    size_t dropped;
    uint64_t graphs, launchers, others; /* launches that were not counted, by reason (struct cw_uncounted) */
    struct cw_sass_counts counts;       /* of wanted kernels */
};

static struct {
    /* from SETUP: */
    uint64_t flush_ns;
    uint32_t metric_count;
    struct cw_sass_metric *metrics;
    struct cw_filter_options options;
    struct cw_filter filter;            /* selects kernels, ranges and launches */
    uint64_t ids[CW_SASS_MOST_METRICS]; /* CUPTI's ids of the metrics */
    uint64_t configured;                /* bit for each device number */
    uint32_t context_count;
    struct patched contexts[CW_MOST_CONTEXTS];
    size_t launched_count, launched_capacity;
    struct cw_sass_kernel *launched;
    struct cw_hash_table by_key; /* of launched */
    uint64_t begun_ns, spent_ns; /* first counting; time for waits and pauses since */
    bool stays;                  /* CUPTI counts in a context that was forgotten, or may */
    bool heavy;                  /* there are collectives: patching all loaded kernels takes long */
    uint32_t pausing;            /* threads that wait until nothing is counted */
    uint64_t hazards;            /* events so far that must not meet patched kernels */
    uint64_t threads[64];        /* a bit for each that has launched, by a hash */
} state CW_STATE;
#define self (&state)

struct cw_sass_kernel { /* a kernel that a context has launched */
    CUcontext context;
    const char *key; /* the driver's own text, the same pointer at every launch */
    char *name;
    bool wanted, collective; /* wanted: by its name */
    bool chosen, counted;    /* a launch is to be counted; it has counts */
    uint32_t loaded;         /* its context's enables when it was loaded, which did not patch it; or NOT_LOADED */
    uint32_t patched;        /* its context's enables when it was patched lazily */
    uint32_t unseen;         /* its context's enables when it was not, in the first launch of a thread */
};

/* Limits on waits for earlier work: at the end, before a graph or a kernel that launches others, and before a kernel is
 * patched. CUPTI delivers counts only after it, and a kernel may never end. */
static const uint64_t end_patience_ns = 60000000000, pause_patience_ns = 10000000000, patch_patience_ns = 1000000000;
/* Waits and pauses take at most so long beside a third of the time. The launches between are left out. */
static const uint64_t free_ns = 5000000000;
enum { SHARE = 3 };
/* Sending counts takes at most this part of the time. */
enum { SENDING_SHARE = 20 };
enum { MOST_KERNELS = 1 << 16 };
static const uint32_t NOT_LOADED = UINT32_MAX;

/* Whether every metric has a known level and is listed once: CUPTI's values name their metric alone. */
static bool are_good(const struct cw_sass_metric *metrics, uint32_t count)
{
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        good = good && metrics[i].level < CW_SASS_LEVEL__COUNT;
        for (uint32_t k = 0; k < i; k++)
            good = good && strcmp(metrics[k].name, metrics[i].name) != 0;
    }
    return good;
}

static bool setup(struct cw_reader *in)
{
    cw_sent_modules->wanted = cw_read_u8(in);
    self->flush_ns = cw_read_u64(in);
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
    if (!self->metrics || in->status != CW_OK || !are_good(self->metrics, self->metric_count) ||
        cw_filter_open(&self->filter, &self->options, NULL) != CW_OK)
        return false;
    if (self->options.range)
        cw_user_ranges_filter(&self->filter);
    return cw_inject_good(cw_inject->api.cuptiEnableCallback(1, cw_inject->subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                                             CUPTI_CBID_RESOURCE_MODULE_PROFILED),
                          "cuptiEnableCallback");
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
    const uint64_t now_ns = cw_inject_now_ns();
    if (self->context_count < CW_MOST_CONTEXTS)
        self->contexts[self->context_count++] = (struct patched){
            .context = context, .device = device, .since_ns = now_ns, .due_ns = now_ns + self->flush_ns};
    else
        cw_inject_say_contexts();
}

static bool disable(const struct patched *p, size_t *dropped)
{
    PARAMS(CUpti_SassMetricsDisable_Params, disable, .ctx = p->context);
    if (!CALL(cuptiSassMetricsDisable, disable)) {
        self->stays = true;
        return false;
    }
    *dropped += disable.numOfDroppedRecords;
    return true;
}

static void enable(struct patched *p)
{
    PARAMS(CUpti_SassMetricsEnable_Params, enable, .ctx = p->context);
    size_t none = 0;
    p->running = configure(p->device);
    p->lazy = p->refused || self->heavy;
    if (p->running && !p->lazy) {
        const CUptiResult result = cw_inject->api.cuptiSassMetricsEnable(&enable);
        p->lazy = p->refused = result == CUPTI_ERROR_INVALID_PARAMETER && disable(p, &none);
        p->running = p->lazy || cw_inject_good(result, "cuptiSassMetricsEnable");
    }
    enable.enableLazyPatching = p->lazy;
    if (p->running && p->lazy)
        p->running = CALL(cuptiSassMetricsEnable, enable);
    p->enables++;
    if (p->running && !self->begun_ns)
        self->begun_ns = cw_inject_now_ns();
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

/* The driver may give the place of a name to another, once the name's module has gone. So a kernel that was kept is
 * known by its copy of the name. */
static bool is_kernel(const void *items, uint32_t item, const void *key)
{
    const struct cw_sass_kernel *a = (const struct cw_sass_kernel *)items + item, *b = key;
    return a->context == b->context && a->key == b->key && strcmp(a->name, b->name ? b->name : b->key) == 0;
}

static uint64_t hash_of(const struct cw_sass_kernel *k)
{
    const uint64_t hash = cw_inject_mix((uint64_t)(uintptr_t)k->context, (uint64_t)(uintptr_t)k->key);
    return hash ^ hash >> 32;
}

static bool add_key(const struct cw_sass_kernel *k)
{
    return cw_hash_table_add(&self->by_key, hash_of(k), is_kernel, self->launched, k) != CW_NO_ITEM;
}

static struct cw_sass_kernel *find_kernel(CUcontext context, const char *name)
{
    const struct cw_sass_kernel kernel = {.context = context, .key = name};
    const uint32_t known =
        name ? cw_hash_table_find(&self->by_key, hash_of(&kernel), is_kernel, self->launched, &kernel) : CW_NO_ITEM;
    return known != CW_NO_ITEM ? &self->launched[known] : NULL;
}

/* NULL without a name, and for a new kernel beyond the limit. */
static struct cw_sass_kernel *note_launch(CUcontext context, const char *name)
{
    struct cw_sass_kernel kernel = {.context = context, .key = name}, *known = find_kernel(context, name);
    if (known || !name)
        return known;
    kernel.name = self->launched_count < self->launched_capacity || grow() ? strdup(name) : NULL;
    if (!kernel.name || !add_key(&kernel)) {
        free(kernel.name);
        return NULL;
    }
    kernel.wanted = cw_filter_kernel(&self->filter, name);
    kernel.collective = cw_reach_by_name(name);
    kernel.loaded = NOT_LOADED;
    self->launched[self->launched_count] = kernel;
    return &self->launched[self->launched_count++];
}

static void mark_counted(CUcontext context, const char *function)
{
    for (size_t i = 0; i < self->launched_count; i++)
        if (!self->launched[i].counted && self->launched[i].context == context &&
            strcmp(self->launched[i].name, function) == 0)
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
        const bool missed = l->chosen && !l->counted;
        count += missed;
        if (missed && !*first)
            *first = l->name;
        else
            free(l->name);
    }
    self->launched_count = kept;
    cw_hash_table_empty(&self->by_key);
    for (size_t i = 0; i < kept; i++)
        add_key(&self->launched[i]);
    return count;
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

struct harvest {             /* CUPTI's data, and our form of one record */
    size_t records, entries; /* entries: values of each record, over all metrics */
    CUpti_SassMetrics_Data *data;
    CUpti_SassMetrics_InstanceValue *room;
    uint64_t *values;
    uint32_t counts[CW_SASS_MOST_METRICS];
    const uint64_t *lists[CW_SASS_MOST_METRICS];
};

static bool make_harvest(struct harvest *h)
{
    h->data = calloc(h->records, sizeof *h->data);
    h->room = calloc(h->records, h->entries * sizeof *h->room);
    h->values = calloc(h->entries, sizeof *h->values);
    if (!h->data || !h->room || !h->values)
        return cw_inject_fail_memory();
    for (size_t i = 0; i < h->records; i++)
        h->data[i] = (CUpti_SassMetrics_Data){.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
                                              .pInstanceValues = h->room + i * h->entries};
    return true;
}

static void free_harvest(struct harvest *h)
{
    for (size_t i = 0; h->data && i < h->records; i++)
        free((void *)h->data[i].functionName); /* CUPTI leaves them to its caller */
    free(h->data);
    free(h->room);
    free(h->values);
}

/* Sorts a record's values, which name their metric, into a list for each metric. */
static struct cw_sass_record sort_record(struct harvest *h, size_t i)
{
    const CUpti_SassMetrics_Data *data = &h->data[i];
    uint64_t *values = h->values;
    for (uint32_t m = 0; m < self->metric_count; m++) {
        h->lists[m] = values;
        for (size_t k = 0; k < h->entries; k++)
            if (data->pInstanceValues[k].metricId == self->ids[m])
                *values++ = data->pInstanceValues[k].value;
        h->counts[m] = (uint32_t)(values - h->lists[m]);
    }
    return (struct cw_sass_record){.at = {.module = data->cubinCrc,
                                          .pc = data->pcOffset,
                                          .function = data->functionName ? data->functionName : "",
                                          .symbol = data->functionIndex},
                                   .counts = h->counts,
                                   .values = h->lists};
}

static bool keep_records(struct patched *p, struct harvest *h)
{
    const char *function = "";
    bool wanted = false;
    for (size_t i = 0; i < h->records; i++) {
        const struct cw_sass_record r = sort_record(h, i);
        if (!i || strcmp(function, r.at.function) != 0) {
            mark_counted(p->context, r.at.function);
            wanted = cw_filter_kernel(&self->filter, r.at.function);
        }
        function = r.at.function;
        if (wanted && !cw_sass_counts_add(&p->counts, &r, self->metric_count))
            return cw_inject_fail_memory();
    }
    return true;
}

static bool fetch(struct patched *p)
{
    PARAMS(CUpti_SassMetricsGetDataProperties_Params, properties, .ctx = p->context);
    if (!CALL(cuptiSassMetricsGetDataProperties, properties))
        return false;
    struct harvest h = {.records = properties.numOfPatchedInstructionRecords, .entries = properties.numOfInstances};
    if (!h.records || !h.entries)
        return true;
    bool good = make_harvest(&h);
    if (good) {
        PARAMS(CUpti_SassMetricsFlushData_Params, flush_data, .ctx = p->context,
               .numOfPatchedInstructionRecords = h.records, .numOfInstances = h.entries, .pMetricsData = h.data);
        good = CALL(cuptiSassMetricsFlushData, flush_data) && keep_records(p, &h);
    }
    free_harvest(&h);
    return good;
}

/* Sends a context's counts, possibly none, with the launches that were not counted and, at the end, the kernels. */
static void send_counts(struct patched *p, bool ends)
{
    char *first = NULL;
    if (!p->launched)
        return;
    const uint32_t kernels = ends ? take_uncounted(p->context, &first) : 0;
    const struct cw_uncounted uncounted = {.device = p->device,
                                           .process = (uint32_t)cw_inject->process,
                                           .kernels = kernels,
                                           .example = first ? first : "",
                                           .graphs = p->graphs,
                                           .launchers = p->launchers,
                                           .others = p->others};
    const struct cw_sass_batch batch = {.device = p->device,
                                        .process = (uint32_t)cw_inject->process,
                                        .start_ns = p->since_ns,
                                        .end_ns = cw_inject_now_ns(),
                                        .dropped = p->dropped,
                                        .metric_count = self->metric_count,
                                        .metrics = self->metrics,
                                        .record_count = (uint32_t)p->counts.count,
                                        .records = p->counts.records};
    struct cw_writer out;
    cw_writer_init(&out);
    cw_uncounted_write(&uncounted, &out);
    cw_sass_batch_write(&batch, &out);
    cw_inject_send(CW_MESSAGE_SASS, &out);
    free(first);
    cw_sass_counts_free(&p->counts);
    p->graphs = p->launchers = p->others = p->dropped = 0;
    p->since_ns = batch.end_ns;
    p->launched = !ends;
}

/* Fetches a context's counts and lets its kernels run unpatched. */
static void pause_counting(struct patched *p)
{
    if (!p->running)
        return;
    fetch(p);
    disable(p, &p->dropped);
    p->running = false;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static struct patched *find(CUcontext context)
{
    for (uint32_t i = 0; i < self->context_count; i++)
        if (self->contexts[i].context == context)
            return &self->contexts[i];
    return NULL;
}

/* Ends the counting of a context, whose work has ended or not. */
static bool settle(struct patched *p, bool rests, const char *where)
{
    if (!p->running || rests)
        pause_counting(p);
    else
        cw_inject_fail(CW_ERR_DEVICE, "found a kernel that does not end before %s: its counts are lost", where);
    return !p->running;
}

/* Other threads go on while it waits, and may add and remove contexts. */
static void settle_one(CUcontext context, uint64_t patience_ns, const char *where)
{
    struct patched *p = find(context);
    const bool rests = !p || !p->running || cw_idle_wait_before_capture(context, patience_ns);
    if ((p = find(context)))
        settle(p, rests, where);
}

static void settle_all(uint64_t patience_ns, const char *where)
{
    for (uint32_t i = self->context_count; i-- > 0 && !cw_inject->over;)
        if (i < self->context_count)
            settle_one(self->contexts[i].context, patience_ns, where);
}

static void send_all(void)
{
    for (uint32_t i = 0; i < self->context_count && !cw_inject->over; i++)
        send_counts(&self->contexts[i], true);
}

/* Sends a context's counts while it is counted further. */
static void hand_over(CUcontext context, bool rests)
{
    struct patched *p = find(context);
    if (p && (!p->running || (rests && fetch(p))) && (p->counts.count || p->graphs || p->launchers || p->others))
        send_counts(p, false);
}

/* Sends the counts of contexts whose work ends in time. */
static void flush(void)
{
    if (!cw_in_flight_wait(cw_in_flight_no_launch))
        return;
    cw_in_flight_hold();
    for (uint32_t i = self->context_count; i-- > 0 && !cw_inject->over;) {
        if (i >= self->context_count)
            continue;
        const CUcontext context = self->contexts[i].context;
        hand_over(context, !self->contexts[i].running || cw_idle_wait(context, pause_patience_ns));
    }
    cw_in_flight_release();
}

static bool any_runs(void)
{
    for (uint32_t i = 0; i < self->context_count; i++)
        if (self->contexts[i].running)
            return true;
    return false;
}

/* Pauses counting before something that must not meet patched kernels: in one context, or in all (NULL). */
static void pause_before(CUcontext context, const char *where)
{
    const uint64_t from_ns = cw_inject_now_ns();
    self->pausing++;
    if (!cw_in_flight_wait_for(cw_in_flight_no_launch, pause_patience_ns) && !cw_inject->over)
        cw_inject_fail(CW_ERR_DEVICE,
                       "found a launch that does not return before %s; expected SASS metrics to pause there", where);
    cw_in_flight_hold();
    if (context)
        settle_one(context, pause_patience_ns, where);
    else
        settle_all(pause_patience_ns, where);
    cw_in_flight_release();
    self->pausing--;
    self->spent_ns += cw_inject_now_ns() - from_ns;
}

static void pause_all(const char *where)
{
    self->hazards++;
    if (any_runs())
        pause_before(NULL, where);
}

/* A launch that is left out must not run patched. */
static void pause_one(CUcontext context)
{
    const struct patched *p = find(context);
    if (p && p->running)
        pause_before(context, "a launch is left out");
}

static void context_destroyed(CUcontext context)
{
    if (!find(context))
        return;
    const bool rests = cw_idle_wait_before_capture(context, end_patience_ns);
    struct patched *p = find(context);
    char *first;
    self->hazards++; /* others are at other places behind this */
    if (p && settle(p, rests, "its context does"))
        send_counts(p, true);
    if (p) {
        self->stays = self->stays || p->running;
        take_uncounted(context, &first);
        free(first);
        cw_sass_counts_free(&p->counts);
        *p = self->contexts[--self->context_count];
    }
}

static bool is_over_budget(void)
{
    return SHARE * self->spent_ns > cw_inject_now_ns() - self->begun_ns + SHARE * free_ns;
}

/* Waits for the end of a context's work, with other threads held up. False also if one of them launched something. */
static bool comes_to_rest(CUcontext context)
{
    struct patched *p = find(context);
    const uint64_t from_ns = cw_inject_now_ns();
    if (!p || is_over_budget() || from_ns < p->again_ns || !cw_in_flight_wait(cw_in_flight_no_launch))
        return false;
    const uint64_t entered = cw_in_flight->entered;
    cw_in_flight_hold();
    const bool rests = cw_idle_wait(context, patch_patience_ns);
    cw_in_flight_release();
    const uint64_t waited_ns = cw_inject_now_ns() - from_ns;
    self->spent_ns += waited_ns;
    p = find(context);
    if (p)
        p->again_ns = rests ? 0 : from_ns + SHARE * waited_ns;
    return p && rests && cw_in_flight->entered == entered && cw_in_flight_no_launch() && !cw_inject->over;
}

static bool may_patch(void)
{
    return !self->pausing && !cw_gate->closed && !cw_stream_capture_is_under_way();
}

/* Waits for the ends of all work that must not meet patched kernels. */
static bool hazards_end(void)
{
    for (uint32_t i = 0; i < self->context_count; i++)
        if (self->contexts[i].beside && !comes_to_rest(self->contexts[i].context))
            return false;
    return true;
}

/* Patches a context's loaded kernels, if nothing stands against it. */
static void patch(CUcontext context)
{
    const uint64_t hazards = self->hazards;
    if (!may_patch() || !hazards_end() || !comes_to_rest(context) || hazards != self->hazards || !may_patch())
        return;
    const uint64_t from_ns = cw_inject_now_ns();
    for (uint32_t i = 0; i < self->context_count; i++)
        self->contexts[i].beside = false;
    struct patched *p = find(context);
    pause_counting(p);
    if (!cw_inject->over)
        enable(p);
    self->spent_ns += cw_inject_now_ns() - from_ns;
}

static bool is_patched(const struct patched *p, const struct cw_sass_kernel *k)
{
    const uint32_t now = p->enables;
    return p->running && (p->lazy ? k->patched == now && k->unseen != now : k->loaded < now);
}

/* Loads a kernel's code at its first launch. Other threads may go on meanwhile, and add and remove contexts. Code that
 * only the launch can load is not there at the next time that CUPTI is enabled, but at the time after. */
static void load_kernel(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const struct patched *p = find(call->context);
    struct cw_sass_kernel *k = note_launch(call->context, call->symbolName);
    if (!k || k->loaded != NOT_LOADED)
        return;
    const uint32_t enables = p->enables;
    const bool loaded = cw_kernel_load(id, call);
    p = find(call->context);
    k = find_kernel(call->context, call->symbolName);
    if (p && k)
        k->loaded = (enables < p->enables ? enables : p->enables) + !loaded;
}

/* Whether the thread launches for the first time. */
static bool is_new_thread(void)
{
    const uint64_t hash = cw_inject_mix(cw_inject_thread(), 0), bit = UINT64_C(1) << (hash & 63);
    uint64_t *const bits = &self->threads[hash >> 6 & 63];
    const bool is_new = !(*bits & bit);
    *bits |= bit;
    return is_new;
}

/* Lets CUPTI patch a kernel inside its launch, on an idle GPU if that can be. `is_new`: it is the first launch of a
 * thread. */
static void patch_inside(CUcontext context, const char *name, bool is_new)
{
    struct patched *p = find(context);
    if (!p || !p->running)
        return;
    comes_to_rest(context);
    struct cw_sass_kernel *k = find_kernel(context, name);
    p = find(context);
    if (!p || !k)
        return;
    k->patched = p->enables;
    if (is_new)
        k->unseen = p->enables;
}

/* Whether a chosen launch is counted. */
static bool count_kernel(CUcontext context, const char *name, bool is_new)
{
    const struct patched *p = find(context);
    const struct cw_sass_kernel *k = find_kernel(context, name);
    const uint32_t enables = p->enables;
    if (k && !is_patched(p, k)) {
        if (!p->running || !p->lazy || k->unseen == p->enables)
            patch(context);
        if ((p = find(context)) && p->lazy)
            patch_inside(context, name, is_new && p->enables == enables);
        p = find(context);
        k = find_kernel(context, name);
    }
    return k && p && is_patched(p, k);
}

/* Sends counts at intervals, because a program may be killed. */
static void hand_over_in_time(CUcontext context)
{
    const struct patched *due = find(context);
    const uint64_t from_ns = cw_inject_now_ns();
    if (!due || from_ns < due->due_ns)
        return;
    hand_over(context, due->running && comes_to_rest(context));
    struct patched *p = find(context);
    const uint64_t now_ns = cw_inject_now_ns(), pause_ns = SENDING_SHARE * (now_ns - from_ns);
    if (p)
        p->due_ns = now_ns + (pause_ns > self->flush_ns ? pause_ns : self->flush_ns);
}

/* Pauses counting before a launch that must not meet patched kernels. */
static void step_aside(bool graph, bool collective)
{
    pause_all(graph        ? "a CUDA graph is launched"
              : collective ? "a collective is launched"
                           : "a kernel is launched that launches others");
    for (uint32_t i = 0; i < self->context_count; i++)
        self->contexts[i].beside = true;
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const bool graph = cw_inject_launches_graph(id), open = !cw_gate->closed;
    const bool in_range = !self->options.range || cw_user_ranges_wanted_count();
    struct patched *p = find(call->context);
    if (!p || (!graph && !cw_stream_runs_launch(id, call)))
        return;
    const bool is_new = !graph && is_new_thread() && p->running && p->lazy;
    if (!graph && open)
        load_kernel(id, call);
    struct cw_sass_kernel *known = graph ? NULL : find_kernel(call->context, call->symbolName);
    const char *name = graph || !call->symbolName ? "" : call->symbolName;
    const bool wanted = known ? known->wanted : open && cw_filter_kernel(&self->filter, name);
    const bool ahead = open && in_range && !cw_filter_is_done(&self->filter);
    const bool chosen = ahead && wanted && cw_filter_count(&self->filter);
    if (known)
        known->chosen |= chosen;
    const bool collective = known ? known->collective : !graph && cw_reach_by_name(call->symbolName);
    const bool launcher = !graph && cw_module_launches(call->symbolName);
    const bool apart = graph || collective || launcher;
    self->heavy |= collective;
    if (apart)
        step_aside(graph, collective);
    else if (open && wanted && !chosen)
        pause_one(call->context);
    if (cw_gate->closed || !(p = find(call->context)))
        return;
    p->launched = true;
    const bool may_miss = chosen || (ahead && !wanted); /* it may run kernels that are wanted */
    p->graphs += graph && may_miss;
    p->launchers += (launcher && may_miss) || (collective && chosen);
    const bool missed = chosen && !apart && !count_kernel(call->context, call->symbolName, is_new);
    if ((p = find(call->context)))
        p->others += missed;
    hand_over_in_time(call->context);
}

static bool unloads(CUpti_CallbackId id)
{
    return id == CUPTI_DRIVER_TRACE_CBID_cuModuleUnload || id == CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload;
}

static bool wants(CUpti_CallbackId id)
{
    return cw_stream_capture_begins(id) || cw_graph_makes(id) || unloads(id);
}

/* Fetches the counts of modules before they are unloaded; others may be loaded in their place. Those of a kernel that
 * does not end are lost. */
static void before_unload(void)
{
    for (uint32_t i = self->context_count; i-- > 0;) {
        if (i >= self->context_count)
            continue;
        const CUcontext context = self->contexts[i].context;
        const bool rests = self->contexts[i].running && comes_to_rest(context);
        struct patched *p = find(context);
        if (rests && p)
            pause_counting(p);
    }
    for (size_t i = 0; i < self->launched_count; i++)
        self->launched[i].loaded = NOT_LOADED;
}

/* Kernels that are captured patched might stay so in the graph, and a wait would spoil the capture. */
static void call_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)call;
    if (unloads(id))
        before_unload();
    else
        pause_all("a CUDA graph is made");
}

static void module_loaded(const CUpti_ModuleResourceData *module)
{
    cw_module_look_for_launchers(module);
    cw_module_send(module);
}

static void gate_turned(bool open)
{
    for (uint32_t i = 0; i < self->context_count && open; i++)
        self->contexts[i].since_ns = cw_inject_now_ns();
    if (open)
        return;
    if (!cw_in_flight_wait(cw_in_flight_no_launch))
        cw_inject_fail(CW_ERR_DEVICE,
                       "found a launch that does not return where the capture ends: its counts are lost");
    settle_all(end_patience_ns, "the capture does");
    send_all();
}

static void finish(void)
{
    settle_all(end_patience_ns, "the program does");
    send_all();
}

/* CUPTI frees what kernels count into with the config of their device, so it stays where one may still run. */
static bool reset(void)
{
    bool ended = !self->stays;
    for (uint32_t device = 0; device < 64 && !self->stays; device++) {
        PARAMS(CUpti_SassMetricsUnsetConfig_Params, unset, .deviceIndex = device);
        if (self->configured >> device & 1)
            ended = cw_inject->api.cuptiSassMetricsUnsetConfig(&unset) == CUPTI_SUCCESS && ended;
    }
    cw_filter_close(&self->filter);
    for (size_t i = 0; i < self->launched_count; i++)
        free(self->launched[i].name);
    free(self->launched);
    cw_hash_table_free(&self->by_key);
    for (uint32_t i = 0; i < self->context_count; i++)
        cw_sass_counts_free(&self->contexts[i].counts);
    memset(self, 0, sizeof *self);
    return ended;
}

const struct cw_inject_mode cw_inject_sass = {.setup = setup,
                                              .context_created = context_created,
                                              .context_destroyed = context_destroyed,
                                              .launch_entered = launch_entered,
                                              .finish = finish,
                                              .flush = flush,
                                              .wants = wants,
                                              .call_entered = call_entered,
                                              .gate_turned = gate_turned,
                                              .reset = reset,
                                              .module_loaded = module_loaded};
