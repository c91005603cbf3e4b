/* Decides when to trace a program: a window is open while all requested conditions hold. The caller reports events as
 * they happen and asks whether the window is open now. */
#ifndef CW_AGENT_TRACE_WINDOW_H
#define CW_AGENT_TRACE_WINDOW_H

#include "agent/common/filter.h"

struct cw_trace_window_options {
    uint64_t delay_ns, duration_ns; /* since the program's start; since the end of the delay, 0: to the end */
    uint64_t length_ns, every_ns;   /* of each window after the delay; between their starts; 0: one window */
    bool profiler;                  /* between cudaProfilerStart and cudaProfilerStop (cuProfilerStart...) */
    bool toggled;                   /* a SIGUSR2 to the agent opens the window, the next one closes it, and so on */
};

struct cw_trace_window {
    struct cw_trace_window_options options;
    struct cw_filter *filter; /* selects range, kernels and numbers of launches; borrowed */
    uint64_t start_ns;        /* start of the program */
    uint64_t ranges;          /* open ranges that the filter selects */
    uint64_t launches;        /* matching launches so far */
    bool profiling, toggled, launching;
};

/* Initialises the window of a process; `start_ns` is on the same clock as later times. */
void cw_trace_window_init(struct cw_trace_window *window, const struct cw_trace_window_options *options,
                          struct cw_filter *filter, uint64_t start_ns);
/* Reports that a selected user range (cw_filter_range) was opened or closed. */
void cw_trace_window_range(struct cw_trace_window *window, bool opened);
void cw_trace_window_profiler(struct cw_trace_window *window, bool started);
void cw_trace_window_signal(struct cw_trace_window *window);
/* Report a kernel before its launch, and after it. */
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

void cw_trace_window_write(struct cw_writer *out, const struct cw_trace_window_options *options);
void cw_trace_window_read(struct cw_reader *in, struct cw_trace_window_options *options);

#endif
