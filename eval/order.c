#include "eval/order.h"

#include <string.h>

static const void *item(const struct cw_order_items *of, uint32_t index)
{
    return (const char *)of->items + of->size * index;
}

/* The end of the run that begins at `at`. */
static uint32_t run_end(const struct cw_order_items *of, const uint32_t *order, uint32_t at, uint32_t count,
                        cw_order_after *after)
{
    if (at < count)
        at++;
    for (; at < count && !after(item(of, order[at - 1]), item(of, order[at])); at++)
        cw_large_step(of->large);
    return at;
}

static void merge(const struct cw_order_items *of, const uint32_t *from, uint32_t a, uint32_t b, uint32_t end,
                  uint32_t *to, cw_order_after *after)
{
    const uint32_t middle = b;
    for (uint32_t at = a; at < end; at++) {
        const bool second = b < end && (a == middle || after(item(of, from[a]), item(of, from[b])));
        to[at] = second ? from[b++] : from[a++];
        cw_large_step(of->large);
    }
}

void cw_order_sort(const struct cw_order_items *of, uint32_t *order, uint32_t *room, uint32_t count,
                   cw_order_after *after)
{
    uint32_t *from = order, *to = room;
    while (run_end(of, from, 0, count, after) < count) {
        for (uint32_t at = 0, end; at < count; at = end) {
            const uint32_t middle = run_end(of, from, at, count, after);
            end = run_end(of, from, middle, count, after);
            merge(of, from, at, middle, end, to, after);
        }
        uint32_t *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != order)
        memcpy(order, from, count * sizeof *order);
}

void cw_order_apply(const struct cw_order_items *of, uint32_t *order)
{
    char held[CW_ORDER_SIZE_MAX];
    char *items = of->items;
    for (uint32_t i = 0; i < of->count; i++) {
        if (order[i] == i)
            continue;
        uint32_t at = i;
        memcpy(held, items + of->size * i, of->size);
        while (order[at] != i) { /* one cycle of the permutation */
            const uint32_t next = order[at];
            memcpy(items + of->size * at, items + of->size * next, of->size);
            cw_large_step(of->large);
            order[at] = at;
            at = next;
        }
        memcpy(items + of->size * at, held, of->size);
        order[at] = at;
    }
}
