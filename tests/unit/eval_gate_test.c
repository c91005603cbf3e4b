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
    cr_assert(rules.metric_count == 4 && isinf(learned("lts__d_sectors.sum")->noise),
              "of a value that is 0 everywhere and no count");
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
    cr_expect(isfinite(learned("time")->noise) && isinf(learned("dram__bytes.sum")->noise));
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

/* ---- what is learned, computed anew ------------------------------------------------------------------------------ */

enum { MANY = 16 };

static double number_of(const struct cw_gate_time *t, int which)
{
    return which == 0 ? t->mean : which == 1 ? t->median : t->least;
}

/* The variance of one of the three numbers in a kernel's runs, as a part of their mean. */
static double part_of(const struct cw_gate_time *t, int which, double *mean)
{
    double squares = 0;
    *mean = 0;
    for (int i = 0; i < RUNS; i++)
        *mean += number_of(&t[i], which) / RUNS;
    for (int i = 0; i < RUNS; i++)
        squares += pow(number_of(&t[i], which) / *mean - 1, 2);
    return fmax(squares / (RUNS - 1), pow(4.8 / *mean, 2));
}

static struct cw_prior prior_near(const double *means, const double *parts, double size, double factor)
{
    double list[MANY];
    uint32_t count = 0;
    for (int k = 0; k < MANY; k++)
        if (means[k] <= factor * size && size <= factor * means[k])
            list[count++] = parts[k];
    return cw_prior_fit(list, count, RUNS - 1);
}

/* As docs and gate.h say it: kernels of a size share a prior, and the widest of three numbers serves. */
static double expected_noise(const struct cw_gate_time times[MANY][RUNS], int kernel, double known)
{
    double noise = 0.005, tail = 1e-3 / 4 / 2 / known, least = INFINITY, most = 0, mean = 0;
    bool often = true;
    for (int i = 0; i < RUNS; i++) {
        const struct cw_gate_time *t = &times[kernel][i];
        often = often && t->count >= 3;
        least = fmin(least, t->mean), most = fmax(most, t->mean), mean += t->mean / RUNS;
    }
    tail = often ? fmin(1e-3, 5e-3 / known) : tail;
    for (int which = 0; which < 3; which++) {
        double means[MANY], parts[MANY];
        for (int k = 0; k < MANY; k++)
            parts[k] = part_of(times[k], which, &means[k]);
        struct cw_prior prior = prior_near(means, parts, ldexp(M_SQRT2, ilogb(means[kernel])), 4);
        prior = prior.freedom > 0 ? prior : prior_near(means, parts, 1, INFINITY);
        const double weight = fmin(prior.freedom, 8);
        const double variance = (weight * prior.variance + 4 * parts[kernel]) / (weight + 4);
        noise = fmax(noise, M_SQRT2 * cw_student_quantile((unsigned)(weight + 4), tail) * sqrt(variance));
    }
    if (often && most - least < 0.01 * mean)
        noise = fmin(noise, 0.029);
    return fmax(noise, 48 / mean);
}

Test(eval_gate, limits_of_time_are_those_of_kernels_of_a_size)
{
    static char labels[MANY][8];
    static struct cw_gate_time times[MANY][RUNS];
    static double values[2][MANY][RUNS];
    const char *kernels[MANY], *const metrics[] = {"time", "launches"};
    static const enum cw_metric_class classes[2] = {0};
    double noise[MANY], most = 0;
    struct cw_gate_shown shown[MANY];
    for (int k = 0; k < MANY; k++) {
        /* eight short ones, seven long ones, and one that is far from all */
        const double size = k == MANY - 1 ? 3e7 : k < 8 ? 1000 + 150 * k : 1e6 + 1e5 * k;
        snprintf(labels[k], sizeof labels[k], "k%02d", k);
        kernels[k] = labels[k];
        for (int i = 0; i < RUNS; i++) {
            const double off = (i * (k + 2)) % RUNS - 2, part = k == 9 ? 1e-3 : 4e-3 + 2e-3 * (k * k % 7);
            times[k][i] = (struct cw_gate_time){size * (1 + part * off), size * (0.9 + part * off * (k % 3)),
                                                size * (0.8 + 0.5 * part * off * (k % 4)),
                                                (k == 3 && i == 4) || (k == 5 && i == 0) ? 2 : 3};
            values[0][k][i] = times[k][i].mean;
            values[1][k][i] = MANY - k;
        }
    }
    for (int k = 0; k < MANY; k++) {
        noise[k] = expected_noise(times, k, MANY);
        most = fmax(most, noise[k]);
        double mean = 0;
        for (int i = 0; i < RUNS; i++)
            mean += values[0][k][i] / RUNS;
        shown[k] = (struct cw_gate_shown){noise[k] / (1 - noise[k]), mean * (MANY - k)};
    }
    const struct cw_gate_runs runs = {RUNS, MANY, 2, kernels, metrics, classes, &values[0][0][0], &times[0][0]};
    rules = (struct cw_gate_rules){.chip = "TINY", .device = "any"};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    const struct cw_gate_metric *time = learned("time");
    cr_assert(time && time->kernel_count == MANY - 1, "%u", time->kernel_count);
    cr_expect_float_eq(time->noise, most, 1e-9);
    for (uint32_t i = 0; i < time->kernel_count; i++) {
        const int k = atoi(time->kernels[i].label + 1);
        cr_expect_float_eq(time->kernels[i].noise, noise[k], 1e-9, "%d: %g and not %g", k, time->kernels[i].noise,
                           noise[k]);
        cr_expect(time->kernels[i].floor == 0);
    }
    cr_expect(noise[9] == 0.029 && fabs(noise[0] - 0.048) > 1e-3);
    cr_expect(summary.exact == MANY && summary.noisy == MANY && !summary.unjudged);
    cr_expect_float_eq(summary.greatest, most, 1e-9);
    const struct cw_gate_slowdown s = cw_gate_slowdown_of(shown, MANY);
    cr_expect_float_eq(summary.slowdown.least, s.least, 1e-9);
    cr_expect_float_eq(summary.slowdown.half, s.half, 1e-9);
    cr_expect_float_eq(summary.slowdown.most, s.most, 1e-9);
    cr_expect(summary.slowdown.least_at == s.least_at && summary.slowdown.most_at == s.most_at);
}

