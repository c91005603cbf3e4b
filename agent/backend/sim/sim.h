/* The simulated GPU, for machines without one. */
#ifndef CW_AGENT_SIM_H
#define CW_AGENT_SIM_H

#include "agent/backend/backend.h"
#include "agent/session/clock_log.h"

extern const struct cw_backend cw_backend_sim;

/* ---- its parts, as cw_backend has them --------------------------------------------------------------------------- */

enum cw_status cw_sim_range(const struct cw_range_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_sim_pc(const struct cw_pc_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_sim_pm(const struct cw_pm_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_sim_trace(const struct cw_trace_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_sim_check(const struct cw_node_needs *needs, struct cw_error *err);

/* ---- the program beside it -------------------------------------------------------------------------------------- */

/* Runs argv to its end. The program may say what it does, a line for each event, in the file that COUNTERWORKS_SIM
 * names; `take` is called for each as it comes, without its newline. `run` numbers the runs of one capture from 0
 * (COUNTERWORKS_SIM_RUN). Each way to collect takes the events that are of use to it, and leaves the others, so that
 * one program serves all:
 *
 *     launch KERNEL                      a kernel
 *     untimed KERNEL   lost KERNEL       the same, whose times are not collected; that a trace does not record
 *     graph KERNELS [OBSTACLE]           a CUDA graph of so many; what stands behind is why it cannot run twice
 *     copy DIRECTION BYTES   memset BYTES   sync   HtoD, DtoH, DtoD, PtoP...; a wait for the stream
 *     push NAME   pop   start NAME   end NAME   mark NAME
 *     allocate BYTES [async]   free   wait MICROSECONDS
 *     after STREAM                       the stream waits for what another one has to do
 *     profiler start|stop   signal       what windows may depend on
 *     thread NUMBER   stream NUMBER   device NUMBER [PCI]
 *     process NUMBER NAME [RANK [RANKS]] where later lines happen; the name - is the program's own
 *     clocks SM MEMORY                   what the GPUs run at from now on, in MHz
 *     domain NAME CATEGORY   payload NUMBER   value NUMBER   nodes NAME
 *                                        of the next range; of the next mark; of the kernels of later graphs
 *     flush   crash   exit               what was recorded is written; the process is killed, or ends
 *     odds                               one of each kind of row that is rare
 *
 * A program that says nothing is the one of sim_training.h. */
enum cw_status cw_sim_program_run(struct cw_program *program, char *const *argv, uint32_t run,
                                  void (*take)(void *user, const char *line), void *user, struct cw_error *err);
/* The clocks that the program said its GPUs have, all alike. */
const struct cw_clock_log *cw_sim_clocks(void);
/* What follows the word at the start of a line ("" for nothing), NULL for a line that starts with another word. */
const char *cw_sim_event(const char *line, const char *word);
/* Whether the line is one of those events, of use or not. */
bool cw_sim_is_event(const char *line);

#endif
