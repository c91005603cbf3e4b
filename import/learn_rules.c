#include <string.h>

#include "import/learn_model.h"

/* ---- light placements -------------------------------------------------------------------------------------------- */

/* Learns which placements need more than one group of a rule. */

enum { LIGHT_SAMPLES = 60, TRIES = 12, LIGHT_DRAWS = 40, CANDIDATE_TRIES = 48, LIGHT_PAIRS = 6 };

/* ---- light placements ------------------------------------------------------------------------------------------- */

struct samples { /* sets of one size */
    uint32_t count, size, *items;
    bool *fits; /* by set */
};

static struct samples draw_samples(struct cw_model *m, const struct cw_pool *members, uint32_t size)
{
    size_t most = LIGHT_SAMPLES * (size_t)members->count;
    struct samples s = {.size = size,
                        .items = cw_ask_array(&m->ask, most * size, sizeof *s.items),
                        .fits = cw_ask_array(&m->ask, most, sizeof *s.fits)};
    for (size_t t = 0; t < most && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {0};
        if (!cw_model_grow(m, &set, members, size))
            continue;
        memcpy(s.items + (size_t)s.count * size, set.items, size * sizeof *s.items);
        s.fits[s.count++] = cw_ask_fits(&m->ask, set.items, set.count);
    }
    return s;
}

static bool all_kept(const struct samples *s, uint32_t set, const bool *dropped)
{
    for (uint32_t i = 0; i < s->size; i++)
        if (dropped[s->items[(size_t)set * s->size + i]])
            return false;
    return true;
}

/* The placement in most of the unfit sets; CW_NONE if all remaining sets fit. */
static uint32_t worst_of(const struct samples *s, const bool *dropped, uint32_t *bad, uint32_t placements)
{
    uint32_t worst = CW_NONE;
    memset(bad, 0, placements * sizeof *bad);
    for (uint32_t k = 0; k < s->count; k++)
        for (uint32_t i = 0; !s->fits[k] && i < s->size && all_kept(s, k, dropped); i++) {
            uint32_t p = s->items[(size_t)k * s->size + i];
            bad[p]++;
            if (worst == CW_NONE || bad[p] > bad[worst] || (bad[p] == bad[worst] && p < worst))
                worst = p;
        }
    return worst;
}

/* Finds light members: the larger part of `members` whose sets of `size` always fit. The other members need more than
 * one group each. Returns an empty pool if there is no such part. */
static struct cw_pool learn_light(struct cw_model *m, const struct cw_pool *members, uint32_t size)
{
    uint32_t placements = m->chip.placement_count, kept = members->count, inside = 0;
    struct cw_pool light = {0, cw_ask_array(&m->ask, members->count, sizeof *light.items)};
    bool *dropped = cw_ask_array(&m->ask, placements, sizeof *dropped);
    uint32_t *bad = cw_ask_array(&m->ask, placements, sizeof *bad);
    const struct samples samples = draw_samples(m, members, size);
    if (!cw_ask_ok(&m->ask))
        return light;
    for (uint32_t worst; kept * 2 >= members->count; kept--) {
        worst = worst_of(&samples, dropped, bad, placements);
        if (worst == CW_NONE)
            break;
        dropped[worst] = true;
    }
    for (uint32_t k = 0; k < samples.count; k++)
        inside += all_kept(&samples, k, dropped);
    if (kept * 2 < members->count || kept == members->count || inside < 40)
        return light;
    for (uint32_t i = 0; i < members->count; i++)
        if (!dropped[members->items[i]])
            light.items[light.count++] = members->items[i];
    return light;
}

/* ---- attaching the others --------------------------------------------------------------------------------------- */

struct attach {
    struct cw_model *m;
    const struct cw_pool *light;
    struct cw_rule *rule;
    struct cw_pool fresh; /* placements with new groups */
    uint32_t *weight;     /* by placement */
};

static bool grow_distinct(struct attach *a, struct cw_ask_set *set, uint32_t size)
{
    const uint32_t *group = a->rule->group;
    for (uint32_t draws = 0; set->count < size && draws < LIGHT_DRAWS * size; draws++) {
        uint32_t p = a->light->items[cw_ask_random(&a->m->ask, a->light->count)];
        bool distinct = true;
        for (uint32_t i = 0; i < set->count; i++)
            distinct &= group[set->items[i]] == CW_NONE || group[set->items[i]] != group[p];
        if (distinct && cw_model_allows(a->m, set, p))
            set->items[set->count++] = p;
    }
    return set->count == size;
}

