#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include "base/progress.h"

/* What is to be printed at a time, without the program's name; "" for nothing. */
static const char *text_at(struct cw_progress *p, uint64_t now_ms)
{
    static char text[CW_PROGRESS_SIZE];
    const size_t length = cw_progress_text(p, now_ms, text, sizeof text);
    cr_expect_eq(length, length ? strlen(text) : 0);
    const char *colon = length ? strstr(text, ": ") : NULL;
    return colon ? colon + 2 : "";
}

static struct cw_progress work(bool shared, const char *what)
{
    struct cw_progress p;
    cw_progress_start(&p, shared, 5000);
    strcpy(p.what, what);
    return p;
}

Test(progress, a_line_waits_for_a_second_and_is_rewritten_four_times_a_second)
{
    struct cw_progress p = work(false, "writing");
    cr_expect_str_eq(text_at(&p, 5000), "");
    cr_expect_str_eq(text_at(&p, 5999), "", "work that is over soon says nothing");
    cr_expect_str_eq(text_at(&p, 6000), "writing, 1 s");
    cr_expect_str_eq(text_at(&p, 6249), "");
    cr_expect_str_eq(text_at(&p, 6250), "writing, 1 s");
    cr_expect_str_eq(text_at(&p, 124999), "writing, 119 s");
    cr_expect_str_eq(text_at(&p, 125250), "writing, 2 min");
}

Test(progress, whole_lines_are_ten_seconds_apart)
{
    struct cw_progress p = work(true, "capturing");
    cr_expect_str_eq(text_at(&p, 6999), "");
    cr_expect_str_eq(text_at(&p, 7000), "capturing, 2 s");
    cr_expect_str_eq(text_at(&p, 16999), "");
    cr_expect_str_eq(text_at(&p, 17000), "capturing, 12 s");
}

Test(progress, the_time_left_follows_from_the_steps_that_are_done)
{
    struct cw_progress p = work(false, "run 2 of 4");
    cw_progress_step(&p, 0, 4, 5000);
    cr_expect_str_eq(text_at(&p, 10000), "run 2 of 4, 5 s", "nothing is known before the first is done");
    cw_progress_step(&p, 1, 4, 15000); /* 10 s a step: 40 s in all */
    cr_expect_str_eq(text_at(&p, 15000), "run 2 of 4, 10 s, about 30 s left");
    cw_progress_step(&p, 1, 4, 17000); /* no step more */
    cr_expect_str_eq(text_at(&p, 20000), "run 2 of 4, 15 s, about 25 s left");
    cr_expect_str_eq(text_at(&p, 60000), "run 2 of 4, 55 s", "it takes longer than was thought");
    cw_progress_step(&p, 4, 4, 60000);
    cr_expect_str_eq(text_at(&p, 61000), "run 2 of 4, 56 s");
    cw_progress_step(&p, 1, UINT64_MAX, 61000);
    cr_expect_str_eq(text_at(&p, 62000), "run 2 of 4, 57 s", "no time that makes no sense");
}

Test(progress, fits_the_terminal_and_is_escaped)
{
    char text[CW_PROGRESS_SIZE], narrow[12];
    struct cw_progress p = work(false, "writing \x1b[2J\n");
    cw_progress_text(&p, 6000, text, sizeof text);
    cr_expect(strstr(text, "writing \\x1b[2J\\n, 1 s") != NULL, "%s", text);
    cr_expect_eq(cw_progress_text(&p, 7000, narrow, sizeof narrow), sizeof narrow - 1);
    cr_expect_eq(cw_progress_text(&p, 8000, narrow, 0), 0);
}

/* ---- a terminal ------------------------------------------------------------------------------------------------- */

enum { SEVERAL_LOOKS_US = 700000 }; /* of the thread at the clock */

/* The clock, which stands still where the test does not set it: how fast the machine is changes no text. */
static _Atomic int clock_ms;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC)
        return __real_clock_gettime(clock, time);
    const int ms = clock_ms;
    *time = (struct timespec){ms / 1000, ms % 1000 * 1000000L};
    return 0;
}

/* Gives this process a terminal of its own, with it in the foreground. Returns the other end. */
static int open_terminal(void)
{
    int ours, theirs;
    setenv("TERM", "xterm", 1);
    cr_assert(openpty(&ours, &theirs, NULL, NULL, &(struct winsize){.ws_col = 60, .ws_row = 10}) == 0);
    cr_assert(login_tty(theirs) == 0);
    return ours;
}

/* What there is now, and, if need be, what comes until it holds `wanted`. */
static const char *text_until(int fd, const char *wanted)
{
    static char text[4096];
    size_t size = 0;
    struct pollfd one = {.fd = fd, .events = POLLIN};
    *text = 0;
    while (size + 1 < sizeof text && poll(&one, 1, strstr(text, wanted) ? 0 : -1) == 1 && one.revents & POLLIN) {
        ssize_t n = read(fd, text + size, sizeof text - 1 - size);
        if (n <= 0)
            break;
        size += (size_t)n;
        text[size] = 0;
    }
    return text;
}

static const char *text_now(int fd)
{
    return text_until(fd, "");
}

TestSuite(terminal, .timeout = 60);

Test(terminal, the_line_is_removed_in_the_end_and_before_other_text)
{
    static const char removal[] = "\r\x1b[K";
    int terminal = open_terminal();
    cw_progress_begin(false, false, "planning %d metrics", 3);
    clock_ms = 1500;
    text_until(terminal, ": planning 3 metrics, 1 s\x1b[K");
    cw_progress_clear();
    cr_expect_str_eq(text_now(terminal), removal);
    cw_progress_clear();
    cr_expect_str_eq(text_now(terminal), "", "it is not there any more");
    cw_progress_tell(1, 2, "saving");
    clock_ms = 1900;
    text_until(terminal, ": saving, 1 s, about 1 s left\x1b[K");
    cw_progress_end();
    cr_expect_str_eq(text_now(terminal), removal);
    clock_ms = 5000;
    usleep(SEVERAL_LOOKS_US);
    cr_expect_str_eq(text_now(terminal), "", "the thread has ended");
    cw_progress_end();
}

Test(terminal, work_within_other_work_is_that_work)
{
    int terminal = open_terminal();
    cw_progress_begin(false, false, "comparing %d captures", 4);
    cw_progress_at(1, 4);
    cw_progress_begin(false, false, "reading one");
    clock_ms = 500;
    cw_progress_at(2, 1000);
    clock_ms = 1500;
    text_until(terminal, ": comparing 4 captures, 1 s\x1b[K");
    cw_progress_end();
    cw_progress_at(2, 4);
    clock_ms = 1900;
    text_until(terminal, ": comparing 4 captures, 1 s, about 1 s left\x1b[K");
    cw_progress_end();
}

Test(terminal, says_nothing_where_it_is_not_wanted)
{
    int terminal = open_terminal(), ends[2];
    cw_progress_begin(true, false, "quiet");
    clock_ms += 5000;
    usleep(SEVERAL_LOOKS_US);
    cw_progress_end();
    cr_assert(pipe(ends) == 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
    cw_progress_begin(false, false, "before a pager");
    clock_ms += 5000;
    usleep(SEVERAL_LOOKS_US);
    cw_progress_end();
    cr_assert(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    cw_progress_begin(false, true, "into a pipe");
    clock_ms += 5000;
    usleep(SEVERAL_LOOKS_US);
    cw_progress_end();
    cr_expect_str_eq(text_now(terminal), "");
    cr_expect_str_eq(text_now(ends[0]), "");
}
