/* PM sampling of simulated GPUs: numbers that follow from the seed alone, a clock that is offset from the wall clock
 * and drifts, blocks, losses and an overflow, and launches beside the samples. The program may report its launches
 * (sim.h): each then lasts one block of samples. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/lacking.h"
#include "agent/backend/pm_capture.h"
#include "agent/backend/sim/sim.h"
#include "agent/backend/sim/sim_backend.h"
#include "agent/backend/sim/sim_gpu.h"
#include "agent/backend/sim/sim_training.h"
#include "agent/output/trace_output.h"
#include "base/demangle.h"
#include "image/pm_data.h"
#include "agent/session/session.h"
#include "agent/session/signals.h"

enum { BLOCK = 16, SAMPLES_A_LAUNCH = 6, GPUS = 2 /* in the simulated node */, SAMPLE_NS = 18400 };

static const uint64_t clock_offset = 5000000000, drift = 1000000; /* 1 in so many */

/* ---- user ranges beside the samples, as rows of a trace --------------------------------------------------------- */

enum { MOST_OPEN = 4096, MOST_NAMES = 256 };

/* An open range. */
struct open_range {
    bool started, wanted; /* started: else pushed; wanted: by the filter */
    const char *full;     /* the name with the domain */
    uint64_t start_ns;
    uint32_t domain, name; /* numbers of their texts; domain 0: none */
};

struct ranges {
    struct cw_trace_output out;
    struct cw_trace_beside beside;
    bool begun; /* a process has begun */
    bool shut;  /* nothing is recorded now; each window has its times: */
    uint64_t opened_ns, closed_ns;
    const uint32_t *gpus;
    uint32_t gpu_count, process;
    uint32_t text_count, name_count, recorded;
    struct {
        const char *text;
        uint32_t number;
    } names[MOST_NAMES];
};

static bool find_device(void *user, const struct cw_device *device, uint32_t *number)
{
    (void)user;
    *number = device->index;
    return true;
}

static enum cw_status begin_ranges(struct ranges *r, struct cw_collector *collector, const uint32_t *gpus,
                                   uint32_t gpu_count, struct cw_error *err)
{
    *r =
        (struct ranges){.beside = {.out = collector, .find_device = find_device}, .gpus = gpus, .gpu_count = gpu_count};
    return cw_trace_output_beside(&r->out, &r->beside, err);
}

static enum cw_status add_text(struct ranges *r, const char *text, uint32_t *number, struct cw_error *err)
{
    *number = ++r->text_count;
    return cw_trace_output_texts(&r->out, r->process, &text, 1, err);
}

enum { PUSH = 1, START }; /* numbers of the first texts, the types of ranges */

static enum cw_status begin_process(struct ranges *r, uint32_t pid, struct cw_error *err)
{
    const struct cw_pair about[] = {{"program", "sim"}, {"clock", "simulated"}};
    const struct cw_trace_process process = {.pid = pid, .attribute_count = 2, .attributes = about};
    uint32_t number;
    enum cw_status status = cw_trace_output_add_process(&r->out, &process, &r->process, err);
    for (uint32_t g = 0; g < r->gpu_count && status == CW_OK; g++)
        status = cw_trace_output_add_device(&r->out, r->process, &(struct cw_device){.index = r->gpus[g]}, err);
    r->begun = true;
    status = status == CW_OK ? add_text(r, "push", &number, err) : status;
    return status == CW_OK ? add_text(r, "start", &number, err) : status;
}

static enum cw_status number_of(struct ranges *r, const char *name, uint32_t *number, struct cw_error *err)
{
    for (uint32_t i = 0; i < r->name_count; i++)
        if (strcmp(r->names[i].text, name) == 0) {
            *number = r->names[i].number;
            return CW_OK;
        }
    const char *kept = r->name_count < MOST_NAMES ? cw_arena_strdup(r->out.arena, name) : NULL;
    const enum cw_status status = add_text(r, name, number, err);
    if (kept) {
        r->names[r->name_count].text = kept;
        r->names[r->name_count++].number = *number;
    }
    return status;
}

typedef uint64_t row_field(const void *row, enum cw_trace_field field, uint64_t ns);

