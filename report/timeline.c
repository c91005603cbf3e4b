#define _GNU_SOURCE
#include "report/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/put.h"
#include "report/series.h"

/* Most bytes of samples, series and launches of one device. If there are more samples, a point shows the least and the
 * greatest of several; if there are more launches, the page has the longest. */
enum { MOST_BYTES = 6000000, MOST_SERIES = 32, MOST_LAUNCHES = 30000 };

/* ---- launches --------------------------------------------------------------------------------------------------- */

struct span {
    uint64_t start_ns, end_ns, lane;
    const char *name, *nvtx;
    uint64_t number; /* position among all launches */
};

struct spans {
    size_t count, room, left;
    struct span *items; /* in order of start */
    uint64_t start_ns, end_ns;
};

/* Equal lengths keep their order. */
static int by_length(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    const uint64_t m = x->end_ns - x->start_ns, n = y->end_ns - y->start_ns;
    return m != n ? (m < n) - (m > n) : (x->number > y->number) - (x->number < y->number);
}

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Keeps the longest. */
static void leave_short(struct spans *s)
{
    if (s->count <= MOST_LAUNCHES)
        return;
    qsort(s->items, s->count, sizeof *s->items, by_length);
    s->left += s->count - MOST_LAUNCHES;
    s->count = MOST_LAUNCHES;
}

static void add_span(struct spans *s, const struct span *span)
{
    if (!span->start_ns || span->end_ns < span->start_ns)
        return;
    if (s->count == s->room)
        leave_short(s);
    s->start_ns = span->start_ns < s->start_ns ? span->start_ns : s->start_ns;
    s->end_ns = span->end_ns > s->end_ns ? span->end_ns : s->end_ns;
    s->items[s->count] = *span;
    s->items[s->count].number = s->count + s->left;
    s->count++;
}

/* Keeps the longest if there are too many, and sorts by start. */
static void order_spans(struct spans *s)
{
    leave_short(s);
    qsort(s->items, s->count, sizeof *s->items, by_start);
}

struct word {
    const char *text;
    size_t at; /* index of a span */
    uint32_t number;
};

