/* Stacks for flame graphs. A stack of ranges is NVTX path and kernel, weighed in ns, less those of the ranges within
 * it; a stack of PC samples is function, line and stall reason, weighed in samples. */
#ifndef CW_EVAL_OUTPUT_STACKS_H
#define CW_EVAL_OUTPUT_STACKS_H

#include <stdio.h>

#include "eval/ranges/groups.h"
#include "eval/samples/instructions.h"

/* Set one of `ranges` and `samples`. */
struct cw_stacks_output {
    const char *source;             /* the capture's file name, for people */
    const struct cw_groups *ranges; /* each range by itself, or NULL */
    const struct cw_instructions *samples;
};

/* How many ranges the stacks leave out, as their time is unknown or impossible. */
uint32_t cw_stacks_left_out(const struct cw_groups *ranges);

/* Both are cw_file_render and take a struct cw_stacks_output. CW_ERR_NOMEM alone. */

/* A line for each stack: "step;forward;gemm 1234". Frames are text as CW_TEXT_FRAME. */
enum cw_status cw_folded_write(FILE *out, const void *output, struct cw_error *err);
/* The JSON that speedscope.app reads: launches in their order, or user ranges by path, a profile for each device;
 * samples as one profile. */
enum cw_status cw_speedscope_write(FILE *out, const void *output, struct cw_error *err);

#endif
