/* Tables of a capture, and a writer for each format that takes any of them. */
#ifndef CW_EVAL_OUTPUT_OUTPUT_H
#define CW_EVAL_OUTPUT_OUTPUT_H

#include "eval/output/table.h"
#include "eval/ranges/groups.h"
#include "eval/result.h"
#include "eval/samples/instructions.h"
#include "eval/samples/source.h"
#include "eval/sections.h"

enum cw_terminal_bars { CW_BARS_NONE, CW_BARS_ASCII, CW_BARS_BLOCKS };

struct cw_terminal_style {
    unsigned width; /* columns of the terminal; 0: as wide as the text needs */
    bool bold;      /* terminal escapes for headings */
    size_t top;     /* instructions to show */
    enum cw_terminal_bars bars;
    bool quiet;               /* the data alone */
    struct cw_source *source; /* text of source lines, or NULL */
};

enum { CW_OUTPUT_TABLES = 64 };

struct cw_output {
    const struct cw_counter_data *data; /* the capture */
    const char *source;                 /* its file's name, for people */
    size_t table_count;
    struct cw_output_table tables[CW_OUTPUT_TABLES];
    struct cw_output_table metrics; /* of the first table, if it has values */
    struct cw_output_table passes;  /* their durations, in HDF5's group of the capture; without columns: none */
    /* Prints tables for people: rounds numbers, gives them prefixes (GB/s), and explains status marks at the end. Write
     * errors stay in the stream (ferror); CW_ERR_NOMEM alone. */
    enum cw_status (*print)(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err);
    const void *result; /* for `print` */
};

/* ---- tables ----------------------------------------------------------------------------------------------------- */

/* These functions make the tables of a result. They borrow the result, and `descriptions`: a text for each metric, or
 * NULL. The rest lives in `arena`; `output` must stay in its place. CW_ERR_NOMEM alone. */

/* Metrics of ranges; on a terminal for each range a heading (name, grid, block, device) and its metrics. */
enum cw_status cw_output_ranges(struct cw_output *output, const struct cw_result *result,
                                const char *const *descriptions, struct cw_arena *arena, struct cw_error *err);
/* Groups of ranges, such as kernels, as rows; on a terminal a list, or each group in full if there is one or `wide`. */
struct cw_advice;
struct cw_advice_groups;
struct cw_joined_output; /* eval/output/joined.h */
struct cw_output_rows {
    const struct cw_counter_data *data; /* the capture */
    const struct cw_groups *groups;
    uint32_t *rows;       /* group numbers, in the order of the list */
    uint32_t count, left; /* number of rows, and of groups beyond them */
    uint32_t dropped;     /* groups that a filter took out */
    uint32_t unknown;     /* dropped groups without a value to judge by */
    /* Metrics on the groups' data: row i belongs to the group rows[i]. */
    const struct cw_result *result;
    uint32_t asked; /* the user asked for so many first metrics; others are shown if they have a value */
    const struct cw_sections *sections;           /* may have no sections */
    const struct cw_advice *advice;               /* on groups that are kernels or ranges, or NULL */
    const struct cw_advice_groups *advice_groups; /* on other groups, or NULL */
    const char *const *readings; /* for each metric the meaning of a high or low value, or NULL; may be NULL */
    const char *words;           /* the captures' names, for another command */
    const struct cw_joined_output *joined; /* the rows are launches of a trace; NULL: ranges */
    bool wide;
};
/* A group as a row of numbers (eval/output/group_columns.h). */
struct cw_group_row;
struct cw_group_row cw_group_row_of(const struct cw_groups *groups, uint32_t group);
enum cw_status cw_output_groups(struct cw_output *output, const struct cw_output_rows *rows,
                                const char *const *descriptions, struct cw_arena *arena, struct cw_error *err);
/* Prints each range of a result in full: a heading and its metrics, in sections where they are many. `rows`: the groups
 * that the ranges are, or NULL. CW_ERR_NOMEM alone. */
enum cw_status cw_ranges_print(const struct cw_result *result, const struct cw_output_rows *rows,
                               const struct cw_terminal_style *style, FILE *out, struct cw_error *err);
/* Metrics of samples, of a streamed result, and launches; on a terminal for each device the mean, least and greatest
 * value of each metric, then the launches by kernel, longest first. */
enum cw_status cw_output_samples(struct cw_output *output, const struct cw_result *result,
                                 const char *const *descriptions, struct cw_arena *arena, struct cw_error *err);
/* Samples of instructions and their batches, or records of SASS metrics and their values; on a terminal source lines,
 * functions, stall reasons and instructions, the hottest first. */
void cw_output_instructions(struct cw_output *output, const struct cw_instructions *instructions);

/* "long_scoreboard" of "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued". Returns `text`. */
enum { CW_REASON_SIZE = 64 };
const char *cw_reason_short(const char *reason, char text[CW_REASON_SIZE]);

/* ---- formats ---------------------------------------------------------------------------------------------------- */

