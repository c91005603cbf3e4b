#include "eval/output/lane_rows.h"

#include <stdlib.h>
#include <string.h>

#include "eval/order.h"
#include "eval/timeline/memory.h"

struct cw_lane_point {
    uint64_t time;
    double value;
    uint32_t lane;
};

struct cw_lane_row {
    uint64_t start, end;
    size_t values; /* of all fields of the kind */
    uint32_t lane, process;
    uint8_t kind;
    bool instant;
};

/* Which of a row's fields are counters of its device. */
struct counter {
    enum cw_trace_field field;
    const char *name, *unit;
    double factor;
};
static const struct counter environment[] = {
    {CW_FIELD_SM_CLOCK, "SM clock", "MHz", 1},
    {CW_FIELD_MEMORY_CLOCK, "memory clock", "MHz", 1},
    {CW_FIELD_POWER, "power", "W", 1e-3},
    {CW_FIELD_POWER_LIMIT, "power limit", "W", 1e-3},
    {CW_FIELD_TEMPERATURE, "temperature", "\u00b0C", 1},
    {CW_FIELD_FAN, "fan", "%", 1},
    {CW_FIELD_THROTTLE, "reasons to throttle", "bits", 1},
};

/* Kinds whose rows are drawn with their fields, and what the lane is called. */
static const struct {
    enum cw_trace_kind kind;
    const char *name;
} plain_kinds[] = {
    {CW_TRACE_WINDOW, "traced"},     {CW_TRACE_ALLOCATION, "memory"},
    {CW_TRACE_POOL, "memory pools"}, {CW_TRACE_UNIFIED, "unified memory"},
    {CW_TRACE_EVENT, "CUDA events"}, {CW_TRACE_DEVICE_GRAPH, "graphs launched by the GPU"},
    {CW_TRACE_MODULE, "modules"},    {CW_TRACE_DECOMPRESS, "memory decompression"},
    {CW_TRACE_OPENACC, "OpenACC"},   {CW_TRACE_OPENMP, "OpenMP"},
};

static void *more(void *items, size_t count, size_t *room, size_t size)
{
    if (count <= *room)
        return items;
    const size_t wanted = 2 * count + 64;
    void *grown = realloc(items, wanted * size);
    if (grown)
        *room = wanted;
    return grown;
}

/* ---- counters --------------------------------------------------------------------------------------------------- */

static bool add_point(struct cw_lane_rows *r, const struct cw_lane_point *point)
{
    struct cw_lane_point *points = more(r->points, r->point_count + 1, &r->point_room, sizeof *points);
    if (!points)
        return false;
    r->points = points;
    r->points[r->point_count++] = *point;
    return true;
}

static uint32_t device_of(const struct cw_lane_rows *r, const struct cw_trace_rows *rows, uint32_t i)
{
    return cw_trace_device(r->places->timeline->trace, rows->process, cw_trace_get(rows, CW_FIELD_DEVICE, i));
}

static enum cw_status take_environment(void *context, const struct cw_trace_rows *rows, size_t block,
                                       struct cw_error *err)
{
    struct cw_lane_rows *r = context;
    (void)block;
    for (uint32_t i = 0; i < rows->count; i++)
        for (size_t c = 0; c < sizeof environment / sizeof *environment; c++) {
            const struct counter *of = &environment[c];
            const uint64_t value = cw_trace_get(rows, of->field, i), time = cw_trace_get(rows, CW_FIELD_TIME, i);
            if (!time || value == CW_TRACE_UNKNOWN)
                continue;
            const struct cw_key key = {{rows->process, device_of(r, rows, i), CW_PLACE_COUNTER, of->field}};
            const uint32_t lane = cw_lane_place(
                r->places, &key, &(struct cw_lane){.kind = CW_LANE_COUNTER, .name = of->name, .unit = of->unit}, NULL);
            if (!add_point(r, &(struct cw_lane_point){time, (double)value * of->factor, lane}))
                return cw_error_nomem(err);
        }
    return CW_OK;
}

