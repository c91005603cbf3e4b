/* The library that CUDA loads into the profiled program (CUDA_INJECTION64_PATH).
 *
 * It introduces each device to capture-agent, which answers with the mode, and passes events on to this mode. A
 * failure here ends the capture, never the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/common/device.h"
#include "agent/inject/driver/alone.h"
#include "agent/inject/driver/counters.h"
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/kernel_facts.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/driver/stuck.h"
#include "agent/inject/driver/trouble.h"
#include "agent/inject/inside.h"
#include "agent/inject/modes/launches.h"
#include "agent/inject/modes/pc.h"
#include "agent/inject/nvtx.h"
#include "agent/inject/state.h"
#include "include/counterworks/collect.h"

#define self (&cw_inject_state.entry)

static const struct cw_inject_mode *const modes[] = {
    [CW_MODE_RANGE] = &cw_inject_range,
    [CW_MODE_BATCH] = &cw_inject_batch,
    [CW_MODE_PC] = &cw_inject_pc,
    [CW_MODE_SASS] = &cw_inject_sass,
    [CW_MODE_LAUNCHES] = &cw_inject_launches_mode,
    [CW_MODE_MULTIPLEX] = &cw_inject_multiplex,
    [CW_MODE_TRACE] = &cw_inject_trace,
};
enum { MODES = sizeof modes / sizeof *modes };

/* ---- callbacks to enable ---------------------------------------------------------------------------------------- */

/* Whether the program asks how long it was between two events. */
static bool takes_time(CUpti_CallbackId id)
{
#if CUDA_VERSION >= 12080
    if (id == CUPTI_DRIVER_TRACE_CBID_cuEventElapsedTime_v2)
        return true;
#endif
    return id == CUPTI_DRIVER_TRACE_CBID_cuEventElapsedTime;
}

static bool is_wanted(const struct cw_inject_mode *mode, CUpti_CallbackId id)
{
    if (self->on_launch && cw_inject_launches(id))
        return true;
    if (mode->glance)
        return mode->wants(id);
    return (mode->launch_entered &&
            (cw_inject_launches(id) || cw_stream_capture_follows(id) || cw_streams_follows(id))) ||
           cw_pinned_follows(id) || cw_checkpoint_follows(id) ||
           (mode->rest && (cw_reach_follows(id) || cw_inject_launches_otherwise(id))) ||
           (mode->facts && (cw_kernel_facts_follows(id) || takes_time(id))) || (mode->wants && mode->wants(id)) ||
           (cw_gate->asked && (cw_inject_launches(id) || cw_stream_capture_follows(id) || cw_gate_follows(id)));
}

/* Enables callbacks one by one: CUPTI crashes if our own calls inside a callback have one, too. An older CUPTI does not
 * know the newest calls, but neither does the program under it. */
static bool enable(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool needed)
{
    const CUptiResult result = cw_inject->api.cuptiEnableCallback(1, cw_inject->subscriber, domain, id);
    return (result == CUPTI_ERROR_INVALID_PARAMETER && !needed) || cw_inject_good(result, "cuptiEnableCallback");
}

/* Enables callbacks for calls of a CUPTI newer than this build, which may change the work to be repeated. */
static void enable_newer(const struct cw_inject_mode *mode)
{
    enum { MOST_NEWER = 4096 };
    for (CUpti_CallbackId id = CUPTI_DRIVER_TRACE_CBID_SIZE; id < CUPTI_DRIVER_TRACE_CBID_SIZE + MOST_NEWER; id++)
        if (!*cw_inject_call_name(id))
            return;
        else if (mode->wants && mode->wants(id))
            enable(CUPTI_CB_DOMAIN_DRIVER_API, id, false);
}

static bool enable_wanted(void)
{
    const struct cw_inject_mode *mode = cw_inject->mode;
    bool ok = true;
    for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE && ok; id++)
        ok = !is_wanted(mode, id) || enable(CUPTI_CB_DOMAIN_DRIVER_API, id, cw_inject_launches(id));
    if (ok && !mode->glance)
        enable_newer(mode);
    for (CUpti_CallbackId id = 1; id < CUPTI_RUNTIME_TRACE_CBID_SIZE && ok && mode->wants_runtime; id++)
        ok = !mode->wants_runtime(id) || enable(CUPTI_CB_DOMAIN_RUNTIME_API, id, false);
    return ok;
}

