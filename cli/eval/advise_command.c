/* metric-eval advise: what limits each kernel, and what to change. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/run.h"
#include "eval/output/advice.h"

/* Kernels that are looked at, the longest first, and that are shown to people unless they say. */
enum { MOST_KERNELS = 10000, SHOWN = 10 };

struct advise {
    struct cw_eval_request request; /* first: it is what runs */
    const char *samples, *rules;
    double least; /* gain */
    bool json;
};

static void read_gain(void *least, char *text, struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || strcmp(end, "%") != 0 || !(value >= 0 && value <= 100))
        cw_usage_error(state, "found --min-gain '%s', expected a percentage as in 5%%", text);
    *(double *)least = value / 100;
}

static const struct cw_option option_list[] = {
    {"format", 0, "text|json", "the form (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct advise, json)},
    {"with", 0, "HOT.cwd", "PC samples of the same program: findings name the source lines",
     CW_OPTION_TEXT(struct advise, samples)},
    {"by", 0, CW_EVAL_BY,
     "add up what is found for each family of kernels, whose names differ in template arguments and sizes, NVTX range, "
     "device, rank or stream; or tell of each launch by itself (range), but of those that were multiplexed and are "
     "alike "
     "together (fold)",
     CW_OPTION_TAKE(cw_eval_take_by)},
    {"top", 0, "N", "show the N longest of them (default: 10 as text, all as JSON)",
     CW_OPTION_NUMBER(struct advise, request.top, 1, MOST_KERNELS)},
    {CW_OPTION_GROUP(struct advise, request.ranges, cw_eval_ranges_options)},
    {"min-gain", 0, "N%", "leave out findings that would save less of a kernel's time (default: 5%)",
     CW_OPTION_READ(struct advise, least, read_gain)},
    {"rules", 0, "PATH", "rules of your own beside the shipped ones: a YAML file, or a folder of them",
     CW_OPTION_TEXT(struct advise, rules)},
    {"chip-file", 0, "FILE", "the chip's YAML file, instead of the shipped one",
     CW_OPTION_TEXT(struct advise, request.chip.file)},
    {CW_OPTION_GROUP(struct advise, request.chip, cw_cli_metrics_db_options)},
    {CW_OPTION_GROUP(struct advise, request, cw_eval_capture_options)},
    {0},
};

/* Whether groups of kernels are asked for, and not kernels or ranges. */
static bool is_grouped(const struct cw_eval_request *o)
{
    return o->by != CW_BY_KERNEL && o->by != CW_BY_RANGE && o->by != CW_BY_FOLD;
}

/* Leaves those ranges alone that are of the longest MOST_KERNELS. */
static enum cw_status keep_longest(struct cw_eval_run *r, const struct cw_groups *kernels, bool *keep)
{
    const uint32_t *longest = cw_groups_longest(kernels, r->arena);
    if (!longest)
        return cw_error_nomem(r->err);
    fprintf(stderr, "%s: %u %ss, of which the %d that take most time are looked at\n", r->o->capture,
            (unsigned)kernels->count, cw_group_by_names[kernels->by], MOST_KERNELS);
    for (uint32_t i = MOST_KERNELS; i < kernels->count; i++)
        for (uint32_t k = 0; k < kernels->items[longest[i]].count; k++)
            keep[kernels->items[longest[i]].ranges[k]] = false;
    return CW_OK;
}

/* The kernels, or ranges, the longest MOST_KERNELS of those that are kept. Where there may be more, which these are is
 * found by their times alone. */
static enum cw_status make_kernels(struct cw_eval_run *r, struct cw_groups *kernels, const struct cw_chip *chip,
                                   const bool *keep)
{
    const struct cw_counter_data *data = &r->capture->data;
    const enum cw_group_by by = is_grouped(r->o) ? CW_BY_KERNEL : cw_eval_by(r, CW_BY_KERNEL);
    bool *some = cw_arena_alloc(r->arena, data->range_count, sizeof *some);
    double total = NAN;
    enum cw_status status = some ? CW_OK : cw_error_nomem(r->err);
    if (status != CW_OK || (by == CW_BY_RANGE ? data->range_count : cw_launch_count(data)) <= MOST_KERNELS)
        return status == CW_OK ? cw_groups_make(kernels, by, data, chip, keep, r->arena, r->err) : status;
    memcpy(some, keep, data->range_count * sizeof *some);
    status = cw_groups_make_times(kernels, by, data, chip, keep, r->arena, r->err);
    if (status == CW_OK) {
        total = kernels->total;
        if (kernels->count > MOST_KERNELS)
            status = keep_longest(r, kernels, some);
    }
    if (status == CW_OK)
        status = cw_groups_make(kernels, by, data, chip, some, r->arena, r->err);
    kernels->total = total;
    return status;
}

/* Advice on kernels, and what it adds up to: for families, unless other groups are asked for. */
static enum cw_status make_advice(struct cw_eval_run *r, struct cw_advice *advice, struct cw_advice_groups *added,
                                  const struct cw_rules *rules)
{
    const struct advise *o = (const struct advise *)r->o;
    const struct cw_counter_data *data = &r->capture->data;
    const enum cw_group_by by = is_grouped(r->o) ? r->o->by : CW_BY_FAMILY;
    bool *keep = cw_arena_alloc(r->arena, data->range_count, sizeof *keep);
    struct cw_groups *kernels = cw_arena_alloc(r->arena, 1, sizeof *kernels);
    struct cw_groups *groups = cw_arena_alloc(r->arena, 1, sizeof *groups);
    if (!keep || !kernels || !groups)
        return cw_error_nomem(r->err);
    enum cw_status status = cw_eval_match_ranges(keep, r, &r->o->ranges);
    if (status == CW_OK)
        status = make_kernels(r, kernels, rules->chip, keep);
    if (status == CW_OK)
        status = cw_groups_make_times(groups, by, data, rules->chip, keep, r->arena, r->err);
    if (status == CW_OK)
        status = cw_advise(advice, rules, kernels, o->least, r->arena, r->err);
    return status == CW_OK ? cw_advise_groups(added, advice, groups, r->arena, r->err) : status;
}

static enum cw_status add_samples(struct cw_eval_run *r, struct cw_eval_run *hot, struct cw_advice *advice,
                                  struct cw_arena *arena)
{
    struct cw_instructions *in = cw_arena_alloc(arena, 1, sizeof *in);
    struct cw_pc_data *raw = cw_arena_alloc(arena, 1, sizeof *raw);
    enum cw_status status = in && raw ? cw_eval_load_capture(hot) : cw_error_nomem(r->err);
    if (status == CW_OK && hot->info.profiler != COUNTERWORKS_PC_SAMPLES)
        status =
            cw_error_set(r->err, CW_ERR_USAGE, "%s: found no PC samples, expected them for --with", hot->o->capture);
    if (status == CW_OK)
        status = cw_eval_load_instructions(hot, in, raw);
    return status == CW_OK ? cw_advice_add_lines(advice, in, arena, r->err) : status;
}

static enum cw_status tell(struct cw_eval_run *r, struct cw_eval_run *hot, struct cw_advice *advice,
                           const struct cw_advice_groups *added)
{
    const struct advise *o = (const struct advise *)r->o;
    const struct cw_terminal_style style = cw_eval_style(r->o);
    enum cw_status status = o->samples ? add_samples(r, hot, advice, r->arena) : CW_OK;
    const struct cw_advice_view view = {.advice = advice,
                                        .groups = added,
                                        .by_groups = is_grouped(r->o),
                                        .source = r->capture->source,
                                        .words = cw_eval_word(r),
                                        .samples = hot->capture ? hot->capture->source : NULL,
                                        .rules = o->rules,
                                        .top = r->o->top || o->json ? r->o->top : SHOWN,
                                        .width = style.width,
                                        .bold = style.bold,
                                        .arena = r->arena};
    if (status == CW_OK && !view.words)
        status = cw_error_nomem(r->err);
    if (status == CW_OK)
        status = o->json ? cw_advice_json(stdout, &view, r->err) : cw_advice_print(stdout, &view, r->err);
    return status == CW_OK ? cw_file_flush(r->err) : status;
}

static enum cw_status advise(struct cw_eval_run *r)
{
    const struct advise *o = (const struct advise *)r->o;
    const struct cw_eval_request with = {.capture = o->samples};
    struct cw_eval_run hot = {.o = &with, .arena = r->arena, .err = r->err, .info.size = sizeof hot.info};
    const struct cw_rules *rules = NULL;
    struct cw_advice advice;
    struct cw_advice_groups added;
    enum cw_status status = cw_eval_load_capture(r);
    if (status == CW_OK)
        status = cw_eval_need_ranges(r, "", r->info.profiler == COUNTERWORKS_PC_SAMPLES ? ", and these by --with" : "");
    if (status == CW_OK)
        status = cw_eval_load_chip(r);
    if (status == CW_OK)
        status = cw_lib_select(&r->result, r->capture, r->chip, (const char *[1]){NULL}, 0, r->arena, r->err);
    if (status == CW_OK)
        status = cw_rules_load(&rules, r->result.chip, r->chip->folder, o->rules, r->arena, r->err);
    if (status == CW_OK)
        status = make_advice(r, &advice, &added, rules);
    if (status == CW_OK)
        status = tell(r, &hot, &advice, &added);
    counterworks_capture_close(hot.capture);
    return status;
}

int cw_eval_advise(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd...",
        "Says of each kernel what limits it, and what to change: findings by rules, with the time that each would save "
        "and the numbers that show it. \"metric-config --for-advice\" plans what the rules need.\v"
        "Example:\n  metric-eval advise run.cwd\n  metric-eval advise run.cwd --with hot.cwd --range gemm\n"
        "  metric-eval advise run.cwd --by family\n  metric-eval advise run.cwd --format json"};
    struct advise options = {.request = {.run = advise, .by_block = true}, .least = CW_ADVICE_LEAST_GAIN};
    return cw_eval_command(&usage, argc, argv, &options.request);
}
