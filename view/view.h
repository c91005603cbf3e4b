/* Views: rows by columns, or another format, made from a capture by a request. One call makes a view, which never
 * changes; writers take nothing else.
 *
 *     source (view/source.h)      an open capture
 *     request (counterworks.h)    the wanted part, its rows and its form; plain data
 *     view                        rows by columns with values and statuses
 *     notices (view/notices.h)    lines for the caller to print
 *
 * view/kind.c has the table of the kinds: ranges, samples, instructions and traces. */
#ifndef CW_VIEW_VIEW_H
#define CW_VIEW_VIEW_H

#include "base/file.h"
#include "eval/output/output.h"
#include "view/handles.h"
#include "view/notices.h"

/* Everything that a view is made from; constant meanwhile. */
struct cw_view_input {
    struct counterworks_capture *capture;
    const struct counterworks_chip *chip; /* NULL where the capture has no metrics */
    const struct counterworks_request *request;
    struct cw_notices *notices;    /* NULL: nobody listens */
    struct cw_arena *arena;        /* owner of the view's memory */
    struct cw_error *err;          /* the caller's; streamed views use it until they are freed */
    struct cw_view_shared *shared; /* with other views of the same captures (view/timeline.h), or NULL */
};

/* Public formats under the names of this folder. */
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
    CW_VIEW_CSV_0 = COUNTERWORKS_CSV_0,
    CW_VIEW__COUNT = COUNTERWORKS_FORMAT_COUNT
};

struct counterworks_view {
    struct cw_arena *arena;
    struct cw_output output; /* tables and how they print; without tables, only `renders` */
    /* Writers of formats that not every table has; each is a cw_file_render of `content`. NULL: none. */
    cw_file_render *renders[CW_VIEW__COUNT];
    const void *content;
    void (*free)(void *owned); /* frees `owned`, which is not in the arena; NULL: nothing */
    void *owned;
    struct cw_error verdict;          /* of a gate: CW_OK, or the exit status and the line that explains it */
    enum counterworks_verdict judged; /* the same as a word */
};

/* Makes the view in `in->arena`. Free it by cw_view_free in any case. */
enum cw_status cw_view_make(struct counterworks_view *view, const struct cw_view_input *in);
void cw_view_free(struct counterworks_view *view);
/* Members of a request that some views would ignore. */
enum cw_view_member {
    CW_TAKES_LAUNCHES = 1, /* kernels, excluded and ranges */
    CW_TAKES_BY = 2,
    CW_TAKES_ROWS = 4, /* sort and filters */
    CW_TAKES_TOP = 8,
    CW_TAKES_METRICS = 16,
    CW_TAKES_EVERY = 32,
    CW_TAKES_KINDS = 64,
};
/* CW_ERR_USAGE for a member that the view does not take, as its command has no such option. `taken`: a set of
 * enum cw_view_member. */
enum cw_status cw_view_check_taken(const struct cw_view_input *in, unsigned taken, const char *command);
/* Checks texts and numbers of a request that every capture refuses. CW_ERR_USAGE. */
enum cw_status cw_view_check_request(const struct counterworks_request *request, struct cw_error *err);
/* Checks that `by` is one of `words`, or NULL. CW_ERR_USAGE. */
enum cw_status cw_view_check_by(const struct cw_view_input *in, const char *const *words, size_t count);
/* The groupings of every view of ranges. */
enum { CW_VIEW_BY_COUNT = 8 };
extern const char *const cw_view_by[CW_VIEW_BY_COUNT];

/* The suffixes of a format's files, the usual one first, then NULL. */
enum { CW_VIEW_MOST_SUFFIXES = 3 };
extern const char *const cw_view_suffixes[CW_VIEW__COUNT][CW_VIEW_MOST_SUFFIXES + 1];
/* Returns the length of the format's suffix at the path's end, or 0. The longest suffix decides a path's format. */
size_t cw_view_suffix_length(enum cw_view_format format, const char *path);

/* Whether a view has a format. */
bool cw_view_has(const struct counterworks_view *view, enum cw_view_format format);
/* Writes a format into one of `files`, which replace their targets together. Writes standard output at once. */
enum cw_status cw_view_write(const struct counterworks_view *view, enum cw_view_format format, const char *path,
                             struct cw_new_files *files, struct cw_error *err);
/* Prints the view for people. */
enum cw_status cw_view_print(const struct counterworks_view *view, const struct cw_terminal_style *style, FILE *out,
                             struct cw_error *err);

/* ---- parts of views, for the files of this folder ---------------------------------------------------------------- */

enum { CW_VIEW_MOST_KERNELS = 10000 }; /* advice limit */

/* CW_ERR_USAGE for a capture without ranges; the message ends with `why` and `what`. */
enum cw_status cw_view_need_ranges(const struct counterworks_capture *capture, const char *why, const char *what,
                                   struct cw_error *err);
struct cw_eval_options cw_view_spans(const struct counterworks_request *request);

/* Makes the tables of a result, which must outlive them; `output` must stay at its address. Metrics have descriptions
 * if the request is `full`. Reads the input's chip, request, arena and error alone. */
enum cw_status cw_view_output(struct cw_output *output, const struct cw_view_input *in, const struct cw_result *result);
enum cw_status cw_view_output_groups(struct cw_output *output, const struct cw_view_input *in,
                                     const struct cw_output_rows *rows);

#endif
