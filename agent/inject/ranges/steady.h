/* The steady state of a program: whole periods with which its launches repeat (period.h), of which some are captured.
 * Launches before that are let by. Where nothing repeats for long, all launches behind that are captured. */
#ifndef CW_INJECT_STEADY_H
#define CW_INJECT_STEADY_H

#include "agent/common/period.h"
#include "agent/inject/driver/inject.h"

struct cw_steady {
    struct cw_period *period; /* NULL: not asked for */
    uint32_t wanted;          /* periods to capture, or CW_EVERY_PERIOD */
    CUcontext context;        /* whose launches are watched: the first that launches */
    uint32_t device;
    bool open;       /* launches are captured now */
    bool over;       /* all that was wanted was captured */
    bool given_up;   /* nothing repeated for long */
    uint64_t before; /* whole periods when it was opened */
    uint64_t count;  /* and since then, while it was */
};

/* False without memory. */
bool cw_steady_begin(struct cw_steady *steady, uint32_t wanted);
/* Before a launch. True where a period begins with it. */
bool cw_steady_launch(struct cw_steady *steady, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Tells the agent of the period, where it was asked for. */
void cw_steady_tell(const struct cw_steady *steady);
/* No more launches are watched. */
void cw_steady_end(struct cw_steady *steady);

#endif
