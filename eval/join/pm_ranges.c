#include "eval/join/pm_ranges.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "eval/labels.h"

/* Values of all rows and metrics, at most. */
static const uint64_t most_values = 8000000;

struct interval {
    uint32_t path, device; /* path: of a launch, a number for its name; device: index */
    uint64_t start, end;
};

struct sample {
    uint32_t device, number; /* number: in the file */
    uint64_t start, end;
};

struct work {
    const struct cw_result *r;
    const struct cw_timeline *t;
    struct cw_arena *arena;
    struct interval *intervals;
    struct sample *samples; /* by device and time */
    size_t interval_count;
    double *sums, *weights; /* [metric], of one row */
    struct cw_pm_ranges *made;
    bool of_kernels;      /* t is the trace of another run */
    const char **kernels; /* names by their numbers */
};

/* ---- in order --------------------------------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_path(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    const int path = order(a->path, b->path), device = order(a->device, b->device);
    return path ? path : device ? device : order(a->start, b->start);
}

static int by_device(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    return a->device != b->device ? order(a->device, b->device) : order(a->start, b->start);
}

/* The ranges of a process belong to each device that it uses. */
static enum cw_status find_intervals(struct work *w, struct cw_error *err)
{
    const struct cw_timeline *t = w->t;
    size_t count = 0;
    for (uint32_t i = 0; i < t->range_count; i++)
        count += t->trace->processes[t->threads[t->ranges[i].thread].process].device_count;
    w->intervals = calloc(count + 1, sizeof *w->intervals);
    if (!w->intervals)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < t->range_count; i++) {
        const struct cw_timeline_range *range = &t->ranges[i];
        const struct cw_trace_process *p = &t->trace->processes[t->threads[range->thread].process];
        for (uint32_t d = 0; d < p->device_count; d++)
            w->intervals[w->interval_count++] = (struct interval){range->path, p->devices[d].device, range->start,
                                                                  range->open ? UINT64_MAX : range->end};
    }
    qsort(w->intervals, w->interval_count, sizeof *w->intervals, by_path);
    return CW_OK;
}

static enum cw_status find_launches(struct work *w, struct cw_error *err)
{
    const struct cw_pm_data *pm = &w->r->data->pm;
    w->intervals = calloc((size_t)pm->launch_count + 1, sizeof *w->intervals);
    w->kernels = cw_arena_alloc(w->arena, pm->name_count, sizeof *w->kernels);
    const uint32_t *numbers =
        cw_labels_number(pm->names, pm->name_count, w->arena); /* several chunks may have one name */
    if (!w->intervals || !w->kernels || !numbers)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < pm->name_count; i++)
        w->kernels[numbers[i]] = pm->names[i];
    for (uint32_t i = 0; i < pm->launch_count; i++) { /* a device without samples has none */
        const struct cw_kernel_launch *l = &pm->launches[i];
        uint32_t device;
        if (cw_device_find(w->r->data->devices, w->r->data->device_count, l->device, &device))
            w->intervals[w->interval_count++] = (struct interval){numbers[l->name], device, l->start_ns, l->end_ns};
    }
    qsort(w->intervals, w->interval_count, sizeof *w->intervals, by_path);
    return CW_OK;
}

static enum cw_status find_samples(struct work *w, struct cw_error *err)
{
    const struct cw_counter_data *data = w->r->data;
    const struct cw_pm_data *pm = &data->pm;
    w->samples = calloc((size_t)pm->sample_count + 1, sizeof *w->samples);
    if (!w->samples)
        return cw_error_nomem(err);
    for (uint32_t b = 0; b < pm->block_count; b++) {
        const struct cw_pm_block *block = &pm->blocks[b];
        if (!pm->correlated[block->device])
            return cw_error_set(err, CW_ERR_USAGE,
                                "found no reading of the clock of device %" PRIu32
                                ", expected one to place samples in ranges",
                                data->devices[block->device].index);
        for (uint32_t i = block->first; i < block->first + block->count; i++)
            w->samples[i] = (struct sample){block->device, i, pm->start_ns[i], pm->end_ns[i]};
    }
    qsort(w->samples, pm->sample_count, sizeof *w->samples, by_device);
    return CW_OK;
}

/* The first sample of the device that ends after `ns`. */
static size_t find_sample(const struct work *w, uint32_t device, uint64_t ns)
{
    struct cw_search search = {0, w->r->data->pm.sample_count};
    while (search.low < search.high) {
        const struct sample *s = &w->samples[cw_search_middle(&search)];
        cw_search_narrow(&search, s->device < device || (s->device == device && s->end <= ns));
    }
    return search.low;
}

/* ---- one row ---------------------------------------------------------------------------------------------------- */

static void add_sample(const struct work *w, uint32_t row, const struct sample *s, uint64_t ns)
{
    for (uint32_t m = 0; m < w->r->metric_count; m++) {
        const size_t at = (size_t)m * w->r->row_count + s->number;
        const double value = w->r->values[at];
        int8_t *status = &w->made->statuses[(size_t)m * w->made->count + row];
        *status = w->r->statuses[at] > *status ? w->r->statuses[at] : *status;
        if (!cw_value_counts(value, w->r->statuses[at]))
            continue;
        w->sums[m] += value * (double)ns;
        w->weights[m] += (double)ns;
    }
}

