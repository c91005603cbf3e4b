#define _GNU_SOURCE
#include "eval/output/capture.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "eval/output/output.h"
#include "image/pm_data.h"

const char *cw_capture_created(const struct cw_counter_data *d, char text[CW_TIME_SIZE])
{
    uint64_t first = cw_ranges_begin(d);
    if (!first && d->pm.clock_count)
        first = d->pm.clocks[0].pair.wall_ns;
    time_t seconds = (time_t)(first / 1000000000);
    struct tm tm;
    text[0] = 0;
    if (first && gmtime_r(&seconds, &tm))
        strftime(text, CW_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return text;
}

void cw_capture_put_devices(const struct cw_counter_data *data, uint32_t count, FILE *out)
{
    const char *first = data->device_count ? cw_device_attribute(&data->devices[0], "name") : NULL;
    const char *simulated = data->device_count ? cw_device_attribute(&data->devices[0], "simulated") : NULL;
    bool alike = true;
    for (uint32_t i = 1; i < data->device_count; i++) {
        const char *name = cw_device_attribute(&data->devices[i], "name");
        alike = alike && name && first && strcmp(name, first) == 0;
    }
    if (count > 1)
        cw_text_print(out, "%" PRIu32 " %s", count, alike ? "x " : "devices");
    if (alike)
        cw_text_print(out, "%s", first ? first : data->device_count ? "a device without a name" : "no device");
    cw_text_print(out, " (%s%s)", data->schema.chip, simulated && strcmp(simulated, "yes") == 0 ? ", simulated" : "");
}

bool cw_capture_put_filters(const struct cw_counter_data *d, FILE *out)
{
    enum { SHOWN = 8 };
    const char *told[SHOWN];
    uint32_t count = 0, more = 0;
    bool whole = false; /* some device was captured without a filter */
    for (uint32_t i = 0; i < d->device_count; i++) {
        const char *filter = cw_device_attribute(&d->devices[i], "filter");
        bool known = !filter;
        whole = whole || !filter;
        for (uint32_t k = 0; k < count && !known; k++)
            known = strcmp(told[k], filter) == 0;
        if (known)
            continue;
        if (count == SHOWN) {
            more++;
            continue;
        }
        told[count++] = filter;
    }
    const bool all = count == 1 && !whole; /* merged captures may differ */
    for (uint32_t i = 0; i < count; i++)
        cw_text_print(out, "%s %s: %s.\n", all ? "Captured with" : "In part captured with", told[i],
                      all ? "all else is left out" : "all else is left out there");
    if (more)
        cw_text_print(out, "Captured with other filters on %" PRIu32 " more devices, too.\n", more);
    return count > 0;
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------- */

json_t *cw_capture_pairs(const struct cw_pair *pairs, uint32_t count)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < count; i++)
        cw_json_set(&object, pairs[i].key, json_string(pairs[i].value));
    return object;
}

static json_t *known_mhz(uint32_t clock)
{
    return clock ? json_integer(clock) : json_null();
}

/* A list of readings for each merged capture. */
static json_t *gpu_clocks(const struct cw_counter_data *data, uint32_t device)
{
    json_t *list = json_array();
    char text[CW_GPU_CLOCKS_TEXT];
    uint32_t first, count = cw_counter_data_clocks(data, device, &first);
    for (const struct cw_gpu_clocks *c = data->clocks + first; count; c++, count--) {
        json_t *readings = json_array();
        for (uint32_t i = 0; i < c->count; i++)
            cw_json_append(&readings, json_pack("{s:I, s:o, s:o, s:I}", "wall_ns", (json_int_t)c->readings[i].wall_ns,
                                                "sm_mhz", known_mhz(c->readings[i].sm_mhz), "memory_mhz",
                                                known_mhz(c->readings[i].memory_mhz), "limits",
                                                (json_int_t)c->readings[i].limits));
        cw_json_append(&list, json_pack("{s:o, s:b, s:s}", "readings", readings, "moved", cw_gpu_clocks_moved(c),
                                        "text", cw_gpu_clocks_text(c, text)));
    }
    return list;
}

static json_t *devices(const struct cw_counter_data *data)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < data->device_count; i++) {
        json_t *device = json_pack("{s:I, s:o}", "device", (json_int_t)data->devices[i].index, "attributes",
                                   cw_capture_pairs(data->devices[i].attributes, data->devices[i].attribute_count));
        if (data->clocks_count)
            cw_json_set(&device, "clocks", gpu_clocks(data, i));
        cw_json_append(&list, device);
    }
    return list;
}

/* The processes of a parallel job, by their ranks. */
static json_t *ranks(const struct cw_counter_data *data)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < cw_launch_count(data); i++) {
        const struct cw_range *launch = cw_launch(data, i);
        const char *rank = cw_range_attribute(launch, "rank");
        if (rank && !json_object_get(object, rank))
            cw_json_set(&object, rank, json_integer((json_int_t)launch->process));
    }
    return object;
}

