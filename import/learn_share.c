#include "import/learn_share.h"

#include <string.h>

enum { UNKNOWN, APART, SHARED }; /* what is known of two members */

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

/* A minimal set that does not fit holds no two members of one group: the second would add nothing. */
static void mark_apart(struct share *s, const struct cw_set *set)
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
        struct cw_set set = {0};
        if (!cw_model_grow(m, &set, s->members, s->rule->max + 1) ||
            cw_ask_fits(&m->ask, m->chip, set.items, set.count))
            continue;
        cw_model_minimize(m, &set);
        if (set.count == s->rule->max + 1)
            mark_apart(s, &set);
    }
}

/* Draws members that are known to be apart from all others of the set. */
static bool grow_apart(struct share *s, struct cw_set *set, uint32_t size)
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

/* Two members share when sets that are full with either take the other as well. */
static void ask_pair(struct share *s, uint32_t a, uint32_t b)
{
    struct cw_model *m = s->m;
    uint32_t fits = 0;
    for (uint32_t t = 0; t < 2 * PAIR_TRIES && fits < PAIR_TRIES && cw_ask_ok(&m->ask); t++) {
        struct cw_set set = {.count = 2, .items = {s->members->items[a], s->members->items[b]}};
        if (!grow_apart(s, &set, s->rule->max + 1))
            continue;
        if (cw_ask_fits(&m->ask, m->chip, set.items, set.count)) {
            fits++;
            continue;
        }
        cw_model_minimize(m, &set);
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
            struct cw_set one = {.count = 1, .items = {s->members->items[a]}};
            if (*relation(s, a, b) == UNKNOWN && cw_model_allows(s->m, &one, s->members->items[b]))
                ask_pair(s, a, b);
        }
}

/* Joins the group with most known sharers in which nobody is apart; pairs that never meet do not matter. */
static void make_groups(struct share *s)
{
    uint32_t *group = cw_ask_array(&s->m->ask, s->n, sizeof *group), count = 0;
    uint32_t *votes = cw_ask_array(&s->m->ask, s->n, sizeof *votes);
    bool *against = cw_ask_array(&s->m->ask, s->n, sizeof *against);
    for (uint32_t a = 0; cw_ask_ok(&s->m->ask) && a < s->n; a++) {
        memset(votes, 0, count * sizeof *votes);
        memset(against, 0, count * sizeof *against);
        for (uint32_t b = 0; b < a; b++) {
            struct cw_set one = {.count = 1, .items = {s->members->items[a]}};
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
    s.index = cw_ask_array(&m->ask, m->chip->placement_count, sizeof *s.index);
    s.relation = cw_ask_array(&m->ask, (size_t)s.n * s.n, 1);
    if (!cw_ask_ok(&m->ask))
        return;
    memset(s.index, 0xff, m->chip->placement_count * sizeof *s.index);
    for (uint32_t i = 0; i < s.n; i++)
        s.index[members->items[i]] = i;
    ask_at_random(&s);
    ask_pairs(&s);
    make_groups(&s);
}