static enum cw_status add_memory(struct cw_lane_rows *r, struct cw_error *err)
{
    const struct cw_timeline *t = r->places->timeline;
    struct cw_memory_changes changes;
    enum cw_status status = cw_timeline_find_memory(&changes, t, err);
    for (size_t i = 0; i < changes.count && status == CW_OK; i++) {
        const struct cw_memory_change *c = &changes.items[i];
        const struct cw_key key = {{c->process, c->device, CW_PLACE_MEMORY, c->memory}};
        const uint32_t lane = cw_lane_place(
            r->places, &key, &(struct cw_lane){.kind = CW_LANE_COUNTER, .name = "memory in use,", .unit = "bytes"},
            c->memory ? t->names[c->memory].text : "of unknown kind");
        if (!add_point(r, &(struct cw_lane_point){c->time, c->now, lane}))
            status = cw_error_nomem(err);
    }
    cw_memory_changes_free(&changes);
    return status;
}

static uint64_t point_time(const void *rows, uint32_t i)
{
    return ((const struct cw_lane_rows *)rows)->points[i].time;
}

static void point_event(void *rows, uint32_t i, struct cw_lane_event *e)
{
    struct cw_lane_rows *r = rows;
    const struct cw_lane_point *p = &r->points[i];
    if (p->lane == CW_NO_LANE)
        return;
    *e = (struct cw_lane_event){.lane = p->lane, .time = p->time, .value = p->value};
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static enum cw_status take_rows(void *context, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    struct cw_lane_rows *r = context;
    const struct cw_timeline *t = r->places->timeline;
    const enum cw_trace_kind kind = t->trace->kinds[rows->kind].kind;
    const struct cw_trace_kind_info *info = &cw_trace_kinds[kind];
    size_t p = 0;
    (void)block;
    while (plain_kinds[p].kind != kind)
        p++;
    const struct cw_key key = {{rows->process, CW_NO_TRACE_DEVICE, CW_PLACE_KIND, kind}};
    const uint32_t lane =
        cw_lane_place(r->places, &key, &(struct cw_lane){.kind = CW_LANE_EVENTS, .name = plain_kinds[p].name}, NULL);
    struct cw_lane_row *grown = more(r->rows, r->row_count + rows->count, &r->row_room, sizeof *grown);
    r->rows = grown ? grown : r->rows;
    const size_t values = r->value_count + (size_t)rows->count * info->field_count;
    uint64_t *all = more(r->values, values, &r->value_room, sizeof *all);
    r->values = all ? all : r->values;
    if (!grown || !all)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < rows->count; i++) {
        const uint64_t start = cw_trace_get(rows, CW_FIELD_START, i), time = cw_trace_get(rows, CW_FIELD_TIME, i),
                       device = cw_trace_get(rows, CW_FIELD_DEVICE_TIME, i);
        const uint64_t at = start ? start : time ? time : device;
        const uint64_t end = start ? cw_trace_get(rows, CW_FIELD_END, i) : at;
        if (!at)
            continue;
        r->rows[r->row_count++] =
            (struct cw_lane_row){at, end ? end : t->end, r->value_count, lane, rows->process, kind, !start};
        for (uint32_t f = 0; f < info->field_count; f++)
            r->values[r->value_count++] = cw_trace_get(rows, info->fields[f], i);
    }
    return CW_OK;
}

static uint64_t row_time(const void *rows, uint32_t i)
{
    return ((const struct cw_lane_rows *)rows)->rows[i].start;
}

