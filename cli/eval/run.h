/* What metric-eval was asked for and works on: shared by its files. */
#ifndef CW_CLI_EVAL_RUN_H
#define CW_CLI_EVAL_RUN_H

#include "base/file.h"
#include "base/file_list.h"
#include "cli/common/chip.h"
#include "cli/common/metric_list.h"
#include "eval/output/output.h"
#include "eval/timeline/timeline.h"
#include "json/json_tree.h"
#include "lib/handles.h"

struct cw_eval_run;

enum { CW_EVAL_REPEATED_MAX = 16 };

/* Which ranges: numbers, as in "0-9,12" or "#3", or a name, which may be shortened as in tables, a part of names, or a
 * regular expression; the same for the kernels of launches, of which any may fit, and for those that are left out. NULL
 * and 0: all. */
struct cw_eval_ranges {
    const char *ranks, *ranges, *kernels[CW_EVAL_REPEATED_MAX], *excluded[CW_EVAL_REPEATED_MAX];
    size_t kernel_count, excluded_count;
    const uint32_t *parents; /* [range]: the one that it lies in, with which it is wanted; NULL: none does */
    bool or_none;            /* it is no error that none matches */
};
extern const struct cw_option cw_eval_ranges_options[];
/* The option of them that was given, or NULL. */
const char *cw_eval_ranges_option(const struct cw_eval_ranges *wanted);
/* Which of the capture's ranges these are, keep[range]; at least one, unless all are wanted, or `or_none`. */
enum cw_status cw_eval_match_ranges(bool *keep, const struct cw_eval_run *r, const struct cw_eval_ranges *wanted);
/* Leaves those in the data of both results, which were selected; a range may be in one of them alone. */
enum cw_status cw_eval_keep_ranges(struct cw_eval_run *a, struct cw_eval_run *b);

struct cw_eval_report { /* --report and what belongs to it */
    const char *path, *baseline, *with[CW_EVAL_REPEATED_MAX];
    size_t with_count;
};

struct cw_eval_request {
    enum cw_status (*run)(struct cw_eval_run *r); /* what the sub-command does */
    bool by_block;      /* it takes some ranges or samples at a time, so that they may stay in the file */
    bool heads_alone;   /* it takes no values */
    char *const *words; /* what names captures, which are taken as one; `capture` is the first. NULL: it alone */
    size_t word_count;
    const char *capture, *hdf5, *csv, *json, *check, *native, *explained;
    struct cw_eval_ranges ranges;
    struct cw_metric_sources sources;
    struct cw_eval_options eval;
    struct cw_cli_chip chip; /* without a name or file: that of the capture */
    bool all, force, as_json, wide, quiet;
    size_t top;   /* 0: as many as suits the table */
    bool grouped; /* by what is given; else kernels for people, ranges for programs */
    enum cw_group_by by;
    const char *kind;    /* of a trace: the one whose rows files have */
    const char *by_name; /* the word; of traces, some have no number in `by`, which is CW_BY__COUNT then */
    const char *sort, *filters[CW_EVAL_REPEATED_MAX];
    size_t filter_count;
    struct cw_eval_report report;
    const char *folders[CW_EVAL_REPEATED_MAX]; /* of source files */
    size_t folder_count;
};

struct cw_eval_run {
    const struct cw_eval_request *o;
    struct cw_arena *arena;
    struct cw_error *err;
    struct cw_file_list files; /* what the request's words stand for, once they were expanded */
    struct counterworks_capture *capture;
    struct counterworks_capture_info info;
    struct counterworks_chip *chip;
    const struct cw_groups *groups; /* whose means are evaluated; NULL: the capture's ranges or samples */
    struct cw_result result;
    struct cw_new_files *outputs; /* a page that waits for the other files of the command; NULL: there is none */
};

/* Options that sub-commands share: the words RUN.cwd..., and what values need beside a capture. */
extern const struct cw_option cw_eval_capture_options[], cw_eval_value_options[], cw_eval_report_options[];
/* --format text|json. */
extern const struct cw_option cw_eval_format_options[];

/* Reads the command line into the request and runs it. Returns the exit code. */
int cw_eval_command(const struct cw_usage *usage, int argc, char **argv, struct cw_eval_request *request);

/* The sub-commands, for the table in metric_eval.c. argv[0] is the command's name for messages. They return the exit
 * code. */
int cw_eval_show(int argc, char **argv);
int cw_eval_explain(int argc, char **argv);
int cw_eval_merge(int argc, char **argv);
int cw_eval_ranks(int argc, char **argv);
int cw_eval_index(int argc, char **argv);
int cw_eval_advise(int argc, char **argv);
int cw_eval_diff(int argc, char **argv);
int cw_eval_gate(int argc, char **argv);
int cw_eval_join(int argc, char **argv);
int cw_eval_export(int argc, char **argv);

/* An option on the command line that is about ranges, or NULL. */
const char *cw_eval_option_of_ranges(const struct cw_eval_request *o);
/* Expands the words, and refuses outputs that would replace each other, what they are made from, or what somebody else
 * has made. */
