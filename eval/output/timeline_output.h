/* What is written of a trace. */
#ifndef CW_EVAL_OUTPUT_TIMELINE_OUTPUT_H
#define CW_EVAL_OUTPUT_TIMELINE_OUTPUT_H

#include "eval/output/group_columns.h"
#include "eval/output/output.h"
#include "eval/timeline/memory.h"
#include "eval/timeline/groups.h"
#include "eval/timeline/usage.h"
#include "json/json_tree.h"

/* Some groups, in the order in which they are shown. */
struct cw_timeline_rows {
    struct cw_timeline_groups groups;
    uint32_t *rows;
    uint32_t count, left; /* left: more than are shown */
    uint32_t dropped;     /* that a filter has taken out */
};

/* `top` at most, 0: all; `keep` NULL: of all; `spread` as cw_timeline_group. In `arena`. CW_ERR_NOMEM alone. */
enum cw_status cw_timeline_rows_make(struct cw_timeline_rows *rows, const struct cw_timeline *timeline,
                                     enum cw_timeline_by by, const struct cw_timeline_keep *keep, bool spread,
                                     size_t top, struct cw_arena *arena, struct cw_error *err);

/* What is said of a trace beside the list. Where there is nothing to say, as of streams where there is one, no rows. */
struct cw_timeline_sections {
    struct cw_timeline_usage usage;
    struct cw_timeline_extra extra; /* not within some times */
    struct cw_timeline_rows copies, ranges, streams, processes, calls;
};
/* As cw_timeline_use and cw_timeline_rows_make. CW_ERR_NOMEM, and what reading rows again may say. */
enum cw_status cw_timeline_sections_make(struct cw_timeline_sections *sections, const struct cw_timeline *timeline,
                                         const struct cw_timeline_keep *keep, const struct cw_timeline_window *within,
                                         uint32_t within_count, size_t top, struct cw_arena *arena,
                                         struct cw_error *err);

struct cw_timeline_output {
    const struct cw_timeline *t;
    const char *source;                          /* the file's name, for people */
    const char *words;                           /* how to name it in another command */
    const struct cw_timeline_rows *list;         /* by what was asked for, else by kernel */
    const struct cw_timeline_sections *sections; /* NULL: the list alone */
    bool wide;
    const struct cw_timeline_window *within; /* NULL: all of it; else what is shown is of these times alone */
    uint32_t within_count;
    const struct cw_timeline_keep *keep; /* what of it is shown; NULL: all */
};

/* Tables of the rows, one for each of the kinds (CW_TRACE_BIT), which may have none, with what the timeline
 * has joined to them, and for HDF5 the texts: added to those of `output`, whose formats write them. Of what is not to
 * be kept there is no row, and of kinds of which that is not known no table. What nothing is known of in any row is no column. To
 * be freed, also after a failure. CW_ERR_NOMEM, and CW_ERR_INPUT for damaged rows of a kind that the timeline does not
 * need; `err` stays: a row that cannot be read once more is told there. */
struct cw_timeline_tables;
enum cw_status cw_timeline_tables_make(struct cw_timeline_tables **tables, struct cw_output *output,
                                       const struct cw_timeline *timeline, const struct cw_timeline_keep *keep,
                                       uint64_t kinds, struct cw_arena *arena, struct cw_error *err);
void cw_timeline_tables_free(struct cw_timeline_tables *tables);
/* A group as a row of numbers (eval/output/group_columns.h), without texts but that of the kernel; and which columns such
 * rows have. */
struct cw_group_row cw_timeline_group_row(const struct cw_timeline_groups *groups, uint32_t group);
enum cw_group_kind cw_timeline_group_kind(enum cw_timeline_by by);
/* The same of groups. */
enum cw_status cw_timeline_rows_table(struct cw_output *output, const struct cw_timeline_rows *rows,
                                      struct cw_arena *arena, struct cw_error *err);

/* While what a GPU was idle, in words, and in two: "own work". */
extern const char *const cw_timeline_cause_texts[CW_IDLE__COUNT], *const cw_timeline_cause_names[CW_IDLE__COUNT];

/* Says in a line or some what the trace lacks: rows that were lost, and of which kinds; processes that ended before
 * they had sent all; windows in which alone it was traced. Write errors stay in the stream (ferror). */
void cw_timeline_put_loss(const struct cw_timeline *timeline, FILE *out);

/* For people: what the trace is of and what it lacks, what kept the GPUs busy, why they were idle, and more. Write
 * errors stay in the stream (ferror). */
void cw_timeline_print(const struct cw_timeline_output *output, const struct cw_terminal_style *style, FILE *out);
/* The kinds, rows and books of a trace, and what its clocks tell, as metric-eval show has them. Lines of a
 * terminal end between words. CW_ERR_NOMEM alone; the tree is NULL then. */
enum cw_status cw_timeline_show(const struct cw_timeline *timeline, FILE *out, struct cw_error *err);
json_t *cw_timeline_manifest(const struct cw_timeline *timeline);

#endif
