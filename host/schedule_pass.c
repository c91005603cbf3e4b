#include "host/schedule_pass.h"

#include <string.h>

bool cw_filling_init(struct cw_filling *f, const struct cw_problem *problem, struct cw_arena *arena)
{
    f->present = cw_arena_alloc(arena, problem->words, sizeof *f->present);
    uint16_t *counts = cw_arena_alloc(arena, (size_t)problem->class_count + problem->group_count + problem->rule_count,
                                      sizeof *counts);
    f->items = cw_arena_alloc(arena, problem->item_count, sizeof *f->items);
    f->count = 0;
    if (!f->present || !counts || !f->items)
        return false;
    f->classes = counts;
    f->groups = counts + problem->class_count;
    f->used = f->groups + problem->group_count;
    return true;
}

void cw_filling_clear(struct cw_filling *f, const struct cw_problem *problem)
{
    memset(f->present, 0, problem->words * sizeof *f->present);
    memset(f->classes, 0, problem->class_count * sizeof *f->classes);
    memset(f->groups, 0, problem->group_count * sizeof *f->groups);
    memset(f->used, 0, problem->rule_count * sizeof *f->used);
    f->count = 0;
}

bool cw_filling_fits(const struct cw_filling *f, const struct cw_problem *problem, uint32_t class_)
{
    const struct cw_problem_class *c = &problem->classes[class_];
    for (uint32_t w = 0; w < problem->words; w++)
        if (c->conflicts[w] & f->present[w])
            return false;
    for (uint32_t k = 0, more = 0; k < c->use_count; k++) {
        const struct cw_use *use = &c->uses[k];
        more = k && c->uses[k - 1].rule == use->rule ? more : 0;
        more += use->group == CW_NONE || !f->groups[use->group];
        if (more && f->used[use->rule] + more > problem->max[use->rule])
            return false;
    }
    return true;
}

void cw_filling_put(struct cw_filling *f, const struct cw_problem *problem, uint32_t item, uint32_t choice)
{
    uint32_t class_ = problem->items[item].choices[choice].class_;
    const struct cw_problem_class *c = &problem->classes[class_];
    if (f->classes[class_]++ == 0)
        f->present[class_ / 64] |= UINT64_C(1) << class_ % 64;
    for (uint32_t k = 0; k < c->use_count; k++)
        if (c->uses[k].group == CW_NONE || f->groups[c->uses[k].group]++ == 0)
            f->used[c->uses[k].rule]++;
    f->items[f->count++] = item;
}

void cw_filling_take(struct cw_filling *f, const struct cw_problem *problem, uint32_t item, uint32_t choice)
{
    uint32_t class_ = problem->items[item].choices[choice].class_;
    const struct cw_problem_class *c = &problem->classes[class_];
    if (--f->classes[class_] == 0)
        f->present[class_ / 64] &= ~(UINT64_C(1) << class_ % 64);
    for (uint32_t k = 0; k < c->use_count; k++)
        if (c->uses[k].group == CW_NONE || --f->groups[c->uses[k].group] == 0)
            f->used[c->uses[k].rule]--;
    uint32_t k = 0;
    while (f->items[k] != item)
        k++;
    memmove(f->items + k, f->items + k + 1, (--f->count - k) * sizeof *f->items);
}
