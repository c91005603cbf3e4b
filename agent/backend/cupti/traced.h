/* Traced processes of the injection library, alone (cupti_trace.c) or beside samples (cupti_pm.c): turns their messages
 * into rows of an output. */
#ifndef CW_AGENT_TRACED_H
#define CW_AGENT_TRACED_H

#include "agent/backend/backend.h"
#include "agent/output/trace_output.h"
#include "agent/session/session.h"

enum { CW_MOST_TRACED = 1 << 16 }; /* processes over the whole capture */

struct cw_traced {
    struct cw_trace_output *out; /* the caller's; initialise the rest with zeros */
    bool serialize;              /* cw_trace_options.serialize */
    unsigned toggles;            /* number of toggles that the processes know of */
    uint32_t count, capacity;
    struct cw_traced_process *processes;
};

/* Writes the first part of SETUP: the content of the trace. */
enum cw_status cw_trace_write_setup(struct cw_writer *setup, enum cw_mode mode, const struct cw_trace_options *options,
                                    struct cw_error *err);

/* Passes the options that are needed early in the environment of the session's program. */
void cw_trace_tell_early(struct cw_session *session, const struct cw_trace_options *options);

/* Takes a message of the session. */
enum cw_status cw_traced_take(struct cw_traced *traced, const struct cw_process *process, enum cw_message_type type,
                              struct cw_reader *in, struct cw_error *err);
/* Finds the process's number in the output, with the devices that it has introduced by now. */
enum cw_status cw_traced_find(struct cw_traced *traced, const struct cw_process *process, uint32_t *index,
                              struct cw_error *err);
/* Passes on the number of signals received that open or close the window. */
void cw_traced_toggle(struct cw_traced *traced, unsigned toggles);
/* Settles all processes after their end: counts and reports unsent data as lost. */
enum cw_status cw_traced_settle(struct cw_traced *traced, struct cw_error *err);
void cw_traced_close(struct cw_traced *traced);

#endif
