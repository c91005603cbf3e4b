/* Learns which placements share a group of a rule. */
#include <string.h>

#include "import/learn_model.h"

enum { UNKNOWN, APART, SHARED }; /* relation of two members */

enum { SAMPLES = 40, PAIR_TRIES = 8, DRAWS = 40 };

struct share {
    struct cw_model *m;
    const struct cw_pool *members;
    struct cw_rule *rule;
    uint32_t n;
    uint32_t *index; /* placement -> member */
    uint8_t *relation;
};

static uint8_t *relation(struct share *s, uint32_t a, uint32_t b)
{
    return &s->relation[(size_t)a * s->n + b];
}

/* Marks the members of a minimal unfit set as apart: if two of them shared a group, the second would add nothing. */
static void mark_apart(struct share *s, const struct cw_ask_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->count; k++)
            if (s->index[set->items[i]] != CW_NONE && s->index[set->items[k]] != CW_NONE)
                *relation(s, s->index[set->items[i]], s->index[set->items[k]]) = APART;
}

static void ask_at_random(struct share *s)
{
    struct cw_model *m = s->m;
    for (uint32_t t = 0; t < SAMPLES * s->n && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {0};
        if (!cw_model_grow(m, &set, s->members, s->rule->max + 1) || cw_ask_fits(&m->ask, set.items, set.count))
            continue;
        cw_ask_minimize(&m->ask, &set);
        if (set.count == s->rule->max + 1)
            mark_apart(s, &set);
    }
}

/* Draws members that are known to be apart from all others of the set. */
static bool grow_apart(struct share *s, struct cw_ask_set *set, uint32_t size)
{
    for (uint32_t draws = 0; set->count < size && draws < DRAWS * size; draws++) {
        uint32_t c = cw_ask_random(&s->m->ask, s->n);
        bool apart = true;
        for (uint32_t i = 0; i < set->count && apart; i++)
            apart = *relation(s, c, s->index[set->items[i]]) == APART;
        if (apart && cw_model_allows(s->m, set, s->members->items[c]))
            set->items[set->count++] = s->members->items[c];
    }
    return set->count == size;
}

/* Asks whether two members share: they do if sets that are full with either one also take the other. */
static void ask_pair(struct share *s, uint32_t a, uint32_t b)
{
    struct cw_model *m = s->m;
    uint32_t fits = 0;
    for (uint32_t t = 0; t < 2 * PAIR_TRIES && fits < PAIR_TRIES && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {.count = 2, .items = {s->members->items[a], s->members->items[b]}};
        if (!grow_apart(s, &set, s->rule->max + 1))
            continue;
        if (cw_ask_fits(&m->ask, set.items, set.count)) {
            fits++;
            continue;
        }
        cw_ask_minimize(&m->ask, &set);
        if (set.count == s->rule->max + 1)
            mark_apart(s, &set);
        if (*relation(s, a, b) == APART)
            return;
    }
    if (fits >= PAIR_TRIES / 2)
        *relation(s, a, b) = *relation(s, b, a) = SHARED;
}

static void ask_pairs(struct share *s)
{
    for (uint32_t a = 0; a < s->n && cw_ask_ok(&s->m->ask); a++)
        for (uint32_t b = 0; b < a; b++) {
            struct cw_ask_set one = {.count = 1, .items = {s->members->items[a]}};
            if (*relation(s, a, b) == UNKNOWN && cw_model_allows(s->m, &one, s->members->items[b]))
                ask_pair(s, a, b);
        }
}

/* Puts each member into the group with most of its known sharers and nobody apart; pairs that never meet do not
 * matter. */
static void make_groups(struct share *s)
{
    uint32_t *group = cw_ask_array(&s->m->ask, s->n, sizeof *group), count = 0;
    uint32_t *votes = cw_ask_array(&s->m->ask, s->n, sizeof *votes);
    bool *against = cw_ask_array(&s->m->ask, s->n, sizeof *against);
    for (uint32_t a = 0; cw_ask_ok(&s->m->ask) && a < s->n; a++) {
        memset(votes, 0, count * sizeof *votes);
        memset(against, 0, count * sizeof *against);
        for (uint32_t b = 0; b < a; b++) {
            struct cw_ask_set one = {.count = 1, .items = {s->members->items[a]}};
            uint8_t r = *relation(s, a, b);
            bool meet = cw_model_allows(s->m, &one, s->members->items[b]);
            votes[group[b]] += r == SHARED;
            against[group[b]] |= r == APART || (r == UNKNOWN && meet);
        }
        uint32_t best = count;
        for (uint32_t g = 0; g < count; g++)
            if (votes[g] && !against[g] && (best == count || votes[g] > votes[best]))
                best = g;
        group[a] = best;
        count += best == count;
        s->rule->group[s->members->items[a]] = best;
    }
    s->rule->group_count = count;
}

void cw_learn_share(struct cw_model *m, const struct cw_pool *members, struct cw_rule *rule)
{
    struct share s = {.m = m, .members = members, .rule = rule, .n = members->count};
    s.index = cw_ask_nones(&m->ask, m->chip.placement_count);
    s.relation = cw_ask_array(&m->ask, (size_t)s.n * s.n, 1);
    if (!cw_ask_ok(&m->ask))
        return;
    for (uint32_t i = 0; i < s.n; i++)
        s.index[members->items[i]] = i;
    ask_at_random(&s);
    ask_pairs(&s);
    make_groups(&s);
}

