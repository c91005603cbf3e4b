/* How the commands of metric-eval open captures and write views. */
#define _GNU_SOURCE
#include "cli/eval/session.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/text.h"
#include "cli/common/cli.h"
#include "view/metrics.h"

/* ---- captures --------------------------------------------------------------------------------------------------- */

static struct cw_notices *listener(struct cw_eval_session *s)
{
    return s->o->quiet ? NULL : &s->notices;
}

enum cw_status cw_eval_expand(struct cw_eval_session *s)
{
    const struct cw_source_files of = cw_eval_files(s, false);
    return s->found.count ? CW_OK : cw_source_expand(&s->found, &of, listener(s), s->arena, s->err);
}

struct cw_source_files cw_eval_files(const struct cw_eval_session *s, bool numbered)
{
    return (struct cw_source_files){(const char *const *)s->o->words, s->o->word_count, s->request.ranks,
                                    numbered || s->request.ranges, s->found.count ? &s->found : NULL};
}

enum cw_status cw_eval_open_files(struct cw_eval_session *s, struct cw_eval_opened *opened,
                                  const struct cw_source_files *files)
{
    cw_progress_begin(s->o->quiet, false, "reading %s", *files->words);
    const enum cw_status status = cw_source_open(&opened->capture, files, listener(s), s->err);
    cw_progress_end();
    return status;
}

enum cw_status cw_eval_open_capture(struct cw_eval_session *s, struct cw_eval_opened *opened, char *const *words,
                                    size_t count, bool numbered)
{
    const struct cw_source_files files = {(const char *const *)words, count, s->request.ranks,
                                          numbered || s->request.ranges, NULL};
    return cw_eval_open_files(s, opened, &files);
}

enum cw_status cw_eval_open_chip(struct cw_eval_session *s, struct cw_eval_opened *opened)
{
    struct cw_cli_chip from = s->o->chip;
    struct cw_result of;
    if (opened->capture->data.schema.profiler >= CW_PROFILER__PLANNED)
        return CW_OK;
    from.name = opened->capture->data.schema.chip;
    from.quiet = s->o->quiet;
    CW_TRY(cw_cli_chip_open(&opened->chip, &from, s->err));
    const struct cw_view_input in = {opened->capture, opened->chip, .arena = s->arena, .err = s->err};
    CW_TRY(cw_view_begin(&of, &in)); /* checks that the capture has this chip */
    return cw_cli_chip_add(opened->chip, &from, s->err);
}

enum cw_status cw_eval_open(struct cw_eval_session *s, struct cw_eval_opened *opened, char *const *words, size_t count)
{
    CW_TRY(cw_eval_open_capture(s, opened, words, count, false));
    return cw_eval_open_chip(s, opened);
}

void cw_eval_close(struct cw_eval_opened *opened)
{
    counterworks_chip_close(opened->chip);
    counterworks_capture_close(opened->capture);
    *opened = (struct cw_eval_opened){0};
}

enum cw_status cw_eval_gather(struct cw_eval_session *s, const struct counterworks_chip *chip)
{
    if (!s->o->sources.count)
        return CW_OK;
    static const char *const some[] = {"metrics"};
    if (!chip) { /* the view reports that the capture has no metrics */
        s->request.metrics = (struct counterworks_names){1, some};
        return CW_OK;
    }
    s->request.metrics = (struct counterworks_names){0};
    CW_TRY(cw_metric_list_gather(&s->request.metrics, &s->o->sources, chip, s->arena, s->err));
    return s->request.metrics.count
               ? CW_OK
               : cw_error_set(s->err, CW_ERR_USAGE,
                              "found no metric in the given names, files and sets, expected at least one");
}

enum cw_status cw_eval_open_main(struct cw_eval_session *s)
{
    const struct cw_source_files files = cw_eval_files(s, false);
    CW_TRY(cw_eval_open_files(s, &s->main, &files));
    CW_TRY(cw_eval_open_chip(s, &s->main));
    return cw_eval_gather(s, s->main.chip);
}

struct cw_view_input cw_eval_input(struct cw_eval_session *s, const struct cw_eval_opened *opened,
                                   const struct counterworks_request *request)
{
    return (struct cw_view_input){opened->capture, opened->chip, request, listener(s), s->arena, s->err, NULL};
}