/* Reads the number of the mode, the first field of SETUP. */
static const struct cw_inject_mode *read_mode(struct cw_reader *in, const uint8_t *payload, size_t size)
{
    cw_reader_init(in, payload, size, "setup", 0, NULL);
    uint32_t mode = cw_read_u32(in);
    return in->status == CW_OK && mode < MODES ? modes[mode] : NULL;
}

/* Whether a mode may begin now: some need all events from the first on. */
static bool may_begin(const struct cw_inject_mode *mode)
{
    const bool comes_late = self->late_session && mode == &cw_inject_batch;
    if (comes_late)
        cw_inject_fail(
            CW_ERR_UNSUPPORTED,
            "found a context of CUDA's from before the session, expected none: batched replay has to know all "
            "memory of the program; or --replay multiplex, kernel or user");
    return !comes_late && !(self->attached && mode != &cw_inject_trace);
}

static bool take_setup(const uint8_t *payload, size_t size)
{
    struct cw_reader in;
    cw_inject->mode = read_mode(&in, payload, size);
    cw_reach_init();
    if (cw_inject->mode && !may_begin(cw_inject->mode))
        cw_inject->mode = NULL;
    return cw_inject->mode && cw_inject->mode->setup(&in) && enable_wanted();
}

/* Writes the HELLO of a device; false after a failure. */
static bool put_hello(struct cw_writer *out, CUdevice device)
{
    struct cw_writer pairs;
    uint32_t count = 0;
    cw_writer_init(&pairs);
    bool ok = cw_inject_good(cw_cupti_describe(&cw_inject->api, device, &pairs, &count), "cuptiDeviceGetChipName");
    if (ok) {
        cw_write_u32(out, (uint32_t)cw_inject->process);
        cw_write_string(out, program_invocation_short_name);
        cw_write_u32(out, (uint32_t)device);
        cw_write_u32(out, count);
        cw_write_bytes(out, pairs.data, pairs.size);
        ok = pairs.status == CW_OK && out->status == CW_OK;
    }
    cw_writer_free(&pairs);
    return ok;
}

/* Counting makes launches take longer, some more than others. */
static void tell_timed(void)
{
    if (self->timed)
        cw_say("the program took the time between events %" PRIu64
               " times while it was measured: if it chooses by such times, as autotuners do, it may choose otherwise "
               "than alone",
               self->timed);
}

static void at_exit(void)
{
    if (cw_inject->process == getpid())
        cw_troubles_tell_rest();
    if (!cw_inject_lock())
        return;
    self->exits = true;
    cw_in_flight_hold(); /* and never releases it: nothing begins again */
    self->late = cw_inject->mode && !cw_inject->over;
    if (self->late) {
        cw_gate_finish();
        tell_timed();
    }
    if (self->late)
        cw_inject->mode->finish();
    cw_inject->over = self->abandoned = true;
    cw_inject_unlock();
}

/* Initialises profiling without the lock, because CUPTI loads libraries here. */
static bool begin_profiling(void)
{
    PARAMS(CUpti_Profiler_Initialize_Params, init);
    pthread_mutex_lock(&self->one_at_a_time);
    const bool begun = self->begun = self->begun || CALL(cuptiProfilerInitialize, init);
    pthread_mutex_unlock(&self->one_at_a_time);
    return begun;
}

struct answer { /* answer to HELLO */
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    uint32_t device; /* the device of the HELLO */
};

/* Introduces a device. */
static bool hello(CUdevice device, struct answer *answer)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_inject_acquire();
    answer->device = (uint32_t)device;
    bool ok = put_hello(&out, device);
    cw_inject_release();
    ok = ok && cw_wire_ask(&out, &answer->type, &answer->payload, &answer->size);
    cw_writer_free(&out);
    return ok;
}

static void load(const struct answer *answer)
{
    struct cw_reader in;
    const struct cw_inject_mode *mode =
        answer->type == CW_MESSAGE_SETUP ? read_mode(&in, answer->payload, answer->size) : NULL;
    if (mode && mode->load)
        mode->load();
}

/* Checks the program's environment again: it may differ from the agent's, which checked before. */
static bool may_collect(uint32_t device)
{
    int shared = 0;
    if (cw_inject->mode->under_mps ||
        cw_inject->api.cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, (CUdevice)device) !=
            CUDA_SUCCESS ||
        !shared)
        return true;
    cw_inject_fail(CW_ERR_UNSUPPORTED,
                   "found a context that is made through CUDA's multi-process service (MPS), expected one of the "
                   "program's own: under MPS only pm can be captured");
    return false;
}

