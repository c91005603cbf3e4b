/* metric-eval advise: what limits each kernel, and what to change. */
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
    {"top", 0, "N", "show the N longest kernels (default: 10 as text, all as JSON)",
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

/* The kernels, the longest MOST_KERNELS of them. */
static enum cw_status make_groups(struct cw_eval_run *r, struct cw_groups *groups, const struct cw_chip *chip)
{
    const struct cw_counter_data *data = &r->capture->data;
    bool *keep = cw_arena_alloc(r->arena, data->range_count, sizeof *keep);
    enum cw_status status = keep ? cw_eval_match_ranges(keep, data, &r->o->ranges, r->err) : cw_error_nomem(r->err);
    if (status == CW_OK)
        status = cw_groups_make(groups, CW_BY_KERNEL, data, chip, keep, r->arena, r->err);
    if (status != CW_OK || groups->count <= MOST_KERNELS)
        return status;
    const double total = groups->total;
    fprintf(stderr, "%s: %u kernels, of which the %d that take most time are looked at\n", r->o->capture,
            (unsigned)groups->count, MOST_KERNELS);
    memset(keep, 0, data->range_count * sizeof *keep);
    for (uint32_t i = 0; i < MOST_KERNELS; i++)
        for (uint32_t k = 0; k < groups->items[i].count; k++)
            keep[groups->items[i].ranges[k]] = true;
    status = cw_groups_make(groups, CW_BY_KERNEL, data, chip, keep, r->arena, r->err);
    groups->total = total;
    return status;
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

static enum cw_status tell(struct cw_eval_run *r, struct cw_eval_run *hot, struct cw_advice *advice)
{
    const struct advise *o = (const struct advise *)r->o;
    const struct cw_terminal_style style = cw_eval_style(r->o);
    enum cw_status status = o->samples ? add_samples(r, hot, advice, r->arena) : CW_OK;
    const struct cw_advice_view view = {.advice = advice,
                                        .source = r->capture->source,
                                        .samples = hot->capture ? hot->capture->source : NULL,
                                        .top = r->o->top || o->json ? r->o->top : SHOWN,
                                        .width = style.width,
                                        .bold = style.bold,
                                        .arena = r->arena};
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
    struct cw_groups groups;
    struct cw_advice advice;
    enum cw_status status = cw_eval_load_capture(r);
    if (status == CW_OK && r->info.profiler != COUNTERWORKS_RANGES)
        status = cw_error_set(r->err, CW_ERR_USAGE,
                              "%s: found a capture of samples, expected one of ranges: PC samples are for --with",
                              r->o->capture);
    if (status == CW_OK)
        status = cw_eval_load_chip(r);
    if (status == CW_OK)
        status = cw_lib_select(&r->result, r->capture, r->chip, (const char *[1]){NULL}, 0, r->arena, r->err);
    if (status == CW_OK)
        status = cw_rules_load(&rules, r->result.chip, r->chip->folder, o->rules, r->arena, r->err);
    if (status == CW_OK)
        status = make_groups(r, &groups, rules->chip);
    if (status == CW_OK)
        status = cw_advise(&advice, rules, &groups, o->least, r->arena, r->err);
    if (status == CW_OK)
        status = tell(r, &hot, &advice);
    counterworks_capture_close(hot.capture);
    return status;
}

int cw_eval_advise(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd",
        "Says of each kernel what limits it, and what to change: findings by rules, with the time that each would save "
        "and the numbers that show it. \"metric-config --for-advice\" plans what the rules need.\v"
        "Example:\n  metric-eval advise run.cwd\n  metric-eval advise run.cwd --with hot.cwd --range gemm\n"
        "  metric-eval advise run.cwd --format json"};
    struct advise options = {.request.run = advise, .least = CW_ADVICE_LEAST_GAIN};
    return cw_eval_command(&usage, argc, argv, &options.request);
}
