#include "host/schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "host/schedule_packing.h"
#include "host/schedule_search.h"

/* ---- tasks that gather ------------------------------------------------------------------------------------------- */

enum {
    EXCHANGE_STEPS = 400000, /* placements tried, roughly */
    TARGETS = 12,            /* passes tried for each group */
    STEPS_EACH = 256,        /* with copies: steps for each group before a pass is added, */
    LEAST_STEPS = 48000,     /* but at least this many in all */
    STEPS = 12000,           /* steps in all if no pass may be added */
    PRESSED = 32,            /* passes tried for a group that displaces counters */
};

static uint32_t section_of(const struct cw_packings *all, const struct cw_list *group)
{
    return cw_problems_section(all->problems, group->items[0]);
}

/* Keeps a group that was seated in a pass if all displaced counters find another pass; else takes back all changes from
 * the `mark`-th on. */
static bool stay(struct cw_packings *all, const struct cw_list *group, uint32_t pass, bool seated, uint32_t mark)
{
    if (seated) {
        cw_packings_lock(all, group, pass, 1); /* otherwise displaced counters could displace the group again */
        if (cw_packings_settle(all, mark, pass))
            return true;
        cw_packings_lock(all, group, pass, -1);
    }
    cw_packings_undo(all, mark);
    return false;
}

/* ---- aligning passes ------------------------------------------------------------------------------------------- */

/* Combines the passes of a section's problems, one problem after the other, the one with most passes first. Each pass
 * of a problem joins the free pass of the section whose counters share the most groups with it. */
struct aligning {
    struct cw_packings *all;
    const struct cw_search_result *found;
    struct cw_arena *arena;
    uint32_t **maps; /* by problem and pass found: the pass of the section */
    bool failed;
};

static void *array(struct aligning *a, size_t count, size_t size)
{
    void *p = a->failed ? NULL : cw_arena_alloc(a->arena, count, size);
    a->failed |= !p;
    return p;
}

/* near[pass of the problem * width + pass of the section]: number of pairs of counters in one group. */
static void count_near(const struct aligning *a, uint32_t problem, uint32_t width, uint32_t *near)
{
    for (uint32_t i = 0; i < a->all->group_count; i++) {
        const struct cw_list *group = &a->all->groups[i];
        for (uint32_t m = 0; m < group->count; m++) {
            struct cw_item_id mine = a->all->problems->ids[group->items[m]];
            if (mine.problem != problem)
                continue;
            for (uint32_t o = 0; o < group->count; o++) {
                struct cw_item_id other = a->all->problems->ids[group->items[o]];
                if (a->maps[other.problem])
                    near[(size_t)a->found[problem].pass_of[mine.item] * width +
                         a->maps[other.problem][a->found[other.problem].pass_of[other.item]]]++;
            }
        }
    }
}

/* Chooses a pass of the section for each of `passes`. */
static void match(uint32_t *map, uint32_t passes, const uint32_t *near, uint32_t width, bool *taken)
{
    memset(map, 0xff, passes * sizeof *map);
    for (uint32_t round = 0; round < passes; round++) {
        uint32_t best = CW_NONE, to = 0, most = 0;
        for (uint32_t p = 0; p < passes; p++)
            for (uint32_t k = 0; k < width && map[p] == CW_NONE; k++)
                if (!taken[k] && near[(size_t)p * width + k] > most) {
                    most = near[(size_t)p * width + k];
                    best = p;
                    to = k;
                }
        if (best == CW_NONE)
            break;
        map[best] = to;
        taken[to] = true;
    }
    for (uint32_t p = 0, k = 0; p < passes; p++)
        if (map[p] == CW_NONE) {
            while (taken[k])
                k++;
            taken[k] = true;
            map[p] = k;
        }
}

