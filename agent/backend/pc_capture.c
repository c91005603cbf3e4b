#include "agent/backend/pc_capture.h"

enum cw_status cw_pc_schema(struct cw_schema *schema, const char *chip, const struct cw_pc_options *o,
                            struct cw_arena *arena, struct cw_error *err)
{
    const char **metrics = cw_arena_alloc(arena, o->metric_count, sizeof *metrics);
    for (uint32_t i = 0; metrics && i < o->metric_count; i++) {
        metrics[i] = cw_arena_printf(arena, "%s:%s", o->metrics[i].name, cw_sass_level_names[o->metrics[i].level]);
        if (!metrics[i])
            return cw_error_nomem(err);
    }
    *schema = (struct cw_schema){.chip = chip,
                                 .producer = "counterworks " CW_VERSION,
                                 .profiler = o->sass ? CW_PROFILER_SASS : CW_PROFILER_PC,
                                 .metric_count = o->metric_count,
                                 .metrics = metrics};
    return metrics ? CW_OK : cw_error_nomem(err);
}

bool cw_pc_describe(struct cw_device *device, const struct cw_pc_options *o, struct cw_arena *arena)
{
    struct cw_pair *pairs = cw_arena_alloc(arena, (size_t)device->attribute_count + 1, sizeof *pairs);
    const char *filter = cw_trace_window_filter_text(&o->when, &o->filter, arena);
    uint32_t n = device->attribute_count;
    if (!pairs || !filter)
        return false;
    for (uint32_t i = 0; i < n; i++)
        pairs[i] = device->attributes[i];
    if (*filter)
        pairs[n++] = (struct cw_pair){"filter", filter};
    device->attribute_count = n;
    device->attributes = pairs;
    return true;
}

enum cw_status cw_pc_append(struct cw_collector *out, struct cw_writer *payload,
                            void (*write)(const uint8_t *payload, size_t size, struct cw_writer *out),
                            struct cw_error *err)
{
    struct cw_writer chunk;
    cw_writer_init(&chunk);
    write(payload->data, payload->size, &chunk);
    if (payload->status != CW_OK)
        chunk.status = payload->status;
    cw_writer_free(payload);
    return cw_collector_append(out, &chunk, err);
}

enum cw_status cw_pc_end(struct cw_collector *out, const struct cw_program *program, struct cw_error *trouble,
                         struct cw_error *err)
{
    if (trouble->code == CW_OK)
        cw_collector_end(out, program->how, program->code, trouble);
    if (trouble->code != CW_OK)
        *err = *trouble;
    return trouble->code;
}

enum cw_status cw_pc_verdict(const struct cw_pc_options *o, const struct cw_program *program, uint64_t samples,
                             uint64_t others, const char *hindrance, enum cw_status status, int *exit_status,
                             struct cw_error *err)
{
    const char *name = o->capture.argv[0];
    status = cw_program_verdict(program, name, o->capture.output, status, exit_status, err);
    if (status != CW_OK || samples || *exit_status)
        return status;
    const bool chosen = o->filter.kernel_count || o->filter.excluded_count || cw_filter_counts(&o->filter) ||
                        cw_trace_window_any(&o->when, &(struct cw_filter_options){.launch_count = UINT64_MAX});
    if (o->sass && (chosen || o->filter.range))
        return cw_error_set(err, CW_ERR_APP, "%s launched no requested kernel, so nothing was captured", name);
    if (o->sass && o->filter.devices)
        return cw_error_set(err, CW_ERR_APP, "%s launched no kernel on a requested GPU", name);
    if (o->sass)
        return cw_error_set(err, CW_ERR_APP, "%s launched no kernel, so nothing was captured", name);
    if (hindrance)
        return cw_error_set(err, CW_ERR_DEVICE, "no sample of %s was kept: %s", name, hindrance);
    if (chosen)
        return cw_error_set(err, CW_ERR_APP, "%s launched no requested kernel, or none long enough for a sample", name);
    if (o->filter.range)
        return cw_error_set(err, CW_ERR_APP, "%s ran no kernel long enough for a sample in a range that matches '%s'",
                            name, o->filter.range);
    if (others)
        return cw_error_set(err, CW_ERR_APP,
                            "%s: found %llu samples, all of kernels that CUPTI does not name, as the driver's own",
                            name, (unsigned long long)others);
    return cw_error_set(
        err, CW_ERR_APP,
        "%s launched no kernel, or none long enough for a sample: a smaller --period samples more often", name);
}
