#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/usage.h"
#include "cli/eval/run.h"
#include "eval/advice/advice.h"
#include "eval/ranges/spread.h"
#include "metricdb/glossary.h"

enum { INSTRUCTIONS_TOP = 10 };

/* Bold and bars are for a terminal, whose width is respected; NO_COLOR is for those who want no escapes. */
struct cw_terminal_style cw_eval_style(const struct cw_eval_request *o)
{
    struct cw_terminal_style style = {.top = o->top ? o->top : INSTRUCTIONS_TOP, .quiet = o->quiet};
    const char *columns = getenv("COLUMNS"), *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (!isatty(STDOUT_FILENO))
        return style;
    style.bold = !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
    setlocale(LC_CTYPE, "");
    style.bars = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? CW_BARS_BLOCKS : CW_BARS_ASCII;
    setlocale(LC_CTYPE, "C");
    style.width = cw_text_width(STDOUT_FILENO);
    if (!style.width && columns)
        style.width = (unsigned)strtoul(columns, NULL, 10);
    return style;
}

bool cw_eval_report_alone(const struct cw_eval_request *o)
{
    return o->report.path && !o->hdf5 && !o->csv && !o->json;
}

bool cw_eval_prints(const struct cw_eval_request *o)
{
    const char *const files[] = {o->hdf5, o->csv, o->json, o->report.path};
    bool taken = cw_eval_report_alone(o);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        taken = taken || (files[i] && cw_file_is_standard(files[i]));
    return !taken;
}

/* Whether it is one of the captures that stand beside the first on a page. */
static bool stands_beside(const struct cw_eval_report *report, const char *path)
{
    bool beside = report->baseline && cw_file_is_same(report->baseline, path);
    for (size_t i = 0; i < report->with_count && !beside; i++)
        beside = cw_file_is_same(report->with[i], path);
    return beside;
}

enum cw_status cw_eval_check_outputs(struct cw_eval_run *r)
{
    const struct cw_eval_request *o = r->o;
    const char *const files[] = {o->capture, o->hdf5, o->csv, o->json, o->report.path};
    const struct cw_file_kind *const kinds[] = {NULL, &cw_file_hdf5, &cw_file_csv, &cw_file_json, &cw_file_report};
    enum cw_status status = cw_eval_expand(r);
    for (size_t i = 1; status == CW_OK && i < sizeof files / sizeof *files; i++) {
        for (size_t k = 0; files[i] && k < i; k++)
            if (files[k] && cw_file_is_same(files[k], files[i]) && (k || !cw_file_is_standard(files[k])))
                return cw_error_set(r->err, CW_ERR_USAGE, "found %s as %s, expected another file for each", files[i],
                                    k ? "two outputs" : "capture and output");
        for (size_t k = 0; files[i] && k < r->files.count && !cw_file_is_standard(files[i]); k++)
            if (cw_file_is_same(r->files.paths[k], files[i]))
                return cw_error_set(r->err, CW_ERR_USAGE,
                                    "found %s as capture and output, expected another file for each", files[i]);
        if (files[i] && stands_beside(&o->report, files[i]) && !cw_file_is_standard(files[i]))
            return cw_error_set(r->err, CW_ERR_USAGE, "found %s as capture and output, expected another file for each",
                                files[i]);
        if (files[i])
            status = cw_file_may_replace(files[i], kinds[i], o->force, r->err);
    }
    return status;
}

/* What standard output gets may be for the terminal, where progress would stand in it. */
static enum cw_status write_file(const struct cw_eval_run *r, struct cw_new_files *files,
                                 const struct cw_output *output, const char *path, cw_file_render *render)
{
    struct cw_new_file *file;
    if (!cw_file_is_standard(path))
        cw_progress_begin(r->o->quiet, false, "writing %s", path);
    enum cw_status status = render ? cw_new_files_print(files, path, render, output, r->err)
                                   : cw_new_files_open(files, path, &file, r->err);
    if (status == CW_OK && !render)
        status = cw_hdf5_make(output, file, r->err);
    cw_progress_end();
    return status;
}

/* Of the outputs, files or what goes to standard output. */
static enum cw_status write_some(const struct cw_eval_run *r, const struct cw_output *output, bool standard)
{
    const char *const paths[] = {r->o->hdf5, r->o->csv, r->o->json};
    cw_file_render *const renders[] = {NULL, cw_csv_write, cw_json_write};
    struct cw_new_files own = {0}, *files = r->outputs && !standard ? r->outputs : &own;
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && status == CW_OK; i++)
        if (paths[i] && cw_file_is_standard(paths[i]) == standard)
            status = write_file(r, files, output, paths[i], renders[i]);
    const enum cw_status closing = cw_new_files_close(files, status == CW_OK, r->err);
    return status == CW_OK ? closing : status;
}