/* Adds the time from `start` on; `last` is one behind the sample counted last. */
static void add_time(const struct work *w, uint32_t row, uint32_t device, uint64_t start, uint64_t end, size_t *last)
{
    struct cw_pm_range *to = &w->made->items[row];
    const size_t count = w->r->data->pm.sample_count;
    for (size_t i = find_sample(w, device, start); i < count && w->samples[i].device == device; i++) {
        const struct sample *s = &w->samples[i];
        if (s->start >= end)
            break;
        const uint64_t from = s->start > start ? s->start : start, until = s->end < end ? s->end : end;
        add_sample(w, row, s, until - from);
        to->time_ns += until - from;
        to->samples += i >= *last;
        *last = i + 1 > *last ? i + 1 : *last;
    }
}

static bool is_of_same(const struct interval *a, const struct interval *b)
{
    return a->path == b->path && a->device == b->device;
}

/* Takes overlapping ranges as one. Returns where the next row begins. */
static size_t add_row(const struct work *w, uint32_t row, size_t first)
{
    const struct interval *list = w->intervals;
    size_t i = first, last = 0;
    memset(w->sums, 0, w->r->metric_count * sizeof *w->sums);
    memset(w->weights, 0, w->r->metric_count * sizeof *w->weights);
    while (i < w->interval_count && is_of_same(&list[i], &list[first])) {
        const uint64_t start = list[i].start;
        uint64_t end = list[i].end;
        for (i++; i < w->interval_count && is_of_same(&list[i], &list[first]) && list[i].start <= end; i++)
            end = list[i].end > end ? list[i].end : end;
        w->made->items[row].ranges_ns += end > start ? end - start : 0;
        add_time(w, row, list[first].device, start, end, &last);
    }
    for (uint32_t m = 0; m < w->r->metric_count; m++) {
        const size_t at = (size_t)m * w->made->count + row;
        w->made->values[at] = w->weights[m] > 0 ? w->sums[m] / w->weights[m] : NAN;
        if (!w->made->items[row].samples)
            w->made->statuses[at] = CW_VALUE_NOT_COLLECTED;
    }
    return i;
}

/* Kernels of both runs are compared by their readable names. */
static enum cw_status name_kernel(const struct work *w, struct cw_pm_range *to, const struct interval *of,
                                  struct cw_error *err)
{
    const struct cw_pm_data *pm = &w->r->data->pm;
    uint64_t ns = 0, count = 0;
    to->path = cw_arena_strdup(w->arena, w->kernels[of->path]);
    to->device = w->r->data->devices[of->device].index;
    for (uint32_t b = 0; b < pm->block_count; b++)
        if (pm->blocks[b].device == of->device) {
            count += pm->blocks[b].count;
            ns += pm->blocks[b].end_ns - pm->blocks[b].start_ns;
        }
    to->sample_ns = count ? ns / count : 0;
    return to->path ? CW_OK : cw_error_nomem(err);
}

struct named {
    const char *name;
    uint32_t row;
};

static int by_name(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    const int found = strcmp(a->name, b->name);
    return found ? found : order(a->row, b->row);
}

static int compare_name(const void *name, const void *named)
{
    return strcmp(name, ((const struct named *)named)->name);
}

/* Finds the time of kernels in the trace; rows of one kernel on several devices have the same. */
static enum cw_status add_traced(const struct work *w, struct cw_error *err)
{
    const struct cw_timeline *t = w->t;
    const uint32_t count = w->made->count;
    struct named *rows = calloc((size_t)count + 1, sizeof *rows);
    uint32_t *found = calloc((size_t)t->name_count + 1, sizeof *found); /* [name]: 1 + a kernel's place in rows */
    for (uint32_t i = 0; rows && i < count; i++)
        rows[i] = (struct named){w->made->items[i].path, i};
    if (rows)
        qsort(rows, count, sizeof *rows, by_name);
    for (uint32_t i = 0; rows && found && i < t->gpu_count; i++) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        if (g->kind != CW_TRACE_KERNEL)
            continue;
        if (!found[g->name]) {
            const struct named *at = bsearch(t->names[g->name].shown, rows, count, sizeof *rows, compare_name);
            while (at && at > rows && strcmp(at[-1].name, at->name) == 0)
                at--;
            found[g->name] = at ? (uint32_t)(at - rows) + 1 : UINT32_MAX;
        }
        if (found[g->name] == UINT32_MAX) {
            w->made->unsampled++;
            w->made->unsampled_ns += (double)(g->end - g->start);
            continue;
        }
        for (uint32_t k = found[g->name] - 1; k < count && strcmp(rows[k].name, rows[found[g->name] - 1].name) == 0;
             k++) {
            w->made->items[rows[k].row].traced++;
            w->made->items[rows[k].row].traced_ns += (double)(g->end - g->start);
        }
    }
    const bool good = rows && found;
    free(rows);
    free(found);
    return good ? CW_OK : cw_error_nomem(err);
}

