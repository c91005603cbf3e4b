#define _GNU_SOURCE
#include "tests/unit/eval_sample.h"

#include "eval/compare/gate.h"
#include "eval/compare/statistics.h"
#include "eval/quantile.h"
#include "eval/status.h"

TestSuite(eval_gate, .init = set_up, .fini = tear_down);

static struct cw_gate_rules rules;
static struct cw_gate_summary summary;

static enum cw_status parse(const char *text)
{
    err = (struct cw_error)CW_ERROR_INIT;
    return cw_gate_parse(&rules, text, strlen(text), "rules", arena, &err);
}

enum { RUNS = 5, KERNELS = 2, METRICS = 4 };

static const struct cw_gate_metric *learned(const char *name)
{
    for (uint32_t i = 0; i < rules.metric_count; i++)
        if (strcmp(rules.metrics[i].name, name) == 0)
            return &rules.metrics[i];
    return NULL;
}

/* Mean, median and least of each kernel and run are the value of metric 0. */
static const struct cw_gate_time *times_of(const double *values, size_t count)
{
    static struct cw_gate_time times[64];
    cr_assert(count <= 64);
    for (size_t i = 0; i < count; i++)
        times[i] = (struct cw_gate_time){values[i], values[i], values[i], 3};
    return times;
}

static void learn(const double values[METRICS][KERNELS][RUNS])
{
    static const char *const kernels[] = {"a", "b"};
    static const char *const metrics[] = {"time", "smsp__inst_executed.sum", "dram__bytes.sum", "lts__d_sectors.sum"};
    static const enum cw_metric_class classes[METRICS] = {[1] = CW_CLASS_EXACT};
    const struct cw_gate_runs runs = {RUNS,    KERNELS, METRICS,          kernels,
                                      metrics, classes, &values[0][0][0], times_of(&values[0][0][0], RUNS * KERNELS)};
    rules = (struct cw_gate_rules){.chip = "TINY", .device = "any"};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK, "%s", err.message);
}

Test(eval_gate, counts_are_exact_and_the_rest_has_noise)
{
    static const double values[METRICS][KERNELS][RUNS] = {
        {{1e4, 1.01e4, 1.02e4, 9.9e3, 9.8e3}, {1e5, 1.001e5, 9.99e4, 1e5, 1e5}},
        {{64, 64, 64, 64, 64}, {70, 71, 70, 70, 70}},
        {{5, 5, 5, 5, 5}, {6, 6, 6, 6, 6}},
        {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}};
    learn(values);
    cr_assert(rules.metric_count == 3, "nothing is known of a value that is 0 everywhere and no count");
    cr_expect(rules.runs == RUNS);
    const struct cw_gate_metric *time = learned("time"), *inst = learned("smsp__inst_executed.sum");
    /* at least what was seen, and far more than a deviation of 1.6 % where five runs are all that is known */
    cr_expect(time->noise > 0.04 * 1.5 && time->noise < 0.5, "%g", time->noise);
    cr_assert(time->kernel_count == 1, "the longer kernel is far less noisy");
    cr_expect_str_eq(time->kernels[0].label, "b");
    cr_expect(time->kernels[0].noise < 0.75 * time->noise);
    cr_expect(time->noise > 48 / 1e4);
    cr_expect(inst->noise > 0 || inst->kernel_count == 1);
    cr_expect(learned("dram__bytes.sum")->noise == 0.005, "no run of five differed, though it is no exact count");
}

Test(eval_gate, few_runs_that_do_not_differ_say_nothing)
{
    static const char *const kernels[] = {"a", "b"}, *const metrics[] = {"time", "dram__bytes.sum"};
    static const enum cw_metric_class classes[2] = {0};
    static const double values[2][2][4] = {{{1e4, 1.01e4, 1.02e4, 9.9e3}, {1e4, 1.01e4, 1.02e4, 9.9e3}},
                                           {{5, 5, 5, 5}, {6, 6, 6, 6}}};
    const struct cw_gate_runs runs = {
        4, 2, 2, kernels, metrics, classes, &values[0][0][0], times_of(&values[0][0][0], 8)};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    cr_expect(learned("time") && !learned("dram__bytes.sum"));
}

