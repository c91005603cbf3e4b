#include "import/learn_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cw_model_tell(const struct cw_model *m, const char *format, ...)
{
    char text[200];
    va_list args;
    if (!m->progress)
        return;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= 0 && n < (int)sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, " (%" PRIu64 " questions)", m->ask.questions);
    m->progress(text);
}

struct cw_pool cw_model_pool(struct cw_model *m, const bool *domains)
{
    struct cw_pool pool = {0, cw_ask_array(&m->ask, m->chip.placement_count, sizeof *pool.items)};
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < m->chip.placement_count; p++)
        if (m->usable[p] && domains[m->chip.placements[p].domain])
            pool.items[pool.count++] = p;
    return pool;
}

uint32_t cw_model_mark_cluster(const struct cw_model *m, uint32_t cluster, bool *domains)
{
    uint32_t members = 0;
    for (uint32_t d = 0; d < m->chip.domain_count; d++)
        members += domains[d] = m->cluster[d] == cluster && !m->own_pass[d];
    return members;
}

uint32_t cw_model_cluster(const struct cw_model *m, uint32_t class_)
{
    return m->cluster[m->chip.placements[m->classes[class_].items[0]].domain];
}

uint32_t cw_model_draw_class(struct cw_model *m, uint32_t class_)
{
    const struct cw_pool *c = &m->classes[class_];
    return c->items[cw_ask_random(&m->ask, c->count)];
}

uint32_t cw_model_draw(struct cw_model *m, const uint32_t *classes, uint32_t count)
{
    return cw_model_draw_class(m, classes[cw_ask_random(&m->ask, count)]);
}

bool cw_model_excludes(const struct cw_model *m, uint32_t a, uint32_t b)
{
    return m->conflict[(size_t)a * m->kind_room + b];
}

bool cw_model_conflict(const struct cw_model *m, uint32_t a, uint32_t b)
{
    return m->kind[a] != CW_NONE && m->kind[b] != CW_NONE && cw_model_excludes(m, m->kind[a], m->kind[b]);
}

uint32_t cw_model_groups(const struct cw_rule *rule, const struct cw_ask_set *set)
{
    uint32_t seen[2 * CW_MODEL_MOST], n = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t p = set->items[i];
        const uint32_t groups[2] = {rule->group[p], rule->second ? rule->second[p] : CW_NONE};
        for (int w = 0; w < 2; w++) {
            uint32_t k = 0;
            while (k < n && seen[k] != groups[w])
                k++;
            if (k == n && groups[w] != CW_NONE)
                seen[n++] = groups[w];
        }
    }
    return n;
}

/* ---- state of a set --------------------------------------------------------------------------------------------- */

/* The last set asked about, with its consequences: most questions concern the same set or one with a few more
 * placements. A mark is set if it equals the current stamp. */
struct cw_model_last {
    struct cw_ask_set set;
    uint32_t stamp, rule_count, ban_count;
    uint32_t *raws;                         /* by raw counter: the set has it */
    uint8_t *conflict;                      /* by kind: the set excludes it */
    uint32_t *groups[CW_RULES_MOST], *used; /* by rule: marks of the groups that the set uses, and their number */
    uint8_t *parts;                         /* by ban: bits of the parts of which the set has a member */
    uint32_t ban_room;
};

struct cw_rule *cw_model_new_rule(struct cw_model *m, uint32_t max)
{
    struct cw_rule *rule = &m->rules[m->rule_count];
    *rule = (struct cw_rule){.max = max, .group = cw_ask_nones(&m->ask, m->chip.placement_count)};
    return cw_ask_ok(&m->ask) && m->rule_count + 1 < CW_RULES_MOST ? rule : NULL;
}

void cw_model_changed(struct cw_model *m)
{
    if (m->last)
        m->last->rule_count = CW_NONE;
}

static bool new_group(const struct cw_model_last *f, uint32_t rule, uint32_t group)
{
    return group != CW_NONE && f->groups[rule][group] != f->stamp;
}

static void use_groups(struct cw_model_last *f, const struct cw_rule *rule, uint32_t r, uint32_t p)
{
    const uint32_t groups[2] = {rule->group[p], rule->second ? rule->second[p] : CW_NONE};
    for (int w = 0; w < 2; w++)
        if (new_group(f, r, groups[w])) {
            f->groups[r][groups[w]] = f->stamp;
            f->used[r]++;
        }
}

