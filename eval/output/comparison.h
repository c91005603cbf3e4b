/* Writers for comparisons of captures: changes (diff), and verdicts by rules (gate). */
#ifndef CW_EVAL_OUTPUT_COMPARISON_H
#define CW_EVAL_OUTPUT_COMPARISON_H

#include "eval/compare/gate.h"
#include "eval/output/output.h"
#include "eval/timeline/usage.h"

struct cw_diff_output {
    const struct cw_comparison *of;
    unsigned width; /* columns of the terminal; 0: 100 */
    size_t top;     /* kernels to show */
    bool quiet;     /* without the captures, the numbers of changes, and the legend */
    bool traces;    /* the captures are traces; the members below are of traces alone */
    const struct cw_timeline_usage *a_usage, *b_usage; /* NULL where a side has several runs */
    const struct cw_comparison *ranges;                /* NVTX ranges by path; NULL where neither has any */
};

/* The functions below are cw_file_render (base/file.h): `output` is a struct cw_diff_output or cw_judgement. They
 * return CW_ERR_NOMEM alone. */

/* For people: the number of changed kernels, the differences between the captures, time, then each changed kernel with
 * its changed metrics. Kernels with changed time stand first, then kernels with changed exact counts. Of a kernel's
 * metrics exact counts stand first, then the heaviest (cw_compare_weight); dust is left out. */
enum cw_status cw_diff_print(FILE *out, const void *output, struct cw_error *err);
/* All of it, as data/schemas/diff.schema.json describes. */
enum cw_status cw_diff_write_json(FILE *out, const void *output, struct cw_error *err);

/* For people: the verdict, then why captures cannot be compared, then for each kernel the metrics beyond their noise.
 */
enum cw_status cw_gate_print(FILE *out, const void *output, struct cw_error *err);
/* All of it, as data/schemas/gate.schema.json describes. */
enum cw_status cw_gate_write_json(FILE *out, const void *output, struct cw_error *err);

/* The same as tables for programs: `groups`, with a row for each match; of ranges `changes`, with a row for each metric
 * of each match on both sides; of traces `nvtx`, as `groups`, for NVTX ranges. Of a gate `groups` and `findings`. They
 * borrow the comparison; `output` must stay in its place. CW_ERR_NOMEM alone. */
enum cw_status cw_diff_tables(struct cw_output *output, const struct cw_diff_output *diff, struct cw_arena *arena,
                              struct cw_error *err);
enum cw_status cw_gate_tables(struct cw_output *output, const struct cw_judgement *judgement, struct cw_arena *arena,
                              struct cw_error *err);

/* For people: the size of rules learnt from `runs`, their noise, and the slow-downs that would show. `path`: of the
 * rules. */
void cw_gate_print_summary(FILE *out, const char *path, const struct cw_gate_runs *runs,
                           const struct cw_gate_summary *summary);

#endif
