/* libcounterworks: metrics of NVIDIA GPUs by name, plans to collect them, and their values in captures.
 *
 *     counterworks_open             a data folder: its chips and sets of metrics
 *     counterworks_chip_open        the metrics of a chip; you may add your own
 *     counterworks_plan_make        the counters to collect in each pass; saved as a config image (.cwc)
 *     counterworks_capture_open     a capture written by capture-agent (.cwd)
 *     counterworks_evaluate         values and statuses of metrics, in arrays of the caller
 *     counterworks_view_open        rows of a capture by columns and metrics: to read, to write into files, to print
 *     counterworks_diff ...         views of several captures, and of advice
 *
 * Functions return a status. On failure they fill in the caller's error, unless that is NULL, and set their result to
 * NULL. No function prints except counterworks_view_print(), and none ends the program.
 *
 * Numbers have a decimal point, whatever the program's locale. A call takes up to 200 KB of the thread's stack.
 *
 * Strings and other data from a handle live as long as the handle. Text is UTF-8. Structures that may grow begin with
 * their size, so that a program works with later versions of the library: initialise options with
 * COUNTERWORKS_..._OPTIONS, and set `size` of the others.
 *
 * Threads: there is no global state (except NVIDIA's host library, which a plan may use). Several threads may use
 * different handles at a time. They may also use one handle at a time in functions that take it as const. Two
 * exceptions: a capture that was opened with `streamed` serves one thread at a time, with all of its views; and only
 * one thread at a time may use HDF5, so while a call of yours does, call no function that writes it. Views of traces,
 * PC samples and SASS metrics read names and code in a child process, a fork of yours, and wait for it: leave SIGCHLD
 * at its default, and have a malloc() that works in the fork of a program with threads, as the system's does. */
#ifndef COUNTERWORKS_COUNTERWORKS_H
#define COUNTERWORKS_COUNTERWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- errors ----------------------------------------------------------------------------------------------------- */

enum counterworks_status { /* the numbers are the exit statuses of the commands */
                           COUNTERWORKS_OK = 0,
                           COUNTERWORKS_USAGE = 2,       /* a name or an option is wrong */
                           COUNTERWORKS_INPUT = 3,       /* a file is malformed, cut, damaged or of another version */
                           COUNTERWORKS_UNSUPPORTED = 4, /* well formed, but the chip or this library cannot do it */
                           COUNTERWORKS_IO = 5,          /* a file cannot be opened, read or written */
                           COUNTERWORKS_NOMEM = 8        /* out of memory */
};

struct counterworks_error { /* in memory of the caller */
    enum counterworks_status status;
    unsigned line, column; /* from 1 on; 0 if the error is not about a line of a file */
    bool has_offset;
    uint64_t offset;   /* bytes from the beginning of a file */
    char source[256];  /* the file, "" for none */
    char message[768]; /* found and expected, in one line without the position */
};

/* Writes "source:line:column: message" in one line, cut to `size` bytes. Returns `text`. */
const char *counterworks_error_text(const struct counterworks_error *error, char *text, size_t size);

/* The version of this header. */
#define COUNTERWORKS_VERSION_MAJOR 0
#define COUNTERWORKS_VERSION_MINOR 2
#define COUNTERWORKS_VERSION_PATCH 0
#define COUNTERWORKS_VERSION_AT_LEAST(major, minor, patch)                                                             \
    (COUNTERWORKS_VERSION_MAJOR > (major) ||                                                                           \
     (COUNTERWORKS_VERSION_MAJOR == (major) &&                                                                         \
      (COUNTERWORKS_VERSION_MINOR > (minor) ||                                                                         \
       (COUNTERWORKS_VERSION_MINOR == (minor) && COUNTERWORKS_VERSION_PATCH >= (patch)))))

/* Returns the version of the library that runs: "0.2.0". */
const char *counterworks_version(void);

/* ---- notices ---------------------------------------------------------------------------------------------------- */

/* Notices: lines to read that are no errors, such as "the capture is incomplete". Calls add to a list, which has each
 * line once, in the order of arrival. Functions take NULL if nobody reads them. A list serves one thread at a time. */
struct counterworks_notices;
enum counterworks_status counterworks_notices_open(struct counterworks_notices **notices,
                                                   struct counterworks_error *error);
size_t counterworks_notices_count(const struct counterworks_notices *notices);
/* Returns a line without a newline. `index` must be below the count. */
const char *counterworks_notices_text(const struct counterworks_notices *notices, size_t index);
void counterworks_notices_close(struct counterworks_notices *notices);

/* ---- chips ------------------------------------------------------------------------------------------------------ */

struct counterworks;      /* a data folder */
struct counterworks_chip; /* a chip and its metrics */

/* Opens a data folder. NULL: CW_DATA_DIR, else the folder that was installed with the library. */
enum counterworks_status counterworks_open(struct counterworks **data, const char *folder,
                                           struct counterworks_error *error);
