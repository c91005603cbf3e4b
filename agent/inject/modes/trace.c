#define _GNU_SOURCE
#include "agent/inject/modes/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/driver/say.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/modes/trace_graphs.h"
#include "agent/inject/modes/trace_sift.h"
#include "agent/inject/ranges/user_ranges.h"

static struct {
    uint64_t flush_ns;
    _Atomic bool started;
    _Atomic bool running;        /* the thread runs */
    _Atomic bool ends;           /* the thread must stop working; whoever ends the trace waits for it */
    _Atomic uint64_t flushed_ns; /* time of the last sending of rows */
    _Atomic uint64_t edge_ns;    /* time of the next opening or closing of a window */
    bool flushed;                /* CUPTI's records were flushed at least once */
    pthread_mutex_t at_work;     /* held by the thread while it works; taken before the other locks */
} state CW_STATE;
#define self (&state)

/* soon_ns: interval of the thread if a signal to the agent may open the window. */
static const uint64_t soon_ns = 10000000, at_most_ns = 100000000;

/* ---- setup ------------------------------------------------------------------------------------------------------ */

static bool is_complete(void)
{
    const struct cw_cupti *api = &cw_inject->api;
    return api->cuptiActivityRegisterTimestampCallback && api->cuptiActivityRegisterCallbacks &&
           api->cuptiActivityEnable && api->cuptiActivityDisable && api->cuptiActivityFlushAll &&
           api->cuptiActivityGetNextRecord && api->cuptiActivityGetNumDroppedRecords;
}

static bool setup(struct cw_reader *in)
{
    struct cw_trace_recording *r = cw_trace_recording;
    r->kinds = cw_read_u64(in);
    r->flags = cw_read_u32(in);
    r->program_ns = cw_read_u64(in);
    self->flush_ns = cw_read_u64(in);
    cw_trace_buffers->bytes = cw_read_u64(in);
    cw_trace_buffers->most = cw_read_u32(in);
    cw_trace_window_read(in, &r->windows);
    cw_filter_read(in, &r->options, cw_inject->arena);
    cw_trace_calls_begin(r->kinds, cw_read_string(in, cw_inject->arena));
    if (!cw_trace_buffers->bytes || cw_trace_buffers->bytes > CW_TRACE_BUFFER_MOST_BYTES ||
        cw_trace_buffers->bytes % CW_TRACE_BUFFER_ALIGNMENT != 0)
        return false;
    if (in->status != CW_OK || cw_filter_open(&r->filter, &r->options, NULL) != CW_OK)
        return false;
    if (!is_complete()) {
        cw_inject_fail(CW_ERR_UNSUPPORTED, "this CUPTI lacks functions of activity records, so nothing can be traced");
        return false;
    }
    if (cw_trace_buffers->most > CW_TRACE_MOST_BUFFERS)
        cw_trace_buffers->most = CW_TRACE_MOST_BUFFERS;
    if (r->options.range)
        cw_user_ranges_filter(&r->filter);
    r->by_launch =
        r->options.kernel_count || r->options.excluded_count || cw_filter_counts(&r->options) || r->windows.periods;
    return !r->windows.periods || cw_steady_begin(&r->steady, r->windows.periods) || cw_inject_fail_memory();
}

/* ---- the thread ------------------------------------------------------------------------------------------------- */

static void sleep_ns(uint64_t ns)
{
    const struct timespec duration = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&duration, NULL);
}

/* Time until the next action. */
static uint64_t time_left(void)
{
    const uint64_t now = cw_inject_now_ns(), flush = self->flushed_ns + self->flush_ns;
    const uint64_t edge = cw_trace_recording_next(now);
    self->edge_ns = edge;
    const bool by_signal = cw_trace_recording->windows.toggled && !cw_trace_sift_has_begun();
    uint64_t next = now + (by_signal ? soon_ns : at_most_ns);
    next = edge < next ? edge : next;
    next = flush < next ? flush : next;
    return next > now ? next - now : 0;
}

/* Updates the window. The first flush, and the one before a window's end, come while the kinds are enabled: CUPTI 13.0
 * had no records of a first trace that ended before any flush. */
static void look(void)
{
    if (!self->flushed || cw_inject_now_ns() >= self->edge_ns)
        cw_inject->api.cuptiActivityFlushAll(0);
    self->flushed = true;
    cw_trace_recording_look();
    if (cw_inject_now_ns() < self->flushed_ns + self->flush_ns)
        return;
    self->flushed_ns = cw_inject_now_ns();
    /* CUPTI's own period hands over full buffers only (13.0), so a killed program would lose the others. */
    cw_inject->api.cuptiActivityFlushAll(0);
    cw_trace_rows_lock();
    cw_trace_accounts_put();
    cw_trace_rows_send();
    cw_trace_rows_unlock();
}

