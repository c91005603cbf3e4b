/* Whether a run is worse than another, for a program that decides: counts have to be equal, and measured values may
 * differ by as much as runs of one program do. */
#ifndef CW_EVAL_COMPARE_GATE_H
#define CW_EVAL_COMPARE_GATE_H

#include "eval/compare/compare.h"

/* ---- rules ------------------------------------------------------------------------------------------------------ */

/* How far values of a metric may be apart: |b - a| <= noise * max(|a|, |b|) + floor. A kernel with an own
 * noise of 0 and no own floor has to be equal. With a noise of 1 or more, which is never exceeded, values are not
 * judged. */
struct cw_gate_rules {
    const char *chip, *device; /* of the runs they were learned from; the device "": any */
    uint32_t runs, metric_count;
    const struct cw_gate_metric {
        const char *name; /* a full name; "time": ns of a launch; "launches": of the kernel */
        enum cw_better better;
        double noise; /* of kernels that are not listed; INFINITY: unknown */
        double floor; /* in units of the metric; of kernels without their own */
        uint32_t kernel_count;
        const struct cw_gate_kernel {
            const char *label; /* cw_group_label */
            double noise, floor;
        } * kernels; /* by label */
    } * metrics;
};
extern const char cw_gate_time[], cw_gate_launches[];

/* The largest file of rules that is read or written. */
enum { CW_GATE_RULES_MAX = 16 << 20 };
/* Parses a file of rules (docs/compare.md). `path` is for messages; everything lives in `arena`, texts also in `data`.
 */
enum cw_status cw_gate_parse(struct cw_gate_rules *rules, const void *data, size_t size, const char *path,
                             struct cw_arena *arena, struct cw_error *err);
/* Writes one; `rules` is a struct cw_gate_rules: a cw_file_render (base/file.h). */
enum cw_status cw_gate_write(FILE *out, const void *rules, struct cw_error *err);

/* ---- times ------------------------------------------------------------------------------------------------------ */

/* How long a launch of a kernel takes in a mean run, in ns, by all its launches and all passes that timed them: the
 * mean; the median over launches of their medians over passes; the least. NaN: not known. A slower kernel moves all
 * three. A delay of one pass, such as by other work on the memory's bus, moves the mean alone. */
struct cw_gate_time {
    double mean, median, least;
    uint32_t count; /* of passes of launches */
};
/* [group] of the side, in `arena`. Reads all ranges once. CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_gate_times_make(struct cw_gate_time **times, const struct cw_side *side, struct cw_arena *arena,
                                  struct cw_error *err);

/* The smallest slow-down of a kernel that would show, as a part of a launch's time, NaN if none would; and the total
 * time of the kernel. */
struct cw_gate_shown {
    double slowdown, total;
};
/* Of a kernel whose launches take `ns` each and `total` together, by the limit of time. */
struct cw_gate_shown cw_gate_shown_of(const struct cw_gate_kernel *limit, double ns, double total);

/* The smallest slow-downs that would show: in the kernel where this is least, and most; half: kernels that take half of
 * the time show this or less. NaN where time is not judged. */
struct cw_gate_slowdown {
    double least, half, most;
    uint32_t least_at, most_at; /* kernels of runs, or matches of a comparison */
};
/* Sorts `shown`. */
struct cw_gate_slowdown cw_gate_slowdown_of(struct cw_gate_shown *shown, uint32_t count);

/* ---- learning --------------------------------------------------------------------------------------------------- */