enum cw_status cw_eval_open_sides(struct cw_eval_session *s, const struct cw_eval_sides *sides,
                                  struct cw_eval_opened *second, struct counterworks_side opened[2])
{
    CW_TRY(cw_eval_keep_captures(s, sides->a, sides->a_count));
    CW_TRY(cw_eval_keep_captures(s, sides->b, sides->b_count));
    CW_TRY(cw_eval_open(s, &s->main, sides->a, sides->a_count));
    CW_TRY(cw_eval_gather(s, s->main.chip));
    CW_TRY(cw_eval_open(s, second, sides->b, sides->b_count));
    opened[0] = (struct counterworks_side){s->main.capture, s->main.chip, 0};
    opened[1] = (struct counterworks_side){second->capture, second->chip, 0};
    return CW_OK;
}

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

void cw_eval_tell(struct cw_eval_session *s)
{
    for (const char *line; (line = cw_notice_next(&s->notices, &s->told));)
        cw_cli_tell(NULL, line);
}

bool cw_eval_writes(const struct cw_eval_line *o)
{
    return o->hdf5 || o->csv || o->json || o->other_count;
}

bool cw_eval_prints(const struct cw_eval_line *o)
{
    return !cw_eval_writes(o) && !o->page;
}

/* Bold and bars need a terminal, whose width limits the table. NO_COLOR switches escapes off. */
static struct cw_terminal_style style_of(const struct cw_eval_line *o)
{
    enum { INSTRUCTIONS = 10 };
    struct cw_terminal_style style = {.top = o->request.top ? o->request.top : INSTRUCTIONS, .quiet = o->quiet};
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

/* Keeps the files that options name. */
static enum cw_status keep_options(const struct cw_eval_line *o, const char *output, struct cw_error *err)
{
    CW_TRY(cw_file_keep(output, o->baseline, "capture", err));
    for (size_t i = 0; i < o->with.count; i++)
        CW_TRY(cw_file_keep(output, o->with.items[i], "capture", err));
    CW_TRY(cw_file_keep(output, o->request.rules, "rules", err));
    return cw_cli_keep_inputs(output, &o->chip, &o->sources, err);
}

enum cw_status cw_eval_keep_inputs(struct cw_eval_session *s, const char *output)
{
    const struct cw_eval_line *o = s->o;
    for (size_t k = 0; k < s->found.count; k++)
        CW_TRY(cw_file_keep(output, s->found.paths[k], "capture", s->err));
    for (size_t i = 0; i < o->word_count; i++)
        CW_TRY(cw_file_keep(output, o->words[i] + (*o->words[i] == '@'), "capture", s->err));
    return keep_options(o, output, s->err);
}

static enum cw_status check_output(struct cw_eval_session *s, const struct cw_eval_file *file)
{
    CW_TRY(cw_eval_keep_inputs(s, file->path));
    return cw_file_may_replace(file->path, file->format->kind, s->o->force, s->err);
}

enum cw_status cw_eval_check_outputs(struct cw_eval_session *s)
{
    struct cw_eval_file files[CW_EVAL_OUTPUTS_MAX];
    const size_t count = cw_eval_outputs(files, s->o);
    enum cw_status status = cw_eval_expand(s);
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        for (size_t k = 0; k < i; k++)
            if (cw_file_is_same(files[k].path, files[i].path))
                return cw_error_set(s->err, CW_ERR_USAGE, "found %s as two outputs, expected another file for each",
                                    files[i].path);
        status = check_output(s, &files[i]);
    }
    return status;
}

/* Adds a line about a file, to be printed once all have replaced their targets. Pipes and devices get none: their
 * reader sees the data. */
