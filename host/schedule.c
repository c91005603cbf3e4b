#include "host/schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/schedule_cost.h"
#include "host/schedule_gather.h"
#include "host/schedule_packing.h"
#include "host/schedule_search.h"

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
    CW_TRY(cw_gather_align(all, found, m->arena, m->err));
    CW_TRY(quick && !whole ? cw_gather_exchange(all, m->arena, m->err) : cw_gather_copy(all, whole, m->arena, m->err));
    return m->task->chip->pass_cost_count ? cw_cost_reduce(all, m->arena, m->err) : CW_OK;
}

/* ---- the passes ------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

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
    qsort(placements, n, sizeof *placements, by_number);
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