static enum cw_status add_row(struct ranges *r, enum cw_trace_kind kind, row_field *field_of, const void *row,
                              uint64_t ns, struct cw_error *err)
{
    const struct cw_trace_kind_info *info = &cw_trace_kinds[kind];
    uint64_t values[CW_TRACE_KIND_FIELDS_MAX];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    for (uint32_t f = 0; f < info->field_count; f++) {
        values[f] = field_of(row, (enum cw_trace_field)info->fields[f], ns);
        columns[f] = &values[f];
    }
    return cw_trace_output_rows(&r->out, r->process, kind, 1, columns, err);
}

static uint64_t window_field(const void *ranges, enum cw_trace_field field, uint64_t end_ns)
{
    return field == CW_FIELD_START ? ((const struct ranges *)ranges)->opened_ns
           : field == CW_FIELD_END ? end_ns
                                   : cw_trace_unknown(cw_trace_fields[field].type);
}

/* Opens or closes the window that all of it is recorded in. A range has a row if it was open during a window. */
static enum cw_status turn_window(struct ranges *r, uint32_t pid, bool open, uint64_t ns, struct cw_error *err)
{
    enum cw_status status = r->begun ? CW_OK : begin_process(r, pid, err);
    r->shut = !open;
    *(open ? &r->opened_ns : &r->closed_ns) = ns;
    return status == CW_OK && !open ? add_row(r, CW_TRACE_WINDOW, window_field, r, ns, err) : status;
}

/* Begins a range at a wall clock time; `pid` is the program's. */
static enum cw_status begin_range(struct ranges *r, uint32_t pid, struct open_range *range, const char *domain,
                                  const char *name, uint64_t ns, struct cw_error *err)
{
    enum cw_status status = r->begun ? CW_OK : begin_process(r, pid, err);
    range->start_ns = ns;
    if (status == CW_OK && *domain)
        status = number_of(r, domain, &range->domain, err);
    return status == CW_OK ? number_of(r, name, &range->name, err) : status;
}

static uint64_t range_field(const void *open, enum cw_trace_field field, uint64_t end_ns)
{
    const struct open_range *range = open;
    switch (field) {
    case CW_FIELD_START:
        return range->start_ns;
    case CW_FIELD_END:
        return end_ns;
    case CW_FIELD_NAME:
        return range->name;
    case CW_FIELD_DOMAIN:
        return range->domain;
    case CW_FIELD_TYPE:
        return range->started ? START : PUSH;
    case CW_FIELD_THREAD:
    case CW_FIELD_END_THREAD:
        return 1;
    default:
        return cw_trace_unknown(cw_trace_fields[field].type);
    }
}

static enum cw_status end_range(struct ranges *r, const struct open_range *range, uint64_t ns, struct cw_error *err)
{
    if (!range->name || (r->shut && range->start_ns >= r->closed_ns))
        return CW_OK;
    r->recorded++;
    return add_row(r, CW_TRACE_NVTX_RANGE, range_field, range, ns, err);
}

/* Of the account of the ranges, whose type is the last text. */
static uint64_t account_field(const void *ranges, enum cw_trace_field field, uint64_t ns)
{
    const struct ranges *r = ranges;
    return field == CW_FIELD_TIME       ? ns
           : field == CW_FIELD_TYPE     ? r->text_count
           : field == CW_FIELD_RECORDED ? r->recorded
           : field == CW_FIELD_UNTIMED  ? 0
                                        : cw_trace_unknown(cw_trace_fields[field].type);
}

/* Writes their account. */
static enum cw_status finish_ranges(struct ranges *r, uint64_t ns, struct cw_error *err)
{
    uint32_t type;
    if (!r->begun)
        return CW_OK;
    CW_TRY(add_text(r, cw_trace_kinds[CW_TRACE_NVTX_RANGE].name, &type, err));
    return add_row(r, CW_TRACE_ACCOUNT, account_field, r, ns, err);
}

