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
#include "agent/inject/ranges/user_ranges.h"

#define self cw_tracing

/* How often the thread looks where a signal to the agent may open the window. */
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
    self->kinds = cw_read_u64(in);
    self->flags = cw_read_u32(in);
    self->program_ns = cw_read_u64(in);
    self->flush_ns = cw_read_u64(in);
    self->buffer_bytes = cw_read_u64(in);
    self->buffer_count = cw_read_u32(in);
    cw_trace_window_read(in, &self->window_options);
    cw_filter_read(in, &self->options, cw_inject->arena);
    cw_trace_calls->list = cw_read_string(in, cw_inject->arena);
    cw_trace_calls->kinds = self->kinds;
    cw_trace_calls->trace = cw_inject_now_ns() | 1; /* not the 0 of a thread without a name */
    if (in->status != CW_OK || cw_filter_open(&self->filter, &self->options, NULL) != CW_OK)
        return false;
    if (!is_complete()) {
        cw_inject_fail(CW_ERR_UNSUPPORTED, "this CUPTI lacks functions of activity records, so nothing can be traced");
        return false;
    }
    if (self->buffer_count > CW_TRACE_MOST_BUFFERS)
        self->buffer_count = CW_TRACE_MOST_BUFFERS;
    if (self->options.range)
        cw_user_ranges_filter(&self->filter);
    self->by_launch = self->options.kernel_count || self->options.excluded_count || cw_filter_counts(&self->options);
    return true;
}

/* ---- CUPTI's buffers -------------------------------------------------------------------------------------------- */

/* They are used again and again: CUPTI clears each, which costs milliseconds in the program's own threads where the
 * system has to find memory for it. */
static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *most)
{
    struct cw_thread here;
    cw_thread_enter(&here);
    pthread_mutex_lock(&self->pool_lock);
    *buffer = self->free_count ? self->pool[--self->free_count] : NULL;
    if (!*buffer && self->made < self->buffer_count && (*buffer = aligned_alloc(4096, self->buffer_bytes)))
        self->made++;
    pthread_mutex_unlock(&self->pool_lock);
    *size = *buffer ? self->buffer_bytes : 0;
    *most = 0;
    cw_thread_leave(&here);
}

static void give_back(uint8_t *buffer)
{
    pthread_mutex_lock(&self->pool_lock);
    self->pool[self->free_count++] = buffer;
    pthread_mutex_unlock(&self->pool_lock);
}

static void count_dropped(CUcontext context, uint32_t stream)
{
    size_t dropped = 0;
    if (cw_inject->api.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped)
        atomic_fetch_add(&cw_trace_sheets->page->dropped, dropped);
}

/* The lock is let go now and then: the program's threads want it for their calls. */
static void take_records(uint8_t *buffer, size_t valid)
{
    enum { AT_A_TIME = 32 };
    CUpti_Activity *record = NULL;
    bool more = valid > 0;
    while (more) {
        cw_trace_rows_lock();
        for (int i = 0; i < AT_A_TIME && more; i++) {
            more = cw_inject->api.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS;
            if (more)
                cw_trace_record_take(record);
        }
        cw_trace_rows_unlock();
    }
}

/* On a thread of CUPTI's own, or on one that flushes and may hold the library's lock: so it takes the rows' alone. A
 * handler of the program's must not come for them meanwhile: the thread's calls are our own, if they were not before.
 */
static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)size;
    struct cw_thread here;
    cw_thread_enter(&here);
    const bool entered = cw_inject_enter();
    if (!cw_inject->over && cw_inject->process == getpid()) {
        take_records(buffer, valid);
        count_dropped(context, stream);
    }
    if (buffer)
        give_back(buffer);
    if (entered)
        cw_inject_leave();
    cw_thread_leave(&here);
}

/* ---- books ------------------------------------------------------------------------------------------------------ */

static uint64_t count_of(const _Atomic uint64_t *counts, enum cw_trace_kind kind)
{
    return atomic_load_explicit(&counts[kind], memory_order_relaxed);
}