void counterworks_close(struct counterworks *data); /* NULL is allowed, here and in every function that ends a handle */

/* Calls `take` for each set of metrics until it returns false; the texts are valid during the call. */
enum counterworks_status counterworks_set_each(const struct counterworks *data,
                                               bool (*take)(void *user, const char *name, const char *title,
                                                            size_t metric_count),
                                               void *user, struct counterworks_error *error);

/* The chips of the folder, sorted by name. `index` must be below the count. */
size_t counterworks_chip_count(const struct counterworks *data);
const char *counterworks_chip_name(const struct counterworks *data, size_t index);

/* Opens a chip by its name, "GH100"; `data` NULL: from the default folder. Handles may be closed in any order. */
enum counterworks_status counterworks_chip_open(struct counterworks_chip **chip, const struct counterworks *data,
                                                const char *name, struct counterworks_error *error);
/* Opens a chip from its YAML file. The data folder provides the sets and the descriptions of names. */
enum counterworks_status counterworks_chip_open_file(struct counterworks_chip **chip, const struct counterworks *data,
                                                     const char *path, struct counterworks_error *error);
/* Opens the chip of a node's GPUs, from the file that "capture-agent doctor --facts" writes there. Features that all
 * its GPUs lack, such as NVLink without a link, cannot be collected: sets leave them out, and counterworks_plan_make()
 * refuses them. `name` chooses one of several chips; NULL: COUNTERWORKS_USAGE unless all GPUs have the same chip. */
enum counterworks_status counterworks_chip_open_node(struct counterworks_chip **chip, const struct counterworks *data,
                                                     const char *facts, const char *name,
                                                     struct counterworks_error *error);
/* Opens the chip of a capture or a plan, by its name in the file at `path`. */
enum counterworks_status counterworks_chip_open_of(struct counterworks_chip **chip, const struct counterworks *data,
                                                   const char *path, struct counterworks_error *error);
/* Sets a listener for notices: `tell` gets each notice of functions that take the chip, as one line without a newline,
 * valid during the call. NULL: no listener, the default. */
void counterworks_chip_tell(struct counterworks_chip *chip, void (*tell)(void *user, const char *line), void *user);
/* Adds the metrics of a YAML file to the chip. A failure leaves the chip unchanged. */
enum counterworks_status counterworks_chip_add_metrics(struct counterworks_chip *chip, const char *path,
                                                       struct counterworks_error *error);
/* Adds the legacy CUPTI names among `names` to the chip as metrics; ignores the others. COUNTERWORKS_UNSUPPORTED if a
 * legacy name has no equal on this chip; the message gives the closest metrics. */
enum counterworks_status counterworks_chip_add_legacy(struct counterworks_chip *chip, const char *const *names,
                                                      size_t count, struct counterworks_error *error);
void counterworks_chip_close(struct counterworks_chip *chip);

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

enum counterworks_metric_type {
    COUNTERWORKS_COUNTER,
    COUNTERWORKS_RATIO,
    COUNTERWORKS_THROUGHPUT,
    COUNTERWORKS_FORMULA, /* over other metrics, from the data folder or an added file */
    COUNTERWORKS_FACT     /* about a launch or its device, recorded without counting */
};

struct counterworks_metric {
    enum counterworks_metric_type type;
    const char *unit; /* unit of measurement: "bytes/s", "%", "1" for a plain number */
    /* Inputs of the value, a line for each term; the value is the largest term. */
    const char *formula;
    const char *description; /* one or two sentences; "" if the folder has no glossary, or the formula no description */
};

enum counterworks_selection {
    COUNTERWORKS_USUAL,  /* the usual metric of each base name */
    COUNTERWORKS_EVERY,  /* every full name */
    COUNTERWORKS_PLANNED /* metrics that can be collected and, planned together, record the inputs of all others */
};

/* Calls `take` for metrics of a chip until it returns false. The name is valid during the call. */
enum counterworks_status counterworks_metric_each(const struct counterworks_chip *chip,
                                                  enum counterworks_selection which,
                                                  bool (*take)(void *user, const char *name), void *user,
                                                  struct counterworks_error *error);
/* Calls `take` for the metrics that a text finds, the best first, until it returns false: metrics that answer it as a
 * question ("register spills"), then usual metrics with all of its words ("l2 hit rate") in their name or description.
 * A text with one of ^ $ * + ? ( ) [ ] { } | \ is an extended regular expression. The chip's listener gets the sets
 * that answer the text and, if nothing is found, the reason. */
enum counterworks_status counterworks_metric_search(const struct counterworks_chip *chip, const char *text,
                                                    bool (*take)(void *user, const char *name), void *user,
                                                    struct counterworks_error *error);
/* Calls `take` for the metrics of a set, by name or YAML file, that the chip can give. */
enum counterworks_status counterworks_set_metrics(const struct counterworks_chip *chip, const char *set,
                                                  bool (*take)(void *user, const char *name), void *user,
                                                  struct counterworks_error *error);
