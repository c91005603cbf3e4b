/* PC samples of another run of a traced program, by the kernels of the trace. */
#ifndef CW_EVAL_JOIN_JOINED_SAMPLES_H
#define CW_EVAL_JOIN_JOINED_SAMPLES_H

#include "eval/join/joined.h"
#include "eval/samples/instructions.h"

/* A source line of a kernel, or the kernel where its code has no lines. */
struct cw_joined_line {
    const char *function, *name; /* as the driver has it, as people read it */
    double ns;                   /* of the kernel in the trace; 0: it is not there */
    double share;                /* of the kernel's samples */
    uint64_t samples, all;       /* of the line, and of its kernel */
    const char *file;            /* "" not known */
    const char *reason;          /* for which most of these samples wait; of the line */
    uint32_t line, rank;         /* rank: 0 for a kernel's hottest */
};

enum { CW_JOINED_LINES = 3 }; /* of a kernel */
struct cw_joined_samples {
    size_t count;
    const struct cw_joined_line *lines; /* by the time of their kernel in the trace, then the hottest first */
    uint64_t samples, elsewhere;        /* all, and those of kernels that the trace does not have */
};

/* Joins them by the kernels' functions; what is given must stay, all lives in `arena`. CW_ERR_NOMEM alone. */
enum cw_status cw_joined_samples_make(struct cw_joined_samples *out, const struct cw_joined *joined,
                                      const struct cw_instructions *samples, struct cw_arena *arena,
                                      struct cw_error *err);

#endif
