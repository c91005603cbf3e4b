/* How the GPU's clock stands to the wall's. */
#ifndef CW_AGENT_PM_CLOCK_H
#define CW_AGENT_PM_CLOCK_H

#include "agent/common/cupti_api.h"
#include "image/pm_data.h"

struct cw_pm_clock;

/* Loads a kernel of one thread that reads the GPU's nanosecond clock, in the device's primary context. NULL, with what
 * failed in `why`, where that is not possible. */
struct cw_pm_clock *cw_pm_clock_create(const struct cw_cupti *api, CUdevice device, char *why, size_t size);
/* Reads both clocks a few times and keeps the closest pair. False when the kernel did not run. */
bool cw_pm_clock_read(struct cw_pm_clock *clock, struct cw_clock_pair *pair);
/* The context stays until the process ends. NULL is allowed. */
void cw_pm_clock_destroy(struct cw_pm_clock *clock);

#endif
