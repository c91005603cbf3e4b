#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buckets.h"
#include "base/search.h"
#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/output.h"
#include "eval/output/pm_range_table.h"
#include "eval/output/terminal.h"

/* ---- samples ---------------------------------------------------------------------------------------------------- */

struct sample {
    uint32_t number, device;
    uint64_t start_ns, end_ns;
};

struct launch {
    const char *kernel;
    struct cw_kernel_launch of;
};

struct content {
    const struct cw_result *result;
    struct sample sample;
    struct launch launch;
};

static struct cw_output_row sample_row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    struct cw_stream *s = c->result->stream;
    if (!cw_stream_load(s, (uint32_t)i))
        return (struct cw_output_row){0};
    const struct cw_pm_view *view = &s->samples;
    const uint32_t at = (uint32_t)i - s->first;
    c->sample = (struct sample){(uint32_t)i, view->data.devices->index, view->start_ns[at], view->end_ns[at]};
    return cw_output_row(c->result, &c->sample, i);
}

static const struct cw_output_column sample_columns[] = {
    {"sample", CW_CELL_U32, CW_TO_CSV | CW_TO_CSV_0, offsetof(struct sample, number)},
    {"time_start", CW_CELL_U64, CW_TO_CSV_0 | CW_TO_HDF5, offsetof(struct sample, start_ns), .units = CW_OUTPUT_DATE,
     .long_name = "when the sample began on the GPU"},
    {"time_end", CW_CELL_U64, CW_TO_CSV_0 | CW_TO_HDF5, offsetof(struct sample, end_ns), .units = CW_OUTPUT_DATE,
     .long_name = "when the sample ended on the GPU"},
    {"device", CW_CELL_U32, CW_TO_FILES, offsetof(struct sample, device)},
    {"start_ns", CW_CELL_U64, CW_TO_CSV | CW_TO_JSON, offsetof(struct sample, start_ns)},
    {"end_ns", CW_CELL_U64, CW_TO_CSV | CW_TO_JSON, offsetof(struct sample, end_ns)},
};

/* CW_OUTPUT_REALTIME if every device's times are the wall clock's. */
static const char *clock_name(const struct cw_result *r)
{
    bool wall = true;
    for (uint32_t i = 0; i < r->data->device_count; i++)
        wall = wall && r->data->pm.correlated[i];
    return wall ? CW_OUTPUT_REALTIME : "GPU";
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static struct cw_output_row launch_row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const struct cw_pm_data *pm = &c->result->data->pm;
    c->launch = (struct launch){pm->names[pm->launches[i].name], pm->launches[i]};
    return (struct cw_output_row){.record = &c->launch};
}

static const struct cw_output_column launch_columns[] = {
    {"name", CW_CELL_TEXT, CW_TO_JSON, offsetof(struct launch, kernel)},
    {"time_start", CW_CELL_U64, CW_TO_HDF5, offsetof(struct launch, of.start_ns), .units = CW_OUTPUT_DATE,
     .long_name = "when it began on the GPU"},
    {"time_end", CW_CELL_U64, CW_TO_HDF5, offsetof(struct launch, of.end_ns), .units = CW_OUTPUT_DATE,
     .long_name = "when it ended on the GPU"},
    {"kernel", CW_CELL_TEXT, CW_TO_HDF5, offsetof(struct launch, kernel)},
    {"device", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct launch, of.device)},
    {"process", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct launch, of.process)},
    {"context", CW_CELL_I64, CW_TO_JSON | CW_TO_HDF5, offsetof(struct launch, of.context)},
    {"stream", CW_CELL_I64, CW_TO_JSON | CW_TO_HDF5, offsetof(struct launch, of.stream)},
    {"start_ns", CW_CELL_U64, CW_TO_JSON, offsetof(struct launch, of.start_ns)},
    {"end_ns", CW_CELL_U64, CW_TO_JSON, offsetof(struct launch, of.end_ns)},
};

