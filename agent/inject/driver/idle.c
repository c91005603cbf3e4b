#define _GNU_SOURCE
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/stream_capture.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum { MOST_WAITERS = 64 };
static const uint64_t capture_patience_ns = 10000000000;

static pthread_mutex_t work = PTHREAD_MUTEX_INITIALIZER; /* of all below; taken after the library's lock */
static pthread_cond_t changed;                           /* by CLOCK_MONOTONIC */

__attribute__((constructor)) static void set_up(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* ---- contexts --------------------------------------------------------------------------------------------------- */

static struct waiter { /* a thread for each context that was ever waited for */
    CUcontext context;
    uint64_t asked, done;
    bool good;    /* the last wait that ended */
    bool in_vain; /* somebody gave up before it ended */
} waiters[MOST_WAITERS];
static uint32_t waiter_count;

static bool wait_in_driver(CUcontext context)
{
    CUcontext popped;
    if (cw_inject.api.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return false;
    bool good = cw_inject.api.cuCtxSynchronize() == CUDA_SUCCESS;
    cw_inject.api.cuCtxPopCurrent_v2(&popped);
    return good;
}

static void *serve(void *user)
{
    struct waiter *w = user;
    cw_inject_own_thread();
    pthread_mutex_lock(&work);
    for (;;) {
        while (w->asked == w->done)
            pthread_cond_wait(&changed, &work);
        uint64_t number = w->asked;
        pthread_mutex_unlock(&work);
        bool good = wait_in_driver(w->context);
        pthread_mutex_lock(&work);
        w->good = good;
        w->done = number;
        pthread_mutex_unlock(&work);
        cw_inject_wake();
        pthread_mutex_lock(&work);
    }
    return NULL;
}

static struct waiter *waiter_of(CUcontext context)
{
    for (uint32_t i = 0; i < waiter_count; i++)
        if (waiters[i].context == context)
            return &waiters[i];
    for (uint32_t i = 0; i < waiter_count; i++)
        if (!waiters[i].context) {
            waiters[i].context = context;
            return &waiters[i];
        }
    if (waiter_count == MOST_WAITERS)
        return NULL;
    struct waiter *w = &waiters[waiter_count];
    *w = (struct waiter){.context = context};
    waiter_count += cw_inject_start_thread(serve, w);
    return w < waiters + waiter_count ? w : NULL;
}

/* The number of a wait, or 0: one that was in vain is still under way. */
static uint64_t ask(struct waiter *w)
{
    pthread_mutex_lock(&work);
    uint64_t number = w->in_vain && w->done < w->asked ? 0 : ++w->asked;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&work);
    return number;
}

static bool is_done(const struct waiter *w, uint64_t number)
{
    pthread_mutex_lock(&work);
    bool done = w->done >= number;
    pthread_mutex_unlock(&work);
    return done;
}

bool cw_idle_wait(CUcontext context, uint64_t patience_ns)
{
    struct waiter *w = cw_stream_capture_is_under_way() ? NULL : waiter_of(context);
    uint64_t number = w ? ask(w) : 0, until = cw_inject_now_ns() + patience_ns;
    if (!number)
        return false;
    while (!is_done(w, number) && cw_inject_now_ns() < until)
        cw_inject_wait();
    pthread_mutex_lock(&work);
    w->in_vain = w->done < number;
    bool good = !w->in_vain && w->good;
    pthread_mutex_unlock(&work);
    return good;
}

static bool any_waits(void)
{
    bool any = false;
    pthread_mutex_lock(&work);
    for (uint32_t i = 0; i < waiter_count; i++)
        any |= waiters[i].asked != waiters[i].done;
    pthread_mutex_unlock(&work);
    return any;
}

void cw_idle_forget(CUcontext context)
{
    pthread_mutex_lock(&work);
    for (uint32_t i = 0; i < waiter_count; i++)
        if (waiters[i].context == context && waiters[i].asked == waiters[i].done)
            waiters[i].context = NULL;
    pthread_mutex_unlock(&work);
}

bool cw_idle_before_capture(void)
{
    bool waited = any_waits();
    for (uint64_t until = cw_inject_now_ns() + capture_patience_ns; any_waits() && cw_inject_now_ns() < until;)
        cw_inject_wait();
    return waited;
}

/* ---- a watch ---------------------------------------------------------------------------------------------------- */

static struct {
    bool started, armed, late;
    uint64_t number;
    struct timespec until;
    void (*call)(void *);
    void *user;
} watch;

static void *keep_watch(void *user)
{
    (void)user;
    cw_inject_own_thread();
    pthread_mutex_lock(&work);
    for (;;) {
        while (!watch.armed)
            pthread_cond_wait(&changed, &work);
        const uint64_t number = watch.number;
        const struct timespec until = watch.until;
        bool over = pthread_cond_timedwait(&changed, &work, &until) == ETIMEDOUT;
        if (over && watch.armed && watch.number == number) {
            watch.armed = false;
            watch.late = true;
            watch.call(watch.user); /* with the mutex, which whoever ends the watch waits for */
        }
    }
    return NULL;
}

bool cw_idle_watch(uint64_t limit_ns, void (*late)(void *), void *user)
{
    watch.started = watch.started || cw_inject_start_thread(keep_watch, NULL);
    if (!watch.started)
        return false;
    pthread_mutex_lock(&work);
    clock_gettime(CLOCK_MONOTONIC, &watch.until);
    watch.until.tv_sec += (time_t)(limit_ns / 1000000000);
    watch.call = late;
    watch.user = user;
    watch.late = false;
    watch.number++;
    watch.armed = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&work);
    return true;
}

bool cw_idle_watch_end(void)
{
    pthread_mutex_lock(&work);
    watch.armed = false;
    bool late = watch.late;
    watch.late = false;
    pthread_mutex_unlock(&work);
    return late;
}
