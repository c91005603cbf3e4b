#include "eval/output/pm_lanes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "eval/output/terminal.h"

enum { KERNEL_COLUMNS = 80, LAUNCH_NOTES = 3 };

struct adding {
    const struct cw_result *result;
    const struct cw_pm_data *pm;
    struct cw_lane_places *places;
    const char **names; /* of launches, short; NULL before */
    struct cw_lane_note notes[LAUNCH_NOTES];
};

/* A metric of a device. */
struct series {
    const struct cw_pm_data *pm;
    const uint32_t *samples; /* in the order of time */
    const double *values;
    const int8_t *statuses;
    uint32_t lane;
};

static uint64_t sample_time(const void *context, uint32_t i)
{
    const struct series *s = context;
    return s->pm->start_ns[s->samples[i]];
}

static void sample_event(void *context, uint32_t i, struct cw_lane_event *e)
{
    const struct series *s = context;
    const uint32_t sample = s->samples[i];
    const bool known = s->statuses[sample] == CW_VALUE_OK && isfinite(s->values[sample]);
    *e = (struct cw_lane_event){
        .lane = known ? s->lane : CW_NO_LANE, .time = s->pm->start_ns[sample], .value = s->values[sample]};
}

/* The samples of a device, which are in the order of time. NULL when out of memory. */
static const uint32_t *list_samples(const struct adding *a, uint32_t device, uint32_t *count)
{
    uint32_t *list = cw_arena_alloc(a->places->arena, a->pm->sample_count, sizeof *list);
    *count = 0;
    for (uint32_t b = 0; list && b < a->pm->block_count; b++)
        for (uint32_t i = 0; a->pm->blocks[b].device == device && i < a->pm->blocks[b].count; i++)
            list[(*count)++] = a->pm->blocks[b].first + i;
    return list;
}

/* Counters of a device belong to no process, but viewers want one: the first. */
static bool add_metrics(struct adding *a, uint32_t device)
{
    const struct cw_result *r = a->result;
    uint32_t count;
    const uint32_t *samples = list_samples(a, device, &count);
    for (uint32_t m = 0; samples && count && m < r->metric_count; m++) {
        struct series *s = cw_arena_alloc(a->places->arena, 1, sizeof *s);
        char unit[CW_UNIT_SIZE];
        const char *shown = cw_arena_strdup(a->places->arena, cw_unit_text(r->units[m], unit));
        if (!s || !shown)
            return false;
        const struct cw_key key = {{0, device, CW_PLACE_METRIC, m}};
        *s = (struct series){.pm = a->pm,
                             .samples = samples,
                             .values = r->values + (size_t)m * r->row_count,
                             .statuses = r->statuses + (size_t)m * r->row_count};
        s->lane = cw_lane_place(a->places, &key,
                                &(struct cw_lane){.kind = CW_LANE_COUNTER, .name = r->names[m], .unit = shown}, NULL);
        cw_lanes_source(a->places->lanes, count, s, sample_time, sample_event);
    }
    return samples;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static uint64_t launch_time(const void *context, uint32_t i)
{
    return ((const struct adding *)context)->pm->launches[i].start_ns;
}

/* `detail`: the end of the name of a new lane. */
static uint32_t launch_lane(struct adding *a, const struct cw_kernel_launch *launch, const char *detail)
{
    const struct cw_trace *trace = a->places->timeline->trace;
    const struct cw_counter_data *data = a->result->data;
    uint32_t process = 0, device;
    if (!cw_device_find(data->devices, data->device_count, launch->device, &device)) /* it was not sampled */
        device = CW_NO_TRACE_DEVICE;
    while (process + 1 < trace->process_count && trace->processes[process].pid != launch->process)
        process++;
    const struct cw_key key = {{process, device, CW_PLACE_LAUNCHES, launch->stream ^ launch->context << 32}};
    return cw_lane_place(a->places, &key, &(struct cw_lane){.kind = CW_LANE_EVENTS, .flat = true, .name = "stream"},
                         detail);
}

static const char *launch_name(struct adding *a, uint32_t name)
{
    char line[CW_SHORT_SIZE];
    if (!a->names[name])
        a->names[name] = cw_arena_strdup(a->places->arena, cw_shorten(a->pm->names[name], KERNEL_COLUMNS, line));
    a->places->nomem = a->places->nomem || !a->names[name];
    return a->names[name] ? a->names[name] : "";
}

static void launch_event(void *context, uint32_t i, struct cw_lane_event *e)
{
    struct adding *a = context;
    const struct cw_kernel_launch *launch = &a->pm->launches[i];
    const char *name = launch_name(a, launch->name), *whole = a->pm->names[launch->name];
    a->notes[0] = (struct cw_lane_note){"device", CW_NOTE_NUMBER, {.number = launch->device}};
    a->notes[1] = (struct cw_lane_note){"context", CW_NOTE_NUMBER, {.number = launch->context}};
    a->notes[2] = (struct cw_lane_note){"stream", CW_NOTE_NUMBER, {.number = launch->stream}};
    *e = (struct cw_lane_event){.lane = launch_lane(a, launch, NULL),
                                .time = launch->start_ns,
                                .end = launch->end_ns,
                                .category = "kernel",
                                .name = name,
                                .whole = strcmp(name, whole) != 0 ? whole : NULL,
                                .note_count = LAUNCH_NOTES,
                                .notes = a->notes};
}

static int by_start(const void *left, const void *right)
{
    const struct cw_kernel_launch *a = left, *b = right;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bool add_launches(struct adding *a)
{
    const uint32_t count = a->pm->launch_count;
    a->names = cw_arena_alloc(a->places->arena, a->pm->name_count, sizeof *a->names);
    if (!a->names)
        return false;
    if (count)
        qsort(a->pm->launches, count, sizeof *a->pm->launches, by_start);
    for (uint32_t i = 0; i < count; i++) { /* lanes come before events */
        char detail[48];
        snprintf(detail, sizeof detail, "%" PRIu64 " of context %" PRIu64, a->pm->launches[i].stream,
                 a->pm->launches[i].context);
        launch_lane(a, &a->pm->launches[i], detail);
    }
    cw_lanes_source(a->places->lanes, count, a, launch_time, launch_event);
    return true;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status add_all(void *context, struct cw_lane_places *places, struct cw_error *err)
{
    struct adding *a = context;
    a->places = places;
    bool good = true;
    for (uint32_t d = 0; d < a->result->data->device_count && good; d++)
        good = add_metrics(a, d);
    return good && add_launches(a) ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_pm_write_lanes(const struct cw_result *result, const struct cw_timeline *t,
                                 const struct cw_lane_format *format, void *state, uint64_t *crowded,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct adding a = {.result = result, .pm = &result->data->pm};
    if (!t->trace->process_count)
        return cw_error_set(
            err, CW_ERR_UNSUPPORTED,
            "%s: found samples without the trace of their program, expected it beside them (capture-agent "
            "pm without --no-trace)",
            result->source);
    for (uint32_t d = 0; d < result->data->device_count; d++)
        if (!a.pm->correlated[d])
            return cw_error_set(err, CW_ERR_UNSUPPORTED,
                                "%s: found samples of device %" PRIu32
                                " whose times are not the wall clock's, expected "
                                "readings of both clocks",
                                result->source, result->data->devices[d].index);
    return cw_timeline_write_lanes(t, add_all, &a, format, state, crowded, arena, err);
}
