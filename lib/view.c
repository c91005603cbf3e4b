/* Views: how they are opened, written and printed. */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "lib/views.h"
#include "view/kind.h"

/* ---- requests --------------------------------------------------------------------------------------------------- */

static bool copy_text(const char **text, struct cw_arena *arena)
{
    return !*text || (*text = cw_arena_strdup(arena, *text));
}

bool cw_lib_copy_names(struct counterworks_names *names, struct cw_arena *arena)
{
    const char **copied = cw_arena_alloc(arena, names->count, sizeof *copied);
    bool good = copied;
    for (size_t i = 0; good && i < names->count; i++) {
        copied[i] = names->names ? names->names[i] : NULL;
        good = copy_text(&copied[i], arena);
    }
    names->names = copied;
    return good;
}

/* Views keep texts of their request. */
static bool copy_request(struct counterworks_request *r, const struct counterworks_request *from,
                         struct cw_arena *arena)
{
    if (from)
        memcpy(r, from, from->size < sizeof *r ? from->size : sizeof *r);
    r->size = sizeof *r;
    return copy_text(&r->ranks, arena) && copy_text(&r->ranges, arena) && copy_text(&r->by, arena) &&
           copy_text(&r->sort, arena) && copy_text(&r->kinds, arena) && copy_text(&r->rules, arena) &&
           cw_lib_copy_names(&r->kernels, arena) && cw_lib_copy_names(&r->excluded, arena) &&
           cw_lib_copy_names(&r->filters, arena) && cw_lib_copy_names(&r->metrics, arena);
}

/* ---- from beginning to end --------------------------------------------------------------------------------------- */

struct counterworks_capture *cw_lib_capture(const struct counterworks_capture *capture)
{
    return (struct counterworks_capture *)(uintptr_t)capture;
}

enum cw_status cw_lib_need_chip(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                struct cw_error *err)
{
    return chip || !cw_kind_of(capture)->has_metrics
               ? CW_OK
               : cw_error_set(err, CW_ERR_USAGE, "%s: found no chip, expected %s, which the capture is of",
                              capture->asked, capture->data.schema.chip);
}

struct cw_lib_making cw_lib_view_begin(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                       const struct counterworks_request *request)
{
    struct cw_lib_making making = {.call = cw_lib_enter(), .status = CW_ERR_NOMEM};
    struct cw_lib_view *made = making.made = cw_lib_handle(sizeof *made);
    if (!made)
        return making;
    made->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    made->notices.arena = made->view.arena;
    made->in = (struct cw_view_input){cw_lib_capture(capture), chip,      &made->request, &made->notices,
                                      made->view.arena,        &made->err};
    making.status = copy_request(&made->request, request, made->view.arena) ? CW_OK : cw_error_nomem(&made->err);
    if (making.status == CW_OK)
        making.status = cw_view_check_request(&made->request, &made->err);
    if (making.status == CW_OK && capture)
        making.status = cw_lib_need_chip(capture, chip, &made->err);
    return making;
}

enum counterworks_status cw_lib_view_finish(struct counterworks_view **view, struct cw_lib_making *making,
                                            struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_view *made = making->made;
    if (making->status == CW_OK)
        making->status = cw_lib_view_list(made);
    if (made) {
        making->call.err = made->err;
        cw_lib_notices_give(notices, &made->notices, &made->told);
    }
    if (making->status != CW_OK && made)
        counterworks_view_close(&made->view);
    *view = making->status == CW_OK ? &made->view : NULL;
    return cw_lib_finish(&making->call, making->status, error);
}

enum counterworks_status counterworks_view_open(struct counterworks_view **view,
                                                const struct counterworks_capture *capture,
                                                const struct counterworks_chip *chip,
                                                const struct counterworks_request *request,
                                                struct counterworks_notices *notices, struct counterworks_error *error)
{
    struct cw_lib_making making = cw_lib_view_begin(capture, chip, request);
    if (making.status == CW_OK)
        making.status = cw_view_make(&making.made->view, &making.made->in);
    return cw_lib_view_finish(view, &making, notices, error);
}

/* The arena's parts may need what else the view has. */
void counterworks_view_close(struct counterworks_view *view)
{
    struct cw_lib_view *made = (struct cw_lib_view *)view;
    if (!view)
        return;
    struct counterworks_capture *own = made->own;
    cw_view_free(view);
    cw_view_job_free(made->job);
    pthread_mutex_destroy(&made->lock);
    cw_lib_drop(made);
    cw_source_close(own);
}

/* ---- formats ---------------------------------------------------------------------------------------------------- */

const char *counterworks_format_suffix(enum counterworks_format format)
{
    const char *suffix = (unsigned)format < COUNTERWORKS_FORMAT_COUNT ? *cw_view_suffixes[format] : NULL;
    return suffix ? suffix : "";
}

enum counterworks_format counterworks_format_of(const char *path)
{
    enum counterworks_format found = COUNTERWORKS_FORMAT_COUNT;
    size_t longest = 0;
    for (int f = 0; f < COUNTERWORKS_FORMAT_COUNT; f++) {
        const size_t length = cw_view_suffix_length((enum cw_view_format)f, path);
        if (length > longest)
            found = (enum counterworks_format)f;
        longest = length > longest ? length : longest;
    }
    return found;
}