Test(eval_gate, kernels_that_differ_say_how_much_others_may)
{
    static const char *const kernels[] = {"a", "b", "c"}, *const metrics[] = {"time", "lts__t_sectors.sum"};
    static const enum cw_metric_class classes[2] = {0};
    static const double values[2][3][4] = {{{9e4, 9e4, 9e4, 9e4}, {9e4, 9e4, 9e4, 9e4}, {9e4, 9e4, 9e4, 9e4}},
                                           {{5e5, 5e5, 5e5, 5e5}, {6e5, 6.06e5, 5.94e5, 6e5}, {0, 0, 0, 0}}};
    const struct cw_gate_runs runs = {
        4, 3, 2, kernels, metrics, classes, &values[0][0][0], times_of(&values[0][0][0], 12)};
    char *text = NULL;
    size_t size;
    rules = (struct cw_gate_rules){.chip = "TINY", .device = "any"};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    FILE *out = open_memstream(&text, &size);
    cr_assert(cw_gate_write(out, &rules, &err) == CW_OK);
    fclose(out);
    const struct cw_gate_metric *of = learned("lts__t_sectors.sum");
    cr_assert(of && of->kernel_count == 2, "%s", text);
    cr_expect_str_eq(of->kernels[0].label, "a");
    cr_expect(of->kernels[0].noise > 0.01 && of->kernels[0].noise < of->noise, "%s", text);
    cr_expect_str_eq(of->kernels[1].label, "c");
    cr_expect(of->kernels[1].noise == 0.005 && of->kernels[1].floor == 6000, "a hundredth of the greatest: %s", text);
    free(text);
}

/* The limits as their sources define them: half a prediction interval, with what kernels of a size usually vary by. */
Test(eval_gate, limits_are_those_of_prediction_intervals)
{
    static const char *const kernels[] = {"a", "b"}, *const metrics[] = {"time", "lts__t_sectors.sum"};
    static const enum cw_metric_class classes[2] = {0};
    static const double values[2][2][5] = {{{1e6, 1e6, 1e6, 1e6, 1.2e6}, {2e6, 2e6, 2e6, 2e6, 2.1e6}},
                                           {{5e5, 5e5, 5e5, 5e5, 5.02e5}, {6e5, 6e5, 6e5, 6e5, 6.04e5}}};
    double part[2][2], noise[2][2];
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 2; k++) {
            const double usual = values[m][k][0], off = values[m][k][4] - usual, mean = usual + off / 5;
            part[m][k] = off * off / 5 / (mean * mean); /* the variance of four equal values and another one */
        }
    const double tail = 1e-3 / 2 / 2, prior = sqrt(part[1][0] * part[1][1]);
    for (int k = 0; k < 2; k++) {
        noise[0][k] = M_SQRT2 * cw_student_quantile(4, fmin(1e-3, 5e-3 / 2)) * sqrt(part[0][k]);
        noise[1][k] = 1.8 * M_SQRT2 * cw_student_quantile(6, tail * 0.75) * sqrt((2 * prior + 4 * part[1][k]) / 6);
    }
    const struct cw_gate_runs runs = {
        5, 2, 2, kernels, metrics, classes, &values[0][0][0], times_of(&values[0][0][0], 10)};
    rules = (struct cw_gate_rules){.chip = "TINY", .device = "any"};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    for (int m = 0; m < 2; m++) {
        const struct cw_gate_metric *of = learned(metrics[m]);
        const int most = noise[m][0] < noise[m][1], least = !most;
        cr_assert(of && of->kernel_count == 1, "%s", metrics[m]);
        cr_expect_float_eq(of->noise, noise[m][most], 1e-9);
        cr_expect_str_eq(of->kernels[0].label, kernels[least]);
        cr_expect_float_eq(of->kernels[0].noise, noise[m][least], 1e-9);
    }
}

