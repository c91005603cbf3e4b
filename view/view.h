/* Views: what a request makes of a capture, as rows by columns, or in another form that a file takes. A view is made by
 * one call and is constant after that; writers take nothing else.
 *
 *     source (view/source.h)      an open capture
 *     request (counterworks.h)    which part of it is wanted, in which rows and form; plain data
 *     view                        rows by columns with values and statuses
 *     notices (view/notices.h)    lines for the caller to print
 *
 * view/kind.c has what differs between captures of ranges, samples, instructions and traces. */
#ifndef CW_VIEW_VIEW_H
#define CW_VIEW_VIEW_H

#include "base/file.h"
#include "eval/output/output.h"
#include "view/handles.h"
#include "view/notices.h"

/* What a view is made from; constant while it is made. */
struct cw_view_input {
    struct counterworks_capture *capture;
    const struct counterworks_chip *chip; /* NULL where the capture has no metrics */
    const struct counterworks_request *request;
    struct cw_notices *notices;    /* NULL: nobody listens */
    struct cw_arena *arena;        /* that the view lives in */
    struct cw_error *err;          /* the caller's; it has to stay where rows come from a file one after another */
    struct cw_view_shared *shared; /* with other views of the same captures and selection (view/timeline.h), or NULL */
};

/* The public numbers under the names of this folder. */
enum cw_view_format {
    CW_VIEW_CSV = COUNTERWORKS_CSV,
    CW_VIEW_JSON = COUNTERWORKS_JSON,
    CW_VIEW_HDF5 = COUNTERWORKS_HDF5,
    CW_VIEW_TIDY = COUNTERWORKS_TIDY,
    CW_VIEW_NDJSON = COUNTERWORKS_NDJSON,
    CW_VIEW_FOLDED = COUNTERWORKS_FOLDED,
    CW_VIEW_SPEEDSCOPE = COUNTERWORKS_SPEEDSCOPE,
    CW_VIEW_PROMETHEUS = COUNTERWORKS_PROMETHEUS,
    CW_VIEW_PERFETTO = COUNTERWORKS_PERFETTO,
    CW_VIEW_CHROME = COUNTERWORKS_CHROME,
    CW_VIEW_HTML = COUNTERWORKS_HTML,
    CW_VIEW_YAML = COUNTERWORKS_YAML,
    CW_VIEW__COUNT = COUNTERWORKS_FORMAT_COUNT
};

struct counterworks_view {
    struct cw_arena *arena;
    struct cw_output output; /* tables, and how they are printed; without tables: the other forms alone */
    /* Other forms than those that all tables have, each a cw_file_render of `content`; NULL: there is none. */
    cw_file_render *renders[CW_VIEW__COUNT];
    const void *content;
    void (*free)(void *owned); /* what is not in the arena; NULL: nothing */
    void *owned;
    struct cw_error verdict;          /* of a gate: CW_OK, or the exit status and the line that says why */
    enum counterworks_verdict judged; /* the same as a word */
};

/* Makes the view in `in->arena`; to be freed by cw_view_free in any case. */
enum cw_status cw_view_make(struct counterworks_view *view, const struct cw_view_input *in);
void cw_view_free(struct counterworks_view *view);
/* Checks the members of the request that the capture does not take; the first call of cw_view_make. CW_ERR_USAGE. */
enum cw_status cw_view_check(const struct cw_view_input *in);
/* Checks the members of a request whose text or number no capture takes. CW_ERR_USAGE. */
enum cw_status cw_view_check_request(const struct counterworks_request *request, struct cw_error *err);
/* Checks that `by` is one of some words, or NULL. CW_ERR_USAGE. */
enum cw_status cw_view_check_by(const struct cw_view_input *in, const char *const *words, size_t count);
/* The names of groups of ranges that all views of ranges have. */
enum { CW_VIEW_BY_COUNT = 8 };
extern const char *const cw_view_by[CW_VIEW_BY_COUNT];

/* The ends of a format's file names, the usual one first, then NULL. */
enum { CW_VIEW_MOST_SUFFIXES = 3 };
extern const char *const cw_view_suffixes[CW_VIEW__COUNT][CW_VIEW_MOST_SUFFIXES + 1];
/* The length of the format's suffix that the path ends with, or 0. A path has the format of its longest suffix. */
size_t cw_view_suffix_length(enum cw_view_format format, const char *path);

/* Whether a view has a form. */
bool cw_view_has(const struct counterworks_view *view, enum cw_view_format format);
/* Writes a form into one of `files`, which take their places together; standard output is written at once. */
enum cw_status cw_view_write(const struct counterworks_view *view, enum cw_view_format format, const char *path,
                             struct cw_new_files *files, struct cw_error *err);
/* Prints the view for people. */
enum cw_status cw_view_print(const struct counterworks_view *view, const struct cw_terminal_style *style, FILE *out,
                             struct cw_error *err);

/* ---- parts of views, for the files of this folder ---------------------------------------------------------------- */

enum { CW_VIEW_MOST_KERNELS = 10000 }; /* of more there is no advice */

/* CW_ERR_USAGE where the capture is not one of ranges; the message ends with `why` and `what`. */
enum cw_status cw_view_need_ranges(const struct counterworks_capture *capture, const char *why, const char *what,
                                   struct cw_error *err);
struct cw_eval_options cw_view_spans(const struct counterworks_request *request);

/* Selects the request's metrics (view/metrics.h), and evaluates them on the capture's rows or on groups. */
enum cw_status cw_view_select_wanted(struct cw_result *result, const struct cw_view_input *in);
enum cw_status cw_view_evaluate_wanted(struct cw_result *result, const struct cw_view_input *in,
                                       const struct cw_counter_data *groups);
/* The same of the plan's metrics, and behind them what the plan does not have of the set "launch": its facts cost
 * nothing. */
enum cw_status cw_view_evaluate_planned(struct cw_result *result, const struct cw_view_input *in,
                                        const struct cw_counter_data *groups);
/* The same of some names. */
enum cw_status cw_view_evaluate_names(struct cw_result *result, const struct cw_view_input *in,
                                      const struct cw_counter_data *groups, const char *const *names, size_t count);
enum cw_status cw_view_select_names(struct cw_result *result, const struct cw_view_input *in, const char *const *names,
                                    size_t count);

/* Make the tables of a result, which is borrowed; `output` must stay where it is. Metrics have descriptions where the
 * request is `full`. Of the input they read the chip, the request, the arena and the error. */
enum cw_status cw_view_output(struct cw_output *output, const struct cw_view_input *in, const struct cw_result *result);
enum cw_status cw_view_output_groups(struct cw_output *output, const struct cw_view_input *in,
                                     const struct cw_output_rows *rows);

#endif