/* Of a kernel in which runs differ by `off` in the last, of a mean of `size`. */
static double last_differs(double off, double size)
{
    const double mean = size + off / RUNS;
    return off * off / RUNS / (mean * mean);
}

/* Kernels near in size, far from others, of other work each time, and mostly noise. */
Test(eval_gate, limits_of_values_are_those_of_kernels_near_in_size)
{
    enum { COUNT = 9 };
    static const char *const kernels[COUNT] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    static const char *const metrics[] = {"lts__t_sectors.sum", "smsp__inst_executed.sum"};
    static const enum cw_metric_class classes[] = {CW_CLASS_MEASURED, CW_CLASS_EXACT};
    static const double sizes[COUNT] = {1000, 2000, 3900, 0.1, 0.2, 1e9, 1500, 0, 5000};
    static const double offs[COUNT] = {10, 30, 100, 0.001, 0.004, 2e6, 150, 0, 9000};
    double values[2][COUNT][RUNS], part[COUNT], noise[COUNT];
    for (int k = 0; k < COUNT; k++) {
        for (int i = 0; i < RUNS; i++) {
            values[0][k][i] = sizes[k] + (i == RUNS - 1 ? offs[k] : 0);
            values[1][k][i] = 70 + (k == 6 && i == 2); /* does other work each time */
        }
        part[k] = sizes[k] > 0 ? last_differs(offs[k], sizes[k]) : 0;
    }
    const double tail = 1e-3 / 2 / COUNT * 0.75, all = exp((log(part[0]) + log(part[1]) + log(part[2]) + log(part[3]) +
                                                            log(part[4]) + log(part[5]) + log(part[8])) /
                                                           7);
    for (int k = 0; k < COUNT; k++) {
        const double mean = sizes[k] + offs[k] / RUNS, seen = 2 * offs[k] / mean;
        double sum = 0;
        int count = 0;
        for (int n = 0; n < COUNT; n++) {
            const double other = sizes[n] + offs[n] / RUNS;
            if (n != 6 && part[n] > 0 && other <= 4 * mean && mean <= 4 * other)
                sum += log(part[n]), count++;
        }
        const double prior = count ? exp(sum / count) : all;
        noise[k] = k == 6 ? M_SQRT2 * cw_student_quantile(4, tail) * sqrt(part[6])
                          : 1.8 * M_SQRT2 * cw_student_quantile(6, tail) * sqrt((2 * prior + 4 * part[k]) / 6);
        noise[k] = fmax(fmax(noise[k], seen), 0.005);
    }
    const struct cw_gate_runs runs = {
        RUNS, COUNT, 2, kernels, metrics, classes, &values[0][0][0], times_of(&values[0][0][0], COUNT * RUNS)};
    rules = (struct cw_gate_rules){.chip = "TINY", .device = "any"};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    const struct cw_gate_metric *of = learned("lts__t_sectors.sum"), *inst = learned("smsp__inst_executed.sum");
    cr_assert(of && inst && of->floor == 0);
    const double least_floor = 0.01 * (1e9 + 2e6 / RUNS);
    double most = 0;
    for (int k = 0; k < 6; k++)
        most = fmax(most, noise[k] < 0.5 ? noise[k] : 0.005);
    cr_expect_float_eq(of->noise, most, 1e-9, "%g", of->noise);
    uint32_t n = 0;
    for (int k = 0; k < COUNT; k++) {
        const bool by_floor = k == 7 || noise[k] >= 0.5;
        const double own = by_floor ? 0.005 : noise[k];
        if (!by_floor && own <= most && own >= 0.75 * most)
            continue;
        cr_assert(n < of->kernel_count);
        cr_expect_str_eq(of->kernels[n].label, kernels[k]);
        cr_expect_float_eq(of->kernels[n].noise, own, 1e-9, "%s: %g and not %g", kernels[k], of->kernels[n].noise, own);
        const double mean = sizes[k] + offs[k] / RUNS;
        cr_expect_float_eq(of->kernels[n].floor, by_floor ? fmax(k == 7 ? 0 : noise[k] * mean, least_floor) : 0, 1e-3);
        n++;
    }
    cr_expect(n == of->kernel_count && noise[8] > 0.5);
    cr_expect(inst->noise == 0 && inst->kernel_count == 1, "as most have to be equal");
    cr_expect_str_eq(inst->kernels[0].label, "g");
    cr_expect_float_eq(inst->kernels[0].noise, M_SQRT2 * cw_student_quantile(4, tail) * sqrt(0.2 / (70.2 * 70.2)),
                       1e-9);
    cr_expect(summary.exact == COUNT - 1 && summary.noisy == COUNT + 1 && summary.unjudged == 0);
}

