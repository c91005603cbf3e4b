/* The period with which the launches of a process repeat, as it tells the agent (CW_MESSAGE_STEADY). */
#ifndef CW_AGENT_STEADY_REPORT_H
#define CW_AGENT_STEADY_REPORT_H

#include "agent/common/period.h"
#include "base/bytes.h"
#include "image/counter_data.h"

struct cw_steady_report {
    uint32_t device; /* whose launches they are */
    bool given_up;   /* nothing repeated for so long that all that follows was captured */
    uint64_t count;  /* whole periods that were captured */
    struct cw_period_facts period;
};

void cw_steady_report_write(struct cw_writer *out, const struct cw_steady_report *report);
void cw_steady_report_read(struct cw_reader *in, struct cw_steady_report *report);

/* The share of the time between the first and the last launch that whole periods took. */
double cw_steady_share(const struct cw_steady_report *report);

/* As attributes of a device (docs/formats.md), whose texts are always as long, so that they can be written again in
 * their place. NULL: nothing is known yet. */
enum { CW_STEADY_ATTRIBUTES = 7, CW_STEADY_TEXT = 24 };
struct cw_steady_texts {
    char text[CW_STEADY_ATTRIBUTES][CW_STEADY_TEXT];
};
void cw_steady_attributes(struct cw_pair pairs[CW_STEADY_ATTRIBUTES], struct cw_steady_texts *texts,
                          const struct cw_steady_report *report);

/* In a line of standard error. */
void cw_steady_report_tell(const struct cw_steady_report *report, const char *program);

#endif
