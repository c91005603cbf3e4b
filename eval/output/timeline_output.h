/* Output of a trace. */
#ifndef CW_EVAL_OUTPUT_TIMELINE_OUTPUT_H
#define CW_EVAL_OUTPUT_TIMELINE_OUTPUT_H

#include "eval/output/group_columns.h"
#include "eval/output/output.h"
#include "eval/timeline/memory.h"
#include "eval/timeline/groups.h"
#include "eval/timeline/usage.h"
#include "json/json_tree.h"

/* Groups to show, in this order. */
struct cw_timeline_rows {
    struct cw_timeline_groups groups;
    uint32_t *rows;
    uint32_t count, left; /* left: groups that are not shown */
    uint32_t dropped;     /* groups that a filter left out */
};

/* At most `top` groups, 0: all; `keep`: the items to group, NULL: all; `spread` as for cw_timeline_group. All lives in
 * `arena`. CW_ERR_NOMEM alone. */
enum cw_status cw_timeline_rows_make(struct cw_timeline_rows *rows, const struct cw_timeline *timeline,
                                     enum cw_timeline_by by, const struct cw_timeline_keep *keep, bool spread,
                                     size_t top, struct cw_arena *arena, struct cw_error *err);

/* Facts of a trace beside its list. Lists that tell nothing new, such as the streams of a trace with one, have no rows.
 */
struct cw_timeline_sections {
    struct cw_timeline_usage usage;
    struct cw_timeline_extra extra; /* of the whole trace alone */
    struct cw_timeline_rows copies, ranges, streams, processes, calls;
};
/* Takes the arguments of cw_timeline_rows_make. CW_ERR_NOMEM, or an error of reading rows again. */
enum cw_status cw_timeline_sections_make(struct cw_timeline_sections *sections, const struct cw_timeline *timeline,
                                         const struct cw_timeline_keep *keep, size_t top, struct cw_arena *arena,
                                         struct cw_error *err);

struct cw_timeline_output {
    const struct cw_timeline *t;
    const char *source;                          /* the file's name, for people */
    const char *words;                           /* how to name it in another command */
    const struct cw_timeline_rows *list;         /* by --by, else by kernel */
    const struct cw_timeline_sections *sections; /* NULL: the list alone */
    bool wide;
    const struct cw_timeline_keep *keep; /* the items to show, and the times that the numbers are of; NULL: all */
};

/* Adds a table for each of the kinds (CW_TRACE_BIT; it may have no rows) to `output`: its rows with the facts that the
 * timeline joined to them. HDF5 also gets tables of texts. Rows outside of `keep` are left out, and so are kinds that
 * `keep` cannot judge, and columns without any known cell. To be freed, also after a failure. CW_ERR_NOMEM, or
 * CW_ERR_INPUT for damaged rows of a kind that the timeline does not need; `err` stays in use: a row that cannot be
 * read later sets it. */
struct cw_timeline_tables;
enum cw_status cw_timeline_tables_make(struct cw_timeline_tables **tables, struct cw_output *output,
                                       const struct cw_timeline *timeline, const struct cw_timeline_keep *keep,
                                       uint64_t kinds, struct cw_arena *arena, struct cw_error *err);
void cw_timeline_tables_free(struct cw_timeline_tables *tables);
/* A group as a row of numbers (eval/output/group_columns.h) without texts but the kernel's, and the kind of its
 * columns. */
struct cw_group_row cw_timeline_group_row(const struct cw_timeline_groups *groups, uint32_t group);
enum cw_group_kind cw_timeline_group_kind(enum cw_timeline_by by);
/* Adds a table of groups to `output`. */
enum cw_status cw_timeline_rows_table(struct cw_output *output, const struct cw_timeline_rows *rows,
                                      struct cw_arena *arena, struct cw_error *err);

/* Causes of idle time: a sentence, and two words at most ("own work"). */
extern const char *const cw_timeline_cause_texts[CW_IDLE__COUNT], *const cw_timeline_cause_names[CW_IDLE__COUNT];

/* Prints lines about the rows that the trace lacks: lost rows by kind, processes that ended before they sent all, and
 * windows outside of which nothing was traced. Write errors stay in the stream (ferror). */
void cw_timeline_put_loss(const struct cw_timeline *timeline, FILE *out);

/* For people: the traced program, lost rows, how busy the GPUs were, why they were idle, and lists. Write errors stay
 * in the stream (ferror). */
void cw_timeline_print(const struct cw_timeline_output *output, const struct cw_terminal_style *style, FILE *out);
/* The kinds, rows and record counts of a trace, and the errors of its clocks, for metric-eval show. Lines of a terminal
 * break between words. CW_ERR_NOMEM alone; the tree is NULL then. */
enum cw_status cw_timeline_show(const struct cw_timeline *timeline, FILE *out, struct cw_error *err);
json_t *cw_timeline_manifest(const struct cw_timeline *timeline);

#endif
