/* Shared by the commands of metric-eval: options, opening captures, and writing views. */
#ifndef CW_CLI_EVAL_SESSION_H
#define CW_CLI_EVAL_SESSION_H

#include "base/file.h"
#include "base/file_list.h"
#include "cli/common/chip.h"
#include "cli/common/metric_list.h"
#include "view/compare.h"
#include "view/source.h"
#include "view/timeline.h"
#include "view/view.h"

enum { CW_EVAL_REPEATED_MAX = 16, CW_EVAL_OUTPUTS_MAX = CW_EVAL_REPEATED_MAX + 4 };

/* The values of a repeated option. */
struct cw_eval_list {
    const char *items[CW_EVAL_REPEATED_MAX];
    size_t count;
};

/* Classes of formats, as bits; `takes` of struct cw_eval_line has a command's. */
enum {
    CW_EVAL_TABLES = 1,   /* HDF5, CSV and JSON of rows */
    CW_EVAL_PAGE = 2,     /* HTML */
    CW_EVAL_FOREIGN = 4,  /* for other programs */
    CW_EVAL_CSV = 8,      /* CSV alone */
    CW_EVAL_PRINTED = 16, /* text for people, or JSON, of commands that print */
    CW_EVAL_CELLS = 32    /* beside these, the tables of such a command */
};

struct cw_eval_format {
    const char *name;  /* for --format */
    unsigned taken_as; /* classes */
    enum cw_view_format format;
    enum counterworks_form form;
    const struct cw_file_kind *kind; /* files that it may replace */
};

/* A file to write. */
struct cw_eval_file {
    const char *path;
    const struct cw_eval_format *format;
};

struct cw_eval_session;
struct cw_eval_line {
    struct counterworks_request request;
    struct cw_eval_list kernels, excluded, filters; /* of the request */
    struct cw_metric_sources sources;
    struct cw_cli_chip chip; /* without a name or file: the capture's chip */
    char *const *words;      /* captures, opened as one */
    size_t word_count;
    unsigned takes;                /* classes of formats of its outputs */
    struct cw_eval_list outputs;   /* -o; sorted into the members below: */
    const char *hdf5, *csv, *json; /* files of rows */
    const char *page;              /* file of HTML */
    struct cw_eval_file others[CW_EVAL_REPEATED_MAX];
    size_t other_count;
    const char *format;       /* --format of the output */
    bool tidy, compat;        /* CSV with a line for each value; in the shape of version 0.1 */
    struct cw_eval_list with; /* captures beside the first */
    const char *baseline;
    struct cw_eval_list folders; /* folders of source files */
    const char *check, *native;  /* values of others, to compare with */
    const char *cubin;           /* folder for machine code */
    bool force, quiet;
    enum cw_status (*run)(struct cw_eval_session *s);
};

/* Option rows that commands share: words RUN.cwd..., durations and own metrics, selection of ranges, -o with --format
 * of commands that print, the same of commands that write, the shape of CSV, the same with --csv and --json,
 * --perfetto,
 * --report, --sort with --filter and --top, and --quiet. */
extern const struct cw_option cw_eval_capture_options[], cw_eval_value_options[], cw_eval_ranges_options[],
    cw_eval_format_options[], cw_eval_output_options[], cw_eval_csv_options[], cw_eval_file_options[],
    cw_eval_perfetto_options[], cw_eval_report_options[], cw_eval_row_options[], cw_eval_quiet_options[];

/* Refuses --all beside other metrics. */
void cw_eval_check_every(const struct cw_eval_line *o, const struct argp_state *state);
/* Takes the word of --by: groupings of ranges, or of a trace as well. */
#define CW_EVAL_BY "kernel|family|range|fold|nvtx|device|rank|stream"
#define CW_EVAL_BY_SHOWN CW_EVAL_BY "|process|copy|graph" /* in --help: a line there has 79 columns */
#define CW_EVAL_BY_ALL CW_EVAL_BY_SHOWN "|call|nvtx-each|legacy-reason"
void cw_eval_take_by(void *options, char *text, struct argp_state *state);
void cw_eval_take_any_by(void *options, char *text, struct argp_state *state);
/* Return the first option on the command line that selects ranges, or rows; NULL for none. */
const char *cw_eval_option_of_ranges(const struct cw_eval_line *o);
const char *cw_eval_option_of_rows(const struct cw_eval_line *o);

/* ---- a session -------------------------------------------------------------------------------------------------- */

struct cw_eval_opened {
    struct counterworks_capture *capture;
    struct counterworks_chip *chip; /* NULL where the capture has no metrics */
};

/* The state of a command, from its options to its end. */
struct cw_eval_session {
    const struct cw_eval_line *o;
    struct counterworks_request request; /* the line's, with the names of metrics once they are gathered */
    struct cw_notices notices;
    struct cw_view_shared shared; /* trace that views of the main capture share */
    const struct cw_notice *told; /* the last printed notice */
    struct cw_new_files files;    /* replace their targets together */
    struct cw_notices written;    /* a line for each file */
    struct cw_file_list found;    /* files that the line's words were expanded to */
    struct cw_eval_opened main;
    struct cw_arena *arena;
    struct cw_error *err;
};

/* Reads the command line into `line`, which may begin a command's own struct, and calls line->run. Returns the exit
 * code. */
