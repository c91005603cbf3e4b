/* Finds relations between the groups of a rule: a place that two groups share, or a helper that some need. */
#include <string.h>

#include "import/mend_limits.h"

/* ---- groups that share a place ---------------------------------------------------------------------------------- */

/* Two groups share if sets that are full with either one take the other as well. Sharing is not transitive, so sharers
 * cannot simply become one group. A set fits if no part of it without sharers has more groups than the rule allows. So
 * each largest part of the rule without sharers becomes a rule. */
enum {
    MOST_GROUPS = 400,
    PAIR_SETS = 24,  /* full sets with a pair, all of which must fit */
    PAIR_MISSES = 8, /* failed draws before giving up */
    MOST_PARTS = 24,
    MOST_STEPS = 2000, /* steps of the search for parts */
    PROOFS = 60,       /* sets that only the parts allow; at most one in MOST_UNFIT may be unfit: */
    MOST_UNFIT = 20,
};

enum { APART = 0, SHARE, NEVER_MEET }; /* relation of two groups */
enum { KEPT = 0, OPEN, LEFT_OUT };     /* state of a group while parts are made */

struct sharing {
    struct cw_mend *m;
    uint32_t rule, count;    /* count: number of groups */
    struct cw_list *members; /* by group */
    uint8_t *relation;       /* [group * count + group] */
    uint32_t *into;          /* by group: itself, or the group that it was merged into */
    uint8_t *parts[MOST_PARTS];
    uint32_t part_count, steps;
};

static void list_members(struct sharing *s)
{
    const struct cw_limit *l = &s->m->limits[s->rule].limit;
    s->members = cw_ask_array(&s->m->ask, s->count, sizeof *s->members);
    s->relation = cw_ask_array(&s->m->ask, (size_t)s->count * s->count, 1);
    s->into = cw_ask_array(&s->m->ask, s->count, sizeof *s->into);
    for (uint32_t g = 0; g < s->count && cw_ask_ok(&s->m->ask); g++) {
        s->members[g] = cw_mend_members(s->m, l, g);
        s->into[g] = g;
    }
}

/* Whether a set that does not fit would fit without any one of its members. */
static bool is_smallest(struct cw_mend *m, const struct cw_ask_set *set)
{
    struct cw_ask_set smallest = *set;
    cw_ask_minimize(&m->ask, &smallest);
    return smallest.count == set->count;
}

static uint32_t draw_from(struct cw_mend *m, const struct cw_list *list)
{
    return list->items[cw_ask_random(&m->ask, list->count)];
}

static uint8_t ask_pair(struct sharing *s, uint32_t a, uint32_t b)
{
    struct cw_mend *m = s->m;
    uint32_t met = 0, misses = 0;
    if (!s->members[a].count || !s->members[b].count)
        return NEVER_MEET; /* a group without members */
    for (uint32_t t = 0; t < 2 * PAIR_SETS && met < PAIR_SETS && misses < PAIR_MISSES && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {.count = 0};
        if (!cw_mend_join(m, &set, draw_from(m, &s->members[a])) ||
            !cw_mend_join(m, &set, draw_from(m, &s->members[b])) || !cw_mend_overfill(m, &set, s->rule))
            misses++;
        else if (cw_ask_fits(&m->ask, set.items, set.count))
            met++;
        else if (is_smallest(m, &set)) /* otherwise something else interferes */
            return APART;
    }
    return met >= PAIR_SETS / 2 ? SHARE : met ? APART : NEVER_MEET;
}

static uint8_t *relation(struct sharing *s, uint32_t a, uint32_t b)
{
    return &s->relation[(size_t)a * s->count + b];
}

static void ask_pairs(struct sharing *s)
{
    for (uint32_t a = 0; a < s->count && cw_ask_ok(&s->m->ask); a++)
        for (uint32_t b = 0; b < a; b++)
            *relation(s, a, b) = *relation(s, b, a) = ask_pair(s, a, b);
}

/* Whether two sharing groups share with the same others. */
static bool are_one(struct sharing *s, uint32_t a, uint32_t b)
{
    bool one = *relation(s, a, b) == SHARE;
    for (uint32_t c = 0; c < s->count && one; c++) {
        uint8_t x = *relation(s, a, c), y = *relation(s, b, c);
        one = c == a || c == b || s->into[c] != c || x == y || x == NEVER_MEET || y == NEVER_MEET;
    }
    return one;
}

