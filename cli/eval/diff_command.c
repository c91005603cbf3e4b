/* metric-eval diff: what changed between two captures. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/eval/run.h"
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

static enum cw_status compare(const struct diff_options *o, struct cw_eval_run *a, struct cw_eval_run *b,
                              struct cw_arena *arena, struct cw_error *err)
{
    const uint32_t runs[2] = {(uint32_t)o->sides.a_count, (uint32_t)o->sides.b_count};
    const enum cw_group_by by = o->by_nvtx ? CW_BY_NVTX : CW_BY_KERNEL;
    struct cw_comparison c;
    enum cw_status status = cw_compare(&c, &a->result, &b->result, runs, by, true, &o->eval.eval, arena, err);
    if (status != CW_OK)
        return status;
    const char *columns = getenv("COLUMNS");
    const struct cw_diff_output output = {
        .of = &c, .width = columns && isatty(STDOUT_FILENO) ? (unsigned)strtoul(columns, NULL, 10) : 0, .top = o->top};
    return (o->json ? cw_diff_write_json : cw_diff_print)(stdout, &output, err);
}

static enum cw_status diff(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                           struct cw_error *err)
{
    const struct diff_options *o = options;
    struct cw_eval_request requests[2] = {o->eval, o->eval};
    struct cw_eval_run a, b = {0};
    (void)chip;
    enum cw_status status = cw_eval_open(&a, &requests[0], o->sides.a, o->sides.a_count, arena, err);
    if (status == CW_OK)
        status = cw_eval_select(&a);
    if (status == CW_OK)
        status = cw_eval_open(&b, &requests[1], o->sides.b, o->sides.b_count, arena, err);
    if (status == CW_OK)
        status = cw_eval_keep_ranges(&a, &b);
    if (status == CW_OK)
        status = compare(o, &a, &b, arena, err);
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
        "of the first capture's plan.\v"
        "Example:\n  metric-eval diff before.cwd after.cwd\n  metric-eval diff before.cwd after.cwd --all --by nvtx\n"
        "  metric-eval diff before*.cwd -- after*.cwd"};
    struct diff_options options = {.top = 10};
    argc = cw_eval_split_sides(&options.sides, argc, argv);
    return cw_cli_run(&usage, argc, argv, &options, NULL, diff);
}