/* Loops over bytes, which the compiler vectorizes. */
static void unite(uint8_t *restrict to, const uint8_t *restrict with, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] |= with[i];
}

static bool completes_any(const uint8_t *restrict row, const uint8_t *restrict met, const uint8_t *restrict all,
                          uint32_t count)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < count; i++)
        any |= (row[i] != 0) & ((uint8_t)(row[i] | met[i]) == all[i]);
    return any != 0;
}

static void fill_more(const struct cw_model *m, struct cw_model_last *f, uint32_t p)
{
    f->set.items[f->set.count++] = p;
    f->raws[m->chip.placements[p].raw] = f->stamp;
    if (m->kind[p] != CW_NONE)
        unite(f->conflict, m->conflict + (size_t)m->kind[p] * m->kind_room, m->kind_count);
    for (uint32_t r = 0; r < m->rule_count; r++)
        use_groups(f, &m->rules[r], r, p);
    if (m->ban_count)
        unite(f->parts, m->bans + (size_t)m->class_[p] * m->ban_room, m->ban_count);
}

/* Makes room for the current size of the model. */
static bool fill_room(struct cw_model *m, struct cw_model_last *f)
{
    const struct cw_chip *chip = &m->chip;
    if (!f->raws) {
        f->raws = cw_ask_array(&m->ask, chip->raw_count, sizeof *f->raws);
        f->conflict = cw_ask_array(&m->ask, m->kind_room, 1);
        f->used = cw_ask_array(&m->ask, CW_RULES_MOST, sizeof *f->used);
    }
    for (uint32_t r = 0; r < m->rule_count; r++) /* a group for each placement, and one for helpers */
        if (!f->groups[r])
            f->groups[r] = cw_ask_array(&m->ask, chip->placement_count + 1u, sizeof **f->groups);
    if (f->ban_room < m->ban_room) {
        f->ban_room = m->ban_room;
        f->parts = cw_ask_array(&m->ask, f->ban_room, 1);
    }
    return cw_ask_ok(&m->ask);
}

/* Computes the state of a set. */
static bool fill(struct cw_model *m, struct cw_model_last *f, const struct cw_ask_set *set)
{
    if (f->rule_count != m->rule_count || f->ban_count != m->ban_count || f->set.count > set->count ||
        memcmp(f->set.items, set->items, f->set.count * sizeof *set->items) != 0) {
        if (!fill_room(m, f))
            return false;
        f->stamp++;
        f->set.count = 0;
        f->rule_count = m->rule_count;
        f->ban_count = m->ban_count;
        memset(f->conflict, 0, m->kind_count);
        memset(f->used, 0, m->rule_count * sizeof *f->used);
        if (m->ban_count)
            memset(f->parts, 0, m->ban_count);
    }
    while (f->set.count < set->count)
        fill_more(m, f, set->items[f->set.count]);
    return true;
}

bool cw_model_allows(struct cw_model *m, const struct cw_ask_set *set, uint32_t more)
{
    if (!m->usable[more] || set->count + 1 >= CW_MODEL_MOST)
        return false;
    if (!m->last) {
        m->last = cw_ask_array(&m->ask, 1, sizeof *m->last);
        cw_model_changed(m); /* discards any earlier state */
    }
    struct cw_model_last *f = m->last;
    if (!f || !fill(m, f, set) || f->raws[m->chip.placements[more].raw] == f->stamp ||
        (m->kind[more] != CW_NONE && f->conflict[m->kind[more]]))
        return false;
    for (uint32_t r = 0; r < m->rule_count; r++) {
        const struct cw_rule *rule = &m->rules[r];
        uint32_t group = rule->group[more], second = rule->second ? rule->second[more] : CW_NONE;
        if (group != CW_NONE &&
            f->used[r] + new_group(f, r, group) + (second != group && new_group(f, r, second)) > rule->max)
            return false;
    }
    return !m->ban_count ||
           !completes_any(m->bans + (size_t)m->class_[more] * m->ban_room, f->parts, m->ban_parts, m->ban_count);
}

bool cw_model_grow(struct cw_model *m, struct cw_ask_set *set, const struct cw_pool *pool, uint32_t size)
{
    for (uint32_t misses = 0; pool->count && set->count < size && misses < 40 + 10 * size;) {
        uint32_t p = pool->items[cw_ask_random(&m->ask, pool->count)];
        if (cw_model_allows(m, set, p))
            set->items[set->count++] = p;
        else
            misses++;
    }
    return set->count >= size;
}
