/* The launches of two runs of one program: which of one is which of the other. One run was traced, so its times are the
 * program's; the other was counted or sampled.
 *
 * Launches are matched by kernel, grid and block, by place (rank or process, and device), and by the NVTX ranges around
 * them. Among equal ones, the n-th of one run is the n-th of the other, as application replay joins its runs. A launch
 * without such a twin is like the launches of its kernel, grid and block. */
#ifndef CW_EVAL_JOIN_JOIN_H
#define CW_EVAL_JOIN_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct cw_join_run {
    uint32_t count;
    const struct cw_join_launch {
        const char *kernel; /* as the driver has it */
        const char *path;   /* of the NVTX ranges around it, "" for none */
        uint32_t place;     /* a number, the same in both runs */
        uint32_t grid[3], block[3];
    } * launches;    /* in the order of the program */
    bool unnumbered; /* some were left out before others: the n-th is not the program's n-th */
};

enum cw_join_how {
    CW_JOIN_TWIN,        /* the same launch */
    CW_JOIN_FEWER,       /* like its kernel: the other run has fewer such launches */
    CW_JOIN_OTHER_PATH,  /* like its kernel: the other run has it in other NVTX ranges */
    CW_JOIN_OTHER_PLACE, /* like its kernel: on other ranks or devices */
    CW_JOIN_UNNUMBERED,  /* like its kernel: nobody knows which launch it is */
    CW_JOIN_OTHER_SHAPE, /* like none: the kernel has other grids or blocks there */
    CW_JOIN_NO_KERNEL,   /* like none: the other run has no such kernel */
    CW_JOIN_HOW__COUNT
};
/* Words for files: "launch", "fewer", ... */
extern const char *const cw_join_how_names[CW_JOIN_HOW__COUNT];
/* Whether the launch is like a kernel of the other run. */
static inline bool cw_join_has_kernel(enum cw_join_how how)
{
    return how < CW_JOIN_OTHER_SHAPE;
}

#define CW_NO_TWIN UINT32_MAX

struct cw_join {
    uint32_t shape_count;
    bool paths; /* both runs have NVTX ranges, so that these count */
    struct cw_join_side {
        uint8_t *how;    /* [launch], enum cw_join_how */
        uint32_t *twin;  /* the launch of the other run, or CW_NO_TWIN */
        uint32_t *shape; /* a number for its kernel, grid and block, the same in both runs */
        uint64_t counts[CW_JOIN_HOW__COUNT];
    } a, b;
};

/* Matches both runs; everything lives in `arena`. Takes n log n time for n launches, for any names. CW_ERR_NOMEM alone.
 */
enum cw_status cw_join_match(struct cw_join *join, const struct cw_join_run *a, const struct cw_join_run *b,
                             struct cw_arena *arena, struct cw_error *err);

/* Launches of one kernel, grid and block that are joined in one way. */
struct cw_join_left {
    enum cw_join_how how;
    uint32_t shape;
    uint32_t first; /* of these launches */
    uint64_t count;
};
/* A side's launches without a twin, most launches first. */
enum cw_status cw_join_list_left(const struct cw_join_left **left, uint32_t *count, const struct cw_join *join,
                                 const struct cw_join_side *side, uint32_t launches, struct cw_arena *arena,
                                 struct cw_error *err);

#endif
