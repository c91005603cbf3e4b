/* Ranges that belong together, such as the launches of one kernel, as rows.
 *
 * Of each group there is one range: the mean of its ranges, counter by counter. Metrics evaluated on the groups are so
 * those of a mean launch: a hit rate is hits over lookups of all launches, and not the mean of their hit rates.
 *
 * Ranges that were multiplexed (eval/ranges/fold.h) have the counters of one pass each. Of those that are alike, each counter
 * has the mean of the ranges that hold it, and stands for all of them. A kind that none holds a counter of has no part
 * in that counter's mean of a group of several kinds. */
#ifndef CW_EVAL_RANGES_GROUPS_H
#define CW_EVAL_RANGES_GROUPS_H

#include "eval/ranges/fold.h"
#include "metricdb/chip.h"

enum cw_group_by {
    CW_BY_KERNEL, /* kernel, or the name of a user range, and grid, block and model of device */
    CW_BY_FAMILY, /* kernels of one family (base/shorten.h), and model of device; or the name of a user range */
    CW_BY_RANGE,  /* each range by itself */
    CW_BY_NVTX,   /* the user ranges around a launch, or the path of a user range */
    CW_BY_DEVICE,
    CW_BY_RANK,
    CW_BY_FOLD,   /* each range by itself, but those that were multiplexed and are alike, of one device and rank,
                     together */
    CW_BY_STREAM, /* of one device, process and context */
    CW_BY__COUNT
};
/* "kernel", "range", ... */
extern const char *const cw_group_by_names[CW_BY__COUNT];

struct cw_group {
    const char *name;         /* for people: of the first range, family, path, "device 0 NVIDIA H100", "rank 3" */
    uint32_t count;           /* of ranges */
    uint32_t kernels, shapes; /* kernels of other names; the same of other grids and blocks, or models */
    const uint32_t *ranges;   /* indices, ascending */
    uint32_t part_count;      /* 0 unless means of what was multiplexed were made of them */
    const struct cw_group_part *parts; /* by kind (eval/ranges/group_parts.h) */
    uint32_t before;                   /* its place before they were sorted by time */
    uint32_t used;    /* ranges whose counters the mean has: those that have the most counters, or all */
    bool multiplexed; /* some of its ranges were: the mean of a counter is of all ranges that have it */
    bool several_gpus, several_processes; /* which its ranges are of */
    /* ns; of the ranges whose duration is known or estimated (`timed`), NaN where there is none; least, greatest and
       deviation of those that were measured */
    uint32_t timed, measured;
    double total, mean, median, least, greatest, deviation; /* deviation: cw_sample_deviation */
};

struct cw_groups {
    enum cw_group_by by;
    bool of_ranks; /* what is of several ranks is several groups */
    bool of_times; /* there are no means */
    uint32_t count;
    const struct cw_group *items; /* by total time, longest first, then as they began; ranges as they began */
    /* ns, of all groups, and of all ranges of the data, also those that are not kept. User ranges that lie within
       others of these are in the time of the others, and do not add to it. */
    double total, whole;
    uint32_t nested;          /* how many of the ranges of all groups do */
    uint32_t kernels, shapes; /* of all groups: kernels of other names; the same of other grids and blocks, or models */
    uint32_t range_count;     /* of the data */
    uint32_t gpu_count;       /* that the data's devices are: those of a host and PCI address are one */
    const double *durations;  /* ns, [range] of the data; NaN unknown, and of what was multiplexed without time the mean
                                 of what is alike */
    const double *measured;   /* the same without these means */
    struct cw_folds folds;
    /* The capture with a range for each group: rollups are means (also least and greatest), a value that overflowed or
     * is incomplete in one range is so in the group, and one of ranges that were multiplexed is CW_FORM_MULTIPLEXED.
     * Name, kernel, device, grid and so on are those of its first range that is used; grid and block are zero where
     * ranges differ in them. */
    struct cw_counter_data data;
};

/* Groups the ranges of a capture of ranges of the chip; with `keep`, only those for which it is true. Time is the
 * chip's counter of it, else the shortest pass, else start to end where there was one pass. All lives in `arena` and in
 * `data`. CW_ERR_NOMEM alone. */
enum cw_status cw_groups_make(struct cw_groups *groups, enum cw_group_by by, const struct cw_counter_data *data,
                              const struct cw_chip *chip, const bool *keep, struct cw_arena *arena,
                              struct cw_error *err);