/* Whether a placement fits beside any `others` light ones of distinct groups. */
static bool always_fits(struct attach *a, const struct cw_ask_set *with, uint32_t others, uint32_t tries, uint32_t *met)
{
    *met = 0;
    for (uint32_t t = 0; t < 3 * tries && *met < tries && cw_ask_ok(&a->m->ask); t++) {
        struct cw_ask_set set = *with;
        if (!grow_distinct(a, &set, with->count + others))
            continue;
        ++*met;
        if (!cw_ask_fits(&a->m->ask, set.items, set.count))
            return false;
    }
    return *met > 0;
}

/* Finds the group that is common to the sets that still fit with one group too many. */
static uint32_t find_group(struct attach *a, uint32_t p, uint32_t others)
{
    struct cw_rule *rule = a->rule;
    uint32_t *with = cw_ask_array(&a->m->ask, rule->group_count, sizeof *with);
    uint32_t *without = cw_ask_array(&a->m->ask, rule->group_count, sizeof *without), best = CW_NONE;
    for (uint32_t t = 0; t < CANDIDATE_TRIES && cw_ask_ok(&a->m->ask); t++) {
        struct cw_ask_set set = {.count = 1, .items = {p}};
        if (!grow_distinct(a, &set, 1 + others))
            continue;
        bool fits = cw_ask_fits(&a->m->ask, set.items, set.count);
        for (uint32_t i = 1; i < set.count; i++)
            ++*(fits ? &with[rule->group[set.items[i]]] : &without[rule->group[set.items[i]]]);
    }
    for (uint32_t g = 0; cw_ask_ok(&a->m->ask) && g < rule->group_count; g++)
        if (with[g] && !without[g] && (best == CW_NONE || with[g] > with[best]))
            best = g;
    /* Test the group alone: it may only happen to stand beside the right one. */
    for (uint32_t i = 0, tried = 0; best != CW_NONE && i < a->light->count && tried < 8; i++) {
        struct cw_ask_set set = {.count = 2, .items = {p, a->light->items[i]}};
        struct cw_ask_set one = {.count = 1, .items = {p}};
        uint32_t met;
        if (rule->group[set.items[1]] != best || !cw_model_allows(a->m, &one, set.items[1]))
            continue;
        tried++;
        if (!always_fits(a, &set, others - 1, LIGHT_PAIRS, &met))
            return CW_NONE;
    }
    return best;
}

static void attach_one(struct attach *a, uint32_t p)
{
    struct cw_rule *rule = a->rule;
    struct cw_ask_set alone = {.count = 1, .items = {p}};
    uint32_t others = rule->max, met = 0;
    while (others && !always_fits(a, &alone, others, TRIES, &met) && cw_ask_ok(&a->m->ask))
        others--;
    if (others == rule->max && met)
        return; /* does not take part */
    a->weight[p] = rule->max - others;
    rule->group[p] = find_group(a, p, others + 1);
    if (rule->group[p] == CW_NONE)
        a->fresh.items[a->fresh.count++] = p;
}

/* Whether two placements with new groups share a group: together they leave as much room as either alone. */
static bool share(struct attach *a, uint32_t p, uint32_t q)
{
    struct cw_ask_set set = {.count = 1, .items = {p}};
    uint32_t met;
    if (a->weight[p] != a->weight[q] || !cw_model_allows(a->m, &set, q))
        return false;
    set.items[set.count++] = q;
    return always_fits(a, &set, a->rule->max - a->weight[p], LIGHT_PAIRS, &met);
}

/* Groups greedily: a placement joins a group if it shares with all its members. */
static void group_fresh(struct attach *a)
{
    struct cw_rule *rule = a->rule;
    for (uint32_t i = 0, first = rule->group_count; i < a->fresh.count && cw_ask_ok(&a->m->ask); i++) {
        uint32_t p = a->fresh.items[i], joined = CW_NONE;
        for (uint32_t g = first; g < rule->group_count && joined == CW_NONE; g++) {
            bool all = true;
            for (uint32_t k = 0; k < i && all; k++)
                all = rule->group[a->fresh.items[k]] != g || share(a, p, a->fresh.items[k]);
            if (all)
                joined = g;
        }
        rule->group[p] = joined == CW_NONE ? rule->group_count++ : joined;
    }
}