/* Tells the mode of a change of the gate, which may come before a launch and behind a call. */
static void follow_gate(const struct cw_inject_mode *mode, enum cw_gate_event event)
{
    if (event == CW_GATE_TURNS && mode->gate_turned)
        mode->gate_turned(!cw_gate->closed);
    if (event == CW_GATE_PERIOD && mode->period_began)
        mode->period_began(cw_period_facts(cw_gate->steady.period).launches);
}

/* Opens or closes the capture, as a call of the profiler's API does. */
static void control(bool open)
{
    const struct cw_inject_mode *mode = cw_inject->mode;
    if (mode == &cw_inject_trace)
        cw_trace_recording_control(open);
    else if (cw_gate->window.options.profiler)
        follow_gate(mode, cw_gate_profiler(open ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart
                                                : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop));
}

/* Installs our exit handler after the first context, which makes CUPTI load libraries with destructors. Handlers run in
 * reverse order, and ours still needs those libraries. */
static void take_answer(CUcontext context, const struct answer *answer)
{
    if (answer->type == CW_MESSAGE_REFUSE || cw_inject->over)
        return;
    if (answer->type != CW_MESSAGE_SETUP || (!cw_inject->mode && !take_setup(answer->payload, answer->size)) ||
        !may_begin(cw_inject->mode)) { /* another thread's context may have come before those of a late session */
        cw_inject->over = true;
        return;
    }
    if (!may_collect(answer->device))
        return;
    if (context && self->context_count < CW_MOST_CONTEXTS)
        self->contexts[self->context_count++] = context;
    cw_inject->mode->context_created(context, answer->device);
    if (self->profiling)
        control(true);
    self->installed = self->installed || atexit(at_exit) == 0;
}

/* Introduces a device; the first answer sets the mode. Loads libraries before it takes the lock. The context is
 * NULL if only the device is known. */
static void introduce(CUcontext context, CUdevice device)
{
    struct answer answer = {0};
    bool good = begin_profiling() && device >= 0 && hello(device, &answer);
    if (good)
        load(&answer);
    cw_inject_acquire();
    if (!good)
        cw_inject->over = true;
    cw_inject->devices |= good ? UINT64_C(1) << answer.device % 64 : 0;
    take_answer(context, &answer);
    cw_inject_release();
    free(answer.payload);
}