/* Calls `take` for the metrics that "metric-eval advise" needs and that can be collected: the metrics of the data
 * folder's rules and of `rules`, your own file or folder, or NULL. */
enum counterworks_status counterworks_advice_metrics(const struct counterworks_chip *chip, const char *rules,
                                                     bool (*take)(void *user, const char *name), void *user,
                                                     struct counterworks_error *error);
/* Describes a metric by its full name. For a base name it describes the count, with unit and formula of its usual
 * metric. Release *metric with counterworks_metric_free(). COUNTERWORKS_USAGE for a name that the chip does not have;
 * the message suggests the nearest ones. */
enum counterworks_status counterworks_metric_find(struct counterworks_metric **metric,
                                                  const struct counterworks_chip *chip, const char *name,
                                                  struct counterworks_error *error);
void counterworks_metric_free(struct counterworks_metric *metric);

/* ---- plans ------------------------------------------------------------------------------------------------------ */

struct counterworks_plan;

enum counterworks_profiler {
    COUNTERWORKS_RANGES = 0,     /* around launches or ranges, in passes */
    COUNTERWORKS_SAMPLES = 1,    /* over time, in one pass */
    COUNTERWORKS_PC_SAMPLES = 2, /* only for captures: there is no plan for the last three */
    COUNTERWORKS_INSTRUCTIONS = 3,
    COUNTERWORKS_TRACE = 4
};

enum counterworks_preference {
    COUNTERWORKS_WHOLE,  /* every value that fits one pass gets a pass with all its counters; the shortest such plan */
    COUNTERWORKS_PASSES, /* the fewest passes */
    COUNTERWORKS_TIME    /* the least time to set up and read passes */
};

struct counterworks_names {
    size_t count;
    const char *const *names;
};

struct counterworks_plan_options { /* used only during the call, with all data that they point to */
    size_t size;
    enum counterworks_profiler profiler; /* COUNTERWORKS_RANGES or COUNTERWORKS_SAMPLES */
    enum counterworks_preference prefer;
    uint32_t most_passes; /* 0: any number; for samples always 1. COUNTERWORKS_WHOLE becomes COUNTERWORKS_PASSES if that
                             keeps the limit */
    bool drop;   /* if the plan is longer: false: COUNTERWORKS_UNSUPPORTED. true: takes the metrics in the given order,
                    leaves out each one that needs another pass, and sends a notice to the chip's listener */
    bool native; /* true: NVIDIA's host library checks each pass, and refused passes are split. The plan stores NVIDIA's
                    config image for its passes, so that the GPU's machine needs no host library. The library is loaded
                    once for the process. false: the plan is the same on every machine */
    const char *native_library; /* its path. NULL: the usual places; if it is not found, as with `native` false */
    size_t together_count;      /* number of groups in `together` */
    const struct counterworks_names *together; /* groups of metrics of the plan; all counters of a group share a pass */
};
#define COUNTERWORKS_PLAN_OPTIONS                                                                                      \
    {                                                                                                                  \
        sizeof(struct counterworks_plan_options), COUNTERWORKS_RANGES, COUNTERWORKS_WHOLE, 0, false, false, NULL, 0,   \
            NULL                                                                                                       \
    }

/* Plans metrics by their full names; repeated names count once. NULL options: the defaults. COUNTERWORKS_USAGE for an
 * unknown name or none, COUNTERWORKS_UNSUPPORTED for metrics that cannot be collected or kept together. */
enum counterworks_status counterworks_plan_make(struct counterworks_plan **plan, const struct counterworks_chip *chip,
                                                const char *const *names, size_t count,
                                                const struct counterworks_plan_options *options,
                                                struct counterworks_error *error);
void counterworks_plan_free(struct counterworks_plan *plan);

/* Returns the number of passes. No plan for these metrics has fewer than `bound`. */
uint32_t counterworks_plan_passes(const struct counterworks_plan *plan, uint32_t *bound);
/* The metrics of the plan, without duplicates, in the given order. Returns the number of a metric's passes, which are
 * ascending and counted from 0. *whole: each value that the metric is computed from has a pass with all its counters.
 * `name`, `passes` and `whole` may be NULL. */
size_t counterworks_plan_metric_count(const struct counterworks_plan *plan);
uint32_t counterworks_plan_metric(const struct counterworks_plan *plan, size_t index, const char **name,
                                  const uint32_t **passes, bool *whole);
/* Writes the config image, for capture-agent. */
enum counterworks_status counterworks_plan_save(const struct counterworks_plan *plan, const char *path,
                                                struct counterworks_error *error);

/* ---- captures --------------------------------------------------------------------------------------------------- */

struct counterworks_capture;

/* Reads a whole file. A capture that was cut off has its whole parts and is marked incomplete. */
enum counterworks_status counterworks_capture_open(struct counterworks_capture **capture, const char *path,
                                                   struct counterworks_error *error);
