/* What of the program's time a trace records: windows, and which kinds of records CUPTI makes within them. */
#ifndef CW_INJECT_TRACE_RECORDING_H
#define CW_INJECT_TRACE_RECORDING_H

#include "agent/common/trace_window.h"
#include "agent/inject/modes/trace_rows.h"
#include "agent/inject/ranges/steady.h"

struct cw_open_range;

struct cw_trace_recording {
    uint64_t kinds;      /* that are wanted (CW_TRACE_BIT) */
    uint64_t program_ns; /* when the program was started */
    uint32_t flags;      /* enum cw_trace_flag */
    bool by_launch;      /* launches open and close the window */
    struct cw_filter_options options;
    struct cw_filter filter;
    struct cw_trace_window_options windows;

    uint64_t refused;     /* kinds that CUPTI does not give */
    _Atomic bool open;    /* the window */
    pthread_mutex_t lock; /* of what follows; taken before the rows' lock */
    _Atomic bool begun;   /* before, and once it is finished, the window is not opened */
    bool finished;
    struct cw_trace_window window;
    struct cw_steady steady;
    uint64_t opened_ns;
    uint32_t toggles;
};
extern struct cw_trace_recording *const cw_trace_recording;

/* Kinds of which rows are kept that were there before the trace began: of what the program
 * says those in windows are wanted. */
uint64_t cw_trace_recording_kept(void);
/* Whether what the program does now is recorded, or may be: it is not known yet what is wanted. Needs no lock. */
bool cw_trace_recording_takes(void);
/* None of what follows is called with the rows' lock. */
void cw_trace_recording_begin(void);
/* Nothing is recorded from here on. With `leave` CUPTI is told so, and a window ends now; else by
 * cw_trace_recording_end_window, once CUPTI has handed over what it has. */
void cw_trace_recording_finish(bool leave);
void cw_trace_recording_end_window(void);
/* Looks whether time, or a signal that came to the agent, opens or closes the window. */
void cw_trace_recording_look(void);
/* When time alone may do so next; UINT64_MAX: never. */
uint64_t cw_trace_recording_next(uint64_t now_ns);
/* So may these. */
void cw_trace_recording_range(const struct cw_open_range *range, bool opened);
void cw_trace_recording_profiler(bool started);
/* A launch begins or has returned; which counts where the window is open all the while. */
void cw_trace_recording_launch(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Another trace may follow. */
void cw_trace_recording_reset(void);

#endif