/* ---- devices, for people ---------------------------------------------------------------------------------------- */

/* The blocks of each device: device d has order[first[d]] up to order[first[d + 1]], in the order of the file. */
struct by_device {
    const struct cw_result *r;
    uint32_t *first, *order;
    struct device_windows {
        uint32_t count;
        uint64_t ns;
    } * windows; /* of each device */
    struct summary {
        double sum, least, greatest; /* of valid values; NaN without one */
        uint64_t count;
        int8_t status; /* the gravest */
    } * sums;          /* [device][metric] */
};

static bool sort_blocks(struct by_device *b, const struct cw_result *r)
{
    const struct cw_pm_data *pm = &r->data->pm;
    size_t devices = r->data->device_count;
    *b = (struct by_device){
        r, calloc(devices + 3, sizeof *b->first), calloc((size_t)pm->block_count + 1, sizeof *b->order),
        calloc(devices + 1, sizeof *b->windows), calloc(devices * r->metric_count + 1, sizeof *b->sums)};
    if (!b->first || !b->order || !b->windows || !b->sums)
        return false;
    for (uint32_t w = 0; w < pm->window_count; w++) {
        struct device_windows *of = &b->windows[pm->windows[w].device];
        of->count++;
        of->ns += pm->windows[w].end_ns - pm->windows[w].start_ns;
    }
    if (pm->block_count)
        cw_buckets_sort(b->first, (uint32_t)devices, b->order, &pm->blocks->device, sizeof *pm->blocks,
                        pm->block_count);
    return true;
}

/* Counts of one device's samples. */
struct taken {
    uint32_t samples, overflows, windows;
    uint64_t lost, start_ns, end_ns, windows_ns;
};

static struct taken count_taken(const struct by_device *b, uint32_t device)
{
    const struct cw_pm_data *pm = &b->r->data->pm;
    struct taken t = {.start_ns = UINT64_MAX};
    for (uint32_t k = b->first[device]; k < b->first[device + 1]; k++) {
        const struct cw_pm_block *block = &pm->blocks[b->order[k]];
        uint64_t start = block->start_ns, end = block->end_ns;
        t.start_ns = start < t.start_ns ? start : t.start_ns;
        t.end_ns = end > t.end_ns ? end : t.end_ns;
        t.samples += block->count;
        t.overflows += block->overflow;
        t.lost += block->lost;
    }
    t.windows = b->windows[device].count;
    t.windows_ns = b->windows[device].ns;
    return t;
}

/* Prints "5 us" of "5000 ns", "250,000 cycles" of "250000 cycles". */
static void put_interval(const char *interval, FILE *out)
{
    char number[CW_NUMBER_SIZE], time[CW_TIME_TEXT_SIZE], *rest;
    const unsigned long long value = strtoull(interval, &rest, 10);
    if (rest != interval && strcmp(rest, " ns") == 0)
        fputs(cw_terminal_time((double)value, time), out);
    else if (rest != interval && strcmp(rest, " cycles") == 0)
        cw_text_print(out, "%s cycles", cw_terminal_integer(value, number));
    else
        cw_text_print(out, "%s", interval);
}

