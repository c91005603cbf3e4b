/* Columns of groups of ranges or of a trace: one table for --sort and --filter, their messages, files, and the lists of
 * a terminal. A column that both have stands in the same place under the same name. */
#ifndef CW_EVAL_OUTPUT_GROUP_COLUMNS_H
#define CW_EVAL_OUTPUT_GROUP_COLUMNS_H

#include "eval/output/table.h"
#include "eval/output/terminal.h"

/* The kinds of groups that a column belongs to. */
enum cw_group_kind {
    CW_GROUPS_OF_RANGES = 1,
    CW_GROUPS_OF_KERNELS = 2, /* of a trace: kernels alone */
    CW_GROUPS_OF_ITEMS = 4,   /* of a trace: any GPU work, such as by stream or copy */
    CW_GROUPS_OF_CALLS = 8,   /* of a trace */
    CW_GROUPS_OF_NVTX = 16,   /* of a trace */
    CW_GROUPS_OF_GRAPHS = 32, /* of a trace: CUDA graphs */
    CW_GROUPS_JOINED = 64     /* of a trace with the metrics of ranges */
};

/* A group as a row. Times are ns. Unknown numbers are NaN, or UINT64_MAX in integers. */
struct cw_group_row {
    const char *name, *kernel; /* kernel: as the driver names it, "" unless the groups are kernels */
    uint64_t device;           /* number; UINT64_MAX: several devices */
    uint64_t stream;           /* as the driver names it; UINT64_MAX: several streams, or unknown */
    uint64_t launches, failed, ranges, nodes, other_thread;
    double total, share, mean, median, least, greatest, deviation; /* of launches; share: of the whole time, 0 to 1 */
    double spread;                                                 /* deviation / mean */
    double bytes, own;                                             /* own: outside of ranges within it */
    double wall, fastest_wall, median_wall, slowest_wall;          /* of NVTX ranges, or of launches of a graph */
    const char *slowest_name;
    int64_t slowest_start; /* INT64_MIN unknown */
    const uint32_t *grid, *block;
    uint32_t joined, joined_by_kernel, not_joined;
    double gap, latency, counted;
};

struct cw_group_column {
    const char *name;               /* in --sort, --filter and lists, NULL: not there */
    struct cw_output_column column; /* in files; no file has a column without formats */
    unsigned kinds;                 /* with this column, enum cw_group_kind */
};
extern const struct cw_group_column cw_group_columns[];
extern const size_t cw_group_column_count;

/* The column of a kind by its name for --sort and --filter; NULL for none. "name" is no column of numbers. */
const struct cw_group_column *cw_group_column_find(enum cw_group_kind kind, const char *name, size_t length);
/* "launches, total, share", the columns of a kind. Returns `text`. */
enum { CW_GROUP_COLUMN_NAMES = 240 };
const char *cw_group_column_names(enum cw_group_kind kind, char text[CW_GROUP_COLUMN_NAMES]);
/* The number in a column; NaN unknown. */
double cw_group_column_value(const struct cw_group_column *column, const struct cw_group_row *row);
/* The number as lists show it: "1.2 ms", "3 kB", "12.3%", "1,024". Returns `text`. */
const char *cw_group_column_text(const struct cw_group_column *column, const struct cw_group_row *row,
                                 char text[CW_TIME_TEXT_SIZE]);
/* The columns of files for any of `kinds`. They live in `arena`; NULL when out of memory. */
const struct cw_output_column *cw_group_columns_of(unsigned kinds, size_t *count, struct cw_arena *arena);

#endif
