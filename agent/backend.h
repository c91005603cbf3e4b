/* What a range capture needs, and the two ways to do it. */
#ifndef CW_AGENT_BACKEND_H
#define CW_AGENT_BACKEND_H

#include "agent/check.h"
#include "agent/collector.h"
#include "agent/program.h"

/* How further passes come about. */
enum cw_replay {
    CW_REPLAY_BATCH,  /* launches are replayed together */
    CW_REPLAY_KERNEL, /* each launch for itself */
};

struct cw_range_options {
    enum cw_replay replay;
    const struct cw_config_image *plan;
    const char *output, *keep_native;
    char *const *argv; /* the program and its arguments */
    uint64_t sim_seed;
    uint32_t sim_kernels, sim_drop;
};

/* Runs the program and captures it. On success *exit_status is the program's own; errors of the capture come after the
 * program has ended by itself, what was complete is in the file. */
enum cw_status cw_cupti_capture(const struct cw_range_options *options, int *exit_status, struct cw_error *err);
/* The simulated GPU. */
enum cw_status cw_sim_capture(const struct cw_range_options *options, int *exit_status, struct cw_error *err);

/* Checks whether a plan for `chip` (NULL: any) can be collected here. With `report`, prints a line for each check. */
enum cw_status cw_cupti_check(const char *chip, bool report, struct cw_error *err);
/* What the end of a program means for its capture: an error for one that failed or launched nothing. */
enum cw_status cw_capture_verdict(const struct cw_range_options *options, const struct cw_program *program,
                                  uint64_t ranges, int *exit_status, struct cw_error *err);

#endif
