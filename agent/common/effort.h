/* What a batch took, or a pass that launches share where passes take turns, and what ended it: from the profiled program
 * to the agent. */
#ifndef CW_AGENT_EFFORT_H
#define CW_AGENT_EFFORT_H

#include "base/bytes.h"

enum cw_effort_phase {
    CW_EFFORT_NONE,    /* outside of batches: not counted */
    CW_EFFORT_WAIT,    /* for the agent to read what was handed over before */
    CW_EFFORT_SAVE,    /* memory */
    CW_EFFORT_SETUP,   /* and the start of the first pass */
    CW_EFFORT_OWN,     /* the program's own run, which is the first pass */
    CW_EFFORT_START,   /* of the other passes */
    CW_EFFORT_LAUNCH,  /* everything again */
    CW_EFFORT_STOP,    /* of all passes */
    CW_EFFORT_RESTORE, /* memory */
    CW_EFFORT_DECODE,  /* and what sets up the next part of the plan */
    CW_EFFORT_CHOOSE,  /* asking CUPTI how large the counter data of the next pass's metrics is, and of their ranges */
    CW_EFFORT__COUNT
};

/* One phase at a time is under way, from one moment on. All zeros: none yet. */
struct cw_effort {
    const char *ended; /* the batch: a call of the driver, or another reason; NULL or "": there was no batch */
    uint64_t ns[CW_EFFORT__COUNT];
    enum cw_effort_phase phase;
    uint64_t since_ns;
};

/* Ends the phase that is under way, which is returned, and begins another. */
enum cw_effort_phase cw_effort_turn(struct cw_effort *effort, enum cw_effort_phase to, uint64_t now_ns);
/* The phase that is under way goes on in the next batch. */
void cw_effort_clear(struct cw_effort *effort);

void cw_effort_write(struct cw_writer *out, const struct cw_effort *effort);
void cw_effort_read(struct cw_reader *in, struct cw_effort *effort, struct cw_arena *arena);

#endif