/* The noise of kernels in which runs do not differ, for each number of such kernels. */
Test(eval_gate, kernels_without_a_difference)
{
    static const char *const kernels[] = {"a", "b", "c", "d"}, *const metrics[] = {"lts__t_sectors.sum", "launches"};
    static const enum cw_metric_class classes[2] = {CW_CLASS_MEASURED};
    double values[2][4][RUNS];
    for (int same = 0; same <= 4; same++) {
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < RUNS; i++) {
                values[0][k][i] = 1000 + (k >= same && i == 0 ? 20 : 0);
                values[1][k][i] = 3;
            }
        const struct cw_gate_runs runs = {
            RUNS, 4, 2, kernels, metrics, classes, &values[0][0][0], times_of(&values[0][0][0], 4 * RUNS)};
        rules = (struct cw_gate_rules){.chip = "TINY", .device = "any"};
        cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
        const struct cw_gate_metric *of = learned("lts__t_sectors.sum"), *launches = learned("launches");
        const double part = last_differs(20, 1000), tail = 1e-3 / 2 / 4 * 0.75;
        const double quantile = 1.8 * M_SQRT2 * cw_student_quantile(6, tail);
        cr_assert(of && launches && launches->noise == 0 && !launches->kernel_count);
        cr_expect(launches->better == CW_BETTER_LESS && of->better == CW_BETTER_LESS);
        cr_expect(summary.exact == 4 && summary.noisy == 4);
        if (same == 4) {
            cr_expect(of->noise == 0.005 && !of->kernel_count && summary.greatest == 0.005);
            continue;
        }
        cr_expect_float_eq(of->noise, quantile * sqrt(part), 1e-9);
        cr_expect_float_eq(summary.greatest, of->noise, 1e-12);
        cr_expect_eq(of->kernel_count, (uint32_t)same, "of %d", same);
        for (uint32_t i = 0; i < of->kernel_count; i++)
            cr_expect_float_eq(of->kernels[i].noise, same == 3 ? 0.005 : quantile * sqrt(2 * part / 6), 1e-9);
        cr_expect_float_eq(summary.least, same ? of->kernels[0].noise : of->noise, 1e-12);
        cr_expect_float_eq(summary.median, same > 2 ? 0.005 : of->noise, 1e-12);
    }
}

Test(eval_gate, kernels_of_one_label_have_the_greatest_floor)
{
    static const char *const kernels[] = {"a", "a"}, *const metrics[] = {"lts__t_sectors.sum"};
    static const enum cw_metric_class classes[1] = {CW_CLASS_MEASURED};
    static const double values[2][RUNS] = {{0, 0, 0, 0, 0}, {100, 900, 100, 900, 500}};
    const struct cw_gate_runs runs = {
        RUNS, 2, 1, kernels, metrics, classes, &values[0][0], times_of(&values[0][0], 2 * RUNS)};
    rules = (struct cw_gate_rules){.chip = "TINY", .device = "any"};
    cr_assert(cw_gate_learn(&rules, &summary, &runs, arena, &err) == CW_OK);
    cr_assert(rules.metric_count == 1);
    const struct cw_gate_metric *m = &rules.metrics[0];
    const double floor = m->kernel_count ? m->kernels[0].floor : m->floor;
    cr_expect(floor > 900 && m->noise == 0.005, "%g", floor);
    cr_expect(summary.noisy == 1);
}

