/* Reports the time of batches and the reasons for their ends, over all processes (range --verbose). Does the same for
 * passes that take turns. */
#ifndef CW_AGENT_BATCH_REPORT_H
#define CW_AGENT_BATCH_REPORT_H

#include "agent/common/effort.h"
#include "agent/common/tally.h"

/* Initialise with zeros. */
struct cw_batch_report {
    bool of_passes;
    uint64_t batches, launches, ns[CW_EFFORT__COUNT];
    struct cw_tally ends;
};

/* Adds a batch; ignores an effort without a batch. */
void cw_batch_report_add(struct cw_batch_report *report, const struct cw_effort *effort, uint32_t launches);
/* Prints two lines, or that there were no batches. */
void cw_batch_report_print(struct cw_batch_report *report, FILE *out);

#endif