Test(eval_gate, more_runs_say_more)
{
    static const char *const kernels[] = {"a"}, *const metrics[] = {"time"};
    static const enum cw_metric_class classes[1] = {0};
    double few, many, values[40];
    for (int i = 0; i < 40; i++)
        values[i] = 1e4 + 100 * (i % 2);
    struct cw_gate_runs runs = {4, 1, 1, kernels, metrics, classes, values, times_of(values, 40)};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    few = rules.metrics[0].noise;
    runs.runs = 40;
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    many = rules.metrics[0].noise;
    cr_expect(many < few && many > 0.0075, "%g %g", few, many);
    runs.runs = 2;
    cr_expect(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_ERR_USAGE);
}

Test(eval_gate, what_is_written_reads_the_same)
{
    static const double values[METRICS][KERNELS][RUNS] = {
        {{1e4, 1.01e4, 1.02e4, 9.9e3, 9.8e3}, {1e5, 1.001e5, 9.99e4, 1e5, 1e5}},
        {{64, 64, 64, 64, 64}, {64, 64, 64, 64, 64}},
        {{5, NAN, 5, 5, 5}, {NAN, NAN, NAN, NAN, NAN}},
        {{1, 2, 3, 4, 5}, {0, 0, 0, 0, 0}}};
    char *text[2] = {NULL, NULL};
    size_t size;
    learn(values);
    cr_expect(!learned("dram__bytes.sum"), "a value is missing in a run");
    for (int i = 0; i < 2; i++) {
        FILE *out = open_memstream(&text[i], &size);
        cr_assert(cw_gate_write(out, &rules, &err) == CW_OK);
        fclose(out);
        cr_assert(parse(text[i]) == CW_OK, "%u:%u: %s\n%s", err.line, err.column, err.message, text[i]);
    }
    cr_expect_str_eq(text[0], text[1]);
    cr_expect(rules.metric_count == 3 && learned("smsp__inst_executed.sum")->noise == 0);
    free(text[0]);
    free(text[1]);
}

Test(eval_gate, kernels_of_one_label_have_one_limit)
{
    static const char *const kernels[] = {"b", "a", "b"}, *const metrics[] = {"time"};
    static const enum cw_metric_class classes[1] = {0};
    static const double values[3][4] = {{1e6, 1e6 + 1, 1e6, 1e6}, {9e9, 9e9, 9e9, 9e9}, {1e4, 1.02e4, 1.01e4, 1e4}};
    const struct cw_gate_runs runs = {4, 3, 1, kernels, metrics, classes, &values[0][0], times_of(&values[0][0], 12)};
    char *text = NULL;
    size_t size;
    rules = (struct cw_gate_rules){.chip = "TINY", .device = "any"};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    FILE *out = open_memstream(&text, &size);
    cr_assert(cw_gate_write(out, &rules, &err) == CW_OK);
    fclose(out);
    cr_assert(parse(text) == CW_OK, "%u:%u: %s\n%s", err.line, err.column, err.message, text);
    cr_expect(rules.metrics[0].noise > 0.03, "that of the noisier of the two: %g", rules.metrics[0].noise);
    cr_assert(rules.metrics[0].kernel_count == 1, "%s", text);
    cr_expect_str_eq(rules.metrics[0].kernels[0].label, "a");
    free(text);
}

Test(eval_gate, nothing_is_learned_of_a_metric_without_values)
{
    static const char *const kernels[] = {"a"}, *const metrics[] = {"time", "sm__inst.sum", "sm__hits.sum"};
    static const enum cw_metric_class classes[] = {0, CW_CLASS_EXACT, CW_CLASS_EXACT};
    static const double values[3][3] = {{1e4, 1.01e4, 1e4}, {NAN, NAN, NAN}, {INFINITY, INFINITY, INFINITY}};
    const struct cw_gate_runs runs = {3, 1, 3, kernels, metrics, classes, &values[0][0], times_of(&values[0][0], 3)};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    cr_expect(rules.metric_count == 1 && learned("time"));
    const struct cw_gate_runs nothing = {
        3, 1, 2, kernels, metrics + 1, classes + 1, &values[1][0], times_of(&values[1][0], 3)};
    cr_expect(cw_gate_learn(&rules, &summary, &nothing, arena, &err) == CW_ERR_INCOMPARABLE);
}

