/* Decides when the capture is open, if it is not for all of the program's time (trace_window.h). All modes but traces
 * use it; traces decide for themselves. A limit in time opens and closes it at the next launch. */
#ifndef CW_INJECT_GATE_H
#define CW_INJECT_GATE_H

#include "agent/common/trace_window.h"
#include "agent/inject/ranges/steady.h"

struct cw_gate {
    bool asked, closed; /* asked: something may close it; closed: it is now */
    uint32_t launch;    /* correlation of the launch that was looked at last; 0: a call of another kind was */
    struct cw_trace_window window;
    struct cw_filter everything;
    struct cw_steady steady;
};
extern struct cw_gate *const cw_gate;

/* Reads SETUP's payload; false if it is invalid, or when out of memory. */
bool cw_gate_read(struct cw_reader *in);
/* Whether a call may open or close it: cudaProfilerStart and cudaProfilerStop. */
bool cw_gate_follows(CUpti_CallbackId id);

enum cw_gate_event {
    CW_GATE_SAME,
    CW_GATE_TURNS,  /* it was opened or closed */
    CW_GATE_PERIOD, /* it is open, and another period begins */
};
/* Call it before a launch. */
enum cw_gate_event cw_gate_launch(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Call it behind a call that it follows. */
enum cw_gate_event cw_gate_profiler(CUpti_CallbackId id);
/* Number of the current captured period, from 1; 0: none, or not known. */
uint32_t cw_gate_period(void);
/* Call it when the program ends. */
void cw_gate_finish(void);
/* Prepares for another capture. */
void cw_gate_reset(void);

#endif
