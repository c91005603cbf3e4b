/* What a capture on this node needs. The doctor asks for everything, a capture for what it needs itself. */
#ifndef CW_AGENT_CHECK_H
#define CW_AGENT_CHECK_H

#include <stdio.h>

#include "base/error.h"
#include "image/pc_data.h"

enum cw_need { CW_NEED_RANGE, CW_NEED_PM, CW_NEED_PC, CW_NEED_SASS, CW_NEED_ALL };
enum { CW_CHIP_NAME_SIZE = 32 };
#define CW_EVERY_DEVICE UINT64_MAX

struct cw_check {
    enum cw_need need;
    bool report;             /* print a line for each answer: ok, note or FAIL */
    const char *chip;        /* what the plan is for, NULL: any */
    uint64_t devices;        /* a bit for each GPU to look at; CW_EVERY_DEVICE: all that fit; 0: the first of them */
    char *found_chip;        /* NULL, or room of CW_CHIP_NAME_SIZE for the chip that the captures will be of */
    uint64_t *found_devices; /* NULL, or where a bit is set for each GPU that was looked at */
    /* SASS metrics that the chip must offer */
    uint32_t metric_count;
    const struct cw_sass_metric *metrics;
    bool list_metrics; /* print the SASS metrics of the chip, with their descriptions */
    /* stall reasons that the GPU must know */
    uint32_t reason_count;
    const char *const *reasons;
    bool list_reasons;
};

/* CW_OK, or the first thing that would stop the capture. */
enum cw_status cw_node_check(const struct cw_check *check, struct cw_error *err);

/* ---- between the parts ------------------------------------------------------------------------------------------ */

/* Where answers go, a line each. */
struct cw_answers {
    FILE *to;
};
/* Notes are good to know, and no reason to refuse. */
enum cw_answer {
    CW_ANSWER_OK = 0,
    CW_ANSWER_NOTE = 1,
    CW_ANSWER_CHIP = -1,
    CW_ANSWER_METRIC = -2,
    CW_ANSWER_DEVICE = -3
};

/* `kind` is an enum cw_answer or the enum cw_status of a failure. True unless it is a failure. */
bool cw_answer(const struct cw_answers *answers, int kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What this machine says without a GPU library: container, MPS, other tools. */
void cw_check_environment(const struct cw_answers *answers);
/* Whether the driver lets this process read counters, in a few words of advice where it does not; "" where it does. */
const char *cw_check_permission_advice(void);
/* What driver and CUPTI say. Leaves contexts behind: for a process that ends. */
void cw_check_gpu(const struct cw_answers *answers, const struct cw_check *check);

#endif
