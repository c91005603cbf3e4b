/* Learns crowds: sets of classes of which a pass takes only a certain number, in any combination. One such rule
 * replaces many bans. */
#include <string.h>

#include "import/learn_model.h"

enum {
    DRAWS = 30,
    TRIES = 5, /* sets to judge a class before it joins, */
    NEED = 3,  /* and how many of them must be found */
    TRIM_ROUNDS = 6,
    SMALLEST = 3, /* minimum size, as a multiple of the first set's */
};

struct crowd {
    struct cw_model *m;
    uint32_t most;         /* limit on placements in a pass */
    uint32_t *list, count; /* classes; the initial ones come first */
    uint32_t seeds;
    uint8_t *inside; /* by class */
};

/* Adds up to `size` drawn members to `set`, as far as the model allows them together. */
static bool draw_members(struct crowd *w, struct cw_ask_set *set, uint32_t size)
{
    struct cw_model *m = w->m;
    for (uint32_t d = 0; d < DRAWS && set->count < size; d++) {
        uint32_t p = cw_model_draw(m, w->list, w->count);
        if (cw_model_allows(m, set, p))
            set->items[set->count++] = p;
    }
    return set->count == size;
}

/* Whether a class can replace any member: no set filled with others and one of its placements fits. */
static bool belongs(struct crowd *w, uint32_t class_)
{
    struct cw_model *m = w->m;
    uint32_t met = 0;
    for (uint32_t t = 0; t < 2 * TRIES && met < TRIES && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {.count = 1, .items = {cw_model_draw_class(m, class_)}};
        if (!draw_members(w, &set, w->most + 1))
            continue;
        met++;
        if (cw_ask_fits(&m->ask, set.items, set.count))
            return false;
    }
    return met >= NEED;
}

static void add_class(struct crowd *w, uint32_t class_)
{
    w->inside[class_] = 1;
    w->list[w->count++] = class_;
}

/* Removes the class that stands in most of the fitting sets; false if all of them have initial classes only. */
static bool remove_worst(struct crowd *w, struct cw_ask_set *wrong, uint32_t *wrong_count, uint32_t *votes)
{
    struct cw_model *m = w->m;
    uint32_t worst = CW_NONE, n = 0;
    memset(votes, 0, m->class_count * sizeof *votes);
    for (uint32_t t = 0; t < *wrong_count; t++)
        for (uint32_t i = 0; i < wrong[t].count; i++)
            votes[m->class_[wrong[t].items[i]]]++;
    for (uint32_t i = w->seeds; i < w->count; i++)
        if (votes[w->list[i]] && (worst == CW_NONE || votes[w->list[i]] > votes[w->list[worst]]))
            worst = i;
    if (worst == CW_NONE)
        return false;
    uint32_t class_ = w->list[worst];
    memmove(w->list + worst, w->list + worst + 1, (w->count - worst - 1) * sizeof *w->list);
    w->count--;
    w->inside[class_] = 0;
    for (uint32_t t = 0; t < *wrong_count; t++) {
        bool has = false;
        for (uint32_t i = 0; i < wrong[t].count; i++)
            has |= m->class_[wrong[t].items[i]] == class_;
        if (!has)
            wrong[n++] = wrong[t];
    }
    *wrong_count = n;
    return true;
}

/* Trims until no full set with one more fits. */
static bool trim(struct crowd *w)
{
    struct cw_model *m = w->m;
    struct cw_ask_set *wrong = m->sets;
    uint32_t *votes = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *votes);
    for (int round = 0; round < TRIM_ROUNDS && cw_ask_ok(&m->ask); round++) {
        uint32_t count = 0;
        for (uint32_t t = 0; t < CW_MODEL_SETS && t < 4 * w->count + 40 && cw_ask_ok(&m->ask); t++) {
            wrong[count].count = 0;
            if (draw_members(w, &wrong[count], w->most + 1) &&
                cw_ask_fits(&m->ask, wrong[count].items, wrong[count].count))
                count++;
        }
        if (!count)
            return true;
        while (count)
            if (!remove_worst(w, wrong, &count, votes))
                return false;
    }
    return false;
}

static bool add_rule(struct crowd *w)
{
    struct cw_model *m = w->m;
    uint32_t members = 0;
    for (uint32_t i = 0; i < w->count; i++)
        members += m->classes[w->list[i]].count;
    struct cw_rule *rule = members < SMALLEST * (w->most + 1) ? NULL : cw_model_new_rule(m, w->most);
    if (!rule)
        return false;
    for (uint32_t i = 0; i < w->count; i++)
        for (uint32_t k = 0; k < m->classes[w->list[i]].count; k++)
            rule->group[m->classes[w->list[i]].items[k]] = rule->group_count++;
    m->rule_count++;
    cw_model_changed(m);
    return true;
}

bool cw_learn_crowd(struct cw_model *m, const struct cw_ask_set *set)
{
    struct crowd w = {.m = m, .most = set->count - 1};
    w.list = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *w.list);
    w.inside = cw_ask_array(&m->ask, m->chip.placement_count, 1);
    for (uint32_t i = 0; i < set->count && cw_ask_ok(&m->ask); i++)
        if (!w.inside[m->class_[set->items[i]]])
            add_class(&w, m->class_[set->items[i]]);
    w.seeds = w.count;
    if (!cw_ask_ok(&m->ask))
        return false;
    uint32_t cluster = cw_model_cluster(m, w.list[0]);
    for (uint32_t c = 0; c < m->class_count && cw_ask_ok(&m->ask); c++)
        if (!w.inside[c] && m->usable[m->classes[c].items[0]] && cw_model_cluster(m, c) == cluster && belongs(&w, c))
            add_class(&w, c);
    return cw_ask_ok(&m->ask) && trim(&w) && add_rule(&w);
}