static int by_text(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    const int order = strcmp(x->text, y->text);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Prints two lists: the distinct texts of all spans (names also short), and for each span the index of its text. */
static bool put_words(FILE *out, const struct spans *s, bool nvtx)
{
    struct word *words = calloc(s->count + 1, sizeof *words);
    uint32_t *number = calloc(s->count + 1, sizeof *number), next = 0;
    for (size_t i = 0; words && i < s->count; i++)
        words[i] = (struct word){nvtx ? s->items[i].nvtx : s->items[i].name, i, 0};
    if (!words || !number) {
        free(words);
        free(number);
        return false;
    }
    qsort(words, s->count, sizeof *words, by_text);
    fputs(nvtx ? ",\"nvtx_names\":[" : ",\"names\":[", out);
    for (size_t i = 0; i < s->count; i++) {
        if (!i || strcmp(words[i - 1].text, words[i].text) != 0)
            cw_put_text(out, next++ ? "," : "", words[i].text);
        number[words[i].at] = next - 1;
    }
    if (!nvtx)
        fputs("],\"shorts\":[", out);
    for (size_t i = 0; i < s->count && !nvtx; i++)
        if (!i || number[words[i - 1].at] != number[words[i].at])
            cw_put_short(out, i ? "," : "", words[i].text);
    fputs(nvtx ? "],\"nvtx\":[" : "],\"name\":[", out);
    for (size_t i = 0; i < s->count; i++)
        cw_put_count(out, i ? "," : "", number[i]);
    fputs("]", out);
    free(words);
    free(number);
    return true;
}

/* Starts and durations. */
static void put_lengths(FILE *out, const struct spans *s, uint64_t origin)
{
    fputs("{\"start\":[", out);
    for (size_t i = 0; i < s->count; i++)
        cw_put_number(out, i ? "," : "", (double)s->items[i].start_ns - (double)origin);
    fputs("],\"length\":[", out);
    for (size_t i = 0; i < s->count; i++)
        cw_put_count(out, i ? "," : "", s->items[i].end_ns - s->items[i].start_ns);
    fputs("]", out);
}

static bool put_spans(FILE *out, const struct spans *s, uint64_t origin, bool nvtx)
{
    fputs(",\n\"launches\":", out);
    put_lengths(out, s, origin);
    fputs(",\"lane\":[", out);
    for (size_t i = 0; i < s->count; i++)
        cw_put_count(out, i ? "," : "", s->items[i].lane);
    fputs("]", out);
    const bool enough = put_words(out, s, false) && (!nvtx || put_words(out, s, true));
    cw_put_count(out, ",\"left\":", s->left);
    fputs("}", out);
    return enough;
}

static bool begin_spans(struct spans *s, size_t room)
{
    room = room < 2 * (size_t)MOST_LAUNCHES ? room : 2 * (size_t)MOST_LAUNCHES;
    *s = (struct spans){.start_ns = UINT64_MAX, .room = room, .items = calloc(room + 1, sizeof *s->items)};
    return s->items != NULL;
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

struct sampling { /* samples of one device */
    const struct cw_result *r;
    uint32_t count, *rows; /* in order of start */
    uint32_t per, series;  /* per: samples in a point */
    uint64_t start_ns, end_ns;
};

static int by_sample_start(const void *a, const void *b, void *pm)
{
    const struct cw_pm_data *data = pm;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint64_t m = data->start_ns[x], n = data->start_ns[y];
    return m != n ? (m > n) - (m < n) : (x > y) - (x < y);
}

static bool take_samples(struct sampling *s, uint32_t device)
{
    const struct cw_pm_data *pm = &s->r->data->pm;
    for (uint32_t b = 0; b < pm->block_count; b++)
        s->count += pm->blocks[b].device == device ? pm->blocks[b].count : 0;
    s->rows = calloc((size_t)s->count + 1, sizeof *s->rows);
    if (!s->rows)
        return false;
    uint32_t n = 0;
    for (uint32_t b = 0; b < pm->block_count; b++)
        for (uint32_t i = 0; pm->blocks[b].device == device && i < pm->blocks[b].count; i++)
            s->rows[n++] = pm->blocks[b].first + i;
    bool ordered = true;
    for (uint32_t i = 1; i < n && ordered; i++)
        ordered = pm->start_ns[s->rows[i - 1]] <= pm->start_ns[s->rows[i]];
    if (!ordered)
        qsort_r(s->rows, n, sizeof *s->rows, by_sample_start, (void *)pm);
    s->start_ns = n ? pm->start_ns[s->rows[0]] : 0;
    for (uint32_t i = 0; i < n; i++)
        s->end_ns = pm->end_ns[s->rows[i]] > s->end_ns ? pm->end_ns[s->rows[i]] : s->end_ns;
    s->series = s->r->metric_count < MOST_SERIES ? s->r->metric_count : MOST_SERIES;
    s->per = cw_series_per(s->count, s->series, MOST_BYTES);
    return true;
}

static bool put_times(FILE *out, const struct sampling *s)
{
    uint64_t *times = calloc((size_t)s->count + 1, sizeof *times);
    for (uint32_t i = 0; times && i < s->count; i++)
        times[i] = s->r->data->pm.start_ns[s->rows[i]];
    const bool enough = times && cw_series_put_times(out, times, s->count, s->per, s->start_ns, s->end_ns);
    free(times);
    return enough;
}

static bool put_series(FILE *out, const struct sampling *s, uint32_t metric)
{
    const double *values = s->r->values + (size_t)metric * s->r->row_count;
    double *ordered = calloc((size_t)s->count + 1, sizeof *ordered);
    for (uint32_t i = 0; ordered && i < s->count; i++)
        ordered[i] = values[s->rows[i]];
    const bool enough = ordered && cw_series_put(out, metric ? ",\n" : "\n",
                                                 &(struct cw_series){s->r->names[metric], s->r->units[metric], ordered,
                                                                     s->count, s->per});
    free(ordered);
    return enough;
}

/* Prints gaps between samples: a gap is longer than half of the sample before it. */
static bool put_gaps(FILE *out, const struct sampling *s)
{
    const struct cw_pm_data *pm = &s->r->data->pm;
    struct spans gaps;
    if (!begin_spans(&gaps, s->count))
        return false;
    for (uint32_t i = 0; i + 1 < s->count; i++) {
        const uint64_t start = pm->start_ns[s->rows[i]], end = pm->end_ns[s->rows[i]];
        const uint64_t next = pm->start_ns[s->rows[i + 1]];
        if (next > end && next - end > (end - start) / 2)
            add_span(&gaps, &(struct span){.start_ns = end, .end_ns = next});
    }
    order_spans(&gaps);
    fputs(",\"gaps\":", out);
    put_lengths(out, &gaps, s->start_ns);
    fputs("}", out);
    free(gaps.items);
    return true;
}

static bool put_samples(FILE *out, const struct sampling *s)
{
    cw_put_count(out, ",\"samples\":", s->count);
    cw_put_count(out, ",\"per\":", s->per);
    cw_put_count(out, ",\"series_left\":", s->r->metric_count - s->series);
    bool enough = put_times(out, s) && put_gaps(out, s);
    fputs(",\"series\":[", out);
    for (uint32_t m = 0; m < s->series && enough; m++)
        enough = put_series(out, s, m);
    fputs("]", out);
    return enough;
}

static void put_start(FILE *out, const struct cw_report_capture *c, size_t number, uint64_t start, uint64_t end)
{
    cw_put_text(out, number ? ",\n{\"file\":" : "\n{\"file\":", c->source);
    cw_put_count(out, ",\"start\":", start);
    cw_put_count(out, ",\"span\":", end > start ? end - start : 1);
}

static bool is_same(const struct cw_device *a, const struct cw_device *b, const char *key)
{
    const char *x = cw_device_attribute(a, key), *y = cw_device_attribute(b, key);
    return !x || !y || strcmp(x, y) == 0;
}

/* The page draws samples into a trace of the same device and time. Prints "trace": place of the trace, its device, and
 * the start of the samples in it. */
static void put_trace(FILE *out, const struct cw_report *report, const struct cw_device *device,
                      const struct sampling *s)
{
    size_t number = 0;
    for (size_t i = 0; i < report->capture_count; i++) {
        const struct cw_report_capture *c = &report->captures[i];
        const struct cw_timeline *t = c->timeline;
        for (uint32_t d = 0; t && d < c->data->device_count; d++) {
            const struct cw_device *other = &c->data->devices[d];
            if (s->start_ns >= t->end || s->end_ns <= t->start || !is_same(device, other, "pci") ||
                !is_same(device, other, "host") || !is_same(device, other, "name"))
                continue;
            cw_put_count(out, ",\"trace\":{\"number\":", number);
            cw_put_count(out, ",\"device\":", other->index);
            fprintf(out, ",\"start\":%" PRId64 "}", (int64_t)(s->start_ns - t->start));
            return;
        }
        number += t != NULL;
    }
}

/* Prints the samples of a device, and its launches. */
static bool put_device(FILE *out, const struct cw_report *report, const struct cw_report_capture *c, uint32_t device,
                       size_t *count)
{
    const struct cw_pm_data *pm = &c->data->pm;
    struct sampling s = {.r = c->samples};
    struct spans spans;
    bool enough = begin_spans(&spans, pm->launch_count) && take_samples(&s, device);
    for (uint32_t i = 0; enough && i < pm->launch_count; i++) {
        const struct cw_kernel_launch *l = &pm->launches[i];
        if (l->device == c->data->devices[device].index)
            add_span(&spans, &(struct span){l->start_ns, l->end_ns, l->stream, pm->names[l->name], "", 0});
    }
    if (enough && s.count) {
        const char *name = cw_device_attribute(&c->data->devices[device], "name");
        order_spans(&spans);
        put_start(out, c, (*count)++, s.start_ns, s.end_ns);
        cw_put_count(out, ",\"dropped\":", pm->launches_dropped);
        cw_put_count(out, ",\"device\":", c->data->devices[device].index);
        cw_put_text(out, ",\"model\":", name ? name : "");
        put_trace(out, report, &c->data->devices[device], &s);
        enough = put_samples(out, &s) && put_spans(out, &spans, s.start_ns, false);
        fputs("}", out);
    }
    free(s.rows);
    free(spans.items);
    return enough;
}

/* Prints the launches of a capture of ranges, if the file has their times. */
static enum cw_status put_ranges(FILE *out, const struct cw_report *report, const struct cw_report_capture *c,
                                 size_t *count, struct cw_error *err)
{
    const struct cw_eval_options none = {0};
    const struct cw_range *r;
    struct cw_result ranges = {.chip = c->chip, .data = c->data, .streamed = true};
    struct spans spans;
    enum cw_status status = begin_spans(&spans, c->data->range_count) ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_result_make(&ranges, &none, report->arena, err);
    for (uint32_t i = 0; status == CW_OK && i < c->data->range_count; i++) {
        if (!(r = cw_result_range(&ranges, i)))
            status = ranges.stream->status;
        const char *nvtx = r ? cw_range_attribute(r, "nvtx") : NULL;
        if (r)
            add_span(&spans,
                     &(struct span){r->start_ns, r->end_ns, r->device, *r->kernel ? r->name : "", nvtx ? nvtx : "", 0});
    }
    if (status == CW_OK && spans.count) {
        order_spans(&spans);
        put_start(out, c, (*count)++, spans.start_ns, spans.end_ns);
        status = put_spans(out, &spans, spans.start_ns, true) ? CW_OK : cw_error_nomem(err);
        fputs("}", out);
    }
    free(spans.items);
    return status;
}

enum cw_status cw_report_timelines_put(FILE *out, const struct cw_report *report, const struct cw_report_capture *c,
                                       size_t *count, struct cw_error *err)
{
    bool enough = true;
    if (c->data->schema.profiler == CW_PROFILER_RANGE && c->data->range_count)
        return put_ranges(out, report, c, count, err);
    for (uint32_t d = 0; c->samples && d < c->data->device_count && enough; d++)
        enough = put_device(out, report, c, d, count);
    return enough ? CW_OK : cw_error_nomem(err);
}