static enum cw_status name_row(const struct work *w, struct cw_pm_range *to, const struct interval *of,
                               struct cw_error *err)
{
    char text[CW_TIMELINE_NAME_SIZE];
    to->path = cw_arena_strdup(w->arena, cw_timeline_path_text(w->t, of->path, text));
    to->device = w->r->data->devices[of->device].index;
    return to->path ? CW_OK : cw_error_nomem(err);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status make_room(struct work *w, struct cw_error *err)
{
    struct cw_pm_ranges *made = w->made;
    const uint32_t metrics = w->r->metric_count;
    for (size_t i = 0; i < w->interval_count; i++)
        made->count += !i || !is_of_same(&w->intervals[i - 1], &w->intervals[i]);
    if ((uint64_t)made->count * metrics > most_values)
        return cw_error_set(err, CW_ERR_USAGE,
                            "found %" PRIu32 " paths of ranges and %" PRIu32 " metrics, expected %" PRIu64
                            " values at most: -m names fewer",
                            made->count, metrics, most_values);
    made->items = cw_arena_alloc(w->arena, made->count, sizeof *made->items);
    made->values = cw_arena_alloc(w->arena, (size_t)made->count * metrics, sizeof *made->values);
    made->statuses = cw_arena_alloc(w->arena, (size_t)made->count * metrics, sizeof *made->statuses);
    w->sums = cw_arena_alloc(w->arena, metrics, sizeof *w->sums);
    w->weights = cw_arena_alloc(w->arena, metrics, sizeof *w->weights);
    return made->items && made->values && made->statuses && w->sums && w->weights ? CW_OK : cw_error_nomem(err);
}

struct ranked {
    struct cw_pm_range range;
    uint32_t row;
};

static int by_time(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->range.traced_ns != b->range.traced_ns)
        return (a->range.traced_ns < b->range.traced_ns) - (a->range.traced_ns > b->range.traced_ns);
    return a->range.time_ns != b->range.time_ns ? order(b->range.time_ns, a->range.time_ns) : order(a->row, b->row);
}

/* Sorts rows and values, the longest first. */
static enum cw_status sort_rows(struct work *w, struct cw_error *err)
{
    struct cw_pm_ranges *made = w->made;
    struct ranked *ranked = calloc((size_t)made->count + 1, sizeof *ranked);
    double *values = cw_arena_alloc(w->arena, (size_t)made->count * w->r->metric_count, sizeof *values);
    int8_t *statuses = cw_arena_alloc(w->arena, (size_t)made->count * w->r->metric_count, sizeof *statuses);
    if (!ranked || !values || !statuses) {
        free(ranked);
        return cw_error_nomem(err);
    }
    for (uint32_t i = 0; i < made->count; i++)
        ranked[i] = (struct ranked){made->items[i], i};
    qsort(ranked, made->count, sizeof *ranked, by_time);
    for (uint32_t i = 0; i < made->count; i++) {
        made->items[i] = ranked[i].range;
        for (size_t m = 0; m < w->r->metric_count; m++) {
            values[m * made->count + i] = made->values[m * made->count + ranked[i].row];
            statuses[m * made->count + i] = made->statuses[m * made->count + ranked[i].row];
        }
    }
    made->values = values;
    made->statuses = statuses;
    free(ranked);
    return CW_OK;
}

static enum cw_status make(struct work *w, struct cw_error *err)
{
    CW_TRY(w->of_kernels ? find_launches(w, err) : find_intervals(w, err));
    CW_TRY(find_samples(w, err));
    CW_TRY(make_room(w, err));
    for (size_t i = 0, row = 0; i < w->interval_count; row++) {
        const size_t next = add_row(w, (uint32_t)row, i);
        w->made->items[row].ranges = (uint32_t)(next - i);
        CW_TRY((w->of_kernels ? name_kernel : name_row)(w, &w->made->items[row], &w->intervals[i], err));
        i = next;
    }
    if (w->of_kernels)
        CW_TRY(add_traced(w, err));
    return sort_rows(w, err);
}

static enum cw_status make_all(struct cw_pm_ranges *made, const struct cw_result *result, const struct cw_timeline *t,
                               bool of_kernels, struct cw_arena *arena, struct cw_error *err)
{
    struct work w = {.r = result, .t = t, .arena = arena, .made = made, .of_kernels = of_kernels};
    *made = (struct cw_pm_ranges){0};
    const enum cw_status status = make(&w, err);
    free(w.intervals);
    free(w.samples);
    return status;
}

enum cw_status cw_pm_ranges_make(struct cw_pm_ranges *made, const struct cw_result *result,
                                 const struct cw_timeline *timeline, struct cw_arena *arena, struct cw_error *err)
{
    return make_all(made, result, timeline, false, arena, err);
}

enum cw_status cw_pm_kernels_make(struct cw_pm_ranges *made, const struct cw_result *result,
                                  const struct cw_timeline *trace, struct cw_arena *arena, struct cw_error *err)
{
    return make_all(made, result, trace, true, arena, err);
}