static void close_ranges(struct ranges *r)
{
    cw_trace_output_close(&r->out);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

struct simulation {
    const struct cw_pm_options *options;
    const struct cw_config_image *plan;
    struct cw_arena *arena;
    struct cw_schema schema;
    struct cw_collector out;
    struct ranges traced; /* the file's user ranges, if any */
    struct cw_program program;
    struct cw_error trouble; /* the first error while the program ran */
    bool spoken, any;
    char domain[CW_SIM_DOMAIN_SIZE]; /* of the next user range */
    uint32_t launch_device, stream;  /* device and stream of the program's launches */
    uint32_t gpu_count;
    uint32_t gpus[CW_MOST_DEVICES]; /* device numbers */
    uint64_t elsewhere;             /* launches on other GPUs */
    uint64_t untimed;               /* launches in the file without times */
    uint64_t taken;                 /* samples of each GPU so far, lost ones included */
    uint64_t period;                /* ns */
    bool cycles;                    /* the interval is in cycles of the system clock */
    struct cw_filter filter;        /* selects ranges to sample in, if it has an expression */
    struct open_range open[MOST_OPEN];
    uint32_t open_count, wanted;  /* wanted: of these */
    uint64_t beyond;              /* pushed ranges that found no room, and are open */
    uint64_t ranges, range_first; /* wanted ranges so far; first sample of the open one */
    uint64_t window, every;       /* samples of a window, and from one window to the next; 0: no windows */
    uint8_t *lacks;               /* by counter: the GPUs lack it */
    const struct cw_sim_model *model;
    uint64_t start[BLOCK], end[BLOCK];
    double *rollups[CW_ROLLUP_COUNT];
    uint8_t *forms;
};

/* Start of a sample. Time passes between windows, without samples. */
static uint64_t time_of(const struct simulation *s, uint64_t sample)
{
    return (s->window ? sample / s->window * s->every + sample % s->window : sample) * s->period;
}

static uint64_t device_time(const struct simulation *s, uint64_t sample)
{
    uint64_t since = time_of(s, sample);
    return CW_SIM_START_NS - clock_offset + since + since / drift;
}

/* End of a sample: the start of the next, unless that is in another window. */
static uint64_t end_time(const struct simulation *s, uint64_t sample)
{
    bool last = s->window && (sample + 1) % s->window == 0;
    return last ? device_time(s, sample) + s->period : device_time(s, sample + 1);
}

static enum cw_status append(struct simulation *s, struct cw_writer *chunk, uint64_t lost, struct cw_error *err)
{
    enum cw_status status = chunk->status == CW_OK ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_collector_chunks(&s->out, chunk->data, chunk->size, lost, err);
    cw_writer_free(chunk);
    return status;
}

/* ---- the device ------------------------------------------------------------------------------------------------- */

static enum cw_status write_device(struct simulation *s, uint32_t number, struct cw_error *err)
{
    char seed[32], pci[32], interval[2][32], windows[96];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->options->capture.sim_seed);
    snprintf(pci, sizeof pci, "0000:%02x:00.0", (unsigned)number);
    struct cw_pair attributes[CW_SIM_ATTRIBUTES + 8];
    uint32_t count = cw_sim_describe(attributes, s->plan->chip);
    count += cw_sim_describe_rank(attributes + count);
    attributes[count++] = (struct cw_pair){"seed", seed};
    attributes[count++] = (struct cw_pair){"pci", pci};
    count += cw_pm_describe_interval(s->options, s->period, s->cycles, interval, attributes + count);
    count += cw_pm_describe_windows(s->options, windows, attributes + count, s->arena);
    struct cw_device_facts *facts = cw_arena_alloc(s->arena, s->plan->counter_count, sizeof *facts);
    if (!facts)
        return cw_error_nomem(err);
    for (uint32_t c = 0; c < s->plan->counter_count; c++) {
        facts[c] = cw_sim_facts(&s->plan->counters[c]);
        s->forms[c] = s->lacks[c]                       ? CW_COLUMN_UNAVAILABLE
                      : cw_pm_needs_rollups(s->plan, c) ? CW_COLUMN_ROLLUPS
                                                        : CW_COLUMN_SUMS;
    }
    struct cw_device device = {.index = number, .attribute_count = count, .attributes = attributes, .facts = facts};
    return cw_collector_device(&s->out, &device, err);
}