/* Files first: who reads standard output may leave, which ends the process. */
enum cw_status cw_eval_write_files(const struct cw_eval_run *r, const struct cw_output *output)
{
    const enum cw_status status = write_some(r, output, false);
    return status == CW_OK ? write_some(r, output, true) : status;
}

enum cw_status cw_eval_print(const struct cw_eval_run *r, const struct cw_output *output)
{
    struct cw_source source = {.folders = r->o->folders, .folder_count = r->o->folder_count};
    struct cw_terminal_style style = cw_eval_style(r->o);
    style.source = &source;
    const enum cw_status status = cw_eval_prints(r->o) ? output->print(output, &style, stdout, r->err) : CW_OK;
    cw_source_finish(&source);
    return status;
}

enum cw_status cw_eval_write(struct cw_eval_run *r, const struct cw_output *output)
{
    const enum cw_status status = cw_eval_write_files(r, output);
    return status == CW_OK ? cw_eval_print(r, output) : status;
}

enum cw_status cw_eval_write_samples(struct cw_eval_run *r)
{
    struct cw_output output;
    const struct counterworks_chip *described = r->o->hdf5 ? r->chip : NULL;
    enum cw_status status = cw_lib_output(&output, &r->result, described, r->arena, r->err);
    return status == CW_OK ? cw_eval_write(r, &output) : status;
}

/* ---- ranges, and groups of them --------------------------------------------------------------------------------- */

enum cw_status cw_eval_evaluate_rows(struct cw_eval_run *r, const struct cw_eval_rows *rows,
                                     enum cw_status (*evaluate)(struct cw_eval_run *r))
{
    const struct cw_groups *groups = r->groups = &rows->groups;
    /* those that files were written of may have less room */
    r->result.values = r->result.spread = NULL;
    r->result.statuses = NULL;
    r->result.occurrences = NULL;
    enum cw_status status = evaluate(r);
    r->groups = NULL;
    if (status == CW_OK && (rows->counted ? rows->counted : groups)->folds.kinds && groups->by != CW_BY_RANGE)
        status =
            cw_spread_find(&r->result, rows->counted ? rows->counted : groups, &r->capture->data, r->arena, r->err);
    return status == CW_OK ? cw_result_select(&r->result, rows->rows, rows->count, r->err) : status;
}

enum cw_status cw_eval_output_rows(struct cw_eval_run *r, const struct cw_eval_rows *rows, struct cw_output_rows *shown,
                                   struct cw_output *output)
{
    *shown = (struct cw_output_rows){.data = &r->capture->data,
                                     .groups = &rows->groups,
                                     .rows = rows->rows,
                                     .count = rows->count,
                                     .left = rows->left,
                                     .dropped = rows->dropped,
                                     .unknown = rows->unknown,
                                     .result = &r->result,
                                     .asked = shown->asked,
                                     .sections = shown->sections,
                                     .advice = shown->advice,
                                     .advice_groups = shown->advice_groups,
                                     .readings = shown->readings,
                                     .joined = shown->joined,
                                     .words = cw_eval_word(r),
                                     .wide = r->o->wide};
    if (!shown->words)
        return cw_error_nomem(r->err);
    return cw_lib_output_groups(output, shown, r->o->hdf5 ? r->chip : NULL, r->arena, r->err);
}

enum cw_group_by cw_eval_by(const struct cw_eval_run *r, enum cw_group_by otherwise)
{
    const enum cw_group_by by = r->o->grouped ? r->o->by : otherwise;
    return by == CW_BY_FOLD && !cw_fold_has(&r->capture->data) ? CW_BY_RANGE : by;
}

enum cw_status cw_eval_output_ranges(struct cw_output *output, struct cw_eval_run *r, const struct cw_groups *groups,
                                     const struct counterworks_chip *described)
{
    uint32_t *numbers = cw_arena_alloc(r->arena, groups->count, sizeof *numbers);
    if (!numbers)
        return cw_error_nomem(r->err);
    for (uint32_t k = 0; k < groups->count; k++)
        numbers[k] = groups->items[k].ranges[0];
    r->result.numbers = numbers;
    const enum cw_status status = cw_lib_output(output, &r->result, described, r->arena, r->err);
    output->data = &r->capture->data;
    return status;
}

