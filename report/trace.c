#define _GNU_SOURCE
#include "report/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "eval/output/timeline_page.h"
#include "eval/timeline/memory.h"
#include "eval/timeline/timeline.h"
#include "report/put.h"
#include "report/series.h"
#include "report/trace_graphs.h"
#include "report/trace_lanes.h"

/* ---- power, clocks, temperature and memory ----------------------------------------------------------------------- */

/* Most bytes of one list of times and its series, before base64; most series of memory. */
enum { MOST_SAMPLES = 250000, MOST_MEMORIES = 32 };

static const struct measured { /* measurements in each row of environment */
    enum cw_trace_field field;
    const char *name, *unit;
    double factor;
} measured[] = {
    {CW_FIELD_POWER, "power", "W", 1e-3},
    {CW_FIELD_SM_CLOCK, "SM clock", "Hz", 1e6},
    {CW_FIELD_TEMPERATURE, "temperature", "°C", 1},
    {CW_FIELD_MEMORY_CLOCK, "memory clock", "Hz", 1e6},
    {CW_FIELD_FAN, "fan", "%", 1},
};
enum { MEASURED = sizeof measured / sizeof *measured };

#define NOT_MEMORY UINT32_MAX

struct point {
    uint64_t time;
    uint32_t group, use; /* use: of memory (eval/timeline/memory.h; only the first value counts), or NOT_MEMORY */
    uint32_t memory;     /* a name */
    size_t number;       /* position in the file */
    double values[MEASURED];
};

struct points {
    const struct cw_timeline *timeline;
    const struct cw_report_lanes *lanes;
    struct point *items;
    size_t count, room;
};

/* Fills the next point. The caller keeps it by adding to `count`. */
static struct point *add_point(struct points *p, uint64_t time, uint32_t group)
{
    if (p->count == p->room) {
        const size_t room = p->room ? p->room * 2 : 1024;
        struct point *items = realloc(p->items, room * sizeof *items);
        if (!items)
            return NULL;
        p->items = items;
        p->room = room;
    }
    p->items[p->count] = (struct point){.time = time, .group = group, .use = NOT_MEMORY, .number = p->count};
    return &p->items[p->count];
}

static enum cw_status take_environment(void *context, const struct cw_trace_rows *rows, size_t block,
                                       struct cw_error *err)
{
    struct points *p = context;
    (void)block;
    for (uint32_t i = 0; i < rows->count; i++) {
        const uint32_t device =
            cw_trace_device(p->timeline->trace, rows->process, cw_trace_get(rows, CW_FIELD_DEVICE, i));
        struct point *point =
            add_point(p, cw_trace_get(rows, CW_FIELD_TIME, i), cw_report_lanes_group(p->lanes, rows->process, device));
        if (!point)
            return cw_error_nomem(err);
        for (size_t m = 0; m < MEASURED; m++) {
            const uint64_t value = cw_trace_get(rows, measured[m].field, i);
            point->values[m] = value == CW_TRACE_UNKNOWN ? NAN : (double)value * measured[m].factor;
        }
        p->count += point->time && point->group != CW_TIMELINE_NONE;
    }
    return CW_OK;
}

static enum cw_status add_memory(struct points *p, struct cw_error *err)
{
    struct cw_memory_changes changes;
    enum cw_status status = cw_timeline_find_memory(&changes, p->timeline, err);
    for (size_t i = 0; i < changes.count && status == CW_OK; i++) {
        const struct cw_memory_change *c = &changes.items[i];
        struct point *point = add_point(p, c->time, cw_report_lanes_group(p->lanes, c->process, c->device));
        if (!point) {
            status = cw_error_nomem(err);
            break;
        }
        point->use = c->use;
        point->memory = c->memory;
        point->values[0] = c->now;
        p->count += point->group != CW_TIMELINE_NONE;
    }
    cw_memory_changes_free(&changes);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->use != y->use)
        return x->use < y->use ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static bool put_series(FILE *out, const struct point *points, uint32_t count, uint32_t per, size_t m, const char *name,
                       bool first)
{
    double *values = calloc((size_t)count + 1, sizeof *values);
    for (uint32_t i = 0; values && i < count; i++)
        values[i] = points[i].values[m];
    const struct cw_series series = {name, points->use != NOT_MEMORY ? "bytes" : measured[m].unit, values, count, per};
    const bool enough = values && cw_series_put(out, first ? "" : ",\n", &series);
    free(values);
    return enough;
}

