/* The sampling processes of PM captures. */
#ifndef CW_AGENT_PM_SAMPLER_H
#define CW_AGENT_PM_SAMPLER_H

#include "agent/backend/backend.h"

struct cw_pm_sampler {
    uint32_t device;
    pid_t pid;
    int fd; /* messages come from it; shutting it down for writing ends the sampling */
};

/* Starts a process of the agent's own that samples the device with this number, so that NVIDIA's libraries are never
 * loaded into the agent itself. It sends READY, then CHUNKS, and DONE at the end; or FAIL. `native` is NVIDIA's config
 * image.
 */
enum cw_status cw_pm_sampler_start(struct cw_pm_sampler *sampler, const struct cw_pm_options *options, uint32_t device,
                                   const struct cw_schema *schema, const struct cw_writer *native,
                                   struct cw_error *err);
/* Opens or closes a window; false where nobody is there. The process tells each state that it comes to by a WINDOW. */
bool cw_pm_sampler_window(struct cw_pm_sampler *sampler, bool open);
/* No more samples; what was taken still comes. */
void cw_pm_sampler_stop(struct cw_pm_sampler *sampler);
/* Waits for its end. An error when it crashed. */
enum cw_status cw_pm_sampler_finish(struct cw_pm_sampler *sampler, struct cw_error *err);

#endif