/* Ranges by themselves in their order, without what only sorting and filtering need of each. */
static enum cw_status list_rows(struct cw_eval_run *r, struct cw_eval_rows *rows)
{
    const uint32_t count = r->capture->data.range_count;
    bool *keep = cw_eval_ranges_option(&r->o->ranges) ? cw_arena_alloc(r->arena, count, sizeof *keep) : NULL;
    *rows = (struct cw_eval_rows){.rows = cw_arena_alloc(r->arena, count, sizeof *rows->rows)};
    if (!rows->rows || (!keep && cw_eval_ranges_option(&r->o->ranges)))
        return cw_error_nomem(r->err);
    const enum cw_status status = keep ? cw_eval_match_ranges(keep, r, &r->o->ranges) : CW_OK;
    for (uint32_t i = 0; i < count && !(r->o->top && rows->count == r->o->top); i++)
        if (!keep || keep[i])
            rows->rows[rows->count++] = i;
    return status;
}

/* The same of a capture that stays in its file: values go from there to the files, some ranges at a time. */
static enum cw_status write_stream(struct cw_eval_run *r)
{
    struct cw_eval_rows rows;
    struct cw_output output;
    enum cw_status status =
        r->o->sort || r->o->filter_count ? cw_eval_make_rows(r, &rows, CW_BY_RANGE, r->o->top) : list_rows(r, &rows);
    r->result.streamed = true;
    if (status == CW_OK)
        status = cw_eval_wanted(r);
    if (status == CW_OK)
        status = cw_result_select(&r->result, rows.rows, rows.count, r->err);
    if (status == CW_OK)
        status = cw_lib_output(&output, &r->result, r->o->hdf5 ? r->chip : NULL, r->arena, r->err);
    r->result.streamed = false;
    return status == CW_OK ? cw_eval_write_files(r, &output) : status;
}

/* What files need of each range is left when they are written. */
static enum cw_status stream_files(struct cw_eval_run *r)
{
    struct cw_arena *arena = r->arena;
    const struct cw_result wanted = r->result;
    r->arena = cw_arena_create();
    const enum cw_status status = r->arena ? write_stream(r) : cw_error_nomem(r->err);
    cw_arena_destroy(r->arena);
    r->arena = arena;
    r->result = wanted;
    return status;
}

static enum cw_status write_files(struct cw_eval_run *r)
{
    if (r->capture->data.directory && cw_eval_by(r, CW_BY_FOLD) == CW_BY_RANGE)
        return stream_files(r);
    struct cw_eval_rows *rows = cw_arena_alloc(r->arena, 1, sizeof *rows);
    struct cw_output_rows shown = {0};
    struct cw_output output;
    enum cw_status status =
        rows ? cw_eval_make_rows(r, rows, cw_eval_by(r, CW_BY_FOLD), r->o->top) : cw_error_nomem(r->err);
    const bool ranges = status == CW_OK && (rows->groups.by == CW_BY_RANGE || rows->groups.by == CW_BY_FOLD);
    if (status == CW_OK)
        status = cw_eval_evaluate_rows(r, rows, cw_eval_wanted);
    if (status == CW_OK && ranges)
        status = cw_eval_output_ranges(&output, r, &rows->groups, r->o->hdf5 ? r->chip : NULL);
    else if (status == CW_OK)
        status = cw_eval_output_rows(r, rows, &shown, &output);
    return status == CW_OK ? cw_eval_write_files(r, &output) : status;
}

enum cw_status cw_eval_advise_kernels(struct cw_eval_run *r, const struct cw_groups *groups,
                                      const struct cw_advice **advice)
{
    struct cw_advice *made = cw_arena_alloc(r->arena, 1, sizeof *made);
    struct cw_error wrong = CW_ERROR_INIT;
    const struct cw_rules *rules;
    *advice = NULL;
    if (groups->count > CW_EVAL_MOST_KERNELS)
        return CW_OK;
    enum cw_status status =
        made ? cw_rules_load(&rules, r->result.chip, r->chip->folder, NULL, r->arena, &wrong) : cw_error_nomem(&wrong);
    if (status == CW_OK)
        status = cw_advise(made, rules, groups, CW_ADVICE_LEAST_GAIN, r->arena, &wrong);
    if (status == CW_ERR_NOMEM)
        return cw_error_nomem(r->err);
    if (status != CW_OK && r->chip->tell)
        cw_usage_fail(&wrong);
    *advice = status == CW_OK ? made : NULL;
    return CW_OK;
}