/* ---- judging ---------------------------------------------------------------------------------------------------- */

static struct cw_comparison comparison;
static struct cw_judgement judgement;
static struct cw_counter_data other;
static double other_rollups[CW_ROLLUP_COUNT][SAMPLE_COUNTERS][SAMPLE_RANGES];

static bool with_hits; /* compares the hits, too */

/* The sample beside its copy in other_rollups. */
static enum cw_verdict judge_copy(const char *text, double need)
{
    static struct cw_metric metrics[2];
    cr_assert(parse(text) == CW_OK, "%u:%u: %s", err.line, err.column, err.message);
    other = data;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        other.rollups[r] = &other_rollups[r][0][0];
    cr_assert(cw_metric_parse(&metrics[0], chip, "sm__inst.sum", &err) == CW_OK);
    cr_assert(cw_metric_parse(&metrics[1], chip, "sm__hits.sum", &err) == CW_OK);
    const struct cw_eval_options options = {0};
    const struct cw_result a = {
        .chip = chip, .data = &data, .source = "a", .metrics = metrics, .metric_count = with_hits ? 2 : 1};
    struct cw_result b = a;
    b.data = &other;
    b.source = "b";
    data.complete = other.complete = true;
    cr_assert(cw_compare(&comparison, &a, &b, NULL, CW_BY_KERNEL, false, &options, arena, &err) == CW_OK);
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, need, arena, &err) == CW_OK);
    return judgement.verdict;
}

/* One counter of a range is `factor` times as much in the copy. */
static enum cw_verdict judge(const char *text, int counter, int range, double factor)
{
    memcpy(other_rollups, sample_rollups, sizeof other_rollups);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        other_rollups[r][counter][range] *= factor;
    return judge_copy(text, 0);
}

static void judge_again(void)
{
    cr_assert(cw_gate_judge(&judgement, &rules, &comparison, 0, arena, &err) == CW_OK);
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

Test(eval_gate, what_was_0_in_all_runs_is_left_out_only_as_long_as_it_is)
{
    static const char unknown[] = "schema: 1\nchip: TINY\nmetrics: {sm__inst.sum: {better: less, noise: unknown}}\n";
    judge(unknown, INST, 2, 0);
    const uint32_t unjudged = judgement.unjudged;
    for (uint32_t i = 0; i < comparison.match_count; i++)
        comparison.a.means.values[comparison.matches[i].a] = comparison.b.means.values[comparison.matches[i].b] = 0;
    judge_again();
    cr_expect(judgement.unjudged == 0 && judgement.compared == 0);
    comparison.b.means.values[comparison.matches[0].b] = 987e9;
    judge_again();
    cr_expect(judgement.unjudged == 1 && unjudged > 1);
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
    comparison.a.runs = comparison.b.runs = 4;
    judge_again();
    cr_expect(judgement.verdict == CW_SAME && judgement.unjudged > 0, "nor for the means of several runs");
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
    cr_expect_float_eq(of->floor, 0.01 * 3814.2, 1e-9, "of new kernels, a hundredth of the greatest mean");
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

/* Of time, instructions, hits and lookups; the latter are of an unknown direction. */
Test(eval_gate, verdicts_of_several_values)
{
    static const char text[] = "schema: 1\nchip: TINY\nmetrics:\n  time: {better: less, noise: 0.1}\n"
                               "  sm__inst.sum: {better: less, noise: 0}\n  sm__hits.sum: {better: %s, noise: 0}\n";
    static const struct {
        double time, inst, hits;
        const char *better;
        enum cw_verdict verdict;
    } rows[] = {
        {1, 1, 1, "more", CW_SAME},           {1, 2, 2, "more", CW_AMBIGUOUS},      {1, 2, 0.5, "more", CW_WORSE},
        {1, 0.5, 2, "more", CW_BETTER},       {0.5, 2, 1, "more", CW_AMBIGUOUS},    {2, 0.5, 2, "more", CW_WORSE},
        {0.5, 0.5, 1, "more", CW_BETTER},     {1, 1, 2, "unknown", CW_AMBIGUOUS},   {1, 2, 2, "unknown", CW_WORSE},
        {1, 0.5, 2, "unknown", CW_AMBIGUOUS}, {0.5, 1, 2, "unknown", CW_AMBIGUOUS}, {2, 1, 2, "unknown", CW_WORSE}};
    with_hits = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(other_rollups, sample_rollups, sizeof other_rollups);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++) { /* the launch on the second device, which is a kernel of its own */
            other_rollups[r][TIME][2] *= rows[i].time;
            other_rollups[r][INST][2] *= rows[i].inst;
            other_rollups[r][HITS][2] *= rows[i].hits;
        }
        char *rules_text = cw_arena_printf(arena, text, rows[i].better);
        cr_expect(judge_copy(rules_text, 0) == rows[i].verdict, "row %zu: %s", i, cw_verdict_names[judgement.verdict]);
        cr_expect(judgement.kernels == 2 && judgement.compared == 6 && judgement.unjudged == 0);
        const uint32_t changes = (rows[i].time != 1) + (rows[i].inst != 1) + (rows[i].hits != 1);
        cr_assert(judgement.finding_count == changes, "row %zu", i);
        for (uint32_t k = 0; k < 2; k++) {
            const bool changed =
                comparison.matches[k].a == 1 || comparison.a.groups.items[comparison.matches[k].a].ranges[0] == 2;
            cr_expect(judgement.verdicts[k] == (changed ? rows[i].verdict : CW_SAME));
            cr_expect_float_eq(judgement.shown[k], 0.1 / 0.9, 1e-12);
        }
        if (changes == 3) {
            const struct cw_gate_finding *f = judgement.findings;
            cr_expect(f[0].metric == 0 && f[1].metric == 1 && f[2].metric == 2 && f[0].a == 2000 && f[1].a == 1600 &&
                      f[2].a == 60 && f[2].b == 60 * rows[i].hits && f[0].allowed == 0.1 * fmax(f[0].a, f[0].b));
        }
    }
}

