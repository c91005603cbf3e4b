#include "import/mend_limits.h"

#include <string.h>

enum { DRAWS = 40 }; /* draws beyond one for each placement */

static struct cw_mend_limit *new_limit(struct cw_mend *m)
{
    struct cw_mend_limit *limits = cw_ask_grown(&m->ask, m->limits, m->count, &m->room, sizeof *limits);
    if (!limits)
        return NULL;
    m->limits = limits;
    m->changed = true;
    return &m->limits[m->count++];
}

/* Copies a limit's groups, renumbered without gaps. */
static const uint32_t *number_groups(struct cw_mend *m, const struct cw_limit *limit)
{
    uint32_t n = 0, *groups = cw_ask_array(&m->ask, limit->count, sizeof *groups);
    uint32_t *number = cw_ask_array(&m->ask, cw_mend_group_count(limit), sizeof *number);
    for (uint32_t k = 0; cw_ask_ok(&m->ask) && k < limit->count; k++) {
        if (!number[limit->groups[k]])
            number[limit->groups[k]] = ++n;
        groups[k] = number[limit->groups[k]] - 1;
    }
    return groups;
}

void cw_mend_begin(struct cw_mend *m)
{
    m->usable = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *m->usable);
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < m->chip.placement_count; p++)
        m->usable[p] = true;
    for (uint32_t i = 0; cw_ask_ok(&m->ask) && i < m->chip.limit_count; i++) {
        const struct cw_limit *from = &m->chip.limits[i];
        struct cw_mend_limit *to = new_limit(m);
        if (to) {
            *to = (struct cw_mend_limit){.limit = *from};
            to->limit.groups = number_groups(m, from);
        }
        for (uint32_t k = 0; k < from->count && !from->max; k++)
            m->usable[from->members[k]] = false;
    }
}

/* Turns a ban into a limit. Its maximum is one group for each slot, and `weight` groups for each part but one. The
 * weight makes the last part exceed the maximum exactly when enough slots are filled. */
void cw_mend_add_ban(struct cw_mend *m, const struct cw_mend_ban *ban)
{
    const struct cw_limit *slots = ban->slots == CW_NONE ? NULL : &m->limits[ban->slots].limit;
    uint32_t weight = slots ? slots->max - ban->filled + 1 : 1, n = 0, groups = slots ? cw_mend_group_count(slots) : 0;
    size_t total = slots ? slots->count : 0;
    for (uint32_t k = 0; k < ban->count; k++)
        total += (size_t)ban->parts[k].count * weight;
    uint32_t *members = cw_ask_array(&m->ask, total, sizeof *members),
             *group = cw_ask_array(&m->ask, total, sizeof *group);
    struct cw_mend_limit *to = new_limit(m);
    if (!cw_ask_ok(&m->ask))
        return;
    slots = ban->slots == CW_NONE ? NULL : &m->limits[ban->slots].limit; /* the array may have moved */
    *to = (struct cw_mend_limit){.ban = *ban};
    for (; slots && n < slots->count; n++) {
        members[n] = slots->members[n];
        group[n] = slots->groups[n];
    }
    for (uint32_t k = 0; k < ban->count; k++) {
        uint32_t *items = cw_ask_array(&m->ask, ban->parts[k].count, sizeof *items);
        if (!items)
            return;
        memcpy(items, ban->parts[k].items, ban->parts[k].count * sizeof *items);
        to->ban.parts[k].items = items;
        for (uint32_t w = 0; w < weight; w++, groups++)
            for (uint32_t i = 0; i < ban->parts[k].count; i++, n++) {
                members[n] = items[i];
                group[n] = groups;
            }
    }
    uint32_t max = slots ? weight * ban->count + ban->filled - 1 : ban->count - 1;
    to->limit = (struct cw_limit){.max = max, .count = n, .members = members, .groups = group};
}

struct cw_mend_limit *cw_mend_add_copy(struct cw_mend *m, uint32_t limit)
{
    struct cw_mend_limit *to = new_limit(m);
    const struct cw_limit *from = &m->limits[limit].limit;
    uint32_t *members = cw_ask_array(&m->ask, from->count, sizeof *members);
    uint32_t *groups = cw_ask_array(&m->ask, from->count, sizeof *groups);
    if (!cw_ask_ok(&m->ask))
        return NULL;
    memcpy(members, from->members, from->count * sizeof *members);
    memcpy(groups, from->groups, from->count * sizeof *groups);
    *to =
        (struct cw_mend_limit){.limit = {.max = from->max, .count = from->count, .members = members, .groups = groups}};
    return to;
}

uint32_t cw_mend_group_count(const struct cw_limit *limit)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < limit->count; k++)
        n = limit->groups[k] >= n ? limit->groups[k] + 1 : n;
    return n;
}

static void index_uses(struct cw_mend *m)
{
    uint32_t n = m->chip.placement_count, base = 0;
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t k = 0; !m->limits[i].gone && k < m->limits[i].limit.count; k++)
            m->use_first[m->limits[i].limit.members[k] + 2]++;
    for (uint32_t p = 2; p < n + 2; p++)
        m->use_first[p] += m->use_first[p - 1];
    for (uint32_t i = 0; i < m->count; i++) {
        const struct cw_limit *l = &m->limits[i].limit;
        for (uint32_t k = 0; !m->limits[i].gone && k < l->count; k++)
            m->uses[m->use_first[l->members[k] + 1]++] = (struct cw_mend_use){i, base + l->groups[k]};
        base += m->limits[i].gone ? 0 : cw_mend_group_count(l);
    }
}

