/* What of a trace is to be known before the agent answers: CUPTI has to be told some of it before CUDA begins, and the
 * runtimes of OpenMP and OpenACC ask for their tools when the program starts. The agent says it in the environment of
 * a program that it starts (CW_AGENT_TRACE_VARIABLE). */
#ifndef CW_INJECT_TRACE_EARLY_H
#define CW_INJECT_TRACE_EARLY_H

#include "agent/common/trace_page.h"
#include "agent/inject/driver/inject.h"

struct cw_trace_early {
    bool asked;                         /* CUPTI was */
    CUptiResult latency, device_graphs; /* its answers */
};
extern struct cw_trace_early *const cw_trace_early;

/* What the agent wants; all 0 where none has said so. Needs no lock. */
struct cw_trace_early_wish {
    uint64_t kinds;
    uint32_t flags; /* enum cw_trace_flag */
};
struct cw_trace_early_wish cw_trace_early_wish(void);

/* Tells CUPTI, as CUDA begins. */
void cw_trace_early_ask(void);
/* Why there is nothing of a kind, or less of it than was asked for; NULL where all is well. */
const char *cw_trace_early_lacks(enum cw_trace_kind kind, uint32_t flags);

#endif
