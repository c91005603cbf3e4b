/* libcounterworks: metrics of NVIDIA GPUs by name, plans to collect them, and their values from what was captured.
 *
 *     counterworks_open             a data folder: its chips and sets of metrics
 *     counterworks_chip_open        what is known of a chip; users' own metrics may be added to it
 *     counterworks_plan_make        which counters to collect, in which passes; saved as a config image (.cwc)
 *     counterworks_capture_open     what capture-agent wrote (.cwd)
 *     counterworks_evaluate         values and statuses of metrics, in arrays of the caller's
 *
 * Functions return a status. They fill in the error that they are given, unless that is NULL, and where they fail they
 * set what they were to make to NULL. Nothing is printed, and nothing ends the program. There is no global state
 * (but NVIDIA's host library, which a plan may ask for): different handles may be used by several threads at a time. So
 * may one handle, by functions that take it as const.
 *
 * Numbers have a decimal point, whatever the program's locale. A call takes up to 200 KB of the thread's stack.
 *
 * What a handle gives, strings above all, lives as long as the handle. Text is UTF-8. Options begin with their size, so
 * that a program goes on with a later library: begin them with COUNTERWORKS_..._OPTIONS. */
#ifndef COUNTERWORKS_COUNTERWORKS_H
#define COUNTERWORKS_COUNTERWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct counterworks_error { /* the caller's */
    enum counterworks_status status;
    unsigned line, column; /* from 1 on; 0 where it is not about a line of a file */
    bool has_offset;
    uint64_t offset;   /* bytes from the beginning of a file */
    char source[256];  /* the file, "" for none */
    char message[768]; /* what was found and what was expected, in one line without the position */
};

/* "source:line:column: message" in one line, cut to `size` bytes. Returns `text`. */
const char *counterworks_error_text(const struct counterworks_error *error, char *text, size_t size);

/* "0.1.0" */
const char *counterworks_version(void);

/* ---- chips ------------------------------------------------------------------------------------------------------ */

struct counterworks;      /* a data folder */
struct counterworks_chip; /* what is known of a chip */

/* Opens a data folder; NULL: CW_DATA_DIR, else the one that the library was installed with. */
enum counterworks_status counterworks_open(struct counterworks **data, const char *folder,
                                           struct counterworks_error *error);
void counterworks_close(struct counterworks *data); /* NULL is allowed, as for all that ends a handle */

/* Calls `take` for each set of metrics until that returns false; the texts are valid during the call. */
enum counterworks_status counterworks_set_each(const struct counterworks *data,
                                               bool (*take)(void *user, const char *name, const char *title,
                                                            size_t metric_count),
                                               void *user, struct counterworks_error *error);

/* The chips of the folder, sorted by name. The index is less than the count. */
size_t counterworks_chip_count(const struct counterworks *data);
const char *counterworks_chip_name(const struct counterworks *data, size_t index);

/* Opens a chip by its name, "GH100"; `data` NULL: of the folder that is there by default. Handles may be closed in any
 * order. */
enum counterworks_status counterworks_chip_open(struct counterworks_chip **chip, const struct counterworks *data,
                                                const char *name, struct counterworks_error *error);
/* The same from a chip's YAML file. The data folder has the sets and what is said of names. */
enum counterworks_status counterworks_chip_open_file(struct counterworks_chip **chip, const struct counterworks *data,
                                                     const char *path, struct counterworks_error *error);
/* The chip of a node's GPUs, from the file that "capture-agent doctor --facts" writes there. What all of its GPUs lack,
 * such as NVLink without a link, cannot be collected: sets leave it out, and counterworks_plan_make() refuses it.
 * `name` chooses one of several chips; NULL: they are all of one, or it is COUNTERWORKS_USAGE. */
enum counterworks_status counterworks_chip_open_node(struct counterworks_chip **chip, const struct counterworks *data,
                                                     const char *facts, const char *name,
                                                     struct counterworks_error *error);
/* Calls `tell` with what is worth telling and is no error, in calls that are given the chip: one line, without its end,
 * valid during the call. NULL: nobody is told, as at first. */
void counterworks_chip_tell(struct counterworks_chip *chip, void (*tell)(void *user, const char *line), void *user);
/* Adds the metrics of a YAML file to those that the chip has. After a failure it has those of before. */
enum counterworks_status counterworks_chip_add_metrics(struct counterworks_chip *chip, const char *path,
                                                       struct counterworks_error *error);
/* Adds those of the names that CUPTI's old metrics and events have; others are left alone. COUNTERWORKS_UNSUPPORTED for
 * one that nothing on this chip is equal to; the message says what comes closest. */