/* Reads a capture from bytes in memory, which must outlive it; `source` is its name in messages. */
enum counterworks_status counterworks_capture_read(struct counterworks_capture **capture, const void *data, size_t size,
                                                   const char *source, struct counterworks_error *error);
void counterworks_capture_close(struct counterworks_capture *capture);

struct counterworks_files_options {
    size_t size;
    const char *ranks; /* open only launches of these ranks of a job, as in "0-7,12", where that is faster: give the
                          same text in a request. NULL: all */
    bool streamed;     /* false: ranges and samples are read into memory. true: they stay in the file, and calls read
                          them as they need them: memory does not grow with the capture, which serves one thread at a
                          time. Its rows have no times in counterworks_capture_row(), and it has no
                          counterworks_evaluate(). Traces stay in their file in any case */
};
#define COUNTERWORKS_FILES_OPTIONS                                                                                     \
    {                                                                                                                  \
        sizeof(struct counterworks_files_options), NULL, false                                                         \
    }
/* Opens files together as one capture, as counterworks_capture_merge() would join them. Each word is a file, a folder
 * of captures, or "@LIST", a file with a path in each line. NULL options: the defaults. COUNTERWORKS_USAGE for no word,
 * a folder without captures, or files that do not belong together. */
enum counterworks_status counterworks_capture_open_files(struct counterworks_capture **capture,
                                                         const char *const *words, size_t count,
                                                         const struct counterworks_files_options *options,
                                                         struct counterworks_notices *notices,
                                                         struct counterworks_error *error);

/* Joins captures of one plan, of one kind of samples, or traces, into a new one. */
enum counterworks_status counterworks_capture_merge(const char *output, const char *const *paths, size_t count,
                                                    struct counterworks_error *error);
/* The same for words as in counterworks_capture_open_files(). Missing ranks of a job, and files that were cut off, are
 * notices. */
enum counterworks_status counterworks_capture_merge_files(const char *output, const char *const *words, size_t count,
                                                          struct counterworks_notices *notices,
                                                          struct counterworks_error *error);
/* Writes an index into a folder of captures. With it, `ranks` are found without reading the other files.
 * COUNTERWORKS_USAGE if a file of another kind has the index's name, unless `force`. */
enum counterworks_status counterworks_capture_index(const char *folder, bool force,
                                                    struct counterworks_notices *notices,
                                                    struct counterworks_error *error);

struct counterworks_capture_info {
    size_t size; /* set by the caller: the size of this struct */
    const char *chip;
    enum counterworks_profiler profiler;
    bool complete;      /* the capture came to its end; if not, it has its whole parts */
    uint64_t row_count; /* ranges, or samples over time; 0 for the other profilers */
    uint64_t dropped;   /* ranges or samples that were lost */
    uint32_t device_count, pass_count;
    uint32_t metric_count; /* metrics named by the plan */
    const char *const *metrics;
    bool has_metrics; /* views need a chip: captures of ranges, and of samples over time */
    const char *name; /* its file without folders; a name for all of several files */
};
void counterworks_capture_describe(const struct counterworks_capture *capture, struct counterworks_capture_info *info);

struct counterworks_row {      /* a range, or a sample over time */
    size_t size;               /* set by the caller: the size of this struct */
    const char *name, *kernel; /* for a range; "" for a sample, and if unknown */
    uint32_t device, process;  /* process: 0 for a sample */
    uint64_t start_ns, end_ns; /* since 1970, or on the GPU's clock if the two could not be compared */
    uint32_t grid[3], block[3];
};
/* Describes a row. `index` must be below row_count. */
void counterworks_capture_row(const struct counterworks_capture *capture, uint64_t index, struct counterworks_row *row);

/* Calls `take` for each metric of the chip whose counters are all in the capture, until it returns false. The name is
 * valid during the call. Errors as for counterworks_evaluate(). */
enum counterworks_status counterworks_capture_metric_each(const struct counterworks_capture *capture,
                                                          const struct counterworks_chip *chip,
                                                          bool (*take)(void *user, const char *name), void *user,
                                                          struct counterworks_error *error);

/* ---- values ----------------------------------------------------------------------------------------------------- */

enum counterworks_value_status { /* in ascending order of severity */
                                 COUNTERWORKS_VALUE_OK,
                                 COUNTERWORKS_VALUE_MIXED_PASSES, /* its counters come from different passes */
                                 COUNTERWORKS_VALUE_MULTIPLEXED,  /* the mean of launches counted in one pass each */
                                 COUNTERWORKS_VALUE_ZERO_DENOMINATOR, /* a denominator is zero */
                                 COUNTERWORKS_VALUE_OVERFLOW,     /* a counter overflowed in at least one instance */
                                 COUNTERWORKS_VALUE_INCOMPLETE,   /* a pass is missing */
                                 COUNTERWORKS_VALUE_IMPLAUSIBLE,  /* a share above the whole, or a count below 0 */
                                 COUNTERWORKS_VALUE_UNAVAILABLE,  /* the device does not have it */
                                 COUNTERWORKS_VALUE_NOT_COLLECTED /* the capture lacks a counter that it needs, or the
                                                                     options lack a duration */
};
/* Returns "ok", "mixed passes"... */
const char *counterworks_value_status_text(enum counterworks_value_status status);

