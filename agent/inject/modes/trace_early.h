/* Parts of a trace's setup that are needed before the agent answers: CUPTI needs some before CUDA begins, and the
 * runtimes of OpenMP and OpenACC ask for their tools when the program starts. The agent passes them in the environment
 * of a program that it starts (CW_AGENT_TRACE_VARIABLE). */
#ifndef CW_INJECT_TRACE_EARLY_H
#define CW_INJECT_TRACE_EARLY_H

#include "agent/common/trace_page.h"
#include "agent/inject/driver/inject.h"

/* The kinds of the agent's early setup; 0 if there is none. Needs no lock. */
uint64_t cw_trace_early_kinds(void);

/* Passes the setup to CUPTI, when CUDA begins. */
void cw_trace_early_ask(void);
/* Whether CUDA had begun before the trace was known, so that CUPTI did not see what was there already. */
bool cw_trace_early_missed(void);
/* Returns the reason why a kind is missing or incomplete; NULL if it is complete. */
const char *cw_trace_early_lacks(enum cw_trace_kind kind, uint32_t flags);

#endif
