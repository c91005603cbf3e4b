/* Two captures side by side: how they differ, which kernel of one is which of the other, and which values changed. */
#ifndef CW_EVAL_COMPARE_COMPARE_H
#define CW_EVAL_COMPARE_COMPARE_H

#include "eval/compare/better.h"
#include "eval/ranges/groups.h"
#include "eval/result.h"

/* A capture by groups of its ranges. */
struct cw_side {
    struct cw_groups groups;
    struct cw_result means; /* a row for each group: the metrics of its mean range */
    uint32_t runs;          /* how many captures were joined: total times are of a mean run, counts of all runs */
    const struct cw_counter_data *data; /* the capture */
};

/* Groups the capture of `wanted`, whose metrics were selected (cw_view_select), and evaluates it. Everything lives in
 * `arena`. */
enum cw_status cw_side_make(struct cw_side *side, const struct cw_result *wanted, enum cw_group_by by,
                            const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);
/* Launches of a group in a mean run. */
double cw_side_launches(const struct cw_side *side, uint32_t group);

/* One line for people, escaped: "gemm(float*) (128, 1, 1)x(256, 1, 1)", with the name in `width` columns, 0: in full.
 * NULL when out of memory. */
const char *cw_group_label(const struct cw_groups *groups, uint32_t group, size_t width, struct cw_arena *arena);

enum { CW_NO_GROUP = UINT32_MAX };

/* Both captures, with the same metrics. */
struct cw_comparison {
    const char *a_source, *b_source; /* names of the files, for people */
    struct cw_side a, b;
    uint32_t difference_count, match_count;
    const enum cw_metric_class *classes; /* [metric] */
    const uint32_t *units;               /* [metric]: a number for its unit, below unit_count */
    uint32_t unit_count;
    /* Chip, plan, database, tool and facts of the devices: "driver", "580.95", "580.159". */
    const struct cw_difference {
        const char *what, *a, *b; /* of one side alone: "" on the other */
        bool other;               /* values cannot be compared: another chip, device, plan or filter, or a failure */
    } * differences;
    /* A group of each side: of one kernel and shape, in the order in which these groups began; else of one kernel with
     * another shape. By NVTX, groups of one path. The greatest change first. */
    const struct cw_match {
        uint32_t a, b; /* index of the group, or CW_NO_GROUP */
        bool reshaped;
        double change; /* ns of total time, B less A; a missing group takes none; NaN where a time is not known */
    } * matches;
    const struct cw_compare_spread *spreads; /* [match][metric], or NULL */
};
/* The side of a difference; "(none)" if it lacks it. */
const char *cw_difference_side(const char *side);

/* `a` was selected (cw_view_select); `b` has a capture and a chip (cw_view_begin). Compares the metrics of `a` that
 * both chips have, but for identifiers (cw_fact_is_identifier). `runs`: of each side; NULL: one. `with_spread`: also
 * finds how far each value may change by chance, from all launches, one after another. This takes some 20 bytes for
 * each launch, and 100 for each metric of each match. Everything lives in `arena`. CW_ERR_NOMEM, or CW_ERR_IO where a
 * capture cannot be read. */
enum cw_status cw_compare(struct cw_comparison *c, const struct cw_result *a, const struct cw_result *b,
                          const uint32_t runs[2], enum cw_group_by by, bool with_spread,
                          const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);

/* How a value of the mean launch changed. */
struct cw_change {
    double a, b;      /* NaN where it is not known */
    double relative;  /* cw_compare_relative */
    double spread;    /* standard error of the change; NaN of single launches */
    unsigned freedom; /* degrees of freedom of the spread, 0 without any */
    bool changed;
    bool unjudged; /* nobody knows whether it changed: the value overflowed, is incomplete, or is missing on a side */
    enum cw_value_status a_status, b_status; /* of a metric */
};
/* The change of a metric, and of the time of a launch in ns, in a match of two groups. If both groups have the same
 * number of launches, the n-th of one is compared with the n-th of the other, so that launches of different work add no
 * spread. `changed`: a change that happens by chance once in ten thousand times, and of at least 0.1 %. The spread of
 * single launches is not known: any change of an exact count (cw_metric_classes) and 2 % of other values count. A value
 * that one side alone knows is unjudged, if both captures have its counters. A value that divides by 0 on one side
 * alone has not changed: it is none.
 */
struct cw_change cw_compare_metric(const struct cw_comparison *c, const struct cw_match *match, uint32_t metric);
struct cw_change cw_compare_time(const struct cw_comparison *c, const struct cw_match *match);

/* The weights of values: greatest[unit], the greatest size of a metric of this unit in the match, on either side. */
void cw_compare_greatest(const struct cw_comparison *c, const struct cw_match *match, double *greatest);
/* The size of a change as a part of this. A change below CW_DUST is not worth a line, such as a stall of a millionth of
 * a warp, or 256 bytes beside millions, except in exact counts. */
double cw_compare_weight(const struct cw_comparison *c, uint32_t metric, const struct cw_change *change,
                         const double *greatest);
#define CW_DUST 0.01

/* |a - b| over the greater of both sizes: 0 for equal values, 2 at most. NaN if one is no number; 1 of an infinite
 * value and another. */
double cw_compare_relative(double a, double b);
/* (b - a) / |a|, as people say it; NaN where there is none, as from 0. */
double cw_compare_part(double a, double b);

#endif
