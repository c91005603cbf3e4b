#define _GNU_SOURCE
#include "tests/unit/eval_sample.h"

#include <stdlib.h>

#include "eval/explain.h"
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
    cr_assert(cw_explain(out, chip, &data, &m, range, &options, arena, &err) == CW_OK, "%s", err.message);
    fclose(out);
    cr_expect_str_eq(text, wanted, "%s:\n%s", name, text);
    free(text);
}

#define HEAD(space)                                                                                                    \
    "  counter" space " instances             sum             avg             min             max  passes\n"

Test(explain, counters)
{
    expect("sm__inst.avg.pct_of_peak_sustained_active", 2,
           "range 2: third\n"
           "  sm__inst.avg.pct_of_peak_sustained_active = 25 %\n"
           "    = 100 * avg(sm__inst) / avg(sm__cycles_active) / avg(peak of sm__inst)\n"
           "    = 100 * 400 / 200 / 8\n"
           "\n" HEAD("          ") "  sm__cycles_active         4             800             200             200      "
                                   "       200  0\n"
                                   "  sm__inst                  4            1600             400             400      "
                                   "       400  0\n");
    expect("sm__inst.sum.per_cycle_in_frame", 0,
           "range 0: first\n"
           "  sm__inst.sum.per_cycle_in_frame = 0.8 instructions/cycles\n"
           "    = sum(sm__inst) / (4000 ns of avg(sm__cycles_elapsed))\n"
           "    = 1600 / 2000\n"
           "\n" HEAD("           ") "  gpu__time                  4            2000            2000            2000    "
                                    "        2000  0,1\n"
                                    "  sm__cycles_elapsed         4            4000            1000            1000    "
                                    "        1000  0\n"
                                    "  sm__inst                   4            1600             400             400    "
                                    "         400  0\n");
}

Test(explain, what_is_missing)
{
    set_form(HITS, 0, CW_FORM_OVERFLOW);
    expect("sm__missing.sum", 0,
           "range 0: first\n"
           "  sm__missing.sum = nan  (not collected)\n"
           "    the capture lacks a counter that it needs\n"
           "\n" HEAD("    ") "  sm__missing  not collected\n");
    expect("sm__hit_rate.ratio", 0,
           "range 0: first\n"
           "  sm__hit_rate.ratio = 0.75  (overflow)\n"
           "    = avg(sm__hits) / avg(sm__lookups)\n"
           "    = 15 / 20\n"
           "\n" HEAD(
               "    ") "  sm__hits            4              60              15              15              15  0  "
                       "overflow\n"
                       "  sm__lookups         4              80              20              20              20  0\n");
    expect("sm__split.sum", 0,
           "range 0: first\n"
           "  sm__split.sum = 7  (mixed passes)\n"
           "    = sum(sm__split)\n"
           "    = 7\n"
           "\n" HEAD("  ") "  sm__split         4               7            1.75            1.75            1.75  0,1 "
                           "(in parts)\n");
}

Test(explain, derived_counters)
{
    expect("sm__wide.avg.per_cycle_active", 0,
           "range 0: first\n"
           "  sm__wide.avg.per_cycle_active = 7 1/cycles  (mixed passes)\n"
           "    = (0.5 * avg(sm__bytes) + avg(sm__inst)) / avg(sm__cycles_active)\n"
           "    = (0.5 * 2000 + 400) / 200\n"
           "\n" HEAD("          ") "  sm__bytes                 4            8000            2000            2000      "
                                   "      2000  1\n"
                                   "  sm__cycles_active         4             800             200             200      "
                                   "       200  0\n"
                                   "  sm__inst                  4            1600             400             400      "
                                   "       400  0\n");
    expect("gpu__inst.avg", 0,
           "range 0: first\n"
           "  gpu__inst.avg = 1600 instructions\n"
           "    = 4 * avg(sm__inst)\n"
           "    = 4 * 400\n"
           "\n" HEAD(" ") "  sm__inst         4            1600             400             400             400  0\n");
}

Test(explain, throughputs)
{
    expect("sm__throughput.avg.pct_of_peak_sustained_active", 0,
           "range 0: first\n"
           "  sm__throughput.avg.pct_of_peak_sustained_active = 125 %  (mixed passes)\n"
           "    = the largest of 2, marked *\n"
           "    *          125 %  sm__bytes.avg.pct_of_peak_sustained_active  (mixed passes)\n"
           "                50 %  sm__inst.avg.pct_of_peak_sustained_active\n"
           "  sm__bytes.avg.pct_of_peak_sustained_active\n"
           "    = 100 * avg(sm__bytes) / avg(sm__cycles_active) / avg(peak of sm__bytes)\n"
           "    = 100 * 2000 / 200 / 8\n"
           "\n" HEAD("          ") "  sm__bytes                 4            8000            2000            2000      "
                                   "      2000  1\n"
                                   "  sm__cycles_active         4             800             200             200      "
                                   "       200  0\n"
                                   "  sm__inst                  4            1600             400             400      "
                                   "       400  0\n");
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
           "\n" HEAD(
               "    ") "  sm__hits            4              60              15              15              15  0\n"
                       "  sm__lookups         4              80              20              20              20  0\n");
}
