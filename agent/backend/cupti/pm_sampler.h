/* Starts and controls the sampling processes of PM captures. */
#ifndef CW_AGENT_PM_SAMPLER_H
#define CW_AGENT_PM_SAMPLER_H

#include "agent/backend/backend.h"
#include "agent/session/node_facts.h"

struct cw_pm_sampler {
    uint32_t device;
    pid_t pid;
    int fd; /* receives its messages; shut it down for writing to end the sampling */
};

/* Starts a process that samples the device with this number, so that the agent itself never loads NVIDIA's libraries.
 * It sends READY, then CHUNKS, and DONE at the end; or FAIL. `native` is NVIDIA's config image. The device
 * gets its attributes in `node` as well, which may be NULL. */
enum cw_status cw_pm_sampler_start(struct cw_pm_sampler *sampler, const struct cw_pm_options *options, uint32_t device,
                                   const struct cw_schema *schema, const struct cw_writer *native,
                                   const struct cw_node_facts *node, struct cw_error *err);
/* Opens or closes a window; false if the process is gone. The process reports each new state by a WINDOW message. */
bool cw_pm_sampler_window(struct cw_pm_sampler *sampler, bool open);
/* Stops sampling; samples already taken still come. */
void cw_pm_sampler_stop(struct cw_pm_sampler *sampler);
/* Waits for the process's end. An error if it crashed. */
enum cw_status cw_pm_sampler_finish(struct cw_pm_sampler *sampler, struct cw_error *err);

#endif
