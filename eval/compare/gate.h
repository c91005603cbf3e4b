/* Whether a run is worse than another, for a program that decides: counts have to be equal, what is measured may differ
 * by as much as runs of one program do. */
#ifndef CW_EVAL_COMPARE_GATE_H
#define CW_EVAL_COMPARE_GATE_H

#include "eval/compare/compare.h"

/* How far values of a metric may be from each other: |b - a| <= noise * max(|a|, |b|) + floor. With a noise of 0 they
 * have to be equal, whatever the floor. With a noise of 1 or more, which is never exceeded, they are not judged. */
struct cw_gate_kernel {
    const char *label; /* cw_group_label */
    double noise, floor;
};
struct cw_gate_metric {
    const char *name; /* a full name; "time": ns of a launch; "launches": of the kernel */
    enum cw_better better;
    double noise; /* of kernels that are not listed; INFINITY: unknown */
    double floor; /* in units of the metric; of kernels that do not list their own */
    uint32_t kernel_count;
    const struct cw_gate_kernel *kernels; /* by label */
};
struct cw_gate_rules {
    const char *chip, *device; /* that they were learned on; the device "": any */
    uint32_t runs, metric_count;
    const struct cw_gate_metric *metrics;
};
extern const char cw_gate_time[], cw_gate_launches[];

/* How long a launch of a kernel takes in a mean run, in ns, by all its launches and all passes that timed them: the
 * mean; the median over launches of their medians over passes; the least. NaN: not known. A kernel that became slower
 * moves all three. Something that delayed a pass, as other work on the memory's bus does, moves the mean alone. */
struct cw_gate_time {
    double mean, median, least;
    uint32_t count; /* of passes of launches */
};
/* [group] of the side, in `arena`. Reads all ranges once. CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_gate_times_make(struct cw_gate_time **times, const struct cw_side *side, struct cw_arena *arena,
                                  struct cw_error *err);

/* The smallest slow-downs that would show, as parts of a launch's time: of the kernel where this is least, and most;
 * half: kernels that take half of the time show this or less. NaN where time is not judged. */
struct cw_gate_slowdown {
    double least, half, most;
    uint32_t least_at, most_at; /* kernels of runs, or matches of a comparison */
};

/* A larger file of rules is not read, nor written. */
enum { CW_GATE_RULES_MAX = 16 << 20 };
/* Parses a file of rules (docs/compare.md). `path` is for messages; everything lives in `arena`, texts also in `data`.
 */
enum cw_status cw_gate_parse(struct cw_gate_rules *rules, const void *data, size_t size, const char *path,
                             struct cw_arena *arena, struct cw_error *err);
/* Writes one; `rules` is a struct cw_gate_rules: a cw_file_render (base/file.h). */
enum cw_status cw_gate_write(FILE *out, const void *rules, struct cw_error *err);

/* Values of the mean launch of each kernel in runs of one program. */
struct cw_gate_runs {
    uint32_t runs, kernel_count, metric_count;
    const char *const *kernels; /* labels */
    const char *const *metrics;
    const enum cw_metric_class *classes; /* of the metrics; launches are exact */
    const double *values;                /* [metric][kernel][run]; NaN unknown */
    const struct cw_gate_time *times;    /* [kernel][run] */
};
/* Of values, each of one metric, or time or launches, in one kernel. */
struct cw_gate_summary {
    uint64_t exact, noisy, unjudged; /* they have to be equal; have a noise; are not judged */
    double least, median, greatest;  /* noise */
    struct cw_gate_slowdown slowdown;
};
/* A kernel whose launches take `ns` each and `total` together: the smallest slow-down that would show by the limit of
 * time, NaN where none would. */
