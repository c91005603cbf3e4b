/* metric-eval explain: how a value came about. */
#include "cli/eval/run.h"
#include "eval/ranges/explain.h"
#include "eval/ranges/fold.h"
#include "eval/ranges/groups.h"
#include "metricdb/rules.h"

struct explain {
    struct cw_eval_request request; /* first: it is what runs */
    const char *rules;
};

static void take_word(void *request, char *arg, struct argp_state *state)
{
    struct cw_eval_request *o = request;
    if (o->explained)
        cw_usage_error(state, "found '%s' after %s, expected one metric", arg, o->explained);
    if (o->capture)
        o->explained = arg;
    else
        o->capture = arg;
}

static void check_words(void *request, struct argp_state *state)
{
    const struct cw_eval_request *o = request;
    if (!o->capture)
        cw_usage_error(state, "no capture: give a .cwd file, or - for standard input");
    if (!o->explained)
        cw_usage_error(state, "found no metric to explain after %s", o->capture);
}

static const struct cw_option option_list[] = {
    {CW_OPTION_GROUP(struct explain, request.ranges, cw_eval_ranges_options)},
    {"rules", 0, "PATH", "values of these rules, too: a YAML file, or a folder of them",
     CW_OPTION_TEXT(struct explain, rules)},
    {CW_OPTION_TAKE(take_word)},
    {CW_OPTION_CHECK(check_words)},
    {CW_OPTION_ROWS(cw_eval_format_options)},
    {CW_OPTION_ROWS(cw_eval_value_options)},
    {0},
};

/* What is no metric may be a value of the rules, which `advise` shows as evidence. */
static enum cw_status find_value(struct cw_eval_run *r, const char *name, struct cw_error *err)
{
    struct cw_metric *metric = cw_arena_alloc(r->arena, 1, sizeof *metric);
    const struct cw_rules *rules = NULL;
    enum cw_status status = metric ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_lib_select(&r->result, r->capture, r->chip, (const char *[1]){NULL}, 0, r->arena, err);
    if (status == CW_OK)
        status = cw_rules_load(&rules, r->result.chip, r->chip->folder, ((const struct explain *)r->o)->rules, r->arena,
                               err);
    if (status == CW_OK)
        status = cw_rules_find(metric, rules, name, err);
    if (status != CW_OK)
        return status;
    r->result.chip = rules->chip;
    r->result.metrics = metric;
    return CW_OK;
}

/* Explains a range, or with it all that were multiplexed and are alike. */
static enum cw_status print(struct cw_eval_run *r, uint32_t range)
{
    const struct cw_result *of = &r->result;
    const struct cw_counter_data *data = of->data;
    struct cw_groups *groups = cw_arena_alloc(r->arena, 1, sizeof *groups);
    const struct cw_groups *fold = NULL;
    json_t *tree;
    enum cw_status status = groups ? CW_OK : cw_error_nomem(r->err);
    if (status == CW_OK && cw_fold_is_of(cw_launch_of(data, range))) {
        status = cw_groups_make(groups, CW_BY_FOLD, data, r->chip->chip, NULL, r->arena, r->err);
        fold = groups;
        data = &groups->data;
        range = status == CW_OK ? cw_groups_find(groups, range) : 0;
    }
    if (status != CW_OK || !r->o->as_json)
        return status != CW_OK
                   ? status
                   : cw_explain(stdout, of->chip, data, of->metrics, range, fold, &r->o->eval, r->arena, r->err);
    status = cw_explain_json(&tree, of->chip, data, of->metrics, range, fold, &r->o->eval, r->arena, r->err);
    return status == CW_OK ? cw_eval_print_json(tree, r->err) : status;
}

static enum cw_status explain_range(struct cw_eval_run *r)
{
    const char *const *name = &r->o->explained;
    struct cw_result *of = &r->result;
    struct cw_error other = CW_ERROR_INIT;
    uint32_t range = 0;
    enum cw_status status = cw_eval_add_legacy(r, name, 1);
    if (status == CW_OK)
        status = cw_lib_select(of, r->capture, r->chip, name, 1, r->arena, r->err);
    if (status != CW_OK) {
        const enum cw_status found = find_value(r, *name, &other);
        const bool none = found == CW_ERR_UNSUPPORTED || !((const struct explain *)r->o)->rules;
        if (found == CW_ERR_USAGE || !none) /* the value of several rules, or rules that cannot be read */
            *r->err = other;
        status = found == CW_OK || found == CW_ERR_USAGE || !none ? found : status;
    }
    if (status == CW_OK)
        status = cw_eval_choose_range(r, &range);
    return status == CW_OK ? print(r, range) : status;
}

static enum cw_status explain(struct cw_eval_run *r)
{
    enum cw_status status = cw_eval_load_capture(r);
    if (status == CW_OK)
        status = cw_eval_need_ranges(r, " for ", "explain");
    if (status == CW_OK)
        status = cw_eval_load_chip(r);
    return status == CW_OK ? explain_range(r) : status;
}

int cw_eval_explain(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd METRIC",
        "Prints how a value came about: its formula with the numbers in it, down to the counters, and the passes that "
        "they were collected in. Values of rules, which advise shows, are explained as metrics are.\v"
        "Example:\n  metric-eval explain run.cwd lts__t_sector_hit_rate.pct --range gemm"};
    struct explain options = {.request = {.run = explain, .by_block = true}};
    return cw_eval_command(&usage, argc, argv, &options.request);
}
