/* Narrows a limit and adds one. */
#include <string.h>

#include "import/mend_limits.h"

enum {
    SAMPLES = 24,  /* sets drawn to measure how often a limit is wrong, */
    SURE = 16,     /* or whether its replacement is right */
    BOX_TESTS = 6, /* sets tested for each placement that joins a part */
    SPECIALS = 10, /* placements tried in place of a member */
    DRAWS = 40,    /* draws for each wanted set */
    FEWEST_MET = 4,
    SMALL_POOL = 64,
    MOST_BROKEN = 64, /* limits narrowed for one set */
    MOST_TRIES = 8,   /* attempts to replace a rule */
};

static bool has(const struct cw_list *list, uint32_t item)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == item)
            return true;
    return false;
}

/* ---- drawing forbidden sets -------------------------------------------------------------------------------------- */

/* Adds placements of the ban's slots until enough are filled. */
static bool fill(struct cw_mend *m, const struct cw_mend_ban *ban, struct cw_ask_set *set)
{
    if (ban->slots == CW_NONE)
        return true;
    const struct cw_limit *slots = &m->limits[ban->slots].limit;
    return cw_mend_fill(m, set, ban->slots, &(struct cw_list){slots->count, slots->members}, ban->filled);
}

/* Draws a placement of each part, or takes the given one unless it is CW_NONE, and fills the slots. The ban itself must
 * not be among the limits. */
static bool draw(struct cw_mend *m, const struct cw_mend_ban *ban, const uint32_t *given, struct cw_ask_set *set)
{
    set->count = 0;
    for (uint32_t k = 0; k < ban->count; k++) {
        const struct cw_list *part = &ban->parts[k];
        uint32_t p = given && given[k] != CW_NONE ? given[k] : part->items[cw_ask_random(&m->ask, part->count)];
        if (!cw_mend_join(m, set, p))
            return false;
    }
    return fill(m, ban, set);
}

/* Draws up to `wanted` sets that the ban forbids. Returns the number that fit; `met` is the number drawn. */
static uint32_t sample(struct cw_mend *m, const struct cw_mend_ban *ban, uint32_t wanted, uint32_t *met)
{
    uint32_t fit = 0;
    struct cw_ask_set set;
    *met = 0;
    for (uint32_t t = 0; t < 4 * wanted && *met < wanted && cw_ask_ok(&m->ask); t++)
        if (draw(m, ban, NULL, &set)) {
            ++*met;
            fit += cw_ask_fits(&m->ask, set.items, set.count);
        }
    return fit;
}

/* ---- slots ------------------------------------------------------------------------------------------------------ */

/* Finds the limit that counts the slots of the domain with most of the placements: each placement is a group of it. */
static uint32_t find_slots(const struct cw_mend *m, const uint32_t *set, uint32_t count)
{
    uint32_t best = CW_NONE, most = 0, largest = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct cw_mend_limit *l = &m->limits[i];
        if (l->gone || l->ban.count || l->limit.max < 2 || cw_mend_group_count(&l->limit) <= 2 * l->limit.max)
            continue;
        uint32_t used = cw_mend_used(m, i, set, count);
        if (used && (used > most || (used == most && l->limit.max > largest))) {
            best = i;
            most = used;
            largest = l->limit.max;
        }
    }
    return best;
}

/* For a ban that forbids fitting sets only, nearly: looks for a ban of sets that fill more slots. Adds it if there is
 * one. */
