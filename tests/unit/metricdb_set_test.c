#include <criterion/criterion.h>
#include <string.h>

#include "metricdb/metric.h"
#include "metricdb/set.h"

static struct cw_arena *arena;
static const struct cw_chip *chip;

static void setup(void)
{
    arena = cw_arena_create();
    cr_assert_eq(cw_chip_load(&chip, "GH100", arena, NULL), CW_OK);
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(set, .init = setup, .fini = teardown);

static void ignore(void *context, uint32_t counter)
{
    (void)context;
    (void)counter;
}

Test(set, shipped_sets_load_and_can_be_evaluated)
{
    const char *const *names;
    size_t count;
    cr_assert_eq(cw_set_list(&names, &count, arena, NULL), CW_OK);
    cr_expect_geq(count, 12);
    for (size_t i = 0; i < count; i++) {
        struct cw_set set;
        struct cw_error err = CW_ERROR_INIT;
        cr_assert_eq(cw_set_load(&set, names[i], chip, arena, &err), CW_OK, "%s: %s", names[i], err.message);
        cr_expect_str_eq(set.name, names[i]);
        cr_expect(*set.title && set.metric_count);
        for (size_t k = 0; k < set.metric_count; k++) {
            struct cw_metric m;
            cr_assert_eq(cw_metric_parse(&m, chip, set.metrics[k], NULL), CW_OK);
            cr_expect_eq(cw_metric_counters(chip, &m, ignore, NULL, &err), CW_OK, "%s", err.message);
        }
    }
}

Test(set, names_are_sorted)
{
    const char *const *names;
    size_t count;
    cr_assert_eq(cw_set_list(&names, &count, arena, NULL), CW_OK);
    for (size_t i = 1; i < count; i++)
        cr_expect_lt(strcmp(names[i - 1], names[i]), 0);
}

Test(set, a_path_is_a_file)
{
    struct cw_set set;
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_set_load(&set, CW_SOURCE_DIR "/data/sets/demo.yaml", chip, arena, NULL), CW_OK);
    cr_expect_str_eq(set.name, "demo");
    cr_expect_eq(cw_set_load(&set, "nowhere.yaml", chip, arena, &err), CW_ERR_IO);
}

Test(set, misspelt_names_get_the_nearest)
{
    struct cw_set set;
    struct cw_error err = CW_ERROR_INIT, empty = CW_ERROR_INIT;
    cr_expect_eq(cw_set_load(&set, "ocupancy", chip, arena, &err), CW_ERR_USAGE);
    cr_expect_str_eq(err.message,
                     "found no metric set named 'ocupancy', metric-query sets lists them; did you mean occupancy?");
    cr_expect_eq(cw_set_load(&set, "", chip, arena, &empty), CW_ERR_USAGE);
}

Test(set, an_unknown_metric_names_the_place)
{
    static const char text[] = "schema: 1\nset: s\ntitle: t\nmetrics:\n  - dram__bytes.summ\n";
    struct cw_set set;
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_set_parse(&set, text, sizeof text - 1, "s.yaml", chip, arena, &err), CW_ERR_INPUT);
    cr_expect(err.line == 5 && err.column == 5);
    cr_expect_str_eq(err.source, "s.yaml");
    cr_expect(strstr(err.message, "did you mean dram__bytes.sum"), "%s", err.message);
    cr_expect_eq(set.metric_count, 0);
    cr_expect_eq(cw_set_parse(&set, text, sizeof text - 1, "s.yaml", NULL, arena, NULL), CW_OK, "names unchecked");
}
