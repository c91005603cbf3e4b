/* A trace joined with a capture of the same program: each launch of the undisturbed run beside its counters from
 * another (eval/join/join.h), as rows with the times of the one and the counters of the other; and PC samples of
 * another run by the kernels of the trace. */
#ifndef CW_EVAL_JOIN_JOINED_H
#define CW_EVAL_JOIN_JOINED_H

#include "eval/join/join.h"
#include "eval/ranges/groups.h"
#include "eval/samples/instructions.h"
#include "eval/timeline/timeline.h"

struct cw_joined {
    const struct cw_timeline *timeline;
    const struct cw_counter_data *data; /* the ranges */
    bool of_ranges;                     /* launches are NVTX ranges */
    bool of_graphs;                     /* graphs are launches */
    double whole;                       /* ns of all launches; of NVTX ranges, which may be nested, of all kernels */
    uint32_t count;
    /* A kernel of the trace, a CUDA graph if it was counted as one range, or an NVTX range if user ranges were counted.
     */
    const struct cw_joined_launch {
        uint32_t event;   /* index into the timeline's gpu, a graph's first; or into its ranges */
        uint32_t process; /* of the trace */
        uint32_t stream;  /* index into the timeline's, or CW_TIMELINE_NONE */
        double ns;      /* of a graph, from its first start to its last end; of an NVTX range, the sum of its kernels */
        double gap;     /* ns in which nothing ran on the device before it; NaN of the first */
        double latency; /* ns from the begin of its launching call to its start; NaN not known */
    } * launches;       /* by process, and there in the order of launching */
    const char *unnumbered; /* why nobody knows which launch is which, "the trace has windows"; NULL if it is known */
    struct cw_join_run traced, counted; /* counted: range i of the data is its launch i */
    struct cw_join join;
    struct cw_groups each; /* no groups: durations of the ranges, and which were multiplexed */
};

/* Joins both; `timeline` and `data` must stay, everything lives in `arena`. Reads ranges that stay in their file:
 * CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_joined_make(struct cw_joined *joined, const struct cw_timeline *timeline,
                              const struct cw_counter_data *data, const struct cw_chip *chip, struct cw_arena *arena,
                              struct cw_error *err);

/* ---- rows ------------------------------------------------------------------------------------------------------- */

struct cw_joined_rows {
    /* Each row twice: `groups` are of launches, with the times of the trace, and `counted` of the ranges that stand for
     * them. The data of both is the same: the mean of these ranges. Rows of one kernel and shape have each range once.
     * In other rows, a launch without a twin has one of the ranges of its kernel, which take turns. */
    struct cw_groups groups, counted;
    const struct cw_joined_row {    /* beside its group */
        uint32_t twins, like, none; /* launches with a twin, launches like a counted kernel, and others */
        double gap, latency;        /* ns, means of launches that have them; NaN without any */
        double counted;             /* ns of a mean launch in the counted run; NaN not known */
        double beside; /* ns of a mean launch in the trace, of the launches in `counted`; NaN without any */
    } * rows;
    uint32_t left;    /* rows that are too many for files of this size: the shortest */
    double left_time; /* ns, of these */
};

/* Rows of all launches by kernel, family, NVTX path, device, rank or stream; at most `most`. Reads the ranges once
 * more: CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_joined_rows_make(struct cw_joined_rows *rows, const struct cw_joined *joined, enum cw_group_by by,
                                   uint32_t most, struct cw_arena *arena, struct cw_error *err);

/* How much longer the counted run took, as a part: 0.23 for 23 % more; 0 up to a tenth in either direction, or if it is
 * not known. */
double cw_joined_slower(const struct cw_joined_row *row);

/* ---- PC samples ------------------------------------------------------------------------------------------------- */

enum { CW_JOINED_LINES = 3 }; /* of a kernel */

struct cw_joined_samples {
    size_t count;
    /* A source line of a kernel, or the kernel if its code has no lines. */
    const struct cw_joined_line {
        const char *function, *name; /* as the driver has it, and for people */
        double ns;                   /* of the kernel in the trace; 0: it is not there */
        double share;                /* of the kernel's samples */
        uint64_t samples, all;       /* of the line, and of its kernel */
        const char *file;            /* "" not known */
        const char *reason;          /* of most of the line's samples */
        uint32_t line, rank;         /* rank: 0 for a kernel's hottest */
    } * lines;                       /* by the time of their kernel in the trace, then the hottest first */
    uint64_t samples, elsewhere;     /* all, and those of kernels that the trace lacks */
};

/* Joins samples by the kernels' functions; `joined` and `samples` must stay, everything lives in `arena`. CW_ERR_NOMEM
 * alone. */
enum cw_status cw_joined_samples_make(struct cw_joined_samples *out, const struct cw_joined *joined,
                                      const struct cw_instructions *samples, struct cw_arena *arena,
                                      struct cw_error *err);

#endif