/* A kernel whose five times lie within 1 %, beside others that vary far more. */
Test(eval_gate, a_steady_kernel_shows_3_percent)
{
    enum { COUNT = 8 };
    static const char *const kernels[] = {"a", "b", "c", "d", "e", "f", "g", "h"}, *const metrics[] = {"time"};
    static const enum cw_metric_class classes[1] = {0};
    double values[COUNT][RUNS];
    for (int k = 0; k < COUNT; k++)
        for (int i = 0; i < RUNS; i++)
            values[k][i] = 5e4 * (1 + (k ? 0.02 : 0.0015) * ((i * 7 + k) % 5 - 2));
    const struct cw_gate_runs runs = {
        RUNS, COUNT, 1, kernels, metrics, classes, &values[0][0], times_of(&values[0][0], RUNS * COUNT)};
    rules = (struct cw_gate_rules){.chip = "TINY", .device = "any"};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    cr_expect(summary.slowdown.least < 0.03 && summary.slowdown.least_at == 0, "%g", summary.slowdown.least);
    cr_expect(summary.slowdown.half > 0.1 && summary.slowdown.most >= summary.slowdown.half);
    /* a mean, a median and a least time that differ as much as they do here are judged by the widest */
    struct cw_gate_time *times = (struct cw_gate_time *)runs.times;
    for (int i = 0; i < RUNS; i++)
        times[i].median = times[i].least = 5e4;
    cr_expect(rules.metrics[0].kernels[0].noise > 0.028);
    const double before = rules.metrics[0].kernels[0].noise;
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    cr_expect(rules.metrics[0].kernels[0].noise == before, "the mean is the widest");
    /* one time a run, as good as it looks, is no proof */
    for (int i = 0; i < RUNS; i++)
        times[i].count = 1;
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    cr_expect(rules.metrics[0].kernels[0].noise > before);
}

/* ---- judging ---------------------------------------------------------------------------------------------------- */

static struct cw_comparison comparison;
static struct cw_judgement judgement;
static struct cw_counter_data other;
static double other_rollups[CW_ROLLUP_COUNT][SAMPLE_COUNTERS][SAMPLE_RANGES];

/* The sample beside a copy of it in which one counter of a range is `factor` times as much. */
static enum cw_verdict judge(const char *text, int counter, int range, double factor)
{
    static struct cw_metric metrics[1];
    cr_assert(parse(text) == CW_OK, "%u:%u: %s", err.line, err.column, err.message);
    memcpy(other_rollups, sample_rollups, sizeof other_rollups);
    other = data;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        other_rollups[r][counter][range] *= factor;
        other.rollups[r] = &other_rollups[r][0][0];
    }
    cr_assert(cw_metric_parse(&metrics[0], chip, "sm__inst.sum", &err) == CW_OK);
    const struct cw_eval_options options = {0};
    const struct cw_result a = {.chip = chip, .data = &data, .source = "a", .metrics = metrics, .metric_count = 1};
    struct cw_result b = a;
    b.data = &other;
    data.complete = other.complete = true;
    cr_assert(cw_compare(&comparison, &a, &b, NULL, CW_BY_KERNEL, false, &options, arena, &err) == CW_OK);
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, 0, arena, &err) == CW_OK);
    return judgement.verdict;
}

