#include "eval/timeline/memory.h"

#include <stdlib.h>
#include <string.h>

#include "eval/keys.h"
#include "eval/order.h"

struct memory_reading {
    const struct cw_timeline *t;
    struct cw_memory_changes *changes;
};

static enum cw_status take_memory(void *context, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    const struct memory_reading *r = context;
    struct cw_memory_changes *c = r->changes;
    (void)block;
    if (c->count + rows->count > c->room) {
        const size_t room = 2 * (c->count + rows->count);
        struct cw_memory_change *items = realloc(c->items, room * sizeof *items);
        if (!items)
            return cw_error_nomem(err);
        c->items = items;
        c->room = room;
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        const char *type = cw_trace_text(r->t->trace, rows->process, cw_trace_get(rows, CW_FIELD_TYPE, i));
        const struct cw_memory_change change = {
            .time = cw_trace_get(rows, CW_FIELD_TIME, i),
            .address = cw_trace_get(rows, CW_FIELD_ADDRESS, i),
            .bytes = cw_trace_get(rows, CW_FIELD_BYTES, i),
            .process = rows->process,
            .device = cw_trace_device(r->t->trace, rows->process, cw_trace_get(rows, CW_FIELD_DEVICE, i)),
            .memory = cw_timeline_name(r->t, rows->process, cw_trace_get(rows, CW_FIELD_MEMORY, i)),
            .freed = strcmp(type, "free") == 0,
        };
        if (change.time && (change.freed || strcmp(type, "allocate") == 0))
            c->items[c->count++] = change;
    }
    return CW_OK;
}

static bool is_after(const void *left, const void *right)
{
    const struct cw_memory_change *a = left, *b = right;
    return a->time > b->time;
}

static bool sort(struct cw_memory_changes *c)
{
    const struct cw_order_items items = {c->items, sizeof *c->items, (uint32_t)c->count};
    uint32_t *order = calloc(c->count + 1, sizeof *order), *room = calloc(c->count + 1, sizeof *room);
    const bool good = order && room && c->count < UINT32_MAX;
    for (uint32_t i = 0; good && i < items.count; i++)
        order[i] = i;
    if (good && items.count) {
        cw_order_sort(&items, order, room, items.count, is_after);
        cw_order_apply(&items, order);
    }
    free(order);
    free(room);
    return good;
}

/* Finds the bytes in use after each change. */
static bool add_up(struct cw_memory_changes *c)
{
    struct cw_keys uses = {0}, addresses = {0}; /* process, device, memory; process, address */
    double *now = calloc(c->count + 1, sizeof *now);
    size_t *allocated = calloc(c->count + 1, sizeof *allocated); /* [address]: 1 + its change, 0 none */
    bool good = now && allocated;
    for (size_t i = 0; good && i < c->count; i++) {
        struct cw_memory_change *change = &c->items[i];
        const uint32_t at = cw_keys_add(&addresses, (struct cw_key){{change->process, change->address, 0, 0}});
        if (at != CW_NO_KEY && change->freed && allocated[at]) {
            const struct cw_memory_change *before = &c->items[allocated[at] - 1];
            change->bytes = before->bytes;
            change->device = before->device;
            change->memory = before->memory;
        }
        change->use = cw_keys_add(&uses, (struct cw_key){{change->process, change->device, change->memory, 0}});
        if (!(good = at != CW_NO_KEY && change->use != CW_NO_KEY))
            break;
        allocated[at] = change->freed ? 0 : i + 1;
        double *of = &now[change->use];
        if (change->bytes != CW_TRACE_UNKNOWN)
            *of += change->freed ? -(double)change->bytes : (double)change->bytes;
        *of = *of < 0 ? 0 : *of;
        change->now = *of;
    }
    c->use_count = uses.count;
    cw_keys_free(&uses);
    cw_keys_free(&addresses);
    free(now);
    free(allocated);
    return good;
}

enum cw_status cw_timeline_find_memory(struct cw_memory_changes *c, const struct cw_timeline *t, struct cw_error *err)
{
    struct memory_reading r = {t, c};
    *c = (struct cw_memory_changes){0};
    const enum cw_status status = cw_timeline_each(t, CW_TRACE_ALLOCATION, take_memory, &r, err);
    return status != CW_OK || (sort(c) && add_up(c)) ? status : cw_error_nomem(err);
}

