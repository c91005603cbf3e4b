#include "agent/inject/modes/trace_calls.h"

#include <string.h>
#include <sys/prctl.h>

#include "agent/common/filter.h"
#include "agent/inject/modes/trace_handles.h"
#include "agent/inject/modes/trace_parameters.h"

enum { QUERIES = 1 << 14 };

static struct {
    const char *list; /* as for cw_filter_name_is_listed; "": the calls of interest */
    uint64_t kinds;   /* wanted kinds */
    uint64_t trace;   /* start of the trace; unique in the process */
    bool driver_wanted[CUPTI_DRIVER_TRACE_CBID_SIZE], inner_wanted[CUPTI_DRIVER_TRACE_CBID_SIZE];
    /* numbers of texts; 0: not yet known */
    uint32_t driver[CUPTI_DRIVER_TRACE_CBID_SIZE], runtime[CUPTI_RUNTIME_TRACE_CBID_SIZE];
    _Atomic uint64_t streams_ended; /* counts on from the start of the trace: numbers of an earlier one are not used */
    uint32_t queries[QUERIES];      /* the last queries, by correlation; under the rows' lock */
} state CW_STATE;
#define self (&state)

#define put cw_trace_put
#define put_text cw_trace_put_text

/* ---- choice of calls -------------------------------------------------------------------------------------------- */

/* Whether a call starts work, waits for it, asks whether it is done, or allocates memory: the calls that explain a
 * timeline. Programs make ten times as many others, such as cudaGetDevice. */
