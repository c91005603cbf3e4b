/* Views of advice. */
#include <math.h>
#include <string.h>

#include "eval/advice/advice.h"
#include "eval/output/advice.h"
#include "metricdb/rules.h"
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

/* ---- advice ----------------------------------------------------------------------------------------------------- */

/* Whether the request asks for groups of kernels. */
static bool is_grouped(const struct counterworks_request *o)
{
    const enum cw_group_by by = o->by ? cw_rows_find_by(o->by) : CW_BY_KERNEL;
    return by != CW_BY_KERNEL && by != CW_BY_RANGE && by != CW_BY_FOLD;
}

/* Keeps the ranges of the longest kernels. */
static enum cw_status keep_longest(const struct cw_view_input *in, const struct cw_groups *kernels, bool *keep)
{
    const uint32_t *longest = cw_groups_longest(kernels, in->arena);
    if (!longest)
        return cw_error_nomem(in->err);
    cw_notice(in->notices, "%s: %u %ss; advice looks at the %d that take most time", in->capture->asked,
              (unsigned)kernels->count, cw_group_by_names[kernels->by], CW_VIEW_MOST_KERNELS);
    for (uint32_t i = CW_VIEW_MOST_KERNELS; i < kernels->count; i++)
        for (uint32_t k = 0; k < kernels->items[longest[i]].count; k++)
            keep[kernels->items[longest[i]].ranges[k]] = false;
    return CW_OK;
}

/* Groups the wanted ranges into kernels, and keeps the longest if there are too many. Then a first round adds up times
 * alone, which is enough to find the longest. */
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

/* Advises on kernels, and adds the advice up for groups: families, unless the request names others. */
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
    CW_TRY(cw_view_keep(&keep, in, false));
    CW_TRY(make_kernels(kernels, in, chip, keep));
    CW_TRY(cw_groups_make_times(groups, by, &in->capture->data, chip, keep, in->arena, in->err));
    CW_TRY(cw_advise(&of->advice, of->rules, kernels, o->least_gain, in->arena, in->err));
    return cw_advise_groups(&of->added, &of->advice, groups, in->arena, in->err);
}

static enum cw_status add_samples(struct advise *of, const struct cw_view_input *in,
                                  struct counterworks_capture *samples)
{
    if (samples->data.schema.profiler != CW_PROFILER_PC)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found no PC samples, expected them for --with", samples->asked);
    CW_TRY(cw_view_load_instructions(&of->instructions, &of->raw, NULL, samples, in->notices, in->arena, in->err));
    return cw_advice_add_lines(&of->advice, &of->instructions, in->arena, in->err);
}

/* ---- tables: the kernels, longest first, and their findings ----------------------------------------------------- */

struct kernel {
    const char *name, *function, *limiter, *confidence, *first, *rule; /* rule: of the first finding */
    uint64_t launches, findings;
    double total, share;
    const uint32_t *grid, *block;
};

struct finding {
    uint32_t number, kernel; /* kernel: row of the kernels' table */
    const char *name, *rule, *title, *text, *fix, *confidence;
    double gain;
};

static const char *const letters[] = {"x", "y", "z"};
static const struct cw_output_column xyz_columns[] = {{"xyz", CW_CELL_TEXT, CW_TO_HDF5, 0}};
static const struct cw_output_table xyz = {CW_OUTPUT_COLUMNS(xyz_columns), .record_size = sizeof *letters,
                                           .row_count = 3, .row = cw_output_array, .content = (void *)letters};

static const struct cw_output_column kernel_columns[] = {
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, name)},
    {"function", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, function)},
    {"launches", CW_CELL_U64, CW_TO_FILES, offsetof(struct kernel, launches)},
    {"total_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct kernel, total), .units = "ns"},
    {"share", CW_CELL_F64, CW_TO_FILES, offsetof(struct kernel, share)},
    {"limiter", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, limiter)},
    {"confidence", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, confidence)},
    {"first_finding", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, first),
     .long_name = "the text of the finding that saves most"},
    {"first_rule", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct kernel, rule), .long_name = "its rule"},
    {"findings", CW_CELL_U64, CW_TO_FILES, offsetof(struct kernel, findings)},
    {"grid", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct kernel, grid), &xyz},
    {"block", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct kernel, block), &xyz},
};

static const struct cw_output_column finding_columns[] = {
    {"finding", CW_CELL_U32, CW_TO_HDF5, offsetof(struct finding, number)},
    {"kernel_number", CW_CELL_U32, CW_TO_FILES, offsetof(struct finding, kernel),
     .long_name = "the row in the table of kernels"},
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, name)},
    {"rule", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, rule)},
    {"gain", CW_CELL_F64, CW_TO_FILES, offsetof(struct finding, gain),
     .long_name = "the part of the kernel's time that would go; 0 of a note"},
    {"confidence", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, confidence)},
    {"title", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, title)},
    {"text", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, text)},
    {"fix", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct finding, fix)},
};

