/* metric-eval diff: what changed between two captures. */
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/trace_diff.h"
#include "eval/output/diff.h"

struct diff_options {
    struct cw_eval_request eval; /* metrics and chip, of both captures */
    struct cw_eval_sides sides;
    bool by_nvtx, json;
    size_t top;
};

static void check_options(void *options, struct argp_state *state)
{
    struct diff_options *o = options;
    const size_t count = o->sides.a_count + o->sides.b_count;
    if (!cw_eval_has_sides(&o->sides))
        cw_usage_error(state, "found %zu capture%s, expected A.cwd B.cwd, or A.cwd... -- B.cwd...", count,
                       count == 1 ? "" : "s");
    if (o->eval.all && o->eval.sources.count)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the first capture holds",
     CW_OPTION_FLAG(struct diff_options, eval.all)},
    {"by", 0, "kernel|nvtx", "what is matched: launches of one kernel and shape (default), or of one NVTX path",
     CW_OPTION_CHOICE(struct diff_options, by_nvtx)},
    {"format", 0, "text|json", "how to print (default: text)", CW_OPTION_CHOICE(struct diff_options, json)},
    {"top", 0, "N", "show the N kernels whose time changed most (default: 10); JSON has all",
     CW_OPTION_NUMBER(struct diff_options, top, 1, UINT32_MAX)},
    {CW_OPTION_GROUP(struct diff_options, eval.ranges, cw_eval_ranges_options)},
    {CW_OPTION_WORDS(struct diff_options, sides.a, sides.a_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct diff_options, eval.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct diff_options, eval, cw_eval_value_options)},
    {0},
};

static enum cw_status print(const struct diff_options *o, const struct cw_comparison *c,
                            const struct cw_diff_trace *trace, struct cw_error *err)
{
    const struct cw_diff_output output = {
        .of = c, .width = cw_eval_style(&o->eval).width, .top = o->top, .trace = trace};
    return (o->json ? cw_diff_write_json : cw_diff_print)(stdout, &output, err);
}

static enum cw_status compare(const struct diff_options *o, struct cw_eval_run *a, struct cw_eval_run *b,
                              struct cw_comparison *c)
{
    const uint32_t runs[2] = {(uint32_t)o->sides.a_count, (uint32_t)o->sides.b_count};
    const enum cw_group_by by = o->by_nvtx ? CW_BY_NVTX : CW_BY_KERNEL;
    return cw_compare(c, &a->result, &b->result, runs, by, true, &o->eval.eval, a->arena, a->err);
}

static enum cw_status diff_ranges(const struct diff_options *o, struct cw_eval_run *a, struct cw_eval_run *b)
{
    struct cw_comparison c;
    enum cw_status status = cw_eval_open_ranges(a);
    if (status == CW_OK)
        status = cw_eval_select(a);
    if (status == CW_OK)
        status = cw_eval_open_ranges(b);
    if (status == CW_OK)
        status = cw_eval_keep_ranges(a, b);
    if (status == CW_OK)
        status = compare(o, a, b, &c);
    return status == CW_OK ? print(o, &c, NULL, a->err) : status;
}

static bool is_trace(const struct cw_eval_run *r)
{
    return r->capture->data.schema.profiler == CW_PROFILER_TRACE;
}

static enum cw_status diff_traces(const struct diff_options *o, struct cw_eval_run *a, struct cw_eval_run *b)
{
    const uint32_t runs[2] = {(uint32_t)o->sides.a_count, (uint32_t)o->sides.b_count};
    struct cw_eval_trace_diff d = {0};
    enum cw_status status = CW_OK;
    if (!is_trace(b))
        status = cw_error_set(a->err, CW_ERR_USAGE, "%s: found a capture that is no trace, expected one as the other",
                              b->o->capture);
    else if (o->eval.all || o->eval.sources.count)
        status = cw_error_set(a->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                              a->o->capture, o->eval.all ? "--all" : "metrics");
    else
        status = cw_eval_trace_diff(&d, a, b, runs, o->by_nvtx);
    if (status == CW_OK)
        status = print(o, &d.of, &d.trace, a->err);
    cw_eval_trace_diff_free(&d);
    return status;
}

static enum cw_status diff(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                           struct cw_error *err)
{
    const struct diff_options *o = options;
    struct cw_eval_request requests[2] = {o->eval, o->eval};
    struct cw_eval_run a, b = {0};
    (void)chip;
    enum cw_status status = cw_eval_open_any(&a, &requests[0], o->sides.a, o->sides.a_count, arena, err);
    if (status == CW_OK)
        status = cw_eval_open_any(&b, &requests[1], o->sides.b, o->sides.b_count, arena, err);
    if (status == CW_OK)
        status = is_trace(&a) ? diff_traces(o, &a, &b) : diff_ranges(o, &a, &b);
    cw_eval_close(&a);
    cw_eval_close(&b);
    return status;
}

int cw_eval_diff(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "A.cwd B.cwd\nA.cwd... -- B.cwd...",
        "Says what changed from one capture to another: first what they are of, then time, then the kernels that "
        "changed, with the metrics that changed beyond their spread. Without -m, --set or --all these are the metrics "
        "of the first capture's plan. Of traces: what ran on the GPUs, what these waited for, and NVTX ranges.\v"
        "Example:\n  metric-eval diff before.cwd after.cwd\n  metric-eval diff before.cwd after.cwd --all --by nvtx\n"
        "  metric-eval diff before*.cwd -- after*.cwd"};
    struct diff_options options = {.eval.by_block = true, .top = 10};
    argc = cw_eval_split_sides(&options.sides, argc, argv);
    return cw_cli_run(&usage, argc, argv, &options, NULL, diff);
}
