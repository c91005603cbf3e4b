#include <string.h>

#include "import/mend_limits.h"

/* ---- relations between groups ------------------------------------------------------------------------------------ */

/* Finds relations between the groups of a rule: a place that two groups share, or a helper that some need. */

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

/* Replaces a rule that an accepted set breaks, and which is already marked gone, by the rules of its parts in which no
 * two groups share. False, without changes, if no two groups of the set share, or if sharing does not explain the
 * set. */
static bool mend_share(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
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

/* Replaces a rule that an accepted set breaks, and which is already marked gone, by a rule that allows one group more
 * and gives all but the light groups one more group in common. False, without changes, if there are no light groups. */
static bool mend_lighten(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
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

/* Narrows a limit and adds one. */

enum {
    SAMPLES = 24,  /* sets drawn to measure how often a limit is wrong, */
    SURE = 16,     /* or whether its replacement is right */
    BOX_TESTS = 6, /* sets tested for each placement that joins a part */
    SPECIALS = 10, /* placements tried in place of a member */
    DRAWS = 40,    /* draws for each wanted set */
    FEWEST_MET = 4,
    SMALL_POOL = 64,
    MOST_BROKEN = 64, /* limits narrowed for one set */
    MOST_TRIES = 8,   /* attempts to replace a rule */
};

static bool has(const struct cw_list *list, uint32_t item)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == item)
            return true;
    return false;
}

/* ---- drawing forbidden sets -------------------------------------------------------------------------------------- */

/* Adds placements of the ban's slots until enough are filled. */
static bool fill(struct cw_mend *m, const struct cw_mend_ban *ban, struct cw_ask_set *set)
{
    if (ban->slots == CW_NONE)
        return true;
    const struct cw_limit *slots = &m->limits[ban->slots].limit;
    return cw_mend_fill(m, set, ban->slots, &(struct cw_list){slots->count, slots->members}, ban->filled);
}

/* Draws a placement of each part, or takes the given one unless it is CW_NONE, and fills the slots. The ban itself must
 * not be among the limits. */
static bool draw(struct cw_mend *m, const struct cw_mend_ban *ban, const uint32_t *given, struct cw_ask_set *set)
{
    set->count = 0;
    for (uint32_t k = 0; k < ban->count; k++) {
        const struct cw_list *part = &ban->parts[k];
        uint32_t p = given && given[k] != CW_NONE ? given[k] : part->items[cw_ask_random(&m->ask, part->count)];
        if (!cw_mend_join(m, set, p))
            return false;
    }
    return fill(m, ban, set);
}

/* Draws up to `wanted` sets that the ban forbids. Returns the number that fit; `met` is the number drawn. */
static uint32_t sample(struct cw_mend *m, const struct cw_mend_ban *ban, uint32_t wanted, uint32_t *met)
{
    uint32_t fit = 0;
    struct cw_ask_set set;
    *met = 0;
    for (uint32_t t = 0; t < 4 * wanted && *met < wanted && cw_ask_ok(&m->ask); t++)
        if (draw(m, ban, NULL, &set)) {
            ++*met;
            fit += cw_ask_fits(&m->ask, set.items, set.count);
        }
    return fit;
}

/* ---- slots ------------------------------------------------------------------------------------------------------ */

/* Finds the limit that counts the slots of the domain with most of the placements: each placement is a group of it. */
static uint32_t find_slots(const struct cw_mend *m, const uint32_t *set, uint32_t count)
{
    uint32_t best = CW_NONE, most = 0, largest = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct cw_mend_limit *l = &m->limits[i];
        if (l->gone || l->ban.count || l->limit.max < 2 || cw_mend_group_count(&l->limit) <= 2 * l->limit.max)
            continue;
        uint32_t used = cw_mend_used(m, i, set, count);
        if (used && (used > most || (used == most && l->limit.max > largest))) {
            best = i;
            most = used;
            largest = l->limit.max;
        }
    }
    return best;
}

/* For a ban that forbids fitting sets only, nearly: looks for a ban of sets that fill more slots. Adds it if there is
 * one. */
