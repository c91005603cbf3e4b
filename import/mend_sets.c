#include "import/mend_sets.h"

#include <string.h>

enum { DRAWS = 40 }; /* besides one for every other placement drawn from */

bool cw_mend_join(struct cw_mend *m, struct cw_mend_set *set, uint32_t more)
{
    const struct cw_chip_placement *p = m->chip->placements;
    if (!m->usable[more] || set->count == CW_MEND_SET)
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        if (p[set->items[i]].raw == p[more].raw)
            return false;
    set->items[set->count++] = more;
    if (cw_mend_broken(m, set->items, set->count, 0) == CW_NONE)
        return true;
    set->count--;
    return false;
}

bool cw_mend_fill(struct cw_mend *m, struct cw_mend_set *set, uint32_t limit, const struct cw_list *from,
                  uint32_t groups)
{
    uint32_t used = cw_mend_used(m, limit, set->items, set->count);
    for (uint32_t draws = 0; from->count && used < groups && draws < DRAWS + from->count / 2 && cw_ask_ok(&m->ask);
         draws++)
        if (cw_mend_join(m, set, from->items[cw_ask_random(&m->ask, from->count)]))
            used = cw_mend_used(m, limit, set->items, set->count);
    return used >= groups;
}

bool cw_mend_overfill(struct cw_mend *m, struct cw_mend_set *set, uint32_t limit)
{
    const struct cw_limit l = m->limits[limit].limit;
    return cw_mend_fill(m, set, limit, &(struct cw_list){l.count, l.members}, l.max + 1);
}

void cw_mend_minimize(struct cw_mend *m, struct cw_mend_set *set)
{
    for (uint32_t i = 0; i < set->count && cw_ask_ok(&m->ask);) {
        struct cw_mend_set fewer = *set;
        memmove(fewer.items + i, fewer.items + i + 1, (fewer.count - i - 1) * sizeof *fewer.items);
        fewer.count--;
        if (!cw_ask_fits(&m->ask, m->chip, fewer.items, fewer.count))
            *set = fewer;
        else
            i++;
    }
}
