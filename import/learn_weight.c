/* Learns which placements need more than one group of a rule. */
#include <string.h>

#include "import/learn_model.h"

enum { SAMPLES = 60, TRIES = 12, DRAWS = 40, CANDIDATE_TRIES = 48, PAIR_TRIES = 6 };

/* ---- light placements ------------------------------------------------------------------------------------------- */

struct samples { /* sets of one size */
    uint32_t count, size, *items;
    bool *fits; /* by set */
};

static struct samples draw_samples(struct cw_model *m, const struct cw_pool *members, uint32_t size)
{
    size_t most = SAMPLES * (size_t)members->count;
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

struct cw_pool cw_learn_light(struct cw_model *m, const struct cw_pool *members, uint32_t size)
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
    for (uint32_t draws = 0; set->count < size && draws < DRAWS * size; draws++) {
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
        if (!always_fits(a, &set, others - 1, PAIR_TRIES, &met))
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
    return always_fits(a, &set, a->rule->max - a->weight[p], PAIR_TRIES, &met);
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

void cw_learn_attach(struct cw_model *m, const struct cw_pool *pool, const struct cw_pool *light, struct cw_rule *rule)
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