static void note_written(struct cw_eval_session *s, const struct counterworks_view *view, enum cw_view_format format,
                         const char *path)
{
    const struct cw_output_table *table = view->output.table_count ? &view->output.tables[0] : NULL;
    const bool trees = format == CW_VIEW_JSON || format == CW_VIEW_HDF5; /* which have all tables */
    const bool rows = table && (trees || format == cw_eval_csv_format(s->o));
    const uint64_t metrics = rows && table->metrics ? table->metrics->row_count : 0;
    const size_t others = trees && rows && !metrics ? view->output.table_count - 1 : 0;
    struct cw_writer line;
    struct stat st;
    if (format == CW_VIEW_YAML || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) /* gate prints a summary of rules */
        return;
    cw_writer_init(&line);
    cw_write_format(&line, "wrote %s", path);
    if (rows)
        cw_write_format(&line, ": %" PRIu64 " row%s", table->row_count, table->row_count == 1 ? "" : "s");
    if (others)
        cw_write_format(&line, " of %s, and %zu more table%s", table->name, others, others == 1 ? "" : "s");
    if (metrics)
        cw_write_format(&line, ", %" PRIu64 " metric%s", metrics, metrics == 1 ? "" : "s");
    cw_notice_take(&s->written, &line);
}

static void tell_written(const struct cw_eval_session *s)
{
    const struct cw_notice *at = NULL;
    for (const char *line; !s->o->quiet && (line = cw_notice_next(&s->written, &at));)
        cw_text_print(stderr, "%s\n", line);
}

/* Shows no progress if standard output, perhaps a terminal, is written. Closes other files first: if the reader of
 * standard output leaves, the process ends. */
static enum cw_status write_form(struct cw_eval_session *s, const struct counterworks_view *view,
                                 enum cw_view_format format, const char *path)
{
    const bool standard = cw_file_is_standard(path);
    enum cw_status status = standard ? cw_new_files_close(&s->files, true, s->err) : CW_OK;
    if (!standard)
        cw_progress_begin(s->o->quiet, false, "writing %s", path);
    if (status == CW_OK)
        status = cw_view_write(view, format, path, &s->files, s->err);
    cw_progress_end();
    if (status == CW_OK && !standard)
        note_written(s, view, format, path);
    return status;
}

static bool is_of_part(const struct cw_eval_file *file, enum cw_eval_part part)
{
    const bool hdf5 = file->format->format == CW_VIEW_HDF5;
    return file->format->taken_as & CW_EVAL_TABLES && (part == CW_EVAL_ALL || hdf5 == (part == CW_EVAL_HDF5));
}

static enum cw_view_format form_of(const struct cw_eval_line *o, const struct cw_eval_file *file)
{
    return file->format->format == CW_VIEW_CSV ? cw_eval_csv_format(o) : file->format->format;
}

enum cw_status cw_eval_write(struct cw_eval_session *s, const struct counterworks_view *view, enum cw_eval_part part)
{
    struct cw_eval_file files[CW_EVAL_OUTPUTS_MAX];
    const size_t count = cw_eval_outputs(files, s->o);
    enum cw_status status = CW_OK;
    cw_eval_tell(s);
    for (int standard = 0; standard < 2; standard++)
        for (size_t i = 0; i < count && status == CW_OK; i++)
            if (is_of_part(&files[i], part) && cw_file_is_standard(files[i].path) == standard)
                status = write_form(s, view, form_of(s->o, &files[i]), files[i].path);
    return status;
}

enum cw_status cw_eval_write_to(struct cw_eval_session *s, const struct counterworks_view *view,
                                enum cw_view_format format, const char *path)
{
    cw_eval_tell(s);
    return write_form(s, view, format, path);
}

/* ---- commands that print ---------------------------------------------------------------------------------------- */

static enum cw_status check_printed(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    enum cw_status status = o->outputs.count && o->word_count ? cw_eval_expand(s) : CW_OK;
    for (size_t i = 0; i < o->outputs.count && status == CW_OK; i++)
        status = check_output(
            s, &(const struct cw_eval_file){o->outputs.items[i], cw_eval_printed_format(o, o->outputs.items[i])});
    return status;
}

enum cw_status cw_eval_keep(struct cw_eval_session *s, const char *input, const char *kind)
{
    const struct cw_eval_list *outputs = &s->o->outputs;
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < outputs->count && status == CW_OK; i++)
        status = cw_file_keep(outputs->items[i], input, kind, s->err);
    return status;
}

/* Whether a list of files can be read once only. */
static bool is_stream(const char *word)
{
    struct stat about;
    return *word == '@' && (stat(word + 1, &about) != 0 || !S_ISREG(about.st_mode));
}

