/* Time spent on a batch, or on a pass shared by launches if passes take turns, and the reason for its end. The profiled
 * program sends it to the agent. */
#ifndef CW_AGENT_EFFORT_H
#define CW_AGENT_EFFORT_H

#include "base/bytes.h"

enum cw_effort_phase {
    CW_EFFORT_NONE,    /* outside batches: not counted */
    CW_EFFORT_WAIT,    /* waiting for the agent to read earlier data */
    CW_EFFORT_SAVE,    /* saving memory */
    CW_EFFORT_SETUP,   /* setup, and the start of the first pass */
    CW_EFFORT_OWN,     /* the program's own run, which is the first pass */
    CW_EFFORT_START,   /* starting the other passes */
    CW_EFFORT_LAUNCH,  /* launching everything again */
    CW_EFFORT_STOP,    /* stopping all passes */
    CW_EFFORT_RESTORE, /* restoring memory */
    CW_EFFORT_DECODE,  /* decoding, and setting up the next part of the plan */
    CW_EFFORT_CHOOSE, /* asking CUPTI for the size of the counter data for the next pass's metrics, and for their ranges
                       */
    CW_EFFORT__COUNT
};

/* One phase at a time is current, since `since_ns`. All zeros: none yet. */
struct cw_effort {
    const char *ended; /* why the batch ended: a driver call or another reason; NULL or "": no batch */
    uint64_t ns[CW_EFFORT__COUNT];
    enum cw_effort_phase phase;
    uint64_t since_ns;
};

/* Ends the current phase, returns it, and begins another. */
enum cw_effort_phase cw_effort_turn(struct cw_effort *effort, enum cw_effort_phase to, uint64_t now_ns);
/* Clears the times; the current phase continues into the next batch. */
void cw_effort_clear(struct cw_effort *effort);

void cw_effort_write(struct cw_writer *out, const struct cw_effort *effort);
void cw_effort_read(struct cw_reader *in, struct cw_effort *effort, struct cw_arena *arena);

#endif
