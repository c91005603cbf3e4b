#include "eval/output/timeline_lanes.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "eval/order.h"
#include "eval/output/lane_places.h"
#include "eval/timeline/groups.h"
#include "eval/timeline/memory.h"

struct point {
    uint64_t time;
    double value;
    uint32_t lane;
};

struct row {
    uint64_t start, end;
    size_t values; /* of all fields of the kind */
    uint32_t lane, process;
    uint8_t kind;
    bool instant;
};

/* Counters of GPUs and of memory, and rows of the kinds beside GPU work, calls, waits and NVTX. Rows keep their fields.
 */
struct rows {
    struct cw_lane_places *places;
    struct point *points; /* of counters, by time */
    struct row *rows;     /* by start */
    uint64_t *values;     /* of their fields */
    size_t point_count, point_room, row_count, row_room, value_count, value_room;
    struct cw_lane_note notes[CW_TRACE_KIND_FIELDS_MAX];
};

/* Fields of a row that are counters of its device. */
struct environment_counter {
    enum cw_trace_field field;
    const char *name, *unit;
    double factor;
};
static const struct environment_counter environment[] = {
    {CW_FIELD_SM_CLOCK, "SM clock", "MHz", 1},
    {CW_FIELD_MEMORY_CLOCK, "memory clock", "MHz", 1},
    {CW_FIELD_POWER, "power", "W", 1e-3},
    {CW_FIELD_POWER_LIMIT, "power limit", "W", 1e-3},
    {CW_FIELD_TEMPERATURE, "temperature", "\u00b0C", 1},
    {CW_FIELD_FAN, "fan", "%", 1},
    {CW_FIELD_THROTTLE, "reasons to throttle", "bits", 1},
};

/* Kinds of rows that are drawn with their fields, and the names of their lanes. */
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

static void *more_room(void *items, size_t count, size_t *room, size_t size)
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

static bool add_point(struct rows *r, const struct point *point)
{
    struct point *points = more_room(r->points, r->point_count + 1, &r->point_room, sizeof *points);
    if (!points)
        return false;
    r->points = points;
    r->points[r->point_count++] = *point;
    return true;
}

static uint32_t device_of(const struct rows *r, const struct cw_trace_rows *rows, uint32_t i)
{
    return cw_trace_device(r->places->timeline->trace, rows->process, cw_trace_get(rows, CW_FIELD_DEVICE, i));
}

static enum cw_status take_environment(void *context, const struct cw_trace_rows *rows, size_t block,
                                       struct cw_error *err)
{
    struct rows *r = context;
    (void)block;
    for (uint32_t i = 0; i < rows->count; i++)
        for (size_t c = 0; c < sizeof environment / sizeof *environment; c++) {
            const struct environment_counter *of = &environment[c];
            const uint64_t value = cw_trace_get(rows, of->field, i), time = cw_trace_get(rows, CW_FIELD_TIME, i);
            if (!time || value == CW_TRACE_UNKNOWN)
                continue;
            const struct cw_key key = {{rows->process, device_of(r, rows, i), CW_PLACE_COUNTER, of->field}};
            const uint32_t lane = cw_lane_place(
                r->places, &key, &(struct cw_lane){.kind = CW_LANE_COUNTER, .name = of->name, .unit = of->unit}, NULL);
            if (!add_point(r, &(struct point){time, (double)value * of->factor, lane}))
                return cw_error_nomem(err);
        }
    return CW_OK;
}

static enum cw_status add_memory(struct rows *r, struct cw_error *err)
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
        if (!add_point(r, &(struct point){c->time, c->now, lane}))
            status = cw_error_nomem(err);
    }
    cw_memory_changes_free(&changes);
    return status;
}

static uint64_t point_time(const void *rows, uint32_t i)
{
    return ((const struct rows *)rows)->points[i].time;
}