static void put_heading(const struct by_device *b, uint32_t device, FILE *out)
{
    const struct cw_result *r = b->r;
    const struct taken t = count_taken(b, device);
    char number[CW_NUMBER_SIZE], time[CW_TIME_TEXT_SIZE];
    cw_text_print(out, "%s sample%s", cw_terminal_integer(t.samples, number), t.samples == 1 ? "" : "s");
    if (t.windows)
        cw_text_print(out, " in %s window%s of %s together, over", cw_terminal_integer(t.windows, number),
                      t.windows == 1 ? "" : "s", cw_terminal_time((double)t.windows_ns, time));
    else if (t.samples)
        fputs(" in", out);
    if (t.samples || t.windows)
        cw_text_print(out, " %s", cw_terminal_time(t.samples ? (double)(t.end_ns - t.start_ns) : 0, time));
    if (device < r->data->device_count) {
        const struct cw_device *d = &r->data->devices[device];
        const char *name = cw_device_attribute(d, "name");
        const char *interval = cw_device_attribute(d, "sampling_interval");
        const char *simulated = cw_device_attribute(d, "simulated");
        fputs(", every ", out);
        put_interval(interval ? interval : "?", out);
        cw_text_print(out, " on device %" PRIu32 "%s%s%s", d->index, name ? " " : "", name ? name : "",
                      simulated && strcmp(simulated, "yes") == 0 ? " (simulated)" : "");
    }
    if (t.lost)
        cw_text_print(out, "; %s lost", cw_terminal_integer(t.lost, number));
    if (t.overflows)
        cw_text_print(out, "; the hardware's buffer was full %s time%s", cw_terminal_integer(t.overflows, number),
                      t.overflows == 1 ? "" : "s");
    fputs("\n\n", out);
}

struct line {
    const char *metric;
    char unit[CW_UNIT_SIZE];
    double mean, least, greatest; /* of valid values, in the unit with its prefix; NaN without one */
    int8_t status;                /* the gravest */
};

static const struct cw_output_column line_columns[] = {
    {"metric", CW_CELL_TEXT, CW_TO_TERMINAL, offsetof(struct line, metric)},
    {"unit", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, unit)},
    {"mean", CW_CELL_F64, CW_TO_TERMINAL, offsetof(struct line, mean), .right = true},
    {"least", CW_CELL_F64, CW_TO_TERMINAL, offsetof(struct line, least), .right = true},
    {"greatest", CW_CELL_F64, CW_TO_TERMINAL, offsetof(struct line, greatest), .right = true},
    {"status", CW_CELL_STATUS, CW_TO_TERMINAL, offsetof(struct line, status)},
};

static void add_values(struct summary *to, const double *values, const int8_t *statuses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const double value = values[i];
        to->status = statuses[i] > to->status ? statuses[i] : to->status;
        if (!cw_value_counts(value, statuses[i]))
            continue;
        to->sum += value;
        to->least = !to->count || value < to->least ? value : to->least;
        to->greatest = !to->count || value > to->greatest ? value : to->greatest;
        to->count++;
    }
}

/* Adds up all devices in one walk over the samples. */
static enum cw_status sum_up(struct by_device *by)
{
    const struct cw_result *r = by->r;
    struct cw_stream *s = r->stream;
    for (size_t i = 0; i < (size_t)r->data->device_count * r->metric_count; i++)
        by->sums[i] = (struct summary){.least = NAN, .greatest = NAN};
    for (uint32_t row = 0; row < r->row_count && cw_stream_evaluate(s, row); row = s->first + s->count) {
        struct summary *sums = by->sums + (size_t)r->data->pm.blocks[s->block].device * r->metric_count;
        for (size_t m = 0; m < r->metric_count; m++)
            add_values(&sums[m], s->values + m * s->count, s->statuses + m * s->count, s->count);
    }
    return s->status;
}

static struct line summarize(const struct by_device *by, uint32_t device, uint32_t metric)
{
    const struct cw_result *r = by->r;
    const struct summary none = {.least = NAN, .greatest = NAN};
    const struct summary *sum =
        device < r->data->device_count ? &by->sums[(size_t)device * r->metric_count + metric] : &none;
    struct line l = {.metric = r->names[metric], .least = sum->least, .greatest = sum->greatest, .status = sum->status};
    double largest = fabs(l.greatest) > fabs(l.least) ? l.greatest : l.least;
    double factor = cw_terminal_factor(largest, r->units[metric], l.unit);
    l.mean = sum->count ? sum->sum / (double)sum->count / factor : NAN;
    l.least /= factor;
    l.greatest /= factor;
    return l;
}

