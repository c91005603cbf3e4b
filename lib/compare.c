/* Views of several captures, and of advice. */
#include <string.h>

#include "lib/views.h"
#include "view/source.h"

/* ---- two sides -------------------------------------------------------------------------------------------------- */

static struct cw_lib_making begin_sides(const struct counterworks_side *before, const struct counterworks_side *after,
                                        const struct counterworks_request *request)
{
    struct cw_lib_making making = cw_lib_view_begin(before->capture, before->chip, request);
    if (making.status == CW_OK)
        making.status = cw_lib_need_chip(after->capture, after->chip, &making.made->err);
    return making;
}

enum counterworks_status counterworks_diff(struct counterworks_view **view, const struct counterworks_side *before,
                                           const struct counterworks_side *after,
                                           const struct counterworks_request *request,
                                           struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = begin_sides(before, after, request);
    if (making.status == CW_OK)
        making.status = cw_view_diff(&making.made->view, &making.made->in, before, after);
    return cw_lib_view_finish(view, &making, notices, error);
}

enum counterworks_status counterworks_gate(struct counterworks_view **view, const struct counterworks_side *before,
                                           const struct counterworks_side *after, const char *rules, double need,
                                           const struct counterworks_request *request,
                                           struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = begin_sides(before, after, request);
    if (making.status == CW_OK && !(need >= 0 && need <= 1))
        making.status = cw_error_set(&making.made->err, CW_ERR_USAGE,
                                     "found a need of %g, expected a part of the time, 0 to 1", need);
    if (making.status == CW_OK)
        making.status = cw_view_gate(&making.made->view, &making.made->in, before, after, rules, need);
    return cw_lib_view_finish(view, &making, notices, error);
}

const char *counterworks_verdict_text(enum counterworks_verdict verdict)
{
    return cw_view_verdict_text(verdict);
}

/* ---- files that are opened one after another -------------------------------------------------------------------- */

static enum cw_status need_words(size_t count, size_t least, struct cw_error *err)
{
    return count >= least ? CW_OK
                          : cw_error_set(err, CW_ERR_USAGE, "found %zu capture%s, expected at least %zu", count,
                                         count == 1 ? "" : "s", least);
}

/* Opens the first capture, which the view owns. */
static enum cw_status open_first(struct cw_lib_view *made, const struct cw_source_files *files)
{
    enum cw_status status = cw_source_open(&made->own, files, &made->notices, &made->err);
    if (status == CW_OK)
        status = cw_lib_need_chip(made->own, made->in.chip, &made->err);
    made->in.capture = made->own;
    return status;
}

static enum cw_status learn_run(struct cw_lib_view *made, struct cw_view_learning *learning, const char *const *words,
                                uint32_t run)
{
    const struct cw_source_files files = {.words = words + run, .count = 1, .ranks = made->request.ranks};
    struct counterworks_capture *capture = NULL;
    if (!run)
        return cw_view_learn_add(learning, run, words[run], made->own, made->in.chip);
    enum cw_status status = cw_source_open(&capture, &files, &made->notices, &made->err);
    if (status == CW_OK)
        status = cw_lib_need_chip(capture, made->in.chip, &made->err);
    if (status == CW_OK)
        status = cw_view_learn_add(learning, run, words[run], capture, made->in.chip);
    cw_source_close(capture);
    return status;
}

static enum cw_status learn(struct cw_lib_view *made, const char *const *words, size_t count)
{
    const struct cw_source_files first = {.words = words, .count = 1, .ranks = made->request.ranks};
    struct cw_view_learning *learning = NULL;
    enum cw_status status = need_words(count, 3, &made->err);
    if (status == CW_OK)
        status = open_first(made, &first);
    if (status == CW_OK)
        status = cw_view_learn_begin(&learning, &made->in, (uint32_t)count);
    for (uint32_t run = 0; run < count && status == CW_OK; run++)
        status = learn_run(made, learning, words, run);
    return status == CW_OK ? cw_view_learn_finish(&made->view, learning, "rules") : status;
}

enum counterworks_status counterworks_gate_learn(struct counterworks_view **view, const char *const *words,
                                                 size_t count, const struct counterworks_chip *chip,
                                                 const struct counterworks_request *request,
                                                 struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = cw_lib_view_begin(NULL, chip, request);
    if (making.status == CW_OK)
        making.status = learn(making.made, words, count);
    return cw_lib_view_finish(view, &making, notices, error);
}

