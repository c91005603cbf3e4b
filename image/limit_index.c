#include "image/limit_index.h"

#include <stdlib.h>
#include <string.h>

struct numbered {
    uint32_t group, member;
};

static int by_group(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    return (a->group > b->group) - (a->group < b->group);
}

/* Numbers a limit's groups from *next on; numbers[member] is the number of the member's group. */
static void number_groups(const struct cw_config_limit *limit, struct numbered *sorted, uint32_t *numbers,
                          uint32_t *next)
{
    for (uint32_t m = 0; m < limit->count; m++)
        sorted[m] = (struct numbered){limit->groups[m], m};
    if (limit->count)
        qsort(sorted, limit->count, sizeof *sorted, by_group);
    for (uint32_t i = 0; i < limit->count; i++) {
        *next += i > 0 && sorted[i].group != sorted[i - 1].group;
        numbers[sorted[i].member] = *next;
    }
    *next += limit->count > 0;
}

bool cw_limit_index_make(struct cw_limit_index *limits, const struct cw_config_image *plan, struct cw_arena *arena)
{
    uint32_t groups = 0, most = 0;
    size_t all = 0;
    *limits =
        (struct cw_limit_index){.plan = plan,
                                .first = cw_arena_alloc(arena, (size_t)plan->raw_count + 2, sizeof *limits->first),
                                .taken = cw_arena_alloc(arena, plan->limit_count, sizeof *limits->taken)};
    for (uint32_t l = 0; limits->first && l < plan->limit_count; l++) {
        const struct cw_config_limit *limit = &plan->limits[l];
        for (uint32_t m = 0; m < limit->count; m++)
            limits->first[limit->members[m].raw + 2]++;
        most = limit->count > most ? limit->count : most;
        all += limit->count;
    }
    for (uint32_t r = 2; limits->first && r < plan->raw_count + 2; r++)
        limits->first[r] += limits->first[r - 1];
    struct numbered *sorted = cw_arena_alloc(arena, most, sizeof *sorted);
    uint32_t *numbers = cw_arena_alloc(arena, most, sizeof *numbers);
    limits->items = cw_arena_alloc(arena, all, sizeof *limits->items);
    limits->seen = cw_arena_alloc(arena, all, sizeof *limits->seen);
    if (!limits->first || !limits->taken || !sorted || !numbers || !limits->items || !limits->seen)
        return false;
    for (uint32_t l = 0; l < plan->limit_count; l++) {
        const struct cw_config_limit *limit = &plan->limits[l];
        number_groups(limit, sorted, numbers, &groups);
        for (uint32_t m = 0; m < limit->count; m++) {
            struct cw_placement at = limit->members[m];
            limits->items[limits->first[at.raw + 1]++] = (struct cw_limit_item){at.domain, l, numbers[m]};
        }
    }
    return true;
}

uint32_t cw_limit_index_ask(struct cw_limit_index *limits, const struct cw_config_pass *pass)
{
    const struct cw_config_image *plan = limits->plan;
    uint32_t exceeded = plan->limit_count;
    if (plan->limit_count)
        memset(limits->taken, 0, plan->limit_count * sizeof *limits->taken);
    limits->question++;
    for (uint32_t k = 0; k < pass->count; k++) {
        struct cw_placement at = pass->placements[k];
        for (uint32_t i = limits->first[at.raw]; i < limits->first[at.raw + 1]; i++) {
            const struct cw_limit_item *item = &limits->items[i];
            if (item->domain != at.domain || limits->seen[item->group] == limits->question)
                continue;
            limits->seen[item->group] = limits->question;
            if (++limits->taken[item->limit] > plan->limits[item->limit].max && item->limit < exceeded)
                exceeded = item->limit;
        }
    }
    return exceeded;
}
