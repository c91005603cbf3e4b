#define _GNU_SOURCE
#include "agent/backend/cupti/availability.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMS(type, variable)                                                                                         \
    type variable;                                                                                                     \
    memset(&variable, 0, sizeof variable);                                                                             \
    variable.structSize = type##_STRUCT_SIZE

void cw_availability_load(struct cw_availability *a, void *cupti_library)
{
#define X(name) *(void **)&a->name = dlsym(cupti_library, #name);
    CW_AVAILABILITY_FUNCTIONS(X)
#undef X
}

static bool can_ask(const struct cw_availability *a)
{
    bool all = true;
#define X(name) all = all && a->name;
    CW_AVAILABILITY_FUNCTIONS(X)
#undef X
    return all;
}

void cw_availability_ask(struct cw_availability *a, uint32_t device, const char *chip)
{
    PARAMS(CUpti_PmSampling_GetCounterAvailability_Params, p);
    p.deviceIndex = device;
    a->chip = chip;
    a->image = NULL;
    if (!can_ask(a) || a->cuptiPmSamplingGetCounterAvailability(&p) != CUPTI_SUCCESS || !p.counterAvailabilityImageSize)
        return;
    a->image = p.pCounterAvailabilityImage = calloc(p.counterAvailabilityImageSize, 1);
    if (a->image && a->cuptiPmSamplingGetCounterAvailability(&p) != CUPTI_SUCCESS)
        cw_availability_free(a);
}

void cw_availability_free(struct cw_availability *a)
{
    free(a->image);
    a->image = NULL;
}

/* Opens a host object; NULL if CUPTI refuses. `image`: availability of the GPU; NULL: of its chip. */
static CUpti_Profiler_Host_Object *open_host(const struct cw_availability *a, CUpti_ProfilerType type,
                                             const uint8_t *image)
{
    PARAMS(CUpti_Profiler_Host_Initialize_Params, p);
    p.profilerType = type;
    p.pChipName = a->chip;
    p.pCounterAvailabilityImage = image;
    return a->cuptiProfilerHostInitialize(&p) == CUPTI_SUCCESS ? p.pHostObject : NULL;
}

static void close_host(const struct cw_availability *a, CUpti_Profiler_Host_Object *host)
{
    PARAMS(CUpti_Profiler_Host_Deinitialize_Params, p);
    p.pHostObject = host;
    a->cuptiProfilerHostDeinitialize(&p);
}

/* Asks each question with a new object, because an accepted metric stays in it. */
static bool takes(const struct cw_availability *a, CUpti_ProfilerType type, const uint8_t *image, const char *metric)
{
    CUpti_Profiler_Host_Object *host = open_host(a, type, image);
    if (!host)
        return false;
    PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, p);
    p.pHostObject = host;
    p.ppMetricNames = &metric;
    p.numMetrics = 1;
    bool taken = a->cuptiProfilerHostConfigAddMetrics(&p) == CUPTI_SUCCESS;
    close_host(a, host);
    return taken;
}

/* A name that is refused for the chip, too, says nothing about the GPU. */
bool cw_availability_lacks(const struct cw_availability *a, CUpti_ProfilerType type, const char *counter)
{
    char *metric = NULL;
    if (!a->image || asprintf(&metric, "%s.sum", counter) < 0)
        return false;
    bool lacks = !takes(a, type, a->image, metric) && takes(a, type, NULL, metric);
    free(metric);
    return lacks;
}

static bool is_new(char *const *seen, size_t count, const char *unit, int length)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(seen[i], unit, (size_t)length) == 0 && strncmp(seen[i] + length, "__", 2) == 0)
            return false;
    return true;
}

/* Asks about the first counter of each unit, which stands for the unit. */
static void ask_units(const struct cw_availability *a, const char *const *counters, size_t count, char **seen,
                      cw_availability_unit *take, void *user)
{
    size_t units = 0;
    for (size_t i = 0; i < count; i++) {
        const char *end = strstr(counters[i], "__");
        int length = end ? (int)(end - counters[i]) : 0;
        if (!length || memchr(counters[i], '.', (size_t)length) || !is_new(seen, units, counters[i], length) ||
            !(seen[units] = strdup(counters[i])))
            continue;
        units++;
        if (cw_availability_lacks(a, CUPTI_PROFILER_TYPE_RANGE_PROFILER, counters[i]))
            take(user, counters[i], length);
    }
}

void cw_availability_units(const struct cw_availability *a, cw_availability_unit *take, void *user)
{
    CUpti_Profiler_Host_Object *host = a->image ? open_host(a, CUPTI_PROFILER_TYPE_RANGE_PROFILER, NULL) : NULL;
    if (!host)
        return;
    PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params, p);
    p.pHostObject = host;
    p.metricType = CUPTI_METRIC_TYPE_COUNTER;
    char **seen = NULL;
    if (a->cuptiProfilerHostGetBaseMetrics(&p) == CUPTI_SUCCESS && (seen = calloc(p.numMetrics + 1, sizeof *seen)))
        ask_units(a, (const char *const *)p.ppMetricNames, p.numMetrics, seen, take, user);
    for (size_t i = 0; seen && seen[i]; i++)
        free(seen[i]);
    free(seen);
    close_host(a, host);
}
