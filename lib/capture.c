/* Captures, and values from them. */
#include <string.h>

#include "base/search.h"
#include "lib/handles.h"
#include "view/metrics.h"
#include "view/source.h"

static enum counterworks_status finish_opening(struct counterworks_capture **capture, enum cw_status status,
                                               struct cw_lib_call *call, struct counterworks_error *error)
{
    if (status == CW_OK)
        status = cw_source_load(*capture, &call->err);
    if (status != CW_OK) {
        cw_source_close(*capture);
        *capture = NULL;
    }
    return cw_lib_finish(call, status, error);
}

enum counterworks_status counterworks_capture_open(struct counterworks_capture **capture, const char *path,
                                                   struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    return finish_opening(capture, cw_source_join(capture, &path, 1, path, &call.err), &call, error);
}

enum counterworks_status counterworks_capture_read(struct counterworks_capture **capture, const void *data, size_t size,
                                                   const char *source, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    return finish_opening(capture, cw_source_read(capture, data, size, source, &call.err), &call, error);
}

void counterworks_capture_close(struct counterworks_capture *capture)
{
    cw_source_close(capture);
}

enum counterworks_status counterworks_capture_merge(const char *output, const char *const *paths, size_t count,
                                                    struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    return cw_lib_finish(&call, cw_source_merge(output, paths, count, NULL, NULL, &call.err), error);
}

/* ---- what is in it ---------------------------------------------------------------------------------------------- */

static bool of_samples(const struct cw_counter_data *data)
{
    return data->schema.profiler == CW_PROFILER_PM;
}

/* Gives as much as the caller's struct has. */
static void give(void *to, size_t size, const void *from, size_t all)
{
    const size_t head = sizeof(size_t);
    if (size > head)
        memcpy((char *)to + head, (const char *)from + head, (size < all ? size : all) - head);
}

void counterworks_capture_describe(const struct counterworks_capture *capture, struct counterworks_capture_info *info)
{
    const struct cw_counter_data *d = &capture->data;
    const struct counterworks_capture_info all = {
        .chip = d->schema.chip,
        .profiler = (enum counterworks_profiler)d->schema.profiler,
        .complete = d->complete,
        .row_count = of_samples(d) ? d->pm.sample_count : d->range_count,
        .dropped = of_samples(d) && !d->complete ? d->pm.lost : d->dropped,
        .device_count = d->device_count,
        .pass_count = d->schema.pass_count,
        .metric_count = d->schema.metric_count,
        .metrics = d->schema.metrics,
    };
    give(info, info->size, &all, sizeof all);
}

static struct counterworks_row range_row(const struct cw_counter_data *d, uint64_t index)
{
    const struct cw_range *r = &d->ranges[index];
    struct counterworks_row row = {.name = r->name,
                                   .kernel = r->kernel,
                                   .device = d->devices[r->device].index,
                                   .process = r->process,
                                   .start_ns = r->start_ns,
                                   .end_ns = r->end_ns};
    memcpy(row.grid, r->grid, sizeof row.grid);
    memcpy(row.block, r->block, sizeof row.block);
    return row;
}

/* Blocks follow one another. */
static uint32_t device_of_sample(const struct cw_counter_data *d, uint64_t index)
{
    struct cw_search s = {0, d->pm.block_count};
    while (s.low < s.high) /* the first that begins behind it */
        cw_search_narrow(&s, d->pm.blocks[cw_search_middle(&s)].first <= index);
    return d->devices[d->pm.blocks[s.low ? s.low - 1 : 0].device].index;
}

void counterworks_capture_row(const struct counterworks_capture *capture, uint64_t index, struct counterworks_row *row)
{
    const struct cw_counter_data *d = &capture->data;
    const struct counterworks_row all = of_samples(d) ? (struct counterworks_row){.name = "",
                                                                                  .kernel = "",
                                                                                  .device = device_of_sample(d, index),
                                                                                  .start_ns = d->pm.start_ns[index],
                                                                                  .end_ns = d->pm.end_ns[index]}
                                                      : range_row(d, index);
    give(row, row->size, &all, sizeof all);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

const char *counterworks_value_status_text(enum counterworks_value_status status)
{
    return cw_value_status_text((enum cw_value_status)status);
}

enum counterworks_status counterworks_capture_metric_each(const struct counterworks_capture *capture,
                                                          const struct counterworks_chip *chip,
                                                          bool (*take)(void *, const char *), void *user,
                                                          struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_result held = {0};
    char name[CW_METRIC_NAME_MAX];
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status =
        arena ? cw_view_select(&held, capture, chip, NULL, 0, NULL, arena, &call.err) : cw_error_nomem(&call.err);
    for (uint32_t i = 0; status == CW_OK && i < held.metric_count; i++)
        if (!take(user, cw_metric_name(held.chip, &held.metrics[i], name)))
            break;
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}

enum counterworks_status counterworks_evaluate(const struct counterworks_capture *capture,
                                               const struct counterworks_chip *chip, const char *const *names,
                                               size_t count, const struct counterworks_evaluate_options *options,
                                               double *values, int8_t *statuses, struct counterworks_error *error)
{
    static const char *const none; /* no names are not all that the capture holds */
    struct cw_lib_call call = cw_lib_enter();
    const struct cw_eval_options spans = cw_lib_spans(options);
    struct cw_result result = {.values = values, .statuses = statuses};
    struct cw_arena *arena = cw_arena_create();
    struct cw_notices notices = {.arena = arena};
    enum cw_status status = arena ? cw_view_evaluate(&result, capture, NULL, chip, count ? names : &none, count, &spans,
                                                     &notices, arena, &call.err)
                                  : cw_error_nomem(&call.err);
    cw_lib_tell_notices(chip, &notices);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