static const char exact[] = "schema: 1\nchip: TINY\nmetrics: {sm__inst.sum: {better: less, noise: 0}}\n";
static const char noisy[] = "schema: 1\nchip: TINY\nmetrics: {sm__inst.sum: {better: more, noise: 0.1, floor: 100}}\n";
static const char timed[] = "schema: 1\nchip: TINY\nmetrics:\n  time: {better: less, noise: 0.1}\n"
                            "  sm__inst.sum: {better: less, noise: 0}\n";

Test(eval_gate, verdicts)
{
    cr_expect(judge(exact, INST, 0, 1) == CW_SAME && judgement.compared > 0 && !judgement.finding_count);
    cr_expect(judge(exact, INST, 0, 1.001) == CW_WORSE && judgement.finding_count == 1);
    cr_expect(judge(exact, INST, 0, 0.999) == CW_BETTER);
    cr_expect(judge(exact, HITS, 0, 2) == CW_SAME, "no rule is about it");
    cr_expect(judge(noisy, INST, 2, 1.1) == CW_SAME);
    cr_expect(judge(noisy, INST, 2, 2) == CW_BETTER);
    cr_expect(judge(noisy, INST, 2, 0.5) == CW_WORSE);
    cr_expect(judge(timed, TIME, 2, 2) == CW_WORSE);
    cr_expect(judge(timed, TIME, 2, 0.5) == CW_BETTER);
    cr_expect(judge(timed, INST, 2, 2) == CW_WORSE);
}

Test(eval_gate, the_mean_of_several_runs_has_less_noise)
{
    cr_expect(judge("schema: 1\nchip: TINY\nmetrics: {sm__inst.sum: {better: less, noise: 0.1}}\n", INST, 2, 1) ==
              CW_SAME);
    const double a = comparison.a.groups.count ? comparison.a.means.values[comparison.matches[0].a] : 0;
    comparison.b.means.values[comparison.matches[0].b] = a * 1.08;
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, 0, arena, &err) == CW_OK);
    cr_expect(judgement.verdict == CW_SAME);
    comparison.a.runs = comparison.b.runs = 4;
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, 0, arena, &err) == CW_OK);
    cr_expect(judgement.verdict == CW_WORSE, "8 %% of two means, of which 5 %% is allowed");
}

Test(eval_gate, infinity_is_beyond_all_noise)
{
    cr_expect(judge(noisy, INST, 2, INFINITY) == CW_BETTER && judgement.finding_count == 1);
    cr_expect(judge(exact, INST, 2, INFINITY) == CW_WORSE);
    cr_expect(judge("schema: 1\nchip: TINY\nmetrics: {sm__inst.sum: {better: less, noise: unknown}}\n", INST, 2,
                    INFINITY) == CW_INCOMPARABLE &&
                  !judgement.compared && judgement.unjudged > 0,
              "no noise is below 100 %%, so nothing was judged");
}

/* Statuses of both sides' value of the metric in the first match. */
static enum cw_verdict judge_statuses(int a, int b)
{
    judge(noisy, INST, 2, 1);
    comparison.a.means.statuses[comparison.matches[0].a] = (int8_t)a;
    comparison.b.means.statuses[comparison.matches[0].b] = (int8_t)b;
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, 0, arena, &err) == CW_OK);
    return judgement.verdict;
}

Test(eval_gate, what_overflowed_or_is_incomplete_is_incomparable)
{
    cr_expect(judge_statuses(CW_VALUE_OK, CW_VALUE_MIXED_PASSES) == CW_SAME);
    const uint64_t compared = judgement.compared;
    cr_expect(judge_statuses(CW_VALUE_OK, CW_VALUE_OVERFLOW) == CW_INCOMPARABLE);
    cr_expect(judgement.finding_count == 1 && judgement.findings[0].b_status == CW_VALUE_OVERFLOW);
    cr_expect(judge_statuses(CW_VALUE_INCOMPLETE, CW_VALUE_OK) == CW_INCOMPARABLE);
    cr_expect(judge_statuses(CW_VALUE_OVERFLOW, CW_VALUE_OVERFLOW) == CW_INCOMPARABLE, "equal numbers say nothing");
    cr_expect(judge_statuses(CW_VALUE_IMPLAUSIBLE, CW_VALUE_OK) == CW_SAME);
    cr_expect(judgement.unjudged == 1 && judgement.compared == compared - 1, "it is left out");
}

