#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <math.h>

#include "eval/compare/gate.h"
#include "eval/compare/statistics.h"

enum { RUNS = 5, MOST_KERNELS = 4 };

static struct cw_arena *arena;
static struct cw_gate_rules rules;
static struct cw_gate_summary summary;

static void set_up(void)
{
    arena = cw_arena_create();
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(eval_gate_learn, .init = set_up, .fini = tear_down);

/* Runs whose values are measured. All three times of a launch are the values of the first metric. */
static void learn(const char *const *metrics, uint32_t metric_count, const char *const *kernels, uint32_t kernel_count,
                  const double *values)
{
    static const enum cw_metric_class classes[8] = {CW_CLASS_OTHER};
    struct cw_gate_time times[MOST_KERNELS * RUNS];
    struct cw_error err = CW_ERROR_INIT;
    for (uint32_t i = 0; i < kernel_count * RUNS; i++)
        times[i] = (struct cw_gate_time){values[i], values[i], values[i], 3};
    const struct cw_gate_runs runs = {RUNS, kernel_count, metric_count, kernels, metrics, classes, values, times};
    rules = (struct cw_gate_rules){.chip = "TINY", .device = ""};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK, "%s", err.message);
}

/* A steady kernel that is launched once, and one that varies, of a hundredth of its time, but launched 1,000 times. */
Test(eval_gate_learn, half_of_the_time_is_that_of_all_launches)
{
    static const char *const kernels[] = {"long", "often"}, *const metrics[] = {"time", "x__sectors.sum", "launches"};
    static const double values[3][2][RUNS] = {{{1e6, 1e6, 1e6, 1e6, 1.001e6}, {1e4, 1.1e4, 1e4, 1.2e4, 1e4}},
                                              {{7, 8, 7, 7, 7}, {7, 7, 7, 7, 8}},
                                              {{1, 1, 1, 1, 1}, {1000, 1000, 1000, 1000, 1000}}};
    learn(metrics, 3, kernels, 2, &values[0][0][0]);
    cr_expect(summary.slowdown.most > 2 * summary.slowdown.least && summary.slowdown.least_at == 0);
    cr_expect(summary.slowdown.half == summary.slowdown.most, "%g", summary.slowdown.half);
    learn(metrics, 2, kernels, 2, &values[0][0][0]); /* not counted: one each */
    cr_expect(summary.slowdown.half == summary.slowdown.least, "%g", summary.slowdown.half);
}

/* False alarms are shared by all comparisons but those of time: kernels, and metrics less one. */
Test(eval_gate_learn, more_metrics_have_wider_limits)
{
    static const char *const kernels[] = {"a"};
    static const char *const metrics[] = {"time", "x__a.sum", "x__b.sum", "x__c.sum", "x__d.sum"};
    static const double values[5][1][RUNS] = {{{1e6, 1e6, 1e6, 1e6, 1.001e6}},
                                              {{1000, 1000, 1000, 1000, 1010}},
                                              {{1000, 1000, 1000, 1000, 1010}},
                                              {{1000, 1000, 1000, 1000, 1010}},
                                              {{1000, 1000, 1000, 1000, 1010}}};
    const double part = 10.0 * 10 / RUNS / (1002.0 * 1002.0);
    for (uint32_t count = 2; count <= 5; count++) {
        learn(metrics, count, kernels, 1, &values[0][0][0]);
        const double tail = 1e-3 / 2 * 0.75 / (count - 1);
        const double noise = 1.8 * M_SQRT2 * cw_student_quantile(2 + RUNS - 1, tail) * sqrt(part);
        cr_assert(rules.metric_count == count);
        cr_expect_float_eq(rules.metrics[1].noise, noise, 1e-9, "%u: %g", count, rules.metrics[1].noise);
    }
}

/* Kernels that are not listed have the limit of most: where values are mostly noise, that is a floor. */
Test(eval_gate_learn, new_kernels_have_the_limit_of_most)
{
    static const char *const kernels[] = {"a", "b", "c", "d"}, *const metrics[] = {"time", "x__sectors.sum"};
    double values[2][MOST_KERNELS][RUNS];
    for (int noisy = 0; noisy <= MOST_KERNELS; noisy++) {
        for (int k = 0; k < MOST_KERNELS; k++)
            for (int i = 0; i < RUNS; i++) {
                values[0][k][i] = 1e6;
                values[1][k][i] = i < RUNS - 1 ? 1000 : k < noisy ? 9000 : 1001;
            }
        learn(metrics, 2, kernels, MOST_KERNELS, &values[0][0][0]);
        const struct cw_gate_metric *of = &rules.metrics[rules.metric_count - 1];
        const double greatest = noisy ? 2600 : 1000.2;
        cr_expect_float_eq(of->floor, noisy > MOST_KERNELS / 2 ? 0.01 * greatest : 0, 1e-9, "%d: %g", noisy, of->floor);
    }
}

/* Whichever of them comes first. */
Test(eval_gate_learn, kernels_of_one_label_have_the_widest_limit)
{
    static const char *const kernels[] = {"a", "b", "a", "a"}, *const metrics[] = {"time", "x__sectors.sum"};
    for (int wide = 0; wide < MOST_KERNELS; wide++) {
        double values[2][MOST_KERNELS][RUNS];
        for (int k = 0; k < MOST_KERNELS; k++)
            for (int i = 0; i < RUNS; i++) {
                values[0][k][i] = 1e6 + (i == 0) * (k == wide ? 3e4 : 2e4);
                values[1][k][i] = 1000 + (i == 0) * (k == wide ? 60 : 20);
            }
        learn(metrics, 2, kernels, MOST_KERNELS, &values[0][0][0]);
        for (uint32_t m = 0; m < 2; m++) {
            const struct cw_gate_metric *of = &rules.metrics[m];
            cr_assert(rules.metric_count == 2 && of->kernel_count == 1, "%d: %u", wide, of->kernel_count);
            cr_expect_str_eq(of->kernels[0].label, wide == 1 ? "a" : "b", "%d: the other has the limit of most", wide);
            cr_expect(of->kernels[0].noise < of->noise);
        }
    }
}

/* More launches than are read at a time. */
Test(eval_gate_learn, times_of_many_launches)
{
    enum { MANY = 10000 };
    static struct cw_range ranges[MANY];
    static double durations[MANY], known[MANY];
    static uint32_t index[MANY];
    struct cw_error err = CW_ERROR_INIT;
    struct cw_gate_time *times;
    for (uint32_t i = 0; i < MANY; i++) {
        durations[i] = known[i] = 1000 + i;
        index[i] = i;
        ranges[i] = (struct cw_range){.name = "", .kernel = "", .durations = &durations[i]};
    }
    const struct cw_group all = {.count = MANY, .ranges = index};
    const struct cw_counter_data of = {.schema.pass_count = 1, .range_count = MANY, .ranges = ranges};
    const struct cw_side side = {.groups = {.count = 1, .items = &all, .durations = known}, .runs = 1, .data = &of};
    cr_assert(cw_gate_times_make(&times, &side, arena, &err) == CW_OK, "%s", err.message);
    cr_expect(times[0].mean == 1000 + (MANY - 1) / 2.0 && times[0].median == times[0].mean, "%g", times[0].mean);
    cr_expect(times[0].least == 1000 && times[0].count == MANY);
}
