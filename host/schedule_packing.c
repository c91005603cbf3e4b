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

/* Whether the list of changes is full. */
static bool packings_full(const struct cw_packings *all)
{
    return all->change_count == MOST_CHANGES;
}

/* Put an item into a pass where it does not stand, by a given choice or by the first that fits; take it out. */
static bool packings_put(struct cw_packings *all, struct cw_item_id id, uint32_t pass, uint32_t choice)
{
    struct cw_packing *p = all->items[id.problem];
    uint32_t class_ = p->problem->items[id.item].choices[choice].class_;
    if (packings_full(all) || !cw_packing_pass_fits(&p->passes[pass], p->problem, class_))
        return false;
    cw_packing_put(p, id.item, pass, choice);
    all->changes[all->change_count++] = (struct cw_change){id, pass, 0, (uint16_t)(1 + choice)};
    return true;
}

static bool packings_add(struct cw_packings *all, struct cw_item_id id, uint32_t pass)
{
    const uint32_t ways = all->items[id.problem]->problem->items[id.item].choice_count;
    uint32_t k = 0;
    all->steps++;
    while (k < ways && !packings_put(all, id, pass, k))
        k++;
    return k < ways;
}

bool cw_packings_take(struct cw_packings *all, struct cw_item_id id, uint32_t pass)
{
    struct cw_packing *p = all->items[id.problem];
    if (packings_full(all))
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
    for (uint32_t c = 0; c < p->problem->items[id.item].choice_count && *tries && !packings_full(all); c++) {
        uint32_t mark = all->change_count;
        all->steps++;
        --*tries;
        if (!packings_put(all, id, pass, c))
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
        if (packings_add(all, id, (near + k) % p->pass_count))
            return true;
    for (uint32_t k = 0; k < p->pass_count && all->steps < all->most_steps; k++)
        for (uint32_t i = p->passes[k].count; i-- > 0;) {
            struct cw_item_id other = {id.problem, p->passes[k].items[i]};
            uint32_t mark = all->change_count;
            if (*cw_packing_lock(p, other.item, k) || !cw_packings_take(all, other, k))
                continue;
            if (packings_add(all, id, k)) {
                if (p->stands[other.item])
                    return true;
                for (uint32_t to = 0; to < p->pass_count; to++)
                    if (to != k && packings_add(all, other, to))
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

/* ---- cost -------------------------------------------------------------------------------------------------------- */

enum { STEPS = 5000, MOST_REDUCED = 64, MOST_REHOMED = 4096 };

struct reduction {
    struct cw_packings *all;
    const struct cw_chip *chip;
    uint32_t *first, *of_raw; /* groups of raw counter r are of_raw[first[r]] up to of_raw[first[r + 1]] */
    uint32_t *home;           /* by group: the pass with all of it, or CW_NONE */
    uint32_t section, width;
    uint32_t *tally; /* [pass * costs + cost]: counters in the pass that cause the cost */
    uint64_t total;  /* cost of all passes of the section */
    uint32_t *together, count;
    struct rehomed { /* groups that moved, for taking the move back */
        uint32_t group, from;
    } * rehomed;
    uint32_t rehomed_count;
};

/* ---- costs of passes -------------------------------------------------------------------------------------------- */

static uint32_t *tally(const struct reduction *r, uint32_t pass, uint32_t cost)
{
    return &r->tally[(size_t)pass * r->chip->pass_cost_count + cost];
}

static uint64_t costs_of(const struct reduction *r, struct cw_item_id id, uint32_t has)
{
    return r->all->problems->items[id.problem].items[id.item].choices[has - 1].costs;
}

/* Updates the tally when a counter in a pass is collected in way `to` instead of way `from`; 0: not in the pass. */
static void recount(struct reduction *r, struct cw_item_id id, uint32_t pass, uint32_t from, uint32_t to)
{
    for (uint64_t bits = from ? costs_of(r, id, from) : 0; bits; bits &= bits - 1) {
        uint32_t cost = (uint32_t)__builtin_ctzll(bits);
        r->total -= --*tally(r, pass, cost) ? 0 : r->chip->pass_costs[cost].cost;
    }
    for (uint64_t bits = to ? costs_of(r, id, to) : 0; bits; bits &= bits - 1) {
        uint32_t cost = (uint32_t)__builtin_ctzll(bits);
        r->total += (*tally(r, pass, cost))++ ? 0 : r->chip->pass_costs[cost].cost;
    }
}

static void count_section(struct reduction *r)
{
    r->total = 0;
    memset(r->tally, 0, (size_t)r->width * r->chip->pass_cost_count * sizeof *r->tally);
    for (uint32_t p = 0; p < r->all->problems->count; p++)
        for (uint32_t k = 0; k < r->width && r->all->problems->items[p].section == r->section; k++)
            for (uint32_t i = 0; i < r->all->items[p]->passes[k].count; i++) {
                struct cw_item_id id = {p, r->all->items[p]->passes[k].items[i]};
                recount(r, id, k, 0, cw_packing_has(r->all->items[p], id.item, k));
            }
}

/* ---- groups that stay together ---------------------------------------------------------------------------------- */

static void find_homes(struct reduction *r)
{
    for (uint32_t p = 0; p < r->all->problems->count; p++) {
        const struct cw_packing *packing = r->all->items[p];
        memset(packing->locks, 0, (size_t)packing->pass_count * packing->problem->item_count * sizeof *packing->locks);
    }
    for (uint32_t g = 0; g < r->all->group_count; g++) {
        const struct cw_list *group = &r->all->groups[g];
        uint32_t pass = 0, width = r->all->pass_counts[cw_problems_section(r->all->problems, group->items[0])];
        while (pass < width && cw_packings_missing(r->all, group, pass))
            pass++;
        r->home[g] = pass < width ? pass : CW_NONE;
        if (pass < width)
            cw_packings_lock(r->all, group, pass, 1);
    }
}

static bool join(struct reduction *r, uint32_t raw)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->together[i] == raw)
            return true;
    if (r->count == MOST_REDUCED)
        return false;
    r->together[r->count++] = raw;
    return true;
}

/* Collects a counter and all counters that whole groups tie to it in a pass. False if there are too many. */
static bool tie(struct reduction *r, uint32_t raw, uint32_t pass)
{
    r->count = 0;
    bool few = join(r, raw);
    for (uint32_t i = 0; i < r->count && few; i++)
        for (uint32_t g = r->first[r->together[i]]; g < r->first[r->together[i] + 1] && few; g++)
            for (uint32_t k = 0; r->home[r->of_raw[g]] == pass && few && k < r->all->groups[r->of_raw[g]].count; k++)
                few = join(r, r->all->groups[r->of_raw[g]].items[k]);
    r->all->steps += r->count;
    return few;
}

static void rehome(struct reduction *r, uint32_t group, uint32_t to)
{
    cw_packings_lock(r->all, &r->all->groups[group], r->home[group], -1);
    cw_packings_lock(r->all, &r->all->groups[group], to, 1);
    r->home[group] = to;
}

/* Sets the new home of the groups of the tied counters. */
static void rehome_tied(struct reduction *r, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t g = r->first[r->together[i]]; g < r->first[r->together[i] + 1]; g++)
            if (r->home[r->of_raw[g]] == from) {
                r->rehomed[r->rehomed_count++] = (struct rehomed){r->of_raw[g], from};
                rehome(r, r->of_raw[g], to);
            }
}

/* ---- moves ------------------------------------------------------------------------------------------------------ */

static void follow(struct reduction *r, uint32_t mark)
{
    for (uint32_t k = mark; k < r->all->change_count; k++) {
        const struct cw_change *c = &r->all->changes[k];
        recount(r, c->id, c->pass, c->had, c->has);
    }
}

static void take_back(struct reduction *r, uint32_t mark, uint32_t rehomed)
{
    for (uint32_t k = r->all->change_count; k-- > mark;) {
        const struct cw_change *c = &r->all->changes[k];
        recount(r, c->id, c->pass, c->has, c->had);
    }
    while (r->rehomed_count > rehomed) {
        const struct rehomed *last = &r->rehomed[--r->rehomed_count];
        rehome(r, last->group, last->from);
    }
    cw_packings_undo(r->all, mark);
}

/* Collects a counter in another way within the same pass. */
static bool recollect(struct reduction *r, struct cw_item_id id, uint32_t pass, uint32_t cost)
{
    const struct cw_item *item = &r->all->problems->items[id.problem].items[id.item];
    uint32_t mark = r->all->change_count;
    if (!cw_packings_take(r->all, id, pass))
        return false;
    for (uint32_t k = 0; k < item->choice_count && !packings_full(r->all); k++) {
        r->all->steps++;
        if (item->choices[k].costs >> cost & 1 || !packings_put(r->all, id, pass, k))
            continue;
        follow(r, mark);
        return true;
    }
    cw_packings_undo(r->all, mark);
    return false;
}

/* Moves the tied counters to another pass; with `pressing`, in place of counters that no group needs there and that fit
 * elsewhere. */
static bool move_tied(struct reduction *r, uint32_t from, uint32_t to, bool pressing)
{
    const struct cw_list list = {r->count, r->together};
    uint32_t mark = r->all->change_count, rehomed = r->rehomed_count;
    bool done = rehomed < MOST_REHOMED;
    for (uint32_t i = 0; i < r->count && done; i++)
        done = cw_packings_take(r->all, r->all->problems->ids[r->together[i]], from);
    uint32_t taken = r->all->change_count;
    if (!done || (pressing && !cw_packings_clear(r->all, &list, to)) || !cw_packings_seat(r->all, &list, to)) {
        cw_packings_undo(r->all, mark);
        return false;
    }
    rehome_tied(r, from, to);
    cw_packings_lock(r->all, &list, to, 1);
    done = cw_packings_settle(r->all, taken, to);
    cw_packings_lock(r->all, &list, to, -1);
    follow(r, mark);
    if (!done)
        take_back(r, mark, rehomed);
    return done;
}

/* Moves the tied counters to a pass where they do not add the cost: it has the cost already, or they can be collected
 * otherwise. */
static bool move_away(struct reduction *r, uint32_t from, uint32_t cost)
{
    for (int pressing = 0; pressing < 2; pressing++)
        for (uint32_t to = 0; to < r->width && r->all->steps < r->all->most_steps; to++) {
            bool bears = *tally(r, to, cost) > 0;
            uint32_t mark = r->all->change_count, rehomed = r->rehomed_count;
            if (to == from || !move_tied(r, from, to, pressing))
                continue;
            if (bears || !*tally(r, to, cost))
                return true;
            take_back(r, mark, rehomed);
        }
    return false;
}

/* Finds a counter of a pass that causes a cost; CW_NONE if there is none. */
static uint32_t find(const struct reduction *r, uint32_t pass, uint32_t cost)
{
    for (uint32_t p = 0; p < r->all->problems->count; p++) {
        const struct cw_packing *packing = r->all->items[p];
        for (uint32_t i = 0; packing->problem->section == r->section && i < packing->passes[pass].count; i++) {
            uint32_t item = packing->passes[pass].items[i];
            if (costs_of(r, (struct cw_item_id){p, item}, cw_packing_has(packing, item, pass)) >> cost & 1)
                return packing->problem->items[item].raw;
        }
    }
    return CW_NONE;
}

/* Removes from a pass all counters that cause a cost, if the passes together become cheaper. */
static bool rid(struct reduction *r, uint32_t pass, uint32_t cost)
{
    uint64_t before = r->total;
    uint32_t raw;
    r->all->change_count = r->rehomed_count = 0;
    while ((raw = find(r, pass, cost)) != CW_NONE)
        if (!recollect(r, r->all->problems->ids[raw], pass, cost) && !(tie(r, raw, pass) && move_away(r, pass, cost)))
            break;
    if (raw == CW_NONE && r->total < before)
        return true;
    take_back(r, 0, 0);
    return false;
}

/* Tries first the passes where few counters cause the cost. */
static bool rid_some(struct reduction *r, uint32_t cost)
{
    bool changed = false;
    uint32_t most = 0;
    for (uint32_t k = 0; k < r->width; k++)
        most = *tally(r, k, cost) > most ? *tally(r, k, cost) : most;
    for (uint32_t n = 1; n <= most; n++)
        for (uint32_t k = 0; k < r->width && r->all->steps < r->all->most_steps; k++)
            if (*tally(r, k, cost) == n)
                changed |= rid(r, k, cost);
    return changed;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool index_groups(struct reduction *r, struct cw_arena *arena)
{
    const struct cw_packings *all = r->all;
    uint32_t total = 0;
    r->first = cw_arena_alloc(arena, (size_t)r->chip->raw_count + 2, sizeof *r->first);
    for (uint32_t g = 0; r->first && g < all->group_count; g++)
        for (uint32_t k = 0; k < all->groups[g].count; k++, total++)
            r->first[all->groups[g].items[k] + 2]++;
    r->of_raw = cw_arena_alloc(arena, total, sizeof *r->of_raw);
    if (!r->first || !r->of_raw)
        return false;
    for (uint32_t raw = 2; raw < r->chip->raw_count + 2; raw++)
        r->first[raw] += r->first[raw - 1];
    for (uint32_t g = 0; g < all->group_count; g++)
        for (uint32_t k = 0; k < all->groups[g].count; k++)
            r->of_raw[r->first[all->groups[g].items[k] + 1]++] = g;
    return true;
}

enum cw_status cw_cost_reduce(struct cw_packings *all, struct cw_arena *arena, struct cw_error *err)
{
    struct reduction r = {.all = all, .chip = all->problems->chip};
    uint32_t most = 0;
    for (uint32_t s = 0; s < all->problems->section_count; s++)
        most = all->pass_counts[s] > most ? all->pass_counts[s] : most;
    r.tally = cw_arena_alloc(arena, (size_t)most * r.chip->pass_cost_count, sizeof *r.tally);
    r.together = cw_arena_alloc(arena, MOST_REDUCED, sizeof *r.together);
    r.home = cw_arena_alloc(arena, all->group_count, sizeof *r.home);
    r.rehomed = cw_arena_alloc(arena, (size_t)MOST_REHOMED + all->group_count, sizeof *r.rehomed);
    if (!r.tally || !r.together || !r.home || !r.rehomed || !index_groups(&r, arena))
        return cw_error_nomem(err);
    find_homes(&r);
    all->most_steps = all->steps + STEPS;
    for (r.section = 0; r.section < all->problems->section_count; r.section++) {
        r.width = all->pass_counts[r.section];
        count_section(&r);
        for (bool changed = true; changed && all->steps < all->most_steps;) {
            changed = false;
            for (uint32_t cost = 0; cost < r.chip->pass_cost_count; cost++)
                changed |= rid_some(&r, cost);
        }
    }
    return CW_OK;
}
