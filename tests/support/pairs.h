/* Attributes of a capture that is made of another. */
#ifndef TESTS_SUPPORT_PAIRS_H
#define TESTS_SUPPORT_PAIRS_H

#include <string.h>

#include "image/counter_data.h"

/* Copies pairs, but that of the key of `own`, and adds `own`. Returns how many they are, at most `most`; `to` has room for
 * these, and may be `from`. */
static inline uint32_t replace_pair(struct cw_pair *to, uint32_t most, const struct cw_pair *from, uint32_t count,
                                    struct cw_pair own)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count && kept < most - 1; i++)
        if (strcmp(from[i].key, own.key) != 0)
            to[kept++] = from[i];
    to[kept++] = own;
    return kept;
}

#endif
