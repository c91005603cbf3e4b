/* Binary search by a caller who compares. For the first of things in order that does not come before a key:
 *
 *     struct cw_search s = {0, count};
 *     while (s.low < s.high)
 *         cw_search_narrow(&s, things[cw_search_middle(&s)] < key);
 *
 * It is s.low then: `count` where all of them come before it. Inline, as it is asked for often. */
#ifndef CW_BASE_SEARCH_H
#define CW_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

struct cw_search {
    size_t low, high; /* what is looked for is not before low and not behind high */
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

#endif