static void align(struct aligning *a, uint32_t problem)
{
    const struct cw_problem *its = &a->all->problems->items[problem];
    const struct cw_search_result *found = &a->found[problem];
    uint32_t passes = found->pass_count, width = a->all->pass_counts[its->section];
    uint32_t *near = array(a, (size_t)passes * width, sizeof *near), *map = array(a, passes, sizeof *map);
    bool *taken = array(a, width, sizeof *taken);
    if (a->failed)
        return;
    count_near(a, problem, width, near);
    match(map, passes, near, width, taken);
    struct cw_packing *packing = cw_packing_create(its, width, a->all->room[its->section], a->arena);
    for (uint32_t i = 0; packing && i < its->item_count; i++)
        cw_packing_put(packing, i, map[found->pass_of[i]], found->choice_of[i]);
    a->all->items[problem] = packing;
    a->maps[problem] = map;
    a->failed |= !packing;
}

/* Starts with the problem with most passes, because it leaves no choice. */
/* Makes the packings from the search results, by problem, and combines the passes of one section's problems so that
 * many groups have their counters in one pass. */
static enum cw_status gather_align(struct cw_packings *all, const struct cw_search_result *found,
                                   struct cw_arena *arena, struct cw_error *err)
{
    struct aligning a = {.all = all, .found = found, .arena = arena};
    a.maps = array(&a, all->problems->count, sizeof *a.maps);
    for (uint32_t round = 0; !a.failed && round < all->problems->count; round++) {
        uint32_t next = CW_NONE;
        for (uint32_t p = 0; p < all->problems->count; p++)
            if (!a.maps[p] && (next == CW_NONE || found[p].pass_count > found[next].pass_count))
                next = p;
        align(&a, next);
    }
    return a.failed ? cw_error_nomem(err) : CW_OK;
}

/* ---- by exchange ------------------------------------------------------------------------------------------------ */

/* Takes an item out of a pass where no group needs it. False if groups need it in each of its passes. */
static bool detach(struct cw_packings *all, struct cw_item_id id)
{
    struct cw_packing *p = all->items[id.problem];
    for (uint32_t k = 0; k < p->pass_count; k++)
        if (cw_packing_has(p, id.item, k) && !*cw_packing_lock(p, id.item, k))
            return cw_packings_take(all, id, k);
    return false;
}

static bool gather_in(struct cw_packings *all, const struct cw_list *group, uint32_t to)
{
    all->change_count = 0;
    bool free = cw_packings_clear(all, group, to);
    for (uint32_t k = 0; free && k < group->count; k++) {
        struct cw_item_id id = all->problems->ids[group->items[k]];
        const struct cw_packing *p = all->items[id.problem];
        free = detach(all, id) || cw_packing_has(p, id.item, to) || !p->stands[id.item];
    }
    return stay(all, group, to, free && cw_packings_seat(all, group, to), 0);
}

/* Tries the passes that already have most of the group. */
static void gather(struct cw_packings *all, const struct cw_list *group, uint32_t *scratch)
{
    uint32_t width = all->pass_counts[section_of(all, group)];
    for (uint32_t p = 0; p < width; p++)
        scratch[p] = 1 + group->count - cw_packings_missing(all, group, p);
    for (uint32_t tries = 0; tries < TARGETS && all->steps < all->most_steps; tries++) {
        uint32_t best = 0;
        for (uint32_t p = 1; p < width; p++)
            if (scratch[p] > scratch[best])
                best = p;
        if (!scratch[best] || gather_in(all, group, best))
            return;
        scratch[best] = 0;
    }
}

/* Gathers large groups first. */
/* Moves and exchanges items so that groups come together; each item stands in one pass. A number of steps limits the
 * work. */
static enum cw_status gather_exchange(struct cw_packings *all, struct cw_arena *arena, struct cw_error *err)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < all->problems->section_count; s++)
        most = all->pass_counts[s] > most ? all->pass_counts[s] : most;
    uint32_t *scratch = cw_arena_alloc(arena, most, sizeof *scratch);
    if (!scratch)
        return cw_error_nomem(err);
    all->most_steps = all->steps + EXCHANGE_STEPS;
    for (uint32_t i = all->group_count; i-- > 0;)
        gather(all, &all->groups[i], scratch);
    return CW_OK;
}

/* ---- by copies -------------------------------------------------------------------------------------------------- */

struct copying {
    struct cw_packings *all;
    const struct cw_list *groups;
    struct cw_arena *arena;
    struct cw_error *err;
    uint32_t *home;    /* by group: the pass with all of it, or CW_NONE */
    uint32_t *penalty; /* by group: number of times that no pass had room for it */
    uint32_t *waiting, waiting_count;
    struct candidate {
        uint32_t rank, tie, index;
    } * candidates;
    uint64_t random;
};

