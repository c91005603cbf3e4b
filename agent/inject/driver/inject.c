#define _GNU_SOURCE
#include "agent/inject/driver/inject.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/driver/say.h"
#include "agent/inject/driver/wire.h"

/* Makes a page that a fork wipes. Each launch checks the process twice, and in virtual machines a system call may take
 * as long as all other work for a launch. */
static void begin_own(void)
{
    void *page = mmap(NULL, sizeof *cw_inject->is_own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, sizeof *cw_inject->is_own, MADV_WIPEONFORK) == 0)
        cw_inject->is_own = page;
    else
        munmap(page, sizeof *cw_inject->is_own);
}

/* Whether this is the original process: false in a forked child, even if no fork handler ran. */
static bool is_own_process(void)
{
    atomic_bool *known = cw_inject->is_own;
    if (known && atomic_load_explicit(known, memory_order_relaxed))
        return true;
    bool own = cw_inject->process == getpid();
    if (own && known)
        atomic_store_explicit(known, true, memory_order_relaxed);
    return own;
}

void cw_inject_begin(void)
{
    cw_inject->process = getpid();
    begin_own();
    cw_inject_begin_clock();
}

void cw_inject_renew(void)
{
    if (cw_inject->is_own)
        *cw_inject->is_own = false;
    cw_own_calls.thread = 0;
    cw_inject->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    cw_inject->left = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

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

bool cw_inject_enter(void)
{
    if (cw_own_calls.inside || !is_own_process())
        return false;
    cw_own_calls.inside = true;
    atomic_signal_fence(memory_order_seq_cst);
    cw_thread_enter(&cw_own_calls.outside);
    return true;
}

/* Restores the thread's state last: a signal handler may enter as soon as the thread is outside. */
void cw_inject_leave(void)
{
    const struct cw_thread before = cw_own_calls.outside;
    atomic_signal_fence(memory_order_seq_cst);
    cw_own_calls.inside = false;
    cw_thread_leave(&before);
}

void cw_inject_acquire(void)
{
    pthread_mutex_lock(&cw_inject->lock);
}

void cw_inject_release(void)
{
    pthread_cond_broadcast(&cw_inject->left);
    pthread_mutex_unlock(&cw_inject->lock);
}

bool cw_inject_lock(void)
{
    bool entered = cw_inject_enter();
    if (entered)
        cw_inject_acquire();
    return entered;
}

void cw_inject_unlock(void)
{
    cw_inject_release();
    cw_inject_leave();
}

uint64_t cw_inject_thread(void)
{
    if (!cw_own_calls.thread)
        cw_own_calls.thread = (uint64_t)gettid();
    return cw_own_calls.thread;
}

void cw_inject_wait(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    pthread_cond_clockwait(&cw_inject->left, &cw_inject->lock, CLOCK_MONOTONIC, &until);
}

void cw_inject_sleep(uint64_t ns)
{
    const struct timespec duration = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&duration, NULL);
}

void cw_inject_pause(uint64_t ns)
{
    cw_inject_release();
    cw_inject_sleep(ns);
    pthread_mutex_lock(&cw_inject->lock);
}

/* ---- threads of our own ------------------------------------------------------------------------------------------ */

void cw_inject_own_thread(void)
{
    cw_own_calls.inside = true;
}

struct start {
    void *(*run)(void *);
    void *user;
    sem_t begun;
};

static void *begin_thread(void *start)
{
    struct start *s = start;
    void *(*const run)(void *) = s->run, *const user = s->user;
    sem_post(&s->begun);
    return run(user);
}

/* Waits until the thread runs, which takes no lock: the C library ends a program that forbids system calls to all its
 * threads while one of them begins. */
bool cw_inject_start_thread(void *(*run)(void *), void *user)
{
    pthread_t new;
    sigset_t all, before;
    struct start start = {.run = run, .user = user};
    sem_init(&start.begun, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&new, NULL, begin_thread, &start) == 0;
    while (started && sem_wait(&start.begun) != 0)
        ;
    sem_destroy(&start.begun);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(new);
    else if (!atomic_exchange(&cw_inject->no_thread, true))
        cw_say("the program can have no more threads: the capture lacks work that needs one");
    return started;
}

/* ---- messages to the agent -------------------------------------------------------------------------------------- */

void cw_inject_say_contexts(void)
{
    if (!atomic_exchange(&cw_inject->beyond_contexts, true))
        cw_say("found more than %d contexts at a time: launches of further ones are not captured", CW_MOST_CONTEXTS);
}

void cw_inject_fail(enum cw_status status, const char *format, ...)
{
    struct cw_writer out;
    va_list args;
    va_start(args, format);
    cw_message_write_failure(&out, status, format, args);
    va_end(args);
    if (out.status == CW_OK)
        cw_wire_send(CW_MESSAGE_FAIL, &out, -1);
    cw_writer_free(&out);
    cw_inject->over = true;
}

bool cw_inject_good(CUptiResult result, const char *call)
{
    if (result == CUPTI_SUCCESS)
        return true;
    char text[600];
    enum cw_status status = cw_cupti_explain(&cw_inject->api, result, call, text, sizeof text);
    cw_inject_fail(status, "%s", text);
    return false;
}

static bool send_and_free(enum cw_message_type type, struct cw_writer *out, int memory)
{
    bool sent = out->status == CW_OK && cw_wire_send(type, out, memory);
    if (out->status != CW_OK)
        cw_inject_fail_memory();
    if (!sent)
        cw_inject->over = true;
    cw_writer_free(out);
    return sent;
}

bool cw_inject_send(enum cw_message_type type, struct cw_writer *out)
{
    return send_and_free(type, out, -1);
}

uint64_t cw_inject_hand_over(enum cw_message_type type, struct cw_writer *out, int memory)
{
    return send_and_free(type, out, memory) ? ++cw_inject->handed_over : 0;
}

bool cw_inject_wait_taken(uint64_t number)
{
    bool read = cw_wire_wait_taken(number);
    if (!read)
        cw_inject->over = true;
    return read;
}
