#include "eval/advice/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/formula.h"

static const double MOST_VARIED = 0.3;

const char *cw_confidence_text(enum cw_confidence confidence)
{
    static const char *const texts[] = {"low", "medium", "high"};
    return texts[confidence];
}

struct advising {
    struct cw_advice *advice;
    const struct cw_rules *rules;
    double least;
    struct cw_result values; /* of the rules' metrics, on all groups */
    uint32_t *checked;       /* [rule]: kernels */
    double *gains;           /* [rule], for the kernel at hand */
    bool *uncounted;         /* the same: whether the launch alone gives the gain */
    struct cw_arena *arena;
    struct cw_error *err;
};

/* ---- values ----------------------------------------------------------------------------------------------------- */

static size_t column_of(const struct advising *a, const struct cw_metric *m)
{
    const struct cw_metric *found = bsearch(m, a->values.metrics, a->values.metric_count, sizeof *m, cw_metric_compare);
    return (size_t)(found - a->values.metrics);
}

static struct cw_advice_value value_of(const struct advising *a, const struct cw_metric *m, uint32_t row)
{
    const size_t column = column_of(a, m), at = column * a->values.row_count + row;
    return (struct cw_advice_value){
        .name = "", .unit = a->values.units[column], .value = a->values.values[at], .status = a->values.statuses[at]};
}

static struct cw_advice_value named_value(const struct advising *a, const struct cw_rule_name *name, uint32_t row)
{
    struct cw_advice_value value = value_of(a, &name->metric, row);
    value.name = name->name;
    value.form = name->form;
    return value;
}

/* The value of a formula, or `otherwise` for CW_NONE. */
static struct cw_advice_value formula_value(const struct advising *a, uint32_t formula, double otherwise, uint32_t row)
{
    if (formula == CW_NONE)
        return (struct cw_advice_value){.name = "", .unit = "", .value = otherwise};
    return value_of(a, &(struct cw_metric){.type = CW_FORMULA, .base = formula}, row);
}

static bool is_known(const struct cw_advice_value *v)
{
    return v->status < CW_VALUE_UNAVAILABLE;
}

static bool is_true(const struct cw_advice_value *v)
{
    return is_known(v) && !isnan(v->value) && v->value != 0;
}

/* ---- confidence ------------------------------------------------------------------------------------------------- */

/* The gravest doubt counts. */
enum doubt { NO_DOUBT, MIXED, UNCHECKED, VARIED, SHORT, UNTIMED, UNCOUNTED, INCOMPLETE, OVERFLOWED, IMPLAUSIBLE };
static const struct {
    enum cw_confidence confidence;
    const char *text;
} doubts[] = {
    [NO_DOUBT] = {CW_CONFIDENCE_HIGH, ""},
    [MIXED] = {CW_CONFIDENCE_MEDIUM, "mixed passes"},
    [UNCHECKED] = {CW_CONFIDENCE_MEDIUM, "limits before it not checked"},
    [VARIED] = {CW_CONFIDENCE_LOW, "launches vary by over 30 %"},
    [SHORT] = {CW_CONFIDENCE_LOW, "launches under 10 us"},
    [UNTIMED] = {CW_CONFIDENCE_LOW, "time not known"},
    [UNCOUNTED] = {CW_CONFIDENCE_LOW, "by the launch alone"},
    [INCOMPLETE] = {CW_CONFIDENCE_LOW, "a pass is missing"},
    [OVERFLOWED] = {CW_CONFIDENCE_LOW, "a counter overflowed"},
    [IMPLAUSIBLE] = {CW_CONFIDENCE_LOW, "a share exceeds the whole, or a count is below 0"},
};

static enum doubt graver(enum doubt a, enum doubt b)
{
    return a > b ? a : b;
}

static enum doubt of_time(const struct cw_group *group)
{
    if (isnan(group->mean))
        return UNTIMED;
    if (group->mean < CW_SHORT_LAUNCH_NS)
        return SHORT;
    return group->deviation > MOST_VARIED * group->mean ? VARIED : NO_DOUBT;
}