/* ---- merging groups: if a pass can hold one group more than the rule says, two of its groups share -------------- */

enum {
    SETS_EACH = 30, /* sets examined for each group */
    MOST_SETS = 3000,
    TESTS = 10,
    OVERFILL_DRAWS = 30,
};

struct merge {
    struct cw_model *m;
    struct cw_rule *rule;
    uint32_t max; /* the rule's own; while sets are drawn, the rule allows one group more */
    struct cw_pool pool;
    struct cw_pool *members; /* by group */
    uint8_t *tested;         /* [group * group_count + group] */
};

/* Draws until the set uses one group too many; false if that fails. */
static bool overfill(struct merge *g, struct cw_ask_set *set)
{
    uint32_t now = cw_model_groups(g->rule, set);
    for (uint32_t draws = 0; now <= g->max && draws < OVERFILL_DRAWS * (g->max + 1); draws++) {
        uint32_t p = g->pool.items[cw_ask_random(&g->m->ask, g->pool.count)];
        if (!cw_model_allows(g->m, set, p))
            continue;
        struct cw_ask_set with = *set;
        with.items[with.count++] = p;
        uint32_t more = cw_model_groups(g->rule, &with);
        if (more == now)
            continue; /* adds no group, so leave it out: the set stays small */
        *set = with;
        now = more;
    }
    return now == g->max + 1;
}

static bool are_one(struct merge *g, uint32_t a, uint32_t b)
{
    struct cw_model *m = g->m;
    uint32_t fit = 0, unfit = 0;
    for (uint32_t t = 0; t < 3 * TESTS && fit + unfit < TESTS && unfit < 3 && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {.count = 1};
        uint32_t p = g->members[b].items[cw_ask_random(&m->ask, g->members[b].count)];
        set.items[0] = g->members[a].items[cw_ask_random(&m->ask, g->members[a].count)];
        if (!cw_model_allows(m, &set, p))
            continue;
        set.items[set.count++] = p;
        if (!overfill(g, &set))
            continue;
        if (cw_ask_fits(&m->ask, set.items, set.count))
            fit++;
        else if (cw_ask_fits(&m->ask, set.items + 1, set.count - 1)) /* otherwise something unknown interferes */
            unfit++;
    }
    return fit >= TESTS / 2 && unfit * 5 <= fit;
}

static void join(struct merge *g, uint32_t a, uint32_t b)
{
    struct cw_pool *into = &g->members[a], *from = &g->members[b];
    uint32_t *items = cw_ask_array(&g->m->ask, into->count + from->count, sizeof *items);
    if (!items)
        return;
    memcpy(items, into->items, into->count * sizeof *items);
    memcpy(items + into->count, from->items, from->count * sizeof *items);
    for (uint32_t i = 0; i < from->count; i++)
        g->rule->group[from->items[i]] = a;
    cw_model_changed(g->m);
    *into = (struct cw_pool){into->count + from->count, items};
    from->count = 0;
}

/* Learns from a set that fits with one group too many: two of its groups are one. */
static void learn_from(struct merge *g, const struct cw_ask_set *set)
{
    uint32_t n = g->rule->group_count;
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < i; k++) {
            uint32_t a = g->rule->group[set->items[i]], b = g->rule->group[set->items[k]];
            if (a == CW_NONE || b == CW_NONE || a == b || g->tested[(size_t)a * n + b])
                continue;
            g->tested[(size_t)a * n + b] = g->tested[(size_t)b * n + a] = 1;
            if (are_one(g, a, b))
                join(g, a < b ? a : b, a < b ? b : a);
        }
}

static void list_members(struct merge *g)
{
    struct cw_model *m = g->m;
    const struct cw_rule *rule = g->rule;
    uint32_t n = m->chip.placement_count;
    g->pool.items = cw_ask_array(&m->ask, n, sizeof *g->pool.items);
    g->members = cw_ask_array(&m->ask, rule->group_count, sizeof *g->members);
    g->tested = cw_ask_array(&m->ask, (size_t)rule->group_count * rule->group_count, 1);
    for (uint32_t p = 0; p < n && cw_ask_ok(&m->ask); p++)
        if (rule->group[p] != CW_NONE && m->usable[p]) {
            g->pool.items[g->pool.count++] = p;
            g->members[rule->group[p]].count++;
        }
    for (uint32_t k = 0; k < rule->group_count && cw_ask_ok(&m->ask); k++) {
        g->members[k].items = cw_ask_array(&m->ask, g->members[k].count, sizeof *g->members[k].items);
        g->members[k].count = 0;
    }
    for (uint32_t i = 0; i < g->pool.count && cw_ask_ok(&m->ask); i++) {
        struct cw_pool *members = &g->members[rule->group[g->pool.items[i]]];
        members->items[members->count++] = g->pool.items[i];
    }
}

void cw_learn_merge(struct cw_model *m, struct cw_rule *rule)
{
    struct merge g = {.m = m, .rule = rule, .max = rule->max};
    list_members(&g);
    uint32_t sets = SETS_EACH * rule->group_count < MOST_SETS ? SETS_EACH * rule->group_count : MOST_SETS;
    rule->max++;
    for (uint32_t t = 0; g.pool.count && t < sets && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {0};
        if (overfill(&g, &set) && cw_ask_fits(&m->ask, set.items, set.count))
            learn_from(&g, &set);
    }
    rule->max--;
}
