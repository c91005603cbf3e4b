#include "host/schedule_packing.h"

#include <string.h>

enum {
    SEATINGS = 256, /* combinations of ways to collect a group's counters to try in a pass */
    MOST_TOGETHER = 256,
    MOST_CHANGES = 1 << 14,
};

/* ---- one pass of one problem ------------------------------------------------------------------------------------ */

bool cw_packing_pass_init(struct cw_packing_pass *pass, const struct cw_problem *problem, struct cw_arena *arena)
{
    pass->present = cw_arena_alloc(arena, problem->words, sizeof *pass->present);
    uint16_t *counts = cw_arena_alloc(arena, (size_t)problem->class_count + problem->group_count + problem->rule_count,
                                      sizeof *counts);
    pass->items = cw_arena_alloc(arena, problem->item_count, sizeof *pass->items);
    pass->count = 0;
    if (!pass->present || !counts || !pass->items)
        return false;
    pass->classes = counts;
    pass->groups = counts + problem->class_count;
    pass->used = pass->groups + problem->group_count;
    return true;
}

void cw_packing_pass_clear(struct cw_packing_pass *pass, const struct cw_problem *problem)
{
    memset(pass->present, 0, problem->words * sizeof *pass->present);
    memset(pass->classes, 0, problem->class_count * sizeof *pass->classes);
    memset(pass->groups, 0, problem->group_count * sizeof *pass->groups);
    memset(pass->used, 0, problem->rule_count * sizeof *pass->used);
    pass->count = 0;
}

bool cw_packing_pass_fits(const struct cw_packing_pass *pass, const struct cw_problem *problem, uint32_t class_)
{
    const struct cw_problem_class *c = &problem->classes[class_];
    for (uint32_t w = 0; w < problem->words; w++)
        if (c->conflicts[w] & pass->present[w])
            return false;
    for (uint32_t k = 0, more = 0; k < c->use_count; k++) {
        const struct cw_use *use = &c->uses[k];
        more = k && c->uses[k - 1].rule == use->rule ? more : 0;
        more += use->group == CW_NONE || !pass->groups[use->group];
        if (more && pass->used[use->rule] + more > problem->max[use->rule])
            return false;
    }
    return true;
}

void cw_packing_pass_put(struct cw_packing_pass *pass, const struct cw_problem *problem, uint32_t item, uint32_t choice)
{
    uint32_t class_ = problem->items[item].choices[choice].class_;
    const struct cw_problem_class *c = &problem->classes[class_];
    if (pass->classes[class_]++ == 0)
        pass->present[class_ / 64] |= UINT64_C(1) << class_ % 64;
    for (uint32_t k = 0; k < c->use_count; k++)
        if (c->uses[k].group == CW_NONE || pass->groups[c->uses[k].group]++ == 0)
            pass->used[c->uses[k].rule]++;
    pass->items[pass->count++] = item;
}

void cw_packing_pass_take(struct cw_packing_pass *pass, const struct cw_problem *problem, uint32_t item,
                          uint32_t choice)
{
    uint32_t class_ = problem->items[item].choices[choice].class_;
    const struct cw_problem_class *c = &problem->classes[class_];
    if (--pass->classes[class_] == 0)
        pass->present[class_ / 64] &= ~(UINT64_C(1) << class_ % 64);
    for (uint32_t k = 0; k < c->use_count; k++)
        if (c->uses[k].group == CW_NONE || --pass->groups[c->uses[k].group] == 0)
            pass->used[c->uses[k].rule]--;
    uint32_t k = 0;
    while (pass->items[k] != item)
        k++;
    memmove(pass->items + k, pass->items + k + 1, (--pass->count - k) * sizeof *pass->items);
}

/* ---- one problem ------------------------------------------------------------------------------------------------ */

struct cw_packing *cw_packing_create(const struct cw_problem *problem, uint32_t pass_count, uint32_t room,
                                     struct cw_arena *arena)
{
    struct cw_packing *p = cw_arena_alloc(arena, 1, sizeof *p);
    if (!p)
        return NULL;
    size_t standings = (size_t)room * problem->item_count;
    *p = (struct cw_packing){.problem = problem,
                             .passes = cw_arena_alloc(arena, room, sizeof *p->passes),
                             .choice = cw_arena_alloc(arena, standings, sizeof *p->choice),
                             .locks = cw_arena_alloc(arena, standings, sizeof *p->locks),
                             .stands = cw_arena_alloc(arena, problem->item_count, sizeof *p->stands),
                             .arena = arena};
    if (!p->passes || !p->choice || !p->locks || !p->stands)
        return NULL;
    while (p->pass_count < pass_count)
        if (!cw_packing_open(p))
            return NULL;
    return p;
}

