#define _GNU_SOURCE
#include "tests/unit/eval_fold_sample.h"

#include <stdlib.h>

#include "eval/ranges/explain.h"
#include "metricdb/formula_load.h"

TestSuite(explain, .init = set_up, .fini = tear_down);

static const struct cw_groups *fold;

static void expect(const char *name, uint32_t range, const char *wanted)
{
    static const struct cw_eval_options options = {.frame_ns = 4000};
    struct cw_metric m;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out && cw_metric_parse(&m, chip, name, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_explain(out, chip, fold ? &fold->data : &data, &m, range, fold, &options, arena, &err) == CW_OK, "%s",
              err.message);
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
           "  sm__inst.sum.per_cycle_in_frame = 0.8 inst/cycle\n"
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
           "  sm__wide.avg.per_cycle_active = 7 1/cycle  (mixed passes)\n"
           "    = (0.5 * avg(sm__bytes) + avg(sm__inst)) / avg(sm__cycles_active)\n"
           "    = (0.5 * 2000 + 400) / 200\n"
           "\n"
           "  counter            instances   sum   avg   min   max  passes\n"
           "  sm__bytes                  4  8000  2000  2000  2000  1\n"
           "  sm__cycles_active          4   800   200   200   200  0\n"
           "  sm__inst                   4  1600   400   400   400  0\n");
    expect("gpu__inst.avg", 0,
           "range 0: first\n"
           "  gpu__inst.avg = 1600 inst\n"
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
    cr_assert(cw_explain_json(&tree, chip, fold ? &fold->data : &data, &m, range, fold, &options, arena, &err) == CW_OK,
              "%s", err.message);
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

/* ---- multiplexed launches and repeats ---------------------------------------------------------------------------- */

/* The whole tree, in one line. */
static void expect_tree(const char *name, uint32_t range, const char *wanted)
{
    json_t *tree = tree_of(name, range);
    char *text = json_dumps(tree, JSON_COMPACT | JSON_REAL_PRECISION(6));
    cr_expect_str_eq(text, wanted, "%s", text);
    free(text);
    json_decref(tree);
}

/* The second kernel was launched as range 3, 5, 7 and 9: bytes are of 3 and 7, the rest of 5 and 9. */
Test(explain, launches_that_are_alike)
{
    make_launches(10, 2);
    multiplex(2);
    ranges[1].name = ranges[1].kernel = ranges[0].name;
    group(CW_BY_FOLD, NULL);
    cr_assert(groups.count == 2 && groups.items[1].ranges[0] == 3);
    fold = &groups;
    expect("sm__bytes.sum.per_cycle_active", 1,
           "range 3: kernel_1\n"
           "  with 3 more like it: each was counted in one pass\n"
           "  sm__bytes.sum.per_cycle_active = 1.3327784 B/cycle  (multiplexed, mixed passes)\n"
           "    = sum(sm__bytes) / avg(sm__cycles_active)\n"
           "    = 2001.5 / 1501.75\n"
           "\n"
           "  counter            instances     sum      avg        min      max  passes\n"
           "  sm__bytes                  4  2001.5  1000.75  667.16667  500.375  1  multiplexed in 2 of 4\n"
           "  sm__cycles_active          4  3003.5  1501.75  1001.1667  750.875  0  multiplexed in 2 of 4\n");
    expect("sm__missing.sum", 1,
           "range 3: kernel_1\n"
           "  with 3 more like it: each was counted in one pass\n"
           "  sm__missing.sum = nan  (not collected)\n"
           "    the capture lacks a counter that it needs\n"
           "\n"
           "  counter      instances  sum  avg  min  max  passes\n"
           "  sm__missing  not collected\n");
    expect_tree("sm__bytes.sum.per_cycle_active", 1,
                "{\"range\":3,\"name\":\"kernel_1\",\"kernel\":\"kernel_1\","
                "\"metrics\":[{\"name\":\"sm__bytes.sum.per_cycle_active\",\"unit\":\"bytes/cycles\","
                "\"value\":1.33278,\"status\":\"multiplexed\",\"mixed\":true,\"type\":\"counter\","
                "\"formula\":\"sum(sm__bytes) / avg(sm__cycles_active)\","
                "\"numbers\":\"2001.5 / 1501.75\"}],\"counters\":[{\"name\":\"sm__bytes\","
                "\"recorded\":[{\"passes\":[1],\"whole\":true,\"instances\":4,\"status\":\"multiplexed\","
                "\"sum\":2001.5,\"avg\":1000.75,\"min\":667.167,\"max\":500.375,\"occurrences\":2}]},"
                "{\"name\":\"sm__cycles_active\",\"recorded\":[{\"passes\":[0],\"whole\":true,"
                "\"instances\":4,\"status\":\"multiplexed\",\"sum\":3003.5,\"avg\":1501.75,"
                "\"min\":1001.17,\"max\":750.875,\"occurrences\":2}]}],\"launches\":4}");
    forms[(size_t)INST * 10 + 5] = CW_FORM_OVERFLOW;
    group(CW_BY_FOLD, NULL);
    expect("sm__inst.sum", 1,
           "range 3: kernel_1\n"
           "  with 3 more like it: each was counted in one pass\n"
           "  sm__inst.sum = 7003.5 inst  (overflow)\n"
           "    = sum(sm__inst)\n"
           "    = 7003.5\n"
           "\n"
           "  counter   instances     sum      avg     min       max  passes\n"
           "  sm__inst          4  7003.5  3501.75  2334.5  1750.875  0  overflow in 2 of 4\n");
}

Test(explain, counters_of_several_passes)
{
    enum { COLUMNS = SAMPLE_COUNTERS + 2 };
    static const struct cw_schema_repeat repeats[] = {{HITS, 1}, {LOOKUPS, 1}};
    static double wide[CW_ROLLUP_COUNT][COLUMNS][SAMPLE_RANGES];
    static uint8_t wide_forms[COLUMNS][SAMPLE_RANGES];
    memset(wide_forms, CW_FORM_ROLLUPS, sizeof wide_forms);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        memcpy(wide[r], sample_rollups[r], sizeof sample_rollups[r]);
        for (int i = 0; i < SAMPLE_RANGES; i++) {
            wide[r][SAMPLE_COUNTERS][i] = 1234567 + r;
            wide[r][SAMPLE_COUNTERS + 1][i] = 84 + r;
        }
        data.rollups[r] = &wide[r][0][0];
    }
    wide_forms[SAMPLE_COUNTERS + 1][1] = CW_FORM_OVERFLOW;
    data.forms = &wide_forms[0][0];
    data.schema.repeat_count = 2;
    data.schema.repeats = repeats;
    sample_facts[0][LOOKUPS].instances = 0;
    expect("sm__hit_rate.pct", 1,
           "range 1: se\"co,nd\n"
           "  sm__hit_rate.pct = 37.5 %\n"
           "    = 50 * avg(sm__hits) / avg(sm__lookups)\n"
           "    = 50 * 15 / 20\n"
           "\n"
           "  counter      instances      sum      avg      min      max  passes\n"
           "  sm__hits             4       60       15       15       15  0\n"
           "                       4  1234567  1234568  1234569  1234570  1\n"
           "  sm__lookups    unknown       80       20       20       20  0\n"
           "                 unknown       84       85       86       87  1  overflow\n");
    expect_tree("sm__lookups.sum", 1,
                "{\"range\":1,\"name\":\"se\\\"co,nd\",\"kernel\":\"_Zk\","
                "\"metrics\":[{\"name\":\"sm__lookups.sum\",\"unit\":\"tags\",\"value\":80.0,"
                "\"status\":\"ok\",\"type\":\"counter\",\"formula\":\"sum(sm__lookups)\","
                "\"numbers\":\"80\"}],\"counters\":[{\"name\":\"sm__lookups\","
                "\"recorded\":[{\"passes\":[0],\"whole\":true,\"instances\":0,\"status\":\"ok\","
                "\"sum\":80.0,\"avg\":20.0,\"min\":20.0,\"max\":20.0},{\"passes\":[1],\"whole\":true,"
                "\"instances\":0,\"status\":\"overflow\",\"sum\":84.0,\"avg\":85.0,\"min\":86.0,"
                "\"max\":87.0}]}]}");
}

