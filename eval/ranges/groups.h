/* Ranges that belong together, such as the launches of one kernel, as rows.
 *
 * Each group has one range: the mean of its ranges, counter by counter. So metrics of groups are metrics of a mean
 * launch: a hit rate is hits over lookups of all launches, and not the mean of their hit rates.
 *
 * Multiplexed ranges (eval/ranges/fold.h) have the counters of one pass each. Among alike ranges, each counter has the
 * mean of the ranges that hold it, which stands for all of them. If a group has several kinds, a kind without a counter
 * has no part in that counter's mean. */
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
    CW_BY_FOLD,   /* each range by itself, but alike multiplexed ranges of one device and rank together */
    CW_BY_STREAM, /* of one device, process and context */
    CW_BY__COUNT
};
/* "kernel", "range", ... */
extern const char *const cw_group_by_names[CW_BY__COUNT];

struct cw_group {
    const char *name;         /* for people: of the first range, family, path, "device 0 NVIDIA H100", "rank 3" */
    uint32_t count;           /* of ranges */
    uint32_t kernels, shapes; /* different names of kernels; different names with grid, block and model */
    const uint32_t *ranges;   /* indices, ascending */
    uint32_t part_count;      /* of a multiplexed group with means; else 0 */
    const struct cw_group_part *parts;    /* by kind (group_means.c) */
    uint32_t before;                      /* its place before groups were sorted by time */
    uint32_t used;                        /* ranges in the mean: the ones with the most counters, or all */
    bool multiplexed;                     /* some of its ranges were: a counter's mean is of all ranges that have it */
    bool several_gpus, several_processes; /* among its ranges */
    uint64_t stream;                      /* of all its launches; UINT64_MAX: several, or none */
    /* ns; of ranges whose duration is known or estimated (`timed`), NaN without any; least, greatest and deviation of
     * measured durations; deviation as of cw_sample_deviation. The total of a device, rank or stream leaves out nested
     * user ranges, whose time another one of the group has. */
    uint32_t timed, measured;
    double total, mean, median, least, greatest, deviation;
};

struct cw_groups {
    enum cw_group_by by;
    bool of_ranks; /* ranges of several ranks are in several groups */
    bool of_times; /* there are no means */
    uint32_t count;
    const struct cw_group *items; /* by total time, longest first, then as they began; ranges as they began */
    /* ns, of all groups, and of all ranges of the data, kept or not. Nested user ranges (cw_ranges_find_nested) are in
     * the time of the others already, and do not add to it. */
    double total, whole;
    uint32_t nested;          /* how many ranges of all groups are nested */
    uint32_t kernels, shapes; /* as of a group, of all groups together */
    uint32_t range_count;     /* of the data */
    uint32_t gpu_count;       /* devices with the same host and PCI address are one GPU */
    const double *durations; /* ns, [range] of the data; NaN unknown; multiplexed ranges without a time have the mean of
                                alike ones */
    const double *measured;  /* the same without these means */
    struct cw_folds folds;
    /* The capture with a range for each group: rollups are means (also least and greatest). A value that overflowed or
     * is incomplete in one range is so in the group, and a value of multiplexed ranges is CW_FORM_MULTIPLEXED. Name,
     * kernel, device, grid and so on are from the first used range; grid and block are zero if ranges differ in them.
     */
    struct cw_counter_data data;
};

/* Groups the ranges of a capture of the chip; with `keep`, only ranges for which it is true. The time of a range is the
 * chip's counter of time, else the shortest pass. Everything lives in `arena` and in `data`. CW_ERR_NOMEM alone. */
enum cw_status cw_groups_make(struct cw_groups *groups, enum cw_group_by by, const struct cw_counter_data *data,
                              const struct cw_chip *chip, const bool *keep, struct cw_arena *arena,
                              struct cw_error *err);

/* The same without means, which take memory for every counter: `data` has the first range of each group. */
enum cw_status cw_groups_make_times(struct cw_groups *groups, enum cw_group_by by, const struct cw_counter_data *data,
                                    const struct cw_chip *chip, const bool *keep, struct cw_arena *arena,
                                    struct cw_error *err);

