/* Answers about groups that are made. */
#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "eval/ranges/groups.h"

uint32_t cw_groups_find(const struct cw_groups *groups, uint32_t range)
{
    uint32_t k = 0;
    while (k + 1 < groups->count &&
           !bsearch(&range, groups->items[k].ranges, groups->items[k].count, sizeof range, cw_compare_u32))
        k++;
    return k;
}

struct cw_short_launches cw_groups_find_short(const struct cw_groups *groups)
{
    enum { FEW = 20 };
    static const double TOLD_SHARE = 0.1;
    struct cw_short_launches found = {0};
    double time = 0;
    for (uint32_t k = 0; k < groups->count; k++) {
        for (uint32_t i = 0; cw_launch_of(&groups->data, k)->kernel[0] && i < groups->items[k].count; i++) {
            const double ns = groups->durations[groups->items[k].ranges[i]];
            const bool is_short = ns < CW_SHORT_LAUNCH_NS;
            found.launches += !isnan(ns);
            found.count += is_short;
            time += is_short ? ns : 0;
        }
    }
    found.share = groups->whole > 0 ? time / groups->whole : 0;
    found.many = found.count >= FEW && (2 * found.count >= found.launches || found.share >= TOLD_SHARE);
    return found;
}

double cw_group_share(const struct cw_groups *groups, const struct cw_group *group)
{
    return groups->whole > 0 ? group->total / groups->whole : NAN;
}

double cw_group_spread(const struct cw_group *group)
{
    return group->mean > 0 ? group->deviation / group->mean : NAN;
}

void cw_group_add_time(const struct cw_group *group, double *sum)
{
    if (group->timed)
        *sum = isnan(*sum) ? group->total : *sum + group->total;
}

bool cw_group_is_partly_timed(const struct cw_group *group)
{
    return group->timed && group->timed < group->count && !group->multiplexed;
}

uint64_t cw_groups_untimed(const struct cw_groups *groups)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < groups->count; i++)
        count += groups->items[i].count - groups->items[i].timed;
    return count;
}

bool cw_group_is_partly_used(const struct cw_group *group)
{
    return group->used && group->used < group->count && !group->multiplexed;
}

bool cw_groups_are_of_launches(const struct cw_groups *groups)
{
    return groups->data.range_count && cw_launch_of(&groups->data, 0)->kernel[0];
}

bool cw_groups_are_timed(const struct cw_groups *groups)
{
    return groups->count && !isnan(groups->total);
}

/* Both are sums of the same times, in another order. */
bool cw_groups_are_part(const struct cw_groups *groups)
{
    return groups->total < groups->whole * (1 - 1e-9);
}