/* The same without means, which take memory for every counter: `data` has what the first range of each group is of. */
enum cw_status cw_groups_make_times(struct cw_groups *groups, enum cw_group_by by, const struct cw_counter_data *data,
                                    const struct cw_chip *chip, const bool *keep, struct cw_arena *arena,
                                    struct cw_error *err);

/* The same with means, and what is of several ranks is several groups. */
enum cw_status cw_groups_make_of_ranks(struct cw_groups *groups, enum cw_group_by by,
                                       const struct cw_counter_data *data, const struct cw_chip *chip, const bool *keep,
                                       struct cw_arena *arena, struct cw_error *err);

/* A value of several counters is of ranges of the same kinds. Where a group has all of some columns, but a kind of its
 * ranges lacks one of them, makes the means of these columns in row `group` of `to` (else as groups->data is) anew, of
 * the kinds alone that have all. *changed: whether it did, and then *occurrences: in how many ranges the rarest was
 * collected. CW_ERR_NOMEM alone. */
struct cw_columns {
    const uint32_t *items;
    uint32_t count;
};
enum cw_status cw_groups_merge_shared(const struct cw_groups *groups, uint32_t group, struct cw_columns columns,
                                      struct cw_counter_data *to, bool *changed, uint32_t *occurrences);

/* Finds how long each range took and which were multiplexed: `durations`, `measured`, `whole`, `gpu_count` and `folds`,
 * and no groups. CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_groups_measure(struct cw_groups *groups, const struct cw_counter_data *data,
                                 const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);

/* How long a range of data in memory took: by the column of the chip's time, or CW_NO_COLUMN, else the shortest pass,
 * else start to end where there was one pass. NaN unknown. */
double cw_range_duration(const struct cw_counter_data *data, uint32_t range, uint32_t time_column);

/* Walks over all ranges once, in the order of the file, for how long each took and the mean of each group. A range may
 * be in several groups, or several times in one, and a group may have none: then nothing was collected of it. */
struct cw_group_walk {
    const struct cw_counter_data *data;
    const struct cw_folds *folds; /* of it */
    uint32_t count, time_column;
    bool single;                   /* a group has one range */
    struct cw_group *items;        /* of the groups; `multiplexed`, `used` and parts are set */
    double *durations;             /* [range], to be filled in; NULL: are not wanted */
    struct cw_counter_data *means; /* to be made: a range for each group, as in cw_groups.data; NULL: are not wanted */
};
enum cw_status cw_groups_walk(const struct cw_group_walk *walk, struct cw_arena *arena, struct cw_error *err);
/* Means in another order: that of group k is what that of from[k] was. False when out of memory. */
bool cw_groups_reorder(struct cw_counter_data *means, const uint32_t *from);

/* The group that has a range of the data; one of them has it. */
uint32_t cw_groups_find(const struct cw_groups *groups, uint32_t range);

/* Launches that are so short that a program may take longer to launch one than the GPU to run it. */
enum { CW_SHORT_LAUNCH_NS = 10000 };
struct cw_short_launches {
    uint64_t count, launches; /* short ones, and all whose time is known */
    double share;             /* of the whole time, 0 to 1 */
    bool many;                /* enough of them to tell: 20, and half of all or a tenth of the time */
};
struct cw_short_launches cw_groups_find_short(const struct cw_groups *groups);

/* Indices of all groups by total time, the longest first, then in their order. NULL when out of memory. */
uint32_t *cw_groups_longest(const struct cw_groups *groups, struct cw_arena *arena);

/* The part of the whole time that a group takes, 0 to 1, and the spread of its durations: deviation / mean. NaN where
 * less than two durations are known. */
double cw_group_share(const struct cw_groups *groups, const struct cw_group *group);
double cw_group_spread(const struct cw_group *group);
/* Which GPU each device is: captures that were merged may describe one in several ways, such as with other filters. One
 * without an address is like no other. In `arena`; NULL when out of memory. */
uint32_t *cw_groups_find_gpus(const struct cw_counter_data *data, uint32_t *gpu_count, struct cw_arena *arena);
/* Whether the mean time leaves out launches, whose counter of time overflowed or is incomplete. Of what was multiplexed
 * a launch without a time is nothing amiss. */
bool cw_group_is_partly_timed(const struct cw_group *group);
/* Whether these are of launches, and not of user ranges, which have no kernel but a name. */
bool cw_groups_are_of_launches(const struct cw_groups *groups);
/* Whether the groups take less than the whole time. */
bool cw_groups_are_part(const struct cw_groups *groups);

#endif