static enum doubt of_status(int8_t status)
{
    return status == CW_VALUE_IMPLAUSIBLE    ? IMPLAUSIBLE
           : status == CW_VALUE_OVERFLOW     ? OVERFLOWED
           : status == CW_VALUE_INCOMPLETE   ? INCOMPLETE
           : status == CW_VALUE_MIXED_PASSES ? MIXED
                                             : NO_DOUBT;
}

/* The doubt about a formula's value and about each metric in it, as a division by 0 hides their statuses. */
static enum doubt of_formula(const struct advising *a, uint32_t formula, uint32_t row)
{
    const struct cw_formula *f = formula == CW_NONE ? NULL : &a->rules->chip->formulas->items[formula];
    enum doubt doubt = of_status(formula_value(a, formula, 0, row).status);
    for (uint32_t i = 0; f && i < f->metric_count; i++)
        doubt = graver(doubt, of_status(value_of(a, &f->metrics[i], row).status));
    return doubt;
}

/* ---- the limiter ------------------------------------------------------------------------------------------------ */

static enum cw_status find_limiter(const struct advising *a, struct cw_advice_kernel *kernel, uint32_t row)
{
    enum doubt doubt = of_time(kernel->group);
    const struct cw_limiter *nodes = a->rules->limiters;
    struct cw_advice_step *steps = cw_arena_alloc(a->arena, a->rules->limiter_count, sizeof *steps);
    size_t end = a->rules->limiter_count;
    if (!steps)
        return cw_error_nomem(a->err);
    kernel->limiter = "";
    kernel->steps = steps;
    kernel->limits_checked = true;
    for (size_t i = 0; i < end;) {
        const struct cw_limiter *node = &nodes[i];
        const struct cw_advice_value when = formula_value(a, node->when, 1, row);
        if (node->lacks || !is_true(&when)) {
            if (!node->lacks && !is_known(&when)) {
                doubt = graver(doubt, UNCHECKED);
                kernel->limits_checked = false;
            }
            i = node->next;
            continue;
        }
        const struct cw_advice_value value = formula_value(a, node->value, NAN, row);
        doubt = graver(doubt, graver(of_formula(a, node->when, row), of_formula(a, node->value, row)));
        steps[kernel->step_count++] = (struct cw_advice_step){node, value.value, value.status};
        kernel->limiter = node->path;
        end = node->next;
        i++;
    }
    kernel->confidence = doubts[doubt].confidence;
    kernel->doubt = doubts[doubt].text;
    return CW_OK;
}

static bool any_limiter_known(const struct advising *a, uint32_t row)
{
    bool all = true;
    for (size_t i = 0; i < a->rules->limiter_count; i++) {
        const struct cw_advice_value when = formula_value(a, a->rules->limiters[i].when, 1, row);
        all = all && (a->rules->limiters[i].lacks || is_known(&when));
    }
    return all;
}

/* ---- findings --------------------------------------------------------------------------------------------------- */

/* The gain of a rule for a kernel: -1 if the rule does not hold, NaN if it cannot be checked. */
static double gain_of(const struct advising *a, const struct cw_rule *rule, uint32_t row)
{
    const struct cw_advice_value when = formula_value(a, rule->when, 0, row);
    const struct cw_advice_value refuted = formula_value(a, rule->refuted_by, 0, row);
    const struct cw_advice_value gain = formula_value(a, rule->gain, 0, row);
    const struct cw_advice_value bound = formula_value(a, rule->bound, 0, row);
    if (!is_known(&when))
        return NAN;
    if (!is_true(&when))
        return -1;
    if (!is_known(&refuted) || !is_known(&gain) || !is_known(&bound))
        return NAN;
    if (isnan(refuted.value) || isnan(bound.value))
        return NAN;
    if (is_true(&refuted) || !isfinite(gain.value))
        return -1;
    double most = bound.value > 0 ? 1 - bound.value : 1;
    return fmax(0, fmin(gain.value, most));
}

/* The gain by the launch alone, NaN without any: `by_launch`, but for times that the capture has not counted. */
static double uncounted_gain_of(const struct advising *a, const struct cw_rule *rule, uint32_t row)
{
    const struct cw_advice_value gain = formula_value(a, rule->uncounted, NAN, row);
    const double mean = a->advice->groups->items[row].mean;
    if (!is_known(&gain) || !(gain.value > 0))
        return NAN;
    return fmin(gain.value, 1) * (mean > 0 ? fmax(0, 1 - CW_RULE_SHORTEST_NS / mean) : 1);
}

