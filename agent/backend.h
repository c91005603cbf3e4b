/* What a range capture needs, and the two ways to do it. */
#ifndef CW_AGENT_BACKEND_H
#define CW_AGENT_BACKEND_H

#include "agent/check.h"
#include "agent/collector.h"
#include "agent/filter.h"
#include "agent/message.h"
#include "agent/program.h"

struct cw_range_options {
    const struct cw_config_image *plan;
    const char *output, *keep_native;
    char *const *argv; /* the program and its arguments */
    struct cw_filter_options filter;
    enum cw_replay replay;
    bool user;       /* user ranges rather than launches */
    uint32_t levels; /* of nested user ranges */
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
/* cw_program_verdict, and a program that ended well but launched nothing is an error. */
enum cw_status cw_capture_verdict(const struct cw_range_options *options, const struct cw_program *program,
                                  uint64_t ranges, enum cw_status status, int *exit_status, struct cw_error *err);

#endif
