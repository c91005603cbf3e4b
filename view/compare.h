/* Views of several captures: diff, gate, ranks of a job, join, and a page. */
#ifndef CW_VIEW_COMPARE_H
#define CW_VIEW_COMPARE_H

#include "image/job_ranks.h"
#include "view/source.h"
#include "view/view.h"

/* The input for another capture, which a view may load: it belongs to the view's caller. */
struct cw_view_input cw_view_beside(const struct cw_view_input *in, const struct counterworks_side *side);

/* Compares the input's capture, which is that of `before`, with another: both of ranges, or both traces. */
enum cw_status cw_view_diff(struct counterworks_view *view, const struct cw_view_input *in,
                            const struct counterworks_side *before, const struct counterworks_side *after);

/* Judges by a file of rules whether the second capture is worse. `need`: the verdict is ambiguous if a slow-down by
 * this part of a kernel's time could not be seen; 0 for none. view->verdict has the exit status as its code. */
enum cw_status cw_view_gate(struct counterworks_view *view, const struct cw_view_input *in,
                            const struct counterworks_side *before, const struct counterworks_side *after,
                            const char *rules, double need);

const char *cw_view_verdict_text(enum counterworks_verdict verdict);

/* Learns rules for gate from runs of one program. `in` is the first run's, in an arena for the whole; its capture stays
 * open until the view is freed. Add each run once, the first as well; each has an arena of its own. A file of two runs
 * is CW_ERR_USAGE. The view has the rules as YAML, and prints a summary that names the file `path`. */
struct cw_view_learning;
enum cw_status cw_view_learn_begin(struct cw_view_learning **learning, const struct cw_view_input *in, uint32_t runs);
enum cw_status cw_view_learn_add(struct cw_view_learning *learning, uint32_t run, const char *name,
                                 struct counterworks_capture *capture, const struct counterworks_chip *chip);
enum cw_status cw_view_learn_finish(struct counterworks_view *view, struct cw_view_learning *learning,
                                    const char *path);

/* Compares the ranks of a job. Add captures of one plan one after another, some files at a time. `in` is the first's,
 * which stays open; `source` names all files together. */
struct cw_view_job;
enum cw_status cw_view_job_begin(struct cw_view_job **job, const struct cw_view_input *in);
enum cw_status cw_view_job_add(struct cw_view_job *job, struct counterworks_capture *capture, struct cw_arena *arena);
/* Returns how many files, from `first` on, make one capture for cw_view_job_add(). */
size_t cw_view_job_batch(const struct cw_file_list *files, size_t first);
/* Opens and adds the files of of->found from `begun` on. */
enum cw_status cw_view_job_add_files(struct cw_view_job *job, const struct cw_source_files *of, size_t begun);
enum cw_status cw_view_job_finish(struct counterworks_view *view, struct cw_view_job *job, const char *source,
                                  const char *hdf5);
void cw_view_job_free(struct cw_view_job *job);

/* Joins a trace with the input's capture of ranges or PM samples, of the same program. `samples`: its PC samples, or
 * NULL. In tables of text the request's `by` may be "launch". */
enum cw_status cw_view_join(struct counterworks_view *view, const struct cw_view_input *in,
                            struct counterworks_capture *trace, struct counterworks_capture *samples);

/* Makes a page of HTML from captures of one program. The texts of the options outlive the view. */
enum cw_status cw_view_page(struct counterworks_view *view, const struct cw_view_input *in,
                            const struct counterworks_report_options *page);

/* Advises on the kernels of a capture of ranges. `samples`: PC samples of the same program, or NULL. */
enum cw_status cw_view_advise(struct counterworks_view *view, const struct cw_view_input *in,
                              struct counterworks_capture *samples);
/* Explains the value of a metric in the one range that the request wants. */
enum cw_status cw_view_explain(struct counterworks_view *view, const struct cw_view_input *in, const char *metric);
/* Describes a capture; evaluates no metric. */
enum cw_status cw_view_show(struct counterworks_view *view, const struct cw_view_input *in);
/* Lists what a capture holds about its machine and its program. */
enum cw_status cw_view_provenance(struct counterworks_view *view, const struct cw_view_input *in);

#endif
