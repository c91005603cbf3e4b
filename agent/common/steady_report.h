/* A process's report to the agent on the period of its launches (CW_MESSAGE_STEADY). */
#ifndef CW_AGENT_STEADY_REPORT_H
#define CW_AGENT_STEADY_REPORT_H

#include "agent/common/period.h"
#include "base/bytes.h"
#include "image/counter_data.h"

struct cw_steady_report {
    uint32_t device; /* the device of the launches */
    bool given_up;   /* nothing repeated within the limit, so the rest of the program was captured */
    uint64_t count;  /* captured whole periods */
    struct cw_period_facts period;
};

void cw_steady_report_write(struct cw_writer *out, const struct cw_steady_report *report);
void cw_steady_report_read(struct cw_reader *in, struct cw_steady_report *report);

/* Whole periods' share of the time between the first and the last launch. */
double cw_steady_share(const struct cw_steady_report *report);

/* Writes the report as attributes of a device (docs/formats.md). Each text has the same length every time, so that a
 * later report can overwrite it. `report`: NULL if nothing is known yet. */
enum { CW_STEADY_ATTRIBUTES = 7, CW_STEADY_TEXT = 24 };
typedef char cw_steady_texts[CW_STEADY_ATTRIBUTES][CW_STEADY_TEXT];
void cw_steady_attributes(struct cw_pair pairs[CW_STEADY_ATTRIBUTES], cw_steady_texts texts,
                          const struct cw_steady_report *report);

/* Prints the report as a line on standard error. */
void cw_steady_report_tell(const struct cw_steady_report *report, const char *program);

#endif