static void join_groups(struct sharing *s)
{
    for (uint32_t a = 0; a < s->count; a++)
        for (uint32_t b = 0; b < a && s->into[a] == a; b++) {
            if (s->into[b] != b || !are_one(s, a, b))
                continue;
            s->into[a] = b;
            for (uint32_t c = 0; c < s->count; c++)
                if (*relation(s, b, c) == NEVER_MEET)
                    *relation(s, b, c) = *relation(s, c, b) = *relation(s, a, c);
        }
}

/* Whether any two groups used by a set share. */
static bool any_share(struct sharing *s, const uint32_t *set, uint32_t count)
{
    struct cw_mend *m = s->m;
    for (uint32_t i = 0; i < count && cw_ask_ok(&m->ask); i++)
        for (uint32_t k = 0; k < i; k++) {
            uint32_t a = cw_mend_group(m, s->rule, set[i]), b = cw_mend_group(m, s->rule, set[k]);
            if (a != CW_NONE && b != CW_NONE && a != b && ask_pair(s, a, b) == SHARE)
                return true;
        }
    return false;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* Whether every group that was left out shares with a kept one. */
static bool is_largest(struct sharing *s, const uint8_t *state)
{
    bool largest = true;
    for (uint32_t a = 0; a < s->count && largest; a++) {
        largest = s->into[a] != a || state[a] == KEPT;
        for (uint32_t b = 0; b < s->count && !largest; b++)
            largest = state[b] == KEPT && *relation(s, a, b) == SHARE;
    }
    return largest;
}

/* Branches on the open group with most sharers: keeps it and leaves them out, or the other way round. False if there
 * are too many parts. */
static bool make_parts(struct sharing *s, const uint8_t *state)
{
    uint32_t at = CW_NONE, most = 0;
    uint8_t *next = cw_ask_array(&s->m->ask, s->count, 1);
    if (!next || s->steps++ == MOST_STEPS)
        return false;
    memcpy(next, state, s->count);
    for (uint32_t g = 0; g < s->count; g++) {
        uint32_t open = 0;
        for (uint32_t k = 0; k < s->count && state[g] == OPEN; k++)
            open += state[k] == OPEN && *relation(s, g, k) == SHARE;
        if (state[g] == OPEN && !open)
            next[g] = KEPT;
        if (open > most) {
            at = g;
            most = open;
        }
    }
    if (at == CW_NONE) {
        if (is_largest(s, next))
            s->parts[s->part_count++] = next;
        return s->part_count < MOST_PARTS;
    }
    next[at] = KEPT;
    for (uint32_t g = 0; g < s->count; g++)
        if (*relation(s, at, g) == SHARE)
            next[g] = LEFT_OUT;
    if (!make_parts(s, next))
        return false;
    memcpy(next, state, s->count);
    next[at] = LEFT_OUT;
    return make_parts(s, next);
}

static void add_part(struct sharing *s, const uint8_t *state)
{
    struct cw_mend_limit *copy = cw_mend_add_copy(s->m, s->rule);
    uint32_t kept = 0, groups = 0;
    if (!copy)
        return;
    uint32_t *members = (uint32_t *)copy->limit.members, *group = (uint32_t *)copy->limit.groups;
    for (uint32_t k = 0; k < copy->limit.count; k++)
        if (state[s->into[group[k]]] == KEPT) {
            members[kept] = members[k];
            group[kept++] = s->into[group[k]];
        }
    copy->limit.count = kept;
    for (uint32_t g = 0; g < s->count; g++)
        groups += state[g] == KEPT;
    copy->gone = groups <= copy->limit.max; /* cannot be exceeded */
}

/* Checks that sets which only the parts allow do fit. */
static bool prove(struct sharing *s)
{
    uint32_t met, fit = cw_mend_sample(s->m, s->rule, PROOFS, 4 * PROOFS, &met);
    return met >= PROOFS / 4 && (met - fit) * MOST_UNFIT <= met;
}

bool cw_mend_share(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
{
    struct sharing s = {.m = m, .rule = rule, .count = cw_mend_group_count(&m->limits[rule].limit)};
    if (s.count > MOST_GROUPS)
        return false;
    list_members(&s);
    if (!cw_ask_ok(&m->ask) || !any_share(&s, set, count))
        return false;
    ask_pairs(&s);
    join_groups(&s);
    uint8_t *state = cw_ask_array(&m->ask, s.count, 1);
    if (!state)
        return false;
    for (uint32_t g = 0; g < s.count; g++)
        state[g] = s.into[g] == g ? OPEN : LEFT_OUT;
    if (!make_parts(&s, state))
        return false;
    uint32_t first = m->count;
    for (uint32_t k = 0; k < s.part_count; k++)
        add_part(&s, s.parts[k]);
    cw_mend_refresh(m);
    if (cw_ask_ok(&m->ask) && prove(&s))
        return true;
    for (uint32_t i = first; i < m->count; i++)
        m->limits[i].gone = true;
    return false;
}

/* ---- groups that need a helper ---------------------------------------------------------------------------------- */

/* Groups are light if sets of them fit with one more than the rule allows. Any other group in such a set makes it
 * unfit: so the other groups have one group in common besides their own, a helper, and the rule allows one group
 * more. */
enum {
    LIGHT_TRIES = 6000,
    LIGHT_SETS = 1200, /* sets with one group too many */
    LIGHT_ROUNDS = 3,  /* rounds, each drawing from the light groups of the one before */
    LIGHT_FEWEST = 30, /* least number of sets of light groups, */
    LIGHT_UNFIT = 15,  /* of which at most one in this many may be unfit */
    LIGHT_MEMBERS = 32,
};

struct judged { /* a set with one group too many */
    bool fits;
    uint32_t count, groups[LIGHT_MEMBERS];
};

struct lightening {
    struct cw_mend *m;
    uint32_t rule, group_count;
    bool *light; /* by group */
    struct judged *sets;
    uint32_t count, *bad, *all; /* by group: unfit sets, and all sets with it */
};

static bool is_light(const struct lightening *w, const struct judged *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (!w->light[set->groups[i]])
            return false;
    return true;
}

/* Draws sets with one group too many, all groups being light. */
static void draw_sets(struct lightening *w)
{
    struct cw_mend *m = w->m;
    const struct cw_limit l = m->limits[w->rule].limit;
    uint32_t *pool = cw_ask_array(&m->ask, l.count, sizeof *pool), n = 0;
    for (uint32_t k = 0; pool && k < l.count; k++)
        if (w->light[l.groups[k]])
            pool[n++] = l.members[k];
    w->count = 0;
    for (uint32_t t = 0; n && t < LIGHT_TRIES && w->count < LIGHT_SETS && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {.count = 0};
        struct judged *judged = &w->sets[w->count];
        if (!cw_mend_fill(m, &set, w->rule, &(struct cw_list){n, pool}, l.max + 1))
            continue;
        judged->fits = cw_ask_fits(&m->ask, set.items, set.count);
        judged->count = 0;
        for (uint32_t i = 0; i < set.count && i < LIGHT_MEMBERS; i++)
            judged->groups[judged->count++] = cw_mend_group(m, w->rule, set.items[i]);
        w->count++;
    }
}

/* Removes the group with the largest share of unfit sets, until nearly all sets fit. A group that no set has cannot be
 * called light. Returns the number of sets of light groups. */
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
        if (worst == CW_NONE || unfit * LIGHT_UNFIT <= met)
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
    if (max + 1 > LIGHT_MEMBERS || stands_twice(&m->limits[rule].limit))
        return false;
    w.light = cw_ask_array(&m->ask, w.group_count, sizeof *w.light);
    w.sets = cw_ask_array(&m->ask, LIGHT_SETS, sizeof *w.sets);
    w.bad = cw_ask_array(&m->ask, w.group_count, sizeof *w.bad);
    w.all = cw_ask_array(&m->ask, w.group_count, sizeof *w.all);
    if (!cw_ask_ok(&m->ask))
        return false;
    memset(w.light, true, w.group_count * sizeof *w.light);
    for (int round = 0; round < LIGHT_ROUNDS && cw_ask_ok(&m->ask); round++) {
        draw_sets(&w);
        met = drop_heavy(&w);
    }
    bool of_light = met >= LIGHT_FEWEST;
    for (uint32_t i = 0; i < count && of_light; i++) {
        uint32_t g = cw_mend_group(m, rule, set[i]);
        of_light = g == CW_NONE || w.light[g];
    }
    if (of_light)
        add_helped(&w);
    return of_light && cw_ask_ok(&m->ask);
}
