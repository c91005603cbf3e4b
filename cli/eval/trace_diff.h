/* Two traces beside each other. */
#ifndef CW_CLI_EVAL_TRACE_DIFF_H
#define CW_CLI_EVAL_TRACE_DIFF_H

#include "cli/eval/run.h"
#include "eval/output/diff.h"

struct cw_eval_trace_diff {
    struct cw_comparison of, ranges; /* what ran on GPUs; NVTX ranges */
    struct cw_diff_trace trace;
    struct cw_eval_trace_side *sides;
};

/* Of the traces that two runs have opened, with what --kernel, --exclude and --range leave; `runs`: of each side. To be
 * freed in any case, before the runs are closed. */
enum cw_status cw_eval_trace_diff(struct cw_eval_trace_diff *diff, struct cw_eval_run *a, struct cw_eval_run *b,
                                  const uint32_t runs[2], bool by_nvtx);
void cw_eval_trace_diff_free(struct cw_eval_trace_diff *diff);

#endif