/* On rows that are neither kernels nor ranges, what there is on their kernels. */
static enum cw_status add_advice(struct cw_eval_run *r, const struct cw_groups *rows, struct cw_output_rows *shown)
{
    const struct cw_counter_data *data = &r->capture->data;
    if (rows->by == CW_BY_KERNEL || rows->by == CW_BY_RANGE || rows->by == CW_BY_FOLD)
        return cw_eval_advise_kernels(r, rows, &shown->advice);
    const struct cw_advice *advice = NULL;
    bool *keep = cw_arena_alloc(r->arena, data->range_count, sizeof *keep);
    struct cw_groups *kernels = cw_arena_alloc(r->arena, 1, sizeof *kernels);
    struct cw_advice_groups *added = cw_arena_alloc(r->arena, 1, sizeof *added);
    if (!keep || !kernels || !added)
        return cw_error_nomem(r->err);
    enum cw_status status = cw_eval_match_ranges(keep, r, &r->o->ranges);
    if (status == CW_OK)
        status = cw_groups_make(kernels, CW_BY_KERNEL, data, r->chip->chip, keep, r->arena, r->err);
    if (status == CW_OK)
        status = cw_eval_advise_kernels(r, kernels, &advice);
    if (status == CW_OK && advice)
        status = cw_advise_groups(added, advice, rows, r->arena, r->err);
    shown->advice_groups = status == CW_OK && advice ? added : NULL;
    return status;
}

/* What values of the result tell, where the glossary is there. */
static enum cw_status add_readings(struct cw_eval_run *r, const char *const **readings)
{
    const struct cw_glossary *glossary;
    const char **list = cw_arena_alloc(r->arena, r->result.metric_count, sizeof *list);
    struct cw_error wrong = CW_ERROR_INIT;
    const enum cw_status status =
        list ? cw_glossary_load_about(&glossary, r->chip->folder, NULL, r->arena, &wrong) : cw_error_nomem(&wrong);
    if (status == CW_ERR_NOMEM)
        return cw_error_nomem(r->err);
    for (uint32_t m = 0; status == CW_OK && m < r->result.metric_count; m++) {
        const char *base = cw_arena_strndup(r->arena, r->result.names[m], strcspn(r->result.names[m], "."));
        if (!base)
            return cw_error_nomem(r->err);
        list[m] = cw_glossary_reading(glossary, base);
    }
    *readings = list;
    return CW_OK;
}

/* A list of kernels needs no metrics but those that are named; one kernel in full has what was planned. All that a file
 * is given is too much for a terminal. */
static enum cw_status print_rows(struct cw_eval_run *r)
{
    struct cw_eval_rows *rows = cw_arena_alloc(r->arena, 1, sizeof *rows);
    struct cw_sections sections = {0};
    struct cw_output_rows shown = {.sections = &sections};
    struct cw_output output;
    const size_t top = r->o->top ? r->o->top : r->o->wide ? 0 : CW_EVAL_LIST_TOP;
    const bool written = r->o->hdf5 || r->o->csv || r->o->json;
    const bool named = (r->o->all && (!written || r->o->wide)) || r->o->sources.count;
    enum cw_status status = rows ? (named || r->o->wide ? cw_eval_make_rows : cw_eval_make_rows_of_times)(
                                       r, rows, cw_eval_by(r, CW_BY_KERNEL), top)
                                 : cw_error_nomem(r->err);
    const bool one = status == CW_OK && rows->count == 1 && !rows->left;
    if (status == CW_OK)
        status = cw_sections_load(&sections, r->chip->folder, "sections", r->arena, r->err);
    if (status == CW_OK && !named)
        status = add_advice(r, &rows->groups, &shown);
    if (status == CW_OK && (named || r->o->wide || one)) {
        status = cw_eval_evaluate_rows(r, rows, named ? cw_eval_wanted : cw_eval_planned_and_launch);
        shown.asked = named ? r->result.metric_count : (uint32_t)r->info.metric_count;
    } else if (status == CW_OK) {
        r->result.data = &rows->groups.data;
        r->result.metric_count = 0;
        cw_lib_tell_incomplete(r->capture, r->chip);
    }
    if (status == CW_OK && one && !r->o->quiet)
        status = add_readings(r, &shown.readings);
    if (status == CW_OK)
        status = cw_eval_output_rows(r, rows, &shown, &output);
    return status == CW_OK ? cw_eval_print(r, &output) : status;
}

enum cw_status cw_eval_ranges(struct cw_eval_run *r)
{
    const struct cw_eval_request *o = r->o;
    enum cw_status status = CW_OK;
    if (o->hdf5 || o->csv || o->json) {
        status = write_files(r);
        counterworks_chip_tell(r->chip, NULL, NULL); /* it was all told */
    }
    return status == CW_OK && cw_eval_prints(o) ? print_rows(r) : status;
}