static enum cw_status add_finding(const struct advising *a, struct cw_advice_finding *finding,
                                  const struct cw_advice_kernel *kernel, const struct cw_rule *rule, double gain,
                                  uint32_t row)
{
    struct cw_advice_value *values = cw_arena_alloc(a->arena, rule->piece_count, sizeof *values);
    struct cw_advice_value *evidence = cw_arena_alloc(a->arena, rule->evidence_count, sizeof *evidence);
    if (!values || !evidence)
        return cw_error_nomem(a->err);
    *finding = (struct cw_advice_finding){.rule = rule, .gain = gain, .values = values, .evidence = evidence};
    enum doubt doubt = graver(of_formula(a, rule->when, row), of_formula(a, rule->gain, row));
    finding->implausible = doubt == IMPLAUSIBLE || of_formula(a, rule->bound, row) == IMPLAUSIBLE;
    for (size_t i = 0; i < rule->piece_count; i++) {
        values[i] = named_value(a, &rule->pieces[i].value, row);
        doubt = graver(doubt, of_status(values[i].status));
    }
    for (size_t i = 0; i < rule->evidence_count; i++) {
        struct cw_advice_value v = named_value(a, &rule->evidence[i], row);
        if (!is_known(&v))
            continue;
        evidence[finding->evidence_count++] = v;
        doubt = graver(doubt, of_status(v.status));
    }
    doubt = graver(doubt, of_time(kernel->group));
    doubt = graver(doubt, a->uncounted[rule - a->rules->rules] ? UNCOUNTED : NO_DOUBT);
    finding->confidence = doubts[doubt].confidence;
    finding->doubt = doubts[doubt].text;
    return CW_OK;
}

static int largest_first(const void *a, const void *b)
{
    const struct cw_advice_finding *x = a, *y = b;
    if (x->implausible != y->implausible)
        return x->implausible - y->implausible;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return strcmp(x->rule->id, y->rule->id);
}

/* Whether a rule that is no note becomes a finding. */
static bool is_told(const struct advising *a, size_t rule, double gain)
{
    return !a->rules->rules[rule].note && gain > 0 && gain >= a->least;
}

/* Checks all rules for the kernel; *told: how many become findings. */
static enum cw_status check_rules(const struct advising *a, struct cw_advice_kernel *kernel, uint32_t row, size_t *told)
{
    const size_t count = a->rules->rule_count;
    *told = 0;
    for (size_t i = 0; i < count; i++) {
        a->gains[i] = a->rules->rules[i].lacks ? -1 : gain_of(a, &a->rules->rules[i], row);
        a->uncounted[i] = isnan(a->gains[i]);
        if (a->uncounted[i])
            a->gains[i] = uncounted_gain_of(a, &a->rules->rules[i], row);
        *told += is_told(a, i, a->gains[i]);
        a->checked[i] += !isnan(a->gains[i]);
        kernel->unchecked_count += isnan(a->gains[i]);
    }
    const struct cw_rule **unchecked = cw_arena_alloc(a->arena, kernel->unchecked_count, sizeof *unchecked);
    if (!unchecked)
        return cw_error_nomem(a->err);
    for (size_t i = 0, k = 0; i < count; i++)
        if (isnan(a->gains[i]))
            unchecked[k++] = &a->rules->rules[i];
    kernel->unchecked = unchecked;
    return CW_OK;
}