static void expect_reasons(const char *const *texts, uint32_t count)
{
    cr_assert(judgement.reason_count == count && !judgement.reasons_left, "%u", judgement.reason_count);
    cr_expect(judgement.verdict == CW_INCOMPARABLE);
    for (uint32_t i = 0; i < count; i++)
        cr_expect_str_eq(judgement.reasons[i], texts[i]);
}

Test(eval_gate, reasons_against_a_comparison)
{
    static const char of_others[] =
        "schema: 1\nchip: X\ndevice: Y\nmetrics: {sm__inst.sum: {better: less, noise: 0}}\n";
    static const char *const others[] = {"A (a) is of the chip TINY, the rules are of X",
                                         "A (a) is of the device Tiny, the rules are of Y", "A (a) is incomplete",
                                         "B (b) is of the chip TINY, the rules are of X",
                                         "B (b) is of the device Tiny, the rules are of Y"};
    judge(of_others, INST, 2, 1);
    data.complete = false;
    judge_again();
    expect_reasons(others, 5);

    static const char *const alone[] = {"first (1, 2, 3)x(32, 1, 1) is in A alone", "third is in B alone"};
    judge(exact, INST, 2, 1);
    struct cw_match *matches = (struct cw_match *)comparison.matches;
    cr_assert(comparison.match_count == 2);
    matches[0] = (struct cw_match){0, CW_NO_GROUP, false, 0};
    matches[1] = (struct cw_match){CW_NO_GROUP, 1, false, 0};
    ((struct cw_range *)comparison.b.groups.data.ranges)[1].grid[0] = 0;
    judge_again();
    cr_expect(judgement.kernels == 0 && judgement.compared == 0 && judgement.verdicts[0] == CW_INCOMPARABLE);
    cr_expect(isnan(judgement.slowdown.least) && isnan(judgement.shown[0]) && isnan(judgement.shown[1]));
    cr_assert(judgement.reason_count == 4);
    cr_expect_str_eq(judgement.reasons[0], alone[0]);
    cr_expect_str_eq(judgement.reasons[1], alone[1]);
    cr_expect_str_eq(judgement.reasons[2], "neither has a value of sm__inst.sum");
    cr_expect_str_eq(judgement.reasons[3], "no value was compared");
}

Test(eval_gate, reasons_beyond_eight_are_counted)
{
    static const char *const reasons[] = {"neither has a value of m0", "neither has a value of m1",
                                          "neither has a value of m2", "neither has a value of m4",
                                          "neither has a value of m5", "neither has a value of m6",
                                          "neither has a value of m7", "neither has a value of m8"};
    char text[1024] = "schema: 1\nchip: TINY\nmetrics:\n";
    for (int i = 0; i < 11; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "  %s%.0d: {better: less, noise: 0}\n",
                 i == 3 ? "sm__inst.sum"
                 : i    ? "m"
                        : "m0",
                 i == 3 ? 0 : i);
    judge(text, INST, 2, 1);
    cr_assert(judgement.reason_count == 8 && judgement.reasons_left == 2, "%u", judgement.reasons_left);
    for (int i = 0; i < 8; i++)
        cr_expect_str_eq(judgement.reasons[i], reasons[i]);
    cr_expect(judgement.compared == 2 && judgement.finding_count == 0, "the rows of others are not its own");
}