/* Handles a new context. One made with the driver's own calls is not yet current. Needs no lock. */
static void context_created(CUcontext context)
{
    CUcontext current = NULL;
    cw_inject->api.cuCtxGetCurrent(&current);
    if (current != context && cw_inject->api.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return;
    CUdevice device;
    introduce(context, cw_inject->api.cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : -1);
    if (current != context)
        cw_inject->api.cuCtxPopCurrent_v2(&current);
}

/* ---- events in the program -------------------------------------------------------------------------------------- */

static void launch_entered(const struct cw_inject_mode *mode, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    follow_gate(mode, cw_gate_launch(id, call));
    if (mode->launch_entered)
        mode->launch_entered(id, call);
    cw_in_flight_launch_entered();
}

static void launch_left(const struct cw_inject_mode *mode, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    cw_in_flight_launch_left();
    if (mode->launch_left)
        mode->launch_left(id, call);
}

/* Ends collections before a capture, while waits do no harm. Each wait lets other threads go on, which may begin new
 * ones. */
static void rest_before_capture(const struct cw_inject_mode *mode)
{
    const uint64_t patience_ns = 10000000000, until = cw_inject_now_ns() + patience_ns;
    bool rests = false, waited = true;
    cw_in_flight_hold();
    while ((!rests || waited) && !cw_inject->over && cw_inject_now_ns() < until) {
        rests = !mode->rest || mode->rest();
        waited = cw_idle_before_capture();
    }
    cw_in_flight_release();
}

/* Leaves an old launch call out. CUPTI would take it for one of the collected launches, or wait for the launches of
 * several GPUs one by one. */
static void leave_out(const struct cw_inject_mode *mode, const CUpti_CallbackData *call)
{
    mode->rest();
    if (!cw_range_settings->user && !atomic_exchange(&self->told_otherwise, true))
        cw_say("launches by %s are not collected", call->functionName ? call->functionName : "an old call of CUDA's");
}

/* Programs that try code out, as compilers do, unload a module for each trial. They know their other kernels still. */
static void forget_module(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (id != CUPTI_DRIVER_TRACE_CBID_cuModuleUnload)
        return;
    cw_own_calls.unloads = true; /* until it returns */
    cw_kernel_forget_module(((const cuModuleUnload_params *)call->functionParams)->hmod);
    cw_regions_forget_module(((const cuModuleUnload_params *)call->functionParams)->hmod);
}

static void driver_call(const struct cw_inject_mode *mode, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    bool entered = call->callbackSite == CUPTI_API_ENTER;
    void (*other)(CUpti_CallbackId, const CUpti_CallbackData *) = entered ? mode->call_entered : mode->call_left;
    if (entered)
        cw_in_flight_gate();
    if (entered && mode->facts && !cw_inject->over && cw_inject_launches(id))
        cw_kernel_facts_learn(id, call);
    cw_own_calls.unloads = false;
    if (cw_inject->over)
        return;
    cw_kernel_facts_follow(id, call);
    if (entered && cw_stream_capture_begins(id))
        rest_before_capture(mode);
    cw_stream_capture_follow(id, call);
    cw_streams_follow(id, call);
    if (!entered) {
        cw_pinned_follow(id, call);
        cw_checkpoint_follow(id, call);
    } else if (cw_inject_launches(id))
        cw_checkpoint_meet(cw_inject_kernel(id, call));
    if (mode->rest && cw_reach_follow(id, call)) {
        mode->rest();
        cw_reach_begin(id, call);
        mode->rest(); /* collections that began while the first rest let other threads go on */
    }
    if (entered && mode->rest && cw_inject_launches_otherwise(id))
        leave_out(mode, call);
    if (cw_inject_launches(id))
        (entered ? launch_entered : launch_left)(mode, id, call);
    else if (other && mode->wants(id))
        other(id, call);
    self->timed += !entered && mode->facts && takes_time(id) && !cw_gate->closed && !cw_inject_refused(call);
    if (!entered && cw_gate_follows(id))
        follow_gate(mode, cw_gate_profiler(id));
    if (entered) { /* behind the ends of collections, which may restore memory that the program now frees */
        cw_pinned_follow(id, call);
        cw_checkpoint_follow(id, call);
        forget_module(id, call);
    } else
        cw_in_flight_look();
}

static void abandon(void)
{
    self->abandoned = true;
    const struct cw_inject_mode *mode = cw_inject->mode;
    if (mode && mode->abandoned)
        mode->abandoned();
}

static void forget_context(const struct cw_inject_mode *mode, CUcontext context)
{
    for (uint32_t i = self->context_count; i-- > 0;)
        if (self->contexts[i] == context)
            self->contexts[i] = self->contexts[--self->context_count];
    cw_stream_capture_forget(context);
    mode->context_destroyed(context);
    cw_reach_forget();
    cw_idle_forget(context);
    cw_checkpoint_forget(context);
    cw_kernel_forget();
    cw_kernel_facts_forget();
}

static void resource(const struct cw_inject_mode *mode, CUpti_CallbackId id, const CUpti_ResourceData *data)
{
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
        forget_context(mode, data->context);
    } else if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING && mode->module_unloading)
        mode->module_unloading(data->context);
}

static void happened(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    const struct cw_inject_mode *mode = cw_inject->mode;
    if (cw_inject->over)
        abandon();
    else if (mode && domain == CUPTI_CB_DOMAIN_RESOURCE)
        resource(mode, id, data);
    else if (mode && domain == CUPTI_CB_DOMAIN_DRIVER_API && !mode->glance) /* a mode set just now may have it */
        driver_call(mode, id, data);
}

/* Handles changes of code and graphs without the lock: the driver loads code during a launch, holding a lock that our
 * calls take as well. Returns true if no more is to be done. */
static bool code_changed(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_ResourceData *data)
{
    const struct cw_inject_mode *mode = cw_inject->mode;
    bool loaded = domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED;
    bool unloaded = domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_PROFILED)
        return true; /* comes while CUPTI patches code; nothing is to be done */
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id >= CUPTI_CBID_RESOURCE_GRAPH_CREATED) {
        if (mode && mode->graph_changed && !cw_inject->over)
            mode->graph_changed(id, data->resourceDescriptor);
        return true;
    }
    if (loaded && mode && mode->module_loaded && !cw_inject->over)
        mode->module_loaded(data->resourceDescriptor);
    if ((loaded || unloaded) && mode && mode->module_changed && !cw_inject->over)
        mode->module_changed(data->context, data->resourceDescriptor, loaded);
    if (unloaded) {
        cw_regions_forget_code(cw_own_calls.unloads);
        if (!cw_own_calls.unloads)
            cw_kernel_forget();
        cw_kernel_facts_forget();
    }
    return loaded || (unloaded && mode && !mode->module_unloading);
}

