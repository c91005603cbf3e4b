/* Which of a trace is looked at, by --kernel, --exclude and --range. */
#ifndef CW_CLI_EVAL_TRACE_CHOICE_H
#define CW_CLI_EVAL_TRACE_CHOICE_H

#include "cli/eval/run.h"
#include "eval/timeline/groups.h"

struct cw_eval_trace_choice {
    struct cw_timeline_keep keep;
    struct cw_timeline_window
        *within; /* when the ranges of --range were open, in order and apart; NULL: all the time */
    uint32_t within_count;
};

/* With `or_none` it may be that nothing is. In the run's arena. */
enum cw_status cw_eval_trace_choose(struct cw_eval_trace_choice *choice, struct cw_eval_run *run,
                                    const struct cw_timeline *timeline, bool or_none);

#endif
