/* The program beside a simulated GPU, which may report its actions. */
#ifndef CW_AGENT_SIM_H
#define CW_AGENT_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/session/clock_log.h"
#include "agent/session/program.h"
#include "base/error.h"

/* Runs argv to its end. The program may report events, one per line, in the file named by COUNTERWORKS_SIM; `take` gets
 * each line as it comes, without its newline. `run` numbers the runs of one capture from 0 (COUNTERWORKS_SIM_RUN). Each
 * kind of capture takes the events that it can use and ignores the others, so that one program serves all:
 *
 *     launch KERNEL                      a kernel
 *     untimed KERNEL   lost KERNEL       a kernel without times; a kernel that the trace lacks
 *     once REASON                        why the next kernel is counted in one pass only
 *     graph KERNELS [OBSTACLE]           a CUDA graph of so many kernels; OBSTACLE: why it cannot run twice
 *     copy DIRECTION BYTES   memset BYTES   sync   HtoD, DtoH, DtoD, PtoP...; sync waits for the stream
 *     push NAME   pop   start NAME   end NAME   mark NAME
 *     allocate BYTES [async]   free   wait MICROSECONDS
 *     after STREAM                       the stream waits for the current work of another one
 *     profiler start|stop   signal       conditions for windows
 *     thread NUMBER   stream NUMBER   device NUMBER [PCI]
 *     process NUMBER NAME [RANK [RANKS]] the process of later lines; the name - is the program's own
 *     clocks SM MEMORY                   clocks of the GPUs from now on, in MHz
 *     domain NAME CATEGORY   payload NUMBER   value NUMBER   nodes NAME
 *                                        for the next range; the next mark; kernels of later graphs
 *     flush   crash   exit               records are written; the process is killed, or ends
 *     odds                               one row of each rare kind
 *
 * A program without events stands for the training of sim_training.h. */
enum cw_status cw_sim_program_run(struct cw_program *program, char *const *argv, uint32_t run,
                                  void (*take)(void *user, const char *line), void *user, struct cw_error *err);
/* Captures only between the events "profiler start" and "profiler stop" of the programs that run from here on, or all
 * the time; and whether it captures now. Traces have windows of their own. */
void cw_sim_ask_profiler(bool asked);
bool cw_sim_is_captured(void);
/* Clocks that the program gave for its GPUs, the same for all. */
const struct cw_clock_log *cw_sim_clocks(void);
/* Returns the text behind the word at the start of a line ("" for nothing), or NULL if the line starts with another
 * word. */
const char *cw_sim_event(const char *line, const char *word);
/* Size of the name of a range's domain. */
#define CW_SIM_DOMAIN_SIZE 64
/* Takes the line `domain NAME`, of the next range; false for another line. */
bool cw_sim_domain(char domain[CW_SIM_DOMAIN_SIZE], const char *line);
/* Returns the name of a range of a domain as on a real GPU, DOMAIN@NAME, or NAME where the domain is ""; free it. NULL:
 * no memory. */
char *cw_sim_range_name(const char *domain, const char *name);
/* Whether `full` is that of a range NAME in any domain. */
bool cw_sim_is_range(const char *full, const char *name);
/* Whether the line is any of these events. */
bool cw_sim_is_event(const char *line);

#endif
