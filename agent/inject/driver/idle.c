#define _GNU_SOURCE
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/stream_capture.h"

#include <errno.h>

static const uint64_t capture_patience_ns = 10000000000, second_ns = 1000000000;
struct waiter { /* one thread for each context that was ever waited for */
    CUcontext context;
    uint64_t asked, done;
    bool good;    /* result of the last completed wait */
    bool in_vain; /* a caller gave up before the wait ended */
};

static struct {
    pthread_mutex_t work; /* protects the members below; taken after the library's lock */
    pthread_cond_t changed;
    uint32_t waiter_count;
    struct waiter waiters[CW_MOST_CONTEXTS];
    struct {
        bool started, armed, late;
        uint64_t number;
        struct timespec until;
        void (*call)(void *);
        void *user;
    } watch;
} state CW_STATE;
#define self (&state)

/* ---- contexts --------------------------------------------------------------------------------------------------- */

bool cw_idle_synchronize(CUcontext context)
{
    CUcontext popped;
    if (cw_inject->api.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return false;
    bool good = cw_inject->api.cuCtxSynchronize() == CUDA_SUCCESS;
    cw_inject->api.cuCtxPopCurrent_v2(&popped);
    return good;
}

static void *serve(void *user)
{
    struct waiter *w = user;
    cw_inject_own_thread();
    pthread_mutex_lock(&self->work);
    for (;;) {
        while (w->asked == w->done)
            pthread_cond_wait(&self->changed, &self->work);
        uint64_t number = w->asked;
        pthread_mutex_unlock(&self->work);
        bool good = cw_idle_synchronize(w->context);
        pthread_mutex_lock(&self->work);
        w->good = good;
        w->done = number;
        pthread_cond_broadcast(&self->changed);
    }
    return NULL;
}

static struct waiter *waiter_of(CUcontext context)
{
    for (uint32_t i = 0; i < self->waiter_count; i++)
        if (self->waiters[i].context == context)
            return &self->waiters[i];
    for (uint32_t i = 0; i < self->waiter_count; i++)
        if (!self->waiters[i].context) {
            self->waiters[i].context = context;
            return &self->waiters[i];
        }
    if (self->waiter_count == CW_MOST_CONTEXTS)
        return NULL;
    struct waiter *w = &self->waiters[self->waiter_count];
    *w = (struct waiter){.context = context};
    self->waiter_count += cw_inject_start_thread(serve, w);
    return w < self->waiters + self->waiter_count ? w : NULL;
}

/* Asks the context's thread to wait. *number: of the wait, or 0 if an earlier wait in vain is still running. */
static struct waiter *ask(CUcontext context, uint64_t *number)
{
    pthread_mutex_lock(&self->work);
    struct waiter *w = waiter_of(context);
    *number = !w || (w->in_vain && w->done < w->asked) ? 0 : ++w->asked;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->work);
    return w;
}

static struct timespec from_now(uint64_t ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)(ns / second_ns);
    t.tv_nsec += (long)(ns % second_ns);
    t.tv_sec += t.tv_nsec / (long)second_ns;
    t.tv_nsec %= (long)second_ns;
    return t;
}

/* `patient`: if the wait is in vain, later ones are too until it ends. */
static bool wait_until(struct waiter *w, uint64_t number, const struct timespec *until, bool patient)
{
    pthread_mutex_lock(&self->work);
    for (int waited = 0; w->done < number && waited != ETIMEDOUT;)
        waited = pthread_cond_clockwait(&self->changed, &self->work, CLOCK_MONOTONIC, until);
    const bool done = w->done >= number, good = done && w->good;
    w->in_vain = patient && !done;
    pthread_mutex_unlock(&self->work);
    return good;
}

static bool wait_alone(CUcontext context, uint64_t patience_ns, bool patient)
{
    const struct timespec until = from_now(patience_ns);
    uint64_t number;
    struct waiter *w = ask(context, &number);
    return number && wait_until(w, number, &until, patient);
}

bool cw_idle_wait_alone(CUcontext context, uint64_t patience_ns)
{
    return wait_alone(context, patience_ns, true);
}

bool cw_idle_soon(CUcontext context, uint64_t patience_ns)
{
    return wait_alone(context, patience_ns, false);
}

/* Waits for the thread's answer. Our threads never take the library's lock, which the caller may hold. */
static bool wait_for(CUcontext context, uint64_t patience_ns)
{
    const struct timespec until = from_now(patience_ns);
    uint64_t number;
    struct waiter *w = ask(context, &number);
    if (!number)
        return false;
    cw_inject_release();
    const bool good = wait_until(w, number, &until, true);
    cw_inject_acquire();
    return good;
}

bool cw_idle_wait(CUcontext context, uint64_t patience_ns)
{
    return !cw_stream_capture_is_under_way() && wait_for(context, patience_ns);
}

bool cw_idle_wait_before_capture(CUcontext context, uint64_t patience_ns)
{
    return wait_for(context, patience_ns);
}

static bool any_waits(void)
{
    bool any = false;
    for (uint32_t i = 0; i < self->waiter_count; i++)
        any |= self->waiters[i].asked != self->waiters[i].done;
    return any;
}

void cw_idle_forget(CUcontext context)
{
    pthread_mutex_lock(&self->work);
    for (uint32_t i = 0; i < self->waiter_count; i++)
        if (self->waiters[i].context == context && self->waiters[i].asked == self->waiters[i].done)
            self->waiters[i].context = NULL;
    pthread_mutex_unlock(&self->work);
}

bool cw_idle_before_capture(void)
{
    const struct timespec until = from_now(capture_patience_ns);
    pthread_mutex_lock(&self->work);
    const bool waits = any_waits();
    pthread_mutex_unlock(&self->work);
    if (!waits)
        return false;
    cw_inject_release();
    pthread_mutex_lock(&self->work);
    for (int waited = 0; any_waits() && waited != ETIMEDOUT;)
        waited = pthread_cond_clockwait(&self->changed, &self->work, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&self->work);
    cw_inject_acquire();
    return true;
}

/* ---- a watch ---------------------------------------------------------------------------------------------------- */

static void *keep_watch(void *user)
{
    (void)user;
    cw_inject_own_thread();
    pthread_mutex_lock(&self->work);
    for (;;) {
        while (!self->watch.armed)
            pthread_cond_wait(&self->changed, &self->work);
        const uint64_t number = self->watch.number;
        const struct timespec until = self->watch.until;
        bool over = pthread_cond_clockwait(&self->changed, &self->work, CLOCK_MONOTONIC, &until) == ETIMEDOUT;
        if (over && self->watch.armed && self->watch.number == number) {
            self->watch.armed = false;
            self->watch.late = true;
            self->watch.call(self->watch.user); /* with the mutex held, which the end of the watch waits for */
        }
    }
    return NULL;
}

bool cw_idle_can_watch(void)
{
    self->watch.started = self->watch.started || cw_inject_start_thread(keep_watch, NULL);
    return self->watch.started;
}

bool cw_idle_watch(uint64_t limit_ns, void (*late)(void *), void *user)
{
    if (!cw_idle_can_watch())
        return false;
    pthread_mutex_lock(&self->work);
    self->watch.until = from_now(limit_ns);
    self->watch.call = late;
    self->watch.user = user;
    self->watch.late = false;
    self->watch.number++;
    self->watch.armed = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->work);
    return true;
}

bool cw_idle_watch_end(void)
{
    pthread_mutex_lock(&self->work);
    self->watch.armed = false;
    bool late = self->watch.late;
    self->watch.late = false;
    pthread_mutex_unlock(&self->work);
    return late;
}
