/* PM sampling: what a capture needs, and the two ways to do it. */
#ifndef CW_AGENT_PM_H
#define CW_AGENT_PM_H

#include "agent/session/program.h"
#include "image/config_image.h"
#include "image/pm_data.h"

struct cw_pm_options {
    const struct cw_config_image *plan;
    const char *output;
    char *const *argv; /* the program and its arguments, or NULL: the device alone */
    uint64_t devices;  /* a bit for each GPU to sample; 0: all of the plan's chip */
    uint64_t interval;
    bool cycles;       /* the interval is in cycles of the system clock, else in ns */
    double duration_s; /* 0: as long as the program runs */
    uint64_t buffer_bytes;
    bool trace; /* the program's kernel launches beside the samples */
    uint64_t sim_seed;
    uint32_t sim_samples, sim_drop; /* samples to pretend, and how many of them to lose */
    bool sim_overflow;              /* the loss is an overflow */
};

enum cw_status cw_pm_cupti_capture(const struct cw_pm_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_pm_sim_capture(const struct cw_pm_options *options, int *exit_status, struct cw_error *err);

/* Whether samples of a counter need all rollups: a metric of the plan asks for its least or greatest. */
bool cw_pm_needs_rollups(const struct cw_config_image *plan, uint32_t counter);

/* Tells the person what is not in the file: samples that were lost, launches on GPUs that are not sampled. */
void cw_pm_tell(uint64_t lost, uint64_t elsewhere);

/* cw_program_verdict where there is a program (else *exit_status is 0), and a capture without `any` sample is an error.
 */
enum cw_status cw_pm_verdict(const struct cw_pm_options *options, const struct cw_program *program, bool any,
                             enum cw_status status, int *exit_status, struct cw_error *err);

/* ---- the sampling process of the cupti backend ------------------------------------------------------------------- */

struct cw_pm_sampler {
    uint32_t device;
    pid_t pid;
    int fd; /* messages come from it; shutting it down for writing ends the sampling */
};

/* Starts a process of the agent's own that samples the device with this number, so that NVIDIA's libraries are never
 * loaded into the agent itself. It sends READY, then CHUNKS until it ends, or FAIL. `native` is NVIDIA's config image.
 */
enum cw_status cw_pm_sampler_start(struct cw_pm_sampler *sampler, const struct cw_pm_options *options, uint32_t device,
                                   const struct cw_schema *schema, const struct cw_writer *native,
                                   struct cw_error *err);
/* No more samples; what was taken still comes. */
void cw_pm_sampler_stop(struct cw_pm_sampler *sampler);
/* Waits for its end. An error when it crashed. */
enum cw_status cw_pm_sampler_finish(struct cw_pm_sampler *sampler, struct cw_error *err);

#endif
