/* Opens the capture in a program's steady state, for some of the whole periods in which its launches repeat (period.h).
 * Earlier launches are let by. If nothing repeats for a long time, the capture opens for all launches from then on. */
#ifndef CW_INJECT_STEADY_H
#define CW_INJECT_STEADY_H

#include "agent/common/period.h"
#include "agent/inject/driver/inject.h"

struct cw_steady {
    struct cw_period *period; /* NULL: not asked for */
    uint32_t wanted;          /* periods to capture, or CW_EVERY_PERIOD */
    CUcontext context;        /* the watched context: the first that launches */
    uint32_t device;
    bool open;       /* launches are captured now */
    bool over;       /* all wanted periods were captured */
    bool given_up;   /* nothing repeated for long */
    uint64_t before; /* number of whole periods when the capture opened */
    uint64_t count;  /* number of whole periods since then, while it was open */
};

/* False when out of memory. */
bool cw_steady_begin(struct cw_steady *steady, uint32_t wanted);
/* Call it before a launch. True if a period begins with the launch. */
bool cw_steady_launch(struct cw_steady *steady, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Sends the period to the agent, if periods are wanted. */
void cw_steady_tell(const struct cw_steady *steady);
/* Stops watching launches. */
void cw_steady_end(struct cw_steady *steady);

#endif
