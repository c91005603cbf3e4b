/* Decides which times of a program are captured: a window is open while all its conditions hold. Report each event to
 * the window as it happens, and ask whether the window is open now. */
#ifndef CW_AGENT_TRACE_WINDOW_H
#define CW_AGENT_TRACE_WINDOW_H

#include "agent/common/filter.h"

struct cw_trace_window_options {
    uint64_t delay_ns, duration_ns; /* since the program's start; since the end of the delay, 0: to the end */
    uint64_t length_ns, every_ns;   /* of each window after the delay; between their starts; 0: one window */
    bool profiler;                  /* between cudaProfilerStart and cudaProfilerStop (cuProfilerStart...) */
    bool toggled;                   /* a SIGUSR2 to the agent opens the window, the next closes it, and so on */
    uint32_t periods;               /* number of the launches' periods (period.h) to capture; 0: no condition */
};
#define CW_EVERY_PERIOD UINT32_MAX /* all periods until the end */

struct cw_trace_window {
    struct cw_trace_window_options options;
    struct cw_filter *filter; /* its range, kernels and numbers of launches; borrowed */
    uint64_t start_ns;        /* start of the program */
    uint64_t ranges;          /* open wanted ranges */
    uint64_t launches;        /* matching launches so far */
    bool profiling, toggled, launching, in_period;
};

/* Initialises the window of a process; `start_ns` is on the same clock as later times. */
void cw_trace_window_init(struct cw_trace_window *window, const struct cw_trace_window_options *options,
                          struct cw_filter *filter, uint64_t start_ns);
/* Reports that a selected user range (cw_filter_range) was opened or closed. */
void cw_trace_window_range(struct cw_trace_window *window, bool opened);
void cw_trace_window_profiler(struct cw_trace_window *window, bool started);
void cw_trace_window_signal(struct cw_trace_window *window);
void cw_trace_window_period(struct cw_trace_window *window, bool open);
/* Report that the program is about to launch a kernel, and that this launch has returned. */
void cw_trace_window_launch(struct cw_trace_window *window, const char *kernel);
void cw_trace_window_launched(struct cw_trace_window *window);

bool cw_trace_window_is_open(const struct cw_trace_window *window, uint64_t now_ns);
/* The next time, from `now_ns` on, at which time alone may open or close the window; UINT64_MAX: never. */
uint64_t cw_trace_window_next(const struct cw_trace_window *window, uint64_t now_ns);
/* Whether any option can close the window. */
bool cw_trace_window_any(const struct cw_trace_window_options *options, const struct cw_filter_options *filter);

/* Returns the options for windows as command-line text; "" for none, NULL when out of memory. */
const char *cw_trace_window_text(const struct cw_trace_window_options *options, const struct cw_filter_options *filter,
                                 struct cw_arena *arena);
/* Returns the same for captures other than traces, and the whole filter behind it. */
const char *cw_trace_window_filter_text(const struct cw_trace_window_options *options,
                                        const struct cw_filter_options *filter, struct cw_arena *arena);

void cw_trace_window_write(struct cw_writer *out, const struct cw_trace_window_options *options);
void cw_trace_window_read(struct cw_reader *in, struct cw_trace_window_options *options);

#endif
