/* When the program's time is captured, where that is not all of it (trace_window.h): of ways to collect other than
 * traces, which look after that themselves. Time opens and closes it at launches. */
#ifndef CW_INJECT_GATE_H
#define CW_INJECT_GATE_H

#include "agent/common/trace_window.h"
#include "agent/inject/ranges/steady.h"

struct cw_gate {
    bool asked, closed; /* asked: something may close it; closed: it is now */
    struct cw_trace_window window;
    struct cw_filter everything;
    struct cw_steady steady;
};
extern struct cw_gate *const cw_gate;

/* Reads SETUP's payload; false when it makes no sense, and without memory. */
bool cw_gate_read(struct cw_reader *in);
/* Whether a call is one that opens or closes it: cudaProfilerStart and cudaProfilerStop. */
bool cw_gate_follows(CUpti_CallbackId id);

enum cw_gate_event {
    CW_GATE_SAME,
    CW_GATE_TURNS,  /* it was opened or closed */
    CW_GATE_PERIOD, /* it is open, and another period begins */
};
/* Before a launch. */
enum cw_gate_event cw_gate_launch(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Behind a call that it follows. */
enum cw_gate_event cw_gate_profiler(CUpti_CallbackId id);
/* Which of the periods that are captured it is, from 1; 0: none, or not known. */
uint32_t cw_gate_period(void);
/* The program ends. */
void cw_gate_finish(void);

#endif
