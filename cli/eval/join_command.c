/* metric-eval join: a trace with the metrics of its launches. */
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/session.h"

static bool by_launch(const struct cw_eval_line *o)
{
    return o->request.by && strcmp(o->request.by, "launch") == 0;
}

static void take_by(void *line, char *text, struct argp_state *state)
{
    static const char *const known[] = {"kernel", "family", "nvtx", "stream", "device", "rank", "launch"};
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i], text) != 0)
        i++;
    if (i == sizeof known / sizeof *known)
        cw_usage_error(state, "found --by '%s', expected kernel, family, nvtx, stream, device, rank or launch", text);
    ((struct cw_eval_line *)line)->request.by = text;
}

static void check_options(void *line, struct argp_state *state)
{
    const struct cw_eval_line *o = line;
    if (o->word_count < 2)
        cw_usage_error(state, "found %zu capture%s, expected a trace and a capture of ranges or PM samples at least",
                       o->word_count, o->word_count == 1 ? "" : "s");
    cw_eval_check_every(o, state);
    if (by_launch(o) && !o->csv && !o->json)
        cw_usage_error(state, "found --by launch for people, expected --format csv or json");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "every metric whose counters the ranges hold", CW_OPTION_FLAG(struct cw_eval_line, request.every)},
    {"by", 0, "kernel|family|nvtx|stream|device|rank|launch",
     "a row for all launches of a kernel, grid and block (the default), of a family of kernels, in an NVTX range, a "
     "stream, on a device or of a rank; or, in CSV and JSON, for each launch",
     CW_OPTION_TAKE(take_by)},
    {CW_OPTION_ROWS(cw_eval_file_options)},
    {CW_OPTION_ROWS(cw_eval_row_options)},
    {CW_OPTION_ROWS(cw_eval_quiet_options)},
    {CW_OPTION_WORDS(struct cw_eval_line, words, word_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct cw_eval_line, sources, cw_metric_sources_options)},
    {CW_OPTION_ROWS(cw_eval_value_options)},
    {0},
};

/* The captures to join. Ranges are closed again, to be opened all together. */
struct inputs {
    struct cw_eval_opened trace, samples, pm; /* samples: PC samples, pm: samples over time, if given */
    char **ranges;
    size_t range_count;
};

/* Opens a word's capture, and keeps it open unless it has ranges. */
static enum cw_status sort_word(struct cw_eval_session *s, struct inputs *in, char *const *word)
{
    struct cw_eval_opened opened = {0};
    enum cw_status status = CW_OK;
    CW_TRY(cw_eval_open_capture(s, &opened, word, 1, false));
    const enum cw_profiler profiler = opened.capture->data.schema.profiler;
    struct cw_eval_opened *kept = profiler == CW_PROFILER_TRACE ? &in->trace
                                  : profiler == CW_PROFILER_PC  ? &in->samples
                                  : profiler == CW_PROFILER_PM  ? &in->pm
                                                                : NULL;
    if (kept && !kept->capture) {
        *kept = opened;
        return CW_OK;
    }
    if (kept)
        status = cw_error_set(s->err, CW_ERR_USAGE, "%s: found a second %s, expected one", *word,
                              profiler == CW_PROFILER_PC   ? "capture of PC samples"
                              : profiler == CW_PROFILER_PM ? "capture of PM samples"
                                                           : "trace");
    else if (profiler == CW_PROFILER_RANGE)
        in->ranges[in->range_count++] = *word;
    else
        status = cw_error_set(s->err, CW_ERR_USAGE,
                              "%s: found a capture of SASS metrics, expected a trace, ranges, PM samples or PC samples",
                              *word);
    cw_eval_close(&opened);
    return status;
}

static enum cw_status open_inputs(struct cw_eval_session *s, struct inputs *in)
{
    enum cw_status status = CW_OK;
    in->ranges = cw_arena_alloc(s->arena, s->o->word_count, sizeof *in->ranges);
    if (!in->ranges)
        return cw_error_nomem(s->err);
    for (size_t i = 0; status == CW_OK && i < s->o->word_count; i++)
        status = sort_word(s, in, &s->o->words[i]);
    if (status == CW_OK && in->pm.capture && (in->range_count || in->samples.capture))
        status = cw_error_set(s->err, CW_ERR_USAGE,
                              "%s: found PM samples and other captures, expected them beside a trace alone",
                              in->pm.capture->asked);
    if (status == CW_OK && in->pm.capture && in->trace.capture) {
        s->main = in->pm;
        in->pm = (struct cw_eval_opened){0};
        return cw_eval_open_chip(s, &s->main);
    }
    if (status == CW_OK && (!in->trace.capture || !in->range_count))
        status = cw_error_set(s->err, CW_ERR_USAGE, "found no %s, expected a trace and a capture of ranges",
                              in->trace.capture ? "capture of ranges" : "trace");
    return status == CW_OK ? cw_eval_open(s, &s->main, in->ranges, in->range_count) : status;
}

static enum cw_status put(struct cw_eval_session *s, const struct inputs *in, enum counterworks_form form,
                          enum cw_eval_part part)
{
    struct counterworks_view view = {0};
    struct counterworks_request request = s->request;
    request.form = form;
    request.full = part == CW_EVAL_HDF5;
    struct cw_view_input input = cw_eval_input(s, &s->main, &request);
    input.shared = &s->shared;
    enum cw_status status = cw_view_join(&view, &input, in->trace.capture, in->samples.capture);
    if (status == CW_OK)
        status = form == COUNTERWORKS_LIST ? cw_eval_print(s, &view) : cw_eval_write(s, &view, part);
    cw_view_free(&view);
    return status;
}

static enum cw_status join(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    struct inputs in = {0};
    enum cw_status status = cw_eval_check_outputs(s);
    if (status == CW_OK)
        status = open_inputs(s, &in);
    if (status == CW_OK)
        status = cw_eval_gather(s, s->main.chip);
    if (status == CW_OK && o->hdf5)
        status = put(s, &in, COUNTERWORKS_TABLE, CW_EVAL_HDF5);
    if (status == CW_OK && (o->csv || o->json))
        status = put(s, &in, COUNTERWORKS_TABLE, CW_EVAL_TEXT);
    if (status == CW_OK && cw_eval_prints(o))
        status = put(s, &in, COUNTERWORKS_LIST, CW_EVAL_ALL);
    cw_view_share_free(&s->shared);
    cw_eval_close(&in.trace);
    cw_eval_close(&in.samples);
    cw_eval_close(&in.pm);
    return status;
}

int cw_eval_join(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "TRACE.cwd RUN.cwd... [HOT.cwd]\nTRACE.cwd PM.cwd",
        "Joins the undisturbed timeline of a program with the metrics of its other runs. Launches match by rank or "
        "process, device, kernel, grid and block, NVTX ranges and occurrence; the others are listed. Each row has the "
        "time of the trace, and the limiter from the ranges. A capture of PC samples adds the hottest lines of each "
        "kernel. With PM samples in place of ranges, each kernel has the means of the samples in its launches.\v"
        "Example:\n  $0 trace.cwd run.cwd\n  $0 trace.cwd run.cwd --by nvtx -o joined.h5\n"
        "  $0 trace.cwd run.cwd --by launch --format csv"};
    struct cw_eval_line line = {.run = join, .takes = CW_EVAL_TABLES};
    return cw_eval_command(&usage, argc, argv, &line);
}