/* Takes CUPTI's reports, which may come from inside our own calls. */
static void take_trouble(CUpti_CallbackId id, const CUpti_StateData *data)
{
    struct cw_thread here;
    cw_thread_enter(&here);
    if (cw_inject->process == getpid())
        cw_troubles_take(id, data);
    cw_thread_leave(&here);
}

/* Reports launches after the end of the capture: exit handlers and destructors from before the first context run after
 * ours. */
static void tell_late(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_thread here;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || !cw_inject_launches(id) || call->callbackSite != CUPTI_API_ENTER ||
        cw_own_calls.inside || cw_inject->process != getpid() || !atomic_exchange(&self->late, false))
        return;
    cw_thread_enter(&here);
    cw_say("launches at the program's end, behind the end of the capture, are left out");
    cw_thread_leave(&here);
}

static void take(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    if (domain == CUPTI_CB_DOMAIN_STATE) {
        take_trouble(id, data);
        return;
    }
    if (self->late && cw_inject->over)
        tell_late(domain, id, data);
    const struct cw_inject_mode *mode = cw_inject->mode;
    if ((domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API) && mode && mode->glance) {
        if (!cw_inject->over && !cw_own_calls.inside)
            mode->glance(domain, id, data);
        return;
    }
    if (cw_own_calls.inside && mode && mode->module_loaded && !cw_inject->over && domain == CUPTI_CB_DOMAIN_RESOURCE &&
        id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
        mode->module_loaded(
            ((const CUpti_ResourceData *)data)->resourceDescriptor); /* a call of ours loads lazy code */
    if (self->abandoned || !cw_inject_enter()) /* a fork without exec has no GPU of its own to profile */
        return;
    if (!cw_inject->over && domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
        context_created(((const CUpti_ResourceData *)data)->context);
    } else if (!code_changed(domain, id, data)) {
        cw_inject_acquire();
        happened(domain, id, data);
        cw_inject_release();
    }
    cw_inject_leave();
}

/* Leaves CUPTI after an agent has left, behind a driver or runtime call, where that is safe. */
static void leave_cupti(void)
{
    if (self->exits)
        return;
    if (self->subscribed && cw_inject->api.cuptiUnsubscribe)
        cw_inject->api.cuptiUnsubscribe(cw_inject->subscriber);
    if (self->subscribed && cw_inject->api.cuptiFinalize) /* otherwise CUPTI belongs to another tool */
        cw_inject->api.cuptiFinalize();
    self->subscribed = false;
    pthread_mutex_lock(&self->one_at_a_time);
    self->begun = false;
    pthread_mutex_unlock(&self->one_at_a_time);
    atomic_store(&self->left, true);
}

static bool is_behind_call(CUpti_CallbackDomain domain, const void *data)
{
    return (domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API) && !cw_own_calls.inside &&
           ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_EXIT;
}

/* Prints a line in a forked child, which can hardly use CUDA after its parent did. */
static void tell_forked(void)
{
    struct cw_thread here;
    cw_thread_enter(&here);
    if (!atomic_exchange(&self->told, true))
        cw_say("process %ld was forked without exec from one that is captured: its use of CUDA is left out",
               (long)getpid());
    cw_thread_leave(&here);
}

/* Calls the program's own function for a launch, outside of all locks: it may push and pop ranges. */
static void tell_program(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call,
                         CUpti_ApiCallbackSite site)
{
    struct cw_driver_launch l;
    if (!atomic_load(&self->on_launch) || domain != CUPTI_CB_DOMAIN_DRIVER_API || cw_own_calls.inside ||
        call->callbackSite != site || !cw_inject_launch(&l, id, call))
        return;
    const bool returned = site == CUPTI_API_EXIT;
    const struct counterworks_collect_launch launch = {
        .kernel = l.graph ? NULL : call->symbolName,
        .grid = {l.config.gridDimX, l.config.gridDimY, l.config.gridDimZ},
        .block = {l.config.blockDimX, l.config.blockDimY, l.config.blockDimZ},
        .shared_bytes = l.config.sharedMemBytes,
        .context = call->context,
        .stream = cw_inject_stream(id, l.config.hStream),
        .returned = returned,
        .result = returned ? *(const CUresult *)call->functionReturnValue : 0,
    };
    atomic_fetch_add(&self->telling, 1);
    cw_launched *const call_program = atomic_load(&self->on_launch); /* the session may have ended */
    if (call_program)
        call_program(self->user, &launch);
    atomic_fetch_sub(&self->telling, 1);
}

static void CUPTIAPI callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user;
    if (self->forked) {
        if (domain != CUPTI_CB_DOMAIN_STATE) /* CUPTI's own reports */
            tell_forked();
        return;
    }
    if (!self->attached && !self->inside) {
        take(domain, id, data);
        return;
    }
    atomic_fetch_add(&self->callbacks, 1);
    tell_program(domain, id, data, CUPTI_API_ENTER);
    take(domain, id, data);
    tell_program(domain, id, data, CUPTI_API_EXIT);
    if (is_behind_call(domain, data) && atomic_exchange(&self->leaving, false) && cw_inject_enter()) {
        leave_cupti();
        cw_inject_leave();
    }
    atomic_fetch_sub(&self->callbacks, 1);
}

