#define _GNU_SOURCE
#include "agent/session/clock_log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"

/* Limit on readings: when it is reached, every second one is dropped and the period doubles. A program of an hour has a
 * reading each second. */
enum { FIRST_PERIOD_MS = 100, MOST_READINGS = 4096 };
enum { OF_GPU = 0 }; /* NVML's number of the temperature sensor */

uint64_t cw_clock_log_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void load(struct cw_clock_log *log)
{
    if (!log->tried)
        cw_nvml_load(&log->nvml);
    log->tried = true;
}

static struct cw_logged_gpu *find(struct cw_clock_log *log, const char *pci)
{
    for (uint32_t i = 0; i < log->gpu_count; i++)
        if (strcmp(log->gpus[i].pci, pci) == 0)
            return &log->gpus[i];
    return NULL;
}

static struct cw_logged_gpu *add(struct cw_clock_log *log, const char *pci)
{
    struct cw_gpu_clock *room = log->gpu_count < CW_MOST_LOGGED_GPUS ? malloc(MOST_READINGS * sizeof *room) : NULL;
    if (!room)
        return NULL;
    struct cw_logged_gpu *gpu = &log->gpus[log->gpu_count++];
    *gpu = (struct cw_logged_gpu){.readings = room};
    snprintf(gpu->pci, sizeof gpu->pci, "%s", pci);
    return gpu;
}

void cw_clock_log_follow(struct cw_clock_log *log, const char *pci)
{
    if (!pci || find(log, pci))
        return;
    add(log, pci);
    cw_clock_control_lock(&log->control, pci);
}

static void thin_out(struct cw_clock_log *log)
{
    for (uint32_t g = 0; g < log->gpu_count; g++) {
        struct cw_logged_gpu *gpu = &log->gpus[g];
        for (uint32_t i = 0; 2 * i < gpu->count; i++)
            gpu->readings[i] = gpu->readings[2 * i];
        gpu->count = (gpu->count + 1) / 2;
    }
    log->period_ms *= 2;
}

static unsigned reading(int (*get)(void *, unsigned *), void *handle)
{
    unsigned value;
    return get && get(handle, &value) == 0 ? value : UINT_MAX;
}

static unsigned clock_of(const struct cw_nvml *nvml, void *handle, unsigned which)
{
    unsigned mhz;
    return nvml->nvmlDeviceGetClockInfo && nvml->nvmlDeviceGetClockInfo(handle, which, &mhz) == 0 ? mhz : 0;
}

/* Each clock by itself, as the library may refuse one: integrated GPUs have no clock of memory. */
static bool read_clocks(struct cw_clock_log *log, struct cw_logged_gpu *gpu, struct cw_gpu_clock *clock)
{
    const struct cw_nvml *nvml = &log->nvml;
    unsigned long long limits;
    if (!gpu->asked)
        gpu->handle = cw_nvml_device(nvml, gpu->pci);
    gpu->asked = true;
    if (!gpu->handle)
        return false;
    if (!nvml->nvmlDeviceGetCurrentClocksThrottleReasons ||
        nvml->nvmlDeviceGetCurrentClocksThrottleReasons(gpu->handle, &limits) != 0)
        limits = UINT64_MAX;
    *clock = (struct cw_gpu_clock){cw_clock_log_now_ns(), clock_of(nvml, gpu->handle, CW_NVML_OF_SM),
                                   clock_of(nvml, gpu->handle, CW_NVML_OF_MEMORY), limits};
    return true;
}

static void read_gpu(struct cw_clock_log *log, struct cw_logged_gpu *gpu)
{
    struct cw_gpu_clock clock;
    if (!read_clocks(log, gpu, &clock) || (!clock.sm_mhz && !clock.memory_mhz))
        return;
    if (clock.limits == UINT64_MAX)
        clock.limits = 0;
    if (gpu->count == MOST_READINGS)
        thin_out(log);
    gpu->readings[gpu->count++] = clock;
}

bool cw_clock_log_environment(struct cw_clock_log *log, const char *pci, struct cw_gpu_environment *e)
{
    struct cw_logged_gpu *gpu = pci ? find(log, pci) : NULL;
    load(log);
    if (!gpu || !read_clocks(log, gpu, &e->clock))
        return false;
    const struct cw_nvml *nvml = &log->nvml;
    if (!nvml->nvmlDeviceGetTemperature || nvml->nvmlDeviceGetTemperature(gpu->handle, OF_GPU, &e->temperature) != 0)
        e->temperature = UINT_MAX;
    e->power = reading(nvml->nvmlDeviceGetPowerUsage, gpu->handle);
    e->power_limit = reading(nvml->nvmlDeviceGetEnforcedPowerLimit, gpu->handle);
    e->fan = reading(nvml->nvmlDeviceGetFanSpeed, gpu->handle);
    e->pcie_generation = reading(nvml->nvmlDeviceGetCurrPcieLinkGeneration, gpu->handle);
    e->pcie_width = reading(nvml->nvmlDeviceGetCurrPcieLinkWidth, gpu->handle);
    bool known = e->clock.sm_mhz || e->clock.memory_mhz || e->clock.limits != UINT64_MAX;
#define X(name) known |= e->name != UINT_MAX;
    CW_GPU_READINGS(X)
#undef X
    return known;
}

void cw_clock_log_look(struct cw_clock_log *log)
{
    uint64_t now = cw_now_ms();
    log->period_ms = log->period_ms ? log->period_ms : FIRST_PERIOD_MS;
    if (!log->gpu_count || now - log->looked_ms < log->period_ms)
        return;
    log->looked_ms = now;
    load(log);
    for (uint32_t i = 0; i < log->gpu_count; i++)
        read_gpu(log, &log->gpus[i]);
}

void cw_clock_log_pretend(struct cw_clock_log *log, uint32_t sm_mhz, uint32_t memory_mhz)
{
    struct cw_logged_gpu *gpu = log->gpu_count ? &log->gpus[0] : add(log, "");
    log->pretended = true;
    if (gpu && gpu->count < MOST_READINGS)
        gpu->readings[gpu->count++] = (struct cw_gpu_clock){cw_clock_log_now_ns(), sm_mhz, memory_mhz, 0};
}

static uint32_t take(const struct cw_gpu_clock *first, const struct cw_gpu_clock *last, struct cw_gpu_clock found[2])
{
    found[0] = *first;
    found[1] = *last;
    return first == last ? 1 : 2;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

uint32_t cw_clock_log_between(const struct cw_clock_log *log, const char *pci, uint64_t from_ns, uint64_t until_ns,
                              struct cw_gpu_clock found[2])
{
    const struct cw_logged_gpu *gpu = find((struct cw_clock_log *)log, log->pretended ? "" : pci);
    const struct cw_gpu_clock *first = NULL, *last = NULL, *near = NULL;
    if (!gpu || !gpu->count)
        return 0;
    if (log->pretended)
        return take(&gpu->readings[0], &gpu->readings[gpu->count - 1], found);
    for (const struct cw_gpu_clock *r = gpu->readings; r < gpu->readings + gpu->count; r++) {
        if (!near || distance(r->wall_ns, until_ns) < distance(near->wall_ns, until_ns))
            near = r;
        if (r->wall_ns < from_ns || r->wall_ns > until_ns)
            continue;
        first = first ? first : r;
        last = r;
    }
    return first ? take(first, last, found) : take(near, near, found);
}

void cw_clock_log_free(struct cw_clock_log *log)
{
    for (uint32_t i = 0; i < log->gpu_count; i++)
        free(log->gpus[i].readings);
    log->gpu_count = 0;
    cw_clock_control_end(&log->control);
}
