#include "eval/json.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "image/pm_data.h"
#include "json/json_tree.h"

static json_t *attributes(const struct cw_pair *pairs, uint32_t count)
{
    json_t *object = json_object();
    bool good = object != NULL;
    for (uint32_t i = 0; i < count && good; i++)
        good = json_object_set_new(object, pairs[i].key, json_string(pairs[i].value)) == 0;
    return cw_json_whole(object, good);
}

static json_t *devices(const struct cw_counter_data *data)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (uint32_t i = 0; i < data->device_count && good; i++)
        good = json_array_append_new(
                   list, json_pack("{s:I, s:o}", "device", (json_int_t)data->devices[i].index, "attributes",
                                   attributes(data->devices[i].attributes, data->devices[i].attribute_count))) == 0;
    return cw_json_whole(list, good);
}

/* The processes of a parallel job, by their ranks. */
static json_t *ranks(const struct cw_counter_data *data)
{
    json_t *object = json_object();
    bool good = object != NULL;
    for (uint32_t i = 0; i < data->range_count && good; i++) {
        const char *rank = cw_range_attribute(&data->ranges[i], "rank");
        if (rank && !json_object_get(object, rank))
            good = json_object_set_new(object, rank, json_integer((json_int_t)data->ranges[i].process)) == 0;
    }
    return cw_json_whole(object, good);
}

static json_t *names(const char *const *texts, uint32_t count)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (uint32_t i = 0; i < count && good; i++)
        good = json_array_append_new(list, json_string(texts[i])) == 0;
    return cw_json_whole(list, good);
}

static json_t *clocks(const struct cw_counter_data *d)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (uint32_t i = 0; i < d->pm.clock_count && good; i++) {
        const struct cw_clock_reading *c = &d->pm.clocks[i];
        good = json_array_append_new(
                   list, json_pack("{s:I, s:I, s:I, s:I}", "device", (json_int_t)d->devices[c->device].index,
                                   "device_ns", (json_int_t)c->pair.device_ns, "wall_ns", (json_int_t)c->pair.wall_ns,
                                   "error_ns", (json_int_t)c->pair.error_ns)) == 0;
    }
    return cw_json_whole(list, good);
}

/* What PM sampling has beside its values. */
static json_t *sampling(const struct cw_counter_data *d)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "samples", (json_int_t)d->pm.sample_count, "lost",
                     (json_int_t)d->pm.lost, "overflows", (json_int_t)d->pm.overflow_count, "launches",
                     (json_int_t)d->pm.launch_count, "launches_dropped", (json_int_t)d->pm.launches_dropped, "clocks",
                     clocks(d));
}

static json_t *manifest(const struct cw_result *r)
{
    static const char *const ends[] = {"exited", "signalled", "no program"};
    const struct cw_counter_data *d = r->data;
    const struct cw_schema *s = &d->schema;
    char hash[33], created[CW_TIME_SIZE];
    for (int i = 0; i < 16; i++)
        snprintf(hash + 2 * i, 3, "%02x", s->database[i]);
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:s?, s:I, s:I, s:o, s:o, s:o}", "source", r->source,
        "chip", s->chip, "producer", s->producer, "profiler", cw_profiler_names[s->profiler], "database", hash,
        "created", cw_result_created(r, created), "passes", (json_int_t)s->pass_count, "counters",
        (json_int_t)s->counter_count, "ranges", (json_int_t)d->range_count, "complete", d->complete, "end",
        d->complete ? ends[d->how] : NULL, "code", (json_int_t)d->code, "dropped", (json_int_t)d->dropped,
        "requested_metrics", names(s->metrics, s->metric_count), "devices", devices(d), "ranks", ranks(d));
    bool sampled = object && s->profiler == CW_PROFILER_PM;
    return cw_json_whole(object, !sampled || json_object_set_new(object, "pm", sampling(d)) == 0);
}

enum cw_status cw_json_manifest(const struct cw_result *r, char **text, struct cw_error *err)
{
    return cw_json_text(manifest(r), JSON_COMPACT, text, err);
}

static json_t *range_head(const struct cw_result *r, uint32_t index)
{
    const struct cw_range *g = cw_result_range(r, index);
    json_t *head = json_pack("{s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:[I,I,I], s:[I,I,I], s:I, s:I}", "range",
                             (json_int_t)r->ranges[index], "name", g->name, "kernel", g->kernel, "device",
                             (json_int_t)cw_result_device(r, g)->index, "process", (json_int_t)g->process, "context",
                             (json_int_t)g->context, "stream", (json_int_t)g->stream, "grid", (json_int_t)g->grid[0],
                             (json_int_t)g->grid[1], (json_int_t)g->grid[2], "block", (json_int_t)g->block[0],
                             (json_int_t)g->block[1], (json_int_t)g->block[2], "start_ns", (json_int_t)g->start_ns,
                             "end_ns", (json_int_t)g->end_ns);
    bool more = head && g->attribute_count;
    return cw_json_whole(
        head, !more || json_object_set_new(head, "attributes", attributes(g->attributes, g->attribute_count)) == 0);
}

static void put_metric(const struct cw_result *r, uint32_t index, uint32_t metric, FILE *out)
{
    size_t at = (size_t)metric * r->range_count + index;
    char number[CW_NUMBER_SIZE];
    const char *quote = isfinite(r->values[at]) ? "" : "\"";
    fputs("{\"name\": ", out);
    cw_text_put(out, CW_TEXT_JSON, r->names[metric]);
    fputs(", \"unit\": ", out);
    cw_text_put(out, CW_TEXT_JSON, r->units[metric]);
    cw_text_print(out, ", \"value\": %s%s%s, \"status\": \"%s\"}", quote, cw_number_text(r->values[at], number), quote,
                  cw_value_status_text((enum cw_value_status)r->statuses[at]));
}

/* A tree of all values would be many times their size, so the outer levels are written as they come. */
static enum cw_status put_range(const struct cw_result *r, uint32_t index, FILE *out, struct cw_error *err)
{
    fputs(index ? ",\n  {" : "\n  {", out);
    enum cw_status status = cw_json_print(range_head(r, index), JSON_EMBED, out, err);
    if (status != CW_OK)
        return status;
    fputs(", \"metrics\": [", out);
    for (uint32_t m = 0; m < r->metric_count; m++) {
        fputs(m ? ",\n    " : "\n    ", out);
        put_metric(r, index, m, out);
    }
    fputs("]}", out);
    return CW_OK;
}

enum cw_status cw_json_put_capture(const struct cw_result *r, FILE *out, struct cw_error *err)
{
    fputs("{\"capture\": ", out);
    return cw_json_print(manifest(r), JSON_COMPACT, out, err);
}

enum cw_status cw_json_write(const struct cw_result *r, FILE *out, struct cw_error *err)
{
    enum cw_status status = cw_json_put_capture(r, out, err);
    if (status != CW_OK)
        return status;
    fputs(",\n \"ranges\": [", out);
    for (uint32_t i = 0; status == CW_OK && i < r->range_count; i++)
        status = put_range(r, i, out, err);
    fputs("]}\n", out);
    return status;
}
