/* Whether what the program launches can reach beyond its device's own memory, or others can reach into that: another
 * device, another process, a network card. What happens then cannot be done again, and memory that others may write
 * must not be put back. It is known by the calls that make memory reachable, and by the names of the kernels of NCCL
 * and NVSHMEM, which may use what they made before. */
#ifndef CW_INJECT_REACH_H
#define CW_INJECT_REACH_H

#include "agent/inject/driver/inject.h"

#define CW_WHY_REACHED "what ran when other devices or processes came to reach its memory"

struct cw_reach {
    uint8_t kinds[CUPTI_DRIVER_TRACE_CBID_SIZE]; /* of the driver's calls */
    char why[160];                               /* of the first call */
    bool reached;
};
extern struct cw_reach *const cw_reach;

/* Learns the names of the driver's calls. */
void cw_reach_init(void);
/* Whether a call of the driver may make memory reachable. */
bool cw_reach_follows(CUpti_CallbackId id);
/* Whether such a call, or a launch, that is about to be made is the first to make memory reachable; others are ignored.
 */
bool cw_reach_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* It is, from here on. What is being collected has ended before; what began meanwhile is not to be done again. */
void cw_reach_begin(void);
/* Why launches are not to be done again, as a range's attribute has it; NULL where they may be. */
const char *cw_reach_why(void);

#endif
