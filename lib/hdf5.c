/* The second library, of which only this is exported. */
#include "eval/output/output.h"
#include "include/counterworks/hdf5.h"
#include "lib/handles.h"
#include "metricdb/glossary.h"

static enum cw_status write_file(const struct counterworks_capture *capture, const struct counterworks_chip *of,
                                 const char *const *names, size_t count, const struct cw_eval_options *spans,
                                 const char *path, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_chip *chip = of->chip;
    const bool samples = capture->data.schema.profiler == CW_PROFILER_PM;
    const char *const *texts;
    struct cw_metric *metrics;
    struct cw_output output;
    struct cw_result result;
    enum cw_status status = cw_lib_metrics(&metrics, &chip, capture, names, count, arena, err);
    if (status == CW_OK)
        status = cw_describe_metrics(&texts, of->folder, chip, metrics, count, arena, err);
    result = (struct cw_result){chip, &capture->data, capture->source, metrics, (uint32_t)count};
    if (status == CW_OK)
        status = cw_result_make(&result, spans, arena, err);
    if (status == CW_OK)
        status = samples ? cw_output_samples(&output, &result, texts, arena, err)
                         : cw_output_ranges(&output, &result, texts, arena, err);
    return status == CW_OK ? cw_hdf5_write(&output, path, err) : status;
}

enum counterworks_status counterworks_hdf5_write(const struct counterworks_capture *capture,
                                                 const struct counterworks_chip *chip, const char *const *names,
                                                 size_t count, const struct counterworks_evaluate_options *options,
                                                 const char *path, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    const struct cw_eval_options spans = cw_lib_spans(options);
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status =
        arena ? write_file(capture, chip, names, count, &spans, path, arena, &call.err) : cw_error_nomem(&call.err);
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