static bool is_known(const struct point *points, uint32_t count, size_t m)
{
    for (uint32_t i = 0; i < count; i++)
        if (isfinite(points[i].values[m]))
            return true;
    return false;
}

/* Prints the points of one group, for memory also of one use. A value holds until the next; the last until the end. */
static bool put_block(FILE *out, const struct cw_timeline *t, const struct point *points, uint32_t count, bool first)
{
    const bool memory = points->use != NOT_MEMORY;
    const uint32_t series = memory ? 1 : MEASURED, per = cw_series_per(count, series, MOST_SAMPLES);
    const uint64_t start = points->time, end = t->end > points[count - 1].time ? t->end : points[count - 1].time;
    uint64_t *times = calloc((size_t)count + 1, sizeof *times);
    for (uint32_t i = 0; times && i < count; i++)
        times[i] = points[i].time;
    cw_put_count(out, first ? "\n{\"group\":" : ",\n{\"group\":", points->group);
    fprintf(out, ",\"start\":%" PRId64, (int64_t)(start - t->start));
    cw_put_count(out, ",\"span\":", end > start ? end - start : 1);
    cw_put_count(out, ",\"per\":", per);
    bool enough = times && cw_series_put_times(out, times, count, per, start, end), none = true;
    fputs(",\"series\":[", out);
    for (size_t m = 0; m < series && enough; m++) {
        char name[80];
        snprintf(name, sizeof name, "%.50s memory", t->names[points->memory].shown);
        if (!is_known(points, count, m))
            continue;
        enough = put_series(out, points, count, per, m, memory ? name : measured[m].name, none);
        none = false;
    }
    fputs("]}", out);
    free(times);
    return enough;
}

static bool put_points(FILE *out, struct points *p, size_t *blocks, size_t most)
{
    bool enough = true;
    if (p->count)
        qsort(p->items, p->count, sizeof *p->items, by_place);
    for (size_t first = 0, end; first < p->count && *blocks < most && enough; first = end) {
        struct point *at = &p->items[first];
        for (end = first + 1; end < p->count && p->items[end].group == at->group && p->items[end].use == at->use;)
            end++;
        const uint32_t count = (uint32_t)(end - first);
        enough = put_block(out, p->timeline, at, count, *blocks == 0);
        (*blocks)++;
    }
    return enough;
}

/* Prints a member "samples": one object for each group of lanes and list of times, with "start" and "span" on the
 * timeline, "time" and "series" (report/series.h). */
static enum cw_status put_samples(FILE *out, const struct cw_timeline *t, const struct cw_report_lanes *lanes,
                                  struct cw_error *err)
{
    struct points memory = {.timeline = t, .lanes = lanes}, others = memory;
    enum cw_status status = add_memory(&memory, err);
    size_t blocks = 0;
    if (status == CW_OK)
        status = cw_timeline_each(t, CW_TRACE_ENVIRONMENT, take_environment, &others, err);
    fputs(",\n\"samples\":[", out);
    if (status == CW_OK &&
        !(put_points(out, &memory, &blocks, MOST_MEMORIES) && put_points(out, &others, &blocks, 2 * MOST_MEMORIES)))
        status = cw_error_nomem(err);
    free(memory.items);
    free(others.items);
    fputs("]", out);
    return status;
}

/* ---- summary ----------------------------------------------------------------------------------------------------- */

enum { LIST_ROWS = 30, MOST_ROWS = 1000, SHORT_COLUMNS = 64 };

/* The terminal's sentences about losses, in one line. */
static enum cw_status put_loss(FILE *out, const struct cw_timeline *t, struct cw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *told = open_memstream(&text, &size);
    if (told)
        cw_timeline_put_loss(t, told);
    const bool good = told && fclose(told) == 0 && text;
    for (char *end = good ? strchr(text, '\n') : NULL; end; end = strchr(end, '\n'))
        *end = end[1] ? ' ' : 0;
    if (good)
        cw_put_text(out, ",\n\"lost\":", text);
    free(text);
    return good ? CW_OK : cw_error_nomem(err);
}

/* Prints a table of the terminal. A cell is a text and a number to sort by; names of functions come whole and short.
 * The page's context is a flag: no table before this one. */