enum cw_status cw_eval_keep_captures(struct cw_eval_session *s, char *const *words, size_t count)
{
    const struct cw_source_files of = {.words = (const char *const *)words, .count = count};
    struct cw_file_list files = {0};
    bool again = s->o->outputs.count > 0;
    for (size_t i = 0; i < count && again; i++)
        again = !is_stream(words[i]);
    enum cw_status status = again ? cw_source_expand(&files, &of, NULL, s->arena, s->err) : CW_OK;
    for (size_t i = 0; i < files.count && status == CW_OK; i++)
        status = cw_eval_keep(s, files.paths[i], "capture");
    return status;
}

struct printing {
    const struct counterworks_view *view;
    const struct cw_terminal_style *style;
};

static enum cw_status render_text(FILE *out, const void *printing, struct cw_error *err)
{
    const struct printing *p = printing;
    return cw_view_print(p->view, p->style, out, err);
}

static enum cw_status print_file(struct cw_eval_session *s, const struct counterworks_view *view,
                                 const struct cw_terminal_style *style, const char *path)
{
    const struct cw_terminal_style plain = {.top = style->top, .quiet = style->quiet, .source = style->source};
    const struct printing printing = {view, &plain};
    const enum cw_view_format format = cw_eval_printed_format(s->o, path)->format;
    if (format != CW_VIEW__COUNT)
        return write_form(s, view, format, path);
    const enum cw_status status = cw_new_files_print(&s->files, path, render_text, &printing, s->err);
    note_written(s, view, format, path);
    return status;
}

static enum cw_status print_here(struct cw_eval_session *s, const struct counterworks_view *view,
                                 const struct cw_terminal_style *style)
{
    const enum cw_view_format format = cw_eval_printed_format(s->o, "-")->format;
    const enum cw_status status = cw_new_files_close(&s->files, true, s->err);
    return status != CW_OK            ? status
           : format != CW_VIEW__COUNT ? cw_view_write(view, format, "-", &s->files, s->err)
                                      : cw_view_print(view, style, stdout, s->err);
}

enum cw_status cw_eval_print(struct cw_eval_session *s, const struct counterworks_view *view)
{
    struct cw_source source = {.folders = s->o->folders.items, .folder_count = s->o->folders.count};
    struct cw_terminal_style style = style_of(s->o);
    const bool prints = s->o->takes & CW_EVAL_PRINTED;
    const size_t count = prints ? s->o->outputs.count : 0;
    bool here = !count;
    cw_eval_tell(s);
    enum cw_status status = cw_new_files_close(&s->files, true, s->err);
    style.source = &source;
    for (size_t i = 0; i < count && status == CW_OK; i++) {
        const bool standard = cw_file_is_standard(s->o->outputs.items[i]);
        here = here || standard;
        if (!standard)
            status = print_file(s, view, &style, s->o->outputs.items[i]);
    }
    if (status == CW_OK && here)
        status = print_here(s, view, &style);
    cw_source_finish(&source);
    return status;
}

/* ---- commands --------------------------------------------------------------------------------------------------- */

static enum cw_status run(const void *line, struct counterworks_chip *chip, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct cw_eval_line *o = line;
    struct cw_eval_session s = {.o = o,
                                .request = o->request,
                                .notices.arena = arena,
                                .written.arena = arena,
                                .shared.arena = arena,
                                .arena = arena,
                                .err = err};
    (void)chip;
    s.request.quiet = o->quiet;
    cw_hdf5_begin();
    enum cw_status status = o->takes & CW_EVAL_PRINTED ? check_printed(&s) : CW_OK;
    if (status == CW_OK)
        status = o->run(&s);
    const enum cw_status closing = cw_new_files_close(&s.files, status == CW_OK, err);
    cw_eval_tell(&s);
    cw_view_share_free(&s.shared);
    if (status == CW_OK && closing == CW_OK)
        tell_written(&s);
    cw_eval_close(&s.main);
    return status == CW_OK ? closing : status;
}

int cw_eval_command(const struct cw_usage *usage, int argc, char **argv, struct cw_eval_line *line)
{
    return cw_cli_run(usage, argc, argv, line, NULL, run);
}
