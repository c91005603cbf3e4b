/* Groups are light if sets of them fit with one more than the rule says. Any other group in such a set is one too many:
 * so the others have a group in common besides their own, a helper, and the rule one group more. */
#include "import/mend_light.h"

#include <string.h>

#include "import/mend_sets.h"

enum {
    TRIES = 6000,
    SETS = 1200, /* with one group too many */
    ROUNDS = 3,  /* each draws from what the one before it found light */
    FEWEST = 30, /* sets of light groups that have to be met, */
    UNFIT = 15,  /* of which one in so many may not fit */
    MOST_MEMBERS = 32,
};

struct judged { /* a set with one group too many */
    bool fits;
    uint32_t count, groups[MOST_MEMBERS];
};

struct lightening {
    struct cw_mend *m;
    uint32_t rule, group_count;
    bool *light; /* by group */
    struct judged *sets;
    uint32_t count, *bad, *all; /* by group: of the sets */
};

static bool is_light(const struct lightening *w, const struct judged *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (!w->light[set->groups[i]])
            return false;
    return true;
}

/* Draws sets with one group too many, all of them light. */
static void draw_sets(struct lightening *w)
{
    struct cw_mend *m = w->m;
    const struct cw_limit l = m->limits[w->rule].limit;
    uint32_t *pool = cw_ask_array(&m->ask, l.count, sizeof *pool), n = 0;
    for (uint32_t k = 0; pool && k < l.count; k++)
        if (w->light[l.groups[k]])
            pool[n++] = l.members[k];
    w->count = 0;
    for (uint32_t t = 0; n && t < TRIES && w->count < SETS && cw_ask_ok(&m->ask); t++) {
        struct cw_mend_set set = {.count = 0};
        struct judged *judged = &w->sets[w->count];
        if (!cw_mend_fill(m, &set, w->rule, &(struct cw_list){n, pool}, l.max + 1))
            continue;
        judged->fits = cw_ask_fits(&m->ask, m->chip, set.items, set.count);
        judged->count = 0;
        for (uint32_t i = 0; i < set.count && i < MOST_MEMBERS; i++)
            judged->groups[judged->count++] = cw_mend_group(m, w->rule, set.items[i]);
        w->count++;
    }
}

/* Takes out the group that the largest share of sets does not fit with, until nearly all do. What no set has is not
 * known to be light. Returns how many sets of light groups there are. */
static uint32_t drop_heavy(struct lightening *w)
{
    for (;;) {
        uint32_t met = 0, unfit = 0, worst = CW_NONE;
        memset(w->bad, 0, w->group_count * sizeof *w->bad);
        memset(w->all, 0, w->group_count * sizeof *w->all);
        for (uint32_t k = 0; k < w->count; k++) {
            if (!is_light(w, &w->sets[k]))
                continue;
            met++;
            unfit += !w->sets[k].fits;
            for (uint32_t i = 0; i < w->sets[k].count; i++) {
                w->all[w->sets[k].groups[i]]++;
                w->bad[w->sets[k].groups[i]] += !w->sets[k].fits;
            }
        }
        for (uint32_t g = 0; g < w->group_count; g++) {
            w->light[g] &= w->all[g] != 0;
            if (w->light[g] &&
                (worst == CW_NONE || (uint64_t)w->bad[g] * w->all[worst] > (uint64_t)w->bad[worst] * w->all[g]))
                worst = g;
        }
        if (worst == CW_NONE || unfit * UNFIT <= met)
            return met;
        w->light[worst] = false;
    }
}

static bool stands_twice(const struct cw_limit *l)
{
    for (uint32_t k = 1; k < l->count; k++)
        for (uint32_t i = 0; i < k; i++)
            if (l->members[i] == l->members[k])
                return true;
    return false;
}

static void add_helped(struct lightening *w)
{
    struct cw_mend *m = w->m;
    const struct cw_limit l = m->limits[w->rule].limit;
    struct cw_mend_limit *copy = cw_mend_add_copy(m, w->rule);
    uint32_t *members = cw_ask_array(&m->ask, 2 * (size_t)l.count, sizeof *members),
             *groups = cw_ask_array(&m->ask, 2 * (size_t)l.count, sizeof *groups), n = l.count;
    if (!copy || !cw_ask_ok(&m->ask))
        return;
    memcpy(members, l.members, n * sizeof *members);
    memcpy(groups, l.groups, n * sizeof *groups);
    for (uint32_t k = 0; k < l.count; k++)
        if (!w->light[l.groups[k]]) {
            members[n] = l.members[k];
            groups[n++] = w->group_count;
        }
    copy->limit = (struct cw_limit){.max = l.max + 1, .count = n, .members = members, .groups = groups};
}

bool cw_mend_lighten(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
{
    struct lightening w = {.m = m, .rule = rule, .group_count = cw_mend_group_count(&m->limits[rule].limit)};
    uint32_t max = m->limits[rule].limit.max, met = 0;
    if (max + 1 > MOST_MEMBERS || stands_twice(&m->limits[rule].limit))
        return false;
    w.light = cw_ask_array(&m->ask, w.group_count, sizeof *w.light);
    w.sets = cw_ask_array(&m->ask, SETS, sizeof *w.sets);
    w.bad = cw_ask_array(&m->ask, w.group_count, sizeof *w.bad);
    w.all = cw_ask_array(&m->ask, w.group_count, sizeof *w.all);
    if (!cw_ask_ok(&m->ask))
        return false;
    memset(w.light, true, w.group_count * sizeof *w.light);
    for (int round = 0; round < ROUNDS && cw_ask_ok(&m->ask); round++) {
        draw_sets(&w);
        met = drop_heavy(&w);
    }
    bool of_light = met >= FEWEST;
    for (uint32_t i = 0; i < count && of_light; i++) {
        uint32_t g = cw_mend_group(m, rule, set[i]);
        of_light = g == CW_NONE || w.light[g];
    }
    if (of_light)
        add_helped(&w);
    return of_light && cw_ask_ok(&m->ask);
}
