/* Finds out whether the program's launches can reach memory beyond their device, or other devices, processes or network
 * cards can reach into it. Such work cannot be repeated, and memory that others may write must not be restored. Signs
 * are the calls that make memory reachable, and the kernel names of NCCL and NVSHMEM, which may use memory made
 * reachable before. */
#ifndef CW_INJECT_REACH_H
#define CW_INJECT_REACH_H

#include "agent/inject/driver/inject.h"

#define CW_WHY_REACHED "what ran when other devices or processes came to reach its memory"

struct cw_reach {
    uint8_t kinds[CUPTI_DRIVER_TRACE_CBID_SIZE]; /* by driver call */
    char why[160];                               /* the first such call */
    bool reached;
};
extern struct cw_reach *const cw_reach;

/* Looks up the names of the driver's calls. */
void cw_reach_init(void);
/* Whether a driver call may make memory reachable. */
bool cw_reach_follows(CUpti_CallbackId id);
/* Whether this call or launch, before it is made, is the first to make memory reachable; ignores all others. */
bool cw_reach_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Marks memory as reachable from here on. The caller has ended the current collection; work that began meanwhile must
 * not be repeated. */
void cw_reach_begin(void);
/* The reason why launches must not be repeated, as a range's attribute; NULL if they may be. */
const char *cw_reach_why(void);

#endif