/* ---- entry ------------------------------------------------------------------------------------------------------ */

static void subscribe(void)
{
    static const CUpti_CallbackId resources[] = {
        CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING};
    bool ok = cw_inject_good(cw_inject->api.cuptiSubscribe(&cw_inject->subscriber, (CUpti_CallbackFunc)callback, NULL),
                             "cuptiSubscribe");
    self->subscribed = ok;
    for (size_t i = 0; i < sizeof resources / sizeof *resources && ok; i++)
        ok = cw_inject_good(
            cw_inject->api.cuptiEnableCallback(1, cw_inject->subscriber, CUPTI_CB_DOMAIN_RESOURCE, resources[i]),
            "cuptiEnableCallback");
    if (ok)
        cw_troubles_subscribe();
}

/* Prepares a forked child, which has none of the threads that may have held a lock. It can be profiled if its parent
 * was not. */
static void forked(void)
{
    cw_inject_renew();
    cw_wire_leave();
    cw_user_ranges_forget();
    cw_trace_forget();
    cw_trace_nvtx_forget();
    cw_trace_openmp_forget();
    cw_trace_buffers_renew();
    cw_counters_renew();
    cw_attach_leave();
    cw_pinned_forget();
    self->forked = self->forked || cw_wire->tried;
    if (cw_wire->tried)
        cw_inject->over = true;
    cw_inject->process = cw_wire->tried ? 0 : getpid();
}

/* Runs at load time, because user ranges may come before CUDA. */
__attribute__((constructor)) static void begin(void)
{
    cw_inject_begin();
    cw_say_begin();
    pthread_atfork(NULL, NULL, forked);
}

static void begin_capture(const char *cupti)
{
    if (cw_cupti_load(&cw_inject->api, cupti)) {
        if (self->attached && !cw_attach_wait_for_cuda()) {
            cw_inject->over = true;
            return;
        }
        cw_trace_early_ask();
        subscribe();
    } else
        cw_inject_fail(CW_ERR_UNSUPPORTED, "%s", cw_inject->api.missing);
}

/* Introduces the devices whose primary contexts the program uses, or all if there are none: other contexts cannot be
 * listed. */
static void introduce_devices(void)
{
    const struct cw_cupti *api = &cw_inject->api;
    int count = 0, active = 0;
    bool any = false;
    if (!api->cuDeviceGetCount || api->cuDeviceGetCount(&count) != CUDA_SUCCESS)
        count = 1;
    for (int pass = 0; pass < 2 && !any; pass++)
        for (CUdevice device = 0; device < count && !cw_inject->over; device++) {
            unsigned flags;
            if (!pass && (!api->cuDevicePrimaryCtxGetState ||
                          api->cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || !active))
                continue;
            any = true;
            introduce(NULL, device);
        }
}

/* Prepares for an agent that comes to the running program. */
static void begin_anew(void)
{
    cw_inject_acquire();
    cw_inject->process = getpid();
    cw_inject->arena = cw_arena_create();
    cw_inject->over = self->abandoned = false;
    cw_inject->handed_over = cw_inject->devices = 0;
    atomic_store(&self->leaving, false);
    atomic_store(&self->left, false);
    cw_trace_rows_lock();
    cw_trace_rows_reset(); /* it was closed without an agent */
    cw_trace_rows_unlock();
    cw_inject_release();
}

