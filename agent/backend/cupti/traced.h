/* Processes that the injection library traces, alone (cupti_trace.c) or beside samples (cupti_pm.c): what they send
 * becomes rows of an output. */
#ifndef CW_AGENT_TRACED_H
#define CW_AGENT_TRACED_H

#include "agent/backend/backend.h"
#include "agent/output/trace_output.h"
#include "agent/session/session.h"

enum { CW_MOST_TRACED = 1 << 16 }; /* processes, one after another and at a time */

struct cw_traced_process {
    uint64_t number;              /* of its connection */
    uint32_t index, device_count; /* index: in the output */
    struct cw_trace_page *page;   /* NULL: it did not come */
};

struct cw_traced {
    struct cw_trace_output *out; /* the caller's; the rest begins as zeros */
    unsigned toggles;            /* that the processes know of */
    uint32_t count, capacity;
    struct cw_traced_process *processes;
};

/* The first part of SETUP: what is to be traced. */
enum cw_status cw_trace_write_setup(struct cw_writer *setup, enum cw_mode mode, const struct cw_trace_options *options,
                                    struct cw_error *err);

/* What of it has to be known before, in the environment of the program that the session will start. */
void cw_trace_tell_early(struct cw_session *session, const struct cw_trace_options *options);

/* Takes a message of the session's. */
enum cw_status cw_traced_take(struct cw_traced *traced, const struct cw_process *process, enum cw_message_type type,
                              struct cw_reader *in, struct cw_error *err);
/* The process's number in the output, which has the devices that it has introduced by now. */
enum cw_status cw_traced_find(struct cw_traced *traced, const struct cw_process *process, uint32_t *index,
                              struct cw_error *err);
/* So many signals have come that open or close the window. */
void cw_traced_toggle(struct cw_traced *traced, unsigned toggles);
/* Once all have ended: what they had not sent is lost, and said. */
enum cw_status cw_traced_settle(struct cw_traced *traced, struct cw_error *err);
void cw_traced_close(struct cw_traced *traced);

#endif
