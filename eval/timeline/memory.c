#include "eval/timeline/memory.h"

#include <stdlib.h>
#include <string.h>

#include "eval/keys.h"
#include "eval/order.h"

struct reading {
    const struct cw_timeline *t;
    struct cw_memory_changes *changes;
};

static enum cw_status take_memory(void *context, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    const struct reading *r = context;
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

/* What is in use behind each change. */
static bool add_up(struct cw_memory_changes *c)
{
    struct cw_keys uses = {0}, addresses = {0}; /* process, device, memory; process, address */
    double *now = calloc(c->count + 1, sizeof *now);
    size_t *allocated = calloc(c->count + 1, sizeof *allocated); /* [address]: the change + 1, 0 none */
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
    struct reading r = {t, c};
    *c = (struct cw_memory_changes){0};
    const enum cw_status status = cw_timeline_each(t, CW_TRACE_ALLOCATION, take_memory, &r, err);
    return status != CW_OK || (sort(c) && add_up(c)) ? status : cw_error_nomem(err);
}

void cw_memory_changes_free(struct cw_memory_changes *c)
{
    free(c->items);
    *c = (struct cw_memory_changes){0};
}