static void add_helper(struct attach *a)
{
    struct cw_rule *rule = a->rule;
    uint32_t n = a->m->chip.placement_count;
    rule->second = cw_ask_nones(&a->m->ask, n);
    if (!rule->second)
        return;
    rule->helper = rule->group_count;
    for (uint32_t p = 0; p < n; p++)
        if (rule->group[p] != CW_NONE && a->weight[p] > 1)
            rule->second[p] = rule->group_count;
    rule->group_count++;
}

/* Whether the rule has sources. Only then can there be a helper, a source beside others; with slots each counter takes
 * one. */
static bool has_sources(const struct attach *a)
{
    uint32_t *size = cw_ask_array(&a->m->ask, a->rule->group_count, sizeof *size), shared = 0, members = 0;
    for (uint32_t p = 0; cw_ask_ok(&a->m->ask) && p < a->m->chip.placement_count; p++)
        if (a->rule->group[p] != CW_NONE) {
            members++;
            shared += ++size[a->rule->group[p]] > 1;
        }
    return shared * 2 > members;
}

/* Adds members of `pool` that the rule lacks but that take part in it: to the groups that they share, or to new ones.
 * Placements that need a helper get a second group in common. */
static void learn_attach(struct cw_model *m, const struct cw_pool *pool, const struct cw_pool *light,
                         struct cw_rule *rule)
{
    struct attach a = {.m = m, .light = light, .rule = rule};
    a.fresh.items = cw_ask_array(&m->ask, pool->count, sizeof *a.fresh.items);
    a.weight = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *a.weight);
    bool heavy = false;
    for (uint32_t i = 0; cw_ask_ok(&m->ask) && i < pool->count; i++)
        if (rule->group[pool->items[i]] == CW_NONE)
            attach_one(&a, pool->items[i]);
    if (cw_ask_ok(&m->ask))
        group_fresh(&a);
    for (uint32_t i = 0; cw_ask_ok(&m->ask) && i < pool->count; i++)
        heavy |= a.weight[pool->items[i]] > 1;
    if (heavy && has_sources(&a))
        add_helper(&a);
}

/* ---- shared groups ----------------------------------------------------------------------------------------------- */

/* Learns which placements share a group of a rule. */

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

/* Joins groups of a new rule that share. `rule` comes with a maximum and a group for each member; it is not yet part of
 * the model. */
static void learn_share(struct cw_model *m, const struct cw_pool *members, struct cw_rule *rule)
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

/* Joins groups of a rule of the model that prove to be one. */
static void learn_merge(struct cw_model *m, struct cw_rule *rule)
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

/* Learns rules of the form "a pass uses at most so many of these groups": slots, where each counter is a group, and
 * sources, which several counters share. */

enum {
    LEVEL_SETS = 300,  /* sets judged at each size */
    MINED_SETS = 3000, /* sets tried in search of unfit ones */
    RARE_SETS = 30000, /* the same, for rules that concern few sets */
    MINED_EACH = 60,   /* limit for each placement */
    CONTEXTS = 16,     /* sets to add a placement to, in order to judge it */
    LARGEST = 24,      /* largest size of sets */
    ROUNDS = 8,        /* rules for one size */
    SMALL_POOL = 64,   /* size of a pool whose exceptions can all be learned one by one */
    LARGE_POOL = 400,  /* size of a pool whose groups are learned one by one */
    KIND_SAMPLES = 2,
    MOST_LOST = 5, /* percentage of the sets forbidden by a rule of a small pool that may fit */
};

struct level { /* sets of one size that the model allows, each made by adding one placement to a fitting set */
    uint32_t made, unfit;
};

static struct level judge_level(struct cw_model *m, const struct cw_pool *pool, uint32_t size)
{
    struct level level = {0};
    for (uint32_t t = 0; t < LEVEL_SETS && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {0};
        if (t > 40 && level.made * 20 < t)
            break;
        if (!cw_model_grow(m, &set, pool, size - 1) || !cw_ask_fits(&m->ask, set.items, set.count) ||
            !cw_model_grow(m, &set, pool, size))
            continue;
        level.made++;
        level.unfit += !cw_ask_fits(&m->ask, set.items, set.count);
    }
    return level;
}

/* ---- participants ----------------------------------------------------------------------------------------------- */

