#include <criterion/criterion.h>
#include <string.h>

#include "metricdb/chip_load.h"
#include "metricdb/metric.h"
#include "tests/support/small_chip.h"

static struct cw_arena *arena;
static const struct cw_chip *gh100, *tiny;

static void setup(void)
{
    arena = cw_arena_create();
    cr_assert_eq(cw_chip_load(&gh100, NULL, "GH100", arena, NULL), CW_OK);
    cr_assert_eq(cw_chip_parse(&tiny, cw_small_chip, strlen(cw_small_chip), "tiny.yaml", arena, NULL), CW_OK);
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(metric, .init = setup, .fini = teardown);

Test(metric, every_full_name_of_a_chip_reads_back)
{
    uint32_t total = 0;
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++) {
        enum cw_metric_type type = (enum cw_metric_type)t;
        for (uint32_t i = 0; i < cw_chip_base_count(gh100, type); i++)
            for (uint32_t v = 0; v < cw_metric_variants(type); v++) {
                total += cw_chip_lists(gh100, type, i, CW_OF_RANGES);
                char name[CW_METRIC_NAME_MAX];
                struct cw_metric m = cw_metric_variant(type, i, v), back;
                cw_metric_name(gh100, &m, name);
                if (cw_metric_parse(&back, gh100, name, NULL) != CW_OK || back.type != m.type || back.base != m.base ||
                    back.rollup != m.rollup || back.sub != m.sub)
                    cr_assert_fail("%s", name);
            }
    }
    cr_expect_eq(total, 259075);
}

Test(metric, names_of_each_type)
{
    static const struct {
        const char *name;
        enum cw_metric_type type;
        enum cw_rollup rollup;
        enum cw_submetric sub;
    } cases[] = {
        {"sm__inst_executed.sum", CW_COUNTER, CW_SUM, CW_SUB_NONE},
        {"sm__inst_executed.max", CW_COUNTER, CW_MAX, CW_SUB_NONE},
        {"sm__inst_executed.avg.per_cycle_active", CW_COUNTER, CW_AVG, CW_SUB_PER_CYCLE_ACTIVE},
        {"sm__inst_executed.min.peak_sustained_active.per_second", CW_COUNTER, CW_MIN, CW_SUB_PEAK_ACTIVE_PER_SECOND},
        {"lts__t_sector_hit_rate.ratio", CW_RATIO, CW_SUM, CW_SUB_RATIO},
        {"lts__t_sector_hit_rate.pct", CW_RATIO, CW_SUM, CW_SUB_RATIO_PCT},
        {"lts__t_sector_hit_rate.max_rate", CW_RATIO, CW_SUM, CW_SUB_RATIO_MAX_RATE},
        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", CW_THROUGHPUT, CW_AVG, CW_SUB_PCT_ELAPSED},
        {"TPC.TriageCompute.sm__cycles_active.sum", CW_COUNTER, CW_SUM, CW_SUB_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_metric m;
        cr_assert_eq(cw_metric_parse(&m, gh100, cases[i].name, NULL), CW_OK, "%s", cases[i].name);
        cr_expect(m.type == cases[i].type && m.rollup == cases[i].rollup && m.sub == cases[i].sub, "%s", cases[i].name);
    }
}

Test(metric, misspelt_names_get_the_nearest)
{
    static const struct {
        int test_line;
        const char *name, *message;
    } cases[] = {
        {__LINE__, "sm__inst_exectued.sum",
         "found the metric 'sm__inst_exectued.sum', which GH100 does not have; did you mean sm__inst_executed.sum "
         "or smsp__inst_executed.sum?"},
        {__LINE__, "dram__byte_read.sum.per_second",
         "found the metric 'dram__byte_read.sum.per_second', which GH100 does not have; did you mean "
         "dram__bytes_read.sum.per_second?"},
        {__LINE__, "sm__inst_executed.agv",
         "found '.agv' after the counter sm__inst_executed, expected a rollup (.sum, .avg, .min or .max) and perhaps "
         "a sub-metric; did you mean sm__inst_executed.avg, sm__inst_executed.sum or sm__inst_executed.min?"},
        {__LINE__, "sm__inst_executed",
         "found the counter sm__inst_executed by itself, expected a rollup (.sum, .avg, .min or .max) and perhaps a "
         "sub-metric after it"},
        {__LINE__, "lts__t_sector_hit_rate.pc",
         "found '.pc' after the ratio lts__t_sector_hit_rate, expected .ratio, .pct or .max_rate; did you mean "
         "lts__t_sector_hit_rate.pct or lts__t_sector_hit_rate.ratio?"},
        {__LINE__, "sm__throughput.avg",
         "found '.avg' after the throughput sm__throughput, expected a rollup (.sum, .avg, .min or .max) and "
         ".pct_of_peak_sustained_active, _elapsed, _frame or _region"},
        {__LINE__, "nothing at all", "found the metric 'nothing at all', which GH100 does not have"},
        {__LINE__, "", "found the metric '', which GH100 does not have"},
        {__LINE__, ".sum", "found the metric '.sum', which GH100 does not have"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_metric m;
        struct cw_error err = CW_ERROR_INIT;
        cr_expect_eq(cw_metric_parse(&m, gh100, cases[i].name, &err), CW_ERR_USAGE);
        cr_expect_str_eq(err.message, cases[i].message, "line %d: %s", cases[i].test_line, err.message);
    }
}

Test(metric, overlong_names_are_refused)
{
    char name[400];
    struct cw_metric m;
    struct cw_error err = CW_ERROR_INIT;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = 0;
    cr_expect_eq(cw_metric_parse(&m, tiny, name, &err), CW_ERR_USAGE);
    cr_expect_str_eq(err.message, "found a metric name of 399 characters, expected at most 255");
}

static struct cw_metric parsed(const struct cw_chip *chip, const char *name)
{
    struct cw_metric m;
    cr_assert_eq(cw_metric_parse(&m, chip, name, NULL), CW_OK, "%s", name);
    return m;
}

Test(metric, dimensions)
{
    static const char *const cases[][2] = {
        {"sm__inst_executed.sum", "instructions"},
        {"sm__inst_executed.sum.per_second", "instructions/s"},
        {"sm__inst_executed.avg.per_cycle_active", "instructions/gpc_cycles"},
        {"sm__inst_executed.avg.peak_sustained", "instructions/gpc_cycles"},
        {"sm__inst_executed.avg.peak_sustained_active", "instructions"},
        {"sm__inst_executed.avg.pct_of_peak_sustained_active", "%"},
        {"sm__inst_executed.avg.per_cycle_in_frame", "instructions/cycles"},
        {"sm__average_inst_executed_per_warp.ratio", "instructions/warps"},
        {"sm__average_inst_executed_per_warp.pct", "%"},
        {"gpu__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        struct cw_metric m = parsed(tiny, cases[i][0]);
        cr_expect_str_eq(cw_metric_dimension(tiny, &m, text, sizeof text), cases[i][1], "%s: %s", cases[i][0], text);
    }
}
