/* The open user ranges of this process, from NVTX and from counterworks/annotate.h. */
#ifndef CW_INJECT_USER_RANGES_H
#define CW_INJECT_USER_RANGES_H

#include "agent/common/filter.h"
#include "agent/common/nesting.h"

/* The next four functions take the lock. Starting returns the range's number, 0 if it is not followed; pushing and
 * popping return the depth, from 0, or -1. */
uint64_t cw_user_range_start(uint64_t domain, const char *name);
void cw_user_range_end(uint64_t id);
int cw_user_range_push(uint64_t domain, const char *name);
int cw_user_range_pop(uint64_t domain);

/* Returns the path of the calling thread, "outer/inner" up to the range `id` (0: all), in malloc memory. Call it with
 * the lock. */
char *cw_user_ranges_path(uint64_t id);
/* Whether a wanted range is open. Call it with the lock. */
bool cw_user_ranges_wanted(void);
/* Number of open wanted ranges of all threads. Call it with the lock. */
uint32_t cw_user_ranges_wanted_count(void);
/* The open range with this level, or NULL. Call it with the lock. */
const struct cw_open_range *cw_user_ranges_at_level(uint32_t level);
/* Sets the filter for wanted ranges, open ones included. */
void cw_user_ranges_filter(const struct cw_filter *filter);

/* Call it in a forked child; another thread may have been changing the ranges. */
void cw_user_ranges_forget(void);

#endif