struct mined { /* minimal unfit sets, all of one size */
    uint32_t count, size;
    struct cw_ask_set *sets;
};

static struct mined mine(struct cw_model *m, const struct cw_pool *pool, uint32_t size, uint32_t tries)
{
    uint32_t by_size[LARGEST + 1] = {0}, found = 0;
    struct mined mined = {.sets = m->sets};
    for (uint32_t t = 0; t < tries && found < CW_MODEL_SETS && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {0};
        cw_model_grow(m, &set, pool, size);
        if (set.count < 3 || cw_ask_fits(&m->ask, set.items, set.count))
            continue;
        cw_ask_minimize(&m->ask, &set);
        if (!set.count || set.count > LARGEST)
            continue;
        by_size[set.count]++;
        m->sets[found++] = set;
    }
    for (uint32_t s = 3; s <= LARGEST; s++)
        if (by_size[s] > by_size[mined.size])
            mined.size = s;
    for (uint32_t k = 0; k < found && mined.size; k++)
        if (m->sets[k].count == mined.size)
            m->sets[mined.count++] = m->sets[k];
    return mined;
}

static uint32_t root_of(uint32_t *parent, uint32_t p)
{
    while (parent[p] != p)
        p = parent[p] = parent[parent[p]];
    return p;
}

/* Returns the placements of the largest connected part of the mined sets. */
static struct cw_pool core_of(struct cw_model *m, const struct mined *mined)
{
    uint32_t n = m->chip.placement_count;
    struct cw_pool core = {0, cw_ask_array(&m->ask, n, sizeof *core.items)};
    uint32_t *parent = cw_ask_array(&m->ask, n, sizeof *parent), *size = cw_ask_array(&m->ask, n, sizeof *size),
             best = 0;
    bool *seen = cw_ask_array(&m->ask, n, sizeof *seen);
    if (!cw_ask_ok(&m->ask))
        return core;
    for (uint32_t p = 0; p < n; p++)
        parent[p] = p;
    for (uint32_t k = 0; k < mined->count; k++)
        for (uint32_t i = 0; i < mined->sets[k].count; i++) {
            seen[mined->sets[k].items[i]] = true;
            parent[root_of(parent, mined->sets[k].items[i])] = root_of(parent, mined->sets[k].items[0]);
        }
    for (uint32_t p = 0; p < n; p++)
        if (seen[p] && ++size[root_of(parent, p)] > size[best])
            best = root_of(parent, p);
    for (uint32_t p = 0; p < n; p++)
        if (seen[p] && root_of(parent, p) == best)
            core.items[core.count++] = p;
    return core;
}

/* Returns the placements of the pool that some full set of the core refuses. A placement that meets too few such sets
 * for a judgement counts as a participant. */
static struct cw_pool participants(struct cw_model *m, const struct cw_pool *pool, const struct cw_pool *core,
                                   uint32_t max)
{
    struct cw_pool all = {0, cw_ask_array(&m->ask, m->chip.placement_count, sizeof *all.items)};
    bool *inside = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *inside);
    for (uint32_t i = 0; cw_ask_ok(&m->ask) && i < core->count; i++)
        inside[core->items[i]] = true;
    for (uint32_t i = 0; cw_ask_ok(&m->ask) && i < pool->count; i++) {
        uint32_t p = pool->items[i], met = 0, tries = 0;
        bool refused = inside[p];
        for (; !refused && met < CONTEXTS && tries < 4 * CONTEXTS && cw_ask_ok(&m->ask); tries++) {
            struct cw_ask_set set = {.count = 1, .items = {p}};
            if (!cw_model_grow(m, &set, core, max + 1))
                continue;
            if (!cw_ask_fits(&m->ask, set.items + 1, max))
                continue;
            met++;
            refused = !cw_ask_fits(&m->ask, set.items, set.count);
        }
        if (refused || met < CONTEXTS / 4)
            all.items[all.count++] = p;
    }
    return all;
}

/* ---- one rule --------------------------------------------------------------------------------------------------- */

/* Makes a rule of groups with one member each; like cw_model_new_rule. */
static struct cw_rule *new_rule(struct cw_model *m, const struct cw_pool *members, uint32_t max)
{
    struct cw_rule *rule = cw_model_new_rule(m, max);
    for (uint32_t i = 0; rule && i < members->count; i++)
        rule->group[members->items[i]] = rule->group_count++;
    return rule;
}

