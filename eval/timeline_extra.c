#include "eval/timeline_extra.h"

#include <stdlib.h>
#include <string.h>

#include "eval/keys.h"

struct allocation {
    uint64_t bytes; /* 0: freed */
    uint32_t use;
};

struct finding {
    const struct cw_timeline *t;
    struct cw_keys uses, addresses, devices; /* process, device, memory; process, address; device */
    struct cw_memory_use *memory;
    struct allocation *allocations;
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

static struct cw_memory_use *find_use(struct finding *f, const struct cw_trace_rows *rows, uint32_t i, uint32_t *index)
{
    const uint32_t device = cw_trace_device(f->t->trace, rows->process, cw_trace_get(rows, CW_FIELD_DEVICE, i));
    const uint32_t memory = cw_timeline_name(f->t, rows->process, cw_trace_get(rows, CW_FIELD_MEMORY, i));
    const uint32_t before = f->uses.count;
    if (!make_room(&f->memory, sizeof *f->memory, before))
        return NULL;
    *index = cw_keys_add(&f->uses, (struct cw_key){{rows->process, device, memory, 0}});
    if (*index == CW_NO_KEY)
        return NULL;
    if (*index == before)
        f->memory[*index] = (struct cw_memory_use){.process = rows->process, .device = device, .memory = memory};
    return &f->memory[*index];
}

/* What is freed was allocated by another row, which alone may say how much it is and of what; else the row may, of what
 * was allocated before the trace. */
static void free_memory(struct finding *f, struct allocation *a, struct cw_memory_use *otherwise, uint64_t bytes)
{
    struct cw_memory_use *use = a->bytes ? &f->memory[a->use] : otherwise;
    use->frees++;
    use->now -= (double)(a->bytes ? a->bytes : bytes == CW_TRACE_UNKNOWN ? 0 : bytes);
    use->now = use->now < 0 ? 0 : use->now;
    a->bytes = 0;
}

static bool take_row(struct finding *f, const struct cw_trace_rows *rows, uint32_t i)
{
    const char *type = cw_trace_text(f->t->trace, rows->process, cw_trace_get(rows, CW_FIELD_TYPE, i));
    const uint64_t bytes = cw_trace_get(rows, CW_FIELD_BYTES, i), address = cw_trace_get(rows, CW_FIELD_ADDRESS, i);
    uint32_t index;
    struct cw_memory_use *use = find_use(f, rows, i, &index);
    if (!use || !make_room(&f->allocations, sizeof *f->allocations, f->addresses.count))
        return false;
    const uint32_t at = cw_keys_add(&f->addresses, (struct cw_key){{rows->process, address, 0, 0}});
    if (at == CW_NO_KEY)
        return false;
    if (strcmp(type, "allocate") != 0)
        free_memory(f, &f->allocations[at], use, bytes);
    else
        use->allocations++;
    if (strcmp(type, "allocate") != 0 || bytes == CW_TRACE_UNKNOWN)
        return true;
    f->allocations[at] = (struct allocation){bytes, index};
    use->now += (double)bytes;
    if (use->now > use->most) {
        use->most = use->now;
        use->most_at = cw_trace_get(rows, CW_FIELD_TIME, i);
    }
    return true;
}

static enum cw_status take_memory(void *finding, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    (void)block;
    for (uint32_t i = 0; i < rows->count; i++)
        if (!take_row(finding, rows, i))
            return cw_error_nomem(err);
    return CW_OK;
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
    enum cw_status status = cw_timeline_each(t, CW_TRACE_ALLOCATION, take_memory, &f, err);
    if (status == CW_OK)
        status = cw_timeline_each(t, CW_TRACE_ENVIRONMENT, take_environment, &f, err);
    if (status == CW_OK) {
        extra->memory_count = f.uses.count;
        extra->environment_count = f.devices.count;
        extra->memory = keep(f.memory, f.uses.count, sizeof *f.memory, arena);
        extra->environment = keep(f.environment, f.devices.count, sizeof *f.environment, arena);
        if (!extra->memory || !extra->environment)
            status = cw_error_nomem(err);
        else if (extra->memory_count)
            qsort(extra->memory, extra->memory_count, sizeof *extra->memory, by_most);
    }
    cw_keys_free(&f.uses);
    cw_keys_free(&f.addresses);
    cw_keys_free(&f.devices);
    free(f.memory);
    free(f.allocations);
    free(f.environment);
    return status;
}
