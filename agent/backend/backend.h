/* What a range capture needs, and the two ways to do it. */
#ifndef CW_AGENT_BACKEND_H
#define CW_AGENT_BACKEND_H

#include "agent/backend/check.h"
#include "agent/common/filter.h"
#include "agent/common/message.h"
#include "agent/output/collector.h"
#include "agent/session/program.h"
#include "image/config_image.h"

struct cw_range_options {
    const struct cw_config_image *plan;
    const char *output, *keep_native;
    char *const *argv; /* the program and its arguments */
    struct cw_filter_options filter;
    enum cw_replay replay;
    bool user;                    /* user ranges rather than launches */
    bool for_context, for_device; /* whose work may count; both: the device's while nothing else uses it */
    uint32_t levels;              /* of nested user ranges */
    uint64_t sim_seed;
    uint32_t sim_kernels, sim_drop;
};

/* The raw counter that every pass is to collect so that it counts for the device; 0 where that is not wanted or, if the
 * context's work may count too, not known. */
enum cw_status cw_range_beside(const struct cw_range_options *options, uint64_t *raw, struct cw_error *err);

/* What a range's attributes say: how it was replayed, why it was counted once, whose work counted where that was not
 * the context's, the path of user ranges, and how many graphs were launched in it. Texts are borrowed. */
struct cw_range_attributes {
    struct cw_pair pairs[5];
    uint32_t count;
    char graphs[16];
};
void cw_range_attributes_make(struct cw_range_attributes *a, const struct cw_launch *launch);

/* Runs the program and captures it. On success *exit_status is the program's own; errors of the capture come after the
 * program has ended by itself, what was complete is in the file. */
enum cw_status cw_cupti_capture(const struct cw_range_options *options, int *exit_status, struct cw_error *err);
/* The simulated GPU. */
enum cw_status cw_sim_capture(const struct cw_range_options *options, int *exit_status, struct cw_error *err);

/* cw_program_verdict, and a program that ended well but launched nothing is an error. */
enum cw_status cw_capture_verdict(const struct cw_range_options *options, const struct cw_program *program,
                                  uint64_t ranges, enum cw_status status, int *exit_status, struct cw_error *err);

#endif
