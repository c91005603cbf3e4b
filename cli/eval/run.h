/* What metric-eval was asked for and works on: shared by its files. */
#ifndef CW_CLI_EVAL_RUN_H
#define CW_CLI_EVAL_RUN_H

#include "base/file.h"
#include "cli/common/chip.h"
#include "cli/common/metric_list.h"
#include "eval/output/output.h"

struct cw_eval_request {
    const char *capture, *range, *hdf5, *csv, *json, *check, *native, *explained;
    struct cw_metric_sources sources;
    struct cw_eval_options eval;
    struct cw_cli_chip chip; /* without a name or file: that of the capture */
    bool all, show, explain;
    size_t top;
};

struct cw_eval_run {
    const struct cw_eval_request *o;
    struct cw_arena *arena;
    struct cw_error *err;
    struct cw_bytes file; /* samples stay in it */
    const char *source;   /* the capture's name without folders, for outputs */
    struct cw_counter_data data;
    struct counterworks_chip *handle;
    const struct cw_chip *chip;
    struct cw_metric *metrics;
    size_t metric_count;
    struct cw_result result;
};

/* A capture of PC samples or SASS metrics; of samples over time. */
bool cw_eval_of_instructions(const struct cw_eval_run *r);
bool cw_eval_of_samples(const struct cw_eval_run *r);

/* Reads the capture; what it lacks is told on standard error. */
enum cw_status cw_eval_load_capture(struct cw_eval_run *r);
/* The chip's database with the user's formulas; what it knows otherwise than the plan did is told on standard error. */
enum cw_status cw_eval_load_chip(struct cw_eval_run *r);

/* Fill in `metrics`: by name, what the command line names, or that or else all or what was planned. */
enum cw_status cw_eval_parse_names(struct cw_eval_run *r, const char *const *names, size_t count);
enum cw_status cw_eval_gather_named(struct cw_eval_run *r);
enum cw_status cw_eval_gather(struct cw_eval_run *r);

/* Leaves the ranges that --range matches in the result, at least one; without --range all. */
enum cw_status cw_eval_select_ranges(struct cw_eval_run *r, struct cw_result *result);
/* One range: the one of that number, or the first that matches. */
enum cw_status cw_eval_choose_range(struct cw_eval_run *r, uint32_t *range);

/* All forms asked for, and a table where none of them takes standard output. */
enum cw_status cw_eval_write(struct cw_eval_run *r, const struct cw_output *output);
/* The result of ranges or samples so. */
enum cw_status cw_eval_write_metrics(struct cw_eval_run *r);

/* A capture of PC samples or SASS metrics: written so, or what it holds, beside what `metric-eval show` says of every
 * capture. */
enum cw_status cw_eval_instructions(struct cw_eval_run *r);
enum cw_status cw_show_instructions(struct cw_eval_run *r);

#endif