enum counterworks_status counterworks_chip_add_legacy(struct counterworks_chip *chip, const char *const *names,
                                                      size_t count, struct counterworks_error *error);
void counterworks_chip_close(struct counterworks_chip *chip);

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

enum counterworks_metric_type {
    COUNTERWORKS_COUNTER,
    COUNTERWORKS_RATIO,
    COUNTERWORKS_THROUGHPUT,
    COUNTERWORKS_FORMULA, /* over others, of the data or of a file that was added */
    COUNTERWORKS_FACT     /* of a launch or its device, recorded without counting */
};

struct counterworks_metric {
    enum counterworks_metric_type type;
    const char *unit; /* of measurement: "bytes/s", "%", "1" for a plain number */
    /* What the value is computed from, a line for each term: the largest of them where there are several. */
    const char *formula;
    const char *description; /* one or two sentences; "" where the folder has no glossary, or the formula none */
};

enum counterworks_selection {
    COUNTERWORKS_USUAL,  /* the usual metric of each base name */
    COUNTERWORKS_EVERY,  /* every full name */
    COUNTERWORKS_PLANNED /* those that can be collected and, planned together, record what all others are made from */
};

/* Calls `take` for metrics of a chip until that returns false. The name is valid during the call. */
enum counterworks_status counterworks_metric_each(const struct counterworks_chip *chip,
                                                  enum counterworks_selection which,
                                                  bool (*take)(void *user, const char *name), void *user,
                                                  struct counterworks_error *error);
/* The same for the metrics of a set, by its name or its YAML file, that the chip can give. */
enum counterworks_status counterworks_set_metrics(const struct counterworks_chip *chip, const char *set,
                                                  bool (*take)(void *user, const char *name), void *user,
                                                  struct counterworks_error *error);
/* The same for the metrics that "metric-eval advise" needs and that can be collected: those of the rules of the data
 * folder and of `rules`, a file or a folder of one's own, or NULL. */
enum counterworks_status counterworks_advice_metrics(const struct counterworks_chip *chip, const char *rules,
                                                     bool (*take)(void *user, const char *name), void *user,
                                                     struct counterworks_error *error);
/* Describes a metric by its full name, or what a base name counts: unit and formula are then those of its usual metric.
 * *metric lives in memory that counterworks_metric_free() gives back. COUNTERWORKS_USAGE for a name that the chip does
 * not have; the message names the nearest that it has. */
enum counterworks_status counterworks_metric_find(struct counterworks_metric **metric,
                                                  const struct counterworks_chip *chip, const char *name,
                                                  struct counterworks_error *error);
void counterworks_metric_free(struct counterworks_metric *metric);

/* ---- plans ------------------------------------------------------------------------------------------------------ */

struct counterworks_plan;

enum counterworks_profiler {
    COUNTERWORKS_RANGES = 0,     /* around launches or ranges, in passes */
    COUNTERWORKS_SAMPLES = 1,    /* over time, in one pass */
    COUNTERWORKS_PC_SAMPLES = 2, /* captures alone: there is no plan for the last three */
    COUNTERWORKS_INSTRUCTIONS = 3,
    COUNTERWORKS_TRACE = 4
};

enum counterworks_preference {
    COUNTERWORKS_WHOLE,  /* each value that fits a pass has one with all its counters; of such plans the shortest */
    COUNTERWORKS_PASSES, /* the fewest passes */
    COUNTERWORKS_TIME    /* the least time to set passes up and to read them */
};

struct counterworks_names {
    size_t count;
    const char *const *names;
};

struct counterworks_plan_options { /* used during the call alone, with all that they point to */
    size_t size;
    enum counterworks_profiler profiler; /* COUNTERWORKS_RANGES or COUNTERWORKS_SAMPLES */
    enum counterworks_preference prefer;
    uint32_t most_passes; /* 0: any number; for samples always 1. COUNTERWORKS_WHOLE gives way to COUNTERWORKS_PASSES
                             where that keeps to it */
    bool drop;            /* what to do with a plan that is longer. false: COUNTERWORKS_UNSUPPORTED. true: metrics are
                             taken in the order given, each that needs a pass too many is left out, and the chip's
                             listener is told */
    bool native;          /* NVIDIA's host library checks each pass, and one that it refuses is split. Its config image
                             for these passes is kept in the plan, so that the GPU's machine needs no such library. It
                             is loaded once for the process. false: the plan is the same wherever it is made */
    const char *native_library;                /* its path. NULL: its usual places; where it is not found, as without */
    size_t together_count;                     /* of groups of metrics */
    const struct counterworks_names *together; /* metrics of the plan; all counters of a group share a pass */
};
#define COUNTERWORKS_PLAN_OPTIONS                                                                                      \
    {                                                                                                                  \
        sizeof(struct counterworks_plan_options), COUNTERWORKS_RANGES, COUNTERWORKS_WHOLE, 0, false, false, NULL, 0,   \
            NULL                                                                                                       \
    }