void cw_memory_changes_free(struct cw_memory_changes *c)
{
    free(c->items);
    *c = (struct cw_memory_changes){0};
}

struct finding {
    const struct cw_timeline *t;
    struct cw_keys devices, events;
    struct cw_environment *environment;
    struct cw_unified_use *unified; /* [event] */
};

/* Makes room for one more zeroed item behind `count`. False when out of memory. */
static bool make_room(void *list, size_t size, uint32_t count)
{
    void **items = list;
    if (count & (count - 1)) /* room doubles at each power of two */
        return true;
    void *grown = realloc(*items, (count ? 2 * (size_t)count : 1) * size);
    if (!grown)
        return false;
    *items = grown;
    memset((char *)grown + count * size, 0, (count ? count : 1) * size);
    return true;
}

/* ---- use of memory ----------------------------------------------------------------------------------------------- */

static enum cw_status find_memory(struct cw_timeline_extra *extra, const struct cw_timeline *t, struct cw_arena *arena,
                                  struct cw_error *err)
{
    struct cw_memory_changes changes;
    enum cw_status status = cw_timeline_find_memory(&changes, t, err);
    if (status == CW_OK && !(extra->memory = cw_arena_alloc(arena, changes.use_count, sizeof *extra->memory)))
        status = cw_error_nomem(err);
    for (size_t i = 0; i < changes.count && status == CW_OK; i++) {
        const struct cw_memory_change *c = &changes.items[i];
        struct cw_memory_use *use = &extra->memory[c->use];
        if (c->use == extra->memory_count) {
            *use = (struct cw_memory_use){.process = c->process, .device = c->device, .memory = c->memory};
            extra->memory_count++;
        }
        use->allocations += !c->freed;
        use->frees += c->freed;
        use->now = c->now;
        if (c->now > use->most) {
            use->most = c->now;
            use->most_at = c->time;
        }
    }
    cw_memory_changes_free(&changes);
    return status;
}

/* ---- unified memory ---------------------------------------------------------------------------------------------- */

static enum cw_status take_unified(void *finding, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    struct finding *f = finding;
    const struct cw_trace *trace = f->t->trace;
    (void)block;
    for (uint32_t i = 0; i < rows->count; i++) {
        const uint64_t start = cw_trace_get(rows, CW_FIELD_START, i), end = cw_trace_get(rows, CW_FIELD_END, i),
                       value = cw_trace_get(rows, CW_FIELD_VALUE, i);
        const struct cw_unified_use event = {
            .type = cw_timeline_name(f->t, rows->process, cw_trace_get(rows, CW_FIELD_TYPE, i)),
            .cause = cw_timeline_name(f->t, rows->process, cw_trace_get(rows, CW_FIELD_CAUSE, i)),
            .source = cw_trace_device(trace, rows->process, cw_trace_get(rows, CW_FIELD_SOURCE_DEVICE, i)),
            .target = cw_trace_device(trace, rows->process, cw_trace_get(rows, CW_FIELD_TARGET_DEVICE, i))};
        const struct cw_key key = {{event.type, event.cause, event.source, event.target}};
        const uint32_t before = f->events.count;
        const uint32_t at =
            make_room(&f->unified, sizeof *f->unified, before) ? cw_keys_add(&f->events, key) : CW_NO_KEY;
        if (at == CW_NO_KEY)
            return cw_error_nomem(err);
        struct cw_unified_use *use = &f->unified[at];
        if (at == before)
            *use = event;
        use->events++;
        use->value += value != CW_TRACE_UNKNOWN ? (double)value : 0;
        use->ns += start != CW_TRACE_UNKNOWN && end != CW_TRACE_UNKNOWN && end > start ? (double)(end - start) : 0;
    }
    return CW_OK;
}

/* ---- environment ------------------------------------------------------------------------------------------------- */

static void add_reading(struct cw_reading_range *range, uint64_t value, double scale)
{
    const double reading = (double)value / scale;
    if (value == CW_TRACE_UNKNOWN)
        return;
    range->least = !range->count || reading < range->least ? reading : range->least;
    range->greatest = !range->count || reading > range->greatest ? reading : range->greatest;
    range->sum += reading;
    range->count++;
}

