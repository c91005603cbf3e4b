/* The user ranges that are open in a program: for each thread a stack for each domain, and ranges of the whole process
 * that start and end in any order.
 *
 * Hardware counts one thing at a time, so ranges are collected a level at a time. A range takes the lowest level that
 * no open range has; nested ranges thus have the levels 1, 2, ... and ranges of several threads that overlap do not
 * share one either. */
#ifndef CW_AGENT_NESTING_H
#define CW_AGENT_NESTING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/common/beyond.h"
#include "base/bytes.h"

struct cw_open_range {
    uint64_t id; /* from 1, in the order of opening */
    uint64_t thread, domain;
    bool process_wide; /* started rather than pushed */
    bool wanted;       /* unwanted ranges have level 0 */
    uint32_t level;
    char *name;
};

enum { CW_MOST_OPEN_RANGES = 4096 };

struct cw_nesting {
    uint64_t ids, beyond, forgotten; /* beyond the most, and without memory: ranges that are not followed */
    const char *warning;
    struct cw_beyond pushed; /* of those */
    uint32_t count; /* open now, in the order of opening */
    struct cw_open_range open[CW_MOST_OPEN_RANGES];
};

void cw_nesting_finish(struct cw_nesting *nesting);

/* `name` is copied. NULL when CW_MOST_OPEN_RANGES are open, and without memory. The result holds until the next call.
 */
const struct cw_open_range *cw_nesting_open(struct cw_nesting *nesting, uint64_t thread, uint64_t domain,
                                            bool process_wide, bool wanted, const char *name);
/* A line for people behind the first range that there was no room for, and the first without memory; else NULL. */
const char *cw_nesting_warning(const struct cw_nesting *nesting);
/* Whether the innermost pushed range of a thread and domain is one that is not followed: then it ends. */
bool cw_nesting_pop_unknown(struct cw_nesting *nesting, uint64_t thread, uint64_t domain);
/* The innermost pushed range of a thread and domain that is followed, or NULL. */
const struct cw_open_range *cw_nesting_innermost(const struct cw_nesting *nesting, uint64_t thread, uint64_t domain);
/* How many pushed ranges a thread has open in a domain. */
uint32_t cw_nesting_depth(const struct cw_nesting *nesting, uint64_t thread, uint64_t domain);
void cw_nesting_close(struct cw_nesting *nesting, uint64_t id);

/* Decides again which of the open ranges are wanted, and their levels. */
void cw_nesting_review(struct cw_nesting *nesting, bool (*wanted)(const void *user, const char *name),
                       const void *user);

/* The open range with this level, or NULL. */
const struct cw_open_range *cw_nesting_at_level(const struct cw_nesting *nesting, uint32_t level);
/* Appends "outer/inner": what is open for this thread, up to and with the range `id` (0: all). */
void cw_nesting_path(const struct cw_nesting *nesting, uint64_t thread, uint64_t id, struct cw_writer *path);
/* Whether one of the ranges open for this thread is wanted. */
bool cw_nesting_wanted(const struct cw_nesting *nesting, uint64_t thread);

#endif
