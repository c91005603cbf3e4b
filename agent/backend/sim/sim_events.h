/* Events of a simulated program, and the rows of a trace that they leave. Calls take time on its threads, work takes
 * time on streams of its GPUs. */
#ifndef CW_AGENT_SIM_EVENTS_H
#define CW_AGENT_SIM_EVENTS_H

#include "agent/backend/sim/sim_process.h"

enum cw_sim_fate { CW_SIM_RECORDED, CW_SIM_UNTIMED, CW_SIM_LOST };
void cw_sim_launch(struct cw_sim_process *p, const char *kernel, enum cw_sim_fate fate);
/* Launches a graph of `kernels` kernels, which take turns under the name. */
void cw_sim_launch_graph(struct cw_sim_process *p, const char *kernel, uint32_t kernels);
/* `direction`: HtoD and the like. */
void cw_sim_copy(struct cw_sim_process *p, const char *direction, uint64_t bytes, bool async);
void cw_sim_memset(struct cw_sim_process *p, uint64_t bytes);
/* Waits for the stream. */
void cw_sim_synchronize(struct cw_sim_process *p);
/* Makes the stream wait for the current work of another one. */
void cw_sim_wait_for_stream(struct cw_sim_process *p, uint32_t number);
void cw_sim_allocate(struct cw_sim_process *p, uint64_t bytes, bool async);
void cw_sim_free(struct cw_sim_process *p);
void cw_sim_profiler(struct cw_sim_process *p, bool start);

/* Begins an NVTX range; domain and category "" for none, payload CW_TRACE_SIGNED_UNKNOWN for none. */
void cw_sim_range_begin(struct cw_sim_process *p, bool push, const char *domain, const char *name, const char *category,
                        uint64_t payload);
/* Ends the range started under this name; NULL: the innermost one that this thread pushed. */
void cw_sim_range_end(struct cw_sim_process *p, const char *started);
void cw_sim_mark(struct cw_sim_process *p, const char *name, double payload);

/* Adds a row of each kind that such a program has rarely or once. */
void cw_sim_odds_and_ends(struct cw_sim_process *p);

#endif
