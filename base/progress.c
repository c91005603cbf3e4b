#define _GNU_SOURCE
#include "base/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/text.h"

enum { FIRST_MS = 1000, EVERY_MS = 250, FIRST_SHARED_MS = 2000, EVERY_SHARED_MS = 10000 };

/* ---- times and texts -------------------------------------------------------------------------------------------- */

void cw_progress_start(struct cw_progress *p, bool shared, uint64_t now_ms)
{
    *p = (struct cw_progress){.shared = shared,
                              .began_ms = now_ms,
                              .step_ms = now_ms,
                              .next_ms = now_ms + (shared ? FIRST_SHARED_MS : FIRST_MS)};
}

void cw_progress_step(struct cw_progress *p, uint64_t done, uint64_t total, uint64_t now_ms)
{
    if (done != p->done)
        p->step_ms = now_ms;
    p->done = done;
    p->total = total;
}

/* "95 s", "12 min". Returns `text`. */
static const char *put_time(uint64_t ms, char text[32])
{
    const bool long_time = ms >= 120000;
    snprintf(text, 32, long_time ? "%" PRIu64 " min" : "%" PRIu64 " s", ms / (long_time ? 60000 : 1000));
    return text;
}

size_t cw_progress_text(struct cw_progress *p, uint64_t now_ms, char *text, size_t size)
{
    char since[32], until[32];
    if (now_ms < p->next_ms)
        return 0;
    p->next_ms = now_ms + (p->shared ? EVERY_SHARED_MS : EVERY_MS);
    const bool known = p->done && p->done < p->total;
    const double whole = known ? (double)(p->step_ms - p->began_ms) / (double)p->done * (double)p->total : 0;
    const double left = whole - (double)(now_ms - p->began_ms);
    const bool told = known && left >= 1000 && left < 1e15;
    return cw_text_format(text, size < CW_PROGRESS_SIZE ? size : CW_PROGRESS_SIZE, "%s: %s, %s%s%s%s",
                          program_invocation_short_name, p->what, put_time(now_ms - p->began_ms, since),
                          told ? ", about " : "", told ? put_time((uint64_t)left, until) : "", told ? " left" : "");
}

/* ---- the terminal ----------------------------------------------------------------------------------------------- */

static struct {
    pthread_t thread;
    bool on;         /* the thread runs */
    unsigned within; /* number of nested pieces of work */
    /* shared by both threads, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t ends;
    bool over, drawn; /* drawn: the line is on the terminal */
    struct cw_progress work;
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER, .ends = PTHREAD_COND_INITIALIZER};

static void print(const char *before, const char *text, const char *after)
{
    char line[CW_PROGRESS_SIZE + 16];
    const int size = snprintf(line, sizeof line, "%s%s%s", before, text, after);
    (void)!write(STDERR_FILENO, line, (size_t)size);
}

/* A job in the background must not draw. A line that the terminal would wrap could not be rewritten. */
static void draw(void)
{
    char text[CW_PROGRESS_SIZE];
    const unsigned width = cw_text_width(STDERR_FILENO);
    if (tcgetpgrp(STDERR_FILENO) != getpgrp() || !cw_progress_text(&shown.work, cw_now_ms(), text,
                                                                   shown.work.shared ? sizeof text
                                                                   : width           ? width
                                                                                     : 80))
        return;
    if (shown.work.shared)
        print("", text, "\n");
    else
        print("\r", text, "\x1b[K");
    shown.drawn = !shown.work.shared;
}

static void *print_until_over(void *user)
{
    pthread_mutex_lock(&shown.lock);
    while (!shown.over) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += EVERY_MS * 1000000L;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&shown.ends, &shown.lock, &t) == ETIMEDOUT)
            draw();
    }
    pthread_mutex_unlock(&shown.lock);
    return user;
}

static bool is_seen(bool shared)
{
    struct stat st;
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && (shared || ((fstat(STDOUT_FILENO, &st) != 0 || !S_ISFIFO(st.st_mode)) &&
                                                !(term && strcmp(term, "dumb") == 0)));
}

/* ---- work ------------------------------------------------------------------------------------------------------- */

void cw_progress_begin(bool quiet, bool shared, const char *format, ...)
{
    va_list args;
    sigset_t all, before;
    shown.within += shown.on;
    if (quiet || shown.on || !is_seen(shared))
        return;
    shown.over = shown.drawn = false;
    cw_progress_start(&shown.work, shared, cw_now_ms());
    va_start(args, format);
    cw_text_vformat(shown.work.what, sizeof shown.work.what, format, args);
    va_end(args);
    sigfillset(&all); /* signals go to the thread that works */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    shown.on = pthread_create(&shown.thread, NULL, print_until_over, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cw_progress_tell(uint64_t done, uint64_t total, const char *format, ...)
{
    va_list args;
    if (!shown.on)
        return;
    pthread_mutex_lock(&shown.lock);
    cw_progress_step(&shown.work, done, total, cw_now_ms());
    va_start(args, format);
    cw_text_vformat(shown.work.what, sizeof shown.work.what, format, args);
    va_end(args);
    pthread_mutex_unlock(&shown.lock);
}

void cw_progress_at(uint64_t done, uint64_t total)
{
    if (!shown.on || shown.within)
        return;
    pthread_mutex_lock(&shown.lock);
    cw_progress_step(&shown.work, done, total, cw_now_ms());
    pthread_mutex_unlock(&shown.lock);
}

void cw_progress_clear(void)
{
    if (!shown.on)
        return;
    pthread_mutex_lock(&shown.lock);
    if (shown.drawn)
        print("\r", "", "\x1b[K");
    shown.drawn = false;
    pthread_mutex_unlock(&shown.lock);
}

void cw_progress_end(void)
{
    if (!shown.on)
        return;
    if (shown.within) {
        shown.within--;
        return;
    }
    pthread_mutex_lock(&shown.lock);
    shown.over = true;
    pthread_cond_signal(&shown.ends);
    pthread_mutex_unlock(&shown.lock);
    pthread_join(shown.thread, NULL);
    cw_progress_clear();
    shown.on = false;
}
