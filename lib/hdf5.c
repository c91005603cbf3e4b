/* The second library, of which only counterworks_hdf5_write is exported. */
#include "eval/output/output.h"
#include "include/counterworks/hdf5.h"
#include "lib/handles.h"
#include "metricdb/glossary.h"

static enum cw_status describe(const char *const **texts, const struct cw_result *result,
                               const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    *texts = NULL;
    return chip ? cw_describe_metrics(texts, chip->folder, result->chip, result->metrics, result->metric_count, arena,
                                      err)
                : CW_OK;
}

enum cw_status cw_lib_output(struct cw_output *output, const struct cw_result *result,
                             const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    const char *const *texts = NULL;
    const enum cw_status status = describe(&texts, result, chip, arena, err);
    if (status != CW_OK)
        return status;
    return result->ranges ? cw_output_ranges(output, result, texts, arena, err)
                          : cw_output_samples(output, result, texts, arena, err);
}

enum cw_status cw_lib_output_groups(struct cw_output *output, const struct cw_output_rows *rows,
                                    const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    const char *const *texts = NULL;
    const enum cw_status status = describe(&texts, rows->result, chip, arena, err);
    return status == CW_OK ? cw_output_groups(output, rows, texts, arena, err) : status;
}

enum counterworks_status counterworks_hdf5_write(const struct counterworks_capture *capture,
                                                 const struct counterworks_chip *chip, const char *const *names,
                                                 size_t count, const struct counterworks_evaluate_options *options,
                                                 const char *path, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    const struct cw_eval_options spans = cw_lib_spans(options);
    struct cw_result result = {.streamed = true};
    struct cw_output output;
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena
                                ? cw_lib_evaluate(&result, capture, NULL, chip, names, count, &spans, arena, &call.err)
                                : cw_error_nomem(&call.err);
    if (status == CW_OK)
        status = cw_lib_output(&output, &result, chip, arena, &call.err);
    if (status == CW_OK)
        status = cw_hdf5_write(&output, path, &call.err);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