static void put_account(uint32_t type, uint64_t launched, uint64_t recorded, uint64_t dropped, uint64_t untimed,
                        const char *note)
{
    const uint32_t note_text = cw_trace_text_number(note);
    if (!cw_trace_row(CW_TRACE_ACCOUNT))
        return;
    cw_trace_put(CW_FIELD_TIME, cw_inject_now_ns());
    cw_trace_put(CW_FIELD_TYPE, type);
    cw_trace_put(CW_FIELD_LAUNCHED, launched);
    cw_trace_put(CW_FIELD_RECORDED, recorded);
    cw_trace_put(CW_FIELD_DROPPED, dropped);
    cw_trace_put(CW_FIELD_UNTIMED, untimed);
    cw_trace_put(CW_FIELD_NOTE, note_text);
}

/* Grows with all that accounts say but their own number. */
static uint64_t all_counts(void)
{
    const struct cw_trace_page *page = cw_trace_sheets->page;
    uint64_t sum = atomic_load(&page->dropped);
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++)
        sum += k == CW_TRACE_ACCOUNT ? 0 : count_of(page->launched, k) + count_of(page->rows, k);
    return sum;
}

/* Where they have changed, for a program may do nothing for days. With the rows' lock. */
static void put_accounts(void)
{
    const uint64_t all = all_counts();
    if (all == self->told)
        return;
    self->told = all;
    const struct cw_trace_page *page = cw_trace_sheets->page;
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++) {
        const bool counted = k == CW_TRACE_KERNEL || k == CW_TRACE_GRAPH;
        const uint64_t launched = count_of(page->launched, k), rows = count_of(page->rows, k);
        if (k != CW_TRACE_ACCOUNT && (launched || rows))
            put_account((uint32_t)k + 1, counted && launched ? launched : CW_TRACE_UNKNOWN,
                        counted ? count_of(page->direct, k) : rows, CW_TRACE_UNKNOWN, count_of(page->untimed, k), NULL);
    }
    const uint64_t dropped = atomic_load(&page->dropped);
    if (dropped)
        put_account(CW_TRACE_TEXT_OF_ALL, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN, dropped, CW_TRACE_UNKNOWN, NULL);
}

/* Why a kind is not there. */
static void note_refusal(enum cw_trace_kind kind, CUptiResult result)
{
    char text[160];
    const char *why = NULL;
    self->refused |= CW_TRACE_BIT(kind);
    cw_inject->api.cuptiGetResultString(result, &why);
    snprintf(text, sizeof text, "CUPTI does not record it here: %s", why ? why : "?");
    put_account((uint32_t)kind + 1, CW_TRACE_UNKNOWN, 0, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN, text);
}

/* ---- the window ------------------------------------------------------------------------------------------------- */

/* What CUPTI is to record. Its answer counts the first time. */
static void set_kinds(bool enable)
{
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++) {
        if (!(self->kinds & CW_TRACE_BIT(k)) || self->refused & CW_TRACE_BIT(k) ||
            (k == CW_TRACE_GRAPH && self->flags & CW_TRACE_GRAPH_NODES))
            continue;
        const CUptiResult result = cw_trace_records_set(k, enable);
        if (enable && result != CUPTI_SUCCESS) {
            cw_trace_rows_lock();
            note_refusal(k, result);
            cw_trace_rows_unlock();
        }
    }
}

static void put_window(uint64_t end_ns)
{
    cw_trace_rows_lock();
    atomic_store(&cw_trace_sheets->page->opened_ns, 0);
    if (cw_trace_row(CW_TRACE_WINDOW)) {
        cw_trace_put(CW_FIELD_START, self->opened_ns);
        cw_trace_put(CW_FIELD_END, end_ns);
    }
    cw_trace_rows_unlock();
}

/* Opens or closes it where that is due. With its lock. */
static void review_window(void)
{
    const uint64_t now = cw_inject_now_ns();
    const bool open = cw_trace_window_is_open(&self->window, now), was = atomic_load(&self->open);
    if (open == was || !self->started || self->finished)
        return;
    if (open)
        set_kinds(true);
    atomic_store(&self->open, open);
    if (!open)
        set_kinds(false);
    if (!open) {
        put_window(cw_inject_now_ns());
        return;
    }
    self->opened_ns = now;
    if (cw_trace_window_any(&self->window_options, &self->options))
        atomic_store(&cw_trace_sheets->page->opened_ns, now);
}

static void range_changed(const struct cw_open_range *range, bool opened)
{
    if (!self->options.range || !range->wanted)
        return;
    pthread_mutex_lock(&self->window_lock);
    cw_trace_window_range(&self->window, opened);
    review_window();
    pthread_mutex_unlock(&self->window_lock);
}

static void range_opened(const struct cw_open_range *range)
{
    range_changed(range, true);
}

