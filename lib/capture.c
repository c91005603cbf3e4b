/* Captures, and values from them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/search.h"
#include "base/utf8.h"
#include "image/merge.h"
#include "lib/handles.h"

static const size_t largest_capture = (size_t)1 << 40;

/* `ranks` as cw_lib_open_ranks has it. Where there are none, or a device of these is described among others, all is
 * read. */
static enum cw_status open_data(struct counterworks_capture *made, const char *ranks, struct cw_error *err)
{
    const char *kept = ranks ? cw_arena_strdup(made->arena, ranks) : NULL;
    if (ranks && !kept)
        return cw_error_nomem(err);
    if (ranks && cw_counter_data_open_ranks(&made->data, &made->file, kept, made->arena, NULL) == CW_OK &&
        made->data.range_count)
        return CW_OK;
    return cw_counter_data_open(&made->data, &made->file, made->arena, err);
}

static enum cw_status read_capture(struct counterworks_capture *made, const char *name, const char *ranks,
                                   struct cw_error *err)
{
    const char *slash = strrchr(name, '/');
    char *source = cw_arena_strdup(made->arena, slash ? slash + 1 : name);
    made->name = made->file.name = cw_arena_strdup(made->arena, name);
    if (!source || !made->name)
        return cw_error_nomem(err);
    cw_utf8_force(source, strlen(source));
    made->source = source;
    return open_data(made, ranks, err);
}

static enum counterworks_status finish_opening(struct counterworks_capture **capture, struct counterworks_capture *made,
                                               enum cw_status status, const struct cw_lib_call *call,
                                               struct counterworks_error *error)
{
    if (status != CW_OK)
        counterworks_capture_close(made);
    *capture = status == CW_OK ? made : NULL;
    return cw_lib_finish(call, status, error);
}

enum cw_status cw_lib_open(struct counterworks_capture **capture, const char *path, struct cw_error *err)
{
    return cw_lib_open_ranks(capture, path, NULL, err);
}

