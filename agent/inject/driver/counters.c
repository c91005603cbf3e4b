#define _GNU_SOURCE
#include "agent/inject/driver/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/inject/driver/wire.h"

enum { PCI_SIZE = 32 };

struct gpu {
    char pci[PCI_SIZE];
    off_t place; /* offset of its bytes */
    _Atomic bool held, waits;
    uint64_t first_ns, vain_ns;  /* time of the first attempt to take them; total of waits in vain since */
    uint64_t waited_ns, gave_ns; /* last wait in vain, and last time they were given back */
    uint64_t refused_ns;         /* CUPTI's first refusal since its last success; else 0 */
    uint64_t retry_ns;           /* time of the next attempt */
};
static struct {
    pthread_mutex_t lock; /* of the file, which the watching thread uses without the library's lock */
    struct cw_descriptor file;
    bool opened, watched; /* opened: opening was tried; watched: a thread watches for waiting processes */
    _Atomic uint32_t count;
    struct gpu of[CW_MOST_CONTEXTS];
    void (*wanted)(const char *pci);
} state CW_STATE;
#define self (&state)

static const uint64_t ms = 1000000;
/* courtesy_ns: wait for a process that queued first. */
static const uint64_t patience_ns = 2000 * ms, courtesy_ns = 50 * ms, announced_ns = 4000 * ms, retry_ns = 5000 * ms;
static const uint64_t look_ns = 2 * ms, watch_ns = 5 * ms, refused_ns = 50 * ms;

enum { SHARE = 10 }; /* waits in vain may take one part in SHARE of the time, beside twice the patience */
enum { HELD, WANTED, BYTES };
enum locked { LOCKED, TAKEN, NO_LOCKS };

static void sleep_for(uint64_t ns)
{
    const struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&time, NULL);
}

/* ---- locks ------------------------------------------------------------------------------------------------------ */

static enum locked lock(const struct gpu *g, int byte, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = g->place + byte, .l_len = 1};
    pthread_mutex_lock(&self->lock);
    int fd = cw_descriptor_number(&self->file), failed = fd < 0 ? EBADF : EINTR;
    while (failed == EINTR)
        failed = fcntl(fd, F_SETLK, &range) == 0 ? 0 : errno;
    pthread_mutex_unlock(&self->lock);
    return !failed ? LOCKED : failed == EAGAIN || failed == EACCES ? TAKEN : NO_LOCKS;
}

/* Whether another process has the lock. */
static bool is_locked(const struct gpu *g, int byte)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = g->place + byte, .l_len = 1};
    pthread_mutex_lock(&self->lock);
    int fd = cw_descriptor_number(&self->file);
    bool locked = fd >= 0 && fcntl(fd, F_GETLK, &range) == 0 && range.l_type != F_UNLCK;
    pthread_mutex_unlock(&self->lock);
    return locked;
}

static void say_that_it_waits(struct gpu *g)
{
    g->waits = true;
    lock(g, WANTED, F_RDLCK);
}

static void say_no_more(struct gpu *g)
{
    g->waits = false;
    lock(g, WANTED, F_UNLCK);
}

/* ---- GPUs ------------------------------------------------------------------------------------------------------- */

static struct gpu *find(const char *pci)
{
    unsigned domain, bus, device, function = 0;
    uint32_t count = self->count;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(self->of[i].pci, pci) == 0)
            return &self->of[i];
    if (count == CW_MOST_CONTEXTS || sscanf(pci, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3)
        return NULL;
    uint64_t number = (uint64_t)domain << 16 | (bus & 0xff) << 8 | (device & 0x1f) << 3 | (function & 7);
    struct gpu *g = &self->of[count];
    *g = (struct gpu){.place = (off_t)(number * BYTES)};
    snprintf(g->pci, sizeof g->pci, "%s", pci);
    self->count = count + 1;
    return g;
}

/* ---- waiting processes ------------------------------------------------------------------------------------------ */

static bool is_wanted(const struct gpu *g)
{
    return g->held && is_locked(g, WANTED);
}

bool cw_counters_any_wanted(void)
{
    for (uint32_t i = 0; i < self->count; i++)
        if (is_wanted(&self->of[i]))
            return true;
    return false;
}

/* Whether a process has waited for long. It may never launch again, so others must not give way for nothing. */
static bool waits_for_long(const struct gpu *g)
{
    return g->waits && cw_inject_now_ns() - g->waited_ns > announced_ns;
}

