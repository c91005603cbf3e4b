/* Output of a trace that was joined with captures of the same program. */
#ifndef CW_EVAL_OUTPUT_JOINED_H
#define CW_EVAL_OUTPUT_JOINED_H

#include "eval/join/joined.h"
#include "eval/output/output.h"
#include "eval/output/terminal.h"

struct cw_joined_output {
    const char *trace; /* name of its file, for people; the ranges' name is the result's `source` */
    const struct cw_joined *joined;
    const struct cw_joined_rows *rows;
    uint32_t left_count, extra_count;
    const struct cw_join_left *left, *extra; /* launches and ranges without a twin */
    const char *samples_source;              /* name of the file of PC samples; NULL: none */
    struct cw_joined_samples samples;
};

/* Lists the launches and ranges without a twin. CW_ERR_NOMEM alone. */
enum cw_status cw_joined_output_make(struct cw_joined_output *output, const struct cw_joined *joined,
                                     const struct cw_joined_rows *rows, struct cw_arena *arena, struct cw_error *err);

/* ---- for people ---- */

/* Names both captures, and how much of the trace was joined. */
void cw_joined_put_summary(const struct cw_output_rows *rows, FILE *out);
/* Lists the launches and ranges without a twin, and why. CW_ERR_NOMEM alone. */
enum cw_status cw_joined_put_left(const struct cw_output_rows *rows, const struct cw_terminal_style *style, FILE *out,
                                  struct cw_error *err);

/* The hottest lines of the kernels, if there are PC samples. */
void cw_joined_put_samples(const struct cw_output_rows *rows, const struct cw_terminal_style *style, FILE *out);

/* ---- for files ---- */

/* Adds tables behind the first one of cw_output_groups: launches without a twin, the hottest lines of PC samples and,
 * with `all`, every launch of the trace with the numbers of its range and row. They live in `arena`. CW_ERR_NOMEM
 * alone. */
enum cw_status cw_joined_add_tables(struct cw_output *output, const struct cw_output_rows *rows, bool all,
                                    struct cw_arena *arena, struct cw_error *err);

/* Every launch of the trace as a row with the metrics of its range or, if it has none, of its kernel. `ranges`: the
 * result of all ranges; the rows' result: of kernels. All else lives in `arena`. CW_ERR_NOMEM alone. */
enum cw_status cw_output_joined_launches(struct cw_output *output, const struct cw_output_rows *rows,
                                         const struct cw_result *ranges, const char *const *descriptions,
                                         struct cw_arena *arena, struct cw_error *err);

#endif