bool cw_packing_open(struct cw_packing *p)
{
    return cw_packing_pass_init(&p->passes[p->pass_count++], p->problem, p->arena);
}

static size_t standing(const struct cw_packing *p, uint32_t item, uint32_t pass)
{
    return (size_t)pass * p->problem->item_count + item;
}

uint32_t cw_packing_has(const struct cw_packing *p, uint32_t item, uint32_t pass)
{
    return p->choice[standing(p, item, pass)];
}

uint32_t *cw_packing_lock(struct cw_packing *p, uint32_t item, uint32_t pass)
{
    return &p->locks[standing(p, item, pass)];
}

void cw_packing_put(struct cw_packing *p, uint32_t item, uint32_t pass, uint32_t choice)
{
    cw_packing_pass_put(&p->passes[pass], p->problem, item, choice);
    p->choice[standing(p, item, pass)] = (uint16_t)(1 + choice);
    p->stands[item]++;
}

void cw_packing_take(struct cw_packing *p, uint32_t item, uint32_t pass)
{
    cw_packing_pass_take(&p->passes[pass], p->problem, item, cw_packing_has(p, item, pass) - 1);
    p->choice[standing(p, item, pass)] = 0;
    p->stands[item]--;
}

/* ---- all problems ----------------------------------------------------------------------------------------------- */

bool cw_packings_init(struct cw_packings *all, const struct cw_problems *problems, uint32_t *pass_counts,
                      struct cw_arena *arena)
{
    *all = (struct cw_packings){.problems = problems,
                                .items = cw_arena_alloc(arena, problems->count, sizeof(struct cw_packing *)),
                                .pass_counts = pass_counts,
                                .room = cw_arena_alloc(arena, problems->section_count, sizeof(uint32_t)),
                                .changes = cw_arena_alloc(arena, MOST_CHANGES, sizeof *all->changes),
                                .together = cw_arena_alloc(arena, MOST_TOGETHER, sizeof *all->together)};
    return all->items && all->room && all->changes && all->together;
}

bool cw_packings_full(const struct cw_packings *all)
{
    return all->change_count == MOST_CHANGES;
}

bool cw_packings_put(struct cw_packings *all, struct cw_item_id id, uint32_t pass, uint32_t choice)
{
    struct cw_packing *p = all->items[id.problem];
    uint32_t class_ = p->problem->items[id.item].choices[choice].class_;
    if (cw_packings_full(all) || !cw_packing_pass_fits(&p->passes[pass], p->problem, class_))
        return false;
    cw_packing_put(p, id.item, pass, choice);
    all->changes[all->change_count++] = (struct cw_change){id, pass, 0, (uint16_t)(1 + choice)};
    return true;
}

bool cw_packings_add(struct cw_packings *all, struct cw_item_id id, uint32_t pass)
{
    const uint32_t ways = all->items[id.problem]->problem->items[id.item].choice_count;
    uint32_t k = 0;
    all->steps++;
    while (k < ways && !cw_packings_put(all, id, pass, k))
        k++;
    return k < ways;
}

bool cw_packings_take(struct cw_packings *all, struct cw_item_id id, uint32_t pass)
{
    struct cw_packing *p = all->items[id.problem];
    if (cw_packings_full(all))
        return false;
    all->changes[all->change_count++] = (struct cw_change){id, pass, (uint16_t)cw_packing_has(p, id.item, pass), 0};
    cw_packing_take(p, id.item, pass);
    return true;
}

void cw_packings_undo(struct cw_packings *all, uint32_t mark)
{
    while (all->change_count > mark) {
        const struct cw_change *c = &all->changes[--all->change_count];
        if (c->had)
            cw_packing_put(all->items[c->id.problem], c->id.item, c->pass, c->had - 1);
        else
            cw_packing_take(all->items[c->id.problem], c->id.item, c->pass);
    }
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

uint32_t cw_packings_missing(const struct cw_packings *all, const struct cw_list *group, uint32_t pass)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_item_id id = all->problems->ids[group->items[k]];
        n += !cw_packing_has(all->items[id.problem], id.item, pass);
    }
    return n;
}

void cw_packings_lock(struct cw_packings *all, const struct cw_list *group, uint32_t pass, int more)
{
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_item_id id = all->problems->ids[group->items[k]];
        *cw_packing_lock(all->items[id.problem], id.item, pass) += (uint32_t)more;
    }
}

bool cw_packings_clear(struct cw_packings *all, const struct cw_list *group, uint32_t pass)
{
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_item_id id = all->problems->ids[group->items[k]];
        struct cw_packing *p = all->items[id.problem];
        for (uint32_t i = p->passes[pass].count; i-- > 0;) {
            id.item = p->passes[pass].items[i];
            if (!*cw_packing_lock(p, id.item, pass) && !cw_packings_take(all, id, pass))
                return false;
        }
    }
    return true;
}