static void look_at(struct gpu *g)
{
    if (!is_wanted(g) && !g->waits)
        return;
    cw_inject_acquire();
    if (!cw_inject->over && waits_for_long(g))
        say_no_more(g);
    if (!cw_inject->over && is_wanted(g))
        self->wanted(g->pci);
    cw_inject_release();
}

/* Watches for waiting processes. The process that has the counters may make no CUDA call for long, perhaps because it
 * waits for the other one. */
static void *watch(void *user)
{
    cw_inject_own_thread();
    for (;;) {
        for (uint32_t i = 0; i < self->count; i++)
            look_at(&self->of[i]);
        sleep_for(watch_ns);
    }
    return user;
}

/* ---- taking and giving ------------------------------------------------------------------------------------------ */

void cw_counters_open(void (*wanted)(const char *pci))
{
    const char *socket = cw_wire_variable(CW_AGENT_SOCKET_VARIABLE), *slash = socket ? strrchr(socket, '/') : NULL;
    char path[256];
    if (self->opened || !slash)
        return;
    self->opened = true;
    self->wanted = wanted;
    pthread_mutex_lock(&self->lock);
    if (snprintf(path, sizeof path, "%.*s/%s", (int)(slash - socket), socket, CW_AGENT_COUNTERS_FILE) <
        (int)sizeof path)
        cw_descriptor_take(&self->file, open(path, O_RDWR | O_CLOEXEC));
    pthread_mutex_unlock(&self->lock);
}

void cw_counters_renew(void)
{
    pthread_mutex_init(&self->lock, NULL);
    self->watched = false;
}

void cw_counters_close(void)
{
    pthread_mutex_lock(&self->lock);
    cw_descriptor_close(&self->file);
    pthread_mutex_unlock(&self->lock);
    self->opened = false;
}

/* Lets a process that began waiting before this one gave way take the counters first. */
static void let_others_first(const struct gpu *g)
{
    uint64_t begin = cw_inject_now_ns();
    if (!g->gave_ns || begin - g->gave_ns > announced_ns)
        return;
    while (is_locked(g, WANTED) && !is_locked(g, HELD) && cw_inject_now_ns() - begin < courtesy_ns)
        sleep_for(look_ns);
}

static uint64_t patience(const struct gpu *g, uint64_t now)
{
    uint64_t most = 2 * patience_ns + (now - g->first_ns) / SHARE;
    uint64_t half = most > g->vain_ns ? (most - g->vain_ns) / 2 : 0;
    return half < look_ns ? 0 : half < patience_ns ? half : patience_ns;
}

static enum locked wait_for(struct gpu *g)
{
    enum locked held;
    uint64_t begin = cw_inject_now_ns(), most = patience(g, begin);
    while ((held = lock(g, HELD, F_WRLCK)) == TAKEN) {
        say_that_it_waits(g);
        if (cw_inject_now_ns() - begin >= most)
            break;
        sleep_for(look_ns);
    }
    if (held == TAKEN)
        g->vain_ns += cw_inject_now_ns() - begin;
    return held;
}

const char *cw_counters_take(const char *pci)
{
    struct gpu *g = find(pci);
    if (!g || g->held)
        return NULL;
    if (cw_inject_now_ns() < g->retry_ns)
        return CW_WHY_ANOTHER_PROFILER;
    g->first_ns = g->first_ns ? g->first_ns : cw_inject_now_ns();
    let_others_first(g);
    enum locked held = wait_for(g);
    self->watched = self->watched || (held != NO_LOCKS && cw_inject_start_thread(watch, NULL));
    if (held == TAKEN) {
        g->waited_ns = cw_inject_now_ns();
        return CW_WHY_ANOTHER_PROCESS;
    }
    say_no_more(g);
    g->held = held == LOCKED;
    return NULL;
}

void cw_counters_give(const char *pci)
{
    struct gpu *g = find(pci);
    if (!g)
        return;
    if (g->held)
        g->gave_ns = cw_inject_now_ns();
    g->held = false;
    lock(g, HELD, F_UNLCK);
}

bool cw_counters_try_again(const char *pci, CUptiResult result, const char **why)
{
    struct gpu *g = find(pci);
    uint64_t now = cw_inject_now_ns();
    bool busy = result == CUPTI_ERROR_HARDWARE_BUSY;
    *why = busy ? CW_WHY_ANOTHER_PROFILER : NULL;
    if (!g)
        return false;
    g->refused_ns = !busy ? 0 : g->refused_ns ? g->refused_ns : now;
    if (busy && now - g->refused_ns < patience_ns) {
        sleep_for(refused_ns);
        return true;
    }
    g->retry_ns = busy ? now + retry_ns : 0;
    return false;
}
