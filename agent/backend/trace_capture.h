/* Shared by both backends for traces: kinds, texts and verdicts. Rows go through agent/output/trace_output.h. */
#ifndef CW_AGENT_TRACE_CAPTURE_H
#define CW_AGENT_TRACE_CAPTURE_H

#include "agent/backend/backend.h"
#include "agent/output/trace_output.h"

/* ---- kinds ------------------------------------------------------------------------------------------------------ */

/* Reads names of kinds and groups such as "gpu,api,-driver": each adds, or removes behind a "-"; if the first one
 * removes, the list starts with the default. CW_ERR_USAGE for another name, and for a list without any kind. */
enum cw_status cw_trace_kinds_read(uint64_t *kinds, const char *text, struct cw_error *err);
/* Prints a line for each kind and each group. */
void cw_trace_kinds_list(void);

/* ---- captures --------------------------------------------------------------------------------------------------- */

/* Opens the output with the options. With --toggle, SIGUSR2 goes to the agent from here on (cw_signals_user2), with a
 * notice. */
enum cw_status cw_trace_capture_open(struct cw_trace_output *output, const struct cw_trace_options *options,
                                     const char *chip, struct cw_arena *arena, struct cw_error *err);
/* Ends the files, but not after trouble, because rows may be missing. Prints on stderr one line of recorded and lost
 * rows by kind, and a line for each reason. Returns the trouble, the error of ending, or that of cw_program_verdict. It
 * is an error if a program ended well without any event to trace. */
enum cw_status cw_trace_capture_end(struct cw_trace_output *output, const struct cw_trace_options *options,
                                    const struct cw_program *program, struct cw_error *trouble, int *exit_status,
                                    struct cw_error *err);

#endif