Test(explain, facts)
{
    expect("launch__grid_size", 1,
           "range 1: se\"co,nd\n"
           "  launch__grid_size = 6 blocks\n"
           "    Thread blocks of the launch\n"
           "    recorded with the launch\n");
    expect("device__attribute_warp_size", 1,
           "range 1: se\"co,nd\n"
           "  device__attribute_warp_size = nan threads/warp  (not collected)\n"
           "    Threads of a warp\n"
           "    the capture lacks it\n");
    expect_tree("launch__grid_size", 1,
                "{\"range\":1,\"name\":\"se\\\"co,nd\",\"kernel\":\"_Zk\","
                "\"metrics\":[{\"name\":\"launch__grid_size\",\"unit\":\"blocks\",\"value\":6.0,"
                "\"status\":\"ok\",\"type\":\"fact\",\"description\":\"Thread blocks of the launch\","
                "\"source\":\"recorded with the launch\"}],\"counters\":[]}");
    expect_tree("launch__registers_per_thread", 1,
                "{\"range\":1,\"name\":\"se\\\"co,nd\",\"kernel\":\"_Zk\","
                "\"metrics\":[{\"name\":\"launch__registers_per_thread\",\"unit\":\"registers/threads\","
                "\"value\":null,\"status\":\"not collected\",\"type\":\"fact\","
                "\"description\":\"Registers that the compiler gave each thread\","
                "\"source\":\"the capture lacks it\"}],\"counters\":[]}");
}

