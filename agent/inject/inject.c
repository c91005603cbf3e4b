/* The library that CUDA loads into the profiled program (CUDA_INJECTION64_PATH).
 *
 * It introduces each device to capture-agent, learns what to collect, and passes what happens on to that mode. Whatever
 * goes wrong here ends the capture, never the program. */
#define _GNU_SOURCE
#include "agent/inject/inject.h"
#include "agent/common/device.h"
#include "agent/inject/idle.h"
#include "agent/inject/in_flight.h"
#include "agent/inject/kernels.h"
#include "agent/inject/reach.h"
#include "agent/inject/say.h"
#include "agent/inject/stream_capture.h"
#include "agent/inject/user_ranges.h"
#include "agent/inject/wire.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct cw_inject cw_inject;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left; /* by CLOCK_MONOTONIC */
static uint64_t epoch; /* the wall-clock time at which CLOCK_BOOTTIME was 0, as it was when the library was loaded */
static _Thread_local volatile bool inside; /* this thread's calls are our own */
static _Thread_local struct cw_thread thread;
static bool abandoned; /* what was armed when the capture ended has been stopped */

static const struct cw_inject_mode *const modes[] = {
    [CW_MODE_RANGE] = &cw_inject_range, [CW_MODE_BATCH] = &cw_inject_batch, [CW_MODE_PC] = &cw_inject_pc,
    [CW_MODE_SASS] = &cw_inject_sass,   [CW_MODE_TRACE] = &cw_inject_trace,
};
enum { MODES = sizeof modes / sizeof *modes };

void cw_thread_enter(struct cw_thread *t)
{
    t->error = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &t->cancel);
}

void cw_thread_leave(const struct cw_thread *t)
{
    pthread_setcancelstate(t->cancel, NULL);
    errno = t->error;
}

static bool enter(void)
{
    if (inside || cw_inject.process != getpid())
        return false;
    inside = true;
    atomic_signal_fence(memory_order_seq_cst);
    cw_thread_enter(&thread);
    return true;
}

/* A signal's handler may enter as soon as the thread is outside. */
static void leave(void)
{
    const struct cw_thread before = thread;
    atomic_signal_fence(memory_order_seq_cst);
    inside = false;
    cw_thread_leave(&before);
}

static void release(void)
{
    pthread_cond_broadcast(&left); /* what others wait for may be so now */
    pthread_mutex_unlock(&lock);
}

bool cw_inject_lock(void)
{
    bool entered = enter();
    if (entered)
        pthread_mutex_lock(&lock);
    return entered;
}

void cw_inject_unlock(void)
{
    release();
    leave();
}

uint64_t cw_inject_thread(void)
{
    return (uint64_t)gettid();
}

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t cw_inject_now_ns(void)
{
    return epoch + nanoseconds(CLOCK_BOOTTIME);
}

void cw_inject_wait(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    pthread_cond_timedwait(&left, &lock, &until);
}

void cw_inject_pause(uint64_t ns)
{
    const struct timespec duration = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    release();
    nanosleep(&duration, NULL);
    pthread_mutex_lock(&lock);
}

/* ---- threads of our own ------------------------------------------------------------------------------------------ */

void cw_inject_wake(void)
{
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&lock);
}

void cw_inject_own_thread(void)
{
    inside = true;
}

bool cw_inject_start_thread(void *(*run)(void *), void *user)
{
    pthread_t new;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&new, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(new);
    return started;
}

/* ---- telling the agent ------------------------------------------------------------------------------------------ */

void cw_inject_fail(enum cw_status status, const char *format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u32(&out, status);
    cw_write_string(&out, text);
    if (out.status == CW_OK)
        cw_wire_send(CW_MESSAGE_FAIL, &out, -1);
    cw_writer_free(&out);
    cw_inject.over = true;
}

bool cw_inject_good(CUptiResult result, const char *call)
{
    if (result == CUPTI_SUCCESS)
        return true;
    char text[600];
    enum cw_status status = cw_cupti_explain(&cw_inject.api, result, call, text, sizeof text);
    cw_inject_fail(status, "%s", text);
    return false;
}

