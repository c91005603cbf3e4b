/* metric-eval check: compares a capture's values with values of others. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/common/cli.h"
#include "cli/eval/session.h"
#include "eval/check.h"
#include "host/nvperf/nvperf.h"
#include "view/metrics.h"

/* ---- values of NVIDIA's evaluator on native counter data -------------------------------------------------------- */

enum { LARGEST_IMAGE = 1 << 30 };

/* Results of the child, in memory that it shares with its parent. */
struct shared {
    struct cw_error err;
    bool done;
    double values[]; /* [range][metric] */
};

struct native {
    const struct cw_nvperf *library;
    const struct cw_result *result;
    const struct cw_eval_options *options;
    double *values;  /* [range][metric] */
    uint32_t ranges; /* ranges evaluated so far */
};

static enum cw_status evaluate_ranges(struct native *n, struct cw_nvperf_evaluator *e, const char *path,
                                      struct cw_error *err)
{
    const struct cw_result *r = n->result;
    struct cw_nvperf_requests *requests = NULL;
    size_t ranges = 0;
    enum cw_status status = cw_nvperf_range_count(e, &ranges, err);
    if (status == CW_OK && (!ranges || ranges > r->row_count - n->ranges))
        status = cw_error_set(err, CW_ERR_INPUT, "%s: found %zu ranges, expected 1 to %u: the capture has %u", path,
                              ranges, (unsigned)(r->row_count - n->ranges), (unsigned)r->row_count);
    if (status == CW_OK)
        status = cw_nvperf_requests_create(&requests, e, r->names, r->metric_count, err);
    for (size_t i = 0; status == CW_OK && i < ranges; i++, n->ranges++)
        status = cw_nvperf_evaluate(e, requests, i, n->values + (size_t)n->ranges * r->metric_count, err);
    cw_nvperf_requests_destroy(requests);
    return status;
}

static enum cw_status evaluate_image(struct native *n, const char *path, struct cw_error *err)
{
    const bool sampled = n->result->data->schema.profiler == CW_PROFILER_PM;
    const enum cw_nvperf_activity activity = sampled ? CW_NVPERF_PM_SAMPLING : CW_NVPERF_PROFILER;
    struct cw_nvperf_evaluator *e = NULL;
    struct cw_bytes file = {0};
    CW_TRY(cw_file_read(&file, path, LARGEST_IMAGE, err));
    uint8_t *image = aligned_alloc(64, (file.size + 64) / 64 * 64);
    enum cw_status status = image ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK) {
        memcpy(image, file.data, file.size);
        status = cw_nvperf_evaluator_create(&e, n->library, n->result->chip->name, activity, image, file.size, err);
    }
    if (status == CW_OK && (n->options->frame_ns != 0 || n->options->region_ns != 0))
        status = cw_nvperf_set_durations(e, n->options->frame_ns, n->options->region_ns, err);
    if (status == CW_OK)
        status = evaluate_ranges(n, e, path, err);
    cw_nvperf_evaluator_destroy(e);
    cw_bytes_free(&file);
    free(image);
    return status;
}

static enum cw_status evaluate(struct native *n, const char *path, struct cw_error *err)
{
    char name[4096];
    enum cw_status status = cw_nvperf_open(&n->library, NULL, err);
    for (unsigned k = 0; status == CW_OK && n->ranges < n->result->row_count; k++) {
        snprintf(name, sizeof name, k ? "%s.%u" : "%s", path, k);
        status = evaluate_image(n, name, err);
    }
    return status;
}

/* NVIDIA's library trusts the image, and a damaged image can crash it. So a child evaluates. */
static enum cw_status evaluate_in_child(const char *path, const struct cw_result *r,
                                        const struct cw_eval_options *options, struct shared *shared,
                                        struct cw_error *err)
{
    int how = 0;
    pid_t pid = fork();
    if (pid == 0) {
        evaluate(&(struct native){.result = r, .options = options, .values = shared->values}, path, &shared->err);
        shared->done = true;
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &how, 0) != pid)
        return cw_error_set(err, CW_ERR_IO, "cannot start a process for NVIDIA's evaluator");
    if (!shared->done)
        return cw_error_set(err, CW_ERR_INPUT,
                            "%s: NVIDIA's host library could not read it (it stopped with signal %d); expected native "
                            "counter data of %s",
                            path, WIFSIGNALED(how) ? WTERMSIG(how) : 0, r->chip->name);
    if (shared->err.code != CW_OK)
        *err = shared->err;
    return shared->err.code;
}

/* Evaluates the result's metrics on native images, `path`, `path`.1, `path`.2 and so on, from capture-agent range
 * --keep-native. They must have as many ranges as the result. CW_ERR_UNSUPPORTED without NVIDIA's host library. */