/* Plans metrics by their full names; one that stands twice counts once. NULL options are the usual ones.
 * COUNTERWORKS_USAGE for an unknown name or none, COUNTERWORKS_UNSUPPORTED for what cannot be collected or kept
 * together. */
enum counterworks_status counterworks_plan_make(struct counterworks_plan **plan, const struct counterworks_chip *chip,
                                                const char *const *names, size_t count,
                                                const struct counterworks_plan_options *options,
                                                struct counterworks_error *error);
void counterworks_plan_free(struct counterworks_plan *plan);

/* How many passes it has, and no plan for its metrics has fewer than `bound`. */
uint32_t counterworks_plan_passes(const struct counterworks_plan *plan, uint32_t *bound);
/* The metrics of the plan, each once, in the order given: their passes, ascending, numbered from 0. *whole: each value
 * that the metric is computed from has a pass with all its counters. `name`, `passes` and `whole` may be NULL. */
size_t counterworks_plan_metric_count(const struct counterworks_plan *plan);
uint32_t counterworks_plan_metric(const struct counterworks_plan *plan, size_t index, const char **name,
                                  const uint32_t **passes, bool *whole);
/* Writes the config image, for capture-agent. */
enum counterworks_status counterworks_plan_save(const struct counterworks_plan *plan, const char *path,
                                                struct counterworks_error *error);

/* ---- captures --------------------------------------------------------------------------------------------------- */

struct counterworks_capture;

/* Reads a whole file. A capture that was cut off has what was whole, and says so. */
enum counterworks_status counterworks_capture_open(struct counterworks_capture **capture, const char *path,
                                                   struct counterworks_error *error);
/* The same of bytes in memory, which must outlive it; `source` stands in messages. */
enum counterworks_status counterworks_capture_read(struct counterworks_capture **capture, const void *data, size_t size,
                                                   const char *source, struct counterworks_error *error);
void counterworks_capture_close(struct counterworks_capture *capture);

/* Joins captures of one plan, of one kind of samples, or traces, into a new one. */
enum counterworks_status counterworks_capture_merge(const char *output, const char *const *paths, size_t count,
                                                    struct counterworks_error *error);

struct counterworks_capture_info {
    size_t size; /* of this struct, filled in by the caller */
    const char *chip;
    enum counterworks_profiler profiler;
    bool complete;      /* the capture came to its end; else it has what was whole */
    uint64_t row_count; /* ranges, or samples over time; 0 for the other profilers */
    uint64_t dropped;   /* ranges or samples that were lost */
    uint32_t device_count, pass_count;
    uint32_t metric_count; /* that the plan names */
    const char *const *metrics;
};
void counterworks_capture_describe(const struct counterworks_capture *capture, struct counterworks_capture_info *info);

struct counterworks_row {      /* a range, or a sample over time */
    size_t size;               /* of this struct, filled in by the caller */
    const char *name, *kernel; /* of a range; "" for a sample, and where there is none */
    uint32_t device, process;  /* process: 0 for a sample */
    uint64_t start_ns, end_ns; /* since 1970, or of the GPU's clock where that could not be compared */
    uint32_t grid[3], block[3];
};
/* The index is less than row_count. */
void counterworks_capture_row(const struct counterworks_capture *capture, uint64_t index, struct counterworks_row *row);

/* Calls `take` for each metric of the chip whose counters the capture has all, until that returns false. The name is
 * valid during the call. Errors are those of counterworks_evaluate(). */
enum counterworks_status counterworks_capture_metric_each(const struct counterworks_capture *capture,
                                                          const struct counterworks_chip *chip,
                                                          bool (*take)(void *user, const char *name), void *user,
                                                          struct counterworks_error *error);

/* ---- values ----------------------------------------------------------------------------------------------------- */