static void *run_thread(void *user)
{
    (void)user;
    cw_inject_own_thread();
    prctl(PR_SET_NAME, "counterworks");
    for (bool more = true; more;) {
        sleep_ns(time_left());
        if (atomic_load(&self->ends)) /* if flushes take all its time, it would always get the lock first */
            break;
        pthread_mutex_lock(&self->at_work);
        more = !cw_inject->over && !cw_trace_sheets->closed;
        if (more)
            look();
        else if (!cw_trace_sheets->closed) /* the agent is gone: the program must not pay for data that nobody takes */
            cw_trace_recording_finish(true);
        pthread_mutex_unlock(&self->at_work);
    }
    atomic_store(&self->running, false);
    return NULL;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------ */

#define TRY(name, ...) cw_inject_good(cw_inject->api.name(__VA_ARGS__), #name)
#define MAY(name, ...)                                                                                                 \
    (cw_inject->api.name ? cw_inject->api.name(__VA_ARGS__) : CUPTI_ERROR_NOT_SUPPORTED) /* if CUPTI has it */

/* Notes options that CUPTI or a runtime needed earlier. */
static void note_lacking(void)
{
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++) {
        const char *why =
            cw_trace_recording->kinds & CW_TRACE_BIT(k) ? cw_trace_early_lacks(k, cw_trace_recording->flags) : NULL;
        cw_trace_rows_lock();
        if (why)
            cw_trace_accounts_note(k, why);
        cw_trace_rows_unlock();
    }
}

/* Sets CUPTI's options, and notes the ones that it lacks. Calls CUPTI without the rows' lock: it may deliver records in
 * these calls, and other threads hold locks of the driver when they take the rows' lock. */
static void set_options(void)
{
    MAY(cuptiSetThreadIdType, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    note_lacking();
    cw_trace_cupti->serialized = cw_trace_recording->flags & CW_TRACE_SERIALIZED;
    cw_trace_cupti->attributes =
        cw_trace_recording->flags & CW_TRACE_ATTRIBUTES && MAY(cuptiActivityEnableLaunchAttributes, 1) == CUPTI_SUCCESS;
#if CUDA_VERSION >= 12080
    const CUptiResult hardware =
        cw_trace_recording->flags & CW_TRACE_HARDWARE ? MAY(cuptiActivityEnableHWTrace, 1) : CUPTI_SUCCESS;
    cw_trace_rows_lock();
    if (hardware != CUPTI_SUCCESS)
        cw_trace_accounts_note(CW_TRACE_KIND__COUNT,
                               "the GPU has no hardware event system: times are taken as without --hes");
    cw_trace_rows_unlock();
    if (cw_trace_recording->flags & CW_TRACE_CALLERS)
        MAY(cuptiActivityEnableAllocationSource, 1);
    if (cw_trace_recording->kinds & CW_TRACE_BIT(CW_TRACE_EVENT))
        MAY(cuptiActivityEnableCudaEventDeviceTimestamps, 1);
#endif
}

/* Hands the page over to the agent, which keeps it. Closes the descriptor, because the program may close all that it
 * finds. */
static bool hand_over_page(void)
{
    bool sent = false;
    struct cw_writer out;
    int page = -1;
    cw_writer_init(&out);
    cw_trace_rows_lock();
    const bool begun = cw_trace_rows_begin(cw_trace_recording->kinds, cw_trace_recording_kept(), &page);
    cw_trace_rows_unlock();
    if (begun)
        sent = cw_inject_hand_over(CW_MESSAGE_TRACE_PAGE, &out, page) != 0;
    else
        cw_inject_fail(CW_ERR_NOMEM, "found no memory for the counts of a trace in the profiled program: %s",
                       strerror(errno));
    cw_descriptor_close(&cw_trace_sheets->file);
    return sent;
}

static void start(void)
{
    cw_inject->api.cuptiGetVersion(&cw_trace_cupti->version);
    if (!hand_over_page() || !TRY(cuptiActivityRegisterTimestampCallback, cw_inject_now_ns) ||
        !TRY(cuptiActivityRegisterCallbacks, cw_trace_buffer_requested, cw_trace_buffer_completed))
        return;
    set_options();
    cw_trace_graphs_begin(cw_trace_recording->kinds);
    self->started = true;
    self->flushed_ns = cw_inject_now_ns();
    cw_trace_recording_begin();
    atomic_store(&self->running, true);
    if (!cw_trace_queue_begin() || !cw_inject_start_thread(run_thread, NULL)) {
        atomic_store(&self->running, false);
        cw_inject_fail_memory();
    }
}

static int attribute(CUdevice_attribute which, uint32_t device)
{
    int value = 0;
    return cw_inject->api.cuDeviceGetAttribute(&value, which, (CUdevice)device) == CUDA_SUCCESS ? value : 0;
}

/* Number of multiprocessors of the current context. Through MPS it may have fewer than the device. */
static uint64_t multiprocessors_of(uint32_t device, bool mps)
{
    CUexecAffinityParam affinity = {0};
    const int all = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    if (mps && cw_inject->api.cuCtxGetExecAffinity &&
        cw_inject->api.cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT) == CUDA_SUCCESS)
        return affinity.param.smCount.val;
    return all > 0 ? (uint64_t)all : CW_TRACE_UNKNOWN;
}