Test(eval_gate, some_launches_without_a_time_are_incomparable)
{
    judge(timed, INST, 2, 1);
    struct cw_group *group = (struct cw_group *)&comparison.b.groups.items[comparison.matches[0].b];
    cr_assert(group->timed == group->count && group->count > 1);
    group->timed--;
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, 0, arena, &err) == CW_OK);
    cr_expect(judgement.verdict == CW_INCOMPARABLE);
}

Test(eval_gate, what_is_needed_and_would_not_show_is_ambiguous)
{
    judge(timed, INST, 2, 1);
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, 0.2, arena, &err) == CW_OK);
    cr_expect(judgement.verdict == CW_SAME && !judgement.needed);
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, 0.05, arena, &err) == CW_OK);
    cr_expect(judgement.verdict == CW_AMBIGUOUS && judgement.needed == judgement.kernels, "10 %% of noise");
    judge(timed, TIME, 2, 2);
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, 0.05, arena, &err) == CW_OK);
    cr_expect(judgement.verdict == CW_WORSE, "that shows");
    uint32_t lacking = 0;
    for (uint32_t i = 0; i < comparison.match_count; i++) {
        lacking += judgement.lacking[i];
        cr_expect(!judgement.lacking[i] || judgement.verdicts[i] == CW_AMBIGUOUS);
    }
    cr_expect(lacking == judgement.needed, "those that are listed are those that are counted");
}

Test(eval_gate, a_noise_of_one_judges_nothing)
{
    static const char text[] = "schema: 1\nchip: TINY\nmetrics:\n  time: {better: less, noise: 0.5}\n"
                               "  sm__inst.sum: {better: less, noise: 1}\n";
    cr_expect(judge(text, INST, 2, 100) == CW_SAME);
    cr_expect(judgement.compared == judgement.unjudged, "time was judged, the other was not");
    cr_expect(judgement.slowdown.least == 1 && judgement.slowdown.most == 1, "twice the time at 50 %%: %g",
              judgement.slowdown.least);
}

Test(eval_gate, what_is_mostly_noise_has_a_floor)
{
    static const double values[METRICS][KERNELS][RUNS] = {
        {{1e4, 1.01e4, 1.02e4, 9.9e3, 9.8e3}, {1e5, 1.001e5, 9.99e4, 1e5, 1e5}},
        {{64, 64, 64, 64, 64}, {70, 70, 70, 70, 70}},
        {{50, 990, 3, 200, 10}, {7000, 1, 70, 9000, 3000}},
        {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}};
    learn(values);
    const struct cw_gate_metric *of = learned("dram__bytes.sum");
    cr_assert(of && of->kernel_count == 2);
    cr_expect(of->kernels[0].noise == 0.005 && of->kernels[0].floor > 990);
    cr_expect(of->kernels[1].noise == 0.005 && of->kernels[1].floor > 9000);
    cr_expect(summary.exact == 2 && summary.noisy == 4 && summary.least == 0.005 && summary.greatest < 1, "%lu %lu",
              (unsigned long)summary.exact, (unsigned long)summary.noisy);
    cr_expect(summary.slowdown.least < 0.1 && summary.slowdown.least_at == 1 && summary.slowdown.most_at == 0);
}

