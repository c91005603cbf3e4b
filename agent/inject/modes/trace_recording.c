#include "agent/inject/modes/trace_recording.h"

#include <stdio.h>

#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/modes/trace_records.h"
#include "agent/inject/modes/trace_sift.h"
#include "agent/inject/ranges/user_ranges.h"

#define self cw_trace_recording

/* ---- CUPTI ------------------------------------------------------------------------------------------------------ */

static bool is_made_whole(enum cw_trace_kind kind)
{
    return (kind != CW_TRACE_GRAPH && kind != CW_TRACE_DEVICE_GRAPH) || !(self->flags & CW_TRACE_GRAPH_NODES);
}

/* Notes why a kind is missing. */
static void note_refusal(enum cw_trace_kind kind, CUptiResult result)
{
    char text[160];
    const char *why = NULL;
    self->refused |= CW_TRACE_BIT(kind);
    cw_inject->api.cuptiGetResultString(result, &why);
    snprintf(text, sizeof text, "CUPTI does not record it here: %s", why ? why : "?");
    cw_trace_rows_lock();
    cw_trace_accounts_note(kind, text);
    cw_trace_rows_unlock();
}

/* Enables or disables CUPTI's kinds. Its first answer counts. */
static void set_kinds(bool enable)
{
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++) {
        if (!(self->kinds & CW_TRACE_BIT(k)) || self->refused & CW_TRACE_BIT(k) || !is_made_whole(k))
            continue;
        const CUptiResult result = cw_trace_records_set(k, enable);
        if (enable && result != CUPTI_SUCCESS)
            note_refusal(k, result);
    }
}

/* ---- the window ------------------------------------------------------------------------------------------------- */

static bool has_windows(void)
{
    return cw_trace_window_any(&self->windows, &self->options);
}

uint64_t cw_trace_recording_kept(void)
{
    const uint64_t in_windows = CW_TRACE_BIT(CW_TRACE_NVTX_RANGE) | CW_TRACE_BIT(CW_TRACE_NVTX_MARK) |
                                CW_TRACE_BIT(CW_TRACE_OPENMP) | CW_TRACE_BIT(CW_TRACE_OPENACC);
    return has_windows() ? ~in_windows : UINT64_MAX;
}

bool cw_trace_recording_takes(void)
{
    return !cw_inject->over && !cw_trace_sheets->closed &&
           (atomic_load_explicit(&self->open, memory_order_relaxed) || !atomic_load(&self->begun));
}

static void tell_nvtx(bool open, uint64_t now_ns)
{
    cw_trace_rows_lock();
    cw_trace_nvtx_window(open, now_ns);
    cw_trace_rows_unlock();
}

static void put_window(uint64_t end_ns)
{
    cw_trace_rows_lock();
    const uint32_t range = cw_trace_text_number(self->options.range);
    cw_trace_nvtx_window(false, end_ns);
    atomic_store(&cw_trace_sheets->page->opened_ns, 0);
    if (cw_trace_row(CW_TRACE_WINDOW)) {
        cw_trace_put(CW_FIELD_START, self->opened_ns);
        cw_trace_put(CW_FIELD_END, end_ns);
        cw_trace_put(CW_FIELD_NAME, range);
    }
    cw_trace_rows_unlock();
}

/* Opens or closes the window if due. Call it with the window's lock. */
static void review(void)
{
    const uint64_t now = cw_inject_now_ns();
    const bool open = cw_trace_window_is_open(&self->window, now), was = atomic_load(&self->open);
    if (open == was || !self->begun || self->finished)
        return;
    if (open && !cw_trace_sift_has_begun())
        set_kinds(true);
    atomic_store(&self->open, open);
    if (!open && !cw_trace_sift_has_begun())
        set_kinds(false);
    if (!open) {
        put_window(cw_inject_now_ns());
        return;
    }
    self->opened_ns = now;
    if (!has_windows())
        return;
    tell_nvtx(true, now);
    atomic_store(&cw_trace_sheets->page->opened_ns, now);
}

void cw_trace_recording_begin(void)
{
    pthread_mutex_lock(&self->lock);
    self->begun = true;
    cw_trace_window_init(&self->window, &self->windows, &self->filter, self->program_ns);
    if (has_windows())
        tell_nvtx(false, cw_inject_now_ns());
    if (cw_trace_sift_has_begun())
        set_kinds(true);
    for (uint32_t i = cw_user_ranges_wanted_count(); self->options.range && i-- > 0;)
        cw_trace_window_range(&self->window, true); /* opened earlier */
    review();
    pthread_mutex_unlock(&self->lock);
}