static int by_rank(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->tie != y->tie ? (x->tie > y->tie) - (x->tie < y->tie) : (x->index > y->index) - (x->index < y->index);
}

static uint32_t group_section(const struct copying *c, uint32_t group)
{
    return section_of(c->all, &c->groups[group]);
}

/* Puts a group into a pass; with `pressing`, in place of counters that no group needs there and that fit elsewhere. */
static bool put(struct copying *c, uint32_t group, uint32_t pass, bool pressing)
{
    const struct cw_list *list = &c->groups[group];
    uint32_t mark = c->all->change_count;
    bool seated = pressing ? cw_packings_clear(c->all, list, pass) &&
                                 (cw_packings_seat(c->all, list, pass) || cw_packings_reseat(c->all, list, pass))
                           : cw_packings_seat(c->all, list, pass);
    seated = stay(c->all, list, pass, seated, mark);
    c->home[group] = seated ? pass : c->home[group];
    return seated;
}

/* Makes candidates of a section's passes, first the ones that already have most of a group; returns their number. */
static uint32_t rank_passes(struct copying *c, const uint32_t *groups, uint32_t count)
{
    uint32_t width = c->all->pass_counts[group_section(c, groups[0])];
    for (uint32_t p = 0; p < width; p++) {
        c->candidates[p] = (struct candidate){0, 0, p};
        for (uint32_t i = 0; i < count; i++)
            c->candidates[p].rank += cw_packings_missing(c->all, &c->groups[groups[i]], p);
    }
    qsort(c->candidates, width, sizeof *c->candidates, by_rank);
    return width;
}

static bool insert(struct copying *c, uint32_t group)
{
    uint32_t width = rank_passes(c, &group, 1);
    for (int pressing = 0; pressing < 2; pressing++)
        for (uint32_t k = 0; k < width && (!pressing || k < PRESSED); k++) {
            c->all->change_count = 0;
            if (put(c, group, c->candidates[k].index, pressing))
                return true;
        }
    return false;
}

static bool share_a_problem(const struct copying *c, const struct cw_list *a, const struct cw_list *b)
{
    const struct cw_item_id *ids = c->all->problems->ids;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (ids[a->items[i]].problem == ids[b->items[k]].problem)
                return true;
    return false;
}

/* Takes the place of another group, one that seldom lacked room; that group then waits. */
static bool replace(struct copying *c, uint32_t group)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->all->group_count; i++)
        if (c->home[i] != CW_NONE && group_section(c, i) == group_section(c, group) &&
            share_a_problem(c, &c->groups[group], &c->groups[i])) {
            uint32_t drawn = (uint32_t)(cw_search_random(&c->random) >> 32);
            c->candidates[n++] = (struct candidate){c->penalty[i], drawn, i};
        }
    if (n)
        qsort(c->candidates, n, sizeof *c->candidates, by_rank);
    for (uint32_t k = 0; k < n && c->all->steps < c->all->most_steps; k++) {
        uint32_t other = c->candidates[k].index, pass = c->home[other];
        c->all->change_count = 0;
        cw_packings_lock(c->all, &c->groups[other], pass, -1);
        if (put(c, group, pass, true)) {
            c->home[other] = CW_NONE;
            c->waiting[c->waiting_count++] = other;
            return true;
        }
        cw_packings_lock(c->all, &c->groups[other], pass, 1);
    }
    return false;
}

/* A group's key is the counter with the fewest groups: of quotients with few divisors, the dividend. */
static uint32_t key_of(const struct copying *c, const uint32_t *degree, uint32_t group)
{
    const struct cw_list *list = &c->groups[group];
    uint32_t key = list->items[0];
    for (uint32_t k = 1; k < list->count; k++)
        if (degree[list->items[k]] < degree[key])
            key = list->items[k];
    return key;
}