static bool is_of_interest(const char *name)
{
    static const char *const words[] = {"Launch",       "Memcpy",      "Memset",        "Malloc",      "Alloc",
                                        "Free",         "Module",      "LibraryLoad",   "WaitEvent",   "WaitValue",
                                        "Synchronize",  "Instantiate", "EventQuery",    "StreamQuery", "EventRecord",
                                        "HostRegister", "MemPrefetch", "HostUnregister"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

/* Whether the library itself makes the call inside callbacks: CUPTI crashes there if the call has a callback. */
static bool is_our_own(const char *name)
{
    static const char *const names[] = {"cuStreamIsCapturing", "cuStreamIsCapturing_ptsz", "cuCtxGetCurrent",
                                        "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",       "cuCtxGetDevice",
                                        "cuDeviceGetName",     "cuDeviceGetPCIBusId",      "cuDeviceGetAttribute",
                                        "cuDriverGetVersion",  "cuDeviceGetCount",         "cuCtxGetExecAffinity",
                                        "cuFuncGetName",       "cuKernelGetName"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static const char *name_of(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    const char *name = NULL;
    return cw_inject->api.cuptiGetCallbackName(domain, id, &name) == CUPTI_SUCCESS && name ? name : "";
}

static bool is_wanted(CUpti_CallbackDomain domain, CUpti_CallbackId id, enum cw_trace_kind kind)
{
    const char *name = name_of(domain, id);
    return self->kinds & CW_TRACE_BIT(kind) && *name &&
           (*self->list ? cw_filter_name_is_listed(self->list, name) : is_of_interest(name)) && !is_our_own(name);
}

/* ---- waits ------------------------------------------------------------------------------------------------------ */

struct wait {         /* object of a call that waits, or that asks whether work is done */
    const char *type; /* NULL: it does not wait */
    bool of_stream, asks;
};

static struct wait wait_of(CUpti_CallbackId id)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize:
        return (struct wait){.type = "context"};
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz:
        return (struct wait){"stream", true, false};
    case CUPTI_DRIVER_TRACE_CBID_cuStreamQuery:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamQuery_ptsz:
        return (struct wait){CW_TRACE_STREAM_QUERY, true, true};
    case CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize:
        return (struct wait){.type = "event"};
    case CUPTI_DRIVER_TRACE_CBID_cuEventQuery:
        return (struct wait){.type = CW_TRACE_EVENT_QUERY, .asks = true};
    case CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz:
        return (struct wait){"stream_wait_event", true, false};
    default:
        return (struct wait){0};
    }
}

/* Notes a query, because CUPTI's records describe queries as waits. */
static void note_query(uint32_t correlation)
{
    if (correlation)
        self->queries[correlation % QUERIES] = correlation;
}

bool cw_trace_calls_asked(uint32_t correlation)
{
    return correlation && self->queries[correlation % QUERIES] == correlation;
}

void cw_trace_calls_begin(uint64_t kinds, const char *list)
{
    self->kinds = kinds;
    self->list = list;
    self->trace = cw_inject_now_ns() | 1; /* never 0, which marks a thread without a name */
    atomic_store(&self->streams_ended, self->trace);
}

void cw_trace_calls_reset(void)
{
    memset(self, 0, sizeof *self); /* too large for the stack */
}

bool cw_trace_calls_want_driver(CUpti_CallbackId id)
{
    self->driver_wanted[id] = is_wanted(CUPTI_CB_DOMAIN_DRIVER_API, id, CW_TRACE_DRIVER);
    self->inner_wanted[id] =
        self->driver_wanted[id] && cw_filter_names_driver_call(self->list, cw_inject_call_name(id));
    return self->driver_wanted[id] || (self->kinds & CW_TRACE_BIT(CW_TRACE_SYNC) && wait_of(id).type);
}

bool cw_trace_calls_want_runtime(CUpti_CallbackId id)
{
    return is_wanted(CUPTI_CB_DOMAIN_RUNTIME_API, id, CW_TRACE_RUNTIME);
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

/* CUPTI's number of a call's stream; CW_TRACE_UNKNOWN for none. CUPTI is asked only for another stream than the
 * thread's last, or once a stream has ended, because a new one may have its handle. */
static uint64_t stream_of(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const uint64_t since = atomic_load_explicit(&self->streams_ended, memory_order_relaxed);
    CUstream stream;
    if (!call->context || !cw_trace_stream_of(&stream, domain, id, call))
        return CW_TRACE_UNKNOWN;
    if (call->callbackSite == CUPTI_API_EXIT && cw_trace_ends_stream(domain, id))
        return cw_own_calls.ended_stream;
    const bool known = cw_own_calls.last_stream.since == since && cw_own_calls.last_stream.stream == stream &&
                       cw_own_calls.last_stream.context == call->context;
    if (!known && call->callbackSite == CUPTI_API_ENTER) /* of its end: the driver has not looked at the handle yet */
        return CW_TRACE_UNKNOWN;
    if (!known) {
        uint64_t number = cw_inject_stream_id(CUPTI_DRIVER_TRACE_CBID_INVALID, call->context, stream);
        if (!number) /* it may be of another context */
            number = cw_inject_stream_id(CUPTI_DRIVER_TRACE_CBID_INVALID, NULL, stream);
        cw_own_calls.last_stream.context = call->context;
        cw_own_calls.last_stream.stream = stream;
        cw_own_calls.last_stream.since = since;
        cw_own_calls.last_stream.number = number ? number : CW_TRACE_UNKNOWN;
    }
    return cw_own_calls.last_stream.number;
}

/* Notes the number of a stream before a call destroys it. */
static void end_stream(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!cw_inject_enter())
        return;
    cw_own_calls.ended_stream = stream_of(domain, id, call);
    cw_inject_leave();
    cw_trace_calls_forget_streams();
}

void cw_trace_calls_forget_streams(void)
{
    atomic_fetch_add_explicit(&self->streams_ended, 1, memory_order_relaxed);
}

/* ---- rows, with their lock held --------------------------------------------------------------------------------- */

/* Adds a name row for the calling thread, once: its name in the program or its libraries. */
static void name_thread(uint64_t thread)
{
    char name[16] = ""; /* as long as the kernel's names */
    if (cw_own_calls.named == self->trace)
        return;
    cw_own_calls.named = self->trace;
    prctl(PR_GET_NAME, name);
    if (!*name || !cw_trace_row(CW_TRACE_NAME))
        return;
    put(CW_FIELD_TIME, cw_inject_now_ns());
    put_text(CW_FIELD_TYPE, "thread");
    put(CW_FIELD_ID, thread);
    put_text(CW_FIELD_NAME, name);
}

static uint32_t text_of(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    const uint32_t most = runtime ? CUPTI_RUNTIME_TRACE_CBID_SIZE : CUPTI_DRIVER_TRACE_CBID_SIZE;
    uint32_t *known = id < most ? (runtime ? self->runtime : self->driver) + id : NULL;
    if (known && !*known)
        *known = cw_trace_text_number(name_of(domain, id));
    return known ? *known : 0;
}

static void put_result(const CUpti_CallbackData *call)
{
    if (call->functionReturnValue) /* an enumeration in both APIs */
        put(CW_FIELD_RESULT, *(const uint32_t *)call->functionReturnValue);
}

static void put_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call, uint32_t outer,
                     uint64_t stream, uint64_t start, uint64_t end)
{
    const uint64_t thread = cw_inject_thread();
    name_thread(thread);
    if (!cw_trace_row(domain == CUPTI_CB_DOMAIN_RUNTIME_API ? CW_TRACE_RUNTIME : CW_TRACE_DRIVER))
        return;
    put(CW_FIELD_START, start);
    put(CW_FIELD_END, end);
    put(CW_FIELD_THREAD, thread);
    put(CW_FIELD_CORRELATION, call->correlationId);
    put(CW_FIELD_NAME, text_of(domain, id));
    put_result(call);
    const struct cw_trace_parameters parameters = cw_trace_parameters_of(domain, id, call);
    put(CW_FIELD_BYTES, parameters.bytes);
    put(CW_FIELD_ADDRESS, parameters.address);
    put(CW_FIELD_SOURCE_ADDRESS, parameters.source);
    put(CW_FIELD_STREAM, stream);
    put(CW_FIELD_EVENT_HANDLE, cw_trace_event_of(domain, id, call));
    put(CW_FIELD_PARENT, outer ? outer : CW_TRACE_UNKNOWN);
}

static void put_wait(const struct wait *wait, const CUpti_CallbackData *call, uint64_t stream, uint32_t correlation,
                     uint64_t start, uint64_t end)
{
    if (!cw_trace_row(CW_TRACE_SYNC))
        return;
    put(CW_FIELD_START, start);
    put(CW_FIELD_END, end);
    put_text(CW_FIELD_TYPE, wait->type);
    put(CW_FIELD_CONTEXT, call->contextUid);
    put(CW_FIELD_STREAM, wait->of_stream ? stream : CW_TRACE_UNKNOWN);
    put(CW_FIELD_CORRELATION, correlation);
    put_result(call);
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static void returned(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call, uint64_t start)
{
    const uint64_t end = cw_inject_now_ns();
    const bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
    const uint32_t outer = driver ? cw_own_calls.call : 0;
    const struct wait wait = driver && self->kinds & CW_TRACE_BIT(CW_TRACE_SYNC) ? wait_of(id) : (struct wait){0};
    const bool put = wait.type && !cw_trace_cupti->waits;
    const bool recorded =
        !driver || (id < CUPTI_DRIVER_TRACE_CBID_SIZE && (outer ? self->inner_wanted : self->driver_wanted)[id]);
    if (!recorded && !wait.type)
        return;
    const uint64_t stream = recorded || put ? stream_of(domain, id, call) : CW_TRACE_UNKNOWN;
    cw_trace_rows_lock();
    if (recorded)
        put_call(domain, id, call, outer, stream, start, end);
    if (put)
        put_wait(&wait, call, stream, outer ? outer : call->correlationId, start, end);
    else if (wait.asks) {
        note_query(outer);
        note_query(call->correlationId);
    }
    cw_trace_rows_unlock();
}

void cw_trace_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call, bool open)
{
    const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    if (call->callbackSite == CUPTI_API_ENTER) {
        *call->correlationData = open ? cw_inject_now_ns() : 0;
        if (runtime)
            cw_own_calls.call = open ? call->correlationId : 0;
        if (cw_trace_ends_stream(domain, id))
            end_stream(domain, id, call);
        return;
    }
    if (runtime)
        cw_own_calls.call = 0;
    if (*call->correlationData && cw_inject_enter()) {
        returned(domain, id, call, *call->correlationData);
        cw_inject_leave();
    }
}
