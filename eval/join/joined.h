/* A trace joined with a capture of ranges of the same program: each launch of the undisturbed run beside what was
 * counted of it in others (eval/join/join.h), and rows of launches that have the times of the one and the counters of the
 * other. */
#ifndef CW_EVAL_JOIN_JOINED_H
#define CW_EVAL_JOIN_JOINED_H

#include "eval/join/join.h"
#include "eval/ranges/groups.h"
#include "eval/timeline/timeline.h"

/* A kernel of the trace, a CUDA graph where those were counted as one range, or, where user ranges were counted, an
 * NVTX range. */
struct cw_joined_launch {
    uint32_t event;   /* index into the timeline's gpu, a graph's first; or into its ranges */
    uint32_t process; /* of the trace */
    uint32_t stream;  /* index into the timeline's, or CW_TIMELINE_NONE */
    double ns;        /* a graph's from its first start to its last end; an NVTX range's is the sum of its kernels */
    double gap;       /* ns that nothing ran on the device before it; NaN where nothing ran before */
    double latency;   /* ns from when the call that launched it began to its start; NaN not known */
};

struct cw_joined {
    const struct cw_timeline *timeline;
    const struct cw_counter_data *data; /* the ranges */
    bool of_ranges;                     /* launches are NVTX ranges */
    bool of_graphs;                     /* graphs are launches */
    double whole; /* ns of all launches; of NVTX ranges, which are in one another, of all kernels */
    uint32_t count;
    const struct cw_joined_launch *launches; /* by process, and there as they were launched */
    const char
        *unnumbered; /* why nobody knows which launch is which, "the trace has windows"; NULL where it is known */
    struct cw_join_run traced, counted; /* counted: range i of the data is its launch i */
    struct cw_join join;
    struct cw_groups each; /* no groups: durations of the ranges, and which were multiplexed */
};

/* Joins them; what is given must stay, all lives in `arena`. Ranges that stay in their file are read: CW_ERR_IO,
 * CW_ERR_NOMEM. */
enum cw_status cw_joined_make(struct cw_joined *joined, const struct cw_timeline *timeline,
                              const struct cw_counter_data *data, const struct cw_chip *chip, struct cw_arena *arena,
                              struct cw_error *err);

/* What a row has beside its group. */
struct cw_joined_row {
    uint32_t twins, like, none; /* launches that have a twin, that are like a kernel that was counted, and others */
    double gap, latency;        /* ns, means of launches that have them; NaN of none */
    double counted;             /* ns of a mean launch in the counted run; NaN where that is not known */
    double beside;              /* ns of those launches in the trace that `counted` is of; NaN of none */
};

struct cw_joined_rows {
    /* Each row twice: `groups` are of launches, with the times of the trace, and `counted` of ranges that stand for
     * them. The data of both is the same: the mean of these ranges. Rows of one kernel and shape have each range once;
     * of others a launch without a twin has one of the ranges of its kernel, which take turns. */
    struct cw_groups groups, counted;
    const struct cw_joined_row *rows;
    uint32_t left;    /* rows that are too many for files of this size: those of least time */
    double left_time; /* ns, theirs */
};

/* Rows of all launches by kernel, family, NVTX path, device, rank or stream; at most `most`. The ranges are read once
 * more: CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_joined_rows_make(struct cw_joined_rows *rows, const struct cw_joined *joined, enum cw_group_by by,
                                   uint32_t most, struct cw_arena *arena, struct cw_error *err);

/* Whether the counted run took noticeably longer or shorter: the part by which it differs, 0.23 for 23 % more; 0 where
 * that is a tenth at most, or not known. */
double cw_joined_slower(const struct cw_joined_row *row);

#endif
