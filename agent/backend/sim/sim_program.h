/* A program beside the simulated GPU. It may say what it does, a line for each event, in the file that COUNTERWORKS_SIM
 * names (sim_range.c lists them). */
#ifndef CW_AGENT_SIM_PROGRAM_H
#define CW_AGENT_SIM_PROGRAM_H

#include "agent/session/program.h"

/* Runs argv to its end and calls `take` for each line as it comes, without its newline; a line that is too long is cut.
 * `run` numbers the runs of one capture from 0 (COUNTERWORKS_SIM_RUN). */
enum cw_status cw_sim_program_run(struct cw_program *program, char *const *argv, uint32_t run,
                                  void (*take)(void *user, const char *line), void *user, struct cw_error *err);
/* What follows the word at the start of a line ("" for nothing), NULL for a line that starts with another word. */
const char *cw_sim_event(const char *line, const char *word);

#endif
