/* metric-eval diff: changes between two captures. */
#include "cli/common/cli.h"
#include "cli/eval/session.h"

struct diff {
    struct cw_eval_line line; /* first member; metrics and chip serve both captures */
    struct cw_eval_sides sides;
    bool by_nvtx;
};

static void check_options(void *diff, struct argp_state *state)
{
    struct diff *o = diff;
    const size_t count = o->sides.a_count + o->sides.b_count;
    if (!cw_eval_has_sides(&o->sides))
        cw_usage_error(state, "found %zu capture%s, expected A.cwd B.cwd, or A.cwd... -- B.cwd...", count,
                       count == 1 ? "" : "s");
    cw_eval_check_every(&o->line, state);
    o->line.request.by = o->by_nvtx ? "nvtx" : NULL;
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the first capture holds",
     CW_OPTION_FLAG(struct diff, line.request.every)},
    {"by", 0, "kernel|nvtx", "match launches of one kernel and shape (default), or of one NVTX path",
     CW_OPTION_CHOICE(struct diff, by_nvtx)},
    {CW_OPTION_GROUP(struct diff, line, cw_eval_format_options)},
    {CW_OPTION_GROUP(struct diff, line, cw_eval_quiet_options)},
    {"top", 0, "N", "show the N kernels whose time changed most, or all (default: 10); JSON has all", CW_OPTION_OR_ALL,
     CW_OPTION_NUMBER(struct diff, line.request.top, 1, UINT32_MAX)},
    {CW_OPTION_GROUP(struct diff, line, cw_eval_ranges_options)},
    {CW_OPTION_WORDS(struct diff, sides.a, sides.a_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct diff, line.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct diff, line, cw_eval_value_options)},
    {0},
};

static enum cw_status diff(struct cw_eval_session *s)
{
    const struct diff *o = (const struct diff *)s->o;
    struct cw_eval_opened second = {0};
    struct counterworks_view view = {0};
    struct counterworks_side sides[2];
    enum cw_status status = cw_eval_open_sides(s, &o->sides, &second, sides);
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    if (status == CW_OK)
        status = cw_view_diff(&view, &in, &sides[0], &sides[1]);
    if (status == CW_OK)
        status = cw_eval_print(s, &view);
    cw_view_free(&view);
    cw_eval_close(&second);
    return status;
}

int cw_eval_diff(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "A.cwd B.cwd\nA.cwd... -- B.cwd...",
        "Lists the changes from one capture to another: first device, driver, passes and the like, then time, then the "
        "kernels "
        "that changed, with the metrics that changed beyond their spread. Without -m, --set or --all it takes the "
        "metrics of the first capture's plan. In traces it compares the work of the GPUs, their waiting, and NVTX "
        "ranges.\v"
        "Example:\n  $0 before.cwd after.cwd\n  $0 before.cwd after.cwd --all --by nvtx\n"
        "  $0 before*.cwd -- after*.cwd"};
    struct diff options = {.line = {.run = diff, .takes = CW_EVAL_PRINTED | CW_EVAL_CELLS}};
    argc = cw_eval_split_sides(&options.sides, argc, argv);
    return cw_eval_command(&usage, argc, argv, &options.line);
}
