/* The order of many items that are nearly in it already, by their indices: items are not moved until it is known. */
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
    struct cw_large *large; /* that has them, or NULL (base/large.h) */
};
enum { CW_ORDER_SIZE_MAX = 128 };

/* Brings `count` indices into order; equal items stay as they are. Takes as many steps an index as the logarithm of how
 * many runs they are in. `room` has space for as many. */
void cw_order_sort(const struct cw_order_items *items, uint32_t *order, uint32_t *room, uint32_t count,
                   cw_order_after *after);
/* Moves the items to where the order has them: order[i] is the index of the one that comes to i. Spoils `order`. */
void cw_order_apply(const struct cw_order_items *items, uint32_t *order);

#endif