static void range_closing(const struct cw_open_range *range)
{
    range_changed(range, false);
}

/* ---- the thread ------------------------------------------------------------------------------------------------- */

static void sleep_ns(uint64_t ns)
{
    const struct timespec duration = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&duration, NULL);
}

/* How long until something is to be done. */
static uint64_t time_left(void)
{
    const uint64_t now = cw_inject_now_ns(), flush = self->flushed_ns + self->flush_ns;
    uint64_t next = now + (self->window_options.toggled ? soon_ns : at_most_ns);
    pthread_mutex_lock(&self->window_lock);
    const uint64_t edge = cw_trace_window_next(&self->window, now);
    pthread_mutex_unlock(&self->window_lock);
    next = edge < next ? edge : next;
    next = flush < next ? flush : next;
    return next > now ? next - now : 0;
}

static void look(void)
{
    const uint32_t toggles = atomic_load(&cw_trace_sheets->page->toggled);
    pthread_mutex_lock(&self->window_lock);
    for (; self->toggles != toggles; self->toggles++)
        cw_trace_window_signal(&self->window);
    review_window();
    pthread_mutex_unlock(&self->window_lock);
    if (cw_inject_now_ns() < self->flushed_ns + self->flush_ns)
        return;
    self->flushed_ns = cw_inject_now_ns();
    /* CUPTI's own period hands over full buffers alone (13.0): a program that is killed would take the others along */
    cw_inject->api.cuptiActivityFlushAll(0);
    cw_trace_rows_lock();
    put_accounts();
    cw_trace_rows_send();
    cw_trace_rows_unlock();
}

/* The agent is gone, and the program is not to pay for records that nobody takes. */
static void give_up(void)
{
    pthread_mutex_lock(&self->window_lock);
    if (!self->finished && atomic_exchange(&self->open, false))
        set_kinds(false);
    self->finished = true;
    pthread_mutex_unlock(&self->window_lock);
}

