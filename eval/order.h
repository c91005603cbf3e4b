/* Sorting of many items that are nearly in order, by their indices: items move only when the order is known. */
#ifndef CW_EVAL_ORDER_H
#define CW_EVAL_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/large.h"

/* Whether b must stand before a. */
typedef bool cw_order_after(const void *a, const void *b);

struct cw_order_items {
    void *items;
    size_t size; /* of one: at most CW_ORDER_SIZE_MAX */
    uint32_t count;
    struct cw_large *large; /* which holds them (base/large.h), or NULL */
};
enum { CW_ORDER_SIZE_MAX = 128 };

/* Brings `count` indices into order; equal items keep theirs. The steps for each index are the logarithm of the number
 * of ordered runs. `room` has space for `count` indices. */
void cw_order_sort(const struct cw_order_items *items, uint32_t *order, uint32_t *room, uint32_t count,
                   cw_order_after *after);
/* Moves the items into this order: order[i] is the index of the item that comes to place i. Spoils `order`. */
void cw_order_apply(const struct cw_order_items *items, uint32_t *order);

#endif
