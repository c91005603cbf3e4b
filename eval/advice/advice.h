/* The limit of each kernel, and changes that would help: rules (metricdb/rules.h) on the mean launch of each group of
 * ranges. */
#ifndef CW_EVAL_ADVICE_ADVICE_H
#define CW_EVAL_ADVICE_ADVICE_H

#include "eval/ranges/groups.h"
#include "eval/result.h"
#include "eval/samples/instructions.h"
#include "metricdb/rules.h"

/* Low if a value is implausible, overflowed or is incomplete, or if the kernel ran for less than 10 us or for times
 * that vary by more than 30 %. Medium if a value mixes passes, also by a formula of its own or as evidence, or if an
 * earlier limiter could not be checked. */
enum cw_confidence { CW_CONFIDENCE_LOW, CW_CONFIDENCE_MEDIUM, CW_CONFIDENCE_HIGH };
/* "low", "medium", "high". */
const char *cw_confidence_text(enum cw_confidence confidence);

struct cw_advice_finding {
    const struct cw_rule *rule;
    double gain;      /* the fraction of the kernel's time that would go: 0.8 leaves a fifth; 0 for a note */
    bool implausible; /* the gain, or whether the rule holds, comes from an implausible value */
    enum cw_confidence confidence;
    const char *doubt; /* why the confidence is not high, in a few words; "" if it is */
    size_t evidence_count, line_count;
    const struct cw_advice_value {
        const char *name, *unit; /* as the rule has it; "" for values that rules compute */
        enum cw_rule_form form;
        double value;
        int8_t status;            /* enum cw_value_status */
    } * values, *evidence;        /* values: one for each piece of the rule's text */
    const struct cw_advice_line { /* of source code */
        const char *file;
        uint32_t line;
        uint64_t samples; /* that wait for the rule's stalls */
        double share;     /* of all samples of the kernel */
    } * lines;            /* none before cw_advice_add_lines */
};

struct cw_advice_kernel {
    const struct cw_group *group;
    const struct cw_range *launch; /* a mean one: name, grid, block */
    const char *limiter;           /* "latency > barrier", "" if none could be found */
    enum cw_confidence confidence; /* in the limiter */
    const char *doubt;             /* as of a finding */
    bool limits_checked;           /* the capture has the metrics of all limits that were looked at */
    size_t step_count, finding_count, unchecked_count;
    const struct cw_advice_step { /* on the way down the tree */
        const struct cw_limiter *node;
        double value; /* 0..1; NaN without one */
        int8_t status;
    } * steps;
    /* by gain, the largest first, implausible ones last; notes only without other findings */
    const struct cw_advice_finding *findings;
    const struct cw_rule *const *unchecked; /* as the capture lacks metrics, but checked for other kernels */
};

/* Findings that would save less of a kernel's time are left out, unless the user asks for another limit. */
#define CW_ADVICE_LEAST_GAIN 0.05

struct cw_advice {
    const struct cw_rules *rules;
    const struct cw_groups *groups;
    size_t kernel_count; /* one for each group, in their order */
    const struct cw_advice_kernel *kernels;
    const uint32_t *longest; /* all of them, by total time, the longest first */
    size_t unchecked_count, partly_count, absent_count;
    const struct cw_rule *const *unchecked; /* for no kernel, as the capture lacks metrics */
    const struct cw_rule *const *partly;    /* not for all kernels, for the same reason */
    const struct cw_rule *const *absent;    /* as the chip lacks metrics */
    bool limiters_unchecked;                /* the whole tree could be checked for no kernel */
    size_t sampled;                         /* kernels that have samples, see cw_advice_add_lines */
};

/* Applies the rules to each group, and leaves out findings of a smaller gain than `least`. The groups' capture is of
 * the rules' chip. Everything lives in `arena`, `rules` and `groups`. CW_ERR_NOMEM alone. */
enum cw_status cw_advise(struct cw_advice *advice, const struct cw_rules *rules, const struct cw_groups *groups,
                         double least, struct cw_arena *arena, struct cw_error *err);

/* The finding that lists show beside a kernel: the one that saves most of its time. NULL if none does: a note saves
 * nothing, and an implausible finding never leads. */
const struct cw_advice_finding *cw_advice_first(const struct cw_advice_kernel *kernel);

/* ---- groups of launches ----------------------------------------------------------------------------------------- */

struct cw_advice_groups {
    const struct cw_advice *advice;
    const struct cw_groups *groups;
    const struct cw_advice_group {
        const struct cw_group *group;
        const struct cw_advice_kernel *limited_by; /* has the limiter with most of the time; NULL without any */
        double limited;                            /* this limiter's part of the group's time */
        size_t part_count;
        const struct cw_advice_part { /* of a rule */
            double gain;  /* of the group's time: sum of gain x time over its kernels, by the time; plausible ones */
            double share; /* of the group's time: kernels that have the finding */
            double most;  /* the part of `gain`, or for a note of `share`, that `kernel` has */
            uint32_t kernel_count;                   /* that have the finding */
            const struct cw_advice_kernel *kernel;   /* the one that would save most */
            const struct cw_advice_finding *finding; /* of that kernel */
        } * parts; /* by gain, the largest first; then notes of at least half of the time */
    } * items;     /* of each group */
};

/* Adds up the advice on kernels for groups of any kind of the same capture's ranges. Everything lives in `arena`,
 * `kernels` and `groups`. CW_ERR_NOMEM alone. */
enum cw_status cw_advise_groups(struct cw_advice_groups *out, const struct cw_advice *kernels,
                                const struct cw_groups *groups, struct cw_arena *arena, struct cw_error *err);

/* What limits a group: the limiter of more than half of its time, CW_LIMITS_MIXED if none has so much, "" without any.
 */
#define CW_LIMITS_MIXED "mixed"
const char *cw_advice_limiter(const struct cw_advice_group *group);

/* ---- lines of source code --------------------------------------------------------------------------------------- */

enum { CW_ADVICE_LINES = 3 };
/* Adds source lines to each finding, at most CW_ADVICE_LINES: the ones with most PC samples of the rule's stalls, or
 * with most samples if the rule names no stalls. The samples are of the same program: kernels go by their functions.
 * Texts are borrowed from `samples`. */
enum cw_status cw_advice_add_lines(struct cw_advice *advice, const struct cw_instructions *samples,
                                   struct cw_arena *arena, struct cw_error *err);

#endif
