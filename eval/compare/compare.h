/* Two captures beside each other: what they are of, and which kernels of one are which of the other. */
#ifndef CW_EVAL_COMPARE_COMPARE_H
#define CW_EVAL_COMPARE_COMPARE_H

#include "eval/compare/better.h"
#include "eval/ranges/groups.h"
#include "eval/result.h"

/* A capture by groups of its ranges. */
struct cw_side {
    struct cw_groups groups;
    struct cw_result means; /* a row for each group: the metrics of its mean range */
    uint32_t runs;          /* captures that it was joined from: total times are those of a mean run, counts of all */
    const struct cw_counter_data *data; /* the capture */
};

/* Groups what `wanted` was selected for (cw_view_select) and evaluates it. All lives in `arena`. */
enum cw_status cw_side_make(struct cw_side *side, const struct cw_result *wanted, enum cw_group_by by,
                            const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);

/* What captures are of, beside their kernels: "driver", "580.95", "580.159". */
struct cw_difference {
    const char *what, *a, *b; /* of one side: "" on the other */
    bool other;               /* values cannot be compared: another chip, device or plan */
};
/* In `arena`: chip, plan, database, tool, facts of the devices. CW_ERR_NOMEM alone. */
enum cw_status cw_compare_captures(const struct cw_difference **differences, uint32_t *count,
                                   const struct cw_counter_data *a, const struct cw_counter_data *b,
                                   struct cw_arena *arena, struct cw_error *err);

/* A group of one side and one of the other: of one kernel and shape, in the order in which these began; else of one
 * kernel whose shape changed. Of groups by NVTX path, those of one path. */
enum { CW_NO_GROUP = UINT32_MAX };
struct cw_match {
    uint32_t a, b; /* index of the group, or CW_NO_GROUP */
    bool reshaped;
    double change; /* ns of total time, B less A; what is missing takes none, NaN where a time is not known */
};
/* In `arena`: by the size of the change of time, greatest first. CW_ERR_NOMEM alone. */
enum cw_status cw_compare_groups(const struct cw_match **matches, uint32_t *count, const struct cw_groups *a,
                                 const struct cw_groups *b, struct cw_arena *arena, struct cw_error *err);

/* Of a mean run. */
double cw_side_launches(const struct cw_side *side, uint32_t group);

/* One line for people, escaped: "gemm(float*) (128, 1, 1)x(256, 1, 1)", with the name in `width` columns, or whole
 * where that is 0. NULL when out of memory. */
const char *cw_group_label(const struct cw_groups *groups, uint32_t group, size_t width, struct cw_arena *arena);

/* How far the change of a value may be by chance: its standard error, NaN of single launches, and the degrees of
 * freedom of that, 0 where there is none. */
struct cw_compare_spread {
    double error;
    unsigned freedom;
};

/* Both captures, of the same metrics. */
struct cw_comparison {
    const char *a_source, *b_source; /* names of the files, for people */
    struct cw_side a, b;
    uint32_t difference_count, match_count;
    const enum cw_metric_class *classes; /* of each metric */
    const uint32_t *units;               /* of each metric: a number for its unit, below unit_count */
    uint32_t unit_count;
    const struct cw_difference *differences;
    const struct cw_match *matches;
    const struct cw_compare_spread *spreads; /* [match][metric]; NULL: are not wanted */
};
/* `a` was selected (cw_view_select); `b` has a capture and a chip (cw_view_begin). Compared are the metrics of `a` that
 * both chips have. `runs`: of each side; NULL: one. All lives in `arena`. */
enum cw_status cw_compare(struct cw_comparison *c, const struct cw_result *a, const struct cw_result *b,
                          const uint32_t runs[2], enum cw_group_by by, bool with_spread,
                          const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);

/* Of every metric of every match, where the comparison has all else, from launches that are read one after another
 * (compare_spread.c); `a` and `b` are what its sides were made of. Takes some 20 bytes for each launch, and 100 for
 * each metric of each match. CW_ERR_NOMEM, or CW_ERR_IO where a capture cannot be read. */
enum cw_status cw_compare_spreads(struct cw_comparison *c, const struct cw_result *a, const struct cw_result *b,
                                  const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);
/* Of the time of a launch. */
struct cw_compare_spread cw_compare_time_spread(const struct cw_comparison *c, const struct cw_match *match);

/* How a value of the mean launch changed. */
struct cw_change {
    double a, b;      /* NaN where it is not known */
    double relative;  /* cw_compare_relative */
    double spread;    /* standard error of the change; NaN of single launches */
    unsigned freedom; /* degrees of freedom of the spread, 0 where there is none */
    bool changed;
    bool unjudged; /* nobody knows whether it changed: it overflowed or is incomplete on a side */
    enum cw_value_status a_status, b_status; /* of a metric */
};
/* Of a metric, and of the time of a launch in ns, of a match of two groups. Where both have as many launches, the n-th
 * of one is compared with the n-th of the other, so that launches that differ from one another add no spread. `changed`
 * is what happens by chance once in ten thousand times, and by 0.1 % at least; of single launches, whose spread nobody
 * knows, any change of an exact count (cw_metric_classes) and 2 % of other values. A time that one side alone knows is
 * unjudged, too. */
struct cw_change cw_compare_metric(const struct cw_comparison *c, const struct cw_match *match, uint32_t metric);
struct cw_change cw_compare_time(const struct cw_comparison *c, const struct cw_match *match);

/* What values of a match are weighed by: greatest[unit], the greatest size that a metric of this unit has in it, on
 * either side. */
void cw_compare_greatest(const struct cw_comparison *c, const struct cw_match *match, double *greatest);
/* How much of that a change is. What is less than CW_DUST is not worth telling: a stall of a millionth of a warp, or
 * 256 bytes where others are millions. That is not so of exact counts. */
double cw_compare_weight(const struct cw_comparison *c, uint32_t metric, const struct cw_change *change,
                         const double *greatest);
#define CW_DUST 0.01

/* |a - b| over the greater of both sizes: 0 for equal values, 2 at most. NaN of what is no number; 1 of an infinite
 * value and another. */
double cw_compare_relative(double a, double b);

#endif
