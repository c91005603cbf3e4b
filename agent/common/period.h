/* The period with which a program repeats its launches: a step of training or decoding, an iteration of a solver.
 *
 * A launch is a number, the same for launches that are alike. Every launch is a mark: between it and the next that is
 * alike lies a stretch. A mark whose stretches hold about the same launches, over and over, is one of a period;
 * of all such marks the one with the longest stretches is taken, and so of nested loops the outermost that was seen to
 * repeat. Stretches are compared by how many launches of which kind they hold, in any order, so an evaluation or a
 * report in between does no harm.
 *
 * Constant time for a launch, constant memory, and no clock: the caller tells the time. */
#ifndef CW_AGENT_PERIOD_H
#define CW_AGENT_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

struct cw_period; /* opaque */

struct cw_period_facts {
    bool found;
    uint64_t begin_ns;   /* when the first whole period began, which is before it was found */
    uint64_t before;     /* launches up to there */
    uint64_t launches;   /* of a period, the last one */
    uint64_t count;      /* whole periods so far, also before it was found */
    uint64_t others;     /* stretches among them that were no such period */
    uint64_t periods_ns; /* how long the whole periods took together */
    uint64_t all;        /* launches so far */
    uint64_t all_ns;     /* from the first launch to the last */
};

/* NULL without memory. */
struct cw_period *cw_period_create(void);
void cw_period_destroy(struct cw_period *period);
/* A launch at `now_ns`. True where a period begins with it, from the moment that the period was found. */
bool cw_period_launch(struct cw_period *period, uint64_t launch, uint64_t now_ns);
struct cw_period_facts cw_period_facts(const struct cw_period *period);

#endif
