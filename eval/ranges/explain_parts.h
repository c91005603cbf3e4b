/* What an explanation is made of, for its forms: text (explain.c) and JSON (explain_json.c). */
#ifndef CW_EVAL_RANGES_EXPLAIN_PARTS_H
#define CW_EVAL_RANGES_EXPLAIN_PARTS_H

#include <stdio.h>

#include "eval/ranges/spread.h"

/* The metrics that one explanation speaks of, with their values: the metric itself, the formulas that it refers to, and
 * then the chip's own metrics. */
struct cw_explanation {
    FILE *out;
    const struct cw_chip *chip;
    const struct cw_counter_data *data;
    const struct cw_eval_options *options;
    uint32_t range, number; /* of the data; of the capture */
    const struct cw_groups *fold; /* or NULL */
    struct cw_metric *list;
    uint32_t count;
    struct cw_result result;
    struct cw_arena *arena;
    struct cw_error *err;
};

/* Lists the metrics that a metric is computed from, itself first, and evaluates them. Of data that stays in a file, the
 * range is read: `data` has it alone then. */
enum cw_status cw_explain_list(struct cw_explanation *explanation, const struct cw_metric *metric);
/* Makes an explanation of the constituents of a throughput, as metrics of counters, none where they are not known;
 * `order`: by value, the largest first. All but the list and the result stay. */
enum cw_status cw_explain_constituents(struct cw_explanation *explanation, const struct cw_metric *throughput,
                                       uint32_t **order);

/* Of a metric by its place in the list. */
double cw_explain_value(const struct cw_explanation *explanation, uint32_t metric);
enum cw_value_status cw_explain_status(const struct cw_explanation *explanation, uint32_t metric);
/* Why it has no formula with numbers; NULL: it has. The text may lie in `why`. */
const char *cw_explain_lack(const struct cw_explanation *explanation, uint32_t metric, struct cw_error *why);
/* Where a fact comes from, or that it does not. */
const char *cw_explain_fact(const struct cw_explanation *explanation, uint32_t metric);

/* Print to `out`: a term, by counters or with their numbers; the text of a formula with values for names. */
void cw_explain_term(const struct cw_explanation *explanation, const struct cw_eval_term *term, bool numbers);
void cw_explain_numbers(const struct cw_explanation *explanation, const char *text);
/* A number for people. Returns `text`. */
const char *cw_explain_number(double value, char text[CW_NUMBER_SIZE]);

/* Which of the chip's counters the metrics are computed from. */
enum cw_status cw_explain_needed(const struct cw_explanation *explanation, bool **needed);
/* The column of a counter, CW_NONE where the capture has none. */
uint32_t cw_explain_column(const struct cw_explanation *explanation, const char *counter);
/* Of a column: its counter, what was recorded, on how many instances (0: unknown), and why there is nothing (NULL:
 * there is). */
const struct cw_schema_counter *cw_explain_counter(const struct cw_explanation *explanation, uint32_t column);
double cw_explain_recorded(const struct cw_explanation *explanation, uint32_t column, enum cw_rollup rollup);
uint32_t cw_explain_instances(const struct cw_explanation *explanation, uint32_t column);
const char *cw_explain_form(const struct cw_explanation *explanation, uint32_t column);

/* Its number in the capture; the first of those that were multiplexed. */
uint32_t cw_explain_range(const struct cw_explanation *explanation);
/* Of what was multiplexed: the group; in how many of its ranges a column was collected; whether a metric needs counters
 * of different passes. */
const struct cw_group *cw_explain_group(const struct cw_explanation *explanation);
uint32_t cw_explain_occurrences(const struct cw_explanation *explanation, uint32_t column);
bool cw_explain_mixes(const struct cw_explanation *explanation, uint32_t metric);

#endif
