/* The open user ranges of a program: a stack for each thread and domain, and ranges of the whole process that start and
 * end in any order.
 *
 * Hardware counts one thing at a time, so ranges are collected one level at a time. A range gets the lowest level that
 * no open range has. So nested ranges have the levels 1, 2, ..., and overlapping ranges of several threads have
 * different levels, too. */
#ifndef CW_AGENT_NESTING_H
#define CW_AGENT_NESTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* Counts the pushed ranges that cannot be followed for lack of room, by thread and domain, so that the pop of such a
 * range does not end another. */
enum { CW_MOST_BEYOND = 1024 }; /* pairs of thread and domain; ranges of further pairs are not counted */

struct cw_beyond { /* initialise with zeros */
    uint32_t count;
    struct {
        uint64_t thread, domain, depth;
    } of[CW_MOST_BEYOND];
};

void cw_beyond_push(struct cw_beyond *beyond, uint64_t thread, uint64_t domain);
/* Whether the popped range is such a range. */
bool cw_beyond_pop(struct cw_beyond *beyond, uint64_t thread, uint64_t domain);

struct cw_open_range {
    uint64_t id; /* from 1, in the order of opening */
    uint64_t thread, domain;
    bool process_wide; /* started rather than pushed */
    bool wanted;       /* selected by the filter; other ranges have level 0 */
    uint32_t level;
    char *name;
};

enum { CW_MOST_OPEN_RANGES = 4096 };

struct cw_nesting {
    uint64_t ids, beyond, forgotten; /* ranges not followed: without room (beyond), without memory (forgotten) */
    const char *warning;
    struct cw_beyond pushed; /* counts of these */
    uint32_t count;          /* open now, in the order of opening */
    struct cw_open_range open[CW_MOST_OPEN_RANGES];
};

void cw_nesting_finish(struct cw_nesting *nesting);

/* Opens a range; copies `name`. NULL if CW_MOST_OPEN_RANGES are open, and when out of memory. The result is valid until
 * the next call. */
const struct cw_open_range *cw_nesting_open(struct cw_nesting *nesting, uint64_t thread, uint64_t domain,
                                            bool process_wide, bool wanted, const char *name);
/* Returns a line for people after the first range without room, and after the first without memory; else NULL. */
const char *cw_nesting_warning(const struct cw_nesting *nesting);
/* Ends the innermost pushed range of a thread and domain if it is one that is not followed; returns whether it is. */
bool cw_nesting_pop_unknown(struct cw_nesting *nesting, uint64_t thread, uint64_t domain);
/* The innermost followed range that a thread has pushed in a domain, or NULL. */
const struct cw_open_range *cw_nesting_innermost(const struct cw_nesting *nesting, uint64_t thread, uint64_t domain);
/* Number of pushed ranges that a thread has open in a domain. */
uint32_t cw_nesting_depth(const struct cw_nesting *nesting, uint64_t thread, uint64_t domain);
void cw_nesting_close(struct cw_nesting *nesting, uint64_t id);

/* Decides again which open ranges are wanted, and assigns their levels. */
void cw_nesting_review(struct cw_nesting *nesting, bool (*wanted)(const void *user, const char *name),
                       const void *user);

/* The open range with this level, or NULL. */
const struct cw_open_range *cw_nesting_at_level(const struct cw_nesting *nesting, uint32_t level);
/* Appends the path of this thread's open ranges, "outer/inner", up to and including the range `id` (0: all). */
void cw_nesting_path(const struct cw_nesting *nesting, uint64_t thread, uint64_t id, struct cw_writer *path);
/* Whether one of this thread's open ranges is wanted. */
bool cw_nesting_wanted(const struct cw_nesting *nesting, uint64_t thread);

#endif