void cw_capture_set_ranks(json_t **object, struct cw_job_ranks *job)
{
    json_t *list = json_array();
    struct cw_rank_run run;
    cw_job_ranks_sort(job);
    for (size_t at = 0; cw_job_ranks_missing(job, &at, &run);)
        cw_json_append(&list, json_pack("{s:I, s:I}", "first", (json_int_t)run.first, "last", (json_int_t)run.last));
    if (job->most) {
        cw_json_set(object, "rank_count", json_integer(job->most));
        cw_json_set(object, "missing_ranks", json_incref(list));
    }
    json_decref(list);
}

void cw_capture_show_ranks(struct cw_job_ranks *job, FILE *out)
{
    char text[CW_JOB_RANKS_TEXT];
    const size_t count = cw_job_ranks_sort(job);
    if (job->most && count == 1)
        cw_text_print(out, "rank:      %" PRIu32 " of %" PRIu32 "\n", job->ranks[0], job->most);
    else if (job->most && !*cw_job_ranks_text(job, text))
        cw_text_print(out, "ranks:     %zu of %" PRIu32 "\n", count, job->most);
    else if (job->most)
        cw_text_print(out, "ranks:     %zu; %s\n", count, text);
}

static json_t *names(const char *const *texts, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        cw_json_append(&list, json_string(texts[i]));
    return list;
}

static json_t *clocks(const struct cw_counter_data *d)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->pm.clock_count; i++) {
        const struct cw_clock_reading *c = &d->pm.clocks[i];
        cw_json_append(&list, json_pack("{s:I, s:I, s:I, s:I}", "device", (json_int_t)d->devices[c->device].index,
                                        "device_ns", (json_int_t)c->pair.device_ns, "wall_ns",
                                        (json_int_t)c->pair.wall_ns, "error_ns", (json_int_t)c->pair.error_ns));
    }
    return list;
}

static json_t *windows(const struct cw_counter_data *d)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->pm.window_count; i++) {
        const struct cw_pm_window *w = &d->pm.windows[i];
        cw_json_append(&list, json_pack("{s:I, s:I, s:I}", "device", (json_int_t)d->devices[w->device].index,
                                        "start_ns", (json_int_t)w->start_ns, "end_ns", (json_int_t)w->end_ns));
    }
    return list;
}

/* Facts of PM sampling beside its values. */
static json_t *sampling(const struct cw_counter_data *d)
{
    json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "samples", (json_int_t)d->pm.sample_count, "lost",
                               (json_int_t)d->pm.lost, "overflows", (json_int_t)d->pm.overflow_count, "launches",
                               (json_int_t)d->pm.launch_count, "launches_dropped", (json_int_t)d->pm.launches_dropped,
                               "launches_untimed", (json_int_t)d->pm.launches_untimed, "clocks", clocks(d));
    if (d->pm.window_count)
        cw_json_set(&object, "windows", windows(d));
    return object;
}

json_t *cw_capture_manifest(const struct cw_counter_data *d, const char *source)
{
    static const char *const ends[] = {"exited", "signalled", "no program"};
    const struct cw_schema *s = &d->schema;
    char hash[33], created[CW_TIME_SIZE];
    for (int i = 0; i < 16; i++)
        snprintf(hash + 2 * i, 3, "%02x", s->database[i]);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:s?, s:I, s:I, s:o, s:o, s:o}", "source", source,
                  "chip", s->chip, "producer", s->producer, "profiler", cw_profiler_names[s->profiler], "database",
                  hash, "created", cw_capture_created(d, created), "passes", (json_int_t)s->pass_count, "counters",
                  (json_int_t)s->counter_count, "ranges", (json_int_t)d->range_count, "complete", d->complete, "end",
                  d->complete ? ends[d->how] : NULL, "code", (json_int_t)d->code, "dropped", (json_int_t)d->dropped,
                  "requested_metrics", names(s->metrics, s->metric_count), "devices", devices(d), "ranks", ranks(d));
    struct cw_job_ranks job = {0};
    if (cw_job_ranks_add(&job, d, NULL) != CW_OK) {
        json_decref(object);
        object = NULL;
    }
    cw_capture_set_ranks(&object, &job);
    cw_job_ranks_free(&job);
    if (s->profiler == CW_PROFILER_PM)
        cw_json_set(&object, "pm", sampling(d));
    return object;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static void show_end(const struct cw_counter_data *d, FILE *out)
{
    if (d->damage.places)
        fputs("end:       unknown, the capture is damaged\n", out);
    else if (!d->complete)
        fputs("end:       none, the capture is incomplete\n", out);
    else if (d->how == CW_END_NO_PROGRAM)
        fputs("end:       complete, not at the end of a program\n", out);
    else
        cw_text_print(out, "end:       complete, the program %s %" PRIu32 "\n",
                      d->how == CW_END_EXITED ? "exited with status" : "was killed by signal", d->code);
    if (d->dropped)
        cw_text_print(out, "dropped:   %" PRIu64 "\n", d->dropped);
}