static enum cw_status compare_ranks(struct cw_lib_view *made, const char *const *words, size_t count)
{
    struct cw_source_files of = {.words = words, .count = count, .ranks = made->request.ranks};
    struct cw_file_list found, first;
    enum cw_status status = need_words(count, 1, &made->err);
    if (status == CW_OK)
        status = cw_source_expand(&found, &of, &made->notices, made->view.arena, &made->err);
    if (status != CW_OK)
        return status;
    const char *name = cw_source_name(&found, &of, made->view.arena);
    const size_t begun = cw_view_job_batch(&found, 0);
    first = (struct cw_file_list){.paths = found.paths, .count = begun};
    of.found = &first;
    status = name ? open_first(made, &of) : cw_error_nomem(&made->err);
    if (status == CW_OK)
        status = cw_view_job_begin(&made->job, &made->in);
    if (status == CW_OK)
        status = cw_view_job_add(made->job, made->own, made->view.arena);
    of.found = &found;
    if (status == CW_OK)
        status = cw_view_job_add_files(made->job, &of, begun);
    return status == CW_OK ? cw_view_job_finish(&made->view, made->job, name, NULL) : status;
}

enum counterworks_status counterworks_ranks(struct counterworks_view **view, const char *const *words, size_t count,
                                            const struct counterworks_chip *chip,
                                            const struct counterworks_request *request,
                                            struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = cw_lib_view_begin(NULL, chip, request);
    if (making.status == CW_OK)
        making.status = compare_ranks(making.made, words, count);
    return cw_lib_view_finish(view, &making, notices, error);
}

/* ---- captures of one program ------------------------------------------------------------------------------------ */

enum counterworks_status counterworks_join(struct counterworks_view **view, const struct counterworks_capture *trace,
                                           const struct counterworks_capture *capture,
                                           const struct counterworks_chip *chip,
                                           const struct counterworks_capture *samples,
                                           const struct counterworks_request *request,
                                           struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = cw_lib_view_begin(capture, chip, request);
    if (making.status == CW_OK)
        making.status =
            cw_view_join(&making.made->view, &making.made->in, cw_lib_capture(trace), cw_lib_capture(samples));
    return cw_lib_view_finish(view, &making, notices, error);
}

static enum cw_status report(struct cw_lib_view *made, struct counterworks_report_options *o)
{
    if (!cw_lib_copy_names(&o->folders, made->view.arena) ||
        (o->hdf5 && !(o->hdf5 = cw_arena_strdup(made->view.arena, o->hdf5))))
        return cw_error_nomem(&made->err);
    for (size_t i = 0; i < o->with_count; i++)
        CW_TRY(cw_lib_need_chip(o->with[i].capture, o->with[i].chip, &made->err));
    if (o->baseline)
        CW_TRY(cw_lib_need_chip(o->baseline->capture, o->baseline->chip, &made->err));
    return cw_view_page(&made->view, &made->in, o);
}

enum counterworks_status counterworks_report(struct counterworks_view **view,
                                             const struct counterworks_capture *capture,
                                             const struct counterworks_chip *chip,
                                             const struct counterworks_report_options *options,
                                             const struct counterworks_request *request,
                                             struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct counterworks_report_options o = COUNTERWORKS_REPORT_OPTIONS;
    struct cw_lib_making making = cw_lib_view_begin(capture, chip, request);
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    if (making.status == CW_OK)
        making.status = report(making.made, &o);
    return cw_lib_view_finish(view, &making, notices, error);
}

/* ---- advice ----------------------------------------------------------------------------------------------------- */

enum counterworks_status counterworks_advise(struct counterworks_view **view,
                                             const struct counterworks_capture *capture,
                                             const struct counterworks_chip *chip,
                                             const struct counterworks_capture *samples,
                                             const struct counterworks_request *request,
                                             struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = cw_lib_view_begin(capture, chip, request);
    if (making.status == CW_OK)
        making.status = cw_view_advise(&making.made->view, &making.made->in, cw_lib_capture(samples));
    return cw_lib_view_finish(view, &making, notices, error);
}

enum counterworks_status counterworks_explain(struct counterworks_view **view,
                                              const struct counterworks_capture *capture,
                                              const struct counterworks_chip *chip, const char *metric,
                                              const struct counterworks_request *request,
                                              struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = cw_lib_view_begin(capture, chip, request);
    const char *name = making.status == CW_OK ? cw_arena_strdup(making.made->view.arena, metric) : NULL;
    if (making.status == CW_OK)
        making.status =
            name ? cw_view_explain(&making.made->view, &making.made->in, name) : cw_error_nomem(&making.made->err);
    return cw_lib_view_finish(view, &making, notices, error);
}

enum counterworks_status counterworks_show(struct counterworks_view **view, const struct counterworks_capture *capture,
                                           struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = cw_lib_view_begin(NULL, NULL, NULL);
    if (making.status == CW_OK) {
        making.made->in.capture = cw_lib_capture(capture);
        making.status = cw_view_show(&making.made->view, &making.made->in);
    }
    return cw_lib_view_finish(view, &making, notices, error);
}