static void believe_rule(struct cw_model *m)
{
    m->rule_count++;
    cw_model_changed(m);
}

/* Percentage of fitting sets among sets of `max` + 1 members, each made from a fitting set. */
static uint32_t percent_beyond(struct cw_model *m, const struct cw_pool *pool, uint32_t max)
{
    struct level level = judge_level(m, pool, max + 1);
    return level.made ? 100 * (level.made - level.unfit) / level.made : 0;
}

/* Largest size at which sets of a pool nearly always fit. */
static uint32_t largest_fitting(struct cw_model *m, const struct cw_pool *pool, uint32_t size)
{
    for (; size < LARGEST && cw_ask_ok(&m->ask); size++) {
        struct level level = judge_level(m, pool, size + 1);
        if (level.made < 10 || level.unfit * 50 > level.made)
            break;
    }
    return size;
}

/* Learns a rule for `members`. With `shared`, members may share groups; with `attached`, other placements of the pool
 * may join. */
static void learn_groups(struct cw_model *m, const struct cw_pool *pool, const struct cw_pool *members, uint32_t max,
                         bool shared, bool attached)
{
    struct cw_rule *rule = new_rule(m, members, max);
    if (!rule)
        return;
    if (shared)
        learn_share(m, members, rule);
    if (attached)
        learn_attach(m, pool, members, rule);
    believe_rule(m);
}

/* Learns a rule for members of different weight: the light ones first, then the others beside them. */
static void learn_weighted(struct cw_model *m, const struct cw_pool *pool, const struct cw_pool *light, uint32_t size)
{
    uint32_t max = largest_fitting(m, light, size);
    learn_groups(m, pool, light, max, percent_beyond(m, light, max) > 1, true);
}

/* Keeps a few placements of each kind, which stand for the others while groups are learned. */
static struct cw_pool thin_out(struct cw_model *m, const struct cw_pool *pool)
{
    struct cw_pool thin = {0, cw_ask_array(&m->ask, pool->count, sizeof *thin.items)};
    uint32_t *of_kind = cw_ask_array(&m->ask, m->kind_count, sizeof *of_kind);
    for (uint32_t i = 0; cw_ask_ok(&m->ask) && i < pool->count; i++)
        if (of_kind[m->kind[pool->items[i]]]++ < KIND_SAMPLES)
            thin.items[thin.count++] = pool->items[i];
    return thin;
}

/* Percentage of fitting sets among sets of `size`, made from fitting ones, that the rules from number `first` on
 * forbid. */
static uint32_t percent_lost(struct cw_model *m, const struct cw_pool *pool, uint32_t size, uint32_t first)
{
    uint32_t rules = m->rule_count, forbidden = 0, lost = 0;
    m->rule_count = first;
    for (uint32_t t = 0; t < LEVEL_SETS && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {0};
        bool breaks = false;
        if (!cw_model_grow(m, &set, pool, size - 1) || !cw_ask_fits(&m->ask, set.items, set.count) ||
            !cw_model_grow(m, &set, pool, size))
            continue;
        for (uint32_t r = first; r < rules; r++)
            breaks |= cw_model_groups(&m->rules[r], &set) > m->rules[r].max;
        forbidden += breaks;
        lost += breaks && cw_ask_fits(&m->ask, set.items, set.count);
    }
    m->rule_count = rules;
    return forbidden ? 100 * lost / forbidden : 0;
}

/* Learns the rule behind most unfit sets of `size`. Judges its effect on sets of the pool, or, for a rule that concerns
 * few sets of the pool, on sets of its members. False if there is no such rule. */