/* Seats the group's counters from the k-th on; tries at most `tries` combinations. */
static bool seat_from(struct cw_packings *all, const struct cw_list *group, uint32_t k, uint32_t pass, uint32_t *tries)
{
    if (k == group->count)
        return true;
    struct cw_item_id id = all->problems->ids[group->items[k]];
    const struct cw_packing *p = all->items[id.problem];
    if (cw_packing_has(p, id.item, pass))
        return seat_from(all, group, k + 1, pass, tries);
    for (uint32_t c = 0; c < p->problem->items[id.item].choice_count && *tries && !cw_packings_full(all); c++) {
        uint32_t mark = all->change_count;
        all->steps++;
        --*tries;
        if (!cw_packings_put(all, id, pass, c))
            continue;
        if (seat_from(all, group, k + 1, pass, tries))
            return true;
        cw_packings_undo(all, mark);
    }
    return false;
}

bool cw_packings_seat(struct cw_packings *all, const struct cw_list *group, uint32_t pass)
{
    uint32_t tries = SEATINGS;
    return seat_from(all, group, 0, pass, &tries);
}

static uint32_t choices_of(const struct cw_packings *all, uint32_t raw)
{
    struct cw_item_id id = all->problems->ids[raw];
    return all->problems->items[id.problem].items[id.item].choice_count;
}

/* Adds to `together` the items that changes from `first` on took out. */
static uint32_t list_taken(struct cw_packings *all, uint32_t first, uint32_t n)
{
    for (uint32_t k = first; k < all->change_count; k++) {
        struct cw_item_id id = all->changes[k].id;
        uint32_t raw = all->problems->items[id.problem].items[id.item].raw;
        bool listed = false;
        for (uint32_t i = 0; i < n && !listed; i++)
            listed = all->together[i] == raw;
        if (!listed && n < MOST_TOGETHER)
            all->together[n++] = raw;
    }
    return n;
}

bool cw_packings_reseat(struct cw_packings *all, const struct cw_list *group, uint32_t pass)
{
    uint32_t n = 0, tries = SEATINGS, first = all->change_count;
    bool done = true;
    for (uint32_t k = 0; k < group->count; k++) {
        struct cw_item_id id = all->problems->ids[group->items[k]];
        const struct cw_packing *p = all->items[id.problem];
        if (!cw_packing_has(p, id.item, pass))
            all->together[n++] = group->items[k];
        while (done && p->passes[pass].count) {
            id.item = p->passes[pass].items[p->passes[pass].count - 1];
            done = cw_packings_take(all, id, pass);
        }
    }
    n = list_taken(all, first, n);
    /* counters with few ways to collect them first */
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && choices_of(all, all->together[k - 1]) > choices_of(all, all->together[k]); k--) {
            uint32_t moved = all->together[k];
            all->together[k] = all->together[k - 1];
            all->together[k - 1] = moved;
        }
    done = done && n < MOST_TOGETHER && seat_from(all, &(struct cw_list){n, all->together}, 0, pass, &tries);
    if (!done)
        cw_packings_undo(all, first);
    return done;
}

/* Finds a pass for an item that stands nowhere, if need be in place of another item that fits elsewhere. */
static bool settle_one(struct cw_packings *all, struct cw_item_id id, uint32_t near)
{
    struct cw_packing *p = all->items[id.problem];
    for (uint32_t k = 0; k < p->pass_count; k++)
        if (cw_packings_add(all, id, (near + k) % p->pass_count))
            return true;
    for (uint32_t k = 0; k < p->pass_count && all->steps < all->most_steps; k++)
        for (uint32_t i = p->passes[k].count; i-- > 0;) {
            struct cw_item_id other = {id.problem, p->passes[k].items[i]};
            uint32_t mark = all->change_count;
            if (*cw_packing_lock(p, other.item, k) || !cw_packings_take(all, other, k))
                continue;
            if (cw_packings_add(all, id, k)) {
                if (p->stands[other.item])
                    return true;
                for (uint32_t to = 0; to < p->pass_count; to++)
                    if (to != k && cw_packings_add(all, other, to))
                        return true;
            }
            cw_packings_undo(all, mark);
        }
    return false;
}

bool cw_packings_settle(struct cw_packings *all, uint32_t mark, uint32_t near)
{
    for (uint32_t k = mark, end = all->change_count; k < end; k++) {
        const struct cw_change *c = &all->changes[k];
        if (c->had && !all->items[c->id.problem]->stands[c->id.item] && !settle_one(all, c->id, near))
            return false;
    }
    return true;
}