static enum cw_status write_clocks(struct simulation *s, uint64_t sample, struct cw_error *err)
{
    struct cw_writer chunk;
    struct cw_clock_pair pair = {device_time(s, sample), CW_SIM_START_NS + time_of(s, sample), 1000};
    cw_writer_init(&chunk);
    for (uint32_t g = 0; g < s->gpu_count; g++)
        cw_pm_write_clock(s->gpus[g], &pair, &chunk);
    return append(s, &chunk, 0, err);
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

/* Each raw counter has its own level, which varies between samples. */
struct moment {
    const struct simulation *s;
    uint64_t seed, sample;
};

static double share_of_sample(const void *of, uint32_t raw, uint32_t instance)
{
    const struct moment *m = of;
    uint64_t key = cw_sim_mix(m->seed ^ cw_sim_mix(m->s->plan->raws[raw]));
    double busy = (double)(cw_sim_mix(m->seed ^ (m->sample / SAMPLES_A_LAUNCH)) % 1000) / 1000;
    double spread = 1 + (double)(cw_sim_mix(key ^ cw_sim_mix(m->sample) ^ instance) % 1000) / 10000;
    return (double)(key % 100000) / 100000 * busy * spread / 1.1;
}

static void simulate_counter(struct simulation *s, uint64_t seed, uint32_t counter, uint32_t i, uint32_t count,
                             uint64_t sample)
{
    const struct cw_config_counter *c = &s->plan->counters[counter];
    uint32_t n = cw_sim_facts(c).instances;
    double sum = 0, min = INFINITY, max = 0;
    const struct moment of = {s, seed, sample};
    const struct cw_sim_moment moment = {(double)s->period, cw_sim_mix(seed ^ sample), share_of_sample, &of};
    for (uint32_t k = 0; k < n; k++) {
        double value = cw_sim_model_count(s->model, &moment, counter, k);
        sum += value;
        min = value < min ? value : min;
        max = value > max ? value : max;
    }
    size_t at = (size_t)counter * count + i;
    s->rollups[CW_SUM][at] = sum;
    s->rollups[CW_AVG][at] = sum / n;
    s->rollups[CW_MIN][at] = min;
    s->rollups[CW_MAX][at] = max;
}

static enum cw_status write_block(struct simulation *s, uint32_t gpu, uint64_t first, uint32_t count, uint64_t lost,
                                  struct cw_error *err)
{
    struct cw_writer chunk;
    uint64_t seed = s->options->capture.sim_seed ^ (gpu ? cw_sim_mix(gpu) : 0);
    struct cw_block block = {.device = s->gpus[gpu],
                             .count = count,
                             .lost = lost,
                             .overflow = lost && s->options->sim_overflow,
                             .start = s->start,
                             .end = s->end,
                             .forms = s->forms};
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        block.rollups[r] = s->rollups[r];
    for (uint32_t i = 0; i < count; i++) {
        s->start[i] = device_time(s, first + i);
        s->end[i] = end_time(s, first + i);
        for (uint32_t c = 0; c < s->plan->counter_count; c++)
            simulate_counter(s, seed, c, i, count, first + i);
    }
    cw_writer_init(&chunk);
    cw_pm_write_block(&s->schema, &block, &chunk);
    return append(s, &chunk, lost, err);
}

/* Writes the window of samples `first` to `last`. */
static enum cw_status write_window(struct simulation *s, uint64_t first, uint64_t last, struct cw_error *err)
{
    struct cw_writer chunk;
    cw_writer_init(&chunk);
    for (uint32_t g = 0; g < s->gpu_count; g++) {
        const struct cw_pm_window window = {s->gpus[g], device_time(s, first), end_time(s, last)};
        cw_pm_write_window(&window, &chunk);
    }
    return append(s, &chunk, 0, err);
}

/* Writes the next samples. Losses come after the first block. */
static enum cw_status write_samples(struct simulation *s, uint64_t total, struct cw_error *err)
{
    uint64_t end = s->taken + total, lost = s->options->sim_drop;
    enum cw_status status = CW_OK;
    while (s->taken < end && status == CW_OK && !cw_signals_end_alone()) {
        uint64_t left = end - s->taken, missing = s->taken == BLOCK || (!s->taken && total <= BLOCK) ? lost : 0;
        if (missing >= left) {
            s->out.dropped += left * s->gpu_count;
            s->taken = end;
            break;
        }
        s->taken += missing;
        left -= missing;
        uint32_t count = left < BLOCK ? (uint32_t)left : BLOCK;
        if (s->window && count > s->window - s->taken % s->window)
            count = (uint32_t)(s->window - s->taken % s->window);
        for (uint32_t g = 0; g < s->gpu_count && status == CW_OK; g++)
            status = write_block(s, g, s->taken, count, missing, err);
        s->any = true;
        s->taken += count;
        if (status == CW_OK && s->window && s->taken % s->window == 0)
            status = write_window(s, s->taken - s->window, s->taken - 1, err);
    }
    return status;
}

static enum cw_status append_launch(struct simulation *s, const char *kernel, const struct cw_kernel_launch *launch,
                                    struct cw_error *err)
{
    char *readable = cw_demangle(kernel);
    const char *const names[] = {readable ? readable : kernel};
    struct cw_writer chunk;
    cw_writer_init(&chunk);
    cw_pm_write_launches((uint32_t)s->program.pid, 0, names, 1, launch, 1, &chunk);
    free(readable);
    return append(s, &chunk, 0, err);
}

static struct cw_kernel_launch launch_between(const struct simulation *s, uint32_t device, uint64_t first, uint64_t end)
{
    return (struct cw_kernel_launch){.device = device,
                                     .context = 1,
                                     .stream = s->stream,
                                     .start_ns = device_time(s, first) + s->period / 4,
                                     .end_ns = device_time(s, end)};
}

/* ---- user ranges of the program ---------------------------------------------------------------------------------- */

/* Opens a range in the domain of the last event, at a sample. */
static void open_range(struct simulation *s, const char *name, bool started, uint64_t sample)
{
    char *full = s->open_count < MOST_OPEN ? cw_sim_range_name(s->domain, name) : NULL;
    if (full) {
        struct open_range *range = &s->open[s->open_count++];
        *range = (struct open_range){.started = started,
                                     .wanted = s->options->filter.range && cw_filter_range(&s->filter, full),
                                     .full = cw_arena_strdup(s->arena, full)};
        s->wanted += range->wanted;
        if (!range->full)
            cw_error_nomem(&s->trouble);
        else if (cw_pm_has_trace(s->options) && s->trouble.code == CW_OK)
            begin_range(&s->traced, (uint32_t)s->program.pid, range, s->domain, name,
                        CW_SIM_START_NS + time_of(s, sample), &s->trouble);
    } else if (s->open_count < MOST_OPEN) {
        cw_error_nomem(&s->trouble);
    } else {
        s->beyond += !started;
    }
    free(full);
    *s->domain = 0;
}

static void close_range(struct simulation *s, struct open_range *range, uint64_t ns)
{
    if (s->trouble.code == CW_OK)
        end_range(&s->traced, range, ns, &s->trouble);
    s->wanted -= range->wanted;
    s->open_count--;
    memmove(range, range + 1, (size_t)(s->open + s->open_count - range) * sizeof *range);
}

/* The range that a line ends, or NULL. */
static struct open_range *find_ended(struct simulation *s, const char *line)
{
    const char *started = cw_sim_event(line, "end");
    if (!started && s->beyond) {
        s->beyond--;
        return NULL;
    }
    for (uint32_t i = s->open_count; i; i--) {
        struct open_range *range = &s->open[i - 1];
        if (started ? range->started && cw_sim_is_range(range->full, started) : !range->started)
            return range;
    }
    return NULL;
}

/* Takes an event about user ranges; false for any other event. */
static bool take_range(struct simulation *s, const char *line, uint64_t sample)
{
    const char *pushed = cw_sim_event(line, "push"), *started = cw_sim_event(line, "start");
    if (pushed || started) {
        open_range(s, pushed ? pushed : started, started, sample);
    } else if (cw_sim_event(line, "pop") || cw_sim_event(line, "end")) {
        struct open_range *range = find_ended(s, line);
        if (range)
            close_range(s, range, CW_SIM_START_NS + time_of(s, sample));
    } else {
        return cw_sim_domain(s->domain, line);
    }
    return true;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* Training, the same on all GPUs, for as long as there are samples; a launch lasts a few samples. */
struct training {
    struct simulation *s;
    uint64_t at, end; /* in samples */
};

static void train_launch(struct training *t, const char *kernel)
{
    struct simulation *s = t->s;
    if (t->at + SAMPLES_A_LAUNCH > t->end)
        return;
    for (uint32_t g = 0; g < s->gpu_count && !s->options->no_trace; g++) {
        const struct cw_kernel_launch launch = launch_between(s, s->gpus[g], t->at, t->at + SAMPLES_A_LAUNCH);
        append_launch(s, kernel, &launch, &s->trouble);
    }
    t->at += SAMPLES_A_LAUNCH;
}

static void train_graph(struct training *t, uint32_t kernels)
{
    char name[CW_SIM_NODE_SIZE];
    for (uint32_t node = 0; node < kernels; node++)
        train_launch(t, cw_sim_node_kernel("adam", node, name));
}

static void take_training(void *user, const char *line)
{
    struct training *t = user;
    const char *rest;
    if (t->s->trouble.code != CW_OK || t->at + SAMPLES_A_LAUNCH > t->end)
        return;
    if ((rest = cw_sim_event(line, "launch")))
        train_launch(t, rest);
    else if ((rest = cw_sim_event(line, "graph")))
        train_graph(t, (uint32_t)strtoul(rest, NULL, 10));
    else if ((rest = cw_sim_event(line, "stream")))
        t->s->stream = (uint32_t)strtoul(rest, NULL, 10);
    else
        take_range(t->s, line, t->at);
}

static enum cw_status pretend_training(struct simulation *s, uint64_t samples)
{
    struct training t = {.s = s, .end = samples};
    cw_sim_train(&(struct cw_sim_training){.steps = s->options->capture.sim_steps,
                                           .processes = 1,
                                           .take = take_training,
                                           .user = &t,
                                           .trouble = &s->trouble});
    for (; s->open_count && s->trouble.code == CW_OK; t.at++) /* enclosing ranges end later */
        close_range(s, &s->open[s->open_count - 1], CW_SIM_START_NS + time_of(s, t.at));
    return s->trouble.code;
}

static bool is_sampled(const struct simulation *s, uint32_t device)
{
    for (uint32_t g = 0; g < s->gpu_count; g++)
        if (s->gpus[g] == device)
            return true;
    return false;
}

static void turn_trace(struct simulation *s, bool open)
{
    if (cw_pm_has_trace(s->options) && s->trouble.code == CW_OK)
        turn_window(&s->traced, (uint32_t)s->program.pid, open, CW_SIM_START_NS + time_of(s, s->taken), &s->trouble);
}

static void open_window(struct simulation *s)
{
    turn_trace(s, true);
    s->range_first = s->taken;
    s->ranges++;
}

static void close_window(struct simulation *s)
{
    if (s->taken > s->range_first)
        write_window(s, s->range_first, s->taken - 1, &s->trouble);
    turn_trace(s, false);
}

/* Takes an event about user ranges, with the windows around them; false for any other event. */
static bool take_windowed(struct simulation *s, const char *line)
{
    const bool before = s->wanted;
    if (!take_range(s, line, s->taken))
        return false;
    if (!cw_pm_by_launch(s->options) && !before && s->wanted)
        open_window(s);
    if (!cw_pm_by_launch(s->options) && before && !s->wanted)
        close_window(s);
    return true;
}

/* untimed: the file has no times for it */
static void launch(struct simulation *s, const char *kernel, bool untimed)
{
    struct cw_kernel_launch launch = launch_between(s, s->launch_device, s->taken, s->taken + BLOCK);
    const bool by_launch = cw_pm_by_launch(s->options), sampled = is_sampled(s, s->launch_device);
    if (by_launch ? !cw_filter_launch(&s->filter, kernel, s->wanted) : s->options->filter.range && !s->wanted) {
        s->taken += BLOCK;
        return;
    }
    if (by_launch)
        open_window(s);
    enum cw_status status = write_samples(s, BLOCK, &s->trouble);
    if (by_launch && status == CW_OK)
        close_window(s);
    s->elsewhere += !s->options->no_trace && !sampled;
    if (untimed)
        launch.start_ns = launch.end_ns = 0;
    s->untimed += untimed && sampled && !s->options->no_trace;
    if (status == CW_OK && !s->options->no_trace && sampled)
        append_launch(s, kernel, &launch, &s->trouble);
}

static void take_line(void *user, const char *line)
{
    struct simulation *s = user;
    const char *rest;
    s->spoken = true;
    if (s->trouble.code != CW_OK) /* after the first error the program only runs to its end */
        return;
    if ((rest = cw_sim_event(line, "device")))
        s->launch_device = (uint32_t)strtoul(rest, NULL, 10);
    else if ((rest = cw_sim_event(line, "stream")))
        s->stream = (uint32_t)strtoul(rest, NULL, 10);
    else if ((rest = cw_sim_event(line, "launch")))
        launch(s, rest, false);
    else if ((rest = cw_sim_event(line, "untimed")))
        launch(s, rest, true);
    else if (!take_windowed(s, line) && !cw_sim_is_event(line))
        cw_error_set(&s->trouble, CW_ERR_INPUT,
                     "found the event '%.100s', expected launch, device, push, pop or another that sim.h lists", line);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status find_lacking(struct simulation *s, struct cw_error *err)
{
    const char *unit = s->options->capture.sim_lack;
    s->lacks = cw_arena_alloc(s->arena, s->plan->counter_count, 1);
    if (!s->lacks)
        return cw_error_nomem(err);
    for (uint32_t c = 0; unit && c < s->plan->counter_count; c++)
        s->lacks[c] = cw_lacking_is_of(s->plan->counters[c].name, unit);
    if (!cw_lacking_all(s->lacks, s->plan->counter_count))
        return CW_OK;
    struct cw_error none = CW_ERROR_INIT;
    cw_lacking_everything(&s->schema, s->lacks, &none);
    return cw_error_set(err, none.code, "GPU %u: %s", s->gpus[0], none.message);
}

static void tell_choices(const struct simulation *s)
{
    for (uint32_t g = 0; g < s->gpu_count; g++) {
        if (s->cycles && !s->options->cycles)
            cw_pm_tell_cycles(s->gpus[g], s->options->interval, s->period);
        cw_lacking_tell(s->gpus[g], &s->schema, s->lacks);
    }
}

static enum cw_status prepare(struct simulation *s, struct cw_error *err)
{
    CW_TRY(cw_sim_check_limits(s->plan, err));
    s->model = cw_sim_model_make(s->plan, s->arena);
    if (!s->model || cw_schema_of_plan(&s->schema, s->plan, s->arena) != CW_OK)
        return cw_error_nomem(err);
    s->schema.traces = cw_pm_has_trace(s->options);
    CW_TRY(find_lacking(s, err));
    CW_TRY(begin_ranges(&s->traced, &s->out, s->gpus, s->gpu_count, err));
    s->traced.shut = s->options->filter.range || cw_pm_by_launch(s->options);
    s->forms = cw_arena_alloc(s->arena, s->plan->counter_count, 1);
    bool room = s->forms;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        s->rollups[r] = cw_arena_alloc(s->arena, (size_t)s->plan->counter_count * BLOCK, sizeof(double));
        room = room && s->rollups[r];
    }
    if (!room)
        return cw_error_nomem(err);
    return cw_collector_open(&s->out, s->options->capture.output, s->options->capture.force, &s->schema, err);
}

static enum cw_status take_all(struct simulation *s, struct cw_error *err)
{
    const struct cw_pm_options *o = s->options;
    uint64_t total = o->duration_s > 0 ? (uint64_t)(o->duration_s * 1e9 + 0.5) / s->period : o->sim_samples;
    if (s->window && o->duration_s > 0) { /* only the windows of this time are sampled */
        uint64_t rest = total % s->every;
        total = total / s->every * s->window + (rest < s->window ? rest : s->window);
    }
    enum cw_status status = s->trouble.code;
    if (status != CW_OK)
        *err = s->trouble;
    if (status == CW_OK && !s->spoken && !cw_pm_by_program(o))
        status = write_samples(s, total, err);
    if (status == CW_OK && s->window && s->taken % s->window)
        status = write_window(s, s->taken - s->taken % s->window, s->taken - 1, err);
    if (status == CW_OK && !s->spoken && o->capture.argv && pretend_training(s, total) != CW_OK)
        status = cw_error_set(err, s->trouble.code, "%s", s->trouble.message);
    while (status == CW_OK && s->open_count) { /* a range that is still open gets no end */
        close_range(s, &s->open[s->open_count - 1], 0);
        if ((status = s->trouble.code) != CW_OK)
            *err = s->trouble;
    }
    if (status == CW_OK)
        status = finish_ranges(&s->traced, CW_SIM_START_NS + time_of(s, s->taken), err);
    if (status == CW_OK)
        status = write_clocks(s, s->taken, err);
    if (status == CW_OK) /* after an error the file stays without an end, because samples may be missing */
        status = cw_collector_end(&s->out, s->program.how, s->program.code, err);
    return status;
}

static enum cw_status capture(struct simulation *s, int *exit_status, struct cw_error *err)
{
    const struct cw_pm_options *o = s->options;
    CW_TRY(prepare(s, err));
    s->program = (struct cw_program){.over = true, .how = CW_END_NO_PROGRAM};
    if (!o->capture.argv)
        cw_signals_catch();
    tell_choices(s);
    for (uint32_t g = 0; g < s->gpu_count; g++)
        CW_TRY(write_device(s, s->gpus[g], err));
    CW_TRY(write_clocks(s, 0, err));
    if (o->capture.argv)
        CW_TRY(cw_sim_program_run(&s->program, o->capture.argv, 0, take_line, s, err));
    s->out.clocks = cw_sim_clocks();
    enum cw_status status = take_all(s, err);
    const struct cw_pm_outcome outcome = {.any = s->any,
                                          .lost = s->out.dropped,
                                          .ranges = s->ranges,
                                          .elsewhere = s->elsewhere,
                                          .untimed = s->untimed,
                                          .sample_ns = SAMPLE_NS,
                                          .sampled_ns = s->taken * s->period};
    cw_pm_tell(o, &outcome);
    return cw_pm_verdict(o, &s->program, &outcome, status, exit_status, err);
}

enum cw_status cw_sim_pm(const struct cw_pm_options *options, int *exit_status, struct cw_error *err)
{
    struct simulation s = {.options = options,
                           .plan = options->capture.plan,
                           .arena = cw_arena_create(),
                           .out = {.fd = -1},
                           .stream = 7,
                           .period = options->interval, /* a system clock of 1 GHz */
                           .cycles = options->cycles || !cw_pm_has_time_trigger(options->capture.plan->chip)};
    if (!s.arena)
        return cw_error_nomem(err);
    if (options->window_s > 0 && !cw_pm_by_program(options)) {
        s.window = (uint64_t)(options->window_s * 1e9 / (double)s.period + 0.5);
        s.every = (uint64_t)(options->every_s * 1e9 / (double)s.period + 0.5);
        s.window = s.window ? s.window : 1;
        s.every = s.every > s.window ? s.every : s.window + 1;
    }
    uint64_t devices = options->devices ? options->devices : (UINT64_C(1) << GPUS) - 1;
    for (uint32_t number = 0; number < CW_MOST_DEVICES; number++)
        if (devices >> number & 1)
            s.gpus[s.gpu_count++] = number;
    s.launch_device = s.gpus[0];
    enum cw_status status = cw_filter_open(&s.filter, &options->filter, err);
    if (status == CW_OK)
        status = capture(&s, exit_status, err);
    cw_filter_close(&s.filter);
    close_ranges(&s.traced);
    cw_collector_close(&s.out);
    cw_arena_destroy(s.arena);
    return status;
}