static const char *name_format(enum counterworks_format format)
{
    static const char *const names[COUNTERWORKS_FORMAT_COUNT] = {
        "CSV",        "JSON",       "HDF5",     "CSV by value", "lines of JSON", "folded stacks",
        "speedscope", "Prometheus", "Perfetto", "Chrome",       "HTML",          "YAML"};
    return (unsigned)format < COUNTERWORKS_FORMAT_COUNT ? names[format] : "no format";
}

bool counterworks_view_has(const struct counterworks_view *view, enum counterworks_format format)
{
    return (unsigned)format < COUNTERWORKS_FORMAT_COUNT && cw_view_has(view, (enum cw_view_format)format);
}

static enum cw_status need_format(const struct counterworks_view *view, enum counterworks_format format,
                                  struct cw_error *err)
{
    char list[200] = "none";
    size_t used = 0;
    if (counterworks_view_has(view, format))
        return CW_OK;
    for (int f = 0; f < COUNTERWORKS_FORMAT_COUNT; f++)
        if (counterworks_view_has(view, (enum counterworks_format)f))
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     name_format((enum counterworks_format)f));
    return cw_error_set(err, CW_ERR_USAGE, "found %s, expected a format that the view has: %s", name_format(format),
                        list);
}

/* HDF5 takes one thread at a time. */
static enum cw_status write_format(const struct counterworks_view *view, enum counterworks_format format,
                                   const char *path, struct cw_error *err)
{
    struct cw_new_files files = {0};
    if (format == COUNTERWORKS_HDF5)
        pthread_mutex_lock(&cw_lib_hdf5);
    const enum cw_status status = cw_view_write(view, (enum cw_view_format)format, path, &files, err);
    if (format == COUNTERWORKS_HDF5)
        pthread_mutex_unlock(&cw_lib_hdf5);
    const enum cw_status closing = cw_new_files_close(&files, status == CW_OK, err);
    return status == CW_OK ? closing : status;
}

/* Rows that could not be read have their error in the view. */
static void take_error(struct cw_lib_call *call, const struct cw_lib_view *made, enum cw_status status)
{
    if (status != CW_OK && call->err.code == CW_OK)
        call->err = made->err;
}

enum counterworks_status counterworks_view_write(const struct counterworks_view *view, enum counterworks_format format,
                                                 const char *path, struct counterworks_notices *notices,
                                                 struct counterworks_error *error)
{
    struct cw_lib_view *made = (struct cw_lib_view *)(uintptr_t)view;
    struct cw_lib_call call = cw_lib_enter();
    pthread_mutex_lock(&made->lock);
    enum cw_status status = need_format(view, format, &call.err);
    if (status == CW_OK)
        status = write_format(view, format, path, &call.err);
    take_error(&call, made, status);
    cw_lib_notices_give(notices, &made->notices, &made->told);
    pthread_mutex_unlock(&made->lock);
    return cw_lib_finish(&call, status, error);
}

enum counterworks_status counterworks_view_save(const struct counterworks_view *view, const char *path,
                                                struct counterworks_notices *notices, struct counterworks_error *error)
{
    const enum counterworks_format format = counterworks_format_of(path);
    if (format != COUNTERWORKS_FORMAT_COUNT)
        return counterworks_view_write(view, format, path, notices, error);
    struct cw_lib_call call = cw_lib_enter();
    const enum cw_status status = cw_error_set(
        &call.err, CW_ERR_USAGE, "%s: found an end that is no format's, expected .csv, .json, .h5 or another", path);
    return cw_lib_finish(&call, status, error);
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static enum cw_status print(const struct counterworks_view *view, FILE *out, const struct counterworks_print_options *o,
                            struct cw_error *err)
{
    enum { INSTRUCTIONS = 10 };
    struct cw_source source = {.folders = o->folders.names, .folder_count = o->folders.count};
    const struct cw_terminal_style style = {.width = o->width,
                                            .bold = o->bold,
                                            .top = o->top ? o->top : INSTRUCTIONS,
                                            .bars = (enum cw_terminal_bars)o->bars,
                                            .quiet = o->quiet,
                                            .source = &source};
    if (!view->output.print)
        return cw_error_set(err, CW_ERR_USAGE, "found a view for programs, expected one with a text for people");
    enum cw_status status = cw_view_print(view, &style, out, err);
    cw_source_finish(&source);
    if (status == CW_OK && (fflush(out) != 0 || ferror(out)))
        status = cw_error_set(err, CW_ERR_IO, "cannot write: %s", strerror(errno));
    return status;
}

enum counterworks_status counterworks_view_print(const struct counterworks_view *view, FILE *out,
                                                 const struct counterworks_print_options *options,
                                                 struct counterworks_error *error)
{
    struct cw_lib_view *made = (struct cw_lib_view *)(uintptr_t)view;
    struct counterworks_print_options o = COUNTERWORKS_PRINT_OPTIONS;
    struct cw_lib_call call = cw_lib_enter();
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    pthread_mutex_lock(&made->lock);
    const enum cw_status status = print(view, out, &o, &call.err);
    take_error(&call, made, status);
    pthread_mutex_unlock(&made->lock);
    return cw_lib_finish(&call, status, error);
}

enum counterworks_verdict counterworks_view_verdict(const struct counterworks_view *view)
{
    return view->judged;
}
