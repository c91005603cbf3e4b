#define _GNU_SOURCE
#include "agent/inject/modes/trace_queue.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/now.h"

struct cw_trace_message {
    struct cw_trace_message *next;
    struct cw_writer out;
};

#define self cw_trace_queue

static const size_t most_bytes = 12 << 20;
static const uint64_t most_credit_ns = 100000000, share = 20, look_ns = 100000000;
/* Waits of microseconds take much longer than requested. */
static const uint64_t least_wait_ns = 10000000;

static void wait_until(uint64_t ns)
{
    const struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    pthread_cond_clockwait(&self->changed, &self->lock, CLOCK_MONOTONIC, &until);
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

/* Sends the first message without the lock. Sends one message at a time, because texts come before the rows that refer
 * to them. */
static void send_first(void)
{
    struct cw_trace_message *m = self->first;
    const size_t size = m->out.capacity;
    self->first = m->next;
    self->last = self->first ? self->last : NULL;
    self->sending = true;
    pthread_mutex_unlock(&self->lock);
    if (cw_inject->over)
        cw_writer_free(&m->out);
    else
        cw_inject_send(CW_MESSAGE_TRACE, &m->out);
    free(m);
    pthread_mutex_lock(&self->lock);
    self->sending = false;
    self->bytes -= size;
    self->sent++;
    pthread_cond_broadcast(&self->changed);
}

static void *run(void *user)
{
    (void)user;
    cw_inject_own_thread();
    prctl(PR_SET_NAME, "counterworks");
    pthread_mutex_lock(&self->lock);
    while (!(self->ends || cw_inject->over) || self->first)
        if (self->first && !self->sending)
            send_first();
        else
            wait_until(cw_now_ns() + look_ns);
    self->running = false;
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

bool cw_trace_queue_begin(void)
{
    pthread_mutex_lock(&self->lock);
    self->running = true;
    self->credit_ns = most_credit_ns;
    self->counted_ns = cw_now_ns();
    pthread_mutex_unlock(&self->lock);
    const bool started = cw_inject_start_thread(run, NULL);
    self->running = self->running && started;
    return started;
}

void cw_trace_queue_drain(void)
{
    const uint64_t all = self->put;
    while (self->sent < all)
        if (self->first && !self->sending)
            send_first();
        else
            wait_until(cw_now_ns() + look_ns);
}

/* ---- room ------------------------------------------------------------------------------------------------------- */

bool cw_trace_queue_has_room(void)
{
    return self->bytes < most_bytes;
}

bool cw_trace_queue_make_room(void)
{
    const uint64_t start = cw_now_ns(), more = (start - self->counted_ns) / share;
    if (cw_trace_queue_has_room())
        return true;
    self->credit_ns = self->credit_ns + more < most_credit_ns ? self->credit_ns + more : most_credit_ns;
    self->counted_ns = start;
    const uint64_t until = start + self->credit_ns;
    if (self->credit_ns < least_wait_ns)
        return false;
    uint64_t now = start;
    self->waiting++;
    for (; !cw_trace_queue_has_room() && now < until && !cw_inject->over; now = cw_now_ns())
        wait_until(until);
    self->waiting--;
    const uint64_t spent = now - start;
    self->credit_ns = self->credit_ns > spent ? self->credit_ns - spent : 0;
    return cw_trace_queue_has_room();
}

void cw_trace_queue_put(const struct cw_writer *out)
{
    struct cw_trace_message *m = malloc(sizeof *m);
    if (!m) {
        cw_inject_fail_memory();
        return;
    }
    *m = (struct cw_trace_message){.out = *out};
    if (self->last)
        self->last->next = m;
    else
        self->first = m;
    self->last = m;
    self->bytes += out->capacity;
    self->put++;
    pthread_cond_broadcast(&self->changed);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

void cw_trace_queue_end(void)
{
    self->ends = true;
    pthread_cond_broadcast(&self->changed);
}

bool cw_trace_queue_ended(void)
{
    return !self->running && !self->sending && !self->waiting;
}

void cw_trace_queue_reset(void)
{
    while (self->first) {
        struct cw_trace_message *m = self->first;
        self->first = m->next;
        cw_writer_free(&m->out);
        free(m);
    }
    self->last = NULL;
    self->bytes = self->put = self->sent = 0;
    self->ends = self->sending = false;
}
