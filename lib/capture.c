/* Captures, and values from them. */
#include <string.h>

#include "base/search.h"
#include "lib/handles.h"
#include "lib/views.h"
#include "view/kind.h"
#include "view/metrics.h"
#include "view/source.h"

/* Loads what views would load, so that they change nothing. Blocks of traces stay in the file: each view reads its own.
 */
static enum cw_status load(struct counterworks_capture *capture, struct cw_error *err)
{
    const enum cw_profiler profiler = capture->data.schema.profiler;
    const bool instructions = profiler == CW_PROFILER_PC || profiler == CW_PROFILER_SASS;
    CW_TRY(instructions ? cw_input_load(&capture->file, err) : CW_OK);
    return cw_source_load(capture, err);
}

/* Whether rows are still in the file. */
static bool is_streamed(const struct cw_counter_data *data)
{
    return data->directory || !data->pm.start_ns;
}

static enum counterworks_status finish_opening(struct counterworks_capture **capture, enum cw_status status,
                                               struct cw_lib_call *call, struct counterworks_error *error)
{
    if (status == CW_OK)
        status = load(*capture, &call->err);
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
    return cw_lib_finish(&call, cw_source_merge(output, paths, count, &call.err), error);
}

/* ---- several files ---------------------------------------------------------------------------------------------- */

static enum cw_status need_words(size_t count, struct cw_error *err)
{
    return count ? CW_OK : cw_error_set(err, CW_ERR_USAGE, "found no capture, expected files, a folder or @LIST");
}

enum counterworks_status counterworks_capture_open_files(struct counterworks_capture **capture,
                                                         const char *const *words, size_t count,
                                                         const struct counterworks_files_options *options,
                                                         struct counterworks_notices *notices,
                                                         struct counterworks_error *error)
{
    struct counterworks_files_options o = COUNTERWORKS_FILES_OPTIONS;
    struct cw_lib_call call = cw_lib_enter();
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    const struct cw_source_files files = {.words = words, .count = count, .ranks = o.ranks};
    enum cw_status status = need_words(count, &call.err);
    *capture = NULL;
    if (status == CW_OK)
        status = cw_view_check_request(&(struct counterworks_request){.ranks = o.ranks}, &call.err);
    if (status == CW_OK)
        status = cw_source_open(capture, &files, cw_lib_notices(notices), &call.err);
    return o.streamed ? cw_lib_finish(&call, status, error) : finish_opening(capture, status, &call, error);
}

enum counterworks_status counterworks_capture_merge_files(const char *output, const char *const *words, size_t count,
                                                          struct counterworks_notices *notices,
                                                          struct counterworks_error *error)
{
    const struct cw_source_files files = {.words = words, .count = count};
    struct cw_lib_call call = cw_lib_enter();
    struct cw_arena *arena = cw_arena_create();
    struct cw_file_list found = {0};
    enum cw_status status = arena ? need_words(count, &call.err) : cw_error_nomem(&call.err);
    if (status == CW_OK)
        status = cw_source_expand(&found, &files, cw_lib_notices(notices), arena, &call.err);
    if (status == CW_OK)
        status = cw_source_merge_files(output, &found, false, cw_lib_notices(notices), &call.err);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}

enum counterworks_status counterworks_capture_index(const char *folder, bool force,
                                                    struct counterworks_notices *notices,
                                                    struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_arena *arena = cw_arena_create();
    const enum cw_status status = arena ? cw_rank_files_index(folder, force, cw_lib_notices(notices), arena, &call.err)
                                        : cw_error_nomem(&call.err);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}

/* ---- content ---------------------------------------------------------------------------------------------------- */

static bool of_samples(const struct cw_counter_data *data)
{
    return data->schema.profiler == CW_PROFILER_PM;
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
        .has_metrics = cw_kind_of(capture)->has_metrics,
        .name = capture->source,
    };
    cw_lib_give(info, info->size, &all, sizeof all);
}