static bool loosen(struct cw_mend *m, const struct cw_mend_ban *ban, const uint32_t *tuple)
{
    struct cw_mend_ban tried = *ban;
    if (tried.slots == CW_NONE) {
        tried.slots = find_slots(m, tuple, ban->count);
        tried.filled = tried.slots == CW_NONE ? 0 : cw_mend_used(m, tried.slots, tuple, ban->count);
    }
    for (tried.filled++; tried.slots != CW_NONE && tried.filled <= m->limits[tried.slots].limit.max; tried.filled++) {
        uint32_t met, fit = sample(m, &tried, SURE, &met);
        if (met >= SURE / 2 && fit * 5 <= met) {
            cw_mend_add_ban(m, &tried);
            return true;
        }
    }
    return false;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------ */

/* Grows parts around a tuple while all sets drawn from them fit, or none does; no placement is in two parts.
 * `candidates` may join. */
static void grow_box(struct cw_mend *m, struct cw_mend_ban *box, const uint32_t *tuple, struct cw_list *candidates,
                     bool fitting)
{
    bool done[CW_MEND_PARTS] = {false};
    for (uint32_t k = 0; k < box->count; k++) {
        uint32_t *items = cw_ask_array(&m->ask, (size_t)candidates[k].count + 1, sizeof *items);
        if (!items)
            return;
        items[0] = tuple[k];
        box->parts[k] = (struct cw_list){1, items};
    }
    for (uint32_t round = 0; round < box->count; round++) {
        uint32_t at = CW_NONE;
        for (uint32_t k = 0; k < box->count; k++)
            if (!done[k] && (at == CW_NONE || candidates[k].count > candidates[at].count))
                at = k;
        done[at] = true;
        uint32_t others = 1;
        for (uint32_t k = 0; k < box->count; k++)
            others = k == at || others > BOX_TESTS ? others : others * box->parts[k].count;
        for (uint32_t i = 0; i < candidates[at].count && cw_ask_ok(&m->ask); i++) {
            uint32_t given[CW_MEND_PARTS], p = candidates[at].items[i], tests = others < BOX_TESTS ? others : BOX_TESTS;
            bool alike = true;
            for (uint32_t k = 0; k < box->count; k++)
                alike &= !has(&box->parts[k], p);
            for (uint32_t t = 0; t < tests && alike; t++) {
                struct cw_ask_set set;
                for (uint32_t k = 0; k < box->count; k++)
                    given[k] = k == at ? p : CW_NONE;
                /* the first test would only repeat a known result if there is nothing to fill */
                if ((t || box->slots != CW_NONE) && draw(m, box, given, &set))
                    alike = cw_ask_fits(&m->ask, set.items, set.count) == fitting;
            }
            if (alike)
                ((uint32_t *)box->parts[at].items)[box->parts[at].count++] = p;
        }
    }
}

/* Finds members of a part that leave the set fitting, or unfit, in place of the part's own member, which stands at `at`
 * in the set. */
static struct cw_list likes(struct cw_mend *m, const struct cw_ask_set *set, uint32_t at, const struct cw_list *part,
                            bool fitting, bool allowed)
{
    uint32_t *items = cw_ask_array(&m->ask, part->count, sizeof *items), n = 0;
    for (uint32_t i = 0; i < part->count && cw_ask_ok(&m->ask); i++) {
        struct cw_ask_set other = *set;
        uint32_t p = part->items[i];
        other.items[at] = p;
        if (!m->usable[p] || cw_ask_has_raw(&m->ask, set, p, at) ||
            (allowed && cw_mend_broken(m, other.items, other.count, 0) != CW_NONE))
            continue;
        if (p == set->items[at] || cw_ask_fits(&m->ask, other.items, other.count) == fitting)
            items[n++] = p;
    }
    return (struct cw_list){n, items};
}

/* Divides a ban without the sets of a box into bans, one for each part. */
static void cut_out(struct cw_mend *m, const struct cw_mend_ban *ban, const struct cw_mend_ban *box)
{
    struct cw_mend_ban piece = *ban;
    for (uint32_t k = 0; k < ban->count && cw_ask_ok(&m->ask); k++) {
        uint32_t *items = cw_ask_array(&m->ask, ban->parts[k].count, sizeof *items), n = 0;
        for (uint32_t i = 0; items && i < ban->parts[k].count; i++)
            if (!has(&box->parts[k], ban->parts[k].items[i]))
                items[n++] = ban->parts[k].items[i];
        piece.parts[k] = (struct cw_list){n, items};
        if (n && cw_ask_ok(&m->ask))
            cw_mend_add_ban(m, &piece);
        piece.parts[k] = box->parts[k];
    }
}

/* ---- narrowing -------------------------------------------------------------------------------------------------- */

/* Expresses a limit as a ban; false if it is none. */
static bool as_ban(struct cw_mend *m, uint32_t limit, struct cw_mend_ban *ban)
{
    const struct cw_limit *l = &m->limits[limit].limit;
    *ban = m->limits[limit].ban;
    if (ban->count)
        return true;
    if (l->max + 1 > CW_MEND_PARTS || cw_mend_group_count(l) != l->max + 1)
        return false;
    *ban = (struct cw_mend_ban){.count = l->max + 1, .slots = CW_NONE};
    for (uint32_t g = 0; g < ban->count; g++)
        ban->parts[g] = cw_mend_members(m, l, g);
    return cw_ask_ok(&m->ask);
}

static void relax_ban(struct cw_mend *m, const struct cw_mend_ban *ban, const uint32_t *set, uint32_t count)
{
    uint32_t tuple[CW_MEND_PARTS], at[CW_MEND_PARTS], met, fit;
    struct cw_ask_set accepted = {.count = 0};
    for (uint32_t k = 0; k < ban->count; k++) {
        tuple[k] = CW_NONE;
        for (uint32_t i = 0; i < count && tuple[k] == CW_NONE; i++)
            if (has(&ban->parts[k], set[i]))
                tuple[k] = set[i];
        at[k] = accepted.count;
        if (tuple[k] == CW_NONE)
            return; /* a placement of two parts */
        accepted.items[accepted.count++] = tuple[k];
    }
    for (uint32_t i = 0; i < count && ban->slots != CW_NONE; i++) {
        bool taken = cw_mend_group(m, ban->slots, set[i]) == CW_NONE;
        for (uint32_t k = 0; k < ban->count; k++)
            taken |= set[i] == tuple[k];
        if (!taken)
            accepted.items[accepted.count++] = set[i];
    }
    fit = sample(m, ban, SAMPLES, &met);
    if (met >= FEWEST_MET && 4 * met <= 5 * fit && (loosen(m, ban, tuple) || fit == met))
        return;
    struct cw_mend_ban box = *ban;
    struct cw_list candidates[CW_MEND_PARTS];
    for (uint32_t k = 0; k < ban->count; k++)
        candidates[k] = likes(m, &accepted, at[k], &ban->parts[k], true, false);
    if (cw_ask_ok(&m->ask))
        grow_box(m, &box, tuple, candidates, true);
    if (cw_ask_ok(&m->ask))
        cut_out(m, ban, &box);
}

/* For a limit of one group: gives a member a limit of its own with its true conflicts. */
static void relax_one_of(struct cw_mend *m, uint32_t limit, const uint32_t *set, uint32_t count)
{
    uint32_t p = CW_NONE, n = 0;
    for (uint32_t i = 0; i < count && p == CW_NONE; i++)
        if (cw_mend_group(m, limit, set[i]) != CW_NONE)
            p = set[i];
    struct cw_mend_limit *copy = cw_mend_add_copy(m, limit);
    if (!copy || p == CW_NONE)
        return;
    uint32_t own = cw_mend_group(m, limit, p), *others = cw_ask_array(&m->ask, copy->limit.count, sizeof *others);
    uint32_t *members = (uint32_t *)copy->limit.members, *groups = (uint32_t *)copy->limit.groups, kept = 0;
    for (uint32_t k = 0; others && k < copy->limit.count; k++) {
        uint32_t pair[2] = {p, members[k]};
        if (members[k] != p && groups[k] != own && m->chip.placements[p].raw != m->chip.placements[members[k]].raw &&
            !cw_ask_fits(&m->ask, pair, 2))
            others[n++] = members[k];
        if (members[k] != p) {
            members[kept] = members[k];
            groups[kept++] = groups[k];
        }
    }
    copy->limit.count = kept;
    copy->gone = true; /* unless two groups are left */
    for (uint32_t k = 1; k < kept; k++)
        copy->gone &= groups[k] == groups[0];
    struct cw_mend_ban ban = {.count = 2, .parts = {{1, &p}, {n, others}}, .slots = CW_NONE};
    if (n && cw_ask_ok(&m->ask))
        cw_mend_add_ban(m, &ban);
}

/* Whether sets that only a changed rule allows do fit. Both rules must be in the index. */
static bool proves_right(struct cw_mend *m, uint32_t rule, uint32_t with)
{
    uint32_t met = 0, fit = 0;
    for (uint32_t t = 0; t < DRAWS * SURE && met < SURE && met - fit < 2 && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {.count = 1, .items = {with}};
        if (!cw_mend_overfill(m, &set, rule))
            continue;
        if (cw_ask_fits(&m->ask, set.items, set.count))
            fit++;
        else if (!cw_ask_fits(&m->ask, set.items + 1, set.count - 1))
            continue; /* something else interferes */
        met++;
    }
    return met >= SURE / 2 && met - fit < 2;
}

/* For a rule with many groups: takes a placement of the set out of a group. A member of two groups may belong to one
 * only, and a member of one group to none. False, without changes, if no removal proves right. */
static bool leave_group(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
{
    const struct cw_limit l = m->limits[rule].limit;
    for (uint32_t k = 0; k < l.count && cw_ask_ok(&m->ask); k++) {
        bool tried = has(&(struct cw_list){count, set}, l.members[k]);
        struct cw_mend_limit *copy = tried ? cw_mend_add_copy(m, rule) : NULL;
        if (!copy)
            continue;
        uint32_t *members = (uint32_t *)copy->limit.members, *groups = (uint32_t *)copy->limit.groups;
        memmove(members + k, members + k + 1, (copy->limit.count - k - 1) * sizeof *members);
        memmove(groups + k, groups + k + 1, (copy->limit.count - k - 1) * sizeof *groups);
        copy->limit.count--;
        cw_mend_refresh(m);
        if (cw_ask_ok(&m->ask) && proves_right(m, rule, l.members[k]))
            return true;
        m->limits[m->count - 1].gone = true;
    }
    return false;
}

/* For a rule of a small pool: if many sets with one group more fit, allows one more; unfit sets are banned as they are
 * met. */
static bool raise_rule(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
{
    const struct cw_limit l = m->limits[rule].limit;
    uint32_t met, fit = cw_mend_sample(m, rule, SAMPLES, l.count <= SMALL_POOL ? 4 * SAMPLES : 0, &met);
    if (met < FEWEST_MET || fit * 4 < met)
        return false;
    struct cw_mend_limit *copy = cw_mend_add_copy(m, rule);
    uint32_t used = cw_mend_used(m, rule, set, count);
    if (copy)
        copy->limit.max = used > l.max + 1 ? used : l.max + 1;
    return copy != NULL;
}

/* Tries first the changes inside the rule, then raising it. Repeats failed attempts in later rounds, when less
 * interferes. */
static bool relax_rule(struct cw_mend *m, uint32_t rule, const uint32_t *set, uint32_t count)
{
    struct cw_mend_limit *l = &m->limits[rule];
    if (l->tries == MOST_TRIES || (l->tries && l->tried_in == m->round))
        return false;
    l->tries++;
    l->tried_in = m->round;
    return leave_group(m, rule, set, count) || cw_mend_share(m, rule, set, count) ||
           cw_mend_lighten(m, rule, set, count) || raise_rule(m, rule, set, count);
}

void cw_mend_relax(struct cw_mend *m, const uint32_t *set, uint32_t count)
{
    uint32_t from = 0;
    for (uint32_t n = 0; n < MOST_BROKEN && cw_ask_ok(&m->ask); n++) {
        struct cw_mend_ban ban;
        uint32_t limit = cw_mend_broken(m, set, count, from);
        if (limit == CW_NONE)
            return;
        from = limit + 1;
        m->limits[limit].gone = m->changed = true;
        if (as_ban(m, limit, &ban))
            relax_ban(m, &ban, set, count);
        else if (m->limits[limit].limit.max == 1)
            relax_one_of(m, limit, set, count);
        else if (!relax_rule(m, limit, set, count))
            m->limits[limit].gone = false;
    }
}

/* ---- forbidding ------------------------------------------------------------------------------------------------- */

/* Whether almost any placement of the same domain in place of a member makes the set fit. */
static bool is_special(struct cw_mend *m, const struct cw_ask_set *set, uint32_t at)
{
    const struct cw_list *domain = cw_mend_domain(m, set->items[at]);
    uint32_t met = 0, fit = 0;
    for (uint32_t t = 0; t < DRAWS * SPECIALS && met < SPECIALS && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set other = *set;
        other.items[at] = other.items[--other.count];
        if (!cw_mend_join(m, &other, domain->items[cw_ask_random(&m->ask, domain->count)]))
            continue;
        met++;
        fit += cw_ask_fits(&m->ask, other.items, other.count);
    }
    return met < FEWEST_MET || fit * 10 >= met * 7;
}

/* Makes the ban of a minimal set; leaves out members that only fill slots if that proves right. */
static bool make_ban(struct cw_mend *m, const struct cw_ask_set *set, struct cw_mend_ban *ban, uint32_t *tuple,
                     struct cw_ask_set *ordered)
{
    uint32_t fillers[CW_ASK_MOST], filler_count = 0, met;
    *ban = (struct cw_mend_ban){.slots = CW_NONE};
    for (uint32_t i = 0; i < set->count && cw_ask_ok(&m->ask); i++)
        if (set->count < 4 || is_special(m, set, i)) {
            if (ban->count == CW_MEND_PARTS)
                return false;
            tuple[ban->count++] = set->items[i];
        } else {
            fillers[filler_count++] = set->items[i];
        }
    for (uint32_t k = 0; k < ban->count; k++)
        ban->parts[k] = (struct cw_list){1, &tuple[k]};
    bool filled = ban->count && filler_count;
    if (filled) {
        ban->slots = find_slots(m, fillers, filler_count);
        filled = ban->slots != CW_NONE && cw_mend_used(m, ban->slots, fillers, filler_count) == filler_count;
        ban->filled = filled ? cw_mend_used(m, ban->slots, set->items, set->count) : 0;
        filled = filled && ban->filled <= m->limits[ban->slots].limit.max;
        filled = filled && sample(m, ban, SURE, &met) * 5 <= met && met >= FEWEST_MET;
    }
    for (uint32_t i = 0; i < filler_count && !filled; i++) {
        if (ban->count == CW_MEND_PARTS)
            return false;
        tuple[ban->count++] = fillers[i];
    }
    if (!filled)
        ban->slots = CW_NONE;
    ordered->count = 0;
    for (uint32_t k = 0; k < ban->count; k++)
        ordered->items[ordered->count++] = tuple[k];
    for (uint32_t i = 0; i < filler_count && filled; i++)
        ordered->items[ordered->count++] = fillers[i];
    return cw_ask_ok(&m->ask);
}

void cw_mend_forbid(struct cw_mend *m, const uint32_t *items, uint32_t count)
{
    struct cw_ask_set set = {.count = count}, smallest, ordered;
    memcpy(set.items, items, count * sizeof *items);
    while (cw_ask_take_smallest(&m->ask, &set, &smallest)) {
        struct cw_mend_ban ban;
        struct cw_list candidates[CW_MEND_PARTS];
        uint32_t tuple[CW_MEND_PARTS];
        if (smallest.count < 2 || !cw_ask_ok(&m->ask) || !make_ban(m, &smallest, &ban, tuple, &ordered))
            continue;
        for (uint32_t k = 0; k < ban.count; k++)
            candidates[k] = likes(m, &ordered, k, cw_mend_domain(m, tuple[k]), false, true);
        if (cw_ask_ok(&m->ask))
            grow_box(m, &ban, tuple, candidates, false);
        if (cw_ask_ok(&m->ask))
            cw_mend_add_ban(m, &ban);
        cw_mend_refresh(m);
    }
}
