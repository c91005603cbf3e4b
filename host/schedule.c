#include "host/schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/schedule_gather.h"

/* The distinct raw counters of all groups, ascending. */
static uint32_t *distinct_raws(const struct cw_chip *chip, const struct cw_list *groups, size_t group_count,
                               struct cw_arena *arena, uint32_t *count)
{
    uint8_t *seen = cw_arena_alloc(arena, chip->raw_count, 1);
    uint32_t *raws = cw_arena_alloc(arena, chip->raw_count, sizeof *raws);
    *count = 0;
    if (!seen || !raws)
        return NULL;
    for (size_t g = 0; g < group_count; g++)
        for (uint32_t k = 0; k < groups[g].count; k++)
            seen[groups[g].items[k]] = 1;
    for (uint32_t i = 0; i < chip->raw_count; i++)
        if (seen[i])
            raws[(*count)++] = i;
    return raws;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Pass k of a section has pass k of each of its problems. */
static enum cw_status combine(struct cw_schedule *schedule, const struct cw_problems *problems,
                              struct cw_packed *const *packed, const uint32_t *section_first, uint32_t pass_count,
                              struct cw_arena *arena, struct cw_error *err)
{
    struct cw_pass *passes = cw_arena_alloc(arena, pass_count, sizeof *passes);
    uint32_t **items = cw_arena_alloc(arena, pass_count, sizeof *items);
    if (!passes || !items)
        return cw_error_nomem(err);
    for (uint32_t p = 0; p < problems->count; p++)
        for (uint32_t k = 0; k < packed[p]->pass_count; k++)
            passes[section_first[problems->items[p].section] + k].count += packed[p]->passes[k].count;
    uint32_t kept = 0, *number = cw_arena_alloc(arena, pass_count, sizeof *number);
    if (!number)
        return cw_error_nomem(err);
    for (uint32_t k = 0; k < pass_count; k++) {
        if (!passes[k].count)
            continue; /* gathering may leave a pass empty */
        items[kept] = cw_arena_alloc(arena, passes[k].count, sizeof **items);
        if (!items[kept])
            return cw_error_nomem(err);
        passes[kept] = (struct cw_pass){0, items[kept]};
        number[k] = kept++;
    }
    for (uint32_t p = 0; p < problems->count; p++)
        for (uint32_t k = 0; k < packed[p]->pass_count; k++)
            for (uint32_t i = 0; i < packed[p]->passes[k].count; i++) {
                uint32_t item = packed[p]->passes[k].items[i];
                uint32_t to = number[section_first[problems->items[p].section] + k];
                uint32_t choice = cw_packed_has(packed[p], item, k) - 1;
                items[to][passes[to].count++] = problems->items[p].items[item].choices[choice].placement;
            }
    /* the placements of a chip are in the order of its raw counters */
    for (uint32_t k = 0; k < kept; k++)
        qsort(items[k], passes[k].count, sizeof **items, by_number);
    schedule->pass_count = kept;
    schedule->passes = passes;
    return CW_OK;
}

/* Packs every problem. The problem with most passes decides, so the others need not be better than that one's bound. */
static enum cw_status pack_all(struct cw_packing *packings, const struct cw_problems *problems, bool quick,
                               uint32_t *enough, uint32_t *lowest, struct cw_arena *arena, struct cw_error *err)
{
    uint32_t *most = cw_arena_alloc(arena, problems->section_count, sizeof *most), rules = 0;
    for (uint32_t p = 0; p < problems->count; p++)
        rules = problems->items[p].rule_count > rules ? problems->items[p].rule_count : rules;
    uint32_t *needs = cw_arena_alloc(arena, rules, sizeof *needs);
    if (!most || !needs)
        return cw_error_nomem(err);
    for (uint32_t p = 0; p < problems->count; p++) {
        uint32_t bound = cw_pack_bound(&problems->items[p], needs);
        if (bound > most[problems->items[p].section])
            most[problems->items[p].section] = bound;
    }
    *lowest = 0;
    for (uint32_t s = 0; s < problems->section_count; s++)
        *lowest += most[s];
    enum cw_status status = CW_OK;
    for (uint32_t p = 0; status == CW_OK && p < problems->count; p++) {
        uint32_t *section_most = &most[problems->items[p].section];
        status = cw_pack(&packings[p], &problems->items[p], *section_most, quick, arena, err);
        if (status == CW_OK && packings[p].pass_count > *section_most)
            *section_most = packings[p].pass_count;
    }
    memcpy(enough, most, problems->section_count * sizeof *enough);
    return status;
}

static enum cw_status make(struct cw_schedule *schedule, const struct cw_schedule_task *task, struct cw_arena *arena,
                           struct cw_arena *scratch, struct cw_error *err)
{
    const struct cw_chip *chip = task->chip;
    struct cw_limits limits = cw_schedule_limits(chip, task->profiler);
    struct cw_problems problems;
    uint32_t count;
    uint32_t *raws = distinct_raws(chip, task->groups, task->group_count, scratch, &count);
    if (!raws)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < count; i++)
        if (!chip->raws[raws[i]].placement_count)
            return cw_error_set(err, CW_ERR_UNSUPPORTED,
                                "found no domain of %s that collects the raw counter 0x%016" PRIx64, chip->name,
                                chip->raws[raws[i]].id);
    enum cw_status status = cw_problems_make(&problems, chip, &limits, raws, count, scratch, err);
    if (status != CW_OK)
        return status;
    struct cw_packing *packings = cw_arena_alloc(scratch, problems.count, sizeof *packings);
    uint32_t *first = cw_arena_alloc(scratch, (size_t)problems.section_count + 1, sizeof *first);
    if (!packings || !first)
        return cw_error_nomem(err);
    status = pack_all(packings, &problems, task->flags & CW_SCHEDULE_QUICK, first + 1, &schedule->bound, scratch, err);
    if (status != CW_OK)
        return status;
    struct cw_packed **packed = cw_arena_alloc(scratch, problems.count, sizeof *packed);
    struct cw_place *places = cw_arena_alloc(scratch, chip->raw_count, sizeof *places);
    if (!packed || !places)
        return cw_error_nomem(err);
    for (uint32_t p = 0; p < problems.count; p++)
        for (uint32_t i = 0; i < problems.items[p].item_count; i++)
            places[problems.items[p].items[i].raw] = (struct cw_place){p, i};
    status = cw_gather(packed, &problems, packings, first + 1, places, task->groups, task->group_count, chip,
                       task->flags, scratch, err);
    if (status != CW_OK)
        return status;
    for (uint32_t s = 1; s <= problems.section_count; s++)
        first[s] += first[s - 1];
    return combine(schedule, &problems, packed, first, first[problems.section_count], arena, err);
}

struct cw_limits cw_schedule_limits(const struct cw_chip *chip, enum cw_profiler profiler)
{
    if (profiler == CW_PROFILER_PM)
        return (struct cw_limits){chip->pm_limit_count, chip->pm_limits};
    return (struct cw_limits){chip->limit_count, chip->limits};
}

enum cw_status cw_schedule_make(struct cw_schedule *schedule, const struct cw_schedule_task *task,
                                struct cw_arena *arena, struct cw_error *err)
{
    struct cw_error reason = CW_ERROR_INIT;
    struct cw_arena *scratch = cw_arena_create();
    *schedule = (struct cw_schedule){0};
    enum cw_status status = scratch ? make(schedule, task, arena, scratch, &reason) : cw_error_nomem(&reason);
    cw_arena_destroy(scratch);
    if (status == CW_ERR_UNSUPPORTED && task->flags & CW_SCHEDULE_WHOLE) {
        /* what no pass can hold is refused again, with its reason */
        struct cw_schedule_task loose = *task;
        loose.flags &= ~(unsigned)CW_SCHEDULE_WHOLE;
        return cw_schedule_make(schedule, &loose, arena, err);
    }
    if (status != CW_OK && err)
        *err = reason;
    return status;
}
