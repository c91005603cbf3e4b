#define _GNU_SOURCE
#include "report/trace_samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/timeline/memory.h"
#include "report/put.h"
#include "report/series.h"

/* Bytes of one list of times with its series, before they are base64; series of memory. */
enum { MOST_BYTES = 250000, MOST_MEMORIES = 32 };

static const struct measured { /* by a row of environment */
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
    uint32_t group, use; /* use: of memory (eval/timeline/memory.h), which has only the first value; NOT_MEMORY */
    uint32_t memory;     /* a name */
    size_t number;       /* as they came */
    double values[MEASURED];
};

struct points {
    const struct cw_report_lanes *lanes;
    struct point *items;
    size_t count, room;
};

/* A group of lanes for a device: of the process, or else any of the device. */
static uint32_t group_of(const struct points *p, uint32_t process, uint32_t device)
{
    uint32_t found = CW_TIMELINE_NONE;
    for (uint32_t g = 0; g < p->lanes->group_count; g++)
        if (p->lanes->groups[g].is_device && p->lanes->groups[g].device == device &&
            (found == CW_TIMELINE_NONE || p->lanes->groups[g].process == process))
            found = g;
    return found;
}

/* The next point; it is kept by adding to `count`. */
static struct point *add(struct points *p, uint64_t time, uint32_t group)
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
            cw_trace_device(p->lanes->timeline->trace, rows->process, cw_trace_get(rows, CW_FIELD_DEVICE, i));
        struct point *point = add(p, cw_trace_get(rows, CW_FIELD_TIME, i), group_of(p, rows->process, device));
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
    enum cw_status status = cw_timeline_find_memory(&changes, p->lanes->timeline, err);
    for (size_t i = 0; i < changes.count && status == CW_OK; i++) {
        const struct cw_memory_change *c = &changes.items[i];
        struct point *point = add(p, c->time, group_of(p, c->process, c->device));
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

/* ---- printing -----------------------------------------------------------------------------------------------------
 */

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

/* Points of one group, and of memory of one kind. A number holds until the next one, the last until the end. */
static bool put_block(FILE *out, const struct cw_report_lanes *l, const struct point *points, uint32_t count,
                      bool first)
{
    const struct cw_timeline *t = l->timeline;
    const bool memory = points->use != NOT_MEMORY;
    const uint32_t series = memory ? 1 : MEASURED, per = cw_series_per(count, series, MOST_BYTES);
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
        enough = put_block(out, p->lanes, at, count, *blocks == 0);
        (*blocks)++;
    }
    return enough;
}

enum cw_status cw_trace_samples_put(FILE *out, const struct cw_report_lanes *lanes, struct cw_error *err)
{
    struct points memory = {.lanes = lanes}, others = {.lanes = lanes};
    enum cw_status status = add_memory(&memory, err);
    size_t blocks = 0;
    if (status == CW_OK)
        status = cw_timeline_each(lanes->timeline, CW_TRACE_ENVIRONMENT, take_environment, &others, err);
    fputs(",\n\"samples\":[", out);
    if (status == CW_OK &&
        !(put_points(out, &memory, &blocks, MOST_MEMORIES) && put_points(out, &others, &blocks, 2 * MOST_MEMORIES)))
        status = cw_error_nomem(err);
    free(memory.items);
    free(others.items);
    fputs("]", out);
    return status;
}