static enum cw_status print_metrics(const struct by_device *by, uint32_t device, const struct cw_terminal_style *style,
                                    FILE *out, struct cw_error *err)
{
    uint32_t count = by->r->metric_count;
    struct line *lines = calloc((size_t)count + 1, sizeof *lines);
    if (!lines)
        return cw_error_nomem(err);
    for (uint32_t m = 0; m < count; m++)
        lines[m] = summarize(by, device, m);
    const struct cw_output_table t = {CW_OUTPUT_COLUMNS(line_columns), .record_size = sizeof *lines, .row_count = count,
                                      .row = cw_output_array, .content = lines};
    cw_terminal_print(&t, style->width, out);
    free(lines);
    return CW_OK;
}

/* ---- kernels, for people ---------------------------------------------------------------------------------------- */

struct kernel {
    const char *name;
    uint64_t count, time_ns;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct kernel *)left)->name, ((const struct kernel *)right)->name);
}

static int by_time(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;
    return a->time_ns != b->time_ns ? (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns) : by_name(a, b);
}

/* Makes a list of kernels with the sums of their launches. Returns how many. */
static uint32_t add_up(const struct cw_pm_data *pm, struct kernel *kernels)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pm->name_count; i++)
        kernels[i].name = pm->names[i];
    for (uint32_t i = 0; i < pm->launch_count; i++) {
        kernels[pm->launches[i].name].count++;
        kernels[pm->launches[i].name].time_ns += pm->launches[i].end_ns - pm->launches[i].start_ns;
    }
    qsort(kernels, pm->name_count, sizeof *kernels, by_name);
    for (uint32_t i = 0; i < pm->name_count; i++) {
        if (kept && strcmp(kernels[kept - 1].name, kernels[i].name) == 0) {
            kernels[kept - 1].count += kernels[i].count;
            kernels[kept - 1].time_ns += kernels[i].time_ns;
        } else if (kernels[i].count) {
            kernels[kept++] = kernels[i];
        }
    }
    qsort(kernels, kept, sizeof *kernels, by_time);
    return kept;
}

struct kernel_line {
    char name[CW_SHORT_SIZE];
    char launches[CW_NUMBER_SIZE], total[CW_TIME_TEXT_SIZE], mean[CW_TIME_TEXT_SIZE];
};

static const struct cw_output_column kernel_columns[] = {
    {"launches", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct kernel_line, launches), .width = 8, .right = true},
    {"total", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct kernel_line, total), .width = 10, .right = true},
    {"mean", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct kernel_line, mean), .width = 10, .right = true},
    {"kernel", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct kernel_line, name), .width = 6},
};

struct kernels {
    const struct kernel *list;
    size_t name_width; /* 0: all of it */
    struct kernel_line one;
};

static struct cw_output_row kernel_row(const struct cw_output_table *t, uint64_t i)
{
    struct kernels *k = t->content;
    const struct kernel *kernel = &k->list[i];
    cw_shorten(kernel->name, k->name_width, k->one.name);
    snprintf(k->one.launches, sizeof k->one.launches, "%" PRIu64, kernel->count);
    cw_terminal_time((double)kernel->time_ns, k->one.total);
    cw_terminal_time((double)kernel->time_ns / (double)kernel->count, k->one.mean);
    return (struct cw_output_row){.record = &k->one};
}

