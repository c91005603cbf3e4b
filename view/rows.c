#include "view/rows.h"

#include <stdlib.h>
#include <string.h>

#include "eval/output/joined.h"
#include "eval/ranges/fold.h"
#include "eval/ranges/spread.h"
#include "metricdb/rules.h"
#include "view/choose.h"
#include "view/selection.h"

/* ---- groups ----------------------------------------------------------------------------------------------------- */

enum cw_group_by cw_rows_find_by(const char *name)
{
    enum cw_group_by by = 0;
    while (by < CW_BY__COUNT && strcmp(cw_group_by_names[by], name) != 0)
        by++;
    return by;
}

enum cw_group_by cw_rows_by(const struct cw_view_input *in, enum cw_group_by otherwise)
{
    const enum cw_group_by by = in->request->by ? cw_rows_find_by(in->request->by) : otherwise;
    return by == CW_BY_FOLD && !cw_fold_has(&in->capture->data) ? CW_BY_RANGE : by;
}

static enum cw_status group(struct cw_groups *groups, const struct cw_view_input *in, enum cw_group_by by,
                            const bool *keep, bool times)
{
    const struct cw_counter_data *data = &in->capture->data;
    const struct cw_chip *chip = in->chip->chip;
    enum cw_status status = CW_OK;
    if (times)
        status = cw_groups_make_times(groups, by, data, chip, keep, in->arena, in->err);
    if (status == CW_OK && (!times || groups->count <= CW_VIEW_MOST_KERNELS))
        status = cw_groups_make(groups, by, data, chip, keep, in->arena, in->err);
    return status;
}

static struct cw_group_row row_of(const void *groups, uint32_t group)
{
    return cw_group_row_of(groups, group);
}

enum cw_status cw_rows_choose(struct cw_output_rows *rows, const struct cw_groups *groups, const bool *keep,
                              const struct cw_view_input *in, const char *order, size_t top)
{
    const bool sorted = in->request->sort || order;
    const char **names = cw_arena_alloc(in->arena, sorted ? groups->count : 0, sizeof *names);
    const struct cw_choosing from = {.kind = CW_GROUPS_OF_RANGES,
                                     .count = groups->count,
                                     .row = row_of,
                                     .groups = groups,
                                     .names = names,
                                     .data = &groups->data};
    rows->groups = groups;
    rows->rows = cw_arena_alloc(in->arena, groups->count, sizeof *rows->rows);
    if (!names || !rows->rows)
        return cw_error_nomem(in->err);
    for (uint32_t k = 0; k < groups->count; k++) {
        if (sorted)
            names[k] = groups->items[k].name;
        if (!keep || keep[k])
            rows->rows[rows->count++] = k;
    }
    return cw_choose(rows, &from, in, order, top);
}

/* With CW_BY_RANGE every range keeps its number, so ranges that the request leaves out are groups, but no rows. */
enum cw_status cw_rows_make(struct cw_output_rows *rows, struct cw_groups *groups, const struct cw_view_input *in,
                            enum cw_group_by by, size_t top, bool times)
{
    const bool many = cw_launch_count(&in->capture->data) > CW_VIEW_MOST_KERNELS, each = by == CW_BY_RANGE;
    const bool *keep;
    CW_TRY(cw_view_keep(&keep, in, false));
    CW_TRY(
        group(groups, in, by, each ? NULL : keep, times && many && !in->request->sort && !in->request->filters.count));
    const bool untimed = !each && by != CW_BY_FOLD && !cw_groups_are_timed(groups);
    return cw_rows_choose(rows, groups, each ? keep : NULL, in, untimed ? "launches" : NULL, top);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_rows_evaluate(struct cw_result *result, const struct cw_output_rows *rows,
                                const struct cw_groups *counted, const struct cw_view_input *in,
                                cw_rows_evaluation *evaluate)
{
    CW_TRY(evaluate(result, in, &rows->groups->data));
    if (counted->folds.kinds && rows->groups->by != CW_BY_RANGE)
        CW_TRY(cw_spread_find(result, counted, &in->capture->data, in->arena, in->err));
    return cw_result_select(result, rows->rows, rows->count, in->err);
}

enum cw_status cw_rows_output(struct cw_output *output, const struct cw_view_input *in, const struct cw_result *result,
                              struct cw_output_rows *rows)
{
    rows->data = &in->capture->data;
    rows->result = result;
    rows->words = in->capture->word;
    rows->wide = in->request->wide;
    return cw_view_output_groups(output, in, rows);
}

enum cw_status cw_rows_advise(const struct cw_advice **advice, const struct cw_view_input *in,
                              const struct cw_chip *chip, const struct cw_groups *groups)
{
    struct cw_advice *made = cw_arena_alloc(in->arena, 1, sizeof *made);
    struct cw_error wrong = CW_ERROR_INIT;
    const struct cw_rules *rules;
    char text[1200];
    *advice = NULL;
    if (groups->count > CW_VIEW_MOST_KERNELS)
        return CW_OK;
    enum cw_status status =
        made ? cw_rules_load(&rules, chip, in->chip->folder, NULL, in->arena, &wrong) : cw_error_nomem(&wrong);
    if (status == CW_OK)
        status = cw_advise(made, rules, groups, CW_ADVICE_LEAST_GAIN, in->arena, &wrong);
    if (status == CW_ERR_NOMEM)
        return cw_error_nomem(in->err);
    if (status == CW_OK)
        *advice = made;
    else
        cw_notice(in->notices, "%s", cw_error_format(&wrong, text, sizeof text));
    return CW_OK;
}
