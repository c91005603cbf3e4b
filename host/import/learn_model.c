#include "host/import/learn_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *cw_model_array(struct cw_model *m, size_t count, size_t size)
{
    void *p = cw_model_ok(m) ? cw_arena_alloc(m->arena, count, size) : NULL;
    if (!p && cw_model_ok(m))
        m->status = cw_error_nomem(m->err);
    return p;
}

bool cw_model_ok(const struct cw_model *m)
{
    return m->status == CW_OK;
}

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
        snprintf(text + n, sizeof text - (size_t)n, " (%" PRIu64 " questions)", m->questions);
    m->progress(text);
}

uint32_t cw_model_random(struct cw_model *m, uint32_t n)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (uint32_t)((m->random >> 20) % n);
}

bool cw_model_fits(struct cw_model *m, const uint32_t *placements, uint32_t count)
{
    struct cw_nvperf_placement asked[CW_SET_MOST];
    bool fits = false;
    if (!cw_model_ok(m) || count > CW_SET_MOST)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_chip_placement *p = &m->chip->placements[placements[i]];
        asked[i] = (struct cw_nvperf_placement){m->chip->raws[p->raw].id, m->chip->domains[p->domain].id};
    }
    m->questions++;
    m->status = cw_nvperf_fits(m->scheduler, asked, count, &fits, m->err);
    return cw_model_ok(m) && fits;
}

bool cw_model_fits_with(struct cw_model *m, const struct cw_set *set, uint32_t more)
{
    struct cw_set all = *set;
    all.items[all.count++] = more;
    return cw_model_fits(m, all.items, all.count);
}

bool cw_model_conflict(const struct cw_model *m, uint32_t a, uint32_t b)
{
    return m->kind[a] != CW_NONE && m->kind[b] != CW_NONE &&
           m->conflict[(size_t)m->kind[a] * m->kind_room + m->kind[b]];
}

/* Groups of a rule that a set and one more placement use together. */
static uint32_t groups_used(const struct cw_rule *rule, const struct cw_set *set, uint32_t more)
{
    uint32_t seen[2 * CW_SET_MOST + 2], n = 0;
    for (uint32_t i = 0; i <= set->count; i++) {
        uint32_t p = i < set->count ? set->items[i] : more;
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

/* Whether the set with `more`, which belongs to one part, has a placement for each other part of a ban. */
static bool completes(const struct cw_model *m, const struct cw_ban *ban, const struct cw_set *set, uint32_t more)
{
    uint32_t all = (2u << ban->count) - 2, met = 1u << ban->part[m->class_[more]];
    for (uint32_t i = 0; i < set->count && met != all; i++)
        met |= (1u << ban->part[m->class_[set->items[i]]]) & all;
    return met == all;
}

bool cw_model_allows(const struct cw_model *m, const struct cw_set *set, uint32_t more)
{
    if (!m->usable[more] || set->count + 1 >= CW_SET_MOST)
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        if (m->chip->placements[set->items[i]].raw == m->chip->placements[more].raw ||
            cw_model_conflict(m, set->items[i], more))
            return false;
    for (uint32_t r = 0; r < m->rule_count; r++) {
        const struct cw_rule *rule = &m->rules[r];
        if (rule->group[more] != CW_NONE && groups_used(rule, set, more) > rule->max)
            return false;
    }
    if (!m->class_)
        return true;
    for (uint32_t i = 0; i < m->ban_count; i++)
        if (m->bans[i].part[m->class_[more]] && completes(m, &m->bans[i], set, more))
            return false;
    return true;
}

bool cw_model_grow(struct cw_model *m, struct cw_set *set, const struct cw_pool *pool, uint32_t size)
{
    for (uint32_t misses = 0; pool->count && set->count < size && misses < 40 + 10 * size;) {
        uint32_t p = pool->items[cw_model_random(m, pool->count)];
        if (cw_model_allows(m, set, p))
            set->items[set->count++] = p;
        else
            misses++;
    }
    return set->count >= size;
}

void cw_model_minimize(struct cw_model *m, struct cw_set *set)
{
    for (uint32_t i = 0; i < set->count && cw_model_ok(m);) {
        struct cw_set fewer = *set;
        memmove(fewer.items + i, fewer.items + i + 1, (fewer.count - i - 1) * sizeof *fewer.items);
        fewer.count--;
        if (!cw_model_fits(m, fewer.items, fewer.count))
            *set = fewer;
        else
            i++;
    }
}