static void *run_thread(void *user)
{
    (void)user;
    cw_inject_own_thread();
    prctl(PR_SET_NAME, "counterworks");
    for (bool more = true; more;) {
        sleep_ns(time_left());
        pthread_mutex_lock(&self->at_work);
        more = !cw_inject->over && !cw_trace_sheets->closed;
        if (more)
            look();
        else if (!cw_trace_sheets->closed)
            give_up();
        pthread_mutex_unlock(&self->at_work);
    }
    atomic_store(&self->running, false);
    return NULL;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------ */

#define TRY(name, ...) cw_inject_good(cw_inject->api.name(__VA_ARGS__), #name)
#define MAY(name, ...)                                                                                                 \
    (cw_inject->api.name ? cw_inject->api.name(__VA_ARGS__) : CUPTI_ERROR_NOT_SUPPORTED) /* where it can be had */

/* What is asked for and cannot be had is noted. Calls of CUPTI are not made with the rows' lock: it may hand over
 * records in them, and other threads have locks of the driver's when they come for the rows'. */
static void set_options(void)
{
    MAY(cuptiSetThreadIdType, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (self->flags & CW_TRACE_LATENCY)
        MAY(cuptiActivityEnableLatencyTimestamps, 1);
    if (self->flags & CW_TRACE_ATTRIBUTES)
        MAY(cuptiActivityEnableLaunchAttributes, 1);
#if CUDA_VERSION >= 12080
    const CUptiResult hardware = self->flags & CW_TRACE_HARDWARE ? MAY(cuptiActivityEnableHWTrace, 1) : CUPTI_SUCCESS;
    cw_trace_rows_lock();
    if (hardware != CUPTI_SUCCESS)
        put_account(CW_TRACE_TEXT_OF_ALL, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN,
                    "the GPU has no hardware event system: times are taken as without --hes");
    cw_trace_rows_unlock();
    if (self->flags & CW_TRACE_CALLERS)
        MAY(cuptiActivityEnableAllocationSource, 1);
    if (self->kinds & CW_TRACE_BIT(CW_TRACE_DEVICE_GRAPH))
        MAY(cuptiActivityEnableDeviceGraph, 1);
    if (self->kinds & CW_TRACE_BIT(CW_TRACE_EVENT))
        MAY(cuptiActivityEnableCudaEventDeviceTimestamps, 1);
#endif
}

/* The agent keeps the page. Its descriptor is the program's no more: it may close all that it finds. */
static bool hand_over_page(void)
{
    bool sent = false;
    struct cw_writer out;
    int page = -1;
    cw_writer_init(&out);
    cw_trace_rows_lock();
    const bool begun = cw_trace_rows_begin(self->kinds, &page);
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
    struct cw_filter *filter = &self->filter;
    cw_inject->api.cuptiGetVersion(&cw_trace_cupti->version);
    if (!hand_over_page() || !TRY(cuptiActivityRegisterTimestampCallback, cw_inject_now_ns) ||
        !TRY(cuptiActivityRegisterCallbacks, buffer_requested, buffer_completed))
        return;
    set_options();
    pthread_mutex_lock(&self->window_lock);
    self->started = true;
    self->flushed_ns = cw_inject_now_ns();
    cw_trace_window_init(&self->window, &self->window_options, filter, self->program_ns);
    for (uint32_t i = cw_user_ranges_wanted_count(); self->options.range && i-- > 0;)
        cw_trace_window_range(&self->window, true); /* that were opened before */
    review_window();
    pthread_mutex_unlock(&self->window_lock);
    atomic_store(&self->running, true);
    if (!cw_inject_start_thread(run_thread, NULL)) {
        atomic_store(&self->running, false);
        cw_inject_fail_memory();
    }
}

/* CUPTI records a context as it begins to be made, which is before anything is known of a trace. */
static void put_context(CUcontext context, uint32_t device)
{
    uint32_t null_stream = 0;
    const uint64_t id = cw_inject_context_id(context);
    cw_inject->api.cuptiGetStreamIdEx(context, NULL, 0, &null_stream);
    cw_trace_rows_lock();
    const uint32_t type = cw_trace_text_number("cuda");
    if (cw_trace_row(CW_TRACE_CONTEXT)) {
        cw_trace_put(CW_FIELD_CONTEXT, id);
        cw_trace_put(CW_FIELD_DEVICE, device);
        cw_trace_put(CW_FIELD_NULL_STREAM, null_stream);
        cw_trace_put(CW_FIELD_TYPE, type);
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
    (void)context;
    if (self->started)
        cw_inject->api.cuptiActivityFlushAll(0);
}

/* CUPTI's own end follows: the thread must not be in it any more. */
static void finish(void)
{
    if (!self->started)
        return;
    pthread_mutex_lock(&self->at_work);
    pthread_mutex_lock(&self->window_lock);
    const bool open = atomic_exchange(&self->open, false); /* what comes from here on is not recorded */
    self->finished = true;
    pthread_mutex_unlock(&self->window_lock);
    cw_inject->api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (open && cw_trace_window_any(&self->window_options, &self->options))
        put_window(cw_inject_now_ns());
    cw_trace_rows_lock();
    cw_trace_nvtx_finish();
    put_accounts();
    cw_trace_rows_send();
    cw_trace_rows_close();
    cw_trace_rows_unlock();
    pthread_mutex_unlock(&self->at_work);
}

/* ---- the end before the program's -------------------------------------------------------------------------------- */

static bool waits_for_records(void)
{
    const struct cw_trace_page *page = cw_trace_sheets->page;
    return page && count_of(page->direct, CW_TRACE_KERNEL) < count_of(page->launched, CW_TRACE_KERNEL);
}

void cw_trace_stop(void)
{
    if (!self->started)
        return;
    pthread_mutex_lock(&self->window_lock);
    self->finished = true;
    if (atomic_exchange(&self->open, false)) {
        set_kinds(false);
        if (cw_trace_window_any(&self->window_options, &self->options))
            put_window(cw_inject_now_ns());
    }
    pthread_mutex_unlock(&self->window_lock);
    for (int i = 0; i < 100 && waits_for_records() && !cw_inject->over; i++) {
        cw_inject->api.cuptiActivityFlushAll(0);
        sleep_ns(soon_ns);
    }
    cw_inject_acquire();
    finish();
    cw_inject_release();
}

bool cw_trace_reset(void)
{
    for (int i = 0; i < 200 && atomic_load(&self->running); i++)
        sleep_ns(soon_ns);
    if (atomic_load(&self->running))
        return false;
    if (self->options.range)
        cw_user_ranges_filter(NULL);
    cw_filter_close(&self->filter);
    while (self->free_count)
        free(self->pool[--self->free_count]);
    memset(self, 0, sizeof *self); /* on the stack they would be large */
    memset(cw_trace_calls, 0, sizeof *cw_trace_calls);
    cw_trace_rows_lock();
    cw_trace_nvtx_forget();
    cw_trace_rows_reset();
    cw_trace_rows_unlock();
    return true;
}

/* ---- what the program does -------------------------------------------------------------------------------------- */

/* What goes into a graph is not launched. The stream is asked only while there are such. */
static bool is_captured(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!cw_stream_capture_is_under_way() || !cw_inject_enter())
        return false;
    const bool captured = !cw_stream_runs_launch(id, call);
    cw_inject_leave();
    return captured;
}

/* Begins and ends of captures are few: they take the library's lock. */
static void follow_capture(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!cw_inject_lock())
        return;
    cw_stream_capture_follow(id, call);
    cw_inject_unlock();
}

static void window_launch(const CUpti_CallbackData *call, bool entered)
{
    if (!cw_inject_enter())
        return;
    pthread_mutex_lock(&self->window_lock);
    if (entered)
        cw_trace_window_launch(&self->window, call->symbolName ? call->symbolName : "");
    else
        cw_trace_window_launched(&self->window);
    review_window();
    pthread_mutex_unlock(&self->window_lock);
    cw_inject_leave();
}

/* One counts that has the window open from its begin to its return: of others nobody knows whether CUPTI records them.
 */
static void launch(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const enum cw_trace_kind kind = cw_inject_launches_graph(id) ? CW_TRACE_GRAPH : CW_TRACE_KERNEL;
    const bool entered = call->callbackSite == CUPTI_API_ENTER,
               counts = !entered && *call->correlationData && atomic_load_explicit(&self->open, memory_order_relaxed) &&
                        self->kinds & CW_TRACE_BIT(kind) && !(self->refused & CW_TRACE_BIT(kind)) &&
                        !(kind == CW_TRACE_GRAPH && self->flags & CW_TRACE_GRAPH_NODES);
    if (self->by_launch)
        window_launch(call, entered);
    if (counts && !cw_inject_refused(call) && !is_captured(id, call))
        atomic_fetch_add_explicit(&cw_trace_sheets->page->launched[kind], 1, memory_order_relaxed);
}

static bool is_profiler_control(CUpti_CallbackId id)
{
    return id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart || id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop;
}

static bool wants(CUpti_CallbackId id)
{
    return cw_trace_calls_want_driver(id) || cw_inject_launches(id) || cw_stream_capture_follows(id) ||
           (self->window_options.profiler && is_profiler_control(id));
}

static void control_profiler(bool start)
{
    if (!cw_inject_enter())
        return;
    pthread_mutex_lock(&self->window_lock);
    cw_trace_window_profiler(&self->window, start);
    review_window();
    pthread_mutex_unlock(&self->window_lock);
    cw_inject_leave();
}

static void follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const bool entered = call->callbackSite == CUPTI_API_ENTER;
    if (cw_inject_launches(id))
        launch(id, call);
    else if (cw_stream_capture_follows(id))
        follow_capture(id, call);
    else if (is_profiler_control(id) && !entered)
        control_profiler(id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
}

static void glance(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!self->started)
        return;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        follow(id, call);
    cw_trace_call(domain, id, call, atomic_load_explicit(&self->open, memory_order_relaxed));
}

/* ---- what the program calls (counterworks/annotate.h) ----------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))
EXPORT void counterworks_correlate_push(unsigned long long number);
EXPORT void counterworks_correlate_pop(void);

static bool takes_numbers(void)
{
    return self->started && !cw_inject->over && self->kinds & CW_TRACE_BIT(CW_TRACE_EXTERNAL) &&
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

static void put_module(const char *type, uint64_t id, uint64_t bytes)
{
    cw_trace_rows_lock();
    const uint32_t text = cw_trace_text_number(type);
    if (cw_trace_row(CW_TRACE_MODULE)) {
        cw_trace_put(CW_FIELD_TIME, cw_inject_now_ns());
        cw_trace_put(CW_FIELD_TYPE, text);
        cw_trace_put(CW_FIELD_ID, id);
        cw_trace_put(CW_FIELD_BYTES, bytes);
    }
    cw_trace_rows_unlock();
}

static void module_loaded(const CUpti_ModuleResourceData *module)
{
    if (self->started && atomic_load(&self->open) && module)
        put_module("load", module->moduleId, module->cubinSize);
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
                                               .module_loaded = module_loaded};
