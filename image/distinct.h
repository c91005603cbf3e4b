/* Collects the distinct numbers of a column, as long as there are few. */
#ifndef CW_IMAGE_DISTINCT_H
#define CW_IMAGE_DISTINCT_H

#include <stddef.h>
#include <stdint.h>

enum { CW_DISTINCT_MAX = 256 };

struct cw_distinct {
    uint32_t count; /* CW_DISTINCT_MAX + 1: too many */
    size_t bytes;   /* size of the values as varints */
    uint64_t values[CW_DISTINCT_MAX];
    int16_t slots[2 * CW_DISTINCT_MAX]; /* -1 empty */
};
void cw_distinct_begin(struct cw_distinct *distinct);
/* Returns the value's index, in the order of first use. Check `count` for too many values. */
uint32_t cw_distinct_of(struct cw_distinct *distinct, uint64_t value);

#endif
