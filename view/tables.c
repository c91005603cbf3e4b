#include "view/tables.h"

#include "metricdb/glossary.h"

static enum cw_status describe(const char *const **texts, const struct cw_result *result,
                               const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    *texts = NULL;
    return chip ? cw_describe_metrics(texts, chip->folder, result->chip, result->metrics, result->metric_count, arena,
                                      err)
                : CW_OK;
}

enum cw_status cw_tables_make(struct cw_output *output, const struct cw_result *result,
                              const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    const char *const *texts;
    const enum cw_status status = describe(&texts, result, chip, arena, err);
    if (status != CW_OK)
        return status;
    return result->ranges ? cw_output_ranges(output, result, texts, arena, err)
                          : cw_output_samples(output, result, texts, arena, err);
}

enum cw_status cw_tables_make_groups(struct cw_output *output, const struct cw_output_rows *rows,
                                     const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    const char *const *texts;
    const enum cw_status status = describe(&texts, rows->result, chip, arena, err);
    return status == CW_OK ? cw_output_groups(output, rows, texts, arena, err) : status;
}