struct counterworks_evaluate_options {
    size_t size;
    double frame_ns, region_ns; /* durations of the user's frame and region, 0 for none */
};
#define COUNTERWORKS_EVALUATE_OPTIONS                                                                                  \
    {                                                                                                                  \
        sizeof(struct counterworks_evaluate_options), 0, 0                                                             \
    }

/* Evaluates metrics on every row of a capture of ranges or samples.
 *
 * Sets values[m * row_count + r] and statuses[m * row_count + r] for metric m and row r. A missing value is NaN. A
 * ratio over zero is zero, and so is zero over zero; anything else over zero is NaN. A counter that the capture lacks
 * is no error: its metrics read "not collected". So do, for a multiplexed range, the metrics of other passes. NULL
 * options: the defaults.
 *
 * COUNTERWORKS_USAGE for an unknown name or a duration below 0, COUNTERWORKS_INPUT for a capture of another chip,
 * COUNTERWORKS_UNSUPPORTED for a capture without metrics. The chip's listener (counterworks_chip_tell) gets notices
 * about an incomplete capture, one planned with another version of the database, and metrics without a formula. */
enum counterworks_status counterworks_evaluate(const struct counterworks_capture *capture,
                                               const struct counterworks_chip *chip, const char *const *names,
                                               size_t count, const struct counterworks_evaluate_options *options,
                                               double *values, int8_t *statuses, struct counterworks_error *error);

/* Evaluates metrics as counterworks_evaluate() does and writes them to `path` as HDF5, with names, units, statuses and
 * the capture's data about its ranges or samples, as metric-eval -o does. `path` holds the old or the new file, never a
 * part. NULL names: every metric whose counters the capture has. COUNTERWORKS_UNSUPPORTED if there is no HDF5 here,
 * which is loaded by the first call. */
enum counterworks_status counterworks_hdf5_write(const struct counterworks_capture *capture,
                                                 const struct counterworks_chip *chip, const char *const *names,
                                                 size_t count, const struct counterworks_evaluate_options *options,
                                                 const char *path, struct counterworks_error *error);

/* ---- requests --------------------------------------------------------------------------------------------------- */

enum counterworks_form {
    COUNTERWORKS_TABLE,   /* rows for programs: single ranges unless `by` groups them */
    COUNTERWORKS_LIST,    /* rows for people: kernels unless `by` groups otherwise, with limiter and first finding */
    COUNTERWORKS_STACKS,  /* time or samples by stack, for flame graphs: FOLDED and SPEEDSCOPE */
    COUNTERWORKS_MONITOR, /* the kernels' metrics, for a monitor: PROMETHEUS */
    COUNTERWORKS_TIMELINE /* lanes over time, for viewers: PERFETTO and CHROME */
};

/* The part of a capture that a view shows, and its form. Plain data of the caller, needed only during the call. A
 * member that is zero or NULL asks for nothing. The capture's profiler decides which members a view takes:
 * COUNTERWORKS_USAGE for others, and for words that are not listed below. */
struct counterworks_request {
    size_t size; /* set by the caller: the size of this struct */
    enum counterworks_form form;
    /* Launches to take. Ranks of a job are numbers, as in "0-7,12". Ranges are numbers, as in "0-9,12", or a name.
     * Kernels and excluded kernels are names; one of several has to match. A name is a whole name or its form in a
     * table, else a part of names, else a regular expression. In a trace, ranges are NVTX ranges with everything inside
     * them; of launches, ranges also go by the NVTX paths around them, as by "nvtx" shows them. */
    const char *ranks, *ranges;
    struct counterworks_names kernels, excluded;
    /* A row for each "kernel", "family", "range", "fold", "nvtx", "device", "rank" or "stream"; in a trace also
     * "process", "copy", "call", "graph" or "nvtx-each"; in samples over time "nvtx". In PC samples "legacy-reason"
     * adds up the stall reasons that CUPTI's activity API has one name for. */
    const char *by;
    const char *sort; /* a column or a metric, in descending order; in ascending order with ":asc" behind it */
    struct counterworks_names filters; /* formulas over columns and metrics, as in "share > 0.05"; all must be true */
    uint32_t top;                      /* most rows; 0: the default of the form */
    const char *kinds;                 /* for a trace: kinds of rows, as in "kernel,copy", with a table each */
    bool every;                        /* all metrics whose counters the capture has; `metrics` is empty then */
    struct counterworks_names metrics; /* by full name; none: the plan's */
    double frame_ns, region_ns;        /* durations of the user's frame and region, 0 for none */
    bool single;                       /* one table, for CSV: COUNTERWORKS_USAGE if there would be several */
    const char *rules; /* for advice: your rules beside the shipped ones, a YAML file or a folder of them, or NULL */
    double least_gain; /* for advice: leaves out findings that would save a smaller part of a kernel's time, 0 to 1 */
    bool full;         /* for files: metrics have descriptions, and a join has all its tables */
    bool wide;         /* for a list: each row in full, with all its metrics */
    bool quiet;        /* for a text: only the data, without a summary */
    /* For PC samples and SASS metrics: instructions have their text, by this file of nvdisasm. "nvdisasm" is the file
     * that CW_NVDISASM names, else the one in PATH, in CUDA_HOME/bin or in /usr/local/cuda/bin.
     * COUNTERWORKS_UNSUPPORTED if there is none. NULL: no text. */
    const char *disassembler;
};