/* `first` is NULL when out of memory. */
static struct kernel describe_kernel(const struct cw_advice *advice, const struct cw_advice_kernel *k,
                                     struct cw_arena *arena)
{
    const struct cw_advice_finding *first = cw_advice_first(k);
    return (struct kernel){.name = k->group->name,
                           .function = k->launch->kernel,
                           .limiter = k->limiter,
                           .confidence = cw_confidence_text(k->confidence),
                           .first = first ? cw_advice_text(first, arena) : "",
                           .rule = first ? first->rule->id : "",
                           .launches = k->group->count,
                           .findings = k->finding_count,
                           .total = k->group->total,
                           .share = cw_group_share(advice->groups, k->group),
                           .grid = k->launch->grid,
                           .block = k->launch->block};
}

static bool add_findings(struct finding *list, uint32_t *count, uint32_t row, const struct cw_advice_kernel *k,
                         struct cw_arena *arena)
{
    bool good = true;
    for (size_t i = 0; good && i < k->finding_count; i++) {
        const struct cw_advice_finding *f = &k->findings[i];
        const char *text = cw_advice_text(f, arena);
        good = text;
        list[*count] = (struct finding){.number = *count,
                                        .kernel = row,
                                        .name = k->group->name,
                                        .rule = f->rule->id,
                                        .title = f->rule->title,
                                        .text = text,
                                        .fix = f->rule->fix,
                                        .confidence = cw_confidence_text(f->confidence),
                                        .gain = f->gain};
        ++*count;
    }
    return good;
}

static enum cw_status put_tables(struct cw_output *output, const struct cw_advice *advice, struct cw_arena *arena,
                                 struct cw_error *err)
{
    size_t all = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < advice->kernel_count; i++)
        all += advice->kernels[i].finding_count;
    struct kernel *kernels = cw_arena_alloc(arena, advice->kernel_count, sizeof *kernels);
    struct finding *findings = cw_arena_alloc(arena, all, sizeof *findings);
    bool good = kernels && findings;
    for (uint32_t i = 0; good && i < advice->kernel_count; i++) {
        const struct cw_advice_kernel *k = &advice->kernels[advice->longest[i]];
        kernels[i] = describe_kernel(advice, k, arena);
        good = kernels[i].first && add_findings(findings, &count, i, k, arena);
    }
    if (!good)
        return cw_error_nomem(err);
    output->tables[output->table_count++] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(kernel_columns), .name = "kernels",      .group = "kernel", .record_size = sizeof *kernels,
        .row_count = advice->kernel_count, .row = cw_output_array, .content = kernels};
    output->tables[output->table_count++] = (struct cw_output_table){CW_OUTPUT_COLUMNS(finding_columns),
                                                                     .name = "findings",
                                                                     .group = "finding",
                                                                     .record_size = sizeof *findings,
                                                                     .row_count = count,
                                                                     .row = cw_output_array,
                                                                     .content = findings};
    return CW_OK;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    struct cw_advice_view shown = *(const struct cw_advice_view *)output->result;
    shown.top = shown.top ? shown.top : SHOWN;
    shown.width = style->width;
    shown.bold = style->bold;
    shown.quiet = style->quiet;
    return cw_advice_print(out, &shown, err);
}

enum cw_status cw_view_advise(struct counterworks_view *view, const struct cw_view_input *in,
                              struct counterworks_capture *samples)
{
    struct advise *of = cw_arena_alloc(in->arena, 1, sizeof *of);
    const bool pc = in->capture->data.schema.profiler == CW_PROFILER_PC;
    *view = (struct counterworks_view){.arena = in->arena};
    CW_TRY(of ? cw_view_need_ranges(in->capture, "", pc ? ", with the PC samples by --with" : "", in->err)
              : cw_error_nomem(in->err));
    CW_TRY(cw_view_check_taken(in, CW_TAKES_LAUNCHES | CW_TAKES_BY | CW_TAKES_TOP, "advise"));
    CW_TRY(cw_view_check_by(in, cw_view_by, CW_VIEW_BY_COUNT));
    CW_TRY(cw_view_select(&of->result, in, (const char *[1]){NULL}, 0));
    CW_TRY(cw_rules_load(&of->rules, of->result.chip, in->chip->folder, in->request->rules, in->arena, in->err));
    CW_TRY(make_advice(of, in));
    if (samples)
        CW_TRY(add_samples(of, in, samples));
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
    return put_tables(&view->output, &of->advice, in->arena, in->err);
}
