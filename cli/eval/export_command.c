/* metric-eval export: a capture for other programs. */
#include <inttypes.h>

#include "base/text.h"
#include "cli/common/cli.h"
#include "cli/eval/session.h"
#include "view/instructions.h"

static void check_options(void *line, struct argp_state *state)
{
    const struct cw_eval_line *o = line;
    if (!o->word_count || (!cw_eval_writes(o) && !o->cubin))
        cw_usage_error(state, "found no %s, expected %s", o->word_count ? "--format" : "capture",
                       o->word_count ? "one, or -o FILE with a suffix that says it" : "RUN.cwd");
    cw_eval_check_every(o, state);
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the capture holds",
     CW_OPTION_FLAG(struct cw_eval_line, request.every)},
    {CW_OPTION_ROWS(cw_eval_perfetto_options)},
    {CW_OPTION_ROWS(cw_eval_output_options)},
    {"cubin", 0, "FOLDER",
     "the machine code of the kernels in PC samples or SASS metrics, for nvdisasm and cuobjdump: a file MODULE.cubin "
     "for each module",
     CW_OPTION_TEXT(struct cw_eval_line, cubin)},
    {CW_OPTION_ROWS(cw_eval_csv_options)},
    {CW_OPTION_ROWS(cw_eval_quiet_options)},
    {CW_OPTION_ROWS(cw_eval_ranges_options)},
    {CW_OPTION_WORDS(struct cw_eval_line, words, word_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct cw_eval_line, sources, cw_metric_sources_options)},
    {CW_OPTION_ROWS(cw_eval_value_options)},
    {0},
};

/* Files of a trace's rows, as CSV or JSON, are made by the table. */
static enum cw_status check_form(struct cw_eval_session *s, const struct cw_eval_file *file)
{
    const bool trace = s->main.capture->data.schema.profiler == CW_PROFILER_TRACE;
    const char *asked = s->main.capture->asked;
    if (!trace || file->format->form == COUNTERWORKS_TIMELINE)
        return CW_OK;
    if (s->request.every || s->o->sources.count)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                            asked, s->request.every ? "--all" : "metrics (-m, --set)");
    const bool csv = file->format->format == CW_VIEW_CSV;
    return cw_error_set(s->err, CW_ERR_USAGE, "%s: found a trace, expected --format perfetto or chrome for it%s", asked,
                        csv ? "; counterworks table --kind kernel writes its kernels" : "");
}

enum cw_status cw_eval_put_other(struct cw_eval_session *s, const struct cw_eval_file *file)
{
    const enum cw_view_format format =
        file->format->format == CW_VIEW_CSV ? cw_eval_csv_format(s->o) : file->format->format;
    struct counterworks_request request = s->request;
    struct counterworks_view view = {0};
    request.form = file->format->form;
    struct cw_view_input in = cw_eval_input(s, &s->main, &request);
    in.arena = cw_arena_create();
    in.shared = &s->shared;
    enum cw_status status = in.arena ? check_form(s, file) : cw_error_nomem(s->err);
    if (status == CW_OK)
        status = cw_view_make(&view, &in);
    if (status == CW_OK)
        status = cw_eval_write_to(s, &view, format, file->path);
    cw_view_free(&view);
    cw_arena_destroy(in.arena);
    return status;
}

static enum cw_status put_modules(struct cw_eval_session *s)
{
    const char *folder = s->o->cubin;
    uint32_t count = 0;
    CW_TRY(cw_view_save_modules(s->main.capture, folder, s->o->force, &count, s->arena, s->err));
    if (!s->o->quiet)
        cw_text_print(stderr, "wrote %s: %" PRIu32 " module%s\n", folder, count, count == 1 ? "" : "s");
    return CW_OK;
}

static enum cw_status export_all(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    CW_TRY(cw_eval_check_outputs(s));
    CW_TRY(cw_eval_open_main(s));
    for (size_t i = 0; i < o->other_count; i++)
        CW_TRY(cw_eval_put_other(s, &o->others[i]));
    return o->cubin ? put_modules(s) : CW_OK;
}

int cw_eval_export(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd... -o FILE\nRUN.cwd... --format FORMAT\nRUN.cwd... --cubin FOLDER",
        "Writes a capture for other programs. Formats and suffixes: csv (.csv) has a line for each row, and ndjson "
        "(.ndjson) one for each value; folded (.folded) and speedscope (.speedscope.json) have stacks for flame graphs "
        "of time or PC samples; prometheus (.prom) has the kernels' metrics for a monitor; perfetto (.pftrace) and, "
        "for small files, chrome (.chrome.json) have a trace for viewers of timelines, or PM samples with the trace "
        "beside them.\v"
        "Example:\n  $0 run.cwd --format folded | flamegraph.pl >run.svg\n  $0 run.cwd -o run.csv\n"
        "  $0 trace.cwd -o trace.pftrace",
        .elsewhere = "--kind: counterworks table\n--by: counterworks table\n--sort: counterworks table\n"
                     "--filter: counterworks table\n--top: counterworks table\n"};
    struct cw_eval_line line = {.run = export_all, .takes = CW_EVAL_FOREIGN | CW_EVAL_CSV};
    return cw_eval_command(&usage, argc, argv, &line);
}