/* ---- views ------------------------------------------------------------------------------------------------------ */

/* A view of a capture, by a request. One call makes it, and it never changes. Close it before its captures and its
 * chip. It has some of:
 *
 *     tables      rows by columns; in a table with metrics, a row has a value and a status for each metric
 *     a text      for people
 *     formats     for files */
struct counterworks_view;

/* Makes a view of one capture. `chip` is the capture's; NULL for a capture without metrics. NULL request: all members
 * are zero. COUNTERWORKS_INPUT for a capture of another chip; other errors as for counterworks_evaluate(). */
enum counterworks_status counterworks_view_open(struct counterworks_view **view,
                                                const struct counterworks_capture *capture,
                                                const struct counterworks_chip *chip,
                                                const struct counterworks_request *request,
                                                struct counterworks_notices *notices, struct counterworks_error *error);
void counterworks_view_close(struct counterworks_view *view);

/* The tables of a view; 0 for a view with only a text or a picture. */
size_t counterworks_view_table_count(const struct counterworks_view *view);
struct counterworks_table {
    size_t size;      /* set by the caller: the size of this struct */
    const char *name; /* "ranges", "groups", "samples" */
    uint64_t row_count;
    size_t column_count, metric_count;
    bool spread; /* each value has a spread over the launches that it was counted in */
};
/* Describes a table. `table` must be below the count. */
void counterworks_view_table(const struct counterworks_view *view, size_t table, struct counterworks_table *info);

enum counterworks_cell {
    COUNTERWORKS_REAL,    /* double; NaN: unknown */
    COUNTERWORKS_INTEGER, /* int64_t; INT64_MIN: unknown. Unsigned payloads and counts have their 64 bits */
    COUNTERWORKS_TEXT     /* const char *, never NULL, valid as long as the view */
};
struct counterworks_column {
    size_t size;         /* set by the caller: the size of this struct */
    const char *name;    /* no other column of the table has it */
    const char *unit;    /* "ns", "bytes", "" for none. Numbers of "nanoseconds since 1970-01-01" are dates */
    const char *meaning; /* in words; "" if the name says enough */
    enum counterworks_cell type;
    uint32_t width; /* cells in each row: 1; 3 for a grid */
};
/* Describes a column. `table` and `column` must be below their counts. */
void counterworks_view_column(const struct counterworks_view *view, size_t table, size_t column,
                              struct counterworks_column *info);
/* Finds a column by its name. Returns the number of columns if there is none. */
size_t counterworks_view_find_column(const struct counterworks_view *view, size_t table, const char *name);
struct counterworks_view_metric_info {
    size_t size; /* set by the caller: the size of this struct */
    const char *name, *unit;
    const char *type, *description; /* the description is "" unless the request is `full` */
};
/* Describes a metric of a table. `table` and `metric` must be below their counts. */
void counterworks_view_metric(const struct counterworks_view *view, size_t table, size_t metric,
                              struct counterworks_view_metric_info *info);

/* Arrays of the caller for some rows. Set the one pointer that has the column's type: it gets `width` cells for each
 * row. */
struct counterworks_cells {
    size_t column;
    double *reals;
    int64_t *integers;
    const char **texts;
};
struct counterworks_block {
    size_t size; /* set by the caller: the size of this struct */
    const struct counterworks_cells *cells;
    size_t cell_count;
    double *values;        /* values[row * metric_count + metric], as from counterworks_evaluate(); or NULL */
    int8_t *statuses;      /* enum counterworks_value_status, in the same order; or NULL */
    uint32_t *occurrences; /* with a spread: the number of launches that the value was counted in; or NULL */
    double *spreads;       /* with a spread: the standard deviation over the launches; or NULL */
};
/* Reads `count` rows from `first` on. Blocks in ascending order are fastest; a thousand rows are a good size.
 * COUNTERWORKS_USAGE for a table, row or column that does not exist, or a pointer of another type; COUNTERWORKS_IO for
 * a streamed capture whose file cannot be read. */
