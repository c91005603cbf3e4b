/* What captures of ranges share, whatever the backend. */
#ifndef CW_AGENT_RANGE_CAPTURE_H
#define CW_AGENT_RANGE_CAPTURE_H

#include "agent/backend/backend.h"

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

/* cw_program_verdict, and a program that ended well but launched nothing is an error. */
enum cw_status cw_range_verdict(const struct cw_range_options *options, const struct cw_program *program,
                                uint64_t ranges, enum cw_status status, int *exit_status, struct cw_error *err);

#endif
