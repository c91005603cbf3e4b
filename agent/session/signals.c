#define _GNU_SOURCE
#include "agent/session/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
enum { COUNT = sizeof caught / sizeof *caught };

static void (*size_limit)(int), (*child_ends)(int), (*closed_pipe)(int); /* earlier handlers */
static volatile sig_atomic_t child, end, asked;                          /* asked: signals for an end without a child */
static volatile sig_atomic_t user2_is_ours, user2;
static bool user2_ignored, user2_blocked; /* state for the child */

static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int before = errno;
    if (number == SIGUSR2 && user2_is_ours) {
        user2++;
        return;
    }
    if (child && info->si_code <= 0) /* sent by a process; the kernel sends a terminal's signals to all of its job */
        kill(child, number);
    if (number != SIGUSR1 && number != SIGUSR2) {
        end = 1;
        if (!child && asked++) { /* a second request is urgent */
            signal(number, SIG_DFL);
            raise(number);
        }
    }
    errno = before;
}

void cw_signals_begin(void)
{
    size_limit = signal(SIGXFSZ, SIG_IGN);
    child_ends = signal(SIGCHLD, SIG_DFL);
    closed_pipe = signal(SIGPIPE, SIG_IGN);
}

static bool is_ours(int number)
{
    return number == SIGUSR2 && user2_is_ours;
}

void cw_signals_catch(void)
{
    const struct sigaction passing = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction now;
    for (size_t i = 0; i < COUNT; i++)
        if (sigaction(caught[i], NULL, &now) == 0 && (now.sa_handler != SIG_IGN || is_ours(caught[i])))
            sigaction(caught[i], &passing, NULL);
}

/* Resets signals in the child. Executing a program would reset caught signals, too, but not for a signal that arrives
 * before. */
static void put_back(void)
{
    signal(SIGXFSZ, size_limit);
    signal(SIGCHLD, child_ends);
    signal(SIGPIPE, closed_pipe);
    struct sigaction now;
    for (size_t i = 0; i < COUNT; i++)
        if (sigaction(caught[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            signal(caught[i], is_ours(caught[i]) && user2_ignored ? SIG_IGN : SIG_DFL);
}

static void block(sigset_t *before)
{
    sigset_t all;
    sigemptyset(&all);
    for (size_t i = 0; i < COUNT; i++)
        sigaddset(&all, caught[i]);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

pid_t cw_signals_fork(void)
{
    sigset_t before;
    cw_signals_catch();
    block(&before);
    pid_t forked = fork();
    if (forked == 0) {
        put_back();
        if (user2_blocked)
            sigaddset(&before, SIGUSR2);
    } else if (forked > 0) {
        child = forked;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return forked;
}

bool cw_signals_thread(pthread_t *thread, void *(*run)(void *), void *user)
{
    sigset_t before;
    block(&before);
    bool started = pthread_create(thread, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void cw_signals_keep(void)
{
    child = 0;
}

bool cw_signals_end(void)
{
    return end;
}

bool cw_signals_end_alone(void)
{
    return asked;
}

void cw_signals_keep_user2(void)
{
    struct sigaction now;
    sigset_t only, before;
    sigemptyset(&only);
    sigaddset(&only, SIGUSR2);
    user2_ignored = sigaction(SIGUSR2, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
    user2_blocked = pthread_sigmask(SIG_UNBLOCK, &only, &before) == 0 && sigismember(&before, SIGUSR2) == 1;
    user2_is_ours = 1;
}

unsigned cw_signals_user2(void)
{
    return (unsigned)user2;
}

void cw_signals_ignore(void)
{
    for (size_t i = 0; i < COUNT; i++)
        signal(caught[i], SIG_IGN);
}
