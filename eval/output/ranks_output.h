/* How ranks differ, as tables for files and for people. */
#ifndef CW_EVAL_OUTPUT_RANKS_OUTPUT_H
#define CW_EVAL_OUTPUT_RANKS_OUTPUT_H

#include "eval/compare/ranks.h"
#include "eval/output/output.h"
#include "image/job_ranks.h"

struct cw_ranks_view {
    const struct cw_ranks *ranks;
    const struct cw_result *metrics;    /* the metrics: chip, names and units; no values */
    const struct cw_counter_data *data; /* the captures' common schema, and a device */
    const struct cw_job_ranks *job;     /* the ranks of the captures, sorted */
    const char *source;
    size_t top;           /* kernels, stragglers and metrics to show to people */
    struct cw_error *err; /* set if values cannot be read again */
};

/* The tables values (of each kernel and rank), ranks, kernels, stragglers, waited_for and missing_ranks. CW_ERR_NOMEM
 * alone. */
enum cw_status cw_output_ranks(struct cw_output *output, const struct cw_ranks_view *view, struct cw_arena *arena,
                               struct cw_error *err);

/* "rank 713 (node0089) is 18.2 % slower in gemm: its SM clock is 12.0 % lower", escaped. Returns `text`. */
enum { CW_STRAGGLER_TEXT = 1024 };
const char *cw_straggler_text(const struct cw_ranks *ranks, const struct cw_straggler *straggler,
                              char text[CW_STRAGGLER_TEXT]);
const char *cw_waited_text(const struct cw_ranks *ranks, const struct cw_waited_for *waited,
                           char text[CW_STRAGGLER_TEXT]);

/* Prints them for people; cw_output_ranks sets it as `print`. */
enum cw_status cw_ranks_print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                              struct cw_error *err);

#endif