static bool loosen(struct cw_mend *m, const struct cw_mend_ban *ban, const uint32_t *tuple)
{
    struct cw_mend_ban tried = *ban;
    if (tried.slots == CW_NONE) {
        tried.slots = find_slots(m, tuple, ban->count);
        tried.filled = tried.slots == CW_NONE ? 0 : cw_mend_used(m, tried.slots, tuple, ban->count);
    }
    for (tried.filled++; tried.slots != CW_NONE && tried.filled <= m->limits[tried.slots].limit.max; tried.filled++) {
        uint32_t met, fit = sample(m, &tried, SURE, &met);
        if (met >= SURE / 2 && fit * 5 <= met) {
            cw_mend_add_ban(m, &tried);
            return true;
        }
    }
    return false;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------ */

/* Grows parts around a tuple while all sets drawn from them fit, or none does; no placement is in two parts.
 * `candidates` may join. */
static void grow_box(struct cw_mend *m, struct cw_mend_ban *box, const uint32_t *tuple, struct cw_list *candidates,
                     bool fitting)
{
    bool done[CW_MEND_PARTS] = {false};
    for (uint32_t k = 0; k < box->count; k++) {
        uint32_t *items = cw_ask_array(&m->ask, (size_t)candidates[k].count + 1, sizeof *items);
        if (!items)
            return;
        items[0] = tuple[k];
        box->parts[k] = (struct cw_list){1, items};
    }
    for (uint32_t round = 0; round < box->count; round++) {
        uint32_t at = CW_NONE;
        for (uint32_t k = 0; k < box->count; k++)
            if (!done[k] && (at == CW_NONE || candidates[k].count > candidates[at].count))
                at = k;
        done[at] = true;
        uint32_t others = 1;
        for (uint32_t k = 0; k < box->count; k++)
            others = k == at || others > BOX_TESTS ? others : others * box->parts[k].count;
        for (uint32_t i = 0; i < candidates[at].count && cw_ask_ok(&m->ask); i++) {
            uint32_t given[CW_MEND_PARTS], p = candidates[at].items[i], tests = others < BOX_TESTS ? others : BOX_TESTS;
            bool alike = true;
            for (uint32_t k = 0; k < box->count; k++)
                alike &= !has(&box->parts[k], p);
            for (uint32_t t = 0; t < tests && alike; t++) {
                struct cw_ask_set set;
                for (uint32_t k = 0; k < box->count; k++)
                    given[k] = k == at ? p : CW_NONE;
                /* the first test would only repeat a known result if there is nothing to fill */
                if ((t || box->slots != CW_NONE) && draw(m, box, given, &set))
                    alike = cw_ask_fits(&m->ask, set.items, set.count) == fitting;
            }
            if (alike)
                ((uint32_t *)box->parts[at].items)[box->parts[at].count++] = p;
        }
    }
}

/* Finds members of a part that leave the set fitting, or unfit, in place of the part's own member, which stands at `at`
 * in the set. */
static struct cw_list likes(struct cw_mend *m, const struct cw_ask_set *set, uint32_t at, const struct cw_list *part,
                            bool fitting, bool allowed)
{
    uint32_t *items = cw_ask_array(&m->ask, part->count, sizeof *items), n = 0;
    for (uint32_t i = 0; i < part->count && cw_ask_ok(&m->ask); i++) {
        struct cw_ask_set other = *set;
        uint32_t p = part->items[i];
        other.items[at] = p;
        if (!m->usable[p] || cw_ask_has_raw(&m->ask, set, p, at) ||
            (allowed && cw_mend_broken(m, other.items, other.count, 0) != CW_NONE))
            continue;
        if (p == set->items[at] || cw_ask_fits(&m->ask, other.items, other.count) == fitting)
            items[n++] = p;
    }
    return (struct cw_list){n, items};
}

/* Divides a ban without the sets of a box into bans, one for each part. */
static void cut_out(struct cw_mend *m, const struct cw_mend_ban *ban, const struct cw_mend_ban *box)
{
    struct cw_mend_ban piece = *ban;
    for (uint32_t k = 0; k < ban->count && cw_ask_ok(&m->ask); k++) {
        uint32_t *items = cw_ask_array(&m->ask, ban->parts[k].count, sizeof *items), n = 0;
        for (uint32_t i = 0; items && i < ban->parts[k].count; i++)
            if (!has(&box->parts[k], ban->parts[k].items[i]))
                items[n++] = ban->parts[k].items[i];
        piece.parts[k] = (struct cw_list){n, items};
        if (n && cw_ask_ok(&m->ask))
            cw_mend_add_ban(m, &piece);
        piece.parts[k] = box->parts[k];
    }
}

/* ---- narrowing -------------------------------------------------------------------------------------------------- */

/* Expresses a limit as a ban; false if it is none. */
static bool as_ban(struct cw_mend *m, uint32_t limit, struct cw_mend_ban *ban)
{
    const struct cw_limit *l = &m->limits[limit].limit;
    *ban = m->limits[limit].ban;
    if (ban->count)
        return true;
    if (l->max + 1 > CW_MEND_PARTS || cw_mend_group_count(l) != l->max + 1)
        return false;
    *ban = (struct cw_mend_ban){.count = l->max + 1, .slots = CW_NONE};
    for (uint32_t g = 0; g < ban->count; g++)
        ban->parts[g] = cw_mend_members(m, l, g);
    return cw_ask_ok(&m->ask);
}

static void relax_ban(struct cw_mend *m, const struct cw_mend_ban *ban, const uint32_t *set, uint32_t count)
{
    uint32_t tuple[CW_MEND_PARTS], at[CW_MEND_PARTS], met, fit;
    struct cw_ask_set accepted = {.count = 0};
    for (uint32_t k = 0; k < ban->count; k++) {
        tuple[k] = CW_NONE;
        for (uint32_t i = 0; i < count && tuple[k] == CW_NONE; i++)
            if (has(&ban->parts[k], set[i]))
                tuple[k] = set[i];
        at[k] = accepted.count;
        if (tuple[k] == CW_NONE)
            return; /* a placement of two parts */
        accepted.items[accepted.count++] = tuple[k];
    }
    for (uint32_t i = 0; i < count && ban->slots != CW_NONE; i++) {
        bool taken = cw_mend_group(m, ban->slots, set[i]) == CW_NONE;
        for (uint32_t k = 0; k < ban->count; k++)
            taken |= set[i] == tuple[k];
        if (!taken)
            accepted.items[accepted.count++] = set[i];
    }
    fit = sample(m, ban, SAMPLES, &met);
    if (met >= FEWEST_MET && 4 * met <= 5 * fit && (loosen(m, ban, tuple) || fit == met))
        return;
    struct cw_mend_ban box = *ban;
    struct cw_list candidates[CW_MEND_PARTS];
    for (uint32_t k = 0; k < ban->count; k++)
        candidates[k] = likes(m, &accepted, at[k], &ban->parts[k], true, false);
    if (cw_ask_ok(&m->ask))
        grow_box(m, &box, tuple, candidates, true);
    if (cw_ask_ok(&m->ask))
        cut_out(m, ban, &box);
}

/* For a limit of one group: gives a member a limit of its own with its true conflicts. */
static void relax_one_of(struct cw_mend *m, uint32_t limit, const uint32_t *set, uint32_t count)
{
    uint32_t p = CW_NONE, n = 0;
    for (uint32_t i = 0; i < count && p == CW_NONE; i++)
        if (cw_mend_group(m, limit, set[i]) != CW_NONE)
            p = set[i];
    struct cw_mend_limit *copy = cw_mend_add_copy(m, limit);
    if (!copy || p == CW_NONE)
        return;
    uint32_t own = cw_mend_group(m, limit, p), *others = cw_ask_array(&m->ask, copy->limit.count, sizeof *others);
    uint32_t *members = (uint32_t *)copy->limit.members, *groups = (uint32_t *)copy->limit.groups, kept = 0;
    for (uint32_t k = 0; others && k < copy->limit.count; k++) {
        uint32_t pair[2] = {p, members[k]};
        if (members[k] != p && groups[k] != own && m->chip.placements[p].raw != m->chip.placements[members[k]].raw &&
            !cw_ask_fits(&m->ask, pair, 2))
            others[n++] = members[k];
        if (members[k] != p) {
            members[kept] = members[k];
            groups[kept++] = groups[k];
        }
    }
    copy->limit.count = kept;
    copy->gone = true; /* unless two groups are left */
    for (uint32_t k = 1; k < kept; k++)
        copy->gone &= groups[k] == groups[0];
    struct cw_mend_ban ban = {.count = 2, .parts = {{1, &p}, {n, others}}, .slots = CW_NONE};
    if (n && cw_ask_ok(&m->ask))
        cw_mend_add_ban(m, &ban);
}

/* Whether sets that only a changed rule allows do fit. Both rules must be in the index. */
static bool proves_right(struct cw_mend *m, uint32_t rule, uint32_t with)
{
    uint32_t met = 0, fit = 0;
    for (uint32_t t = 0; t < DRAWS * SURE && met < SURE && met - fit < 2 && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {.count = 1, .items = {with}};
        if (!cw_mend_overfill(m, &set, rule))
            continue;
        if (cw_ask_fits(&m->ask, set.items, set.count))
            fit++;
        else if (!cw_ask_fits(&m->ask, set.items + 1, set.count - 1))
            continue; /* something else interferes */
        met++;
    }
    return met >= SURE / 2 && met - fit < 2;
}

/* For a rule with many groups: takes a placement of the set out of a group. A member of two groups may belong to one
 * only, and a member of one group to none. False, without changes, if no removal proves right. */
static bool leave_group(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
{
    const struct cw_limit l = m->limits[rule].limit;
    for (uint32_t k = 0; k < l.count && cw_ask_ok(&m->ask); k++) {
        bool tried = has(&(struct cw_list){count, set}, l.members[k]);
        struct cw_mend_limit *copy = tried ? cw_mend_add_copy(m, rule) : NULL;
        if (!copy)
            continue;
        uint32_t *members = (uint32_t *)copy->limit.members, *groups = (uint32_t *)copy->limit.groups;
        memmove(members + k, members + k + 1, (copy->limit.count - k - 1) * sizeof *members);
        memmove(groups + k, groups + k + 1, (copy->limit.count - k - 1) * sizeof *groups);
        copy->limit.count--;
        cw_mend_refresh(m);
        if (cw_ask_ok(&m->ask) && proves_right(m, rule, l.members[k]))
            return true;
        m->limits[m->count - 1].gone = true;
    }
    return false;
}

/* For a rule of a small pool: if many sets with one group more fit, allows one more; unfit sets are banned as they are
 * met. */
static bool raise_rule(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
{
    const struct cw_limit l = m->limits[rule].limit;
    uint32_t met, fit = cw_mend_sample(m, rule, SAMPLES, l.count <= SMALL_POOL ? 4 * SAMPLES : 0, &met);
    if (met < FEWEST_MET || fit * 4 < met)
        return false;
    struct cw_mend_limit *copy = cw_mend_add_copy(m, rule);
    uint32_t used = cw_mend_used(m, rule, set, count);
    if (copy)
        copy->limit.max = used > l.max + 1 ? used : l.max + 1;
    return copy != NULL;
}

/* Tries first the changes inside the rule, then raising it. Repeats failed attempts in later rounds, when less
 * interferes. */
static bool relax_rule(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
{
    struct cw_mend_limit *l = &m->limits[rule];
    if (l->tries == MOST_TRIES || (l->tries && l->tried_in == m->round))
        return false;
    l->tries++;
    l->tried_in = m->round;
    return leave_group(m, rule, set, count) || mend_share(m, rule, set, count) || mend_lighten(m, rule, set, count) ||
           raise_rule(m, rule, set, count);
}

void cw_mend_relax(struct cw_mend *m, const uint32_t *set, uint32_t count)
{
    uint32_t from = 0;
    for (uint32_t n = 0; n < MOST_BROKEN && cw_ask_ok(&m->ask); n++) {
        struct cw_mend_ban ban;
        uint32_t limit = cw_mend_broken(m, set, count, from);
        if (limit == CW_NONE)
            return;
        from = limit + 1;
        m->limits[limit].gone = m->changed = true;
        if (as_ban(m, limit, &ban))
            relax_ban(m, &ban, set, count);
        else if (m->limits[limit].limit.max == 1)
            relax_one_of(m, limit, set, count);
        else if (!relax_rule(m, limit, set, count))
            m->limits[limit].gone = false;
    }
}

/* ---- forbidding ------------------------------------------------------------------------------------------------- */

/* Whether almost any placement of the same domain in place of a member makes the set fit. */
static bool is_special(struct cw_mend *m, const struct cw_ask_set *set, uint32_t at)
{
    const struct cw_list *domain = cw_mend_domain(m, set->items[at]);
    uint32_t met = 0, fit = 0;
    for (uint32_t t = 0; t < DRAWS * SPECIALS && met < SPECIALS && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set other = *set;
        other.items[at] = other.items[--other.count];
        if (!cw_mend_join(m, &other, domain->items[cw_ask_random(&m->ask, domain->count)]))
            continue;
        met++;
        fit += cw_ask_fits(&m->ask, other.items, other.count);
    }
    return met < FEWEST_MET || fit * 10 >= met * 7;
}

/* Makes the ban of a minimal set; leaves out members that only fill slots if that proves right. */
static bool make_ban(struct cw_mend *m, const struct cw_ask_set *set, struct cw_mend_ban *ban, uint32_t *tuple,
                     struct cw_ask_set *ordered)
{
    uint32_t fillers[CW_ASK_MOST], filler_count = 0, met;
    *ban = (struct cw_mend_ban){.slots = CW_NONE};
    for (uint32_t i = 0; i < set->count && cw_ask_ok(&m->ask); i++)
        if (set->count < 4 || is_special(m, set, i)) {
            if (ban->count == CW_MEND_PARTS)
                return false;
            tuple[ban->count++] = set->items[i];
        } else {
            fillers[filler_count++] = set->items[i];
        }
    for (uint32_t k = 0; k < ban->count; k++)
        ban->parts[k] = (struct cw_list){1, &tuple[k]};
    bool filled = ban->count && filler_count;
    if (filled) {
        ban->slots = find_slots(m, fillers, filler_count);
        filled = ban->slots != CW_NONE && cw_mend_used(m, ban->slots, fillers, filler_count) == filler_count;
        ban->filled = filled ? cw_mend_used(m, ban->slots, set->items, set->count) : 0;
        filled = filled && ban->filled <= m->limits[ban->slots].limit.max;
        filled = filled && sample(m, ban, SURE, &met) * 5 <= met && met >= FEWEST_MET;
    }
    for (uint32_t i = 0; i < filler_count && !filled; i++) {
        if (ban->count == CW_MEND_PARTS)
            return false;
        tuple[ban->count++] = fillers[i];
    }
    if (!filled)
        ban->slots = CW_NONE;
    ordered->count = 0;
    for (uint32_t k = 0; k < ban->count; k++)
        ordered->items[ordered->count++] = tuple[k];
    for (uint32_t i = 0; i < filler_count && filled; i++)
        ordered->items[ordered->count++] = fillers[i];
    return cw_ask_ok(&m->ask);
}

void cw_mend_forbid(struct cw_mend *m, const uint32_t *items, uint32_t count)
{
    struct cw_ask_set set = {.count = count}, smallest, ordered;
    memcpy(set.items, items, count * sizeof *items);
    while (cw_ask_take_smallest(&m->ask, &set, &smallest)) {
        struct cw_mend_ban ban;
        struct cw_list candidates[CW_MEND_PARTS];
        uint32_t tuple[CW_MEND_PARTS];
        if (smallest.count < 2 || !cw_ask_ok(&m->ask) || !make_ban(m, &smallest, &ban, tuple, &ordered))
            continue;
        for (uint32_t k = 0; k < ban.count; k++)
            candidates[k] = likes(m, &ordered, k, cw_mend_domain(m, tuple[k]), false, true);
        if (cw_ask_ok(&m->ask))
            grow_box(m, &ban, tuple, candidates, false);
        if (cw_ask_ok(&m->ask))
            cw_mend_add_ban(m, &ban);
        cw_mend_refresh(m);
    }
}
