/* What captures of ranges share, whatever the backend: the plan in parts, runs of the program, and where ranges go. */
#ifndef CW_AGENT_RANGE_CAPTURE_H
#define CW_AGENT_RANGE_CAPTURE_H

#include "agent/backend/backend.h"
#include "agent/output/range_output.h"
#include "agent/session/session.h"
#include "passes/parts.h"

struct cw_range_capture {
    const struct cw_range_options *options;
    struct cw_arena *arena;
    struct cw_filter filter;
    uint64_t beside; /* the raw counter that every pass is to collect so that it counts for the device; 0 where that is
                        not wanted or, if the context's work may count too, not known */
    bool one_pass;   /* parts are one pass each: a run of application replay collects one of them, and multiplexing one
                        of each launch or user range */
    struct cw_config_image plan; /* that of the options, until it is changed or divided */
    struct cw_parts parts;
    uint32_t added;        /* passes */
    uint32_t first, level; /* of a run of application replay: its part, and its level of nested user ranges, from 1 */
    const struct cw_clock_log *clocks; /* of the GPUs; NULL: not known */
    struct cw_range_output out;
    uint8_t *seen[CW_MOST_DEVICES]; /* by counter, what ranges of a GPU say of it; NULL: there was none */
    const bool *patched; /* by column: CUPTI counts it by patching a kernel's code; in a CUDA graph it comes out as 0 */
};

/* To be closed also after a failure. The options are borrowed. */
enum cw_status cw_range_capture_open(struct cw_range_capture *capture, const struct cw_range_options *options,
                                     struct cw_error *err);
/* Makes parts of the plan, as the kind of replay wants them; what fits a pass is for the backend to say. */
enum cw_status cw_range_capture_divide(struct cw_range_capture *capture, cw_parts_fits *fits, void *user,
                                       struct cw_error *err);
/* Opens the output, calls `run` for each run of the program, and says in the files how it ended: not after trouble, for
 * they may lack ranges. `run` stores the first thing that goes wrong meanwhile in *trouble. */
enum cw_status cw_range_capture_run(struct cw_range_capture *capture, const struct cw_program *program,
                                    struct cw_error *trouble, enum cw_status (*run)(void *user, struct cw_error *err),
                                    void *user, struct cw_error *err);
/* cw_program_verdict, and a program that ended well but launched nothing is an error. One that was never started says
 * nothing. */
enum cw_status cw_range_capture_verdict(const struct cw_range_capture *capture, const struct cw_program *program,
                                        enum cw_status status, int *exit_status, struct cw_error *err);
void cw_range_capture_close(struct cw_range_capture *capture);

/* Makes values of a range with CUDA graphs that were not collected of those that come out wrong there. */
void cw_range_capture_leave_out(const struct cw_range_capture *capture, struct cw_value *values);

/* Takes note of a range of a GPU: a counter that is unavailable in all of them is told in the end. */
void cw_range_capture_see(struct cw_range_capture *capture, uint32_t gpu, const struct cw_value *values);

/* What a range's attributes say: how it was replayed, why it was counted once, whether it was cold, whose work counted
 * where that was not the context's, the path of user ranges, which of the captured periods it is in, and how many
 * graphs were launched in it. Texts are borrowed. */
struct cw_range_attributes {
    struct cw_pair pairs[8];
    uint32_t count;
    char period[16], graphs[16], graph_kernel[32];
};
void cw_range_attributes_make(struct cw_range_attributes *a, const struct cw_launch *launch);

#endif
