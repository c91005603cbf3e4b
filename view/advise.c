/* Views of advice. */
#include <math.h>
#include <string.h>

#include "eval/advice/advice.h"
#include "eval/output/advice.h"
#include "metricdb/rules.h"
#include "view/advice_tables.h"
#include "view/compare.h"
#include "view/instructions.h"
#include "view/metrics.h"
#include "view/rows.h"
#include "view/selection.h"

enum { SHOWN = 10 }; /* kernels */

struct advise {
    struct cw_result result;
    const struct cw_rules *rules;
    struct cw_advice advice;
    struct cw_advice_groups added;
    struct cw_instructions instructions;
    struct cw_pc_data raw;
    struct cw_advice_view shown;
};

/* Whether groups of kernels are asked for, and not kernels or ranges. */
static bool is_grouped(const struct counterworks_request *o)
{
    const enum cw_group_by by = o->by ? cw_rows_find_by(o->by) : CW_BY_KERNEL;
    return by != CW_BY_KERNEL && by != CW_BY_RANGE && by != CW_BY_FOLD;
}

/* Leaves the ranges of the longest kernels. */
static enum cw_status keep_longest(const struct cw_view_input *in, const struct cw_groups *kernels, bool *keep)
{
    const uint32_t *longest = cw_groups_longest(kernels, in->arena);
    if (!longest)
        return cw_error_nomem(in->err);
    cw_notice(in->notices, "%s: %u %ss, of which the %d that take most time are looked at", in->capture->asked,
              (unsigned)kernels->count, cw_group_by_names[kernels->by], CW_VIEW_MOST_KERNELS);
    for (uint32_t i = CW_VIEW_MOST_KERNELS; i < kernels->count; i++)
        for (uint32_t k = 0; k < kernels->items[longest[i]].count; k++)
            keep[kernels->items[longest[i]].ranges[k]] = false;
    return CW_OK;
}

/* The kernels, or ranges, that are kept, or the longest of them. Where there may be too many, their times alone tell
 * which these are. */
static enum cw_status make_kernels(struct cw_groups *kernels, const struct cw_view_input *in,
                                   const struct cw_chip *chip, const bool *keep)
{
    const struct cw_counter_data *data = &in->capture->data;
    const enum cw_group_by by = is_grouped(in->request) ? CW_BY_KERNEL : cw_rows_by(in, CW_BY_KERNEL);
    if ((by == CW_BY_RANGE ? data->range_count : cw_launch_count(data)) <= CW_VIEW_MOST_KERNELS)
        return cw_groups_make(kernels, by, data, chip, keep, in->arena, in->err);
    bool *some = cw_arena_alloc(in->arena, data->range_count, sizeof *some);
    double total = NAN;
    if (!some)
        return cw_error_nomem(in->err);
    if (keep)
        memcpy(some, keep, data->range_count * sizeof *some);
    else
        memset(some, true, data->range_count * sizeof *some);
    enum cw_status status = cw_groups_make_times(kernels, by, data, chip, keep, in->arena, in->err);
    if (status == CW_OK) {
        total = kernels->total;
        if (kernels->count > CW_VIEW_MOST_KERNELS)
            status = keep_longest(in, kernels, some);
    }
    if (status == CW_OK)
        status = cw_groups_make(kernels, by, data, chip, some, in->arena, in->err);
    kernels->total = total;
    return status;
}

/* Advice on kernels, and its sum for groups: families, unless the request has others. */
static enum cw_status make_advice(struct advise *of, const struct cw_view_input *in)
{
    const struct counterworks_request *o = in->request;
    const struct cw_chip *chip = of->rules->chip;
    const enum cw_group_by by = is_grouped(o) ? cw_rows_find_by(o->by) : CW_BY_FAMILY;
    struct cw_groups *kernels = cw_arena_alloc(in->arena, 1, sizeof *kernels);
    struct cw_groups *groups = cw_arena_alloc(in->arena, 1, sizeof *groups);
    const bool *keep;
    if (!kernels || !groups)
        return cw_error_nomem(in->err);
    enum cw_status status = cw_view_keep(&keep, in, false);
    if (status == CW_OK)
        status = make_kernels(kernels, in, chip, keep);
    if (status == CW_OK)
        status = cw_groups_make_times(groups, by, &in->capture->data, chip, keep, in->arena, in->err);
    if (status == CW_OK)
        status = cw_advise(&of->advice, of->rules, kernels, o->least_gain, in->arena, in->err);
    return status == CW_OK ? cw_advise_groups(&of->added, &of->advice, groups, in->arena, in->err) : status;
}

static enum cw_status add_samples(struct advise *of, const struct cw_view_input *in,
                                  struct counterworks_capture *samples)
{
    if (samples->data.schema.profiler != CW_PROFILER_PC)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found no PC samples, expected them for --with", samples->asked);
    const enum cw_status status =
        cw_view_load_instructions(&of->instructions, &of->raw, samples, in->notices, in->arena, in->err);
    return status == CW_OK ? cw_advice_add_lines(&of->advice, &of->instructions, in->arena, in->err) : status;
}

static enum cw_status print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    struct cw_advice_view shown = *(const struct cw_advice_view *)output->result;
    shown.top = shown.top ? shown.top : SHOWN;
    shown.width = style->width;
    shown.bold = style->bold;
    return cw_advice_print(out, &shown, err);
}

enum cw_status cw_view_advise(struct counterworks_view *view, const struct cw_view_input *in,
                              struct counterworks_capture *samples)
{
    struct advise *of = cw_arena_alloc(in->arena, 1, sizeof *of);
    const bool pc = in->capture->data.schema.profiler == CW_PROFILER_PC;
    *view = (struct counterworks_view){.arena = in->arena};
    enum cw_status status =
        of ? cw_view_need_ranges(in->capture, "", pc ? ", and these by --with" : "", in->err) : cw_error_nomem(in->err);
    if (status == CW_OK)
        status = cw_view_check_by(in, cw_view_by, CW_VIEW_BY_COUNT);
    if (status == CW_OK)
        status = cw_view_select(&of->result, in->capture, in->chip, (const char *[1]){NULL}, 0, in->notices, in->arena,
                                in->err);
    if (status == CW_OK)
        status = cw_rules_load(&of->rules, of->result.chip, in->chip->folder, in->request->rules, in->arena, in->err);
    if (status == CW_OK)
        status = make_advice(of, in);
    if (status == CW_OK && samples)
        status = add_samples(of, in, samples);
    if (status != CW_OK)
        return status;
    of->shown = (struct cw_advice_view){.advice = &of->advice,
                                        .groups = &of->added,
                                        .by_groups = is_grouped(in->request),
                                        .source = in->capture->source,
                                        .words = in->capture->word,
                                        .samples = samples ? samples->source : NULL,
                                        .rules = in->request->rules,
                                        .top = in->request->top,
                                        .arena = in->arena};
    view->output.print = print;
    view->output.result = view->content = &of->shown;
    view->output.data = &in->capture->data;
    view->output.source = in->capture->source;
    view->renders[CW_VIEW_JSON] = cw_advice_json;
    return cw_advice_tables(&view->output, &of->advice, in->arena, in->err);
}
