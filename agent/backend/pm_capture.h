/* What captures of samples share, whatever the backend. */
#ifndef CW_AGENT_PM_CAPTURE_H
#define CW_AGENT_PM_CAPTURE_H

#include "agent/backend/backend.h"

/* Whether samples of a counter need all rollups: a metric reads its least or greatest, or an older plan does not say.
 */
bool cw_pm_needs_rollups(const struct cw_config_image *plan, uint32_t counter);

/* Whether GPUs of a chip sample by time; Turing's and GA100 do so by cycles of the system clock alone. */
bool cw_pm_has_time_trigger(const char *chip);
/* Tells the person which cycles were chosen for an interval in ns. */
void cw_pm_tell_cycles(uint32_t gpu, uint64_t interval_ns, uint64_t cycles);
/* What the file says of the interval: `count` attributes, 1 or 2, whose texts are in `texts`. */
uint32_t cw_pm_describe_interval(const struct cw_pm_options *options, uint64_t interval, bool cycles, char texts[2][32],
                                 struct cw_pair attributes[2]);

/* Whether the program opens windows, by its ranges or its launches; and whether it is launches. */
bool cw_pm_by_program(const struct cw_pm_options *options);
bool cw_pm_by_launch(const struct cw_pm_options *options);
/* Attributes of a device that say of its windows, if there are any: up to 2, with texts in `arena`. */
uint32_t cw_pm_describe_windows(const struct cw_pm_options *options, char text[96], struct cw_pair attributes[2],
                                struct cw_arena *arena);

/* Whether a trace of the program stands beside the samples, and the kinds of its rows. */
bool cw_pm_has_trace(const struct cw_pm_options *options);
#define CW_PM_TRACE_KINDS                                                                                              \
    (CW_TRACE_BIT(CW_TRACE_KERNEL) | CW_TRACE_BIT(CW_TRACE_COPY) | CW_TRACE_BIT(CW_TRACE_MEMSET) |                     \
     CW_TRACE_BIT(CW_TRACE_NVTX_RANGE) | CW_TRACE_BIT(CW_TRACE_NVTX_MARK) | CW_TRACE_BIT(CW_TRACE_NAME))

/* What came of a capture. */
struct cw_pm_outcome {
    bool any;      /* a sample */
    uint64_t lost; /* samples */
    /* ranges or launches that were to have windows, and those that began before the last was decoded */
    uint64_t ranges, ranges_left_out;
    uint64_t elsewhere;  /* launches on GPUs that are not sampled */
    uint64_t untimed;    /* launches in the file whose times were not collected */
    uint64_t sample_ns;  /* what the slowest step from the hardware to the file takes for a sample; 0: not known */
    uint64_t sampled_ns; /* how long was sampled */
};

/* Tells the person what is not in the file: samples that were lost, launches on GPUs that are not sampled, times
 * of launches. */
void cw_pm_tell(const struct cw_pm_options *options, const struct cw_pm_outcome *outcome);

/* cw_program_verdict where there is a program (else *exit_status is 0), and a capture without a sample is an error,
 * which says why. */
enum cw_status cw_pm_verdict(const struct cw_pm_options *options, const struct cw_program *program,
                             const struct cw_pm_outcome *outcome, enum cw_status status, int *exit_status,
                             struct cw_error *err);

#endif