static enum cw_status load_native(struct cw_reference *reference, const char *path, const struct cw_result *r,
                                  const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err)
{
    size_t count = (size_t)r->metric_count * r->row_count; /* as many as the result has in memory */
    size_t size = sizeof(struct shared) + count * sizeof(double);
    struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return cw_error_nomem(err);
    shared->err = (struct cw_error)CW_ERROR_INIT;
    enum cw_status status = evaluate_in_child(path, r, options, shared, err);
    double *values = cw_arena_alloc(arena, count, sizeof *values);
    if (status == CW_OK && !values)
        status = cw_error_nomem(err);
    if (status == CW_OK)
        memcpy(values, shared->values, count * sizeof *values);
    *reference = (struct cw_reference){r->metric_count, r->row_count, r->names, values};
    munmap(shared, size);
    return status;
}

/* ---- comparison ------------------------------------------------------------------------------------------------- */

/* Only ranges and PM samples have values to compare; PM samples only with NVIDIA's. */
static enum cw_status check_capture(struct cw_eval_session *s)
{
    const struct counterworks_capture *capture = s->main.capture;
    const enum cw_profiler profiler = capture->data.schema.profiler;
    const char *option = s->o->check ? "--check" : "--native";
    if (profiler == CW_PROFILER_TRACE)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found %s, expected none for a trace, which has no metrics",
                            capture->asked, option);
    if (profiler == CW_PROFILER_PM && s->o->check)
        return cw_view_need_ranges(capture, " for ", option, s->err);
    if (profiler != CW_PROFILER_RANGE && profiler != CW_PROFILER_PM)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found %s, expected no such option for a capture of %s",
                            capture->asked, option, cw_profiler_texts[profiler]);
    return CW_OK;
}

enum cw_status cw_eval_compare(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    const struct counterworks_names *named = &s->request.metrics;
    const struct cw_eval_options spans = cw_view_spans(&s->request);
    struct cw_reference reference;
    struct cw_result result = {0};
    CW_TRY(cw_eval_expand(s));
    const struct cw_source_files files = cw_eval_files(s, true);
    CW_TRY(cw_eval_open_files(s, &s->main, &files));
    CW_TRY(check_capture(s));
    CW_TRY(cw_eval_open_chip(s, &s->main));
    CW_TRY(cw_eval_gather(s, s->main.chip));
    CW_TRY(cw_source_load(s->main.capture, s->err));
    if (o->check)
        CW_TRY(cw_reference_load(&reference, o->check, s->arena, s->err));
    const char *const *names = o->check ? reference.metrics : named->count ? named->names : NULL;
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    CW_TRY(cw_view_evaluate_names(&result, &in, NULL, names, o->check ? reference.metric_count : named->count));
    if (o->native)
        CW_TRY(load_native(&reference, o->native, &result, &spans, s->arena, s->err));
    cw_eval_tell(s);
    return cw_reference_compare(&reference, &result, stdout, s->err);
}

/* ---- command line ----------------------------------------------------------------------------------------------- */

const struct cw_option cw_eval_native_options[] = {
    {"native", 0, "FILE",
     "compare with NVIDIA's evaluator, on the native counter data of the same run (FILE, FILE.1, FILE.2, ...): the "
     "metrics that are named, or every metric whose counters the capture holds; needs NVIDIA's host library",
     CW_OPTION_TEXT(struct cw_eval_line, native)},
    {0},
};

static void check_reference(void *line, struct argp_state *state)
{
    const struct cw_eval_line *o = line;
    cw_eval_check_every(o, state);
    if (!o->check == !o->native)
        cw_usage_error(state, "found %s, expected --values FILE or --native FILE",
                       o->check ? "--values and --native" : "no values to compare with");
    if (o->check && (o->sources.count || o->request.every))
        cw_usage_error(state, "found metrics with --values, expected none: the file names them");
}

static const struct cw_option check_option_list[] = {
    {"values", 0, "FILE", "compare with values recorded in a JSON file", CW_OPTION_TEXT(struct cw_eval_line, check)},
    {CW_OPTION_ROWS(cw_eval_native_options)},
    {"all", 0, NULL, "every metric whose counters the capture holds",
     CW_OPTION_FLAG(struct cw_eval_line, request.every)},
    {CW_OPTION_ROWS(cw_eval_quiet_options)},
    {CW_OPTION_ROWS(cw_eval_capture_options)},
    {CW_OPTION_CHECK(check_reference)},
    {CW_OPTION_GROUP(struct cw_eval_line, sources, cw_metric_sources_options)},
    {CW_OPTION_ROWS(cw_eval_value_options)},
    {0},
};

int cw_eval_check(int argc, char **argv)
{
    static const struct cw_usage usage = {
        check_option_list, "RUN.cwd... --values FILE\nRUN.cwd... --native FILE",
        "Compares the metrics of a capture with values of others, to 1e-12. The exit status is 9 if they differ.\v"
        "Example:\n  $0 run.cwd --values values.json\n  $0 run.cwd --native run.native",
        NULL, 0};
    struct cw_eval_line line = {.run = cw_eval_compare};
    return cw_eval_command(&usage, argc, argv, &line);
}