/* Values of the mean launch of each kernel in runs of one program. */
struct cw_gate_runs {
    uint32_t runs, kernel_count, metric_count;
    const char *const *kernels; /* labels */
    const char *const *metrics;
    const enum cw_metric_class *classes; /* of the metrics; launches are exact */
    const double *values;                /* [metric][kernel][run]; NaN unknown */
    const struct cw_gate_time *times;    /* [kernel][run] */
};
/* Counts of values: each of one metric, or time or launches, in one kernel. */
struct cw_gate_summary {
    uint64_t exact, noisy, unjudged; /* that have to be equal; that have a noise; that are not judged */
    double least, median, greatest;  /* noise */
    struct cw_gate_slowdown slowdown;
};
/* Learns rules by which at most one comparison in a thousand of two more such runs finds a change.
 *
 * An exact count that was equal in all runs has to be equal. Otherwise the noise of a metric in a kernel is the
 * half-width of the prediction interval of the difference of two runs, t * sqrt(2) * s, where s is a relative standard
 * deviation. Kernels whose exact counts differ between runs do other work each time: s is their own, and they say
 * nothing about others.
 *
 * Each of the three numbers of struct cw_gate_time has a limit, and the greatest serves: a change has to be beyond it
 * by all three. s^2 is the mean of the kernel's own variance, weighted by its degrees of freedom, and of the usual one
 * of kernels whose times are within a factor of 4, else of all kernels (eval/compare/statistics.h), whose freedom
 * counts as at most 8. t has the freedom of both. Its tail for a kernel that each run timed three times or more is 5 in
 * a thousand over the number of kernels, at most 1 in a thousand: three numbers agree more rarely than one. For others
 * it is a quarter of one in a thousand over twice the number of kernels. A kernel that was timed so often, and whose
 * mean times (of one pass each) lay within 1 % of each other in 5 runs or more, has a noise of at most 2.9 %. The noise
 * is at least 1.5 steps of the GPU's clock (48 ns).
 *
 * For other metrics, s^2 is the mean of the kernel's own variance, weighted by its degrees of freedom, and of the usual
 * one, which weighs as much as 2: the geometric mean of kernels of similar size in which runs differ, or of all such
 * kernels. t has the freedom of both. As rare runs are far off, the half-width is taken 1.8 times. A value that was the
 * same in 5 runs or more, in more than half of the kernels, gets the least noise there. Without such runs, and if no
 * kernel differs, the noise is unknown. t has three quarters of the tail of one in a thousand, divided by the number of
 * comparisons (Bonferroni). The noise is at least twice the greatest difference seen, and at least 0.5 % except for
 * exact counts.
 *
 * The floor is 0. If the noise is half the value or more, or the value is 0, the floor is this noise times the value,
 * at least a hundredth of the greatest kernel's value, and the noise becomes the least one. Metrics whose noise is
 * unknown are left out, and so are metrics that were 0 everywhere, except exact counts.
 *
 * `rules` has chip and device already. At least 3 runs, else CW_ERR_USAGE; CW_ERR_INCOMPARABLE if nothing is known of
 * any metric. */
enum cw_status cw_gate_learn(struct cw_gate_rules *rules, struct cw_gate_summary *summary,
                             const struct cw_gate_runs *runs, struct cw_arena *arena, struct cw_error *err);

/* ---- judging ---------------------------------------------------------------------------------------------------- */

/* In order of gravity. */
enum cw_verdict { CW_SAME, CW_BETTER, CW_AMBIGUOUS, CW_WORSE, CW_INCOMPARABLE, CW_VERDICT__COUNT };
extern const char *const cw_verdict_names[CW_VERDICT__COUNT];

struct cw_judgement {
    const struct cw_gate_rules *rules;
    const struct cw_comparison *comparison;
    double need; /* the slow-down that has to show, a part of the time; 0: none */
    enum cw_verdict verdict;
    uint32_t kernels; /* in both captures */
    uint32_t reason_count, reasons_left, finding_count;
    const char *const *reasons; /* why captures are incomparable, for people; reasons_left: further ones */
    /* Values beyond their noise, and values that one capture lacks; by match, in its order, then metric. */
    const struct cw_gate_finding {
        uint32_t match, metric; /* of the comparison, of the rules */
        double a, b, allowed;   /* allowed: how far b may be from a; of time: the means */
        int a_status, b_status; /* enum cw_value_status */
        enum cw_verdict verdict;
    } * findings;
    const enum cw_verdict *verdicts; /* [match] */
    struct cw_gate_slowdown slowdown;
    const double *shown; /* [match]: the smallest slow-down that would show, NaN unknown */
    const bool *lacking; /* [match]: a slow-down of `need` would not show, and the match is not worse otherwise */
    uint32_t needed;     /* how many matches lack it */
    uint64_t compared, unjudged; /* unjudged: values in both captures with a noise of 1 or that are implausible */
};
/* Judges a comparison of the rules' metrics (cw_gate_time and cw_gate_launches are no metrics) by kernel. The noise is
 * of two runs; if a side is the mean of n and the other of m, it is sqrt((1/n + 1/m) / 2) times as large. Time changed
 * if mean, median and least are beyond the noise in one direction, or if the mean is by three times as much: then some
 * launches took far longer.
 *
 * A kernel is worse if its time is, or if other values are and none is better. It is ambiguous if values go both ways,
 * if nobody knows which way is better, or if it is the same but a slow-down of `need` (a part of the time; 0: none is
 * asked for) would not show. The whole has the gravest verdict of its kernels.
 *
 * Captures are incomparable if one has no ranges; if one is of another chip, device or plan than the other or the
 * rules, or captured other launches (filter); if launches differ in number, and not as many were lost; if one alone has
 * a kernel, or a value; and if a value overflowed or is incomplete, also in both. A value that divides by zero in one
 * capture is not compared, nor is an implausible one. Everything lives in `arena`. CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_gate_judge(struct cw_judgement *judgement, const struct cw_gate_rules *rules,
                             const struct cw_comparison *comparison, double need, struct cw_arena *arena,
                             struct cw_error *err);

#endif