static struct counterworks_row range_row(const struct cw_counter_data *d, uint64_t index)
{
    const struct cw_range *r = cw_launch_of(d, (uint32_t)index);
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

/* Blocks follow one another in the order of rows. */
static uint32_t device_of_sample(const struct cw_counter_data *d, uint64_t index)
{
    struct cw_search s = {0, d->pm.block_count};
    while (s.low < s.high) /* the first block behind the row */
        cw_search_narrow(&s, d->pm.blocks[cw_search_middle(&s)].first <= index);
    return d->devices[d->pm.blocks[s.low ? s.low - 1 : 0].device].index;
}

void counterworks_capture_row(const struct counterworks_capture *capture, uint64_t index, struct counterworks_row *row)
{
    const struct cw_counter_data *d = &capture->data;
    const struct counterworks_row all =
        of_samples(d) ? (struct counterworks_row){.name = "",
                                                  .kernel = "",
                                                  .device = device_of_sample(d, index),
                                                  .start_ns = d->pm.start_ns ? d->pm.start_ns[index] : 0,
                                                  .end_ns = d->pm.end_ns ? d->pm.end_ns[index] : 0}
                      : range_row(d, index);
    cw_lib_give(row, row->size, &all, sizeof all);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

const char *counterworks_value_status_text(enum counterworks_value_status status)
{
    return cw_value_status_text((enum cw_value_status)status);
}

/* A capture without metrics needs no chip for its views, and has no values. */
static enum cw_status need_metrics(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                   struct cw_error *err)
{
    CW_TRY(cw_lib_need_chip(capture, chip, err));
    return chip ? CW_OK
                : cw_error_set(err, CW_ERR_UNSUPPORTED, "found a capture of %s, expected one of ranges or samples",
                               cw_profiler_texts[capture->data.schema.profiler]);
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
    const struct cw_view_input in = {cw_lib_capture(capture), chip, .arena = arena, .err = &call.err};
    enum cw_status status = arena ? need_metrics(capture, chip, &call.err) : cw_error_nomem(&call.err);
    if (status == CW_OK)
        status = cw_view_select(&held, &in, NULL, 0);
    for (uint32_t i = 0; status == CW_OK && i < held.metric_count; i++)
        if (!take(user, cw_metric_name(held.chip, &held.metrics[i], name)))
            break;
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}

static enum cw_status need_whole(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                 struct cw_error *err)
{
    CW_TRY(need_metrics(capture, chip, err));
    return cw_kind_of(capture)->has_metrics && is_streamed(&capture->data)
               ? cw_error_set(err, CW_ERR_UNSUPPORTED, "%s: found a streamed capture, expected one that is in memory",
                              capture->name)
               : CW_OK;
}

/* The request for metrics with descriptions and the caller's durations; NULL: the defaults. */
static struct counterworks_request request_of(const struct counterworks_evaluate_options *options)
{
    struct counterworks_evaluate_options o = COUNTERWORKS_EVALUATE_OPTIONS;
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    return (struct counterworks_request){.frame_ns = o.frame_ns, .region_ns = o.region_ns, .full = true};
}

enum counterworks_status counterworks_evaluate(const struct counterworks_capture *capture,
                                               const struct counterworks_chip *chip, const char *const *names,
                                               size_t count, const struct counterworks_evaluate_options *options,
                                               double *values, int8_t *statuses, struct counterworks_error *error)
{
    static const char *const none; /* an empty list selects no metric, and NULL all */
    struct cw_lib_call call = cw_lib_enter();
    const struct counterworks_request request = request_of(options);
    struct cw_result result = {.values = values, .statuses = statuses};
    struct cw_arena *arena = cw_arena_create();
    struct cw_notices notices = {.arena = arena};
    const struct cw_view_input in = {cw_lib_capture(capture), chip, &request, &notices, arena, &call.err};
    enum cw_status status = arena ? need_whole(capture, chip, &call.err) : cw_error_nomem(&call.err);
    if (status == CW_OK)
        status = cw_view_check_request(&request, &call.err);
    if (status == CW_OK)
        status = cw_view_evaluate(&result, &in, NULL, count ? names : &none, count);
    cw_lib_tell_notices(chip, &notices);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}

enum counterworks_status counterworks_hdf5_write(const struct counterworks_capture *capture,
                                                 const struct counterworks_chip *chip, const char *const *names,
                                                 size_t count, const struct counterworks_evaluate_options *options,
                                                 const char *path, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    const struct counterworks_request request = request_of(options);
    struct cw_result result = {.streamed = true};
    struct cw_output output;
    struct cw_arena *arena = cw_arena_create();
    struct cw_notices notices = {.arena = arena};
    const struct cw_view_input in = {cw_lib_capture(capture), chip, &request, &notices, arena, &call.err};
    enum cw_status status = arena ? need_metrics(capture, chip, &call.err) : cw_error_nomem(&call.err);
    if (status == CW_OK)
        status = cw_view_check_request(&request, &call.err);
    if (status == CW_OK)
        status = cw_view_evaluate(&result, &in, NULL, names, count);
    cw_lib_tell_notices(chip, &notices);
    if (status == CW_OK)
        status = cw_view_output(&output, &in, &result);
    pthread_mutex_lock(&cw_lib_hdf5);
    if (status == CW_OK)
        status = cw_hdf5_write(&output, path, &call.err);
    pthread_mutex_unlock(&cw_lib_hdf5);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
