/* Processes that take turns with a GPU's counters: real ones, and real locks. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/driver/counters.h"
#include "tests/support/child.h"

static const uint64_t second_ns = 1000000000;
static const char gpu[] = "0000:0a:00.0", other_gpu[] = "0000:0b:00.0";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char folder[] = "/tmp/counters_test_XXXXXX", file[64];
static int ready[2], go[2]; /* pipes, from the other process and to it */

/* ---- what counters.c needs of the rest -------------------------------------------------------------------------- */

void cw_inject_acquire(void)
{
    pthread_mutex_lock(&mutex);
}

void cw_inject_release(void)
{
    pthread_mutex_unlock(&mutex);
}

/* The clock, which goes by what the library waits, and not by how fast the machine is: where a wait is to end because
 * the other process has done something it stands still, otherwise a wait takes no time. */
static enum { STANDS, GOES, STANDS_UNTIL_READY } pace;
static _Atomic uint64_t clock_ns = 1;

uint64_t cw_inject_now_ns(void)
{
    return clock_ns;
}

static bool is_ready(void)
{
    return poll(&(struct pollfd){.fd = ready[0], .events = POLLIN}, 1, 0) == 1;
}

int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    if (gettid() != getpid() || pace == STANDS || (pace == STANDS_UNTIL_READY && !is_ready()))
        return __real_nanosleep(time, left);
    clock_ns += (uint64_t)time->tv_sec * second_ns + (uint64_t)time->tv_nsec;
    return 0;
}

void cw_inject_own_thread(void)
{
}

bool cw_inject_start_thread(void *(*run)(void *), void *user)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, run, user) == 0;
}

/* ---- two processes ---------------------------------------------------------------------------------------------- */

static void give_back(const char *pci)
{
    cw_counters_give(pci);
}

static void keep(const char *pci)
{
    (void)pci;
}

static const char *take(const char *pci)
{
    cw_inject_acquire();
    const char *why = cw_counters_take(pci);
    cw_inject_release();
    return why;
}

static uint64_t ms_of(const char *pci, const char **why)
{
    uint64_t begin = cw_inject_now_ns();
    *why = take(pci);
    return (cw_inject_now_ns() - begin) / 1000000;
}