enum cw_status cw_eval_check_outputs(struct cw_eval_run *r);
/* How files of captures in a folder end. */
#define CW_EVAL_SUFFIX ".cwd"
/* Finds the files that the request's words stand for, unless that was done. */
enum cw_status cw_eval_expand(struct cw_eval_run *r);
/* The files of a folder that have some of the ranks, by its index; none where that is missing, or not of the folder or
 * files as they are. */
enum cw_status cw_eval_find_ranks(struct cw_file_list *list, const char *folder, const char *ranks,
                                  struct cw_arena *arena, struct cw_error *err);
/* What they are called together: their folder or list, or "a.cwd and 2 more". NULL when out of memory. */
const char *cw_eval_name_files(const struct cw_eval_run *r);
/* How a shell takes them in another command; FILES where they are several. NULL when out of memory. */
const char *cw_eval_word(const struct cw_eval_run *r);
/* Reads the capture, or all of the files as one. */
enum cw_status cw_eval_load_capture(struct cw_eval_run *r);
/* CW_ERR_USAGE where a loaded capture is not of ranges; the message ends with `why` and `what`. */
enum cw_status cw_eval_need_ranges(const struct cw_eval_run *r, const char *why, const char *what);
/* Of a capture of a trace that was read: what all that is known of it is made of. To be freed in any case. */
enum cw_status cw_eval_load_timeline(struct cw_eval_run *r, struct cw_timeline *timeline);
/* CW_ERR_INPUT where nothing is left of a trace that was cut off. */
enum cw_status cw_eval_need_rows(struct cw_eval_run *r, const struct cw_timeline *timeline);
/* Says what the capture lacks, where nothing is evaluated, which says it otherwise. */
void cw_eval_tell_incomplete(const struct cw_eval_run *r);
/* The chip's database with the user's formulas. */
enum cw_status cw_eval_load_chip(struct cw_eval_run *r);

/* Those of the names that CUPTI's old metrics and events have are metrics of the chip from then on. */
enum cw_status cw_eval_add_legacy(struct cw_eval_run *r, const char *const *names, size_t count);
/* Fill in `result`: of metrics by name, or all that the capture holds for NULL; of what the command line names; of what
 * was planned. */
enum cw_status cw_eval_names(struct cw_eval_run *r, const char *const *names, size_t count);
enum cw_status cw_eval_named(struct cw_eval_run *r);
enum cw_status cw_eval_planned(struct cw_eval_run *r);
/* What was planned, and behind it what the plan does not have of the set "launch": its facts cost nothing. */
enum cw_status cw_eval_planned_and_launch(struct cw_eval_run *r);

/* For sub-commands of several captures, whose `run` begins as zeros. Reads a capture of ranges, or several as one, and
 * its chip: `capture` of the request is the first path then. Closed with cw_eval_close, also after a failure. */
enum cw_status cw_eval_open(struct cw_eval_run *run, struct cw_eval_request *request, char *const *paths, size_t count,
                            struct cw_arena *arena, struct cw_error *err);
/* The same in two steps: captures of any kind, then what one of ranges needs. */
enum cw_status cw_eval_open_any(struct cw_eval_run *run, struct cw_eval_request *request, char *const *paths,
                                size_t count, struct cw_arena *arena, struct cw_error *err);
enum cw_status cw_eval_open_ranges(struct cw_eval_run *run);
/* The captures of A and of B: "A.cwd B.cwd", or several a side, "A.cwd... -- B.cwd...". */
struct cw_eval_sides {
    char *const *a, *const *b;
    size_t a_count, b_count;
};
/* Takes "--" and what stands behind it from the command line; what stands before is read by CW_OPTION_WORDS of `a`.
 * Returns the new argc. */
int cw_eval_split_sides(struct cw_eval_sides *sides, int argc, char **argv);
/* To be called when all was read: false where there is no capture on one of the sides. */
bool cw_eval_has_sides(struct cw_eval_sides *sides);
void cw_eval_close(struct cw_eval_run *run);
/* Fills in the metrics of `result`, and evaluates none: of what the command line names, or else of what was planned. */
enum cw_status cw_eval_select(struct cw_eval_run *r);
/* The same of metrics by name. */
enum cw_status cw_eval_select_names(struct cw_eval_run *r, const char *const *names, size_t count);

/* The first of the ranges that are wanted; CW_ERR_USAGE where they are asked for and of several names. */
enum cw_status cw_eval_choose_range(struct cw_eval_run *r, uint32_t *range);

/* The rows of a capture of ranges that are shown, and their order: by --range, --kernel, --exclude, --filter, --sort
 * and --top. */