static bool send_and_free(enum cw_message_type type, struct cw_writer *out, int memory)
{
    bool sent = out->status == CW_OK && cw_wire_send(type, out, memory);
    if (out->status != CW_OK)
        cw_inject_fail(CW_ERR_NOMEM, "out of memory in the profiled program");
    cw_inject.over = cw_inject.over || !sent;
    cw_writer_free(out);
    return sent;
}

bool cw_inject_send(enum cw_message_type type, struct cw_writer *out)
{
    return send_and_free(type, out, -1);
}

uint64_t cw_inject_hand_over(enum cw_message_type type, struct cw_writer *out, int memory)
{
    static uint64_t number;
    return send_and_free(type, out, memory) ? ++number : 0;
}

bool cw_inject_wait_taken(uint64_t number)
{
    bool read = cw_wire_wait_taken(number);
    cw_inject.over = cw_inject.over || !read;
    return read;
}

/* ---- what happens in the program -------------------------------------------------------------------------------- */

static bool enable(CUpti_CallbackDomain domain, const CUpti_CallbackId *ids, size_t count)
{
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = cw_inject_good(cw_inject.api.cuptiEnableCallback(1, cw_inject.subscriber, domain, ids[i]),
                            "cuptiEnableCallback");
    return ok;
}

/* Calls that do not launch. One by one: CUPTI crashes in calls of our own from inside a callback where those are
 * enabled too. An older CUPTI does not know the newest calls, nor does the program that runs under it make them. */
static bool enable_wanted(void)
{
    bool ok = true;
    for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE && ok; id++)
        if ((cw_inject.mode->launch_entered && cw_stream_capture_follows(id)) ||
            (cw_inject.mode->rest && cw_reach_follows(id)) || (cw_inject.mode->wants && cw_inject.mode->wants(id))) {
            CUptiResult result =
                cw_inject.api.cuptiEnableCallback(1, cw_inject.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
            ok = result == CUPTI_ERROR_INVALID_PARAMETER || cw_inject_good(result, "cuptiEnableCallback");
        }
    return ok;
}

/* The number of the mode is the first of SETUP. */
static const struct cw_inject_mode *read_mode(struct cw_reader *in, const uint8_t *payload, size_t size)
{
    cw_reader_init(in, payload, size, "setup", 0, NULL);
    uint32_t mode = cw_read_u32(in);
    return in->status == CW_OK && mode < MODES ? modes[mode] : NULL;
}

static bool take_setup(const uint8_t *payload, size_t size)
{
    struct cw_reader in;
    cw_inject.mode = read_mode(&in, payload, size);
    cw_reach_init();
    return cw_inject.mode && cw_inject.mode->setup(&in) &&
           (!cw_inject.mode->launch_entered ||
            enable(CUPTI_CB_DOMAIN_DRIVER_API, cw_inject_launches, cw_inject_launch_count)) &&
           enable_wanted();
}

/* Writes the HELLO of the current context's device; false after a failure. */
static bool put_hello(struct cw_writer *out, uint32_t *number)
{
    struct cw_writer pairs;
    uint32_t count = 0;
    CUdevice device;
    cw_writer_init(&pairs);
    bool ok = cw_inject.api.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
              cw_inject_good(cw_cupti_describe(&cw_inject.api, device, &pairs, &count), "cuptiDeviceGetChipName");
    if (ok) {
        *number = (uint32_t)device;
        cw_write_u32(out, (uint32_t)cw_inject.process);
        cw_write_string(out, program_invocation_short_name);
        cw_write_u32(out, *number);
        cw_write_u32(out, count);
        cw_write_bytes(out, pairs.data, pairs.size);
        ok = pairs.status == CW_OK && out->status == CW_OK;
    }
    cw_writer_free(&pairs);
    return ok;
}