Test(eval_gate, launches_that_were_lost_say_nothing_of_their_number)
{
    static const char text[] = "schema: 1\nchip: TINY\nmetrics:\n  launches: {better: less, noise: 0}\n"
                               "  sm__inst.sum: {better: less, noise: 0}\n";
    static const char *const lost[] = {"launches that were not collected: 2 in A, 5 in B"};
    judge(text, INST, 2, 1);
    struct cw_group *group = (struct cw_group *)&comparison.b.groups.items[comparison.matches[0].b];
    group->count++;
    judge_again();
    cr_expect(judgement.verdict == CW_WORSE && judgement.findings[0].b == judgement.findings[0].a + 1);
    data.dropped = other.dropped = 2;
    judge_again();
    cr_expect(judgement.verdict == CW_WORSE && judgement.reason_count == 0, "as many on both sides");
    other.dropped = 5;
    judge_again();
    expect_reasons(lost, 1);
    cr_expect(judgement.findings[0].verdict == CW_INCOMPARABLE);
    group->count--;
    judge_again();
    cr_expect(judgement.verdict == CW_SAME && judgement.reason_count == 0);
}

Test(eval_gate, many_findings)
{
    enum { COUNT = 300 };
    static struct cw_match matches[COUNT];
    judge(exact, INST, 2, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        matches[i] = comparison.matches[0];
    comparison.matches = matches;
    comparison.match_count = COUNT;
    comparison.b.means.values[matches[0].b] += 1;
    judge_again();
    cr_assert(judgement.finding_count == COUNT && judgement.verdict == CW_WORSE && judgement.kernels == COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        cr_assert(judgement.findings[i].match == i && judgement.findings[i].verdict == CW_WORSE &&
                  judgement.verdicts[i] == CW_WORSE);
}

Test(eval_gate, values_that_one_side_lacks)
{
    judge(noisy, INST, 2, 1);
    double *b = &comparison.b.means.values[comparison.matches[0].b];
    double *a = &comparison.a.means.values[comparison.matches[0].a];
    *b = NAN;
    judge_again();
    cr_assert(judgement.verdict == CW_INCOMPARABLE && judgement.finding_count == 1);
    cr_expect(judgement.findings[0].allowed == 0 && judgement.findings[0].verdict == CW_INCOMPARABLE);
    cr_expect(judgement.compared == 1 && judgement.reason_count == 0);
    comparison.b.means.statuses[comparison.matches[0].b] = CW_VALUE_ZERO_DENOMINATOR;
    judge_again();
    cr_expect(judgement.verdict == CW_SAME && !judgement.finding_count, "it has none there");
    *b = *a, *a = NAN;
    comparison.a.means.statuses[comparison.matches[0].a] = CW_VALUE_ZERO_DENOMINATOR;
    comparison.b.means.statuses[comparison.matches[0].b] = CW_VALUE_OK;
    judge_again();
    cr_expect(judgement.verdict == CW_SAME && !judgement.finding_count);
}

Test(eval_gate, values_that_divide_by_zero_everywhere)
{
    judge(noisy, INST, 2, 1);
    for (uint32_t k = 0; k < 2; k++) {
        comparison.a.means.values[k] = comparison.b.means.values[k] = NAN;
        comparison.a.means.statuses[k] = comparison.b.means.statuses[k] = CW_VALUE_ZERO_DENOMINATOR;
    }
    judge_again();
    cr_assert(judgement.reason_count == 1 && judgement.finding_count == 0);
    cr_expect_str_eq(judgement.reasons[0], "no value was compared", "though both have it");
}

/* |b - a| <= noise * max + floor: 0.1 * 2000 + 100 of 1600 and so on. */
Test(eval_gate, a_floor_is_added_to_the_noise)
{
    cr_expect(judge(noisy, INST, 2, 1900 / 1600.0) == CW_BETTER, "300 is beyond 290");
    cr_assert(judgement.finding_count == 1);
    cr_expect_float_eq(judgement.findings[0].allowed, 290, 1e-9);
    cr_expect(judge(noisy, INST, 2, 1880 / 1600.0) == CW_SAME, "280 is within 288");
    cr_expect(judge(noisy, INST, 2, 1340 / 1600.0) == CW_SAME, "260 is the limit");
    cr_expect(judge(noisy, INST, 2, 1339 / 1600.0) == CW_WORSE);
}

Test(eval_gate, a_kernel_may_have_its_own_limit)
{
    static const char text[] =
        "schema: 1\nchip: TINY\nmetrics:\n  sm__inst.sum:\n    better: less\n    noise: 0.5\n    kernels:\n"
        "      - {kernel: \"third (1, 2, 3)x(32, 1, 1)\", noise: 0.01, floor: 0}\n"
        "      - {kernel: \"a\", noise: 0.5}\n      - {kernel: \"z\", noise: 0.5}\n";
    cr_expect(judge(text, INST, 2, 1.1) == CW_WORSE);
    cr_expect(judge(text, INST, 0, 1.1) == CW_SAME && judge(text, INST, 2, 1.009) == CW_SAME);
}

/* ---- times ------------------------------------------------------------------------------------------------------ */

static void expect_time(const struct cw_gate_time *t, double mean, double median, double least, uint32_t count)
{
    const double is[] = {t->mean, t->median, t->least}, wanted[] = {mean, median, least};
    for (int i = 0; i < 3; i++)
        cr_expect(fabs(is[i] - wanted[i]) < 1e-9 || (isnan(is[i]) && isnan(wanted[i])), "%d: %g", i, is[i]);
    cr_expect(t->count == count, "%u", t->count);
}

Test(eval_gate, times_of_launches_and_passes)
{
    static const double durations[][3] = {{10, NAN, 30}, {9, 5, 7},       {1, 2, 3},
                                          {NAN, -1, 4},  {NAN, NAN, NAN}, {0, 0, NAN}};
    static const double known[] = {30, 7, 100, 4, NAN, 0};
    static const uint32_t indices[] = {0, 1, 2, 4, 3, 4, 5};
    struct cw_range ranges[6] = {0};
    const struct cw_group items[] = {{.count = 4, .ranges = indices},
                                     {.count = 1, .ranges = indices + 4},
                                     {.count = 1, .ranges = indices + 5},
                                     {.count = 1, .ranges = indices + 6}};
    struct cw_gate_time *times;
    for (int i = 0; i < 6; i++)
        ranges[i] = (struct cw_range){.name = "", .kernel = "", .durations = durations[i]};
    const struct cw_counter_data of = {.schema.pass_count = 3, .range_count = 6, .ranges = ranges};
    struct cw_side side = {.groups = {.count = 4, .items = items, .durations = known}, .runs = 1, .data = &of};
    cr_assert(cw_gate_times_make(&times, &side, arena, &err) == CW_OK);
    expect_time(&times[0], 127 / 3.0, 20, 5, 6);
    expect_time(&times[1], 4, 4, 4, 1);
    expect_time(&times[2], NAN, NAN, NAN, 0);
    expect_time(&times[3], 0, 0, 0, 2);
    side.runs = 2; /* 10 to 30 and 5 to 9 in the first, 100 alone in the second */
    cr_assert(cw_gate_times_make(&times, &side, arena, &err) == CW_OK);
    expect_time(&times[0], (13.5 + 100) / 2, (13.5 + 100) / 2, (5.0 + 100) / 2, 1);
    side.runs = 3; /* four launches are not as many in each of three */
    cr_assert(cw_gate_times_make(&times, &side, arena, &err) == CW_OK);
    expect_time(&times[0], 127 / 3.0, 20, 5, 6);
}

Test(eval_gate, slowdowns_that_would_show)
{
    struct cw_gate_shown shown[] = {{0.1, 100}, {0.3, 50}, {NAN, 20}, {0.05, 20}, {0.2, NAN}};
    struct cw_gate_slowdown s = cw_gate_slowdown_of(shown, 5);
    cr_expect(s.least == 0.05 && s.least_at == 3 && s.most == 0.3 && s.most_at == 1 && s.half == 0.1, "%g", s.half);
    cr_expect(isnan(shown[4].slowdown) && shown[0].slowdown == 0.05 && shown[3].slowdown == 0.3, "sorted");
    struct cw_gate_shown long_ones[] = {{0.2, 10}, {0.4, 90}, {0.3, 1}};
    s = cw_gate_slowdown_of(long_ones, 3);
    cr_expect(s.half == 0.4 && s.most_at == 1 && s.least_at == 0);
    struct cw_gate_shown equal[] = {{0.2, 50}, {0.4, 50}};
    cr_expect(cw_gate_slowdown_of(equal, 2).half == 0.2, "half of the time is enough");
    struct cw_gate_shown alike[] = {{NAN, 1}, {0.3, 1}, {0.3, 1}};
    s = cw_gate_slowdown_of(alike, 3);
    cr_expect(s.least_at == 1 && s.most_at == 1, "the first that has it");
    struct cw_gate_shown none[] = {{NAN, 5}};
    s = cw_gate_slowdown_of(none, 1);
    cr_expect(isnan(s.least) && isnan(s.half) && isnan(s.most) && !s.least_at && !s.most_at);
    const struct cw_gate_kernel limit = {"", 0.2, 5}, never = {"", 1, 0};
    cr_expect_float_eq(cw_gate_shown_of(&limit, 100, 7).slowdown, 0.25 / 0.8, 1e-12);
    cr_expect(cw_gate_shown_of(&limit, 100, 7).total == 7 && isnan(cw_gate_shown_of(&limit, 0, 7).slowdown));
    cr_expect(isnan(cw_gate_shown_of(&never, 100, 7).slowdown) && isnan(cw_gate_shown_of(&limit, NAN, 7).slowdown));
}

/* ---- files of rules --------------------------------------------------------------------------------------------- */

Test(eval_gate, rules_as_they_are_read_and_written)
{
    static const char text[] = "schema: 1\nchip: TINY\ndevice: 'Tiny \"x\"'\nruns: 7\nmetrics:\n"
                               "  time: {better: less, noise: 0.123456, floor: 20, kernels: [{kernel: b, noise: 0.2},\n"
                               "    {kernel: a, noise: 0}, {kernel: c, noise: unknown, floor: 3}]}\n"
                               "  x: {better: unknown, noise: unknown}\n  y: {better: more, noise: 0}\n";
    static const char wanted[] = "schema: 1\nchip: TINY\ndevice: \"Tiny \\\"x\\\"\"\nruns: 7\nmetrics:\n"
                                 "  time:\n    better: less\n    noise: 0.123\n    floor: 20\n    kernels:\n"
                                 "      - {kernel: \"a\", noise: 0, floor: 0}\n"
                                 "      - {kernel: \"b\", noise: 0.2}\n"
                                 "      - {kernel: \"c\", noise: unknown, floor: 3}\n"
                                 "  x:\n    better: unknown\n    noise: unknown\n"
                                 "  y:\n    better: more\n    noise: 0\n";
    char *written = NULL;
    size_t size;
    cr_assert(parse(text) == CW_OK, "%s", err.message);
    cr_expect(rules.runs == 7 && rules.metric_count == 3 && rules.metrics[0].kernel_count == 3);
    const struct cw_gate_kernel *k = rules.metrics[0].kernels;
    cr_expect(k[0].floor == 0 && k[1].floor == 20 && k[1].noise == 0.2 && k[2].floor == 3 && isinf(k[2].noise));
    FILE *out = open_memstream(&written, &size);
    cr_assert(cw_gate_write(out, &rules, &err) == CW_OK);
    fclose(out);
    const char *from = strstr(written, "schema:");
    cr_assert(from);
    cr_expect_str_eq(from, wanted);
    free(written);
    cr_assert(parse("schema: 1\nchip: TINY\nmetrics: {}\n") == CW_OK);
    cr_expect(rules.runs == 0 && !*rules.device);
}

Test(eval_gate, messages_about_rules)
{
    static const struct {
        const char *of, *message;
    } rows[] = {
        {"{better: best, noise: 0}", "found better 'best', expected less, more or unknown"},
        {"{better: less, noise: -1}", "found noise '-1', expected a number of 0 or more"},
        {"{better: less, noise: 1e300}", "found noise '1e300', expected a number of 0 or more"},
        {"{better: less, noise: 0, floor: -2}", "found floor '-2', expected a number of 0 or more"},
        {"{better: less, noise: 0, kernels: [{kernel: k, noise: 0}, {kernel: j, noise: 0}, {kernel: k, noise: 1}]}",
         "found the kernel 'k' twice, expected it once"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = cw_arena_printf(arena, "schema: 1\nchip: X\nmetrics: {m: %s}\n", rows[i].of);
        cr_expect(parse(text) == CW_ERR_INPUT && err.line == 3);
        cr_expect(strstr(err.message, rows[i].message), "%s", err.message);
    }
    cr_expect(parse("schema: 1\nchip: X\nmetrics: {m: {better: less, noise: 0, floor: unknown}}\n") == CW_ERR_INPUT);
    cr_expect(parse("schema: 1\nchip: X\nmetrics: {m: {better: less, noise: 9e299}}\n") == CW_OK);
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
        "schema: 1\nchip: X\nmetrics: {a: {better: less, noise: 0, other: 0}}\n",
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

/* Computed apart from the recursions of both functions, from 60 on. */
Test(eval_gate, a_prior_to_nine_digits)
{
    double variances[20];
    for (int i = 0; i < 20; i++)
        variances[i] = 1e-4 * pow(3, i % 5 - 2);
    const struct cw_prior even = cw_prior_fit(variances, 20, 4), odd = cw_prior_fit(variances, 20, 9);
    cr_expect_float_eq(even.freedom, 1.81678286927, 1e-8);
    cr_expect_float_eq(even.variance, 6.89035064904e-05, 2e-14);
    cr_expect_float_eq(odd.freedom, 1.60328421618, 1e-8);
    cr_expect_float_eq(odd.variance, 5.35294052171e-05, 2e-14);
}
