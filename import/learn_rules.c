/* Learns rules of the form "a pass uses at most so many of these groups": slots, where each counter is a group, and
 * sources, which several counters share. */
#include <string.h>

#include "import/learn_model.h"

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
        cw_learn_share(m, members, rule);
    if (attached)
        cw_learn_attach(m, pool, members, rule);
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
        light = cw_learn_light(m, &members, mined.size);
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
            cw_learn_merge(m, &m->rules[r]);
}
