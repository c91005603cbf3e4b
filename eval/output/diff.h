/* What changed between two captures, written. */
#ifndef CW_EVAL_OUTPUT_DIFF_H
#define CW_EVAL_OUTPUT_DIFF_H

#include "eval/compare/compare.h"
#include "eval/timeline/usage.h"

/* What two traces have beside what ran on the GPUs. */
struct cw_diff_trace {
    const struct cw_timeline_usage *a_usage, *b_usage; /* NULL where a side has several runs */
    const struct cw_comparison *ranges;                /* NVTX ranges by path; NULL where neither has any */
};

struct cw_diff_output {
    const struct cw_comparison *of;
    unsigned width; /* columns of the terminal; 0: 100 */
    size_t top;     /* kernels to show */
    const struct cw_diff_trace *trace; /* NULL: the captures are of ranges */
};

/* `output` is a struct cw_diff_output: these are cw_file_render (base/file.h). CW_ERR_NOMEM alone. */

/* For people: how many kernels changed, what captures differ in, time, then the kernels that changed with the metrics
 * that did: those whose time changed, those whose exact counts did, others. Of metrics exact counts stand first, then
 * what weighs most (cw_compare_weight); dust is left out. */
enum cw_status cw_diff_print(FILE *out, const void *output, struct cw_error *err);
/* All of it, as data/schemas/diff.schema.json has it. */
enum cw_status cw_diff_write_json(FILE *out, const void *output, struct cw_error *err);

#endif