static void show_clocks(const struct cw_counter_data *d, uint32_t device, FILE *out)
{
    char text[CW_GPU_CLOCKS_TEXT];
    uint32_t first, count = cw_counter_data_clocks(d, device, &first);
    for (uint32_t i = first; i < first + count; i++)
        cw_text_print(out, "  clocks while captured: %s\n", cw_gpu_clocks_text(&d->clocks[i], text));
}

void cw_capture_tell_clocks(const struct cw_counter_data *d, FILE *out)
{
    enum { MOST_LINES = 8 };
    char text[CW_GPU_CLOCKS_TEXT];
    uint32_t moved = 0;
    for (uint32_t i = 0; i < d->clocks_count; i++)
        if (cw_gpu_clocks_moved(&d->clocks[i]) && moved++ < MOST_LINES)
            cw_text_print(out, "Device %" PRIu32 ": %s.\n", d->devices[d->clocks[i].device].index,
                          cw_gpu_clocks_text(&d->clocks[i], text));
    if (moved > MOST_LINES)
        cw_text_print(out, "Clocks moved %" PRIu32 " more times: counterworks show has all.\n", moved - MOST_LINES);
}

static void show_devices(const struct cw_counter_data *d, FILE *out)
{
    for (uint32_t i = 0; i < d->device_count; i++) {
        cw_text_print(out, "device %" PRIu32 ":\n", d->devices[i].index);
        for (uint32_t a = 0; a < d->devices[i].attribute_count; a++)
            cw_text_print(out, "  %s: %s\n", d->devices[i].attributes[a].key, d->devices[i].attributes[a].value);
        show_clocks(d, i, out);
    }
}

static void show_sampling(const struct cw_pm_data *pm, FILE *out)
{
    cw_text_print(out, "samples:   %" PRIu32 "\noverflows: %" PRIu32 "\nlaunches:  %" PRIu32, pm->sample_count,
                  pm->overflow_count, pm->launch_count);
    if (pm->launches_untimed)
        cw_text_print(out, ", and %" PRIu32 " whose times were not collected", pm->launches_untimed);
    fputs("\n", out);
}

static void show_windows(const struct cw_counter_data *d, FILE *out)
{
    double seconds = 0;
    for (uint32_t i = 0; i < d->pm.window_count; i++)
        seconds += (double)(d->pm.windows[i].end_ns - d->pm.windows[i].start_ns) / 1e9;
    if (d->pm.window_count)
        cw_text_print(out, "windows:   %" PRIu32 ", together %.6g s; nothing was sampled between them\n",
                      d->pm.window_count, seconds);
}

static void show_ranges(const struct cw_counter_data *d, FILE *out)
{
    uint32_t multiplexed = 0;
    for (uint32_t i = 0; i < d->range_count && cw_fold_has(d); i++)
        multiplexed += cw_range_is_multiplexed(cw_launch_of(d, i));
    cw_text_print(out, "ranges:    %" PRIu32, d->range_count);
    if (multiplexed)
        cw_text_print(out, ", %" PRIu32 " of them multiplexed: counted in one pass each", multiplexed);
    putc('\n', out);
}

static void show_plan(const struct cw_schema *s, FILE *out)
{
    uint32_t split = 0, repeated = 0, first;
    for (uint32_t i = 0; i < s->counter_count; i++) {
        split += !s->counters[i].whole;
        repeated += cw_schema_repeats_of(s, i, &first) > 0;
    }
    fputs("database:  ", out);
    for (int i = 0; i < 16; i++)
        cw_text_print(out, "%02x", s->database[i]);
    cw_text_print(out, "\npasses:    %" PRIu32 "\ncounters:  %" PRIu32, s->pass_count, s->counter_count);
    if (split)
        cw_text_print(out, " (%" PRIu32 " split over several passes)", split);
    if (repeated)
        cw_text_print(out, ", %" PRIu32 " of them whole in several", repeated);
    cw_text_print(out, "\nmetrics:   %" PRIu32 "\n", s->metric_count);
}

void cw_capture_show(const struct cw_counter_data *d, const char *source, FILE *out)
{
    const struct cw_schema *s = &d->schema;
    struct cw_job_ranks job = {0};
    cw_text_print(out, "capture:   %s\nchip:      %s\nprofiler:  %s\nproducer:  %s\n", source, s->chip,
                  cw_profiler_names[s->profiler], s->producer);
    if (s->profiler != CW_PROFILER_TRACE)
        show_plan(s, out);
    show_windows(d, out);
    if (s->profiler == CW_PROFILER_PM)
        show_sampling(&d->pm, out);
    else if (s->profiler != CW_PROFILER_TRACE)
        show_ranges(d, out);
    if (cw_job_ranks_add(&job, d, NULL) == CW_OK)
        cw_capture_show_ranks(&job, out);
    cw_job_ranks_free(&job);
    show_end(d, out);
    show_devices(d, out);
}
