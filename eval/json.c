#include "eval/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "host/image/pm_data.h"

static json_t *attributes(const struct cw_pair *pairs, uint32_t count)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < count; i++)
        json_object_set_new(object, pairs[i].key, json_string(pairs[i].value));
    return object;
}

static json_t *devices(const struct cw_counter_data *data)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < data->device_count; i++)
        json_array_append_new(list,
                              json_pack("{s:I, s:o}", "device", (json_int_t)data->devices[i].index, "attributes",
                                        attributes(data->devices[i].attributes, data->devices[i].attribute_count)));
    return list;
}

/* The processes of a parallel job, by their ranks. */
static json_t *ranks(const struct cw_counter_data *data)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < data->range_count; i++) {
        const char *rank = cw_range_attribute(&data->ranges[i], "rank");
        if (rank && !json_object_get(object, rank))
            json_object_set_new(object, rank, json_integer((json_int_t)data->ranges[i].process));
    }
    return object;
}

/* What PM sampling has beside its values. */
static json_t *sampling(const struct cw_counter_data *d)
{
    json_t *clocks = json_array();
    for (uint32_t i = 0; i < d->pm.clock_count; i++) {
        const struct cw_clock_reading *c = &d->pm.clocks[i];
        json_array_append_new(clocks,
                              json_pack("{s:I, s:I, s:I, s:I}", "device", (json_int_t)d->devices[c->device].index,
                                        "device_ns", (json_int_t)c->pair.device_ns, "wall_ns",
                                        (json_int_t)c->pair.wall_ns, "error_ns", (json_int_t)c->pair.error_ns));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "samples", (json_int_t)d->pm.sample_count, "lost",
                     (json_int_t)d->pm.lost, "overflows", (json_int_t)d->pm.overflow_count, "launches",
                     (json_int_t)d->pm.launch_count, "launches_dropped", (json_int_t)d->pm.launches_dropped, "clocks",
                     clocks);
}

static json_t *manifest(const struct cw_result *r)
{
    static const char *const ends[] = {"exited", "signalled", "no program"};
    const struct cw_counter_data *d = r->data;
    const struct cw_schema *s = &d->schema;
    char hash[33], created[CW_TIME_SIZE];
    for (int i = 0; i < 16; i++)
        snprintf(hash + 2 * i, 3, "%02x", s->database[i]);
    json_t *requested = json_array();
    for (uint32_t i = 0; i < s->metric_count; i++)
        json_array_append_new(requested, json_string(s->metrics[i]));
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:s?, s:I, s:I, s:o, s:o, s:o}", "source",
                  r->source, "chip", s->chip, "producer", s->producer, "profiler", cw_profiler_names[s->profiler],
                  "database", hash, "created", cw_result_created(r, created), "passes", (json_int_t)s->pass_count,
                  "counters", (json_int_t)s->counter_count, "ranges", (json_int_t)d->range_count, "complete",
                  d->complete, "end", d->complete ? ends[d->how] : NULL, "code", (json_int_t)d->code, "dropped",
                  (json_int_t)d->dropped, "requested_metrics", requested, "devices", devices(d), "ranks", ranks(d));
    if (s->profiler == CW_PROFILER_PM)
        json_object_set_new(object, "pm", sampling(d));
    return object;
}

enum cw_status cw_json_manifest(const struct cw_result *r, char **text, struct cw_error *err)
{
    json_t *object = manifest(r);
    *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return *text ? CW_OK : cw_error_nomem(err);
}

static json_t *range_head(const struct cw_result *r, uint32_t index)
{
    const struct cw_range *g = cw_result_range(r, index);
    return json_pack("{s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:[I,I,I], s:[I,I,I], s:I, s:I, s:o*}", "range",
                     (json_int_t)r->ranges[index], "name", g->name, "kernel", g->kernel, "device",
                     (json_int_t)cw_result_device(r, g)->index, "process", (json_int_t)g->process, "context",
                     (json_int_t)g->context, "stream", (json_int_t)g->stream, "grid", (json_int_t)g->grid[0],
                     (json_int_t)g->grid[1], (json_int_t)g->grid[2], "block", (json_int_t)g->block[0],
                     (json_int_t)g->block[1], (json_int_t)g->block[2], "start_ns", (json_int_t)g->start_ns, "end_ns",
                     (json_int_t)g->end_ns, "attributes",
                     g->attribute_count ? attributes(g->attributes, g->attribute_count) : NULL);
}

/* `"name": ..., "unit": ...` of a metric; the caller frees it. */
static char *metric_head(const struct cw_result *r, uint32_t metric)
{
    json_t *object = json_pack("{s:s, s:s}", "name", r->names[metric], "unit", r->units[metric]);
    char *text = object ? json_dumps(object, JSON_EMBED) : NULL;
    json_decref(object);
    return text;
}

/* A tree of all values would be many times their size, so the outer levels are written as they come. */
static enum cw_status put_range(const struct cw_result *r, uint32_t index, char *const *heads, FILE *out,
                                struct cw_error *err)
{
    json_t *head = range_head(r, index);
    char *text = head ? json_dumps(head, JSON_EMBED) : NULL;
    json_decref(head);
    if (!text)
        return cw_error_nomem(err);
    fprintf(out, "%s\n  {%s, \"metrics\": [", index ? "," : "", text);
    free(text);
    for (uint32_t m = 0; m < r->metric_count; m++) {
        size_t at = (size_t)m * r->range_count + index;
        char number[CW_NUMBER_SIZE];
        const char *quote = isfinite(r->values[at]) ? "" : "\"";
        fprintf(out, "%s\n    {%s, \"value\": %s%s%s, \"status\": \"%s\"}", m ? "," : "", heads[m], quote,
                cw_number_text(r->values[at], number), quote,
                cw_value_status_text((enum cw_value_status)r->statuses[at]));
    }
    fputs("]}", out);
    return CW_OK;
}

enum cw_status cw_json_write(const struct cw_result *r, FILE *out, struct cw_error *err)
{
    char *capture = NULL;
    char **heads = calloc((size_t)r->metric_count + 1, sizeof *heads);
    enum cw_status status = heads ? cw_json_manifest(r, &capture, err) : cw_error_nomem(err);
    for (uint32_t m = 0; status == CW_OK && m < r->metric_count; m++)
        if (!(heads[m] = metric_head(r, m)))
            status = cw_error_nomem(err);
    if (status == CW_OK) {
        fprintf(out, "{\"capture\": %s,\n \"ranges\": [", capture);
        for (uint32_t i = 0; status == CW_OK && i < r->range_count; i++)
            status = put_range(r, i, heads, out, err);
        fputs("]}\n", out);
    }
    for (uint32_t m = 0; heads && m < r->metric_count; m++)
        free(heads[m]);
    if (heads)
        free(capture);
    free(heads);
    return status;
}
