/* What limits each kernel, and what to change: rules (metricdb/rules.h) on the mean launch of each group of ranges. */
#ifndef CW_EVAL_ADVICE_ADVICE_H
#define CW_EVAL_ADVICE_ADVICE_H

#include "eval/ranges/groups.h"
#include "eval/result.h"
#include "eval/samples/instructions.h"
#include "metricdb/rules.h"

/* Of values: low where one is implausible, overflowed or is incomplete, or the kernel ran for less than 10 us or for
 * times that vary by more than 30 %; medium where one mixes passes, also by a formula of its own or as evidence, or
 * where a limiter that comes first could not be checked. */
enum cw_confidence { CW_CONFIDENCE_LOW, CW_CONFIDENCE_MEDIUM, CW_CONFIDENCE_HIGH };
/* "low", "medium", "high". */
const char *cw_confidence_text(enum cw_confidence confidence);

struct cw_advice_value {
    const char *name, *unit; /* as the rule has it; "" for what rules compute */
    enum cw_rule_form form;
    double value;
    int8_t status; /* enum cw_value_status */
};

struct cw_advice_line { /* of source code */
    const char *file;
    uint32_t line;
    uint64_t samples; /* that wait for what the rule is about */
    double share;     /* of all samples of the kernel */
};

struct cw_advice_finding {
    const struct cw_rule *rule;
    double gain;      /* the fraction of the kernel's time that would go: 0.8 leaves a fifth; 0 for a note */
    bool implausible; /* the gain, or whether the rule holds, comes of a share of more than the whole */
    enum cw_confidence confidence;
    const char *doubt;                    /* why it is not high, in a few words; "" where it is */
    const struct cw_advice_value *values; /* one for each piece of the rule's text */
    size_t evidence_count, line_count;
    const struct cw_advice_value *evidence;
    const struct cw_advice_line *lines; /* none before cw_advice_add_lines */
};

struct cw_advice_step { /* of the way down the tree */
    const struct cw_limiter *node;
    double value; /* 0..1; NaN where the node has none */
    int8_t status;
};

struct cw_advice_kernel {
    const struct cw_group *group;
    const struct cw_range *launch; /* a mean one: name, grid, block */
    const char *limiter;           /* "latency > barrier", "" where none could be told */
    enum cw_confidence confidence; /* in the limiter */
    const char *doubt;             /* as of a finding */
    size_t step_count, finding_count, unchecked_count;
    const struct cw_advice_step *steps;
    /* by gain, the largest first, implausible ones behind; notes where there is nothing else */
    const struct cw_advice_finding *findings;
    const struct cw_rule *const *unchecked; /* for lack of metrics in the capture; not those of all kernels */
};

/* Findings that would save less of a kernel's time are not told, unless other is asked for. */
#define CW_ADVICE_LEAST_GAIN 0.05

struct cw_advice {
    const struct cw_rules *rules;
    const struct cw_groups *groups;
    size_t kernel_count; /* one for each group, in their order */
    const struct cw_advice_kernel *kernels;
    const uint32_t *longest; /* all of them, by total time, the longest first */
    size_t unchecked_count, partly_count, absent_count;
    const struct cw_rule *const *unchecked; /* of no kernel, for lack of metrics in the capture */
    const struct cw_rule *const *partly;    /* not of all kernels, for the same reason */
    const struct cw_rule *const *absent;    /* which the chip lacks metrics for */
    bool limiters_unchecked;                /* of no kernel could the whole tree be checked */
    size_t sampled;                         /* kernels whose samples were found, see cw_advice_add_lines */
};

/* Applies the rules to each group; findings of a smaller gain than `least` are left out. The groups' capture is of the
 * rules' chip. All lives in `arena` and in what is given. CW_ERR_NOMEM alone. */
enum cw_status cw_advise(struct cw_advice *advice, const struct cw_rules *rules, const struct cw_groups *groups,
                         double least, struct cw_arena *arena, struct cw_error *err);

/* What lists say beside a kernel: the finding that saves most of its time. NULL where none does: a note saves nothing,
 * and a finding that is implausible leads nothing. */
const struct cw_advice_finding *cw_advice_first(const struct cw_advice_kernel *kernel);

/* Of a rule, in a group of launches. */
struct cw_advice_part {
    /* of the group's time: sum of gain x time over its kernels, by the time; of no implausible findings */
    double gain;
    double share;                            /* of the group's time: kernels that have the finding */
    double most;                             /* of these, what the one below has of `gain`, or for a note of `share` */
    uint32_t kernel_count;                   /* that have it */
    const struct cw_advice_kernel *kernel;   /* the one that would save most */
    const struct cw_advice_finding *finding; /* of that kernel */
};

struct cw_advice_group {
    const struct cw_group *group;
    const struct cw_advice_kernel *limited_by; /* has the limiter that has most of the time; NULL where none has one */
    double limited;                            /* of the group's time */
    size_t part_count;
    const struct cw_advice_part *parts; /* by gain, the largest first; notes of at least half of the time behind them */
};

struct cw_advice_groups {
    const struct cw_advice *advice;
    const struct cw_groups *groups;
    const struct cw_advice_group *items; /* of each group */
};

/* Adds up the advice on kernels for groups of any kind of the same capture's ranges; all lives in `arena` and in what
 * is given. CW_ERR_NOMEM alone. */
enum cw_status cw_advise_groups(struct cw_advice_groups *out, const struct cw_advice *kernels,
                                const struct cw_groups *groups, struct cw_arena *arena, struct cw_error *err);

enum { CW_ADVICE_LINES = 3 };
/* Adds to each finding the source lines, at most CW_ADVICE_LINES, on which most PC samples wait for what its rule is
 * about, or on which most are where the rule names no stalls. The samples are of the same program: kernels go by their
 * functions. Texts are borrowed from `samples`. */
enum cw_status cw_advice_add_lines(struct cw_advice *advice, const struct cw_instructions *samples,
                                   struct cw_arena *arena, struct cw_error *err);

#endif
