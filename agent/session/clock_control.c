#define _GNU_SOURCE
#include "agent/session/clock_control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/common/nvml.h"
#include "base/text.h"

enum { MOST_GPUS = 64, PCI_SIZE = 32 };
enum { NO_GUARD = -2, NO_LIBRARY = -1, NO_PERMISSION = 4 }; /* results: ours, and NVML's */
enum { PATIENCE = 10 };                                     /* seconds for an answer of the guard */
static const unsigned base_clock = 0xffffff01; /* NVML's number for the clock at the thermal design power */

/* ---- the guard -------------------------------------------------------------------------------------------------- */

struct guard {
    struct cw_nvml nvml;
    void *locked[MOST_GPUS];
    unsigned count;
};

static int lock_gpu(struct guard *g, const char *pci)
{
    void *device = NULL;
    const struct cw_nvml *nvml = &g->nvml;
    if (!nvml->nvmlDeviceGetHandleByPciBusId_v2 || !nvml->nvmlDeviceSetGpuLockedClocks ||
        !nvml->nvmlDeviceResetGpuLockedClocks || g->count == MOST_GPUS)
        return NO_LIBRARY;
    const int found = nvml->nvmlDeviceGetHandleByPciBusId_v2(pci, &device),
              result = found ? found : nvml->nvmlDeviceSetGpuLockedClocks(device, base_clock, base_clock);
    if (result == 0)
        g->locked[g->count++] = device;
    return result;
}

/* The agent's terminal, its signals and its files are none of the guard's: it lives until the agent's end closes. */
static void leave_agent(int kept)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
    setsid();
    if (kept)
        close_range(0, (unsigned)kept - 1, 0);
    close_range((unsigned)kept + 1, ~0U, 0);
}

static void run_guard(int socket)
{
    struct guard g = {0};
    char pci[PCI_SIZE];
    ssize_t n;
    leave_agent(socket);
    cw_nvml_load(&g.nvml);
    while ((n = recv(socket, pci, sizeof pci - 1, 0)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        pci[n] = 0;
        const int result = lock_gpu(&g, pci);
        send(socket, &result, sizeof result, MSG_NOSIGNAL);
    }
    for (unsigned i = 0; i < g.count; i++)
        g.nvml.nvmlDeviceResetGpuLockedClocks(g.locked[i]);
    _exit(0);
}

/* ---- the agent -------------------------------------------------------------------------------------------------- */

/* Forks twice: nobody waits for the guard, which may outlive the agent. */
static int begin_guard(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        if (fork() == 0)
            run_guard(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = PATIENCE}, sizeof(struct timeval));
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0)
        close(ends[0]);
    return child < 0 ? -1 : ends[0];
}

static int ask(int socket, const char *pci)
{
    int result;
    ssize_t n = socket < 0 ? -1 : send(socket, pci, strnlen(pci, PCI_SIZE - 1), MSG_NOSIGNAL);
    if (n <= 0)
        return NO_GUARD;
    do
        n = recv(socket, &result, sizeof result, 0);
    while (n < 0 && errno == EINTR);
    return n == sizeof result ? result : NO_GUARD;
}

void cw_clock_control_lock(struct cw_clock_control *c, const char *pci)
{
    if (!c->wanted || !*pci)
        return;
    if (!c->begun)
        c->socket = begin_guard();
    c->begun = true;
    const int result = ask(c->socket, pci);
    if (result && !c->told)
        cw_text_print(stderr, "capture-agent: --clock-control: the clocks of the GPU %s stay as they are: %s\n", pci,
                      result == NO_GUARD        ? "no process could be started that gives them back"
                      : result == NO_LIBRARY    ? "found no management library of the driver that locks them"
                      : result == NO_PERMISSION ? "the management library expects root"
                                                : "the management library refuses it");
    c->told = c->told || result;
}

void cw_clock_control_end(struct cw_clock_control *c)
{
    char none;
    if (c->begun && c->socket >= 0) {
        shutdown(c->socket, SHUT_WR);
        while (recv(c->socket, &none, sizeof none, 0) < 0 && errno == EINTR) /* ends with the guard */
            continue;
        close(c->socket);
    }
    c->begun = false;
}