struct cw_gate_shown {
    double slowdown, total;
};
struct cw_gate_shown cw_gate_shown_of(const struct cw_gate_kernel *limit, double ns, double total);
/* Sorts `shown`. */
struct cw_gate_slowdown cw_gate_slowdown_of(struct cw_gate_shown *shown, uint32_t count);
/* Rules by which one comparison in a thousand, or less, of two more such runs finds a change.
 *
 * An exact count that was equal in all runs has to be equal. Else the noise of a metric in a kernel is the half-width
 * of the prediction interval of the difference of two runs, t * sqrt(2) * s, where s is a relative standard deviation.
 * Kernels whose exact counts differ between runs do other work each time: s is their own, and they say nothing of
 * others.
 *
 * Of time, a limit is made of each of the three numbers of struct cw_gate_time, and the greatest serves: the change has
 * to be beyond it by all three. s^2 is the mean of the own variance, weighed by its degrees of freedom, and the usual
 * one of kernels whose times are within a factor of 4 of it, else of all kernels (eval/compare/prior.h), whose freedom counts
 * as 8 at most. t has the freedom of both. Its tail is 5 in a thousand over the number of kernels, at most 1 in a
 * thousand, of a kernel that each run timed three times or more: three numbers that agree are rarer than one. Else it
 * is a quarter of one in a thousand over twice the number of kernels. A kernel that was timed so often, and whose mean
 * times (of one pass each) lay within 1 % of each other in 5 runs or more, has a noise of at most 2.9 %. The noise is
 * at least 1.5 steps of the GPU's clock (48 ns).
 *
 * Of other metrics, s^2 is the mean of the own variance, which weighs as much as its degrees of freedom, and of the
 * usual one, which weighs as much as 2: the geometric mean of kernels of similar size in which runs differ, or of all
 * such kernels. t has the freedom of both. As rare runs are far off, the half-width is taken 1.8 times. A value that
 * was the same in 5 runs or more, in more than half of the kernels, is held to the least noise there. Where no kernel
 * differs and these are not given, the noise is unknown.
 *
 * There, t has three quarters of the tail of one in a thousand, divided by the number of comparisons (Bonferroni). The
 * noise is at least twice the greatest difference that was seen. Of what is no exact count it is at least 0.5 %.
 *
 * The floor is 0. Where the noise is half the value or more, or the value is 0, the floor is that noise of the value,
 * and a hundredth of what the greatest kernel has at least, and the noise is the least one. Metrics of which no noise
 * is known, and those that were 0 everywhere and are no exact counts, are left out.
 *
 * `rules` has chip and device already. At least 3 runs, else CW_ERR_USAGE; CW_ERR_INCOMPARABLE where nothing is known
 * of any metric. */
enum cw_status cw_gate_learn(struct cw_gate_rules *rules, struct cw_gate_summary *summary,
                             const struct cw_gate_runs *runs, struct cw_arena *arena, struct cw_error *err);

/* In order of gravity. */
enum cw_verdict { CW_SAME, CW_BETTER, CW_AMBIGUOUS, CW_WORSE, CW_INCOMPARABLE, CW_VERDICT__COUNT };
extern const char *const cw_verdict_names[CW_VERDICT__COUNT];

struct cw_gate_finding {    /* a value beyond its noise, or that one of the captures lacks */
    uint32_t match, metric; /* of the comparison, of the rules */
    double a, b, allowed;   /* allowed: how far b may be from a; of time: the means */
    int a_status, b_status; /* enum cw_value_status */
    enum cw_verdict verdict;
};
struct cw_judgement {
    enum cw_verdict verdict;
    uint32_t kernels; /* that are in both */
    uint32_t reason_count, reasons_left, finding_count;
    const char *const *reasons; /* why captures are incomparable, for people; of the rest the number alone */
    const struct cw_gate_finding *findings; /* by match, in its order, then metric */
    const enum cw_verdict *verdicts;        /* of each match */
    struct cw_gate_slowdown slowdown;
    const double *shown;         /* [match]: the smallest slow-down that would show, NaN unknown */
    const bool *lacking;         /* [match]: a slow-down of `need` would not show, and nothing else does */
    uint32_t needed;             /* how many of these there are */
    uint64_t compared, unjudged; /* values that were judged; in both captures, but with a noise of 1 or implausible */
};
/* Judges a comparison of the rules' metrics (cw_gate_time and cw_gate_launches are no metrics) by kernel. The noise is
 * that of two runs; where a side is the mean of n and the other of m, it is sqrt((1/n + 1/m) / 2) of that. Time changed
 * where mean, median and least are beyond it in one direction, or the mean is by three times as much: then some
 * launches took far longer. A kernel is worse where its time is, or other values are and none is better; ambiguous
 * where values go both ways, nobody knows which way is better, or it is the same but a slow-down of `need` (a part of
 * the time; 0: none is asked for) would not show. The whole has the gravest verdict of its kernels. Captures are
 * incomparable where one has no ranges, where they are of another chip, device or plan than the other or the rules,
 * where a kernel is in one of them alone, where a value overflowed or is incomplete, also in both, and where a value
 * was collected in one alone: one that divides by zero in one is not compared, nor is an implausible one. All lives in
 * `arena`. CW_ERR_IO, CW_ERR_NOMEM. */
enum cw_status cw_gate_judge(struct cw_judgement *judgement, const struct cw_gate_rules *rules,
                             const struct cw_comparison *comparison, double need, struct cw_arena *arena,
                             struct cw_error *err);

#endif