/* Adds a row for a context, which CUPTI records at its creation, before a trace is known. */
static void put_context(CUcontext context, uint32_t device)
{
    uint32_t null_stream = 0;
    const uint64_t id = cw_inject_context_id(context);
    const bool mps = attribute(CU_DEVICE_ATTRIBUTE_MPS_ENABLED, device);
    const uint64_t multiprocessors = multiprocessors_of(device, mps);
    cw_inject->api.cuptiGetStreamIdEx(context, NULL, 0, &null_stream);
    cw_trace_rows_lock();
    const uint32_t type = cw_trace_text_number(mps ? "mps" : "cuda");
    cw_trace_context_add(context, id);
    const bool known = cw_trace_context_has_row(id); /* by CUPTI's record */
    if (!known && cw_trace_row(CW_TRACE_CONTEXT)) {
        (void)cw_trace_context_note(id);
        cw_trace_put(CW_FIELD_CONTEXT, id);
        cw_trace_put(CW_FIELD_DEVICE, device);
        cw_trace_put(CW_FIELD_NULL_STREAM, null_stream);
        cw_trace_put(CW_FIELD_TYPE, type);
        cw_trace_put(CW_FIELD_MULTIPROCESSORS, multiprocessors);
    }
    cw_trace_rows_unlock();
}

static void context_created(CUcontext context, uint32_t device)
{
    if (!self->started)
        start();
    if (self->started && context)
        put_context(context, device);
}

static void context_destroyed(CUcontext context)
{
    if (!self->started)
        return;
    cw_inject->api.cuptiActivityFlushAll(0);
    cw_trace_calls_forget_streams();
    cw_trace_rows_lock();
    cw_trace_context_remove(context);
    cw_trace_rows_unlock();
}

/* Finishes; CUPTI's own end follows, so the thread must be outside it. */
static void finish(void)
{
    if (!self->started || cw_trace_sheets->closed) /* an agent leaves while the program ends */
        return;
    atomic_store(&self->ends, true);
    pthread_mutex_lock(&self->at_work);
    cw_trace_recording_finish(false);
    cw_inject->api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    cw_trace_recording_end_window();
    cw_trace_rows_lock();
    cw_trace_queue_drain();
    cw_trace_nvtx_finish();
    cw_trace_openmp_finish();
    cw_trace_accounts_put();
    cw_trace_rows_send();
    cw_trace_rows_close();
    cw_trace_queue_drain();
    cw_trace_rows_unlock();
    pthread_mutex_unlock(&self->at_work);
}

/* ---- the end of the trace alone ---------------------------------------------------------------------------------- */

static bool waits_for_records(void)
{
    const struct cw_trace_page *page = cw_trace_sheets->page;
    return page && atomic_load(&page->direct[CW_TRACE_KERNEL]) < atomic_load(&page->launched[CW_TRACE_KERNEL]);
}

static bool is_at_work(void)
{
    cw_trace_rows_lock();
    const bool queue = !cw_trace_queue_ended();
    cw_trace_rows_unlock();
    return queue || atomic_load(&self->running);
}

void cw_trace_stop(void)
{
    if (!self->started)
        return;
    cw_inject->api.cuptiActivityFlushAll(0);
    cw_trace_recording_finish(true);
    for (int i = 0; i < 100 && waits_for_records() && !cw_inject->over; i++) {
        cw_inject->api.cuptiActivityFlushAll(0);
        sleep_ns(soon_ns);
    }
    cw_inject_acquire();
    finish();
    cw_inject_release();
    for (int i = 0; i < 200 && is_at_work(); i++)
        sleep_ns(soon_ns);
}

void cw_trace_flush(void)
{
    pthread_mutex_lock(&self->at_work);
    if (self->started && !cw_inject->over && !cw_trace_sheets->closed) {
        self->flushed_ns = 0;
        look();
    }
    pthread_mutex_unlock(&self->at_work);
}

bool cw_trace_reset(void)
{
    if (is_at_work())
        return false;
    cw_trace_recording_reset();
    cw_trace_buffers_reset();
    memset(self, 0, sizeof *self);
    cw_trace_rows_lock();
    cw_trace_calls_reset();
    *cw_trace_cupti = (struct cw_trace_cupti){0};
    cw_trace_nvtx_reset();
    cw_trace_rows_reset();
    cw_trace_rows_unlock();
    return true;
}

