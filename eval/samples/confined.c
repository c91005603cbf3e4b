#define _GNU_SOURCE
#include "eval/samples/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/now.h"

const bool cw_confined_limits_memory = !CW_ADDRESS_SANITIZED;

enum { SLOWER = CW_ADDRESS_SANITIZED ? 4 : 1, PIECE = 1 << 16 };
/* Beside its processor time a child may wait so long, on a busy machine. */
enum { IDLE_MS = 60000 };

/* ---- the child -------------------------------------------------------------------------------------------------- */

/* The bytes that the process has mapped; 0 unknown. */
static size_t mapped(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    bool found = file && fscanf(file, "%lu", &pages) == 1;
    if (file)
        fclose(file);
    return found ? pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static bool limit_memory(size_t bytes)
{
    size_t own = cw_confined_limits_memory ? mapped() : 0;
    const struct rlimit limit = {own + bytes, own + bytes};
    return !cw_confined_limits_memory || (own && setrlimit(RLIMIT_AS, &limit) == 0);
}

static bool limit_time(uint32_t milliseconds)
{
    const uint64_t us = (uint64_t)milliseconds * 1000 * SLOWER;
    const struct itimerval timer = {.it_value = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)}};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    signal(SIGPROF, SIG_DFL); /* ends the process */
    return sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 && setitimer(ITIMER_PROF, &timer, NULL) == 0;
}

/* Drops messages of libraries about the input; messages of sanitizers stay. */
static bool be_quiet(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 &&
           (CW_ADDRESS_SANITIZED || dup2(nowhere, STDERR_FILENO) >= 0);
}

static void run_child(size_t memory, uint32_t ms, cw_confined_work *work, void *context, int to)
{
    static const struct rlimit no_core = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool good = be_quiet() && setrlimit(RLIMIT_CORE, &no_core) == 0 && limit_memory(memory) && limit_time(ms);
    if (good)
        work(context, to);
    _exit(!good);
}

void cw_confined_send(struct cw_writer *written, int to)
{
    if (written->status != CW_OK || !cw_file_put(to, written->data, written->size))
        _exit(1);
    written->size = 0;
}

/* ---- the parent ------------------------------------------------------------------------------------------------- */

/* False if nothing comes until then. */
static bool wait_for(int from, uint64_t until_ms)
{
    struct pollfd poll_from = {.fd = from, .events = POLLIN};
    int ready;
    do {
        const uint64_t now = cw_now_ms(), left = until_ms > now ? until_ms - now : 0;
        ready = poll(&poll_from, 1, left < INT_MAX ? (int)left : INT_MAX);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

/* False if there are more bytes than allowed, or the time is over. */
static bool receive(int from, size_t most, uint64_t until_ms, struct cw_writer *out)
{
    uint8_t piece[PIECE];
    ssize_t n;
    size_t before = out->size;
    while (wait_for(from, until_ms)) {
        n = read(from, piece, sizeof piece);
        if (n == 0)
            return true;
        if (n > 0 && (size_t)n <= most - (out->size - before))
            cw_write_bytes(out, piece, (size_t)n);
        else if (n > 0 || errno != EINTR)
            return false;
    }
    return false;
}

static uint32_t time_of(const struct rusage *used)
{
    return (uint32_t)((used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000 +
                      (used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000) /
           SLOWER;
}

static enum cw_status follow(size_t memory, uint32_t *ms, pid_t child, int from, struct cw_writer *out)
{
    int how = 0;
    struct rusage used = {0};
    bool good = receive(from, memory, cw_now_ms() + IDLE_MS + 2 * (uint64_t)*ms * SLOWER, out);
    if (!good)
        kill(child, SIGKILL);
    pid_t ended;
    while ((ended = wait4(child, &how, 0, &used)) < 0 && errno == EINTR)
        continue;
    uint32_t spent = time_of(&used);
    *ms -= spent < *ms ? spent : *ms;
    return good && ended == child && WIFEXITED(how) && WEXITSTATUS(how) == 0 ? CW_OK : CW_ERR_UNSUPPORTED;
}

enum cw_status cw_confined_run(size_t memory, uint32_t *milliseconds, cw_confined_work *work, void *context,
                               struct cw_writer *out)
{
    int ends[2];
    if (!*milliseconds || pipe2(ends, O_CLOEXEC) != 0)
        return CW_ERR_UNSUPPORTED;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(memory, *milliseconds, work, context, ends[1]);
    }
    close(ends[1]);
    enum cw_status status = child > 0 ? follow(memory, milliseconds, child, ends[0], out) : CW_ERR_UNSUPPORTED;
    close(ends[0]);
    return status;
}