/* A field as a note, where it is known and says more than name and time. */
static bool note_field(struct cw_lane_note *note, const struct cw_timeline *t, const struct cw_lane_row *row,
                       enum cw_trace_field field, uint64_t value)
{
    *note = (struct cw_lane_note){.name = cw_trace_fields[field].name, .kind = CW_NOTE_NUMBER, .number = value};
    switch (cw_trace_fields[field].type) {
    case CW_TRACE_TIME:
        return false;
    case CW_TRACE_TEXT:
        note->kind = CW_NOTE_TEXT;
        note->text = cw_trace_text(t->trace, row->process, value);
        return value != 0;
    case CW_TRACE_REAL:
        note->kind = CW_NOTE_REAL;
        memcpy(&note->real, &value, sizeof note->real);
        break;
    case CW_TRACE_ADDRESS:
        note->kind = CW_NOTE_ADDRESS;
        break;
    default:
        break;
    }
    return value != cw_trace_unknown(cw_trace_fields[field].type);
}

static void row_event(void *rows, uint32_t i, struct cw_lane_event *e)
{
    struct cw_lane_rows *r = rows;
    const struct cw_timeline *t = r->places->timeline;
    const struct cw_lane_row *row = &r->rows[i];
    const struct cw_trace_kind_info *info = &cw_trace_kinds[row->kind];
    *e = (struct cw_lane_event){.lane = row->lane,
                                .time = row->start,
                                .end = row->end,
                                .instant = row->instant,
                                .category = info->name,
                                .name = info->name,
                                .notes = r->notes};
    for (uint32_t f = 0; f < info->field_count; f++) {
        struct cw_lane_note *note = &r->notes[e->note_count];
        if (!note_field(note, t, row, info->fields[f], r->values[row->values + f]))
            continue;
        if (info->fields[f] == CW_FIELD_TYPE)
            e->name = note->text;
        else
            e->note_count++;
    }
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static bool point_is_after(const void *left, const void *right)
{
    const struct cw_lane_point *a = left, *b = right;
    return a->time > b->time;
}

static bool row_is_after(const void *left, const void *right)
{
    const struct cw_lane_row *a = left, *b = right;
    return a->start != b->start ? a->start > b->start : a->end < b->end;
}

static bool sort(void *items, size_t size, size_t count, cw_order_after *after)
{
    const struct cw_order_items of = {items, size, (uint32_t)count};
    uint32_t *order = calloc(count + 1, sizeof *order), *room = calloc(count + 1, sizeof *room);
    const bool good = order && room && count < UINT32_MAX;
    for (size_t i = 0; good && i < count; i++)
        order[i] = (uint32_t)i;
    if (good) {
        cw_order_sort(&of, order, room, of.count, after);
        cw_order_apply(&of, order);
    }
    free(order);
    free(room);
    return good;
}

enum cw_status cw_lane_rows_add(struct cw_lane_rows *r, struct cw_lane_places *places, struct cw_error *err)
{
    const struct cw_timeline *t = places->timeline;
    *r = (struct cw_lane_rows){.places = places};
    enum cw_status status = cw_timeline_each(t, CW_TRACE_ENVIRONMENT, take_environment, r, err);
    if (status == CW_OK)
        status = add_memory(r, err);
    for (size_t i = 0; status == CW_OK && i < sizeof plain_kinds / sizeof *plain_kinds; i++)
        status = cw_timeline_each(t, plain_kinds[i].kind, take_rows, r, err);
    if (status != CW_OK)
        return status;
    if (!sort(r->points, sizeof *r->points, r->point_count, point_is_after) ||
        !sort(r->rows, sizeof *r->rows, r->row_count, row_is_after))
        return cw_error_nomem(err);
    cw_lanes_source(places->lanes, &(struct cw_lane_source){(uint32_t)r->point_count, r, point_time, point_event});
    cw_lanes_source(places->lanes, &(struct cw_lane_source){(uint32_t)r->row_count, r, row_time, row_event});
    return CW_OK;
}

void cw_lane_rows_free(struct cw_lane_rows *r)
{
    free(r->points);
    free(r->rows);
    free(r->values);
    *r = (struct cw_lane_rows){0};
}
