/* What traces share, whatever the backend: kinds, words and verdicts. Rows go through agent/output/trace_output.h. */
#ifndef CW_AGENT_TRACE_CAPTURE_H
#define CW_AGENT_TRACE_CAPTURE_H

#include "agent/backend/backend.h"
#include "agent/output/trace_output.h"

/* ---- kinds ------------------------------------------------------------------------------------------------------ */

/* Names of kinds and of groups of them, as "gpu,api,-driver": each adds, or removes behind a "-"; where the first
 * removes, it is from the default. CW_ERR_USAGE for another name, and for no kind at all. */
enum cw_status cw_trace_kinds_read(uint64_t *kinds, const char *text, struct cw_error *err);
/* Prints a line for each kind, and for each group. */
void cw_trace_kinds_list(void);

/* ---- captures --------------------------------------------------------------------------------------------------- */

/* cw_trace_output_open with what the options say. With --toggle SIGUSR2 is the agent's from here on
 * (cw_signals_user2), which is told. */
enum cw_status cw_trace_capture_open(struct cw_trace_output *output, const struct cw_trace_options *options,
                                     const char *chip, struct cw_arena *arena, struct cw_error *err);
/* Ends the files, but not after trouble, for they may lack rows. Tells on stderr in one line what was recorded and what
 * was lost, by kind, and a line for each reason. The result is the trouble, that of ending too, or
 * cw_program_verdict's; a program that ended well and did nothing that was to be traced is an error. */
enum cw_status cw_trace_capture_end(struct cw_trace_output *output, const struct cw_trace_options *options,
                                    const struct cw_program *program, struct cw_error *trouble, int *exit_status,
                                    struct cw_error *err);

#endif
