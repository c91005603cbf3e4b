/* The period with which a program repeats its launches: a step of training or decoding, an iteration of a solver.
 *
 * A launch is a number, the same for similar launches. Every launch is a mark; a stretch lies between a mark and the
 * next similar launch. If the stretches of a mark hold about the same launches, over and over, the mark begins a
 * period. The mark with the longest such stretches wins: in nested loops, the outermost loop that was seen to repeat.
 * Two stretches are similar if they hold about as many launches of each kind, in any order, so an evaluation or a
 * report in between does no harm.
 *
 * Takes constant time for a launch and constant memory. The caller passes the time. */
#ifndef CW_AGENT_PERIOD_H
#define CW_AGENT_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

struct cw_period; /* opaque */

struct cw_period_facts {
    bool found;
    uint64_t begin_ns;   /* start of the first whole period; the period was found later */
    uint64_t before;     /* launches before begin_ns */
    uint64_t launches;   /* launches of the last period */
    uint64_t count;      /* whole periods so far, from begin_ns on */
    uint64_t others;     /* stretches between them that differ */
    uint64_t periods_ns; /* total time of the whole periods */
    uint64_t all;        /* launches so far */
    uint64_t all_ns;     /* from the first launch to the last */
};

/* NULL when out of memory. */
struct cw_period *cw_period_create(void);
void cw_period_destroy(struct cw_period *period);
/* Takes a launch at `now_ns`. True if a period begins with it; never before the period is found. */
bool cw_period_launch(struct cw_period *period, uint64_t launch, uint64_t now_ns);
struct cw_period_facts cw_period_facts(const struct cw_period *period);

#endif
