#define _GNU_SOURCE
#include "agent/backend/sim/sim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LONGEST_LINE = 4096 };

struct listener {
    int fd;
    void (*take)(void *user, const char *line);
    void *user;
    char line[LONGEST_LINE];
    size_t size;
    bool too_long; /* a line exceeded the buffer */
};

static struct cw_clock_log clock_log;

const struct cw_clock_log *cw_sim_clocks(void)
{
    return &clock_log;
}

static bool take_clocks(const char *clocks)
{
    uint32_t sm = 0, memory = 0;
    if (!clocks || sscanf(clocks, "%" SCNu32 " %" SCNu32, &sm, &memory) != 2)
        return false;
    cw_clock_log_pretend(&clock_log, sm, memory);
    return true;
}

static bool gated, profiling; /* gated: captures only while profiling */

void cw_sim_ask_profiler(bool asked)
{
    gated = asked;
    profiling = false;
}

bool cw_sim_is_captured(void)
{
    return !gated || profiling;
}

static void take_line(struct listener *l)
{
    l->line[l->size] = 0;
    l->size = 0;
    const char *profiler = cw_sim_event(l->line, "profiler");
    if (profiler)
        profiling = strcmp(profiler, "start") == 0;
    if (!take_clocks(cw_sim_event(l->line, "clocks")))
        l->take(l->user, l->line);
}

/* Takes some of the arrived data; returns the number of bytes, 0 if none came within `timeout_ms`. */
static size_t listen_to(struct listener *l, int timeout_ms)
{
    struct pollfd one = {.fd = l->fd, .events = POLLIN};
    char bytes[4096];
    if (poll(&one, 1, timeout_ms) <= 0 || !(one.revents & POLLIN))
        return 0;
    ssize_t n = read(l->fd, bytes, sizeof bytes);
    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] == '\n')
            take_line(l);
        else if (l->size + 1 < sizeof l->line)
            l->line[l->size++] = bytes[i];
        else
            l->too_long = true;
    }
    return n > 0 ? (size_t)n : 0;
}

enum cw_status cw_sim_program_run(struct cw_program *program, char *const *argv, uint32_t run,
                                  void (*take)(void *user, const char *line), void *user, struct cw_error *err)
{
    int ends[2];
    char file[64], number[64];
    if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[1], F_SETFD, 0) != 0)
        return cw_error_set(err, CW_ERR_IO, "cannot create a pipe: %s", strerror(errno));
    snprintf(file, sizeof file, "COUNTERWORKS_SIM=/dev/fd/%d", ends[1]);
    snprintf(number, sizeof number, "COUNTERWORKS_SIM_RUN=%" PRIu32, run);
    char *const environment[] = {file, number, NULL};
    enum cw_status status = cw_program_start(program, argv, environment, err);
    close(ends[1]);
    struct listener l = {.fd = ends[0], .take = take, .user = user};
    while (status == CW_OK && !program->over) {
        listen_to(&l, 20);
        cw_program_wait(program, false);
    }
    int left = 0; /* later data may come from children that run on */
    if (status == CW_OK && ioctl(ends[0], FIONREAD, &left) != 0)
        left = 0;
    for (size_t taken = 0, n = 1; n && taken < (size_t)left; taken += n)
        n = listen_to(&l, 0);
    close(ends[0]);
    if (status == CW_OK && l.size &&
        (program->how == CW_END_EXITED || program->how == CW_END_NO_PROGRAM)) /* else it may be half */
        take_line(&l);
    if (status == CW_OK && l.too_long)
        status = cw_error_set(err, CW_ERR_INPUT, "found an event of the program with more than %d bytes, expected less",
                              LONGEST_LINE - 1);
    return status;
}

const char *cw_sim_event(const char *line, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(line, word, n) != 0 || (line[n] && line[n] != ' '))
        return NULL;
    return line + n + (line[n] == ' ');
}

bool cw_sim_domain(char domain[CW_SIM_DOMAIN_SIZE], const char *line)
{
    const char *name = cw_sim_event(line, "domain");
    return name && sscanf(name, "%63s", domain) == 1;
}

char *cw_sim_range_name(const char *domain, const char *name)
{
    char *full;
    return asprintf(&full, "%s%s%s", domain, *domain ? "@" : "", name) < 0 ? NULL : full;
}

bool cw_sim_is_range(const char *full, const char *name)
{
    const size_t size = strlen(full), own = strlen(name);
    return size >= own && strcmp(full + size - own, name) == 0 && (size == own || full[size - own - 1] == '@');
}

bool cw_sim_is_event(const char *line)
{
    static const char *const words[] = {"launch",  "untimed", "lost",     "graph",   "copy",   "memset",   "sync",
                                        "push",    "pop",     "start",    "end",     "mark",   "allocate", "free",
                                        "wait",    "after",   "profiler", "signal",  "thread", "stream",   "device",
                                        "process", "once",    "domain",   "payload", "value",  "nodes",    "flush",
                                        "crash",   "exit",    "odds"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (cw_sim_event(line, words[i]))
            return true;
    return false;
}