static void make_folder(void)
{
    char socket[64];
    cr_assert(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/%s", folder, CW_AGENT_COUNTERS_FILE);
    snprintf(socket, sizeof socket, "%s/socket", folder);
    setenv(CW_AGENT_SOCKET_VARIABLE, socket, 1);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    cr_assert(pipe(ready) == 0 && pipe(go) == 0);
}

static void remove_folder(void)
{
    unlink(file);
    rmdir(folder);
}

static void tell(int *pipe_ends)
{
    cr_assert(write(pipe_ends[1], "", 1) == 1);
}

static void wait_for(int *pipe_ends)
{
    char byte;
    if (read(pipe_ends[0], &byte, 1) != 1)
        _exit(1);
}

/* A process that has the counters, and does with them what `wanted` says until it is told to go on. */
static pid_t holder(void (*wanted)(const char *pci))
{
    pid_t child = cw_test_fork();
    if (child)
        wait_for(ready);
    if (child)
        return child;
    cw_counters_open(wanted);
    if (take(gpu))
        _exit(2);
    tell(ready);
    wait_for(go);
    _exit(0);
}

static void begin(void (*wanted)(const char *pci), pid_t *child)
{
    make_folder();
    *child = holder(wanted);
    cw_counters_open(keep);
}

static void end(pid_t child)
{
    tell(go);
    waitpid(child, NULL, 0);
    remove_folder();
}

Test(counters, are_given_to_a_process_that_waits, .timeout = 60)
{
    pid_t child;
    begin(give_back, &child);
    cr_expect_null(take(gpu));
    cr_expect_null(take(gpu), "it has them");
    cr_expect_not(cw_counters_any_wanted());
    end(child);
}

Test(counters, are_waited_for_less_and_less, .timeout = 60)
{
    pid_t child;
    const char *why;
    uint64_t all = 0;
    begin(keep, &child);
    pace = GOES;
    cr_expect_eq(ms_of(gpu, &why), 2000);
    cr_expect_str_eq(why, CW_WHY_ANOTHER_PROCESS);
    for (int i = 0; i < 1000; i++)
        all += ms_of(gpu, &why);
    cr_expect_str_eq(why, CW_WHY_ANOTHER_PROCESS);
    cr_expect(all > 0 && all < 4000, "%d ms", (int)all);
    clock_ns += 10 * second_ns;
    cr_expect(ms_of(gpu, &why) > 100, "by then it is worth a wait again");
    cr_expect_eq(ms_of(other_gpu, &why), 0);
    cr_expect_null(why, "another GPU's are free");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    cr_expect_null(take(gpu), "the kernel has taken the lock back");
    remove_folder();
}

/* It may have waited in vain and never launch again. */
Test(counters, are_not_wanted_for_ever, .timeout = 60)
{
    make_folder();
    pid_t child = cw_test_fork();
    if (child == 0) {
        wait_for(go);
        cw_counters_open(keep);
        pace = GOES;
        take(gpu);
        tell(ready);
        wait_for(go);
        clock_ns += 5 * second_ns;
        wait_for(go);
        _exit(0);
    }
    cw_counters_open(keep);
    cr_expect_null(take(gpu));
    tell(go);
    wait_for(ready);
    cr_expect(cw_counters_any_wanted(), "still");
    tell(go);
    while (cw_counters_any_wanted())
        usleep(1000);
    end(child);
}

Test(counters, go_to_one_that_waits_before_they_are_taken_again, .timeout = 60)
{
    int status;
    make_folder();
    pid_t child = cw_test_fork();
    if (child == 0) {
        wait_for(go);
        cw_counters_open(keep);
        const char *why = take(gpu);
        tell(ready);
        wait_for(go);
        _exit(why != NULL);
    }
    cw_counters_open(keep);
    cr_expect_null(take(gpu));
    tell(go);
    while (!cw_counters_any_wanted())
        usleep(1000);
    cw_counters_give(gpu);
    pace = STANDS_UNTIL_READY;
    cr_expect(take(gpu), "the other came first");
    wait_for(ready);
    tell(go);
    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
    remove_folder();
}

Test(counters, need_no_file)
{
    setenv(CW_AGENT_SOCKET_VARIABLE, "/nowhere/socket", 1);
    cw_counters_open(keep);
    cr_expect_null(take(gpu));
    cr_expect_null(take("not an address"));
    cr_expect_not(cw_counters_any_wanted());
    cw_counters_give(gpu);
}

/* Nobody of the capture has them. */
Test(counters, of_another_profiler_are_tried_now_and_then, .timeout = 60)
{
    const char *why;
    setenv(CW_AGENT_SOCKET_VARIABLE, "/nowhere/socket", 1);
    cw_counters_open(keep);
    pace = GOES;
    cr_expect_null(take(gpu));
    int tries = 0;
    while (cw_counters_try_again(gpu, CUPTI_ERROR_HARDWARE_BUSY, &why))
        tries++;
    cr_expect_str_eq(why, CW_WHY_ANOTHER_PROFILER);
    cr_expect_eq(tries, 40, "%d tries", tries);
    cw_counters_give(gpu);
    cr_expect_str_eq(take(gpu), CW_WHY_ANOTHER_PROFILER, "not at every launch");
    clock_ns += 5 * second_ns;
    cr_expect_null(take(gpu));
    cr_expect_not(cw_counters_try_again(gpu, CUPTI_ERROR_HARDWARE_BUSY, &why));
    cr_expect_str_eq(why, CW_WHY_ANOTHER_PROFILER, "without another wait");
    cw_counters_give(gpu);
    clock_ns += 5 * second_ns;
    cr_expect_null(take(gpu));
    cr_expect_not(cw_counters_try_again(gpu, CUPTI_SUCCESS, &why));
    cr_expect_null(why);
}