static void attached(const char *cupti)
{
    self->attached = true;
    begin_anew();
    if (cw_inject->arena)
        begin_capture(*cupti ? cupti : NULL);
    else
        cw_inject_fail_memory();
    if (!cw_inject->over)
        introduce_devices();
}

/* Makes this thread leave CUPTI if the program makes no call for a while. */
static void leave_cupti_soon(void)
{
    atomic_store(&self->leaving, true);
    for (int i = 0; i < 100 && !atomic_load(&self->left); i++)
        cw_inject_sleep(10000000);
    if (atomic_exchange(&self->leaving, false))
        leave_cupti();
    for (int i = 0; i < 200 && (atomic_load(&self->callbacks) || !atomic_load(&self->left)); i++)
        cw_inject_sleep(10000000);
}

static bool detached(void)
{
    if (self->exits)
        return false;
    cw_trace_stop();
    cw_inject->over = true;
    const bool stays = self->subscribed && !cw_inject->api.cuptiUnsubscribe;
    leave_cupti_soon();
    if (atomic_load(&self->callbacks) || !atomic_load(&self->left) || stays)
        return false;
    cw_inject_acquire();
    const bool again = cw_trace_reset();
    if (again) {
        self->attached = false;
        cw_inject->mode = NULL;
        cw_arena_destroy(cw_inject->arena);
        cw_inject->arena = NULL;
    }
    cw_inject_release();
    return again;
}

/* ---- sessions of the program's own ------------------------------------------------------------------------------ */

#define EXPORT __attribute__((visibility("default")))

/* Introduces the contexts that are there: the calling thread's, and primary ones; others cannot be listed. */
static void introduce_contexts(void)
{
    const struct cw_cupti *api = &cw_inject->api;
    CUcontext context = NULL;
    int count = 0, active = 0;
    unsigned flags;
    if (api->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context) {
        self->late_session = true;
        context_created(context);
    }
    if (!api->cuDeviceGetCount || !api->cuDevicePrimaryCtxGetState || !api->cuDevicePrimaryCtxRetain ||
        !api->cuDevicePrimaryCtxRelease_v2 || api->cuDeviceGetCount(&count) != CUDA_SUCCESS)
        count = 0;
    for (CUdevice device = 0; device < count && !cw_inject->over; device++) {
        CUcontext primary = NULL;
        if (api->cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || !active ||
            api->cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS)
            continue;
        self->late_session = true;
        if (primary != context)
            context_created(primary);
        api->cuDevicePrimaryCtxRelease_v2(device);
    }
}

/* Why no session can begin, or NULL. */
static const char *obstacle(void)
{
    if (cw_wire->tried)
        return self->inside || self->attached ? "found a capture of this process, expected none at the same time"
                                              : "found a process that capture-agent has started, expected another";
    return self->spent ? "found that a session of this process could not be ended as a whole, so no other can follow it"
                       : NULL;
}

/* Keeps the environment, in which cw_wire_variable finds variables. NULL, or why that is impossible. */
static const char *keep_environment(const char *environment)
{
    size_t size = 1;
    for (const char *at = environment; *at; at += strlen(at) + 1)
        size += strlen(at) + 1;
    char *const kept = malloc(size), *const before = cw_wire->environment;
    if (!kept)
        return "out of memory";
    memcpy(kept, environment, size);
    cw_trace_rows_lock(); /* threads that open ranges look whether there is an agent */
    cw_wire->environment = kept;
    cw_trace_rows_unlock();
    free(before);
    return cw_wire_variable(CW_AGENT_SOCKET_VARIABLE) ? NULL : "found no socket of the agent";
}

EXPORT const char *counterworks_inside_open(const char *environment, cw_launched *on_launch, void *user)
{
    if (self->forked || !cw_inject_enter())
        return "found a process that was forked from one with a session, or a callback of a capture, expected neither";
    const char *why = obstacle();
    why = why ? why : keep_environment(environment);
    if (!why) {
        cw_attach_leave();
        self->inside = true;
        self->late_session = self->had_session;
        self->had_session = true;
        self->profiling = false;
        self->user = user;
        atomic_store(&self->on_launch, on_launch);
        begin_anew();
        if (!cw_inject->arena || !cw_wire_connect(cw_wire_variable(CW_AGENT_SOCKET_VARIABLE)))
            why = "the agent cannot be reached";
    }
    if (!why) {
        begin_capture(cw_wire_variable(CW_AGENT_CUPTI_VARIABLE));
        if (!cw_inject->over)
            introduce_contexts();
    }
    cw_inject_leave();
    return why;
}