enum counterworks_status counterworks_view_read(const struct counterworks_view *view, size_t table, uint64_t first,
                                                uint64_t count, const struct counterworks_block *block,
                                                struct counterworks_error *error);

enum counterworks_format {
    COUNTERWORKS_CSV,        /* .csv: the first table, a line for each row and a column for each metric */
    COUNTERWORKS_JSON,       /* .json: all tables */
    COUNTERWORKS_HDF5,       /* .h5: all tables */
    COUNTERWORKS_TIDY,       /* CSV of the first table, a line for each value */
    COUNTERWORKS_NDJSON,     /* .ndjson: the same as JSON, one object a line */
    COUNTERWORKS_FOLDED,     /* .folded: stacks, from COUNTERWORKS_STACKS */
    COUNTERWORKS_SPEEDSCOPE, /* .speedscope.json: the same stacks */
    COUNTERWORKS_PROMETHEUS, /* .prom: from COUNTERWORKS_MONITOR */
    COUNTERWORKS_PERFETTO,   /* .pftrace: from COUNTERWORKS_TIMELINE */
    COUNTERWORKS_CHROME,     /* .chrome.json: the same timeline, for small traces */
    COUNTERWORKS_HTML,       /* .html: the page of counterworks_report() or counterworks_ranks() */
    COUNTERWORKS_YAML,       /* .yaml: the rules of counterworks_gate_learn() */
    COUNTERWORKS_CSV_0,      /* CSV in the shape of version 0.1, for one release */
    COUNTERWORKS_FORMAT_COUNT
};
/* Returns the usual suffix of a format, such as ".csv"; "" for COUNTERWORKS_TIDY and COUNTERWORKS_CSV_0, which share
 * the suffix of COUNTERWORKS_CSV. */
const char *counterworks_format_suffix(enum counterworks_format format);
/* Finds a format by any of its suffixes, such as ".hdf5" and ".nc" beside ".h5". Returns COUNTERWORKS_FORMAT_COUNT if
 * there is none. */
enum counterworks_format counterworks_format_of(const char *path);
/* Whether a view has a format. */
bool counterworks_view_has(const struct counterworks_view *view, enum counterworks_format format);
/* Writes a view to a path, "-" for standard output. The path holds the old or the new file, never a part.
 * COUNTERWORKS_USAGE for a format that the view lacks. Events that a timeline leaves out are notices. */
enum counterworks_status counterworks_view_write(const struct counterworks_view *view, enum counterworks_format format,
                                                 const char *path, struct counterworks_notices *notices,
                                                 struct counterworks_error *error);
/* The same in the format of the path's suffix. COUNTERWORKS_USAGE for an unknown suffix. */
enum counterworks_status counterworks_view_save(const struct counterworks_view *view, const char *path,
                                                struct counterworks_notices *notices, struct counterworks_error *error);

enum counterworks_bars { COUNTERWORKS_NO_BARS, COUNTERWORKS_ASCII_BARS, COUNTERWORKS_BLOCK_BARS };
struct counterworks_print_options {
    size_t size;
    unsigned width; /* columns of the terminal; 0: as many as the text needs */
    bool bold;      /* with a terminal's codes for headings */
    enum counterworks_bars bars;
    uint32_t top; /* for PC samples and SASS metrics: most lines, functions and instructions; 0: those of
                     the request, else 10 */
    bool quiet;   /* only the data, without a summary; as in the request */
    struct counterworks_names folders; /* folders of source files, for the lines beside PC samples */
};
#define COUNTERWORKS_PRINT_OPTIONS                                                                                     \
    {                                                                                                                  \
        .size = sizeof(struct counterworks_print_options)                                                              \
    }
/* Prints a view for people. NULL options: the defaults. COUNTERWORKS_USAGE for a view without a text,
 * COUNTERWORKS_IO if the stream has an error. */
enum counterworks_status counterworks_view_print(const struct counterworks_view *view, FILE *out,
                                                 const struct counterworks_print_options *options,
                                                 struct counterworks_error *error);

/* ---- several captures ------------------------------------------------------------------------------------------- */

/* One side of a comparison. */
struct counterworks_side {
    const struct counterworks_capture *capture;
    const struct counterworks_chip *chip; /* NULL for a capture without metrics */
    uint32_t runs; /* number of runs of the program that the capture joins. 0: one for each word that it was opened from
                      (counterworks_capture_open_files()), but for words of which the request's ranks, or copies of
                      traces, leave nothing */
};

/* Compares two captures, of ranges or traces. The request's `by` is "kernel" or "nvtx". */
enum counterworks_status counterworks_diff(struct counterworks_view **view, const struct counterworks_side *before,
                                           const struct counterworks_side *after,
                                           const struct counterworks_request *request,
                                           struct counterworks_notices *notices, struct counterworks_error *error);