static int by_start(const void *left, const void *right)
{
    const struct cw_pm_window *a = left, *b = right;
    const int device = (a->device > b->device) - (a->device < b->device);
    return device ? device : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Counts launches that no window of their device overlaps: they ran unsampled. False when out of memory. */
static bool count_outside(const struct cw_pm_data *pm, uint32_t *outside)
{
    struct cw_pm_window *windows = malloc(((size_t)pm->window_count + 1) * sizeof *windows);
    if (windows && pm->window_count) {
        memcpy(windows, pm->windows, pm->window_count * sizeof *windows);
        qsort(windows, pm->window_count, sizeof *windows, by_start);
    }
    /* windows of merged captures may overlap: each then ends as late as the one before */
    for (uint32_t i = 1; windows && i < pm->window_count; i++)
        if (windows[i].device == windows[i - 1].device && windows[i].end_ns < windows[i - 1].end_ns)
            windows[i].end_ns = windows[i - 1].end_ns;
    *outside = 0;
    for (uint32_t i = 0; windows && i < pm->launch_count; i++) {
        const struct cw_kernel_launch *l = &pm->launches[i];
        struct cw_search s = {0, pm->window_count}; /* windows that begin before it ends */
        while (s.low < s.high) {
            const struct cw_pm_window *w = &windows[cw_search_middle(&s)];
            cw_search_narrow(&s, w->device < l->device || (w->device == l->device && w->start_ns < l->end_ns));
        }
        const struct cw_pm_window *last = s.low ? &windows[s.low - 1] : NULL;
        *outside += !(last && last->device == l->device && last->end_ns > l->start_ns);
    }
    free(windows);
    return windows;
}

/* "; 3 of them ran in no window" */
static void put_outside(uint32_t outside, uint32_t all, FILE *out)
{
    if (outside && outside == all)
        cw_text_print(out, all == 1 ? "; it ran in no window, so it was not sampled"
                                    : "; none of them ran in a window, so none was sampled");
    else if (outside)
        cw_text_print(out, "; %" PRIu32 " of them ran in no window", outside);
}

static enum cw_status print_launches(const struct cw_pm_data *pm, const struct cw_terminal_style *style, FILE *out,
                                     struct cw_error *err)
{
    enum { NAME_LEAST = 16 };
    if (!pm->launch_count && !pm->launches_untimed)
        return CW_OK;
    struct kernel *list = calloc((size_t)pm->name_count + 1, sizeof *list);
    uint32_t outside = 0;
    if (!list || (pm->window_count && !count_outside(pm, &outside))) {
        free(list);
        return cw_error_nomem(err);
    }
    struct kernels kernels = {.list = list, .name_width = NAME_LEAST};
    const struct cw_output_table t = {CW_OUTPUT_COLUMNS(kernel_columns), .record_size = sizeof kernels.one,
                                      .row_count = add_up(pm, list), .row = kernel_row, .content = &kernels};
    const int room = cw_terminal_room(&t, style->width);
    kernels.name_width = !style->width ? 0 : room > NAME_LEAST ? (size_t)room : NAME_LEAST;
    cw_text_print(out, "\n%" PRIu32 " kernel launch%s", pm->launch_count, pm->launch_count == 1 ? "" : "es");
    put_outside(outside, pm->launch_count, out);
    if (pm->launches_dropped)
        cw_text_print(out, "; %" PRIu64 " more were not recorded", pm->launches_dropped);
    if (pm->launches_untimed)
        cw_text_print(out, "; of %" PRIu32 " more the times were not collected", pm->launches_untimed);
    fputs("\n\n", out);
    cw_terminal_print(&t, 0, out);
    free(list);
    return CW_OK;
}

static enum cw_status print(const struct cw_output *o, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    struct by_device by;
    const struct cw_result *r = o->result;
    cw_capture_tell_clocks(r->data, out);
    enum cw_status status = sort_blocks(&by, r) ? sum_up(&by) : cw_error_nomem(err);
    /* once at least, since a capture that died early has no device */
    for (uint32_t device = 0; status == CW_OK && (!device || device < r->data->device_count); device++) {
        if (device)
            putc('\n', out);
        put_heading(&by, device, out);
        status = print_metrics(&by, device, style, out, err);
    }
    free(by.first);
    free(by.order);
    free(by.windows);
    free(by.sums);
    return status == CW_OK ? print_launches(&r->data->pm, style, out, err) : status;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_output_samples(struct cw_output *o, const struct cw_result *r, const char *const *descriptions,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct content *c = cw_arena_alloc(arena, 1, sizeof *c);
    *o = (struct cw_output){.data = r->data, .source = r->source, .table_count = 2, .print = print, .result = r};
    if (!c || !cw_output_metrics(&o->metrics, r, descriptions, true, arena))
        return cw_error_nomem(err);
    c->result = r;
    o->tables[0] = (struct cw_output_table){CW_OUTPUT_COLUMNS(sample_columns),
                                            .name = "samples",
                                            .group = "pm",
                                            .record_size = sizeof c->sample,
                                            .row_count = r->row_count,
                                            .row = sample_row,
                                            .content = c,
                                            .failed = &r->stream->status,
                                            .metrics = &o->metrics,
                                            .once = true,
                                            .coordinates = "time_end device unit type description",
                                            .clock = clock_name(r)};
    o->tables[1] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(launch_columns),     .name = "launches", .group = "launch", .record_size = sizeof c->launch,
        .row_count = r->data->pm.launch_count, .row = launch_row,  .content = c,      .clock = clock_name(r)};
    return CW_OK;
}

/* ---- samples by user range or kernel ----------------------------------------------------------------------------- */

struct ranges {
    const struct cw_result *result; /* of the samples */
    const struct cw_pm_ranges *of;
    uint32_t shown;    /* how many are printed */
    const char *trace; /* of kernels: name of the trace; NULL: they are ranges */
};

static struct cw_output_row range_row(const struct cw_output_table *t, uint64_t i)
{
    const struct cw_pm_ranges *ranges = t->content;
    return (struct cw_output_row){.record = &ranges->items[i],
                                  .values = ranges->values + i,
                                  .statuses = ranges->statuses + i,
                                  .stride = ranges->count};
}

static const struct cw_output_column range_columns[] = {
    {"range", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct cw_pm_range, path)},
    {"device", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, device)},
    {"ranges", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, ranges)},
    {"samples", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, samples)},
    {"time_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, time_ns)},
};