static enum cw_status find(const struct advising *a, struct cw_advice_kernel *kernel, uint32_t row)
{
    const size_t count = a->rules->rule_count;
    size_t told;
    CW_TRY(check_rules(a, kernel, row, &told));
    const bool alone = told == 0; /* notes count only without other findings */
    for (size_t i = 0; i < count && alone; i++)
        told += a->rules->rules[i].note && a->gains[i] >= 0;
    struct cw_advice_finding *findings = cw_arena_alloc(a->arena, told, sizeof *findings);
    if (!findings)
        return cw_error_nomem(a->err);
    for (size_t i = 0; i < count; i++)
        if (is_told(a, i, a->gains[i]) || (alone && a->rules->rules[i].note && a->gains[i] >= 0))
            CW_TRY(add_finding(a, &findings[kernel->finding_count++], kernel, &a->rules->rules[i], a->gains[i], row));
    qsort(findings, told, sizeof *findings, largest_first);
    kernel->findings = findings;
    return CW_OK;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

/* A kernel lists only unchecked rules that were checked for other kernels. */
static void drop_common(const struct advising *a, struct cw_advice_kernel *kernel)
{
    const struct cw_rule **unchecked = (const struct cw_rule **)kernel->unchecked;
    size_t kept = 0;
    for (size_t i = 0; i < kernel->unchecked_count; i++)
        if (a->checked[unchecked[i] - a->rules->rules])
            unchecked[kept++] = unchecked[i];
    kernel->unchecked_count = kept;
}

static enum cw_status sum_up(const struct advising *a, struct cw_advice_kernel *kernels)
{
    struct cw_advice *out = a->advice;
    const size_t count = a->rules->rule_count;
    const struct cw_rule **unchecked = cw_arena_alloc(a->arena, count, sizeof *unchecked);
    const struct cw_rule **partly = cw_arena_alloc(a->arena, count, sizeof *partly);
    const struct cw_rule **absent = cw_arena_alloc(a->arena, count, sizeof *absent);
    if (!unchecked || !partly || !absent)
        return cw_error_nomem(a->err);
    for (size_t i = 0; i < count; i++) {
        const struct cw_rule *rule = &a->rules->rules[i];
        if (rule->lacks)
            absent[out->absent_count++] = rule;
        else if (!a->checked[i] && out->kernel_count)
            unchecked[out->unchecked_count++] = rule;
        else if (a->checked[i] < out->kernel_count)
            partly[out->partly_count++] = rule;
    }
    out->unchecked = unchecked;
    out->partly = partly;
    out->absent = absent;
    out->limiters_unchecked = out->kernel_count != 0;
    for (size_t k = 0; k < out->kernel_count; k++) {
        drop_common(a, &kernels[k]);
        out->limiters_unchecked = out->limiters_unchecked && !any_limiter_known(a, (uint32_t)k);
    }
    return CW_OK;
}

enum cw_status cw_advise(struct cw_advice *advice, const struct cw_rules *rules, const struct cw_groups *groups,
                         double least, struct cw_arena *arena, struct cw_error *err)
{
    struct advising a = {.advice = advice, .rules = rules, .least = least, .arena = arena, .err = err};
    struct cw_advice_kernel *kernels = cw_arena_alloc(arena, groups->count, sizeof *kernels);
    a.checked = cw_arena_alloc(arena, rules->rule_count, sizeof *a.checked);
    a.gains = cw_arena_alloc(arena, rules->rule_count, sizeof *a.gains);
    a.uncounted = cw_arena_alloc(arena, rules->rule_count, sizeof *a.uncounted);
    *advice = (struct cw_advice){.rules = rules,
                                 .groups = groups,
                                 .kernel_count = groups->count,
                                 .kernels = kernels,
                                 .longest = cw_groups_longest(groups, arena)};
    if (!advice->longest || !kernels || !a.checked || !a.gains || !a.uncounted)
        return cw_error_nomem(err);
    a.values = (struct cw_result){.chip = rules->chip,
                                  .data = &groups->data,
                                  .metrics = rules->metrics,
                                  .metric_count = (uint32_t)rules->metric_count};
    CW_TRY(cw_result_make(&a.values, &(struct cw_eval_options){0}, arena, err));
    for (uint32_t i = 0; i < groups->count; i++) {
        kernels[i] = (struct cw_advice_kernel){.group = &groups->items[i], .launch = cw_launch_of(&groups->data, i)};
        CW_TRY(find_limiter(&a, &kernels[i], i));
        CW_TRY(find(&a, &kernels[i], i));
    }
    return sum_up(&a, kernels);
}

const struct cw_advice_finding *cw_advice_first(const struct cw_advice_kernel *kernel)
{
    const struct cw_advice_finding *first = kernel->findings;
    return kernel->finding_count && first->gain > 0 && !first->implausible ? first : NULL;
}