enum counterworks_verdict { /* in ascending order of gravity */
                            COUNTERWORKS_SAME,
                            COUNTERWORKS_BETTER,
                            COUNTERWORKS_AMBIGUOUS, /* values differ in both directions, or the data is too little to
                                                       show a difference */
                            COUNTERWORKS_WORSE,
                            COUNTERWORKS_INCOMPARABLE /* other kernels, another device, or missing values */
};
/* Judges by a file of rules whether `after` is worse than `before`. `need`: the verdict is ambiguous if a slow-down by
 * this part of a kernel's time, 0 to 1, could not be seen; 0 for none. */
enum counterworks_status counterworks_gate(struct counterworks_view **view, const struct counterworks_side *before,
                                           const struct counterworks_side *after, const char *rules, double need,
                                           const struct counterworks_request *request,
                                           struct counterworks_notices *notices, struct counterworks_error *error);
/* Returns the verdict of a view of counterworks_gate(); COUNTERWORKS_SAME for any other view. */
enum counterworks_verdict counterworks_view_verdict(const struct counterworks_view *view);
/* Returns "same", "better"... */
const char *counterworks_verdict_text(enum counterworks_verdict verdict);
/* Learns rules from at least three runs of one program, one word a run, as in counterworks_capture_open_files(). Opens
 * the runs one after another. The view has the rules as COUNTERWORKS_YAML and prints their summary. */
enum counterworks_status counterworks_gate_learn(struct counterworks_view **view, const char *const *words,
                                                 size_t count, const struct counterworks_chip *chip,
                                                 const struct counterworks_request *request,
                                                 struct counterworks_notices *notices,
                                                 struct counterworks_error *error);

/* Compares the ranks of a parallel job: captures of ranges of one plan. `words` are as in
 * counterworks_capture_open_files(); any number of files, as only some are open at a time. The request's `by` is
 * "kernel", "family" or "nvtx". */
enum counterworks_status counterworks_ranks(struct counterworks_view **view, const char *const *words, size_t count,
                                            const struct counterworks_chip *chip,
                                            const struct counterworks_request *request,
                                            struct counterworks_notices *notices, struct counterworks_error *error);

/* Joins a trace with the metrics of another run of the program: a capture of ranges, or of samples over time.
 * `samples`: its PC samples, or NULL. The request's `by` may also be "launch". */
enum counterworks_status counterworks_join(struct counterworks_view **view, const struct counterworks_capture *trace,
                                           const struct counterworks_capture *capture,
                                           const struct counterworks_chip *chip,
                                           const struct counterworks_capture *samples,
                                           const struct counterworks_request *request,
                                           struct counterworks_notices *notices, struct counterworks_error *error);

/* ---- advice ----------------------------------------------------------------------------------------------------- */

/* Advises on the kernels of a capture of ranges: what limits each, and what to change. `samples`: PC samples of the
 * same program, for source lines in findings, or NULL. The tables are "kernels", longest first, and "findings", by
 * kernel, the largest gain first. */
enum counterworks_status counterworks_advise(struct counterworks_view **view,
                                             const struct counterworks_capture *capture,
                                             const struct counterworks_chip *chip,
                                             const struct counterworks_capture *samples,
                                             const struct counterworks_request *request,
                                             struct counterworks_notices *notices, struct counterworks_error *error);
/* Explains a value in the first range that the request wants. `metric` is a full name, or a value of the rules of
 * advice. The tables are "metrics", the metric first and then all that it is computed from, with formulas, and
 * "counters", a row for each recording of a counter. */
enum counterworks_status counterworks_explain(struct counterworks_view **view,
                                              const struct counterworks_capture *capture,
                                              const struct counterworks_chip *chip, const char *metric,
                                              const struct counterworks_request *request,
                                              struct counterworks_notices *notices, struct counterworks_error *error);
/* Describes a capture: devices, the way of collection, counters, ranges or samples. The table is "facts". */
enum counterworks_status counterworks_show(struct counterworks_view **view, const struct counterworks_capture *capture,
                                           struct counterworks_notices *notices, struct counterworks_error *error);

struct counterworks_report_options {
    size_t size;
    const struct counterworks_side *with; /* captures of the same program beside the first, at most 16 */
    size_t with_count;
    const struct counterworks_side *baseline; /* a capture of ranges to compare with, or NULL */
    struct counterworks_names folders;        /* folders of source files */
    const char *hdf5; /* the name of a file with the same values, for a link on the page; or NULL */
};
#define COUNTERWORKS_REPORT_OPTIONS                                                                                    \
    {                                                                                                                  \
        .size = sizeof(struct counterworks_report_options)                                                             \
    }
/* Makes a page of HTML from captures of one program. NULL options: the defaults. */
enum counterworks_status counterworks_report(struct counterworks_view **view,
                                             const struct counterworks_capture *capture,
                                             const struct counterworks_chip *chip,
                                             const struct counterworks_report_options *options,
                                             const struct counterworks_request *request,
                                             struct counterworks_notices *notices, struct counterworks_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