enum counterworks_value_status { /* in the order of gravity */
                                 COUNTERWORKS_VALUE_OK,
                                 COUNTERWORKS_VALUE_MIXED_PASSES, /* its counters come from different passes */
                                 COUNTERWORKS_VALUE_MULTIPLEXED,  /* the mean of launches counted in one pass each */
                                 COUNTERWORKS_VALUE_ZERO_DENOMINATOR, /* a denominator is zero */
                                 COUNTERWORKS_VALUE_OVERFLOW,     /* a counter overflowed in at least one instance */
                                 COUNTERWORKS_VALUE_INCOMPLETE,   /* a pass is missing */
                                 COUNTERWORKS_VALUE_IMPLAUSIBLE,  /* a share of more than the whole */
                                 COUNTERWORKS_VALUE_UNAVAILABLE,  /* the device does not have it */
                                 COUNTERWORKS_VALUE_NOT_COLLECTED /* the capture lacks a counter that it needs, or the
                                                                     options a duration */
};
/* "ok", "mixed passes"... */
const char *counterworks_value_status_text(enum counterworks_value_status status);

struct counterworks_evaluate_options {
    size_t size;
    double frame_ns, region_ns; /* durations of the user's frame and region, 0 for none */
};
#define COUNTERWORKS_EVALUATE_OPTIONS                                                                                  \
    {                                                                                                                  \
        sizeof(struct counterworks_evaluate_options), 0, 0                                                             \
    }

/* Evaluates metrics on every row of a capture of ranges or samples: values[m * row_count + r] and statuses[...] are
 * those of metric m and row r. A missing value is NaN. A ratio over zero is zero, and so is zero over zero; anything
 * else over zero is NaN. Counters that the capture lacks are no error: their metrics read "not collected", as
 * those of other passes do of a range that was multiplexed. NULL options are the usual ones. COUNTERWORKS_USAGE for an
 * unknown name, COUNTERWORKS_INPUT for a capture of another chip, COUNTERWORKS_UNSUPPORTED for one without metrics.
 * Whoever listens to the chip (counterworks_chip_tell) is told of an incomplete capture, of one that was planned with
 * another version of the database, and of metrics without a formula.
 */
enum counterworks_status counterworks_evaluate(const struct counterworks_capture *capture,
                                               const struct counterworks_chip *chip, const char *const *names,
                                               size_t count, const struct counterworks_evaluate_options *options,
                                               double *values, int8_t *statuses, struct counterworks_error *error);

/* ---- requests --------------------------------------------------------------------------------------------------- */

enum counterworks_form {
    COUNTERWORKS_TABLE,   /* rows for programs; ranges by themselves unless `by` groups them */
    COUNTERWORKS_LIST,    /* rows for people, kernels unless `by` says otherwise, with limiter and first finding */
    COUNTERWORKS_STACKS,  /* time or samples by stack, for flame graphs */
    COUNTERWORKS_MONITOR, /* the kernels' metrics, for a monitor */
    COUNTERWORKS_TIMELINE /* lanes over time, for viewers */
};

/* Which part of a capture is wanted, and how. Plain data of the caller's; a member that is zero asks for nothing.
 * Which members a capture takes depends on its profiler; COUNTERWORKS_USAGE for others. */
struct counterworks_request {
    size_t size; /* of this struct */
    enum counterworks_form form;
    /* Which launches: ranks of a job as in "0-7,12"; ranges by numbers as in "0-9,12" or by name; kernels by name,
     * which may be repeated. A name is a whole name or its form in a table, else a part of names, else a regular
     * expression. In a trace, ranges are NVTX ranges with all in them. */
    const char *ranks, *ranges;
    struct counterworks_names kernels, excluded;
    /* Rows: "kernel", "family", "range", "fold", "nvtx", "device", "rank" or "stream"; of a trace also "process",
     * "copy", "call", "graph" or "nvtx-each". */
    const char *by;
    const char *sort;                  /* a column or a metric; ":asc" or ":desc" behind it */
    struct counterworks_names filters; /* formulas over columns and metrics, all of which are to be true */
    uint32_t top;                      /* at most so many rows; 0: as many as suit the form */
    const char *kinds;                 /* of a trace: kinds of rows, separated by commas */
    /* Metrics by full name; none: those of the plan. `every`: all whose counters the capture has. */
    bool every;
    struct counterworks_names metrics;
    double frame_ns, region_ns; /* durations of the user's frame and region, 0 for none */
    bool single;                /* one table alone, as CSV has */
    /* Advice: rules of one's own beside the shipped ones, a YAML file or a folder of them, or NULL; findings that would
     * save less of a kernel's time than `least_gain`, 0 to 1, are left out. */
    const char *rules;
    double least_gain;
    bool full;   /* all that HDF5 keeps: metrics have descriptions, and a join all of its tables */
    bool wide;   /* of a list: each row in full */
    bool quiet;  /* of a list: nothing but the data */
    bool values; /* of a list: a file has all metrics, so that it shows those that are named alone */
};

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
