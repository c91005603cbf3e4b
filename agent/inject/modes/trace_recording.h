/* Decides which times of the program a trace records: windows, and the kinds of CUPTI's records in them. */
#ifndef CW_INJECT_TRACE_RECORDING_H
#define CW_INJECT_TRACE_RECORDING_H

#include "agent/common/trace_window.h"
#include "agent/inject/modes/trace_rows.h"
#include "agent/inject/ranges/steady.h"

struct cw_open_range;

struct cw_trace_recording {
    uint64_t kinds;      /* wanted kinds (CW_TRACE_BIT) */
    uint64_t program_ns; /* start of the program */
    uint32_t flags;      /* enum cw_trace_flag */
    bool by_launch;      /* launches open and close the window */
    struct cw_filter_options options;
    struct cw_filter filter;
    struct cw_trace_window_options windows;

    uint64_t refused;     /* kinds that CUPTI does not provide */
    _Atomic bool open;    /* the window is open */
    pthread_mutex_t lock; /* protects the members below; taken before the rows' lock */
    _Atomic bool begun;   /* before it begins, and after it is finished, the window stays closed */
    bool finished;
    struct cw_trace_window window;
    struct cw_steady steady;
    uint64_t opened_ns;
    uint32_t toggles;
};
extern struct cw_trace_recording *const cw_trace_recording;

/* Kinds whose rows from before the trace are kept. With windows, the program's own events are wanted inside windows
 * only. */
uint64_t cw_trace_recording_kept(void);
/* Whether the program's current events are recorded, or may be because the setup is not known yet. Needs no lock. */
bool cw_trace_recording_takes(void);
/* Call none of the functions below with the rows' lock. */
void cw_trace_recording_begin(void);
/* Ends the recording. With `leave` it tells CUPTI, and a window ends now; without it, the window ends by
 * cw_trace_recording_end_window, once CUPTI has handed over its records. */
void cw_trace_recording_finish(bool leave);
void cw_trace_recording_end_window(void);
/* Checks whether time, or a signal to the agent, opens or closes the window. */
void cw_trace_recording_look(void);
/* When time alone may do so next; UINT64_MAX: never. */
uint64_t cw_trace_recording_next(uint64_t now_ns);
/* Report a range or profiler event, which may do so, too. */
void cw_trace_recording_range(const struct cw_open_range *range, bool opened);
void cw_trace_recording_profiler(bool started);
/* The same for code that is inside the library already. */
void cw_trace_recording_control(bool started);
/* Opens or closes the window of a recording with windows.toggled that sifts its records (trace_sift.h). */
void cw_trace_recording_turn(bool open, uint32_t correlation);
/* Reports the beginning or return of a launch, which counts if the window is open throughout. */
void cw_trace_recording_launch(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Prepares for another trace. */
void cw_trace_recording_reset(void);

#endif
