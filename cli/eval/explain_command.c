/* metric-eval explain: a value with its formula, counters and passes. */
#include "cli/common/cli.h"
#include "cli/eval/session.h"

struct explain {
    struct cw_eval_line line; /* first member; cw_eval_command takes it */
    const char *capture, *metric;
};

static void take_word(void *explain, char *arg, struct argp_state *state)
{
    struct explain *o = explain;
    if (o->metric)
        cw_usage_error(state, "found '%s' after %s, expected one metric", arg, o->metric);
    if (o->capture)
        o->metric = arg;
    else
        o->capture = arg;
}

static void check_words(void *explain, struct argp_state *state)
{
    const struct explain *o = explain;
    if (!o->capture)
        cw_usage_error(state, "no capture: give a .cwd file, or - for standard input");
    if (!o->metric)
        cw_usage_error(state, "found no metric to explain after %s", o->capture);
}

static const struct cw_option option_list[] = {
    {CW_OPTION_GROUP(struct explain, line, cw_eval_ranges_options)},
    {"rules", 0, "PATH", "also values of your own rules: a YAML file, or a folder of them",
     CW_OPTION_TEXT(struct explain, line.request.rules)},
    {CW_OPTION_TAKE(take_word)},
    {CW_OPTION_CHECK(check_words)},
    {CW_OPTION_ROWS(cw_eval_format_options)},
    {CW_OPTION_ROWS(cw_eval_quiet_options)},
    {CW_OPTION_ROWS(cw_eval_value_options)},
    {0},
};

static enum cw_status explain(struct cw_eval_session *s)
{
    const struct explain *o = (const struct explain *)s->o;
    char *words[] = {(char *)(uintptr_t)o->capture};
    struct counterworks_view view = {0};
    CW_TRY(cw_eval_keep_captures(s, words, 1));
    CW_TRY(cw_eval_open(s, &s->main, words, 1));
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    enum cw_status status = cw_view_explain(&view, &in, o->metric);
    if (status == CW_OK)
        status = cw_eval_print(s, &view);
    cw_view_free(&view);
    return status;
}

int cw_eval_explain(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd METRIC",
        "Explains a value: its formula with all numbers, down to the counters and "
        "their passes. METRIC may also be a limit, a rule, or a value of a rule, as advise shows it.\v"
        "Example:\n  $0 run.cwd lts__t_sector_hit_rate.pct --range gemm"};
    struct explain options = {.line = {.run = explain, .takes = CW_EVAL_PRINTED | CW_EVAL_CELLS}};
    return cw_eval_command(&usage, argc, argv, &options.line);
}