Test(eval_gate, what_cannot_be_compared)
{
    cr_expect(judge("schema: 1\nchip: OTHER\nmetrics: {sm__inst.sum: {better: less, noise: 0}}\n", INST, 0, 1) ==
              CW_INCOMPARABLE);
    cr_expect(judge("schema: 1\nchip: TINY\nmetrics: {sm__hits.sum: {better: less, noise: 0}}\n", INST, 0, 1) ==
                  CW_INCOMPARABLE,
              "no value of it is there");
    cr_expect(judge("schema: 1\nchip: TINY\ndevice: mine\nmetrics: {sm__inst.sum: {better: less, noise: 0}}\n", INST, 0,
                    1) == CW_INCOMPARABLE);
    cr_expect(judge("schema: 1\nchip: TINY\nmetrics: {}\n", INST, 0, 1) == CW_INCOMPARABLE);
}

Test(eval_gate, hostile_rules)
{
    static const char *const texts[] = {
        "",
        "schema: 2\nchip: X\nmetrics: {}\n",
        "schema: 1\nchip: X\nmetrics: []\n",
        "schema: 1\nchip: X\nmetrics: {a b: {better: less, noise: 0}}\n",
        "schema: 1\nchip: X\nmetrics: {a: {better: less, noise: 1e999}}\n",
        "schema: 1\nchip: X\nmetrics: {a: {better: less, noise: 0, kernels: {}}}\n",
        "schema: 1\nchip: X\nmetrics: {a: {better: less, noise: 0, kernels: [{kernel: [], noise: 0}]}}\n",
        "schema: 1\nchip: X\nmetrics: {a: {better: less, noise: 0, kernels: [{kernel: k, noise: 0, other: 0}]}}\n",
        "schema: 1\nchip: X\nmetrics: {a: {better: [], noise: 0}}\n",
        "schema: 1\nchip: X\nmetrics: {a: {better: less, noise: 0}, a: {better: less, noise: 0}}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cr_expect(parse(texts[i]) == CW_ERR_INPUT, "%s", texts[i]);
        cr_expect(err.line > 0, "%s", texts[i]);
        cr_expect(rules.metric_count == 0);
    }
}

/* ---- statistics ------------------------------------------------------------------------------------------------- */

Test(eval_gate, quantiles)
{
    double values[] = {4, 1, 3, 2};
    cr_expect(cw_median(values, 4) == 2.5);
    cr_expect(cw_quantile(values, 4, 0) == 1 && cw_quantile(values, 4, 1) == 4 && cw_quantile(values, 1, 0.3) == 1);
}

Test(eval_gate, variances_that_are_alike_count_for_more)
{
    double alike[20], apart[20];
    for (int i = 0; i < 20; i++) {
        alike[i] = 1e-4 * (1 + 0.2 * (i % 5 - 2));
        apart[i] = 1e-4 * pow(10, i % 5 - 2);
    }
    const struct cw_prior a = cw_prior_fit(alike, 20, 4), b = cw_prior_fit(apart, 20, 4);
    cr_expect(a.freedom == 100 && a.variance > 0.9e-4 && a.variance < 1.4e-4, "%g %g", a.freedom, a.variance);
    cr_expect(b.freedom > 0 && b.freedom < 2, "%g", b.freedom);
    alike[0] = 1e3;
    const struct cw_prior c = cw_prior_fit(alike, 20, 4);
    cr_expect(c.freedom == 100 && c.variance < 1.4e-4, "one far off is left out: %g %g", c.freedom, c.variance);
    cr_expect(cw_prior_fit(alike, CW_PRIOR_LEAST - 1, 4).freedom == 0);
}

/* Computed apart from the recursions of both functions, down from 1,000. */
Test(eval_gate, a_prior_to_six_digits)
{
    double variances[20];
    for (int i = 0; i < 20; i++)
        variances[i] = 1e-4 * pow(3, i % 5 - 2);
    const struct cw_prior even = cw_prior_fit(variances, 20, 4), odd = cw_prior_fit(variances, 20, 9);
    cr_expect_float_eq(even.freedom, 1.81678287, 1e-6);
    cr_expect_float_eq(even.variance, 6.89035065e-05, 1e-10);
    cr_expect_float_eq(odd.freedom, 1.60328422, 1e-6);
    cr_expect_float_eq(odd.variance, 5.35294052e-05, 1e-10);
}
