/* Views of two captures and more: diff, gate, ranks of a job, a join, and one page of several. */
#ifndef CW_VIEW_COMPARE_H
#define CW_VIEW_COMPARE_H

#include "image/job_ranks.h"
#include "view/source.h"
#include "view/view.h"

/* The second side of a comparison; the first is the capture of the input. */
struct cw_view_other {
    struct counterworks_capture *capture;
    const struct counterworks_chip *chip; /* NULL where the capture has no metrics */
    uint32_t runs[2];                     /* how many runs each side is the sum of */
};

/* Makes a view of changes from one capture to another: of ranges, or of two traces. */
enum cw_status cw_view_diff(struct counterworks_view *view, const struct cw_view_input *in,
                            const struct cw_view_other *other);

/* Judges whether the second capture is worse, by a file of rules. `need`: the part of a kernel's time by which a
 * slow-down has to show, 0 for none. view->verdict tells how it went: its code is the exit status. */
enum cw_status cw_view_gate(struct counterworks_view *view, const struct cw_view_input *in,
                            const struct cw_view_other *other, const char *rules, double need);

const char *cw_view_verdict_text(enum counterworks_verdict verdict);

/* Learns rules from runs of one program: `in` is of the first, in the arena of the whole; each run, also the first, is
 * added once, in an arena of its own; the view has the rules as YAML, and prints their summary for a file `path`. The
 * first capture stays open until the view is freed. */
struct cw_view_learning;
enum cw_status cw_view_learn_begin(struct cw_view_learning **learning, const struct cw_view_input *in, uint32_t runs);
enum cw_status cw_view_learn_add(struct cw_view_learning *learning, uint32_t run, const char *name,
                                 struct counterworks_capture *capture, const struct counterworks_chip *chip);
enum cw_status cw_view_learn_finish(struct counterworks_view *view, struct cw_view_learning *learning,
                                    const char *path);

/* Compares the ranks of a job: captures of one plan are added one after another, some files at a time. `in` is of the
 * first, which stays open; `source` is the name of all files. */
struct cw_view_job;
enum cw_status cw_view_job_begin(struct cw_view_job **job, const struct cw_view_input *in);
enum cw_status cw_view_job_add(struct cw_view_job *job, struct counterworks_capture *capture, struct cw_arena *arena);
/* How many of the files from `first` on make one capture for cw_view_job_add(). */
size_t cw_view_job_batch(const struct cw_file_list *files, size_t first);
/* Opens and adds the files of->found from `begun` on. */
enum cw_status cw_view_job_add_files(struct cw_view_job *job, const struct cw_source_files *of, size_t begun);
enum cw_status cw_view_job_finish(struct counterworks_view *view, struct cw_view_job *job, const char *source,
                                  const char *hdf5);
void cw_view_job_free(struct cw_view_job *job);

/* Joins a trace with a capture of ranges or PM samples of the same program, which is the input's. `samples`: PC samples
 * of it, or NULL. The request's `by` may be "launch", in tables of text. */
enum cw_status cw_view_join(struct counterworks_view *view, const struct cw_view_input *in,
                            struct counterworks_capture *trace, struct counterworks_capture *samples);

/* Makes a page of HTML of captures of one program. */
struct cw_view_shown {
    struct counterworks_capture *capture;
    const struct counterworks_chip *chip; /* NULL where the capture has no metrics */
};
struct cw_view_page {
    const struct cw_view_shown *with; /* beside the capture of the input */
    size_t with_count;
    const struct cw_view_shown *baseline; /* ranges to compare with; NULL: none */
    const char *const *source_paths;
    size_t source_path_count;
    const char *hdf5; /* a file with the same values, or NULL */
};
enum cw_status cw_view_page_make(struct counterworks_view *view, const struct cw_view_input *in,
                                 const struct cw_view_page *page);

/* Makes a view of advice on the kernels of a capture of ranges. `samples`: PC samples of the same program, or NULL. */
enum cw_status cw_view_advise(struct counterworks_view *view, const struct cw_view_input *in,
                              struct counterworks_capture *samples);
/* Makes a view of how a value came about, in the one range that the request wants. */
enum cw_status cw_view_explain(struct counterworks_view *view, const struct cw_view_input *in, const char *metric);
/* Makes a view of what a capture holds; no metric is evaluated. */
enum cw_status cw_view_show(struct counterworks_view *view, const struct cw_view_input *in);

#endif