void cw_trace_recording_end_window(void)
{
    if (atomic_load(&cw_trace_sheets->page->opened_ns))
        put_window(cw_inject_now_ns());
}

void cw_trace_recording_finish(bool leave)
{
    pthread_mutex_lock(&self->lock);
    if (!self->finished)
        cw_steady_tell(&self->steady);
    self->finished = true;
    const bool was = atomic_exchange(&self->open, false) || cw_trace_sift_has_begun();
    if (was && leave)
        set_kinds(false);
    if (leave)
        cw_trace_recording_end_window();
    pthread_mutex_unlock(&self->lock);
}

void cw_trace_recording_look(void)
{
    const uint32_t toggles = atomic_load(&cw_trace_sheets->page->toggled);
    pthread_mutex_lock(&self->lock);
    for (; self->toggles != toggles; self->toggles++)
        cw_trace_window_signal(&self->window);
    review();
    pthread_mutex_unlock(&self->lock);
}

uint64_t cw_trace_recording_next(uint64_t now_ns)
{
    pthread_mutex_lock(&self->lock);
    const uint64_t next = cw_trace_window_next(&self->window, now_ns);
    pthread_mutex_unlock(&self->lock);
    return next;
}

void cw_trace_recording_range(const struct cw_open_range *range, bool opened)
{
    if (!self->options.range || !range->wanted)
        return;
    pthread_mutex_lock(&self->lock);
    cw_trace_window_range(&self->window, opened);
    review();
    pthread_mutex_unlock(&self->lock);
}

void cw_trace_recording_control(bool started)
{
    pthread_mutex_lock(&self->lock);
    cw_trace_window_profiler(&self->window, started);
    review();
    pthread_mutex_unlock(&self->lock);
}

void cw_trace_recording_profiler(bool started)
{
    if (!cw_inject_enter())
        return;
    cw_trace_recording_control(started);
    cw_inject_leave();
}

void cw_trace_recording_turn(bool open, uint32_t correlation)
{
    cw_trace_sift_turn(open, correlation);
    pthread_mutex_lock(&self->lock);
    if (self->window.toggled != open)
        cw_trace_window_signal(&self->window);
    review();
    pthread_mutex_unlock(&self->lock);
}

void cw_trace_recording_reset(void)
{
    if (self->options.range)
        cw_user_ranges_filter(NULL);
    cw_filter_close(&self->filter);
    cw_steady_end(&self->steady);
    cw_trace_sift_reset();
    *self = (struct cw_trace_recording){0};
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* Whether a launch goes into a graph and so does not run. Asks about the stream only during captures. */
static bool is_captured(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!cw_stream_capture_is_under_way() || !cw_inject_enter())
        return false;
    const bool captured = !cw_stream_runs_launch(id, call);
    cw_inject_leave();
    return captured;
}

static void window_launch(CUpti_CallbackId id, const CUpti_CallbackData *call, bool entered)
{
    if (!cw_inject_enter())
        return;
    pthread_mutex_lock(&self->lock);
    if (entered && self->windows.periods) {
        cw_steady_launch(&self->steady, id, call);
        cw_trace_window_period(&self->window, self->steady.open);
    }
    if (entered)
        cw_trace_window_launch(&self->window, call->symbolName ? call->symbolName : "");
    else
        cw_trace_window_launched(&self->window);
    review();
    pthread_mutex_unlock(&self->lock);
    cw_inject_leave();
}

/* Counts a launch if the window is open from its beginning to its return: for any other it is unknown whether CUPTI
 * records it. */
void cw_trace_recording_launch(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const enum cw_trace_kind kind = cw_inject_launches_graph(id) ? CW_TRACE_GRAPH : CW_TRACE_KERNEL;
    const bool entered = call->callbackSite == CUPTI_API_ENTER,
               counts = !entered && *call->correlationData && atomic_load_explicit(&self->open, memory_order_relaxed) &&
                        self->kinds & CW_TRACE_BIT(kind) && !(self->refused & CW_TRACE_BIT(kind)) &&
                        is_made_whole(kind);
    if (self->by_launch)
        window_launch(id, call, entered);
    if (counts && !cw_inject_refused(call) && !is_captured(id, call))
        atomic_fetch_add_explicit(&cw_trace_sheets->page->launched[kind], 1, memory_order_relaxed);
}
