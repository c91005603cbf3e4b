/* Shared by both backends for captures of ranges: the plan in parts, runs of the program, and the output. */
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
    uint64_t beside; /* raw counter that makes a pass count the whole device; every pass collects it. 0 if no pass
                        counts the device, or if the counter is unknown and passes may count the context instead */
    bool one_pass; /* each part is one pass: a run of application replay collects one part, and multiplexing one part of
                      each launch or user range */
    struct cw_config_image plan; /* the plan of the options, until it is changed or divided */
    struct cw_parts parts;
    uint32_t added;        /* passes added */
    uint32_t first, level; /* for a run of application replay: its part, and its level of nested user ranges, from 1 */
    const struct cw_clock_log *clocks; /* clocks of the GPUs; NULL: unknown */
    struct cw_range_output out;
    uint8_t *seen[CW_MOST_DEVICES]; /* by GPU and counter: availability in ranges so far; NULL: no range yet */
    const bool *patched; /* by column: CUPTI counts it by patching a kernel's code, so that it is 0 in a CUDA graph */
};

/* Opens a capture; borrows the options. Close it also after a failure. */
enum cw_status cw_range_capture_open(struct cw_range_capture *capture, const struct cw_range_options *options,
                                     struct cw_error *err);
/* Divides the plan into parts for the kind of replay; `fits` is the backend's test whether a pass fits. */
enum cw_status cw_range_capture_divide(struct cw_range_capture *capture, cw_parts_fits *fits, void *user,
                                       struct cw_error *err);
/* Opens the output, calls `run` for each run of the program, and writes into the files how the program ended, but not
 * after trouble, because ranges may be missing. `run` stores the first error in *trouble. */
enum cw_status cw_range_capture_run(struct cw_range_capture *capture, const struct cw_program *program,
                                    struct cw_error *trouble, enum cw_status (*run)(void *user, struct cw_error *err),
                                    void *user, struct cw_error *err);
/* Returns cw_program_verdict, or an error if the program ended well and launched nothing. Prints nothing about a
 * program that was never started. */
enum cw_status cw_range_capture_verdict(const struct cw_range_capture *capture, const struct cw_program *program,
                                        enum cw_status status, int *exit_status, struct cw_error *err);
void cw_range_capture_close(struct cw_range_capture *capture);

/* For a range with CUDA graphs: marks the values that would be wrong there as not collected. */
void cw_range_capture_leave_out(const struct cw_range_capture *capture, struct cw_value *values);

/* Whether CUPTI patches kernels' code for some counters of a plan. A launch of such a pass returns when its kernel has
 * ended. */
bool cw_range_capture_patches(const struct cw_config_image *plan);

/* Notes the counters available in a range of a GPU. A notice at the end names counters that were unavailable in all
 * ranges. */
void cw_range_capture_see(struct cw_range_capture *capture, uint32_t gpu, const struct cw_value *values);

/* Attributes of a range: kind of replay, reason for counting it once, whether it was cold, scope of the counted work if
 * not the context, path of user ranges, number of the captured period, and number of graphs launched in it. Borrows the
 * texts. */
struct cw_range_attributes {
    struct cw_pair pairs[8];
    uint32_t count;
    char period[16], graphs[16], graph_kernel[32];
};
void cw_range_attributes_make(struct cw_range_attributes *a, const struct cw_launch *launch);

#endif
