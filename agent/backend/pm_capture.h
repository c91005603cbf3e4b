/* Shared by both backends for captures of samples. */
#ifndef CW_AGENT_PM_CAPTURE_H
#define CW_AGENT_PM_CAPTURE_H

#include "agent/backend/backend.h"

/* Whether samples of a counter need all rollups: a metric reads its least or greatest, or the plan is too old to
 * say. */
bool cw_pm_needs_rollups(const struct cw_config_image *plan, uint32_t counter);

/* Whether GPUs of a chip can sample by time. Turing and GA100 can only sample by cycles of the system clock. */
bool cw_pm_has_time_trigger(const char *chip);
/* Prints a notice of the cycles chosen for an interval in ns. */
void cw_pm_tell_cycles(uint32_t gpu, uint64_t interval_ns, uint64_t cycles);
/* Describes the interval for the file in 1 or 2 attributes, whose values are in `texts`; returns their number. */
uint32_t cw_pm_describe_interval(const struct cw_pm_options *options, uint64_t interval, bool cycles, char texts[2][32],
                                 struct cw_pair attributes[2]);

/* Whether the program opens windows, by its ranges or launches; and whether by launches. */
bool cw_pm_by_program(const struct cw_pm_options *options);
bool cw_pm_by_launch(const struct cw_pm_options *options);
/* Describes the windows of a device in up to 2 attributes, with values in `text` or `arena`; returns their number. */
uint32_t cw_pm_describe_windows(const struct cw_pm_options *options, char text[96], struct cw_pair attributes[2],
                                struct cw_arena *arena);

/* Whether there is a trace of the program beside the samples; the kinds of its rows. */
bool cw_pm_has_trace(const struct cw_pm_options *options);
#define CW_PM_TRACE_KINDS                                                                                              \
    (CW_TRACE_BIT(CW_TRACE_KERNEL) | CW_TRACE_BIT(CW_TRACE_COPY) | CW_TRACE_BIT(CW_TRACE_MEMSET) |                     \
     CW_TRACE_BIT(CW_TRACE_NVTX_RANGE) | CW_TRACE_BIT(CW_TRACE_NVTX_MARK) | CW_TRACE_BIT(CW_TRACE_NAME))

/* Results of a capture. */
struct cw_pm_outcome {
    bool any;      /* there is a sample */
    uint64_t lost; /* lost samples */
    /* ranges or launches that should have windows, and those of them that began before the last was decoded */
    uint64_t ranges, ranges_left_out;
    uint64_t elsewhere;  /* launches on GPUs that are not sampled */
    uint64_t untimed;    /* launches in the file without times */
    uint64_t sample_ns;  /* time per sample of the slowest step from the hardware to the file; 0: unknown */
    uint64_t sampled_ns; /* total sampling time */
};

/* Prints a notice of data missing from the file: lost samples, launches on GPUs that are not sampled, times of
 * launches. */
void cw_pm_tell(const struct cw_pm_options *options, const struct cw_pm_outcome *outcome);

/* Returns cw_program_verdict if there is a program (else *exit_status is 0). A capture without a sample is an error,
 * which gives the reason. */
enum cw_status cw_pm_verdict(const struct cw_pm_options *options, const struct cw_program *program,
                             const struct cw_pm_outcome *outcome, enum cw_status status, int *exit_status,
                             struct cw_error *err);

#endif