static void *table(struct cw_mend *m, size_t count, size_t size)
{
    void *p = m->tables && cw_ask_ok(&m->ask) ? cw_arena_alloc(m->tables, count, size) : NULL;
    if (!p && cw_ask_ok(&m->ask))
        m->ask.status = cw_error_nomem(m->ask.err);
    return p;
}

void cw_mend_refresh(struct cw_mend *m)
{
    size_t total = 0, groups = 0;
    cw_arena_destroy(m->tables);
    m->tables = cw_arena_create();
    for (uint32_t i = 0; i < m->count; i++) {
        total += m->limits[i].gone ? 0 : m->limits[i].limit.count;
        groups += m->limits[i].gone ? 0 : cw_mend_group_count(&m->limits[i].limit);
    }
    struct cw_limit *limits = table(m, m->count, sizeof *limits);
    m->use_first = table(m, (size_t)m->chip.placement_count + 2, sizeof *m->use_first);
    m->uses = table(m, total, sizeof *m->uses);
    m->group_seen = table(m, groups, sizeof *m->group_seen);
    m->limit_seen = table(m, m->count, sizeof *m->limit_seen);
    m->groups_used = table(m, m->count, sizeof *m->groups_used);
    m->mark = 0;
    m->chip.limit_count = 0;
    m->chip.limits = limits;
    for (uint32_t i = 0; limits && i < m->count; i++)
        if (!m->limits[i].gone)
            limits[m->chip.limit_count++] = m->limits[i].limit;
    if (cw_ask_ok(&m->ask))
        index_uses(m);
    m->changed = false;
}

uint32_t cw_mend_broken(struct cw_mend *m, const uint32_t *set, uint32_t count, uint32_t from)
{
    uint32_t first = CW_NONE, mark = ++m->mark;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = m->use_first[set[i]]; k < m->use_first[set[i] + 1]; k++) {
            struct cw_mend_use use = m->uses[k];
            if (use.limit < from || m->limits[use.limit].gone || m->group_seen[use.group] == mark)
                continue;
            m->group_seen[use.group] = mark;
            m->groups_used[use.limit] = m->limit_seen[use.limit] == mark ? m->groups_used[use.limit] + 1 : 1;
            m->limit_seen[use.limit] = mark;
            if (m->groups_used[use.limit] > m->limits[use.limit].limit.max && use.limit < first)
                first = use.limit;
        }
    return first;
}

uint32_t cw_mend_group(const struct cw_mend *m, uint32_t limit, uint32_t placement)
{
    const struct cw_limit *l = &m->limits[limit].limit;
    for (uint32_t k = 0; k < l->count; k++)
        if (l->members[k] == placement)
            return l->groups[k];
    return CW_NONE;
}

uint32_t cw_mend_used(const struct cw_mend *m, uint32_t limit, const uint32_t *set, uint32_t count)
{
    const struct cw_limit *l = &m->limits[limit].limit;
    uint32_t seen[2 * CW_ASK_MOST], n = 0;
    for (uint32_t k = 0; k < l->count && n < 2 * CW_ASK_MOST; k++)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t g = 0;
            if (l->members[k] != set[i])
                continue;
            while (g < n && seen[g] != l->groups[k])
                g++;
            if (g == n)
                seen[n++] = l->groups[k];
        }
    return n;
}

const struct cw_list *cw_mend_domain(const struct cw_mend *m, uint32_t placement)
{
    return &m->names.items[m->chip.placements[placement].domain].placements;
}

struct cw_list cw_mend_members(struct cw_mend *m, const struct cw_limit *l, uint32_t group)
{
    uint32_t *items = cw_ask_array(&m->ask, l->count, sizeof *items), n = 0;
    for (uint32_t k = 0; items && k < l->count; k++)
        if (l->groups[k] == group)
            items[n++] = l->members[k];
    return (struct cw_list){n, items};
}

/* ---- drawing sets ----------------------------------------------------------------------------------------------- */

bool cw_mend_join(struct cw_mend *m, struct cw_ask_set *set, uint32_t more)
{
    if (!m->usable[more] || set->count == CW_ASK_MOST || cw_ask_has_raw(&m->ask, set, more, CW_NONE))
        return false;
    set->items[set->count++] = more;
    if (cw_mend_broken(m, set->items, set->count, 0) == CW_NONE)
        return true;
    set->count--;
    return false;
}

bool cw_mend_fill(struct cw_mend *m, struct cw_ask_set *set, uint32_t limit, const struct cw_list *from,
                  uint32_t groups)
{
    uint32_t used = cw_mend_used(m, limit, set->items, set->count);
    for (uint32_t draws = 0; from->count && used < groups && draws < DRAWS + from->count / 2 && cw_ask_ok(&m->ask);
         draws++)
        if (cw_mend_join(m, set, from->items[cw_ask_random(&m->ask, from->count)]))
            used = cw_mend_used(m, limit, set->items, set->count);
    return used >= groups;
}

bool cw_mend_overfill(struct cw_mend *m, struct cw_ask_set *set, uint32_t limit)
{
    const struct cw_limit l = m->limits[limit].limit;
    return cw_mend_fill(m, set, limit, &(struct cw_list){l.count, l.members}, l.max + 1);
}

uint32_t cw_mend_sample(struct cw_mend *m, uint32_t limit, uint32_t wanted, uint32_t tries, uint32_t *met)
{
    uint32_t fit = 0;
    *met = 0;
    for (uint32_t t = 0; t < tries && *met < wanted && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {.count = 0};
        if (!cw_mend_overfill(m, &set, limit))
            continue;
        ++*met;
        fit += cw_ask_fits(&m->ask, set.items, set.count);
    }
    return fit;
}
