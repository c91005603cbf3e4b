/* Advice (eval/advice/advice.h) for people and for programs. */
#ifndef CW_EVAL_OUTPUT_ADVICE_H
#define CW_EVAL_OUTPUT_ADVICE_H

#include "eval/advice/advice.h"
#include "eval/output/output.h"

/* The sentence of a finding, with its numbers; not escaped. NULL when out of memory. */
const char *cw_advice_text(const struct cw_advice_finding *finding, struct cw_arena *arena);

/* The numbers of a group's ranges as --range takes them, "0-3,7". Returns `text`, or NULL if they do not fit. */
const char *cw_advice_ranges(const struct cw_group *group, char *text, size_t size);

struct cw_advice_view {
    const struct cw_advice *advice;        /* on kernels, or ranges */
    const struct cw_advice_groups *groups; /* families, or the groups of --by; NULL for JSON that has none */
    bool by_groups;                        /* the groups are shown, and not the kernels */
    const char *source;                    /* the capture's file name */
    const char *words;                     /* how to name the captures in another command */
    const char *samples;                   /* file name of the capture that gave the samples, or NULL */
    const char *rules;                     /* of the user, or NULL */
    size_t top;                            /* kernels or groups to show; 0: all */
    unsigned width;                        /* columns of the terminal; 0: 100 */
    bool bold;
    bool quiet; /* neither the first line nor hints at the end */
    struct cw_arena *arena; /* for texts */
};

/* Both are cw_file_render and take a struct cw_advice_view. Write errors stay in the stream (ferror); CW_ERR_NOMEM
 * alone. */

/* The largest families of the program, the findings that would save most in all, then each kernel or group with its
 * time, its limiter and its findings. */
enum cw_status cw_advice_print(FILE *out, const void *view, struct cw_error *err);
/* One object; docs/evaluation.md lists its members. Numbers have six digits. */
enum cw_status cw_advice_json(FILE *out, const void *view, struct cw_error *err);

#endif