static enum cw_status take_environment(void *finding, const struct cw_trace_rows *rows, size_t block,
                                       struct cw_error *err)
{
    struct finding *f = finding;
    (void)block;
    for (uint32_t i = 0; i < rows->count; i++) {
        const uint32_t device = cw_trace_device(f->t->trace, rows->process, cw_trace_get(rows, CW_FIELD_DEVICE, i));
        const uint32_t before = f->devices.count;
        const uint32_t at = make_room(&f->environment, sizeof *f->environment, before)
                                ? cw_keys_add(&f->devices, (struct cw_key){{device, 0, 0, 0}})
                                : CW_NO_KEY;
        if (at == CW_NO_KEY)
            return cw_error_nomem(err);
        struct cw_environment *e = &f->environment[at];
        const uint64_t throttle = cw_trace_get(rows, CW_FIELD_THROTTLE, i);
        e->device = device;
        e->readings++;
        e->throttled += throttle != CW_TRACE_UNKNOWN && throttle != 0;
        add_reading(&e->of[CW_READING_SM_CLOCK], cw_trace_get(rows, CW_FIELD_SM_CLOCK, i), 1);
        add_reading(&e->of[CW_READING_MEMORY_CLOCK], cw_trace_get(rows, CW_FIELD_MEMORY_CLOCK, i), 1);
        add_reading(&e->of[CW_READING_TEMPERATURE], cw_trace_get(rows, CW_FIELD_TEMPERATURE, i), 1);
        add_reading(&e->of[CW_READING_POWER], cw_trace_get(rows, CW_FIELD_POWER, i), 1000);
        add_reading(&e->of[CW_READING_FAN], cw_trace_get(rows, CW_FIELD_FAN, i), 1);
    }
    return CW_OK;
}

/* ---- all of them ----------------------------------------------------------------------------------------- */

static int by_most(const void *left, const void *right)
{
    const struct cw_memory_use *a = left, *b = right;
    return a->most != b->most ? (a->most < b->most) - (a->most > b->most)
                              : (a->process > b->process) - (a->process < b->process);
}

static int by_time(const void *left, const void *right)
{
    const struct cw_unified_use *a = left, *b = right;
    const uint32_t of_a[] = {a->type, a->cause, a->source, a->target},
                   of_b[] = {b->type, b->cause, b->source, b->target};
    return a->ns != b->ns           ? (a->ns < b->ns) - (a->ns > b->ns)
           : a->events != b->events ? (a->events < b->events) - (a->events > b->events)
                                    : memcmp(of_a, of_b, sizeof of_a); /* any order, but always the same */
}

static void *keep(const void *items, size_t count, size_t size, struct cw_arena *arena)
{
    void *kept = cw_arena_alloc(arena, count, size);
    if (kept && count)
        memcpy(kept, items, count * size);
    return kept;
}

enum cw_status cw_timeline_find_extra(struct cw_timeline_extra *extra, const struct cw_timeline *t,
                                      struct cw_arena *arena, struct cw_error *err)
{
    struct finding f = {.t = t};
    *extra = (struct cw_timeline_extra){0};
    enum cw_status status = find_memory(extra, t, arena, err);
    if (status == CW_OK)
        status = cw_timeline_each(t, CW_TRACE_ENVIRONMENT, take_environment, &f, err);
    if (status == CW_OK)
        status = cw_timeline_each(t, CW_TRACE_UNIFIED, take_unified, &f, err);
    if (status == CW_OK) {
        extra->environment_count = f.devices.count;
        extra->environment = keep(f.environment, f.devices.count, sizeof *f.environment, arena);
        extra->unified_count = f.events.count;
        extra->unified = keep(f.unified, f.events.count, sizeof *f.unified, arena);
        if (!extra->environment || !extra->unified)
            status = cw_error_nomem(err);
    }
    if (status == CW_OK && extra->memory_count)
        qsort(extra->memory, extra->memory_count, sizeof *extra->memory, by_most);
    if (status == CW_OK && extra->unified_count)
        qsort(extra->unified, extra->unified_count, sizeof *extra->unified, by_time);
    cw_keys_free(&f.devices);
    cw_keys_free(&f.events);
    free(f.environment);
    free(f.unified);
    return status;
}