enum cw_status cw_lib_open_ranks(struct counterworks_capture **capture, const char *path, const char *ranks,
                                 struct cw_error *err)
{
    struct counterworks_capture *made = cw_lib_handle(sizeof *made);
    enum cw_status status = made ? cw_input_open(&made->file, path, largest_capture, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = read_capture(made, path, ranks, err);
    if (status != CW_OK)
        counterworks_capture_close(made);
    *capture = status == CW_OK ? made : NULL;
    return status;
}

enum cw_status cw_lib_load(struct counterworks_capture *capture, struct cw_error *err)
{
    return cw_counter_data_load(&capture->data, capture->arena, err);
}

enum counterworks_status counterworks_capture_open(struct counterworks_capture **capture, const char *path,
                                                   struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct counterworks_capture *made = cw_lib_handle(sizeof *made);
    enum cw_status status = made ? cw_input_open(&made->file, path, largest_capture, &call.err) : CW_ERR_NOMEM;
    if (status == CW_OK)
        status = read_capture(made, path, NULL, &call.err);
    if (status == CW_OK)
        status = cw_lib_load(made, &call.err);
    return finish_opening(capture, made, status, &call, error);
}

enum counterworks_status counterworks_capture_read(struct counterworks_capture **capture, const void *data, size_t size,
                                                   const char *source, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct counterworks_capture *made = cw_lib_handle(sizeof *made);
    if (made)
        made->file = cw_input_of(data, size, source);
    enum cw_status status = made ? read_capture(made, source, NULL, &call.err) : CW_ERR_NOMEM;
    if (status == CW_OK)
        status = cw_lib_load(made, &call.err);
    return finish_opening(capture, made, status, &call, error);
}

void counterworks_capture_close(struct counterworks_capture *capture)
{
    if (capture)
        cw_input_close(&capture->file);
    cw_lib_drop(capture);
}

/* ---- several as one --------------------------------------------------------------------------------------------- */

struct joining {
    const char *const *paths;
    size_t count, opened;     /* opened: each file twice */
    struct cw_input standard; /* standard input, which can be read once */
    FILE *out;
    const char *output;
    bool *incomplete;         /* see struct cw_merge_files */
    struct cw_job_ranks *job; /* the same */
    struct cw_spool spool; /* instead of them */
};

static enum cw_status open_input(void *joining, size_t i, struct cw_input *input, struct cw_error *err)
{
    struct joining *j = joining;
    const bool standard = cw_file_is_standard(j->paths[i]);
    enum cw_status status = CW_OK;
    cw_progress_at(j->opened++ < j->count ? 0 : i, j->count);
    *input = j->standard;
    if (!standard || !input->name)
        status = cw_input_open(input, j->paths[i], largest_capture, err);
    if (standard && status == CW_OK)
        j->standard = *input;
    if (status != CW_OK)
        cw_input_close(input);
    return status;
}

static void close_input(void *joining, struct cw_input *input)
{
    if (cw_file_is_standard(input->name))
        ((struct joining *)joining)->standard = *input; /* may have been loaded meanwhile */
    else
        cw_input_close(input);
}

static enum cw_status put_output(void *joining, const void *data, size_t size, struct cw_error *err)
{
    const struct joining *j = joining;
    if (fwrite(data, 1, size, j->out) == size && fflush(j->out) == 0)
        return CW_OK;
    return cw_error_set(err, CW_ERR_IO, "%s: cannot write: %s", j->output, strerror(errno));
}

/* A cw_file_render of a struct joining. */
static enum cw_status join(FILE *out, const void *joining, struct cw_error *err)
{
    struct joining j = *(const struct joining *)joining;
    const struct cw_merge_files files = {.count = j.count,
                                         .open = open_input,
                                         .close = close_input,
                                         .put = put_output,
                                         .user = &j,
                                         .sparse = true,
                                         .incomplete = j.incomplete,
                                         .job = j.job};
    j.out = out;
    enum cw_status status = cw_counter_data_merge_files(&files, err);
    cw_input_close(&j.standard);
    return status;
}

enum cw_status cw_lib_merge(const char *output, const char *const *paths, size_t count, bool *incomplete,
                            struct cw_job_ranks *job, struct cw_error *err)
{
    const struct joining joining = {
        .paths = paths, .count = count, .output = output, .incomplete = incomplete, .job = job};
    return cw_file_print(output, join, &joining, err);
}

enum counterworks_status counterworks_capture_merge(const char *output, const char *const *paths, size_t count,
                                                    struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    return cw_lib_finish(&call, cw_lib_merge(output, paths, count, NULL, NULL, &call.err), error);
}

static enum cw_status put_joined(void *joining, const void *data, size_t size, struct cw_error *err)
{
    return cw_spool_put(&((struct joining *)joining)->spool, data, size, err);
}

enum cw_status cw_lib_open_joined(struct counterworks_capture **capture, const char *const *paths, size_t count,
                                  const char *name, struct cw_error *err)
{
    struct counterworks_capture *made = cw_lib_handle(sizeof *made);
    struct joining j = {.paths = paths, .count = count};
    const struct cw_merge_files files = {
        .count = count, .open = open_input, .close = close_input, .put = put_joined, .user = &j};
    enum cw_status status = made ? cw_counter_data_merge_files(&files, err) : cw_error_nomem(err);
    cw_input_close(&j.standard);
    if (status == CW_OK) {
        made->file = cw_spool_finish(&j.spool, name);
        status = read_capture(made, name, NULL, err);
    } else {
        cw_spool_free(&j.spool);
    }
    if (status != CW_OK)
        counterworks_capture_close(made);
    *capture = status == CW_OK ? made : NULL;
    return status;
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
    struct counterworks_chip silent = *chip; /* evaluation tells what is worth telling */
    char name[CW_METRIC_NAME_MAX];
    struct cw_arena *arena = cw_arena_create();
    silent.tell = NULL;
    enum cw_status status =
        arena ? cw_lib_select(&held, capture, &silent, NULL, 0, arena, &call.err) : cw_error_nomem(&call.err);
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
    enum cw_status status =
        arena ? cw_lib_evaluate(&result, capture, NULL, chip, count ? names : &none, count, &spans, arena, &call.err)
              : cw_error_nomem(&call.err);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