static const struct cw_output_column sampled_kernel_columns[] = {
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct cw_pm_range, path)},
    {"device", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, device)},
    {"traced", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, traced)},
    {"traced_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct cw_pm_range, traced_ns)},
    {"launches", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, ranges)},
    {"launches_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, ranges_ns)},
    {"sample_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, sample_ns)},
    {"samples", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, samples)},
    {"time_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, time_ns)},
};

/* ---- for people ------------------------------------------------------------------------------------------------- */

static const struct cw_output_column mean_columns[] = {
    {"metric", CW_CELL_TEXT, CW_TO_TERMINAL, offsetof(struct line, metric)},
    {"unit", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, unit)},
    {"mean", CW_CELL_F64, CW_TO_TERMINAL, offsetof(struct line, mean), .right = true},
    {"status", CW_CELL_STATUS, CW_TO_TERMINAL, offsetof(struct line, status)},
};

static void put_range_heading(const struct cw_pm_range *r, FILE *out)
{
    char time[CW_TIME_TEXT_SIZE];
    cw_text_print(out, "%s: %" PRIu32 " sample%s, %s of %" PRIu32 " range%s, on device %" PRIu32 "\n\n", r->path,
                  r->samples, r->samples == 1 ? "" : "s", cw_terminal_time((double)r->time_ns, time), r->ranges,
                  r->ranges == 1 ? "" : "s", r->device);
}

/* A kernel's time in the trace, and the samples that its metrics come from. */
static void put_kernel(const struct cw_pm_range *r, FILE *out)
{
    char time[CW_TIME_TEXT_SIZE], sampled[CW_TIME_TEXT_SIZE], launches[CW_TIME_TEXT_SIZE], sample[CW_TIME_TEXT_SIZE];
    cw_text_print(out, "%s: ", r->path);
    if (r->traced)
        cw_text_print(out, "%s of %" PRIu64 " launch%s in the trace", cw_terminal_time(r->traced_ns, time), r->traced,
                      r->traced == 1 ? "" : "es");
    else
        fputs("not in the trace", out);
    cw_text_print(out, "; %" PRIu32 " sample%s in %s of %" PRIu32 " launch%s, on device %" PRIu32 "\n", r->samples,
                  r->samples == 1 ? "" : "s", cw_terminal_time((double)r->time_ns, sampled), r->ranges,
                  r->ranges == 1 ? "" : "es", r->device);
    if (r->ranges && r->ranges_ns / r->ranges < r->sample_ns)
        cw_text_print(out,
                      "A launch takes %s, and a sample %s: the metrics include work before and after the launch.\n",
                      cw_terminal_time((double)(r->ranges_ns / r->ranges), launches),
                      cw_terminal_time((double)r->sample_ns, sample));
    putc('\n', out);
}