EXPORT void counterworks_inside_control(bool open)
{
    if (!self->inside || !cw_inject_lock())
        return;
    self->profiling = open;
    if (cw_inject->mode && !cw_inject->over)
        control(open);
    cw_inject_unlock();
}

EXPORT void counterworks_inside_flush(void)
{
    if (!self->inside || !cw_inject_enter())
        return;
    const struct cw_inject_mode *mode = cw_inject->mode;
    if (mode && mode->traces) {
        cw_trace_flush();
    } else {
        cw_inject_acquire();
        if (mode && mode->flush && !cw_inject->over)
            mode->flush();
        else if (mode && mode->rest && !cw_inject->over)
            mode->rest();
        cw_inject_release();
    }
    cw_inject_leave();
}

/* Ends the collections as a program's end does, and forgets its contexts as their ends do. */
static void finish_session(const struct cw_inject_mode *mode)
{
    CUcontext popped;
    cw_inject_acquire();
    cw_in_flight_hold();
    if (!cw_inject->over) {
        cw_gate_finish();
        tell_timed();
        mode->finish();
    }
    while (self->context_count) {
        const CUcontext context = self->contexts[self->context_count - 1];
        const bool pushed = cw_inject->api.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
        forget_context(mode, context);
        if (pushed)
            cw_inject->api.cuCtxPopCurrent_v2(&popped);
    }
    cw_in_flight_release();
    cw_inject->over = self->abandoned = true;
    cw_inject_release();
}

/* Forgets the session, so that another can begin. False if some of it goes on. */
static bool reset(const struct cw_inject_mode *mode)
{
    if (atomic_load(&self->callbacks))
        return false;
    cw_inject_acquire();
    if (mode && mode->traces && !cw_trace_reset()) {
        cw_inject_release();
        return false;
    }
    const bool ended = !mode || (mode->reset ? mode->reset() : mode->traces);
    cw_counters_close();
    cw_in_flight_forget();
    cw_streams_forget();
    cw_gate_reset();
    cw_user_ranges_filter(NULL);
    self->timed = 0;
    cw_inject->mode = NULL;
    cw_arena_destroy(cw_inject->arena);
    cw_inject->arena = NULL;
    cw_inject_release();
    return ended;
}

/* Ends the calls of the program's function, which may use the session until they return. */
static void stop_telling(void)
{
    atomic_store(&self->on_launch, NULL);
    while (atomic_load(&self->telling))
        cw_inject_sleep(1000000);
}

EXPORT void counterworks_inside_close(void)
{
    if (self->inside)
        stop_telling();
    if (!self->inside || !cw_inject_enter())
        return;
    const struct cw_inject_mode *mode = cw_inject->mode;
    if (mode && mode->traces)
        cw_trace_stop();
    if (mode)
        finish_session(mode);
    cw_inject->over = true;
    if (self->subscribed && cw_inject->api.cuptiUnsubscribe)
        cw_inject->api.cuptiUnsubscribe(cw_inject->subscriber);
    for (int i = 0; i < 200 && atomic_load(&self->callbacks); i++)
        cw_inject_sleep(10000000);
    self->spent = !self->subscribed || !cw_inject->api.cuptiUnsubscribe || !reset(mode);
    self->subscribed = false;
    self->inside = false;
    cw_wire_end();
    cw_inject_leave();
}

/* ---- the entry --------------------------------------------------------------------------------------------------- */

static void initialize(void)
{
    const char *path = secure_getenv(CW_AGENT_SOCKET_VARIABLE);
    if (cw_wire->tried)
        return;
    if (!path && !getauxval(AT_SECURE)) /* with another user's rights, load no library named by others */
        cw_attach_listen(attached, detached);
    if (!path)
        return;
    cw_inject->process = getpid();
    cw_inject->arena = cw_arena_create();
    if (cw_inject->arena && cw_wire_connect(path))
        begin_capture(secure_getenv(CW_AGENT_CUPTI_VARIABLE));
}

/* Called by the CUDA driver when it initialises. Returns the value that CUDA expects of a loaded library. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
    struct cw_thread here;
    cw_thread_enter(&here);
    initialize();
    cw_thread_leave(&here);
    return 1;
}