static void point_event(void *rows, uint32_t i, struct cw_lane_event *e)
{
    struct rows *r = rows;
    const struct point *p = &r->points[i];
    if (p->lane == CW_NO_LANE)
        return;
    *e = (struct cw_lane_event){.lane = p->lane, .time = p->time, .value = p->value};
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static enum cw_status take_rows(void *context, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    struct rows *r = context;
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
    struct row *grown = more_room(r->rows, r->row_count + rows->count, &r->row_room, sizeof *grown);
    r->rows = grown ? grown : r->rows;
    const size_t values = r->value_count + (size_t)rows->count * info->field_count;
    uint64_t *all = more_room(r->values, values, &r->value_room, sizeof *all);
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
            (struct row){at, end ? end : t->end, r->value_count, lane, rows->process, kind, !start};
        for (uint32_t f = 0; f < info->field_count; f++)
            r->values[r->value_count++] = cw_trace_get(rows, info->fields[f], i);
    }
    return CW_OK;
}

static uint64_t row_time(const void *rows, uint32_t i)
{
    return ((const struct rows *)rows)->rows[i].start;
}

/* Makes a note of a field. False if it is unknown, or says no more than name and time. */
static bool note_field(struct cw_lane_note *note, const struct cw_timeline *t, const struct row *row,
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
    struct rows *r = rows;
    const struct cw_timeline *t = r->places->timeline;
    const struct row *row = &r->rows[i];
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
    const struct point *a = left, *b = right;
    return a->time > b->time;
}