/* Puts all groups of a cluster into one pass, or none. */
static bool put_all(struct copying *c, const uint32_t *groups, uint32_t count, uint32_t pass)
{
    uint32_t n = 0;
    c->all->change_count = 0;
    while (n < count && put(c, groups[n], pass, true))
        n++;
    if (n == count)
        return true;
    while (n-- > 0) {
        cw_packings_lock(c->all, &c->groups[groups[n]], pass, -1);
        c->home[groups[n]] = CW_NONE;
    }
    cw_packings_undo(c->all, 0);
    return false;
}

static bool insert_cluster(struct copying *c, const uint32_t *groups, uint32_t count)
{
    for (uint32_t k = 0, width = rank_passes(c, groups, count); k < width; k++)
        if (put_all(c, groups, count, c->candidates[k].index))
            return true;
    return false;
}

/* Inserts clusters: groups of one key, which take least room together. Groups of a cluster that fits no pass stay in
 * the queue, each by itself. */
static enum cw_status insert_clusters(struct copying *c)
{
    uint32_t n = c->waiting_count;
    uint32_t *degree = cw_arena_alloc(c->arena, c->all->problems->chip->raw_count, sizeof *degree);
    uint32_t *groups = cw_arena_alloc(c->arena, n, sizeof *groups);
    struct candidate *order = cw_arena_alloc(c->arena, n, sizeof *order);
    if (!degree || !groups || !order)
        return cw_error_nomem(c->err);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < c->groups[c->waiting[i]].count; k++)
            degree[c->groups[c->waiting[i]].items[k]]++;
    for (uint32_t i = 0; i < n; i++) { /* keys with many groups first */
        uint32_t key = key_of(c, degree, c->waiting[i]);
        order[i] = (struct candidate){UINT32_MAX - degree[key], key, c->waiting[i]};
    }
    if (n)
        qsort(order, n, sizeof *order, by_rank);
    c->waiting_count = 0;
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && order[end].tie == order[first].tie; end++)
            groups[end - first] = order[end].index;
        if (!insert_cluster(c, groups, end - first))
            for (uint32_t i = 0; i < end - first; i++)
                c->waiting[c->waiting_count++] = groups[i];
    }
    return CW_OK;
}

static enum cw_status open_pass(struct copying *c, uint32_t section)
{
    struct cw_packings *all = c->all;
    if (all->pass_counts[section] == all->room[section])
        return CW_ERR_UNSUPPORTED;
    for (uint32_t p = 0; p < all->problems->count; p++)
        if (all->problems->items[p].section == section && !cw_packing_open(all->items[p]))
            return cw_error_nomem(c->err);
    all->pass_counts[section]++;
    return CW_OK;
}

/* Removes copies that no group needs. */
static void drop_copies(struct copying *c)
{
    for (uint32_t p = 0; p < c->all->problems->count; p++) {
        struct cw_packing *packing = c->all->items[p];
        for (uint32_t i = 0; i < packing->problem->item_count; i++)
            for (uint32_t pass = packing->pass_count; pass-- > 0 && packing->stands[i] > 1;)
                if (cw_packing_has(packing, i, pass) && !*cw_packing_lock(packing, i, pass))
                    cw_packing_take(packing, i, pass);
    }
}

/* Queues the groups that fit an empty pass. Large groups come last, because the queue is emptied from its end. */
static enum cw_status list_waiting(struct copying *c)
{
    struct cw_packings alone = *c->all;
    alone.items = cw_arena_alloc(c->arena, alone.problems->count, sizeof *alone.items);
    bool good = alone.items != NULL;
    for (uint32_t p = 0; good && p < alone.problems->count; p++) {
        alone.items[p] = cw_packing_create(&alone.problems->items[p], 1, 1, c->arena);
        good = alone.items[p] != NULL;
    }
    for (uint32_t i = 0; good && i < c->all->group_count; i++) {
        if (cw_packings_seat(&alone, &c->groups[i], 0))
            c->waiting[c->waiting_count++] = i;
        cw_packings_undo(&alone, 0);
    }
    return good ? CW_OK : cw_error_nomem(c->err);
}

