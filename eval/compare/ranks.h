/* The ranks of a parallel job beside one another: what each kernel, or NVTX range, took on each of them.
 *
 * Captures are added batch by batch. What memory holds is the time of each kernel on each rank; the values of metrics go
 * to a temporary file, from which they are read again when they are asked for. */
#ifndef CW_EVAL_COMPARE_RANKS_H
#define CW_EVAL_COMPARE_RANKS_H

#include "eval/compare/rank_spread.h"
#include "eval/ranges/groups.h"
#include "eval/result.h"

/* What tells why a rank is slower, of its mean launch; NaN unknown. */
enum cw_rank_cause { CW_CAUSE_CLOCK, CW_CAUSE_CYCLES, CW_CAUSE_INSTRUCTIONS, CW_CAUSE_BYTES, CW_CAUSE__COUNT };
/* Metrics that they are read of, NULL-ended; the first that a chip has is taken. */
extern const char *const cw_rank_causes[CW_CAUSE__COUNT][3];

struct cw_rank_row { /* a kernel on a rank */
    uint32_t rank, kernel; /* indices */
    uint64_t launches;
    double total, mean; /* ns; of the launches whose time is known, NaN where there is none */
    double causes[CW_CAUSE__COUNT];
    uint64_t place; /* of its values in the file */
};

struct cw_rank {
    uint32_t number;
    const char *host, *pci; /* of the device of its first launch, "" unknown */
    uint64_t launches;
    double total;  /* ns, of all launches whose time is known */
    double waits;  /* of these, in kernels that wait for other ranks */
    double clock;  /* MHz of the SMs while it was captured, NaN unknown */
};

struct cw_rank_kernel {
    const char *name, *kernel; /* as of a group; kernel: "" unless by kernel */
    uint32_t grid[3], block[3];
    bool waits; /* it exchanges data with other ranks (by its name): it takes as long as the last of them needs to come */
    uint32_t first, count; /* its rows, by rank */
    double total;          /* ns, of all ranks */
    uint64_t launches;
    struct cw_rank_spread time; /* of mean launches, ns */
};

/* A rank that is slower than the others in a kernel, and why. */
struct cw_straggler {
    uint32_t row;
    double slower, lost;            /* time by the median, less 1; ns over all its launches */
    double causes[CW_CAUSE__COUNT]; /* by the median; NaN unknown */
    bool lower_clock, more_work, more_cycles; /* what of it is worth telling; more_cycles: for the same work */
};

/* A rank that others wait for: it takes longest outside of the kernels that wait, and least in these. */
struct cw_waited_for {
    uint32_t rank;
    double slower, shorter; /* outside, and in them: by the median, how much more and less, as parts */
};

struct cw_ranks {
    enum cw_group_by by;
    uint32_t metric_count;
    const char *const *names, *const *units; /* of the metrics */
    uint32_t rank_count, kernel_count, straggler_count, waited_count;
    uint64_t row_count, launches, unranked; /* unranked: launches that tell no rank, which are left out */
    uint64_t untimed;                       /* launches whose time is not known: they are in no total */
    double total;
    const struct cw_rank *ranks;            /* by number */
    const struct cw_rank_kernel *kernels;   /* by total time, longest first */
    const struct cw_rank_row *rows;         /* by kernel, then rank */
    const struct cw_rank_spread *spreads;   /* [kernel][metric] */
    const struct cw_straggler *stragglers;  /* those that lose most time first */
    const struct cw_waited_for *waited;     /* the slowest first */
    struct cw_rank_gathering *gathering;
};

/* All is freed by cw_ranks_finish, also after a failure. */
enum cw_status cw_ranks_begin(struct cw_ranks *ranks, enum cw_group_by by, struct cw_error *err);
/* Adds a batch: groups of each rank (cw_groups_make_of_ranks), and a result of their data, whose first `asked` metrics
 * were asked for; of those behind them, the first is that of cause[0] and so on, CW_NO_CAUSE where it has none. All
 * batches have the same metrics. CW_ERR_USAGE where an earlier one had a rank of these, CW_ERR_IO. */
enum { CW_NO_CAUSE = UINT32_MAX };
enum cw_status cw_ranks_add(struct cw_ranks *ranks, const struct cw_groups *groups, const struct cw_counter_data *data,
                            const struct cw_result *result, uint32_t asked, const uint32_t cause[CW_CAUSE__COUNT],
                            struct cw_error *err);
/* Sorts what was added, and finds how ranks differ. CW_ERR_INPUT where no launch tells its rank. */
enum cw_status cw_ranks_compare(struct cw_ranks *ranks, struct cw_error *err);
void cw_ranks_finish(struct cw_ranks *ranks);

/* The values and statuses of a row, metric_count each. CW_ERR_IO. */
enum cw_status cw_ranks_values(const struct cw_ranks *ranks, uint64_t row, double *values, int8_t *statuses,
                               struct cw_error *err);

/* Finds the stragglers of ranks that were sorted; what cw_ranks_compare does last. CW_ERR_NOMEM alone. */
enum cw_status cw_ranks_find_stragglers(struct cw_ranks *ranks, struct cw_arena *arena, struct cw_error *err);
/* Whether a kernel, or an NVTX path, is one that waits for other ranks, by its name. */
bool cw_rank_kernel_waits(const char *name);

#endif