struct cw_eval_rows {
    struct cw_groups groups;
    uint32_t *rows;                  /* groups */
    uint32_t count, left;            /* of them; those that are more than --top, or than `top` for people */
    uint32_t dropped, unknown;       /* see struct cw_output_rows */
    const struct cw_groups *counted; /* of a join: the ranges that stand for the groups' launches; else NULL */
};
/* Takes the word of --by into a request. */
#define CW_EVAL_BY "kernel|family|range|fold|nvtx|device|rank|stream"
#define CW_EVAL_BY_WORDS "kernel, family, range, fold, nvtx, device, rank or stream"
#define CW_EVAL_BY_ALL CW_EVAL_BY "|process|copy|call|graph|nvtx-each"
void cw_eval_take_by(void *request, char *text, struct argp_state *state);
/* The same, and the words of traces. */
void cw_eval_take_any_by(void *request, char *text, struct argp_state *state);
/* The value of an expression whose names have values[name][row]. */
double cw_eval_expression(const struct cw_expr *expr, const double *const *values, uint32_t row);
/* Adds up a trace and writes it as was asked for. */
enum cw_status cw_eval_trace(struct cw_eval_run *r);
enum cw_status cw_eval_make_rows(struct cw_eval_run *r, struct cw_eval_rows *rows, enum cw_group_by by, size_t top);
/* The same, and of more than CW_EVAL_MOST_KERNELS groups, on which there is no advice, no means (cw_groups_make_times),
 * unless rows are chosen by their values. */
enum { CW_EVAL_MOST_KERNELS = 10000 };
enum cw_status cw_eval_make_rows_of_times(struct cw_eval_run *r, struct cw_eval_rows *rows, enum cw_group_by by,
                                          size_t top);
/* The same of groups that are made: by --filter, --sort, or else `order`, and `top`. */
enum cw_status cw_eval_choose_rows(struct cw_eval_run *r, struct cw_eval_rows *rows, const char *order, size_t top);
/* Evaluates metrics on the rows: `evaluate` does it. */
enum cw_status cw_eval_evaluate_rows(struct cw_eval_run *r, const struct cw_eval_rows *rows,
                                     enum cw_status (*evaluate)(struct cw_eval_run *r));
/* What is written of them; `shown` brings what is said beside the values. */
enum { CW_EVAL_LIST_TOP = 30 }; /* lines of a list for people */
enum cw_status cw_eval_output_rows(struct cw_eval_run *r, const struct cw_eval_rows *rows, struct cw_output_rows *shown,
                                   struct cw_output *output);
/* What limits kernels or ranges, and what to change; NULL where they are more than somebody reads. Rules that cannot be
 * read are told and left out: the times are there without them. */
enum cw_status cw_eval_advise_kernels(struct cw_eval_run *r, const struct cw_groups *groups,
                                      const struct cw_advice **advice);
/* What rows are grouped by: CW_BY_RANGE for CW_BY_FOLD where nothing was multiplexed. */
enum cw_group_by cw_eval_by(const struct cw_eval_run *r, enum cw_group_by otherwise);
/* The result of groups by range or fold as ranges, which keep their numbers in the capture. */
enum cw_status cw_eval_output_ranges(struct cw_output *output, struct cw_eval_run *r, const struct cw_groups *groups,
                                     const struct counterworks_chip *described);
/* Evaluates what was asked for and writes it in all forms: of groups, or of ranges by themselves. */
enum cw_status cw_eval_ranges(struct cw_eval_run *r);
/* --all, -m and --set, or the plan: fills in `result`. */
enum cw_status cw_eval_wanted(struct cw_eval_run *r);

/* How standard output shows what is for people. */
struct cw_terminal_style cw_eval_style(const struct cw_eval_request *o);
/* Files, and standard output where one of them is there. Files take their places together, with what waits for them. */
enum cw_status cw_eval_write_files(const struct cw_eval_run *r, const struct cw_output *output);
/* For people, where no file takes standard output, and --report is not alone: who asks for a page asks for no table. */
enum cw_status cw_eval_print(const struct cw_eval_run *r, const struct cw_output *output);
bool cw_eval_prints(const struct cw_eval_request *o);
bool cw_eval_report_alone(const struct cw_eval_request *o);
/* All forms asked for, and a table where none of them takes standard output. */
enum cw_status cw_eval_write(struct cw_eval_run *r, const struct cw_output *output);
/* The result of samples so. */
enum cw_status cw_eval_write_samples(struct cw_eval_run *r);
/* The same by the program's user ranges. */
enum cw_status cw_eval_samples_by_range(struct cw_eval_run *r);

/* Writes the page of --report, which takes its place with the other files, or at the end of the command. */
enum cw_status cw_eval_report(struct cw_eval_run *r);

/* A capture of PC samples or SASS metrics: written so, or what it holds, beside what `metric-eval show` says of every
 * capture. */
/* Adds up the instructions of a capture. */
enum cw_status cw_eval_load_instructions(struct cw_eval_run *r, struct cw_instructions *in, struct cw_pc_data *raw);
enum cw_status cw_eval_instructions(struct cw_eval_run *r);
enum cw_status cw_show_instructions(struct cw_eval_run *r, json_t **tree); /* tree: NULL for text, else added to */
/* Prints a tree on standard output, and frees it. */
enum cw_status cw_eval_print_json(json_t *tree, struct cw_error *err);

#endif