static void at_exit(void)
{
    if (!cw_inject_lock())
        return;
    cw_in_flight_hold(); /* for good: nothing begins again */
    if (cw_inject.mode && !cw_inject.over)
        cw_inject.mode->finish();
    cw_inject.over = abandoned = true;
    cw_inject_unlock();
}

/* Here CUPTI loads libraries, so the lock is not held. */
static bool begin_profiling(void)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static bool begun;
    PARAMS(CUpti_Profiler_Initialize_Params, init);
    pthread_mutex_lock(&one_at_a_time);
    begun = begun || CALL(cuptiProfilerInitialize, init);
    pthread_mutex_unlock(&one_at_a_time);
    return begun;
}

struct answer { /* to HELLO */
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    uint32_t device; /* it is about */
};

/* Introduces the device of the current context. */
static bool hello(struct answer *answer)
{
    struct cw_writer out;
    cw_writer_init(&out);
    pthread_mutex_lock(&lock);
    bool ok = put_hello(&out, &answer->device);
    release();
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

/* The first context has CUPTI load libraries whose destructors run at exit. Handlers that came last run first, and ours
 * still needs those libraries: it is installed behind them. */
static void take_answer(CUcontext context, const struct answer *answer)
{
    static bool installed;
    if (answer->type == CW_MESSAGE_REFUSE || cw_inject.over)
        return;
    if (answer->type != CW_MESSAGE_SETUP || (!cw_inject.mode && !take_setup(answer->payload, answer->size))) {
        cw_inject.over = true;
        return;
    }
    cw_inject.mode->context_created(context, answer->device);
    installed = installed || atexit(at_exit) == 0;
}

/* The first answer says what to collect. What loads libraries comes before the lock. */
static void introduce(CUcontext context)
{
    struct answer answer = {0};
    bool good = begin_profiling() && hello(&answer);
    if (good)
        load(&answer);
    pthread_mutex_lock(&lock);
    cw_inject.over = cw_inject.over || !good;
    take_answer(context, &answer);
    release();
    free(answer.payload);
}

/* A context that the program makes with the driver's own calls is not the thread's yet. Needs no lock. */
static void context_created(CUcontext context)
{
    CUcontext current = NULL;
    cw_inject.api.cuCtxGetCurrent(&current);
    if (current != context && cw_inject.api.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return;
    introduce(context);
    if (current != context)
        cw_inject.api.cuCtxPopCurrent_v2(&current);
}

static bool is_launch(CUpti_CallbackId id)
{
    for (size_t i = 0; i < cw_inject_launch_count; i++)
        if (cw_inject_launches[i] == id)
            return true;
    return false;
}

static void launch_entered(const struct cw_inject_mode *mode, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    mode->launch_entered(id, call);
    cw_in_flight_launch_entered();
}

static void launch_left(const struct cw_inject_mode *mode, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    cw_in_flight_launch_left();
    mode->launch_left(id, call);
}

/* While waits do no harm. Each lets other threads go on, which may begin again. */
static void rest_before_capture(const struct cw_inject_mode *mode)
{
    const uint64_t patience_ns = 10000000000, until = cw_inject_now_ns() + patience_ns;
    bool rests = false, waited = true;
    cw_in_flight_hold();
    while ((!rests || waited) && cw_inject_now_ns() < until) {
        rests = !mode->rest || mode->rest();
        waited = cw_idle_before_capture();
    }
    cw_in_flight_release();
}

static void driver_call(const struct cw_inject_mode *mode, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    bool entered = call->callbackSite == CUPTI_API_ENTER;
    void (*other)(CUpti_CallbackId, const CUpti_CallbackData *) = entered ? mode->call_entered : mode->call_left;
    if (entered)
        cw_in_flight_gate();
    if (cw_inject.over)
        return;
    if (entered && cw_stream_capture_begins(id))
        rest_before_capture(mode);
    cw_stream_capture_follow(id, call);
    if (mode->rest && cw_reach_follow(id, call)) {
        mode->rest();
        cw_reach_begin();
        mode->rest(); /* what began while the first rest let others go on */
    }
    if (is_launch(id))
        (entered ? launch_entered : launch_left)(mode, id, call);
    else if (other && mode->wants(id))
        other(id, call);
    if (!entered)
        cw_in_flight_look();
}

static void abandon(void)
{
    abandoned = true;
    if (cw_inject.mode && cw_inject.mode->abandoned)
        cw_inject.mode->abandoned();
}

static void resource(const struct cw_inject_mode *mode, CUpti_CallbackId id, const CUpti_ResourceData *data)
{
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
        cw_stream_capture_forget(data->context);
        mode->context_destroyed(data->context);
        cw_idle_forget(data->context);
    } else if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING && mode->module_unloading)
        mode->module_unloading(data->context);
}