/* The same with means; ranges of several ranks are in several groups. */
enum cw_status cw_groups_make_of_ranks(struct cw_groups *groups, enum cw_group_by by,
                                       const struct cw_counter_data *data, const struct cw_chip *chip, const bool *keep,
                                       struct cw_arena *arena, struct cw_error *err);

/* Finds how long each range took and which were multiplexed: `durations`, `measured`, `whole`, `gpu_count` and `folds`,
 * and no groups. CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_groups_measure(struct cw_groups *groups, const struct cw_counter_data *data,
                                 const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);

/* How long a range of data in memory took: by the column of the chip's time, or CW_NO_COLUMN, else the shortest pass.
 * NaN unknown. */
double cw_range_duration(const struct cw_counter_data *data, uint32_t range, uint32_t time_column);

/* ---- means ------------------------------------------------------------------------------------------------------ */

/* Walks over all ranges once, in the order of the file, for the duration of each and the mean of each group. A range
 * may be in several groups, or several times in one. The mean of a group without ranges has no value. */
struct cw_group_walk {
    const struct cw_counter_data *data;
    const struct cw_folds *folds; /* of the data */
    uint32_t count, time_column;
    bool single;                   /* each group has one range */
    struct cw_group *items;        /* the groups; the walk sets `multiplexed`, `used` and parts */
    double *durations;             /* [range], to be filled in; or NULL */
    struct cw_counter_data *means; /* to be made: a range for each group, as in cw_groups.data; or NULL */
};
enum cw_status cw_groups_walk(const struct cw_group_walk *walk, struct cw_arena *arena, struct cw_error *err);
/* Means in another order: group k gets the mean of from[k]. False when out of memory. */
bool cw_groups_reorder(struct cw_counter_data *means, const uint32_t *from);

/* Clears grid and block of a group's mean if its ranges differ in them. */
void cw_group_merge_shapes(const struct cw_counter_data *data, const struct cw_group *group, struct cw_range *merged);

/* ---- answers about groups --------------------------------------------------------------------------------------- */

/* Indices of all groups by total time, the longest first, then in their order. NULL when out of memory. */
uint32_t *cw_groups_longest(const struct cw_groups *groups, struct cw_arena *arena);

/* The group of a range of the data, which is in one. */
uint32_t cw_groups_find(const struct cw_groups *groups, uint32_t range);

/* Launches so short that a program may take longer to launch one than the GPU to run it. */
enum { CW_SHORT_LAUNCH_NS = 10000 };
struct cw_short_launches {
    uint64_t count, launches; /* short ones, and all whose time is known */
    double share;             /* of the whole time, 0 to 1 */
    bool many;                /* enough to report: 20, and half of all or a tenth of the time */
};
struct cw_short_launches cw_groups_find_short(const struct cw_groups *groups);

/* A group's part of the whole time, 0 to 1, and the spread of its durations: deviation / mean, NaN of less than two. */
double cw_group_share(const struct cw_groups *groups, const struct cw_group *group);
double cw_group_spread(const struct cw_group *group);
/* Adds the total time of a group, if it is known, to a sum, which is NaN until it has one. */
void cw_group_add_time(const struct cw_group *group, double *sum);
/* Whether the mean time leaves out launches, as their counter of time overflowed or is incomplete. A multiplexed launch
 * may be without a time. */
bool cw_group_is_partly_timed(const struct cw_group *group);
/* How many ranges of all groups have no time, so that no total has them. */
uint64_t cw_groups_untimed(const struct cw_groups *groups);
/* Whether the group's mean leaves out ranges, as others have more counters. A multiplexed group's mean is of all. */
bool cw_group_is_partly_used(const struct cw_group *group);
/* Whether these are groups of launches, and not of user ranges, which have no kernel but a name. */
bool cw_groups_are_of_launches(const struct cw_groups *groups);
/* Whether the time of any range is known. */
bool cw_groups_are_timed(const struct cw_groups *groups);
/* Whether the groups take less than the whole time. */
bool cw_groups_are_part(const struct cw_groups *groups);

#endif
