/* Metrics over the samples of PM sampling, and the launches beside them. */
#ifndef CW_EVAL_PM_H
#define CW_EVAL_PM_H

#include "eval/result.h"
#include "image/pm_view.h"

struct cw_pm_result {
    struct cw_result base; /* metrics, names and units; it has no ranges */
    const struct cw_pm_data *pm;
    double *values;   /* [metric][sample] */
    int8_t *statuses; /* the same; enum cw_value_status */
};

/* Compiles the metrics and evaluates them on every sample, block by block. All lives in `arena`; the chip, the data and
 * `source` are borrowed. */
enum cw_status cw_pm_result_make(struct cw_pm_result *result, const struct cw_chip *chip,
                                 const struct cw_counter_data *data, const char *source,
                                 const struct cw_metric *metrics, size_t count, const struct cw_eval_options *options,
                                 struct cw_arena *arena, struct cw_error *err);

/* One row for each sample and metric: sample, time_start, time_end, device, metric, unit, value, status. */
void cw_pm_csv_write(const struct cw_pm_result *result, FILE *out);

/* {"capture": {...}, "metrics": [{"name", "unit", "type"}], "samples": [{"device", "start_ns", "end_ns", "values",
 * "statuses"}], "launches": [{"name", "device", "process", "context", "stream", "start_ns", "end_ns"}]}; values as
 * cw_json_write has them. */
enum cw_status cw_pm_json_write(const struct cw_pm_result *result, FILE *out, struct cw_error *err);

/* Writes `path` as cw_hdf5_write does:
 *
 *     /                    as there
 *     /pm/time_start       [time_start] uint64 ns, dimension scale, attribute clock: "CLOCK_REALTIME" or "GPU";
 *                          time_end, device [time_start]
 *     /pm/metric           [metric] string, dimension scale; unit, type, description [metric]
 *     /pm/value            [time_start, metric] float64; /pm/status int8, attributes flag_values and flag_meanings
 *     /launch/time_start   [time_start] uint64 ns of CLOCK_REALTIME, dimension scale; time_end, kernel, device,
 * process, context, stream [time_start] /capture/manifest    string, JSON */
enum cw_status cw_pm_hdf5_write(const struct cw_pm_result *result, const char *const *descriptions, const char *path,
                                struct cw_error *err);

/* For each device a line on its samples, then mean, least and greatest of each metric over them; then the launches by
 * kernel, longest first. */
enum cw_status cw_pm_table_write(const struct cw_pm_result *result, FILE *out, struct cw_error *err);

#endif
