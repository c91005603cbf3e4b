/* Waits that end, of threads of our own. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <time.h>

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/stream_capture.h"
#include "tests/support/fake_driver.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const CUcontext context = (CUcontext)0x10, other = (CUcontext)0x20;
static _Thread_local CUcontext current;
static _Atomic bool busy;
static _Atomic int waits, own_threads;

uint64_t cw_inject_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int times_released;

void cw_inject_release(void)
{
    times_released++;
    pthread_mutex_unlock(&lock);
}

void cw_inject_acquire(void)
{
    pthread_mutex_lock(&lock);
}

void cw_inject_own_thread(void)
{
    own_threads++;
}

bool cw_inject_start_thread(void *(*run)(void *), void *user)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, run, user) == 0 && pthread_detach(thread) == 0;
}

uint64_t cw_inject_thread(void)
{
    return 1;
}

void cw_inject_fail(enum cw_status status, const char *format, ...)
{
    (void)status;
    cr_assert(false, "%s", format);
}

static CUresult push(CUcontext to)
{
    current = to;
    return CUDA_SUCCESS;
}

static CUresult pop(CUcontext *from)
{
    *from = current;
    return CUDA_SUCCESS;
}

static CUresult synchronize(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    waits++;
    while (busy && current == context)
        nanosleep(&moment, NULL);
    return CUDA_SUCCESS;
}

static void begin(void)
{
    fake_driver();
    cw_inject->api.cuCtxPushCurrent_v2 = push;
    cw_inject->api.cuCtxPopCurrent_v2 = pop;
    cw_inject->api.cuCtxSynchronize = synchronize;
    pthread_mutex_lock(&lock);
}

Test(idle, a_wait_ends_with_the_work_or_without_it, .timeout = 60)
{
    begin();
    cr_expect(cw_idle_wait(context, 60000000000));
    busy = true;
    cr_expect_eq(times_released, 1, "others go on");
    const uint64_t begin_ns = cw_inject_now_ns();
    cr_expect(!cw_idle_wait(context, 50000000));
    cr_expect_lt(cw_inject_now_ns() - begin_ns, UINT64_C(1000000000), "no longer than it may take");
    cr_expect(cw_idle_wait(other, 60000000000), "another context does not wait for it");
    int before = waits;
    cr_expect(!cw_idle_wait(context, 60000000000), "it is not waited for again");
    cr_expect_eq(waits, before);
    busy = false;
    cw_idle_before_capture();
    cr_expect(cw_idle_wait(context, 60000000000));
    cr_expect_eq(own_threads, 2, "one for each context");
    for (uintptr_t i = 1; i < 200; i++) { /* that come and go */
        cr_expect(cw_idle_wait((CUcontext)(i << 12), 60000000000));
        cw_idle_forget((CUcontext)(i << 12));
    }
    cr_expect_eq(own_threads, 3);
}

Test(idle, a_wait_alone_ends_with_the_work_or_without_it, .timeout = 60)
{
    begin();
    for (int i = 0; i < 3; i++)
        cr_expect(cw_idle_wait_alone(context, 10000000000), "and again, while nobody else went on");
    busy = true;
    cr_expect(!cw_idle_wait_alone(context, 20000000));
    cr_expect(!cw_idle_wait_alone(context, 60000000000), "it is not waited for again");
    cr_expect_eq(times_released, 0, "nobody else went on");
    busy = false;
    cw_idle_before_capture();
    cr_expect(cw_idle_wait_alone(context, 60000000000));
}

static void set(void *flag)
{
    *(_Atomic bool *)flag = true;
}

Test(idle, a_watch_calls_what_ends_a_replay, .timeout = 60)
{
    static _Atomic bool called;
    const struct timespec moment = {.tv_nsec = 1000000};
    begin();
    cr_expect(cw_idle_watch(3600000000000, set, (void *)&called));
    cr_expect(!cw_idle_watch_end());
    cr_expect(!called);
    cr_expect(cw_idle_watch(0, set, (void *)&called));
    while (!called)
        nanosleep(&moment, NULL);
    cr_expect(cw_idle_watch_end());
    cr_expect(!cw_idle_watch_end());
}
