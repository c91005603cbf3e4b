/* Whether what the program launches can reach beyond its device's own memory, or others can reach into that: another
 * device, another process, a network card. What happens then cannot be done again, and memory that others may write
 * must not be put back. It is known by the calls that make memory reachable, and by the names of the kernels of NCCL
 * and NVSHMEM, which may use what they made before. */
#ifndef CW_INJECT_REACH_H
#define CW_INJECT_REACH_H

#include "agent/inject/inject.h"

/* Learns the names of the driver's calls. */
void cw_reach_init(void);
/* Whether a call of the driver may make memory reachable. */
bool cw_reach_follows(CUpti_CallbackId id);
/* Takes note of such a call, or of a launch, that is about to be made; others are ignored. True for the first that
 * makes memory reachable. */
bool cw_reach_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Why launches are not to be done again, as a range's attribute has it; NULL where they may be. */
const char *cw_reach_why(void);

#endif