int cw_eval_command(const struct cw_usage *usage, int argc, char **argv, struct cw_eval_line *line);

/* Expands the line's words to files. */
enum cw_status cw_eval_expand(struct cw_eval_session *s);
/* Refuses an output that would replace one of the line's inputs (cw_file_keep). Call it after cw_eval_expand. */
enum cw_status cw_eval_keep_inputs(struct cw_eval_session *s, const char *output);
/* The same for outputs of a command that prints, and an input of its own: a file of that kind, or captures. */
enum cw_status cw_eval_keep(struct cw_eval_session *s, const char *input, const char *kind);
enum cw_status cw_eval_keep_captures(struct cw_eval_session *s, char *const *words, size_t count);
/* Returns the files of the line's words, for opening a capture. */
struct cw_source_files cw_eval_files(const struct cw_eval_session *s, bool numbered);
/* Open files as one capture, and its chip if it has metrics. Close it in any case. */
enum cw_status cw_eval_open_files(struct cw_eval_session *s, struct cw_eval_opened *opened,
                                  const struct cw_source_files *files);
enum cw_status cw_eval_open(struct cw_eval_session *s, struct cw_eval_opened *opened, char *const *words, size_t count);
enum cw_status cw_eval_open_capture(struct cw_eval_session *s, struct cw_eval_opened *opened, char *const *words,
                                    size_t count, bool numbered);
enum cw_status cw_eval_open_chip(struct cw_eval_session *s, struct cw_eval_opened *opened);
void cw_eval_close(struct cw_eval_opened *opened);
/* Opens the line's capture, and gathers the names of metrics into the session's request. */
enum cw_status cw_eval_open_main(struct cw_eval_session *s);
enum cw_status cw_eval_gather(struct cw_eval_session *s, const struct counterworks_chip *chip);
/* Returns the input for a view. A quiet session has no notices. */
struct cw_view_input cw_eval_input(struct cw_eval_session *s, const struct cw_eval_opened *opened,
                                   const struct counterworks_request *request);

/* The captures on sides A and B: "A.cwd B.cwd", or several, "A.cwd... -- B.cwd...". */
struct cw_eval_sides {
    char *const *a, *const *b;
    size_t a_count, b_count;
};
/* Splits the command line at "--": takes the words behind it as side B. CW_OPTION_WORDS reads `a`. Returns the new
 * argc. */
int cw_eval_split_sides(struct cw_eval_sides *sides, int argc, char **argv);
/* Call this when all options are read. Returns false if a side has no capture. */
bool cw_eval_has_sides(struct cw_eval_sides *sides);
/* Opens both sides, and gathers the names of metrics with the first's chip. */
enum cw_status cw_eval_open_sides(struct cw_eval_session *s, const struct cw_eval_sides *sides,
                                  struct cw_eval_opened *second, struct counterworks_side opened[2]);

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

/* Returns the form of CSV that the options ask for. */
enum cw_view_format cw_eval_csv_format(const struct cw_eval_line *o);
/* Lists all files that the options name. Returns their number. */
size_t cw_eval_outputs(struct cw_eval_file files[CW_EVAL_OUTPUTS_MAX], const struct cw_eval_line *o);
/* Refuses outputs that would replace each other, a capture, or a file of another kind. */
enum cw_status cw_eval_check_outputs(struct cw_eval_session *s);
/* Prints new notices. */
void cw_eval_tell(struct cw_eval_session *s);
/* Whether the command writes files other than a page; whether it prints a table, for lack of any output. */
bool cw_eval_writes(const struct cw_eval_line *o);
bool cw_eval_prints(const struct cw_eval_line *o);
/* Writes a view into its files: HDF5 alone, or CSV and JSON, or all. Standard output comes last: if its reader leaves,
 * the process ends. */
enum cw_eval_part { CW_EVAL_ALL, CW_EVAL_HDF5, CW_EVAL_TEXT };
enum cw_status cw_eval_write(struct cw_eval_session *s, const struct counterworks_view *view, enum cw_eval_part part);
/* Writes one format to a path. */
enum cw_status cw_eval_write_to(struct cw_eval_session *s, const struct counterworks_view *view,
                                enum cw_view_format format, const char *path);
/* Makes a file for another program from the session's capture. */
enum cw_status cw_eval_put_other(struct cw_eval_session *s, const struct cw_eval_file *file);
/* The format of an output of a command that prints; its `format` is CW_VIEW__COUNT for text. */
const struct cw_eval_format *cw_eval_printed_format(const struct cw_eval_line *o, const char *path);
/* Prints a view for people; of a command that prints, in the form and to the files that its options name. */
enum cw_status cw_eval_print(struct cw_eval_session *s, const struct counterworks_view *view);
/* --native, and the comparison of a capture with values of others, by --native or --check. */
extern const struct cw_option cw_eval_native_options[];
enum cw_status cw_eval_compare(struct cw_eval_session *s);

/* ---- commands --------------------------------------------------------------------------------------------------- */

/* Each gets its name for messages as argv[0], and returns the exit code. */
int cw_eval_main(int argc, char **argv); /* the program metric-eval */
int cw_eval_table(int argc, char **argv);
int cw_eval_report(int argc, char **argv);
int cw_eval_check(int argc, char **argv);
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

#endif
