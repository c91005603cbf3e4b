/* Binary search with the caller's own comparison. Finds the first of sorted things that does not come before a key:
 *
 *     struct cw_search s = {0, count};
 *     while (s.low < s.high)
 *         cw_search_narrow(&s, things[cw_search_middle(&s)] < key);
 *
 * The result is s.low: `count` if all things come before the key. Inline, as it is called often. */
#ifndef CW_BASE_SEARCH_H
#define CW_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cw_search {
    size_t low, high; /* the result lies between `low` and `high`, both included */
};

static inline size_t cw_search_middle(const struct cw_search *s)
{
    return s->low + (s->high - s->low) / 2;
}

/* `before`: the thing in the middle comes before the key. */
static inline void cw_search_narrow(struct cw_search *s, bool before)
{
    if (before)
        s->low = cw_search_middle(s) + 1;
    else
        s->high = cw_search_middle(s);
}

/* Comparisons of numbers, for qsort and the like. */
static inline int cw_compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline int cw_compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#endif
