/* The user ranges that are open in this process: from NVTX and from counterworks/annotate.h. */
#ifndef CW_INJECT_USER_RANGES_H
#define CW_INJECT_USER_RANGES_H

#include "agent/common/filter.h"
#include "agent/common/nesting.h"

struct cw_user_ranges {
    struct cw_nesting open;
    const struct cw_filter *filter; /* NULL until the agent has said what it wants */
};
extern struct cw_user_ranges *const cw_user_ranges;

/* These take the lock themselves. Opening gives the range's number, 0 when it is not followed; popping and pushing give
 * the depth, from 0, or -1. */
uint64_t cw_user_range_start(uint64_t domain, const char *name);
void cw_user_range_end(uint64_t id);
int cw_user_range_push(uint64_t domain, const char *name);
int cw_user_range_pop(uint64_t domain);

/* With the lock held: for the calling thread, "outer/inner" up to the range `id` (0: all), in malloc memory. */
char *cw_user_ranges_path(uint64_t id);
/* The same: whether a wanted range is open. */
bool cw_user_ranges_wanted(void);
/* The same: how many wanted ranges are open, of whatever thread. */
uint32_t cw_user_ranges_wanted_count(void);
/* Which are wanted, also of those that are open. */
void cw_user_ranges_filter(const struct cw_filter *filter);

/* In a child that was forked, also in the middle of a change by another thread. */
void cw_user_ranges_forget(void);

#endif