/* Gives each waiting group a pass with room for it, the place of another group, or a new pass. */
static enum cw_status insert_waiting(struct copying *c, bool grow, uint32_t budget)
{
    enum cw_status status = CW_OK;
    c->all->most_steps = c->all->steps + budget;
    while (status == CW_OK && c->waiting_count) {
        uint32_t group = c->waiting[--c->waiting_count];
        if (insert(c, group))
            continue;
        c->penalty[group]++;
        if (replace(c, group) || !grow)
            continue;
        c->waiting[c->waiting_count++] = group;
        status = open_pass(c, group_section(c, group));
        c->all->most_steps = c->all->steps + budget;
    }
    return status;
}

/* Copies items into further passes, so that every group that fits a pass has one. With `grow` it adds passes until
 * every group has one, and returns CW_ERR_UNSUPPORTED if there is no room for them. Without `grow` some groups may stay
 * apart. A number of steps limits the search. */
static enum cw_status gather_copy(struct cw_packings *all, bool grow, struct cw_arena *arena, struct cw_error *err)
{
    uint32_t groups = all->group_count, most = groups;
    for (uint32_t s = 0; s < all->problems->section_count; s++)
        most = all->room[s] > most ? all->room[s] : most;
    struct copying c = {.all = all,
                        .groups = all->groups,
                        .arena = arena,
                        .err = err,
                        .home = cw_arena_alloc(arena, groups, sizeof *c.home),
                        .penalty = cw_arena_alloc(arena, groups, sizeof *c.penalty),
                        .waiting = cw_arena_alloc(arena, (size_t)groups + 1, sizeof *c.waiting),
                        .candidates = cw_arena_alloc(arena, most, sizeof *c.candidates),
                        .random = CW_SEARCH_SEED};
    if (!c.home || !c.penalty || !c.waiting || !c.candidates)
        return cw_error_nomem(err);
    memset(c.home, 0xff, groups * sizeof *c.home);
    CW_TRY(list_waiting(&c));
    uint32_t budget = !grow ? STEPS : STEPS_EACH * groups > LEAST_STEPS ? STEPS_EACH * groups : LEAST_STEPS;
    all->most_steps = all->steps + budget;
    CW_TRY(insert_clusters(&c));
    CW_TRY(insert_waiting(&c, grow, budget));
    drop_copies(&c);
    return CW_OK;
}

enum {
    LARGE_GROUP = 64, /* a larger group cannot belong to one value */
    STEPS_OF_RAW = 8, /* cost of setting up one raw counter's problem, in placements tried */
};

struct making {
    const struct cw_schedule_task *task;
    struct cw_problems problems;
    struct cw_packings packings;
    struct cw_arena *arena; /* for temporary data */
    struct cw_error *err;
};

/* ---- the request ------------------------------------------------------------------------------------------------ */

/* Lists the distinct raw counters of all groups, ascending. */
static enum cw_status list_raws(struct making *m, struct cw_list *raws)
{
    const struct cw_chip *chip = m->task->chip;
    uint8_t *seen = cw_arena_alloc(m->arena, chip->raw_count, 1);
    uint32_t *items = cw_arena_alloc(m->arena, chip->raw_count, sizeof *items);
    if (!seen || !items)
        return cw_error_nomem(m->err);
    *raws = (struct cw_list){0, items};
    for (size_t g = 0; g < m->task->group_count; g++)
        for (uint32_t k = 0; k < m->task->groups[g].count; k++)
            seen[m->task->groups[g].items[k]] = 1;
    for (uint32_t i = 0; i < chip->raw_count; i++) {
        if (!seen[i])
            continue;
        if (!chip->raws[i].placement_count)
            return cw_error_set(m->err, CW_ERR_UNSUPPORTED,
                                "found no domain of %s that collects the raw counter 0x%016" PRIx64, chip->name,
                                chip->raws[i].id);
        items[raws->count++] = i;
    }
    return CW_OK;
}

static int by_size(const void *a, const void *b)
{
    const struct cw_list *x = *(const struct cw_list *const *)a, *y = *(const struct cw_list *const *)b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    int order = memcmp(x->items, y->items, x->count * sizeof *x->items);
    return order ? order : (x > y) - (x < y);
}

/* Whether a group has several counters, few enough for one value, in one section. */
static bool worth_gathering(const struct making *m, const struct cw_list *group)
{
    bool worth = group->count > 1 && group->count <= LARGE_GROUP;
    for (uint32_t k = 1; worth && k < group->count; k++)
        worth =
            cw_problems_section(&m->problems, group->items[k]) == cw_problems_section(&m->problems, group->items[0]);
    return worth;
}

