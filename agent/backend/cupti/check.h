/* Whether a capture on this node would be stopped by something. */
#ifndef CW_AGENT_CHECK_H
#define CW_AGENT_CHECK_H

#include <stdio.h>

#include "agent/backend/backend.h"

/* As cw_backend.check. */
enum cw_status cw_node_check(const struct cw_node_needs *needs, struct cw_error *err);

/* ---- between the parts ------------------------------------------------------------------------------------------ */

/* Notes are good to know, and no reason to refuse. */
enum cw_answer {
    CW_ANSWER_OK = 0,
    CW_ANSWER_NOTE = 1,
    CW_ANSWER_CHIP = -1,
    CW_ANSWER_METRIC = -2,
    CW_ANSWER_DEVICE = -3,
    CW_ANSWER_FACT = -4 /* "gpu NUMBER CHIP", then of it "attribute KEY VALUE", "does COMMAND", "lacks [UNIT]" */
};

/* Writes a line. `kind` is an enum cw_answer or the enum cw_status of a failure. True unless it is a failure. */
bool cw_answer(FILE *to, int kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether the driver lets this process read counters, in a few words of advice where it does not; "" where it does. */
const char *cw_check_permission_advice(void);
/* What does not work on a GPU that contexts are made on through MPS. False where that is what is needed. */
bool cw_check_mps(FILE *to, enum cw_need need, int device);
/* Notes a service that other programs may use; `proc`: where processes are listed, /proc. */
void cw_check_mps_daemon(FILE *to, const char *proc);
/* Whether a GPU, whose PCI address this is, is split into parts. */
void cw_check_mig(FILE *to, int device, const char *pci, bool split);
/* What driver and CUPTI say. Leaves contexts behind: for a process that ends. */
void cw_check_gpu(FILE *to, const struct cw_node_needs *needs);

#endif