static bool row_is_after(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
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

static enum cw_status add_rows(struct rows *r, struct cw_lane_places *places, struct cw_error *err)
{
    const struct cw_timeline *t = places->timeline;
    *r = (struct rows){.places = places};
    CW_TRY(cw_timeline_each(t, CW_TRACE_ENVIRONMENT, take_environment, r, err));
    CW_TRY(add_memory(r, err));
    for (size_t i = 0; i < sizeof plain_kinds / sizeof *plain_kinds; i++)
        CW_TRY(cw_timeline_each(t, plain_kinds[i].kind, take_rows, r, err));
    if (!sort(r->points, sizeof *r->points, r->point_count, point_is_after) ||
        !sort(r->rows, sizeof *r->rows, r->row_count, row_is_after))
        return cw_error_nomem(err);
    cw_lanes_source(places->lanes, (uint32_t)r->point_count, r, point_time, point_event);
    cw_lanes_source(places->lanes, (uint32_t)r->row_count, r, row_time, row_event);
    return CW_OK;
}

static void free_rows(struct rows *r)
{
    free(r->points);
    free(r->rows);
    free(r->values);
    *r = (struct rows){0};
}

enum { NOTES = 20, KERNEL_COLUMNS = 80, PATH_BYTES = 500, MEMORY = 24 };

struct work {
    const struct cw_timeline *t;
    struct cw_lane_places places;
    struct cw_arena *arena;
    /* texts, made once, NULL before: by name, shape and path */
    const char **kernels, **grids, **blocks, **clusters, **paths;
    struct cw_keys moves; /* copies and memsets: kind, direction or memory, from, to */
    const char **moved;   /* [key]: the name */
    size_t moved_room;
    /* GPU items that each call launched: launched[first[call]] up to launched[first[call + 1]] */
    uint32_t *first, *launched;
    struct cw_lane_note notes[NOTES];
    uint64_t *flows, one_flow;
    size_t flow_room, note_count;
    bool nomem;
};

/* The events of one lane. */
struct list {
    struct work *w;
    uint32_t first, lane, started; /* started: of NVTX ranges that are not bound to their thread */
};

static const char *text(struct work *w, const char *made)
{
    w->nomem = w->nomem || !made;
    return made ? made : "";
}

static void note_number(struct work *w, const char *name, uint64_t number)
{
    w->notes[w->note_count++] = (struct cw_lane_note){name, CW_NOTE_NUMBER, {.number = number}};
}

static void note_text(struct work *w, const char *name, const char *value)
{
    if (*value)
        w->notes[w->note_count++] = (struct cw_lane_note){name, CW_NOTE_TEXT, {.text = value}};
}

static void note_sizes(struct work *w, const char *name, const char *sizes)
{
    if (*sizes)
        w->notes[w->note_count++] = (struct cw_lane_note){name, CW_NOTE_SIZES, {.text = sizes}};
}

static void take_notes(struct work *w, struct cw_lane_event *e)
{
    e->notes = w->notes;
    e->note_count = w->note_count;
}

static const char *name_of(const struct work *w, uint32_t name)
{
    return w->t->names[name].text;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

static const char *kernel_name(struct work *w, uint32_t name)
{
    char line[CW_SHORT_SIZE];
    if (!w->kernels[name])
        w->kernels[name] =
            text(w, cw_arena_strdup(w->arena, cw_shorten(w->t->names[name].shown, KERNEL_COLUMNS, line)));
    return w->kernels[name];
}

/* "Device Static" of "device_static", cut to MEMORY bytes. */
static const char *memory_words(const char *word, char words[MEMORY])
{
    size_t i = 0;
    for (; word[i] && i + 1 < MEMORY; i++)
        words[i] = word[i] == '_' ? ' ' : (char)(!i || word[i - 1] == '_' ? toupper((unsigned char)word[i]) : word[i]);
    words[i] = 0;
    return words;
}

/* "Memcpy HtoD (Pinned -> Device)", "Memset (Device)"; "Memcpy (-> Device)" where the rest is unknown */
static const char *make_moved(struct work *w, const struct cw_timeline_gpu *g)
{
    char from[MEMORY], to[MEMORY];
    const char *name = name_of(w, g->name);
    if (g->kind == CW_TRACE_MEMSET)
        return *name ? cw_arena_printf(w->arena, "Memset (%s)", memory_words(name, from)) : "Memset";
    memory_words(name_of(w, g->from), from);
    memory_words(name_of(w, g->to), to);
    const char *way = *name ? cw_arena_printf(w->arena, " %s", name) : "";
    const char *ends =
        *from || *to ? cw_arena_printf(w->arena, " (%s%s->%s%s)", from, *from ? " " : "", *to ? " " : "", to) : "";
    return way && ends ? cw_arena_printf(w->arena, "Memcpy%s%s", way, ends) : NULL;
}

static const char *moved_name(struct work *w, const struct cw_timeline_gpu *g)
{
    const uint32_t count = w->moves.count;
    const uint32_t k = cw_keys_add(&w->moves, (struct cw_key){{g->kind, g->name, g->from, g->to}});
    const char **grown = k == count ? cw_grown(w->moved, &w->moved_room, k, sizeof *grown) : w->moved;
    w->moved = grown ? grown : w->moved;
    w->nomem = w->nomem || k == CW_NO_KEY || !grown;
    if (w->nomem) /* keys behind a failure may have no name */
        return "";
    if (k == count)
        w->moved[k] = text(w, make_moved(w, g));
    return w->moved[k];
}

/* Categories and names of notes are those of PyTorch's profiler, so that its readers understand them. */
static const char *category_of(enum cw_trace_kind kind)
{
    return kind == CW_TRACE_COPY      ? "gpu_memcpy"
           : kind == CW_TRACE_MEMSET  ? "gpu_memset"
           : kind == CW_TRACE_RUNTIME ? "cuda_runtime"
           : kind == CW_TRACE_DRIVER  ? "cuda_driver"
                                      : cw_trace_kinds[kind].name;
}

static const char *size_of(struct work *w, const char **made, uint32_t shape, const uint32_t size[3])
{
    if (!made[shape])
        made[shape] = text(
            w, size[0] ? cw_arena_printf(w->arena, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, size[0], size[1], size[2]) : "");
    return made[shape];
}

/* The NVTX ranges around an item, the innermost ones if they are many. */
static const char *path_of(struct work *w, uint32_t path)
{
    char line[PATH_BYTES + 8];
    size_t at = sizeof line - 1;
    if (!path)
        return "";
    if (w->paths[path])
        return w->paths[path];
    line[at] = 0;
    for (uint32_t p = path; p; p = w->t->paths[p].parent) {
        const char *name = name_of(w, w->t->paths[p].name);
        const size_t length = strlen(name);
        if (length + 4 > at) {
            memcpy(line + at - 3, "../", 3);
            at -= 3;
            break;
        }
        if (line[at])
            line[--at] = '/';
        memcpy(line + (at -= length), name, length);
    }
    return w->paths[path] = text(w, cw_arena_strdup(w->arena, line + at));
}

/* ---- work of GPUs ------------------------------------------------------------------------------------------------ */

static uint64_t gpu_time(const void *list, uint32_t i)
{
    const struct list *l = list;
    return l->w->t->gpu[l->first + i].start;
}

static void note_bytes_of(struct work *w, const char *name, uint64_t bytes)
{
    if (bytes != CW_TRACE_UNKNOWN)
        note_number(w, name, bytes);
}

static void note_shape(struct work *w, uint32_t number)
{
    const struct cw_timeline_shape *s = &w->t->shapes[number];
    note_sizes(w, "grid", size_of(w, w->grids, number, s->grid));
    note_sizes(w, "block", size_of(w, w->blocks, number, s->block));
    note_sizes(w, "cluster", size_of(w, w->clusters, number, s->cluster));
    if (s->registers != CW_TIMELINE_NONE)
        note_number(w, "registers per thread", s->registers);
    note_bytes_of(w, "static_shared_bytes", s->static_shared);
    note_bytes_of(w, "dynamic_shared_bytes", s->dynamic_shared);
    if (s->local_per_thread)
        note_bytes_of(w, "local_bytes_per_thread", s->local_per_thread);
}

static void note_bytes(struct work *w, const struct cw_timeline_gpu *g)
{
    if (g->bytes == CW_TRACE_UNKNOWN)
        return;
    note_number(w, "bytes", g->bytes);
    if (g->end > g->start)
        w->notes[w->note_count++] = (struct cw_lane_note){
            "memory bandwidth (GB/s)", CW_NOTE_REAL, {.real = (double)g->bytes / (double)(g->end - g->start)}};
}

static void describe_gpu(struct work *w, const struct cw_timeline_gpu *g, struct cw_lane_event *e)
{
    e->category = category_of(g->kind);
    if (g->kind == CW_TRACE_KERNEL) {
        const char *whole = w->t->names[g->name].shown;
        e->name = kernel_name(w, g->name);
        e->whole = strcmp(e->name, whole) != 0 ? whole : NULL;
        if (g->shape != CW_TIMELINE_NONE)
            note_shape(w, g->shape);
    } else if (g->kind == CW_TRACE_COPY || g->kind == CW_TRACE_MEMSET) {
        e->name = moved_name(w, g);
        note_bytes(w, g);
    } else {
        e->name = "graph";
    }
}

/* Whether the arrow between a call and its GPU item begins at the call. It has the number of the item, from 1 on. */
static bool begins_at_call(const struct work *w, uint32_t gpu)
{
    const struct cw_timeline_gpu *g = &w->t->gpu[gpu];
    return w->t->calls[g->call].start <= g->start;
}

static void note_stream(struct work *w, const struct cw_timeline_stream *s)
{
    if (s->device != CW_NO_TRACE_DEVICE)
        note_number(w, "device", w->t->data->devices[s->device].index);
    if (s->context != CW_TRACE_UNKNOWN)
        note_number(w, "context", s->context);
    if (s->stream != CW_TRACE_UNKNOWN)
        note_number(w, "stream", s->stream);
}

static void gpu_event(void *list, uint32_t i, struct cw_lane_event *e)
{
    const struct list *l = list;
    struct work *w = l->w;
    cw_timeline_step(w->t);
    const struct cw_timeline_gpu *g = &w->t->gpu[l->first + i];
    w->note_count = 0;
    *e = (struct cw_lane_event){.lane = l->lane, .time = g->start, .end = g->end};
    describe_gpu(w, g, e);
    note_stream(w, &w->t->streams[g->stream]);
    if (g->correlation != CW_TIMELINE_NONE)
        note_number(w, "correlation", g->correlation);
    if (g->in_graph)
        note_text(w, "of", "a graph");
    note_text(w, "nvtx", path_of(w, g->path));
    take_notes(w, e);
    if (g->call != CW_TIMELINE_NONE) {
        w->one_flow = (uint64_t)l->first + i + 1;
        e->flows = &w->one_flow;
        e->flow_count = 1;
        e->flow_starts = !begins_at_call(w, l->first + i);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static uint64_t call_time(const void *list, uint32_t i)
{
    const struct list *l = list;
    return l->w->t->calls[l->first + i].start;
}

static void add_flows(struct work *w, uint32_t call, struct cw_lane_event *e)
{
    const uint32_t first = w->first[call], count = w->first[call + 1] - first;
    if (count > w->flow_room) {
        uint64_t *more = realloc(w->flows, 2 * (size_t)count * sizeof *more);
        w->nomem = w->nomem || !more;
        if (!more)
            return;
        w->flows = more;
        w->flow_room = 2 * (size_t)count;
    }
    for (int ends = 0; ends < 2; ends++) {
        for (uint32_t i = first; i < first + count; i++)
            if (begins_at_call(w, w->launched[i]) != ends)
                w->flows[e->flow_count++] = (uint64_t)w->launched[i] + 1;
        e->flow_starts = ends ? e->flow_starts : e->flow_count;
    }
    e->flows = w->flows;
}

static void call_event(void *list, uint32_t i, struct cw_lane_event *e)
{
    const struct list *l = list;
    struct work *w = l->w;
    cw_timeline_step(w->t);
    const struct cw_timeline_call *c = &w->t->calls[l->first + i];
    w->note_count = 0;
    *e = (struct cw_lane_event){.lane = l->lane,
                                .time = c->start,
                                .end = c->end,
                                .category = category_of(c->kind),
                                .name = w->t->names[c->name].shown};
    if (c->correlation != CW_TIMELINE_NONE)
        note_number(w, "correlation", c->correlation);
    if (c->result)
        note_number(w, "result", c->result);
    take_notes(w, e);
    add_flows(w, l->first + i, e);
}

/* ---- NVTX ------------------------------------------------------------------------------------------------------- */

static uint64_t range_time(const void *list, uint32_t i)
{
    const struct list *l = list;
    return l->w->t->ranges[l->first + i].start;
}

static void note_nvtx(struct work *w, uint32_t domain, uint32_t color)
{
    if (domain)
        note_text(w, "domain", name_of(w, domain));
    if (color)
        note_number(w, "color", color);
}

static void range_event(void *list, uint32_t i, struct cw_lane_event *e)
{
    const struct list *l = list;
    struct work *w = l->w;
    cw_timeline_step(w->t);
    const struct cw_timeline_range *r = &w->t->ranges[l->first + i];
    w->note_count = 0;
    *e = (struct cw_lane_event){.lane = r->pushed ? l->lane : l->started,
                                .time = r->start,
                                .end = r->end,
                                .category = "user_annotation",
                                .name = name_of(w, r->name)};
    note_nvtx(w, r->domain, r->color);
    note_number(w, "thread", w->t->threads[r->thread].thread); /* its lane is another one */
    if (r->payload)
        note_text(w, "payload", cw_trace_text(w->t->trace, w->t->threads[r->thread].process, r->payload));
    if (r->open)
        note_text(w, "end", "it was still open when the trace ended");
    take_notes(w, e);
}

static uint64_t mark_time(const void *list, uint32_t i)
{
    const struct list *l = list;
    return l->w->t->marks[l->first + i].start;
}

static void mark_event(void *list, uint32_t i, struct cw_lane_event *e)
{
    const struct list *l = list;
    struct work *w = l->w;
    cw_timeline_step(w->t);
    const struct cw_timeline_mark *m = &w->t->marks[l->first + i];
    w->note_count = 0;
    *e = (struct cw_lane_event){.lane = l->lane,
                                .time = m->start,
                                .end = m->start,
                                .instant = true,
                                .category = "nvtx",
                                .name = name_of(w, m->name)};
    note_nvtx(w, m->domain, m->color);
    take_notes(w, e);
}

/* ---- waits ------------------------------------------------------------------------------------------------------ */

static uint64_t wait_time(const void *list, uint32_t i)
{
    return ((const struct list *)list)->w->t->waits[i].start;
}

static uint32_t wait_lane(struct work *w, const struct cw_timeline_wait *s)
{
    const struct cw_key key = {{s->process, CW_NO_TRACE_DEVICE, CW_PLACE_KIND, s->kind}};
    return cw_lane_place(&w->places, &key,
                         &(struct cw_lane){.kind = CW_LANE_EVENTS, .name = cw_trace_kinds[s->kind].name}, NULL);
}

static void wait_event(void *list, uint32_t i, struct cw_lane_event *e)
{
    struct work *w = ((struct list *)list)->w;
    const struct cw_timeline_wait *s = &w->t->waits[i];
    w->note_count = 0;
    *e = (struct cw_lane_event){.lane = wait_lane(w, s),
                                .time = s->start,
                                .end = s->end,
                                .category = cw_trace_kinds[s->kind].name,
                                .name = s->type ? name_of(w, s->type) : cw_trace_kinds[s->kind].name};
    if (s->correlation != CW_TIMELINE_NONE)
        note_number(w, "correlation", s->correlation);
    if (s->thread != CW_TIMELINE_NONE && w->t->threads[s->thread].thread != CW_TRACE_UNKNOWN)
        note_number(w, "thread", w->t->threads[s->thread].thread);
    if (s->stream != CW_TIMELINE_NONE) /* analyses take an event with a "stream" for work of the GPU */
        note_number(w, "on_stream", w->t->streams[s->stream].stream);
    if (s->event != CW_TRACE_UNKNOWN)
        note_number(w, "event", s->event);
    take_notes(w, e);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

typedef uint64_t time_of(const void *list, uint32_t i);
typedef void event_of(void *list, uint32_t i, struct cw_lane_event *e);

static void add_list(struct work *w, const struct cw_timeline_list *of, const struct list *list, time_of *time,
                     event_of *event)
{
    struct list *kept = of->count ? cw_arena_alloc(w->arena, 1, sizeof *kept) : NULL;
    if (!of->count)
        return;
    w->nomem = w->nomem || !kept;
    if (!kept)
        return;
    *kept = *list;
    kept->w = w;
    kept->first = of->first;
    cw_lanes_source(w->places.lanes, of->count, kept, time, event);
}

static void add_thread(struct work *w, const struct cw_timeline_thread *th)
{
    const bool known = th->thread < CW_LANES_FREE;
    const char *given = name_of(w, th->name);
    char number[24] = "";
    if (th->thread != CW_TRACE_UNKNOWN && !known) /* viewers show known numbers themselves */
        snprintf(number, sizeof number, " %" PRIu64, th->thread);
    const char *name = *given ? given : text(w, cw_arena_printf(w->arena, "thread%s", number));
    const uint32_t process = w->places.processes[th->process];
    struct list list = {.w = w};
    uint32_t calls = cw_lanes_add(w->places.lanes, &(struct cw_lane){.kind = known ? CW_LANE_THREAD : CW_LANE_EVENTS,
                                                                     .parent = process,
                                                                     .pid = w->places.pids[th->process],
                                                                     .calls = true,
                                                                     .thread = th->thread,
                                                                     .name = name});
    struct cw_lane nvtx = {.kind = CW_LANE_EVENTS, .parent = calls, .name = "NVTX"};
    if (th->ranges.count || th->marks.count) {
        list.lane = cw_lanes_add(w->places.lanes, &nvtx);
        const struct cw_key key = {{th->process, CW_NO_TRACE_DEVICE, CW_PLACE_KIND, CW_TRACE_NVTX_RANGE}};
        for (uint32_t i = 0; i < th->ranges.count && !list.started; i++)
            if (!w->t->ranges[th->ranges.first + i].pushed)
                list.started =
                    cw_lane_place(&w->places, &key,
                                  &(struct cw_lane){.kind = CW_LANE_EVENTS, .name = "NVTX, started and ended"}, NULL);
    }
    add_list(w, &th->ranges, &list, range_time, range_event);
    add_list(w, &th->marks, &list, mark_time, mark_event);
    list.lane = calls;
    add_list(w, &th->calls, &list, call_time, call_event);
}

static void add_stream(struct work *w, const struct cw_timeline_stream *s, uint32_t number)
{
    const char *given = name_of(w, s->name);
    char which[24] = "", context[CW_TIMELINE_CONTEXT_SIZE];
    if (s->stream != CW_TRACE_UNKNOWN)
        snprintf(which, sizeof which, " %" PRIu64, s->stream);
    const char *name =
        text(w, cw_arena_printf(w->arena, "%s stream%s%s%s%s", cw_lane_device_name(&w->places, s->device), which,
                                cw_timeline_context(s, context), *given ? " " : "", given));
    const struct cw_key key = {{s->process, s->device, CW_PLACE_STREAM, number}};
    const struct list list = {
        .w = w,
        .lane = cw_lane_place(&w->places, &key, &(struct cw_lane){.kind = CW_LANE_EVENTS, .flat = true, .name = name},
                              NULL)};
    add_list(w, &s->gpu, &list, gpu_time, gpu_event);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static void *room_for(struct work *w, size_t count, size_t size)
{
    void *room = cw_arena_alloc(w->arena, count, size);
    w->nomem = w->nomem || !room;
    return room;
}

static void make_room(struct work *w)
{
    const struct cw_timeline *t = w->t;
    w->kernels = room_for(w, t->name_count, sizeof *w->kernels);
    w->grids = room_for(w, t->shape_count, sizeof *w->grids);
    w->blocks = room_for(w, t->shape_count, sizeof *w->blocks);
    w->clusters = room_for(w, t->shape_count, sizeof *w->clusters);
    w->paths = room_for(w, t->path_count, sizeof *w->paths);
    w->first = cw_large_alloc(t->large, (size_t)t->call_count + 1, sizeof *w->first);
    w->launched = cw_large_alloc(t->large, (size_t)t->gpu_count + 1, sizeof *w->launched);
    w->nomem = w->nomem || !w->first || !w->launched;
}

/* While `launched` is being filled, first[call + 1] is the place of the call's next item. */
static void find_launched(struct work *w)
{
    const struct cw_timeline *t = w->t;
    uint32_t sum = 0;
    w->first[0] = 0;
    for (uint32_t i = 0; i < t->call_count; i++, cw_timeline_step(t)) {
        w->first[i + 1] = sum;
        sum += t->calls[i].launched;
    }
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t))
        if (t->gpu[i].call != CW_TIMELINE_NONE)
            w->launched[w->first[t->gpu[i].call + 1]++] = i;
}

static void add_all(struct work *w)
{
    const struct cw_timeline *t = w->t;
    for (uint32_t i = 0; i < t->thread_count; i++)
        add_thread(w, &t->threads[i]);
    for (uint32_t i = 0; i < t->stream_count; i++)
        add_stream(w, &t->streams[i], i);
    for (uint32_t i = 0; i < t->wait_count; i++, cw_timeline_step(t))
        wait_lane(w, &t->waits[i]);
    add_list(w, &(struct cw_timeline_list){0, t->wait_count}, &(struct list){.w = w}, wait_time, wait_event);
}

enum cw_status cw_timeline_write_lanes(const struct cw_timeline *timeline, cw_lanes_more *more, void *context,
                                       const struct cw_lane_format *format, void *state, uint64_t *crowded,
                                       struct cw_arena *arena, struct cw_error *err)
{
    struct work w = {.t = timeline, .arena = arena};
    struct rows rows = {0};
    struct cw_lanes *lanes = cw_lanes_create(arena);
    if (!lanes)
        return cw_error_nomem(err);
    cw_lane_places_begin(&w.places, timeline, lanes, arena);
    w.nomem = w.places.nomem;
    make_room(&w);
    enum cw_status status = CW_OK;
    if (!w.nomem) {
        find_launched(&w);
        add_all(&w);
        status = add_rows(&rows, &w.places, err);
        if (status == CW_OK && more)
            status = more(context, &w.places, err);
    }
    if (status == CW_OK && !w.nomem && !w.places.nomem)
        status = cw_lanes_write(lanes, format, state, crowded, err);
    if (status == CW_OK && (w.nomem || w.places.nomem))
        status = cw_error_nomem(err);
    free_rows(&rows);
    cw_lane_places_free(&w.places);
    cw_lanes_free(lanes);
    cw_large_free(timeline->large, w.first);
    cw_large_free(timeline->large, w.launched);
    cw_keys_free(&w.moves);
    free(w.moved);
    free(w.flows);
    return status;
}