/* Chooses the groups to bring together, without duplicates, small ones first. */
static enum cw_status choose_groups(struct making *m)
{
    const struct cw_list **chosen = cw_arena_alloc(m->arena, m->task->group_count, sizeof *chosen);
    struct cw_list *groups = cw_arena_alloc(m->arena, m->task->group_count, sizeof *groups);
    uint32_t n = 0, kept = 0;
    if (!chosen || !groups)
        return cw_error_nomem(m->err);
    for (size_t i = 0; i < m->task->group_count; i++)
        if (worth_gathering(m, &m->task->groups[i]))
            chosen[n++] = &m->task->groups[i];
    if (n)
        qsort(chosen, n, sizeof *chosen, by_size);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || groups[kept - 1].count != chosen[i]->count ||
            memcmp(groups[kept - 1].items, chosen[i]->items, chosen[i]->count * sizeof *chosen[i]->items) != 0)
            groups[kept++] = *chosen[i];
    m->packings.groups = groups;
    m->packings.group_count = kept;
    return CW_OK;
}

/* ---- the steps -------------------------------------------------------------------------------------------------- */

/* Computes lower bounds on the passes of each section and of the schedule. */
static enum cw_status find_bounds(struct making *m, uint32_t *by_section, uint32_t *bound)
{
    uint32_t rules = 0;
    for (uint32_t p = 0; p < m->problems.count; p++)
        rules = m->problems.items[p].rule_count > rules ? m->problems.items[p].rule_count : rules;
    uint32_t *needs = cw_arena_alloc(m->arena, rules, sizeof *needs);
    if (!needs)
        return cw_error_nomem(m->err);
    for (uint32_t p = 0; p < m->problems.count; p++) {
        uint32_t *most = &by_section[m->problems.items[p].section];
        uint32_t needed = cw_search_bound(&m->problems.items[p], needs);
        *most = needed > *most ? needed : *most;
    }
    for (uint32_t s = 0; s < m->problems.section_count; s++)
        *bound += by_section[s];
    return CW_OK;
}

/* Packs every problem. The problem with most passes decides for its section, so the others need no better packing than
 * that. */
static enum cw_status search(struct making *m, struct cw_search_result *found, uint32_t *pass_counts)
{
    bool quick = m->task->flags & CW_SCHEDULE_QUICK;
    for (uint32_t p = 0; p < m->problems.count; p++) {
        uint32_t *most = &pass_counts[m->problems.items[p].section];
        CW_TRY(cw_search_make(&found[p], &m->problems.items[p], *most, quick, m->arena, m->err));
        if (found[p].pass_count > *most)
            *most = found[p].pass_count;
    }
    return CW_OK;
}

static enum cw_status improve(struct making *m, const struct cw_search_result *found, uint32_t *pass_counts)
{
    struct cw_packings *all = &m->packings;
    bool whole = m->task->flags & CW_SCHEDULE_WHOLE, quick = m->task->flags & CW_SCHEDULE_QUICK;
    if (!cw_packings_init(all, &m->problems, pass_counts, m->arena))
        return cw_error_nomem(m->err);
    CW_TRY(choose_groups(m));
    for (uint32_t s = 0; s < m->problems.section_count; s++)
        all->room[s] = whole ? 2 * pass_counts[s] + all->group_count : pass_counts[s];
    CW_TRY(gather_align(all, found, m->arena, m->err));
    CW_TRY(quick && !whole ? gather_exchange(all, m->arena, m->err) : gather_copy(all, whole, m->arena, m->err));
    return m->task->chip->pass_cost_count ? cw_cost_reduce(all, m->arena, m->err) : CW_OK;
}

/* ---- the passes ------------------------------------------------------------------------------------------------- */

/* Lists the placements of one problem in a pass; returns their number. */
static uint32_t list_placements(const struct cw_packing *packing, uint32_t pass, uint32_t *placements)
{
    const struct cw_packing_pass *from = &packing->passes[pass];
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t choice = cw_packing_has(packing, from->items[i], pass) - 1;
        placements[i] = packing->problem->items[from->items[i]].choices[choice].placement;
    }
    return from->count;
}