/* All are cw_file_render, and `output` is a struct cw_output. Write errors stay in the stream (ferror). */

/* The first table as CSV (RFC 4180, texts as CW_TEXT_CELL): a line of names, then a line for each row. Behind the
 * columns of the row stand `status` and a column for each metric, of the metric's name. `status` lists the metrics
 * whose value is not ok: METRIC=STATUS;METRIC=STATUS. A table with a spread has METRIC:occurrences and METRIC:spread
 * behind each metric. Numbers are the shortest decimals that read back the same, or inf, -inf, nan. CW_ERR_NOMEM alone.
 */
enum cw_status cw_csv_write(FILE *out, const void *output, struct cw_error *err);

/* {"capture": {...}, "TABLE": [{...}, ...], ...}: an object for each row. Its metrics are a list of objects with name,
 * unit, value and status. If the list of metrics stands before the rows (`once`), a row has lists of values and
 * statuses. Characters that a terminal would obey are escaped (CW_TEXT_JSON). CW_ERR_NOMEM alone. */
enum cw_status cw_json_write(FILE *out, const void *output, struct cw_error *err);

/* The same with a line for each value: the columns of its row, metric, unit, value and status, and occurrences and
 * spread where the table has them. A table without metrics has a line for each row. */
enum cw_status cw_csv_write_tidy(FILE *out, const void *output, struct cw_error *err);
/* The same in the shape of version 0.1. */
enum cw_status cw_csv_write_0(FILE *out, const void *output, struct cw_error *err);
/* The lines of cw_csv_write_tidy() as JSON, one object each (data/schemas/rows.schema.json). CW_ERR_NOMEM alone. */
enum cw_status cw_ndjson_write(FILE *out, const void *output, struct cw_error *err);

/* HDF5 that h5py, h5netcdf, netCDF4 and xarray open with named coordinates. Writes a temporary file beside `path` and
 * renames it, so `path` holds the old or the new file and never a part. The same tables give the same bytes.
 *
 *     /                    attributes title, conventions "counterworks-3", chip, device, tool_version, created, source,
 *                          complete and simulated ("yes" or "no")
 *     /GROUP/COLUMN        [row] for each column. The first column is the dimension scale of the rows; instructions
 * have the rows' numbers in its place. A column across an axis has the axis as its second dimension (grid and block:
 * [range, xyz]). Times of a wall clock have attributes units and calendar, so that readers take them for dates, and
 * long_name, which names the clock /GROUP/metric        [metric] string, dimension scale; unit, type, description
 * [metric] /GROUP/value         [row, metric] float64; /GROUP/status int8, attributes flag_values and flag_meanings
 *     /GROUP/occurrences   [row, metric] uint32, and /GROUP/spread float64, in captures with multiplexed ranges: the
 *                          number of ranges that counted the value, and the standard deviation over them
 *     /capture/manifest    string, JSON
 *     /capture/duration_ns [range, pass] float64, NaN for an untimed pass, with the scales range and pass
 *
 * A column with unknown numbers has the attribute _FillValue. Unknown times are -2^63, which xarray reads as no time,
 * and have valid_min instead. units is the unit of the numbers. index_into names a dataset of texts: the numbers are
 * its rows, and 0 is no text. flag_meanings gives the meanings of the numbers in flag_values or of the bits in
 * flag_masks, or the texts of a column that has few.
 *
 * Files of "counterworks-1" have the names of ranges as their dimension scale, and no numbers of ranges. Files before
 * "counterworks-3" name host_start_ns and host_end_ns of ranges and batches start_ns and end_ns, and have instructions
 * as datasets of compounds: /pc/samples, /pc/batches, /sass/records and /sass/values.
 *
 * The groups are range; group, of groups of ranges; pm (time_start has an attribute clock: "CLOCK_REALTIME" or "GPU")
 * and launch (with the same clock); pc, with the dimension sample, and pc/batch; sass, with the dimension record for
 * all columns but value, which has instance. */
enum cw_status cw_hdf5_write(const struct cw_output *output, const char *path, struct cw_error *err);

/* The same into the temporary file of a new file, which the caller opens and closes. */
struct cw_new_file;
enum cw_status cw_hdf5_make(const struct cw_output *output, const struct cw_new_file *file, struct cw_error *err);

/* errno of HDF5's failure in the call before; 0: the system reported none. */
int cw_hdf5_reason(void);
enum cw_status cw_hdf5_cannot_write(const char *path, const char *what, int reason, struct cw_error *err);

/* Call it first in a program that uses HDF5 for nothing else. HDF5 then closes no file at the end of the process, where
 * it would crash after a file that could not be written. */
void cw_hdf5_begin(void);

/* A summary of a capture for people: chip, devices, passes, counters, ranges, how it ended. */
void cw_capture_show(const struct cw_counter_data *data, const char *source, FILE *out);
/* A line for each device whose clocks moved while it was captured. */
void cw_capture_tell_clocks(const struct cw_counter_data *data, FILE *out);

#endif
