/* Checks whether a capture on this node is possible. */
#ifndef CW_AGENT_CHECK_H
#define CW_AGENT_CHECK_H

#include <stdio.h>

#include "agent/backend/backend.h"

/* Implements cw_backend.check. */
enum cw_status cw_node_check(const struct cw_node_needs *needs, struct cw_error *err);

/* ---- between the parts ------------------------------------------------------------------------------------------ */

/* Kinds of answers. A note is information, no reason to refuse. */
enum cw_answer {
    CW_ANSWER_OK = 0,
    CW_ANSWER_NOTE = 1,
    CW_ANSWER_CHIP = -1,
    CW_ANSWER_METRIC = -2,
    CW_ANSWER_DEVICE = -3,
    CW_ANSWER_FACT = -4 /* "gpu NUMBER CHIP", then about it "attribute KEY VALUE", "does COMMAND", "lacks [UNIT]" */
};

enum { CW_LONGEST_ANSWER = 1024 };

/* Writes an answer as one line. `kind` is an enum cw_answer, or the enum cw_status of a failure. Returns false for a
 * failure. */
bool cw_answer(FILE *to, int kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns "" if the driver lets this process read counters, else a few words of advice. */
const char *cw_check_permission_advice(void);
/* Reports the captures that do not work on a GPU used through MPS. False if `need` is one of them. */
bool cw_check_mps(FILE *to, enum cw_need need, int device);
/* Looks in files and variables for a missing permission, other tools and services. */
void cw_check_environment(FILE *to);
/* Notes an MPS service that other programs may use; `proc`: the folder of processes, /proc. */
void cw_check_mps_daemon(FILE *to, const char *proc);
/* Reports whether the GPU at this PCI address is split into parts. */
void cw_check_mig(FILE *to, int device, const char *pci, bool split);

#endif