/* Makes pass `number` of a section from that pass of each of the section's problems. */
static bool make_pass(const struct making *m, uint32_t section, uint32_t number, struct cw_pass *pass,
                      struct cw_arena *arena)
{
    uint32_t count = 0, n = 0;
    for (uint32_t p = 0; p < m->problems.count; p++)
        count += m->problems.items[p].section == section ? m->packings.items[p]->passes[number].count : 0;
    uint32_t *placements = cw_arena_alloc(arena, count, sizeof *placements);
    if (!placements)
        return false;
    for (uint32_t p = 0; p < m->problems.count; p++)
        if (m->problems.items[p].section == section)
            n += list_placements(m->packings.items[p], number, placements + n);
    /* a chip's placements are sorted by raw counter */
    qsort(placements, n, sizeof *placements, cw_compare_u32);
    *pass = (struct cw_pass){n, placements};
    return true;
}

/* Joins the passes of all sections and drops empty ones. */
static enum cw_status combine(const struct making *m, struct cw_schedule *schedule, struct cw_arena *arena)
{
    uint32_t total = 0;
    for (uint32_t s = 0; s < m->problems.section_count; s++)
        total += m->packings.pass_counts[s];
    struct cw_pass *passes = cw_arena_alloc(arena, total, sizeof *passes);
    bool good = passes != NULL;
    for (uint32_t s = 0; s < m->problems.section_count; s++)
        for (uint32_t k = 0; good && k < m->packings.pass_counts[s]; k++) {
            good = make_pass(m, s, k, &passes[schedule->pass_count], arena);
            schedule->pass_count += good && passes[schedule->pass_count].count;
        }
    schedule->passes = passes;
    return good ? CW_OK : cw_error_nomem(m->err);
}

static enum cw_status make(struct making *m, struct cw_schedule *schedule, struct cw_arena *arena)
{
    const struct cw_limits limits = cw_schedule_limits(m->task->chip, m->task->profiler);
    struct cw_list raws;
    CW_TRY(list_raws(m, &raws));
    CW_TRY(cw_problems_make(&m->problems, m->task->chip, &limits, &raws, m->arena, m->err));
    struct cw_search_result *found = cw_arena_alloc(m->arena, m->problems.count, sizeof *found);
    uint32_t *pass_counts = cw_arena_alloc(m->arena, m->problems.section_count, sizeof *pass_counts);
    if (!found || !pass_counts)
        return cw_error_nomem(m->err);
    CW_TRY(find_bounds(m, pass_counts, &schedule->bound));
    CW_TRY(search(m, found, pass_counts));
    CW_TRY(improve(m, found, pass_counts));
    schedule->steps = m->packings.steps + (uint64_t)STEPS_OF_RAW * raws.count;
    return combine(m, schedule, arena);
}

struct cw_limits cw_schedule_limits(const struct cw_chip *chip, enum cw_profiler profiler)
{
    if (profiler == CW_PROFILER_PM)
        return (struct cw_limits){chip->pm_limit_count, chip->pm_limits, true};
    return (struct cw_limits){chip->limit_count, chip->limits, false};
}

enum cw_status cw_schedule_make(struct cw_schedule *schedule, const struct cw_schedule_task *task,
                                struct cw_arena *arena, struct cw_error *err)
{
    struct cw_error reason = CW_ERROR_INIT;
    struct cw_arena *scratch = cw_arena_create();
    *schedule = (struct cw_schedule){0};
    struct making m = {.task = task, .arena = scratch, .err = &reason};
    enum cw_status status = scratch ? make(&m, schedule, arena) : cw_error_nomem(&reason);
    cw_arena_destroy(scratch);
    if (status == CW_ERR_UNSUPPORTED && task->flags & CW_SCHEDULE_WHOLE) {
        /* Schedule again without WHOLE, which may be impossible. A raw counter that no pass can hold is refused again,
         * with its reason. */
        struct cw_schedule_task loose = *task;
        loose.flags &= ~(unsigned)CW_SCHEDULE_WHOLE;
        return cw_schedule_make(schedule, &loose, arena, err);
    }
    if (status != CW_OK && err)
        *err = reason;
    return status;
}
