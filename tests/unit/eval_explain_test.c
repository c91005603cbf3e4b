#define _GNU_SOURCE
#include "tests/unit/eval_sample.h"

#include <stdlib.h>

#include "eval/ranges/explain.h"
#include "metricdb/formula_load.h"

TestSuite(explain, .init = set_up, .fini = tear_down);

static void expect(const char *name, uint32_t range, const char *wanted)
{
    static const struct cw_eval_options options = {.frame_ns = 4000};
    struct cw_metric m;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out && cw_metric_parse(&m, chip, name, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_explain(out, chip, &data, &m, range, NULL, &options, arena, &err) == CW_OK, "%s", err.message);
    fclose(out);
    cr_expect_str_eq(text, wanted, "%s:\n%s", name, text);
    free(text);
}

Test(explain, counters)
{
    expect("sm__inst.avg.pct_of_peak_sustained_active", 2,
           "range 2: third\n"
           "  sm__inst.avg.pct_of_peak_sustained_active = 25 %\n"
           "    = 100 * avg(sm__inst) / avg(sm__cycles_active) / avg(peak of sm__inst)\n"
           "    = 100 * 400 / 200 / 8\n"
           "\n"
           "  counter            instances   sum  avg  min  max  passes\n"
           "  sm__cycles_active          4   800  200  200  200  0\n"
           "  sm__inst                   4  1600  400  400  400  0\n");
    expect("sm__inst.sum.per_cycle_in_frame", 0,
           "range 0: first\n"
           "  sm__inst.sum.per_cycle_in_frame = 0.8 instructions/cycles\n"
           "    = sum(sm__inst) / (4000 ns of avg(sm__cycles_elapsed))\n"
           "    = 1600 / 2000\n"
           "\n"
           "  counter             instances   sum   avg   min   max  passes\n"
           "  gpu__time                   4  2000  2000  2000  2000  0,1\n"
           "  sm__cycles_elapsed          4  4000  1000  1000  1000  0\n"
           "  sm__inst                    4  1600   400   400   400  0\n");
}

Test(explain, what_is_missing)
{
    set_form(HITS, 0, CW_FORM_OVERFLOW);
    expect("sm__missing.sum", 0,
           "range 0: first\n"
           "  sm__missing.sum = nan  (not collected)\n"
           "    the capture lacks a counter that it needs\n"
           "\n"
           "  counter      instances  sum  avg  min  max  passes\n"
           "  sm__missing  not collected\n");
    expect("sm__hit_rate.ratio", 0,
           "range 0: first\n"
           "  sm__hit_rate.ratio = 0.75  (overflow)\n"
           "    = avg(sm__hits) / avg(sm__lookups)\n"
           "    = 15 / 20\n"
           "\n"
           "  counter      instances  sum  avg  min  max  passes\n"
           "  sm__hits             4   60   15   15   15  0  overflow\n"
           "  sm__lookups          4   80   20   20   20  0\n");
    expect("sm__split.sum", 0,
           "range 0: first\n"
           "  sm__split.sum = 7  (mixed passes)\n"
           "    = sum(sm__split)\n"
           "    = 7\n"
           "\n"
           "  counter    instances  sum   avg   min   max  passes\n"
           "  sm__split          4    7  1.75  1.75  1.75  0,1 (in parts)\n");
}

Test(explain, derived_counters)
{
    expect("sm__wide.avg.per_cycle_active", 0,
           "range 0: first\n"
           "  sm__wide.avg.per_cycle_active = 7 1/cycles  (mixed passes)\n"
           "    = (0.5 * avg(sm__bytes) + avg(sm__inst)) / avg(sm__cycles_active)\n"
           "    = (0.5 * 2000 + 400) / 200\n"
           "\n"
           "  counter            instances   sum   avg   min   max  passes\n"
           "  sm__bytes                  4  8000  2000  2000  2000  1\n"
           "  sm__cycles_active          4   800   200   200   200  0\n"
           "  sm__inst                   4  1600   400   400   400  0\n");
    expect("gpu__inst.avg", 0,
           "range 0: first\n"
           "  gpu__inst.avg = 1600 instructions\n"
           "    = 4 * avg(sm__inst)\n"
           "    = 4 * 400\n"
           "\n"
           "  counter   instances   sum  avg  min  max  passes\n"
           "  sm__inst          4  1600  400  400  400  0\n");
}

Test(explain, throughputs)
{
    expect("sm__throughput.avg.pct_of_peak_sustained_active", 0,
           "range 0: first\n"
           "  sm__throughput.avg.pct_of_peak_sustained_active = 125 %  (implausible, mixed passes)\n"
           "    = the largest of 2, marked *\n"
           "    *          125 %  sm__bytes.avg.pct_of_peak_sustained_active  (implausible)\n"
           "                50 %  sm__inst.avg.pct_of_peak_sustained_active\n"
           "  sm__bytes.avg.pct_of_peak_sustained_active\n"
           "    = 100 * avg(sm__bytes) / avg(sm__cycles_active) / avg(peak of sm__bytes)\n"
           "    = 100 * 2000 / 200 / 8\n"
           "\n"
           "  counter            instances   sum   avg   min   max  passes\n"
           "  sm__bytes                  4  8000  2000  2000  2000  1\n"
           "  sm__cycles_active          4   800   200   200   200  0\n"
           "  sm__inst                   4  1600   400   400   400  0\n");
}

