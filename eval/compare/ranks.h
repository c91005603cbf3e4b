/* The ranks of a parallel job side by side: the time and metrics of each kernel, or NVTX range, on each rank.
 *
 * Captures are added batch by batch. Memory holds the time of each kernel on each rank. The values of metrics go to a
 * temporary file, and are read from there on request. */
#ifndef CW_EVAL_COMPARE_RANKS_H
#define CW_EVAL_COMPARE_RANKS_H

#include "eval/ranges/groups.h"
#include "eval/result.h"

/* How a value differs between ranks. */
struct cw_rank_spread {
    uint32_t count;                                                /* of ranks that have a value */
    double mean, deviation, least, lower, median, upper, greatest; /* lower, upper: quartiles; NaN without a value */
    double distance;                                               /* the median distance from the median */
    double imbalance;                   /* greatest / mean - 1; NaN unless the mean is above zero */
    uint32_t least_rank, greatest_rank; /* indices of the first rank that has it */
    uint32_t outliers;                  /* values that stand apart (is_outlier in ranks.c) */
    uint32_t left_out; /* ranks whose value is doubtful (cw_value_is_doubtful) and counts for nothing */
    int8_t status;     /* the gravest of all ranks with a value, also of ranks left out */
};

/* Fills in a spread of `count` values, some of which may be NaN; `rank` says whose each is, `scratch` has room for
 * them. Leaves none out, and the status is CW_VALUE_OK. */
void cw_rank_spread_make(struct cw_rank_spread *spread, const double *values, const uint32_t *rank, uint32_t count,
                         double *scratch);

/* Values that explain why a rank is slower, of its mean launch; NaN unknown. */
enum cw_rank_cause { CW_CAUSE_CLOCK, CW_CAUSE_CYCLES, CW_CAUSE_INSTRUCTIONS, CW_CAUSE_BYTES, CW_CAUSE__COUNT };
/* Their metrics, NULL-ended; the first that a chip has serves. */
extern const char *const cw_rank_causes[CW_CAUSE__COUNT][3];

struct cw_ranks {
    enum cw_group_by by;
    uint32_t metric_count;
    const char *const *names, *const *units; /* of the metrics */
    uint32_t rank_count, kernel_count, straggler_count, waited_count;
    uint64_t row_count, launches, unranked; /* unranked: launches without a rank, which are left out */
    uint64_t untimed;                       /* launches whose time is not known: they are in no total */
    double total;                           /* ns, NaN without a launch whose time is known, as all totals here */
    const struct cw_rank {
        uint32_t number;
        const char *host, *pci; /* of the device of its first launch, "" unknown */
        uint64_t launches;
        double total; /* ns, of all launches whose time is known */
        double waits; /* the part of it in kernels that wait for other ranks, NaN if it has some, but no time of them */
        bool waits_untimed; /* the time of launches that wait is not known */
        double clock;       /* MHz of the SMs during the capture, NaN unknown */
    } * ranks;              /* by number */
    const struct cw_rank_kernel {
        const char *name, *kernel; /* as of a group; kernel: "" unless by kernel */
        uint32_t grid[3], block[3];
        bool waits; /* exchanges data with other ranks (by its name), so that it ends when the last of them has come */
        uint32_t first, count; /* its rows, by rank */
        double total;          /* ns, of all ranks */
        uint64_t launches;
        struct cw_rank_spread time; /* of mean launches, ns */
    } * kernels;                    /* by total time, longest first */
    const struct cw_rank_row {      /* a kernel on a rank */
        uint32_t rank, kernel;      /* indices */
        uint64_t launches;
        double total, mean; /* ns; of the launches whose time is known, NaN without any */
        double causes[CW_CAUSE__COUNT];
        uint64_t place;                   /* of its values in the file */
    } * rows;                             /* by kernel, then rank */
    const struct cw_rank_spread *spreads; /* [kernel][metric] */
    /* A rank that is slower than the others in a kernel, and why. */
    const struct cw_straggler {
        uint32_t row;
        double slower, lost;                      /* time over the median, less 1; ns over all its launches */
        double causes[CW_CAUSE__COUNT];           /* over the median; NaN unknown */
        bool lower_clock, more_work, more_cycles; /* causes to report; more_cycles: for the same work */
    } * stragglers;                               /* the most time lost first */
    /* A rank that others wait for: it takes longest outside of the kernels that wait, and least in them. */
    const struct cw_waited_for {
        uint32_t rank;
        double slower, shorter; /* how much more outside, and how much less in them, as parts of the median */
    } * waited;                 /* the slowest first */
    struct cw_rank_gathering *gathering;
};

/* Free it by cw_ranks_finish, also after a failure. */
enum cw_status cw_ranks_begin(struct cw_ranks *ranks, enum cw_group_by by, struct cw_error *err);
/* Adds a batch: groups of each rank (cw_groups_make_of_ranks), and a result of their data. The user asked for its first
 * `asked` metrics; among the others, cause[0] and so on are the indices of causes, CW_NO_CAUSE without one. All batches
 * have the same metrics. CW_ERR_USAGE if an earlier batch had one of these ranks, CW_ERR_IO. */
enum { CW_NO_CAUSE = UINT32_MAX };
enum cw_status cw_ranks_add(struct cw_ranks *ranks, const struct cw_groups *groups, const struct cw_counter_data *data,
                            const struct cw_result *result, uint32_t asked, const uint32_t cause[CW_CAUSE__COUNT],
                            struct cw_error *err);
/* Sorts all rows, and finds how ranks differ. CW_ERR_INPUT if no launch has a rank. */
enum cw_status cw_ranks_compare(struct cw_ranks *ranks, struct cw_error *err);
void cw_ranks_finish(struct cw_ranks *ranks);

/* The values and statuses of a row, metric_count each. CW_ERR_IO. */
enum cw_status cw_ranks_values(const struct cw_ranks *ranks, uint64_t row, double *values, int8_t *statuses,
                               struct cw_error *err);

/* Finds the stragglers of sorted ranks, as the last step of cw_ranks_compare. CW_ERR_NOMEM alone. */
enum cw_status cw_ranks_find_stragglers(struct cw_ranks *ranks, struct cw_arena *arena, struct cw_error *err);
/* Whether a function, or an NVTX path, waits for other ranks, by its name. */
bool cw_rank_waits(const char *name);

#endif
