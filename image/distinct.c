#include "image/distinct.h"

#include <string.h>

#include "base/varint.h"

void cw_distinct_begin(struct cw_distinct *x)
{
    x->count = 0;
    x->bytes = 0;
    memset(x->slots, -1, sizeof x->slots);
}

uint32_t cw_distinct_of(struct cw_distinct *x, uint64_t value)
{
    uint32_t slot = (uint32_t)(value * 0x9e3779b97f4a7c15u >> 55);
    while (x->slots[slot] >= 0 && x->values[x->slots[slot]] != value)
        slot = (slot + 1) % (2 * CW_DISTINCT_MAX);
    if (x->slots[slot] >= 0)
        return (uint32_t)x->slots[slot];
    if (x->count >= CW_DISTINCT_MAX) {
        x->count = CW_DISTINCT_MAX + 1;
        return 0;
    }
    x->values[x->count] = value;
    x->bytes += cw_varint_size(value);
    x->slots[slot] = (int16_t)x->count;
    return x->count++;
}