Test(explain, formulas)
{
    static const char text[] = "schema: 1\nmetrics:\n"
                               "  rate: {formula: \"twice / max(1, sm__lookups.sum)\", description: Half of it}\n"
                               "  twice: {formula: 2 * sm__hits.sum}\n";
    cr_assert(cw_formulas_parse(&chip, text, sizeof text - 1, "f", arena, &err) == CW_OK, "%s", err.message);
    expect("rate", 0,
           "range 0: first\n"
           "  rate = 1.5\n"
           "    Half of it\n"
           "    = twice / max(1, sm__lookups.sum)\n"
           "    = 120 / max(1, 80)\n"
           "\n"
           "  twice = 120 tags\n"
           "    = 2 * sm__hits.sum\n"
           "    = 2 * 60\n"
           "\n"
           "  sm__hits.sum = 60 tags\n"
           "    = sum(sm__hits)\n"
           "    = 60\n"
           "\n"
           "  sm__lookups.sum = 80 tags\n"
           "    = sum(sm__lookups)\n"
           "    = 80\n"
           "\n"
           "  counter      instances  sum  avg  min  max  passes\n"
           "  sm__hits             4   60   15   15   15  0\n"
           "  sm__lookups          4   80   20   20   20  0\n");
}

/* ---- as a tree -------------------------------------------------------------------------------------------------- */

static json_t *tree_of(const char *name, uint32_t range)
{
    static const struct cw_eval_options options = {.frame_ns = 4000};
    struct cw_metric m;
    json_t *tree = NULL;
    cr_assert(cw_metric_parse(&m, chip, name, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_explain_json(&tree, chip, &data, &m, range, NULL, &options, arena, &err) == CW_OK, "%s", err.message);
    return tree;
}

static const json_t *item(const json_t *object, const char *list, size_t i)
{
    return json_array_get(json_object_get(object, list), i);
}

static void expect_text(const json_t *object, const char *key, const char *wanted)
{
    const char *text = json_string_value(json_object_get(object, key));
    cr_expect(text && strcmp(text, wanted) == 0, "%s: %s", key, text ? text : "nothing");
}

Test(explain, a_tree_of_a_throughput)
{
    json_t *tree = tree_of("sm__throughput.avg.pct_of_peak_sustained_active", 0);
    const json_t *metric = item(tree, "metrics", 0), *largest = item(metric, "largest_of", 0);
    expect_text(tree, "name", "first");
    expect_text(metric, "status", "implausible");
    expect_text(metric, "type", "throughput");
    cr_expect(json_number_value(json_object_get(metric, "value")) == 125);
    expect_text(largest, "name", "sm__bytes.avg.pct_of_peak_sustained_active");
    expect_text(largest, "numbers", "100 * 2000 / 200 / 8");
    cr_expect_eq(json_array_size(json_object_get(tree, "counters")), 3);
    const json_t *bytes = item(tree, "counters", 0), *recorded = item(bytes, "recorded", 0);
    expect_text(bytes, "name", "sm__bytes");
    expect_text(recorded, "status", "ok");
    cr_expect(json_number_value(json_object_get(recorded, "sum")) == 8000);
    cr_expect(json_integer_value(item(recorded, "passes", 0)) == 1);
    json_decref(tree);
}

Test(explain, a_tree_of_formulas_and_of_what_is_missing)
{
    static const char text[] = "schema: 1\nmetrics:\n"
                               "  rate: {formula: \"twice / max(1, sm__lookups.sum)\", description: Half of it}\n"
                               "  twice: {formula: 2 * sm__hits.sum}\n";
    cr_assert(cw_formulas_parse(&chip, text, sizeof text - 1, "f", arena, &err) == CW_OK, "%s", err.message);
    json_t *tree = tree_of("rate", 0);
    const json_t *rate = item(tree, "metrics", 0);
    expect_text(rate, "formula", "twice / max(1, sm__lookups.sum)");
    expect_text(rate, "numbers", "120 / max(1, 80)");
    cr_expect_str_eq(json_string_value(item(rate, "needs", 0)), "twice");
    expect_text(item(tree, "metrics", 1), "name", "twice");
    json_decref(tree);
    tree = tree_of("sm__missing.sum", 0);
    const json_t *missing = item(tree, "metrics", 0);
    cr_expect(json_is_null(json_object_get(missing, "value")));
    expect_text(missing, "status", "not collected");
    expect_text(missing, "lack", "the capture lacks a counter that it needs");
    cr_expect_eq(json_array_size(json_object_get(item(tree, "counters", 0), "recorded")), 0);
    json_decref(tree);
}