static void put_table(const struct cw_text_page *p, const char *title, struct cw_text_lines *l)
{
    bool *first = p->context;
    char name[CW_SHORT_SIZE];
    l->page = p;
    if (l->rows > MOST_ROWS) {
        snprintf(l->left, sizeof l->left, "and %" PRIu32 " more", l->rows - MOST_ROWS);
        l->rows = MOST_ROWS;
    }
    l->room = l->names == CW_NAMES_FUNCTIONS ? SHORT_COLUMNS : 0;
    cw_text_find_alike(l);
    cw_put_text(p->out, *first ? "\n{\"title\":" : ",\n{\"title\":", title ? title : "");
    *first = false;
    for (size_t k = 0; k < l->count; k++)
        cw_put_text(p->out, k ? "," : ",\"columns\":[", l->columns[k]);
    cw_put_text(p->out, ",", l->name);
    fputs("],\"rows\":[", p->out);
    for (uint32_t i = 0; i < l->rows; i++) {
        cw_text_fill(l, i, name);
        fputs(i ? ",\n[" : "\n[", p->out);
        for (size_t k = 0; k < l->count; k++) {
            cw_put_text(p->out, k ? ",[" : "[", l->cells[k]);
            cw_put_number(p->out, ",", l->values[k]);
            putc(']', p->out);
        }
        cw_put_text(p->out, ",[", name);
        if (l->room)
            cw_put_text(p->out, ",", l->text);
        fputs("]]", p->out);
    }
    cw_put_text(p->out, "],\"left\":", l->left);
    cw_put_text(p->out, ",\"note\":", l->note);
    putc('}', p->out);
    free(l->alike);
    l->alike = NULL;
}

/* Prints a member "summary": busy and idle time of devices, the longest gaps, losses, and lists of kernels, copies,
 * NVTX ranges and calls by time. */
static enum cw_status put_summary(FILE *out, const struct cw_timeline *t, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_timeline_sections sections;
    struct cw_timeline_rows list;
    const struct cw_timeline_output output = {.t = t, .list = &list, .sections = &sections, .wide = true};
    bool first = true;
    const struct cw_text_page page = {.o = &output, .t = t, .out = out, .put = put_table, .context = &first};
    enum cw_status status = cw_timeline_sections_make(&sections, t, NULL, LIST_ROWS, arena, err);
    if (status == CW_OK)
        status = cw_timeline_rows_make(&list, t, CW_TIMELINE_BY_KERNEL, NULL, false, LIST_ROWS, arena, err);
    if (status != CW_OK)
        return status;
    fputs(",\n\"summary\":{\"usage\":[", out);
    if (sections.usage.device_count) {
        cw_text_put_devices(&page);
        cw_text_put_idle(&page);
        cw_text_put_gaps(&page);
    }
    fputs("]", out);
    status = put_loss(out, t, err);
    fputs(",\n\"lists\":[", out);
    first = true;
    if (list.count)
        cw_text_put_main_list(&page);
    cw_text_put_sections(&page);
    fputs("]}", out);
    return status;
}

static uint64_t untimed_of(const struct cw_timeline *t)
{
    uint64_t untimed = 0;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        untimed += t->untimed[k];
    return untimed;
}

enum cw_status cw_report_trace_put(FILE *out, const struct cw_report_capture *c, struct cw_arena *arena,
                                   struct cw_error *err)
{
    const struct cw_timeline *t = c->timeline;
    const uint64_t span = t->end > t->start ? t->end - t->start : 1;
    struct cw_report_lanes *lanes;
    enum cw_status status = cw_report_lanes_make(&lanes, t, arena, err);
    if (status == CW_OK) {
        cw_put_text(out, "{\"file\":", c->source);
        cw_put_count(out, ",\"start\":", t->start);
        cw_put_count(out, ",\"span\":", span);
        cw_put_count(out, ",\"untimed\":", untimed_of(t));
        status = cw_report_lanes_put(out, lanes, err);
    }
    if (status == CW_OK)
        status = put_samples(out, t, lanes, err);
    if (status == CW_OK)
        status = put_summary(out, t, arena, err);
    if (status == CW_OK)
        status = cw_report_graphs_put(out, t, err);
    fputs("}", out);
    cw_report_lanes_free(lanes);
    return status;
}
