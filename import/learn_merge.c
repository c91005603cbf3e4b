/* Groups of a rule that are one: where a pass may hold one group more than the rule says, two of them share. */
#include <string.h>

#include "import/learn_share.h"

enum {
    SETS_EACH = 30, /* sets looked at for each group */
    MOST_SETS = 3000,
    TESTS = 10,
    DRAWS = 30,
};

struct merge {
    struct cw_model *m;
    struct cw_rule *rule;
    uint32_t max; /* the rule's own: while sets are drawn it allows one group more */
    struct cw_pool pool;
    struct cw_pool *members; /* by group */
    uint8_t *tested;         /* [group * group_count + group] */
};

/* Draws until the set uses one group too many; false when it does not come to that. */
static bool overfill(struct merge *g, struct cw_set *set)
{
    uint32_t now = cw_model_groups(g->rule, set);
    for (uint32_t draws = 0; now <= g->max && draws < DRAWS * (g->max + 1); draws++) {
        uint32_t p = g->pool.items[cw_ask_random(&g->m->ask, g->pool.count)];
        if (!cw_model_allows(g->m, set, p))
            continue;
        struct cw_set with = *set;
        with.items[with.count++] = p;
        uint32_t more = cw_model_groups(g->rule, &with);
        if (more == now)
            continue; /* nothing new: keep the set small */
        *set = with;
        now = more;
    }
    return now == g->max + 1;
}

static bool share(struct merge *g, uint32_t a, uint32_t b)
{
    struct cw_model *m = g->m;
    uint32_t fit = 0, unfit = 0;
    for (uint32_t t = 0; t < 3 * TESTS && fit + unfit < TESTS && unfit < 3 && cw_ask_ok(&m->ask); t++) {
        struct cw_set set = {.count = 1};
        uint32_t p = g->members[b].items[cw_ask_random(&m->ask, g->members[b].count)];
        set.items[0] = g->members[a].items[cw_ask_random(&m->ask, g->members[a].count)];
        if (!cw_model_allows(m, &set, p))
            continue;
        set.items[set.count++] = p;
        if (!overfill(g, &set))
            continue;
        if (cw_ask_fits(&m->ask, m->chip, set.items, set.count))
            fit++;
        else if (cw_ask_fits(&m->ask, m->chip, set.items + 1, set.count - 1)) /* else something unknown is in the way */
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

/* Of a set that fits with one group too many, some two groups are one. */
static void learn_from(struct merge *g, const struct cw_set *set)
{
    uint32_t n = g->rule->group_count;
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < i; k++) {
            uint32_t a = g->rule->group[set->items[i]], b = g->rule->group[set->items[k]];
            if (a == CW_NONE || b == CW_NONE || a == b || g->tested[(size_t)a * n + b])
                continue;
            g->tested[(size_t)a * n + b] = g->tested[(size_t)b * n + a] = 1;
            if (share(g, a, b))
                join(g, a < b ? a : b, a < b ? b : a);
        }
}

static void list_members(struct merge *g)
{
    struct cw_model *m = g->m;
    const struct cw_rule *rule = g->rule;
    uint32_t n = m->chip->placement_count;
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
        struct cw_set set = {0};
        if (overfill(&g, &set) && cw_ask_fits(&m->ask, m->chip, set.items, set.count))
            learn_from(&g, &set);
    }
    rule->max--;
}