/* ---- events of the program -------------------------------------------------------------------------------------- */

/* Follows begins and ends of captures, which are rare enough to take the library's lock. */
static void follow_capture(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!cw_inject_lock())
        return;
    cw_stream_capture_follow(id, call);
    cw_inject_unlock();
}

static bool is_profiler_control(CUpti_CallbackId id)
{
    return id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart || id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop;
}

/* Whether nodes of a CUDA graph get the name of their kernel from a call. */
static bool names_nodes(CUpti_CallbackId id)
{
    return cw_trace_recording->kinds & CW_TRACE_BIT(CW_TRACE_NODE) &&
           (cw_trace_graphs_follows(id) || (cw_inject_launches(id) && cw_stream_capture_is_under_way()));
}

static bool wants(CUpti_CallbackId id)
{
    return cw_trace_calls_want_driver(id) || names_nodes(id) || cw_inject_launches(id) ||
           cw_stream_capture_follows(id) || (cw_trace_recording->windows.profiler && is_profiler_control(id));
}

static void follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const bool entered = call->callbackSite == CUPTI_API_ENTER;
    if (!entered)
        cw_own_calls.kernel = 0;
    else if (names_nodes(id) && atomic_load_explicit(&cw_trace_recording->open, memory_order_relaxed))
        cw_trace_graphs_call(id, call);
    if (cw_inject_launches(id))
        cw_trace_recording_launch(id, call);
    else if (cw_stream_capture_follows(id))
        follow_capture(id, call);
    else if (is_profiler_control(id) && !entered)
        cw_trace_recording_profiler(id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
}

static void glance(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!self->started)
        return;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        follow(id, call);
    cw_trace_call(domain, id, call, atomic_load_explicit(&cw_trace_recording->open, memory_order_relaxed));
}

/* ---- functions for the program (counterworks/annotate.h) -------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))
EXPORT void counterworks_correlate_push(unsigned long long number);
EXPORT void counterworks_correlate_pop(void);

static bool takes_numbers(void)
{
    return self->started && !cw_inject->over && cw_trace_recording->kinds & CW_TRACE_BIT(CW_TRACE_EXTERNAL) &&
           cw_inject->api.cuptiActivityPushExternalCorrelationId &&
           cw_inject->api.cuptiActivityPopExternalCorrelationId;
}

void counterworks_correlate_push(unsigned long long number)
{
    if (!takes_numbers() || !cw_inject_enter())
        return;
    cw_inject->api.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, number);
    cw_inject_leave();
}

void counterworks_correlate_pop(void)
{
    uint64_t last;
    if (!takes_numbers() || !cw_inject_enter())
        return;
    cw_inject->api.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
    cw_inject_leave();
}

/* ---- the mode --------------------------------------------------------------------------------------------------- */

static void put_module(CUcontext context, const char *type, uint64_t id, uint64_t bytes)
{
    cw_trace_rows_lock();
    const uint32_t text = cw_trace_text_number(type);
    const uint64_t context_id = cw_trace_context_find(context);
    if (cw_trace_row(CW_TRACE_MODULE)) {
        cw_trace_put(CW_FIELD_TIME, cw_inject_now_ns());
        cw_trace_put(CW_FIELD_TYPE, text);
        cw_trace_put(CW_FIELD_ID, id);
        cw_trace_put(CW_FIELD_CONTEXT, context_id);
        cw_trace_put(CW_FIELD_BYTES, bytes);
    }
    cw_trace_rows_unlock();
}

static void range_opened(const struct cw_open_range *range)
{
    cw_trace_recording_range(range, true);
}

static void range_closing(const struct cw_open_range *range)
{
    cw_trace_recording_range(range, false);
}

static void module_changed(CUcontext context, const CUpti_ModuleResourceData *module, bool loaded)
{
    if (self->started && atomic_load(&cw_trace_recording->open) && module)
        put_module(context, loaded ? "load" : "unload", module->moduleId, module->cubinSize);
}

static void graph_changed(CUpti_CallbackId id, const CUpti_GraphData *data)
{
    if (self->started && atomic_load(&cw_trace_recording->open) && data)
        cw_trace_graphs_take(id, data);
}

const struct cw_inject_mode cw_inject_trace = {.traces = true,
                                               .under_mps = true,
                                               .setup = setup,
                                               .context_created = context_created,
                                               .context_destroyed = context_destroyed,
                                               .finish = finish,
                                               .wants = wants,
                                               .wants_runtime = cw_trace_calls_want_runtime,
                                               .glance = glance,
                                               .range_opened = range_opened,
                                               .range_closing = range_closing,
                                               .module_changed = module_changed,
                                               .graph_changed = graph_changed};