/* Each formula is explained once, however many refer to it; names of a rule's values have its scope. */
Test(explain, formulas_within_formulas)
{
    static const char text[] =
        "schema: 1\nmetrics:\n  a: {formula: \"b + c + sm__lookups.sum / 1e3\"}\n  b: {formula: d / 2}\n"
        "  c: {formula: d * 3 + sm__lookups.sum}\n  d: {formula: 2 * sm__hits.sum}\n";
    cr_assert(cw_formulas_parse(&chip, text, sizeof text - 1, "f", arena, &err) == CW_OK, "%s", err.message);
    expect("a", 0,
           "range 0: first\n"
           "  a = 500.08 tags\n"
           "    = b + c + sm__lookups.sum / 1e3\n"
           "    = 60 + 440 + 80 / 1e3\n"
           "\n"
           "  b = 60 tags\n"
           "    = d / 2\n"
           "    = 120 / 2\n"
           "\n"
           "  c = 440 tags\n"
           "    = d * 3 + sm__lookups.sum\n"
           "    = 120 * 3 + 80\n"
           "\n"
           "  d = 120 tags\n"
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
    expect_tree("b", 0,
                "{\"range\":0,\"name\":\"first\",\"kernel\":\"_Zk\",\"metrics\":[{\"name\":\"b\","
                "\"unit\":\"tags\",\"value\":60.0,\"status\":\"ok\",\"type\":\"formula\","
                "\"formula\":\"d / 2\",\"numbers\":\"120 / 2\",\"needs\":[\"d\",\"sm__hits.sum\"]},"
                "{\"name\":\"d\",\"unit\":\"tags\",\"value\":120.0,\"status\":\"ok\","
                "\"type\":\"formula\",\"formula\":\"2 * sm__hits.sum\",\"numbers\":\"2 * 60\","
                "\"needs\":[\"sm__hits.sum\"]},{\"name\":\"sm__hits.sum\",\"unit\":\"tags\","
                "\"value\":60.0,\"status\":\"ok\",\"type\":\"counter\",\"formula\":\"sum(sm__hits)\","
                "\"numbers\":\"60\"}],\"counters\":[{\"name\":\"sm__hits\",\"recorded\":[{\"passes\":[0],"
                "\"whole\":true,\"instances\":4,\"status\":\"ok\",\"sum\":60.0,\"avg\":15.0,\"min\":15.0,"
                "\"max\":15.0}]}]}");
}

Test(explain, throughputs_that_lack_counters)
{
    expect("sm__odd_throughput.avg.pct_of_peak_sustained_active", 0,
           "range 0: first\n"
           "  sm__odd_throughput.avg.pct_of_peak_sustained_active = nan %  (not collected)\n"
           "    its constituents are not known\n");
    expect("sm__partial_throughput.avg.pct_of_peak_sustained_active", 0,
           "range 0: first\n"
           "  sm__partial_throughput.avg.pct_of_peak_sustained_active = nan %  (not collected)\n"
           "    = the largest of 2, marked *\n"
           "                50 %  sm__inst.avg.pct_of_peak_sustained_active\n"
           "               nan %  sm__missing.avg.pct_of_peak_sustained_active  (not collected)\n"
           "  sm__inst.avg.pct_of_peak_sustained_active\n"
           "    = 100 * avg(sm__inst) / avg(sm__cycles_active) / avg(peak of sm__inst)\n"
           "    = 100 * 400 / 200 / 4\n"
           "\n"
           "  counter            instances   sum  avg  min  max  passes\n"
           "  sm__cycles_active          4   800  200  200  200  0\n"
           "  sm__inst                   4  1600  400  400  400  0\n"
           "  sm__missing        not collected\n");
    expect_tree("sm__partial_throughput.avg.pct_of_peak_sustained_active", 0,
                "{\"range\":0,\"name\":\"first\",\"kernel\":\"_Zk\","
                "\"metrics\":[{\"name\":\"sm__partial_throughput.avg.pct_of_peak_sustained_active\","
                "\"unit\":\"%\",\"value\":null,\"status\":\"not collected\",\"type\":\"throughput\","
                "\"largest_of\":[{\"name\":\"sm__inst.avg.pct_of_peak_sustained_active\",\"unit\":\"%\","
                "\"value\":50.0,\"status\":\"ok\","
                "\"formula\":\"100 * avg(sm__inst) / avg(sm__cycles_active) / avg(peak of sm__inst)\","
                "\"numbers\":\"100 * 400 / 200 / 4\"},"
                "{\"name\":\"sm__missing.avg.pct_of_peak_sustained_active\",\"unit\":\"%\","
                "\"value\":null,\"status\":\"not collected\","
                "\"lack\":\"the capture lacks a counter that it needs\"}]}],"
                "\"counters\":[{\"name\":\"sm__cycles_active\",\"recorded\":[{\"passes\":[0],"
                "\"whole\":true,\"instances\":4,\"status\":\"ok\",\"sum\":800.0,\"avg\":200.0,"
                "\"min\":200.0,\"max\":200.0}]},{\"name\":\"sm__inst\",\"recorded\":[{\"passes\":[0],"
                "\"whole\":true,\"instances\":4,\"status\":\"ok\",\"sum\":1600.0,\"avg\":400.0,"
                "\"min\":400.0,\"max\":400.0}]},{\"name\":\"sm__missing\",\"recorded\":[]}]}");
}

/* By peaks, and over a given time: 4,000 ns of 1,000 cycles in 2,000. */
Test(explain, peaks_and_given_times)
{
    expect("sm__inst.avg.pct_of_peak_sustained_frame", 0,
           "range 0: first\n"
           "  sm__inst.avg.pct_of_peak_sustained_frame = 5 %\n"
           "    = 100 * avg(sm__inst) / (4000 ns of avg(sm__cycles_elapsed)) / avg(peak of sm__inst)\n"
           "    = 100 * 400 / 2000 / 4\n"
           "\n"
           "  counter             instances   sum   avg   min   max  passes\n"
           "  gpu__time                   4  2000  2000  2000  2000  0,1\n"
           "  sm__cycles_elapsed          4  4000  1000  1000  1000  0\n"
           "  sm__inst                    4  1600   400   400   400  0\n");
    expect("sm__inst.sum.peak_sustained", 2,
           "range 2: third\n"
           "  sm__inst.sum.peak_sustained = 32 inst/cycle\n"
           "    = sum(peak of sm__inst)\n"
           "    = 32\n"
           "\n"
           "  counter   instances   sum  avg  min  max  passes\n"
           "  sm__inst          4  1600  400  400  400  0\n");
    expect("sm__misses.sum", 0,
           "range 0: first\n"
           "  sm__misses.sum = 20 tags\n"
           "    = (sum(sm__lookups) - sum(sm__hits))\n"
           "    = (80 - 60)\n"
           "\n"
           "  counter      instances  sum  avg  min  max  passes\n"
           "  sm__hits             4   60   15   15   15  0\n"
           "  sm__lookups          4   80   20   20   20  0\n");
}