static bool learn_rule(struct cw_model *m, const struct cw_pool *pool, uint32_t size, bool rare)
{
    uint32_t most = rare ? RARE_SETS : MINED_SETS, tries = MINED_EACH * pool->count;
    const struct mined mined = mine(m, pool, size, tries < most ? tries : most);
    if (mined.count < 4)
        return false;
    struct cw_pool core = core_of(m, &mined), members = core, light = {0};
    bool large = core.count > LARGE_POOL;
    if (large)
        members = thin_out(m, &core);
    uint32_t beyond = large ? percent_beyond(m, &members, mined.size - 1) : 0;
    if (!large || beyond <= 1) {
        members = participants(m, pool, &core, mined.size - 1);
        beyond = percent_beyond(m, &members, mined.size - 1);
    }
    if (!cw_ask_ok(&m->ask))
        return false;
    if (beyond > (rare ? 90 : 97))
        return false; /* too irregular for a rule */
    struct cw_pool judged = rare ? members : *pool;
    uint32_t judged_size = rare ? mined.size : size, rules = m->rule_count;
    struct level before = judge_level(m, &judged, judged_size);
    if (beyond > 1)
        light = learn_light(m, &members, mined.size);
    if (light.count)
        learn_weighted(m, pool, &light, mined.size);
    else
        learn_groups(m, pool, &members, mined.size - 1, beyond > 1, large && beyond > 1);
    struct level after = judge_level(m, &judged, judged_size);
    bool useless = after.made && after.unfit * 2 * before.made > before.unfit * after.made;
    /* bans lose no fitting sets, and are better as long as few are needed */
    if (useless || (pool->count <= SMALL_POOL && percent_lost(m, &members, mined.size, rules) > MOST_LOST)) {
        m->rule_count = rules;
        return false;
    }
    return cw_ask_ok(&m->ask);
}

/* Learns rules that concern few sets of a pool. */
static void learn_rare(struct cw_model *m, const struct cw_pool *pool)
{
    for (int round = 0; round < ROUNDS && cw_ask_ok(&m->ask); round++)
        if (!learn_rule(m, pool, LARGEST, true))
            return;
}

/* Learns rules for sets of one size, until sets of that size nearly always fit. False if the pool has no such sets. */
static bool learn_size(struct cw_model *m, const struct cw_pool *pool, uint32_t size)
{
    for (int round = 0; round < ROUNDS && cw_ask_ok(&m->ask); round++) {
        struct level level = judge_level(m, pool, size);
        if (level.made < 10)
            return round > 0;
        if (level.unfit * 50 <= level.made)
            return true;
        if (learn_rule(m, pool, size, false))
            continue;
        if (level.unfit * 2 <= level.made || pool->count <= SMALL_POOL)
            return true; /* leaves the rest to bans */
        if (new_rule(m, pool, size - 1))
            believe_rule(m); /* not understood: forbid that many altogether */
    }
    return cw_ask_ok(&m->ask);
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

static void learn_domains(struct cw_model *m, const bool *domains, const char *name)
{
    const struct cw_pool pool = cw_model_pool(m, domains);
    uint32_t before = m->rule_count;
    if (pool.count < 2 || !cw_ask_ok(&m->ask))
        return;
    for (uint32_t size = 3; size <= LARGEST && learn_size(m, &pool, size); size++)
        ;
    learn_rare(m, &pool);
    cw_model_tell(m, "%s: %u placements, %u new rules", name, pool.count, m->rule_count - before);
}

/* Learns rules of each domain with the cooperative groups that it leads, then of single domains, then of all
 * interfering domains together. */
void cw_learn_rules(struct cw_model *m)
{
    const struct cw_chip *chip = &m->chip;
    size_t count;
    const struct cw_nvperf_domain *list = cw_nvperf_domains(m->ask.scheduler, &count);
    bool *domains = cw_ask_array(&m->ask, chip->domain_count, sizeof *domains);
    for (int pass = 0; pass < 2 && cw_ask_ok(&m->ask); pass++) /* as the leading member, then as any member */
        for (uint32_t d = 0; d < chip->domain_count && cw_ask_ok(&m->ask); d++) {
            bool any = pass == 0;
            memset(domains, 0, chip->domain_count * sizeof *domains);
            domains[d] = true;
            for (size_t g = 0; g < count; g++)
                for (uint32_t k = 0; list[g].cooperative && k < list[g].member_count && (pass || k == 0); k++)
                    for (uint32_t e = 0; list[g].members[k] == chip->domains[d].id && e < chip->domain_count; e++)
                        if (chip->domains[e].id == list[g].id)
                            any = domains[e] = true;
            if (any && !m->own_pass[d])
                learn_domains(m, domains, chip->domains[d].name);
        }
    for (uint32_t c = 0; c < chip->domain_count && cw_ask_ok(&m->ask); c++)
        if (cw_model_mark_cluster(m, c, domains) > 1)
            learn_domains(m, domains, "all domains of a cluster");
    for (uint32_t r = 0; r < m->rule_count && cw_ask_ok(&m->ask); r++)
        if (m->rules[r].max)
            learn_merge(m, &m->rules[r]);
}