static void put_range_metrics(const struct ranges *o, uint32_t row, struct line *lines,
                              const struct cw_terminal_style *style, FILE *out)
{
    const struct cw_result *r = o->result;
    for (uint32_t m = 0; m < r->metric_count; m++) {
        const size_t at = (size_t)m * o->of->count + row;
        lines[m] = (struct line){.metric = r->names[m], .status = o->of->statuses[at]};
        lines[m].mean = o->of->values[at] / cw_terminal_factor(o->of->values[at], r->units[m], lines[m].unit);
    }
    const struct cw_output_table t = {CW_OUTPUT_COLUMNS(mean_columns), .record_size = sizeof *lines,
                                      .row_count = r->metric_count, .row = cw_output_array, .content = lines};
    cw_terminal_print(&t, style->width, out);
}

static enum cw_status print_ranges(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                                   struct cw_error *err)
{
    const struct ranges *o = output->result;
    struct line *lines = calloc((size_t)o->result->metric_count + 1, sizeof *lines);
    if (!lines)
        return cw_error_nomem(err);
    if (o->trace && !style->quiet)
        cw_text_print(out, "Times are from %s, metrics from samples of the same kernels in another run, %s.\n\n",
                      o->trace, output->source);
    for (uint32_t i = 0; i < o->shown; i++) {
        if (i)
            putc('\n', out);
        if (o->trace)
            put_kernel(&o->of->items[i], out);
        else
            put_range_heading(&o->of->items[i], out);
        if (o->of->items[i].samples)
            put_range_metrics(o, i, lines, style, out);
    }
    if (o->shown < o->of->count && !style->quiet)
        fprintf(out, "\n%" PRIu32 " more; --top N shows more\n", o->of->count - o->shown);
    if (o->of->unsampled && !style->quiet)
        fprintf(out, "\n%" PRIu64 " launch%s of the trace, %s, of kernels that the other run does not have\n",
                o->of->unsampled, o->of->unsampled == 1 ? "" : "es",
                cw_terminal_time(o->of->unsampled_ns, (char[CW_TIME_TEXT_SIZE]){0}));
    free(lines);
    return CW_OK;
}

enum cw_status cw_output_pm_ranges(struct cw_output *output, const struct cw_result *result,
                                   const struct cw_pm_ranges *ranges, uint32_t shown, const char *trace,
                                   struct cw_arena *arena, struct cw_error *err)
{
    struct ranges *o = cw_arena_alloc(arena, 1, sizeof *o);
    *output = (struct cw_output){
        .data = result->data, .source = result->source, .table_count = 1, .print = print_ranges, .result = o};
    if (!o || !cw_output_metrics(&output->metrics, result, NULL, false, arena))
        return cw_error_nomem(err);
    *o = (struct ranges){result, ranges, shown, trace};
    output->tables[0] =
        (struct cw_output_table){CW_OUTPUT_COLUMNS(range_columns),   .name = trace ? "kernels" : "ranges",
                                 .group = trace ? "kernel" : "nvtx", .record_size = sizeof(struct cw_pm_range),
                                 .row_count = ranges->count,         .row = range_row,
                                 .content = (void *)ranges,          .metrics = &output->metrics};
    if (trace) {
        output->tables[0].columns = sampled_kernel_columns;
        output->tables[0].column_count = sizeof sampled_kernel_columns / sizeof *sampled_kernel_columns;
    }
    return CW_OK;
}
