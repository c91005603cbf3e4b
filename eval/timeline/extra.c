#include "eval/timeline/extra.h"

#include <stdlib.h>
#include <string.h>

#include "eval/keys.h"
#include "eval/timeline/memory.h"

struct finding {
    const struct cw_timeline *t;
    struct cw_keys devices;
    struct cw_environment *environment;
};

/* A list with room for one more than `count`, in which that is zeros. False when out of memory. */
static bool make_room(void *list, size_t size, uint32_t count)
{
    void **items = list;
    if (count & (count - 1)) /* it grows where it has a power of two */
        return true;
    void *grown = realloc(*items, (count ? 2 * (size_t)count : 1) * size);
    if (!grown)
        return false;
    *items = grown;
    memset((char *)grown + count * size, 0, (count ? count : 1) * size);
    return true;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

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

/* ---- environment ------------------------------------------------------------------------------------------------ */

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

/* ---- all -------------------------------------------------------------------------------------------------------- */

static int by_most(const void *left, const void *right)
{
    const struct cw_memory_use *a = left, *b = right;
    return a->most != b->most ? (a->most < b->most) - (a->most > b->most)
                              : (a->process > b->process) - (a->process < b->process);
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
    if (status == CW_OK) {
        extra->environment_count = f.devices.count;
        extra->environment = keep(f.environment, f.devices.count, sizeof *f.environment, arena);
        if (!extra->environment)
            status = cw_error_nomem(err);
        else if (extra->memory_count)
            qsort(extra->memory, extra->memory_count, sizeof *extra->memory, by_most);
    }
    cw_keys_free(&f.devices);
    free(f.environment);
    return status;
}
