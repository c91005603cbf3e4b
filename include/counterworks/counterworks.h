/* libcounterworks: metrics of NVIDIA GPUs by name, plans to collect them, and their values in captures.
 *
 *     counterworks_open             a data folder: its chips and sets of metrics
 *     counterworks_chip_open        the metrics of a chip; you may add your own
 *     counterworks_plan_make        the counters to collect in each pass; saved as a config image (.cwc)
 *     counterworks_capture_open     a capture written by capture-agent (.cwd)
 *     counterworks_evaluate         values and statuses of metrics, in arrays of the caller
 *
 * Functions return a status. On failure they fill in the caller's error, unless that is NULL, and set their result to
 * NULL. No function prints, and none ends the program. There is no global state (except NVIDIA's host library, which a
 * plan may use): several threads may use different handles at a time. They may also share one handle in functions that
 * take it as const.
 *
 * Numbers have a decimal point, whatever the program's locale. A call takes up to 200 KB of the thread's stack.
 *
 * Strings and other data from a handle live as long as the handle. Text is UTF-8. Initialise options with
 * COUNTERWORKS_..._OPTIONS: they begin with their size, so that a program works with later versions of the library. */
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

/* Returns the version: "0.1.0". */
const char *counterworks_version(void);

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
/* Sets a listener for notices: `tell` gets each notice of functions that take the chip, as one line without its end,
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

/* Joins captures of one plan, of one kind of samples, or traces, into a new one. */
enum counterworks_status counterworks_capture_merge(const char *output, const char *const *paths, size_t count,
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
                                 COUNTERWORKS_VALUE_IMPLAUSIBLE,  /* a share above the whole */
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
 * COUNTERWORKS_USAGE for an unknown name, COUNTERWORKS_INPUT for a capture of another chip, COUNTERWORKS_UNSUPPORTED
 * for a capture without metrics. The chip's listener (counterworks_chip_tell) gets notices about an incomplete capture,
 * a capture planned with another version of the database, and metrics without a formula. */
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
