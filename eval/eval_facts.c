#include "eval/eval_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/fact.h"

static double of_range(const struct cw_range *r, enum cw_range_fact field)
{
    double blocks = (double)r->grid[0] * r->grid[1] * r->grid[2];
    double threads = (double)r->block[0] * r->block[1] * r->block[2];
    if (field <= CW_RANGE_THREADS && blocks * threads == 0) /* a range of several launches */
        return NAN;
    switch (field) {
    case CW_RANGE_GRID_SIZE:
        return blocks;
    case CW_RANGE_GRID_X:
    case CW_RANGE_GRID_Y:
    case CW_RANGE_GRID_Z:
        return r->grid[field - CW_RANGE_GRID_X];
    case CW_RANGE_BLOCK_SIZE:
        return threads;
    case CW_RANGE_BLOCK_X:
    case CW_RANGE_BLOCK_Y:
    case CW_RANGE_BLOCK_Z:
        return r->block[field - CW_RANGE_BLOCK_X];
    case CW_RANGE_THREADS:
        return blocks * threads;
    case CW_RANGE_STREAM:
        return (double)r->stream;
    default:
        return (double)r->context;
    }
}

/* An attribute that is a number and nothing else. */
static double of_device(const struct cw_device *device, const char *key)
{
    const char *text = cw_device_attribute(device, key);
    char *end = NULL;
    double value = text ? strtod(text, &end) : NAN;
    return text && end != text && !*end ? value : NAN;
}

/* The index of the capture's fact of this name, or the count of facts. */
static uint32_t find_recorded(const struct cw_schema *schema, const char *name)
{
    uint32_t i = 0;
    while (i < schema->fact_count && strcmp(schema->fact_names[i], name) != 0)
        i++;
    return i;
}

static void load_recorded(const struct cw_counter_data *data, const char *name, uint32_t start, uint32_t count,
                          double *out)
{
    const uint32_t at = find_recorded(&data->schema, name);
    for (uint32_t i = 0; i < count; i++)
        out[i] = at < data->schema.fact_count ? data->facts[(size_t)at * data->range_count + start + i] : NAN;
}

void cw_eval_facts_load(const struct cw_counter_data *data, uint32_t fact, uint32_t start, uint32_t count, double *out)
{
    const struct cw_fact *f = cw_fact(fact);
    const bool ranges = data->schema.profiler == CW_PROFILER_RANGE;
    uint32_t device = UINT32_MAX;
    double value = NAN;
    if (ranges && f->source == CW_FACT_OF_LAUNCH) {
        load_recorded(data, f->name, start, count, out);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_range *r = ranges ? &data->ranges[start + i] : NULL;
        if (r && f->source == CW_FACT_OF_RANGE) {
            value = f->field == CW_RANGE_DEVICE ? data->devices[r->device].index : of_range(r, f->field);
        } else if (r && f->source == CW_FACT_OF_DEVICE && r->device != device) {
            device = r->device;
            value = of_device(&data->devices[device], f->key);
        }
        out[i] = value;
    }
}

bool cw_eval_facts_held(const struct cw_counter_data *data, uint32_t fact)
{
    const struct cw_fact *f = cw_fact(fact);
    const uint32_t recorded = find_recorded(&data->schema, f->name);
    bool held = false, any = data->schema.profiler == CW_PROFILER_RANGE && data->range_count;
    if (f->source == CW_FACT_OF_LAUNCH)
        return any && recorded < data->schema.fact_count && cw_fact_is_known(data, recorded);
    for (uint32_t d = 0; f->source == CW_FACT_OF_DEVICE && any && d < data->device_count; d++)
        held = held || !isnan(of_device(&data->devices[d], f->key));
    for (uint32_t i = 0; f->source == CW_FACT_OF_RANGE && any && !held && i < cw_launch_count(data); i++)
        held = !isnan(of_range(cw_launch(data, i), f->field));
    return held;
}