static void happened(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    const struct cw_inject_mode *mode = cw_inject.mode;
    if (cw_inject.over)
        abandon();
    else if (mode && domain == CUPTI_CB_DOMAIN_RESOURCE)
        resource(mode, id, data);
    else if (mode && domain == CUPTI_CB_DOMAIN_DRIVER_API)
        driver_call(mode, id, data);
}

/* What needs no lock: the driver loads code in the middle of a launch, with a lock of its own that it takes in calls of
 * ours as well. True where that is all. */
static bool code_changed(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_ResourceData *data)
{
    const struct cw_inject_mode *mode = cw_inject.mode;
    bool loaded = domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED;
    bool unloaded = domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING;
    if (loaded && mode && mode->module_loaded && !cw_inject.over)
        mode->module_loaded(data->context, data->resourceDescriptor);
    if (unloaded)
        cw_kernel_forget();
    return loaded || (unloaded && mode && !mode->module_unloading);
}

static void CUPTIAPI callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user;
    if (abandoned || !enter()) /* a fork without exec has no GPU of its own to profile */
        return;
    if (!cw_inject.over && domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
        context_created(((const CUpti_ResourceData *)data)->context);
    } else if (!code_changed(domain, id, data)) {
        pthread_mutex_lock(&lock);
        happened(domain, id, data);
        release();
    }
    leave();
}

/* ---- entry ------------------------------------------------------------------------------------------------------ */

static void subscribe(void)
{
    static const CUpti_CallbackId resources[] = {
        CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING};
    if (cw_inject_good(cw_inject.api.cuptiSubscribe(&cw_inject.subscriber, (CUpti_CallbackFunc)callback, NULL),
                       "cuptiSubscribe"))
        enable(CUPTI_CB_DOMAIN_RESOURCE, resources, sizeof resources / sizeof *resources);
}

static void make_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&left, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* A child has none of the threads that may have held a lock. It can be profiled where its parent was not. */
static void forked(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    make_condition();
    cw_wire_leave();
    cw_user_ranges_forget();
    cw_inject.over = cw_inject.over || cw_wire_was_tried();
    cw_inject.process = cw_wire_was_tried() ? 0 : getpid();
}

/* User ranges may come before CUDA does. */
__attribute__((constructor)) static void begin(void)
{
    cw_inject.process = getpid();
    epoch = nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_BOOTTIME);
    make_condition();
    cw_say_begin();
    pthread_atfork(NULL, NULL, forked);
}

static void initialize(void)
{
    const char *path = secure_getenv(CW_AGENT_SOCKET_VARIABLE);
    if (!path || cw_wire_was_tried())
        return;
    cw_inject.process = getpid();
    cw_inject.arena = cw_arena_create();
    if (!cw_inject.arena || !cw_wire_connect(path))
        return;
    if (cw_cupti_load(&cw_inject.api, secure_getenv(CW_AGENT_CUPTI_VARIABLE)))
        subscribe();
    else
        cw_inject_fail(CW_ERR_UNSUPPORTED, "%s", cw_inject.api.missing);
}

/* Called by the CUDA driver when it initialises. The value is what CUDA expects of a library that has loaded. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
    struct cw_thread here;
    cw_thread_enter(&here);
    initialize();
    cw_thread_leave(&here);
    return 1;
}
