#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "metricdb/formula_load.h"
#include "metricdb/set.h"

static struct cw_arena *arena;
static const struct cw_chip *chip;

static void setup(void)
{
    arena = cw_arena_create();
    cr_assert_eq(cw_chip_load(&chip, NULL, "GH100", arena, NULL), CW_OK);
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(set, .init = setup, .fini = teardown);

/* Every chip can give something of every set, and every name in it is one of some chip. */
static const char *const of_no_chip[] = {/* NVIDIA recommends them, but its library has them for none */
                                         "pcie__rx_requests_aperture_bar1_op_read.sum",
                                         "pcie__rx_requests_aperture_bar1_op_write.sum",
                                         "gr__dispatch_count.avg.pct_of_peak_sustained_elapsed",
                                         "dramc__read_throughput.avg.pct_of_peak_sustained_elapsed",
                                         "dramc__write_throughput.avg.pct_of_peak_sustained_elapsed",
                                         "tpc__warps_inactive_sm_active_realtime.avg.pct_of_peak_sustained_elapsed",
                                         "tpc__warps_inactive_sm_idle_realtime.avg.pct_of_peak_sustained_elapsed"};

static bool is_of_no_chip(const char *name)
{
    for (size_t i = 0; i < sizeof of_no_chip / sizeof *of_no_chip; i++)
        if (strcmp(of_no_chip[i], name) == 0)
            return true;
    return false;
}

static void expect_known_names(const char *path, const struct cw_chip *const *chips, size_t count)
{
    struct cw_bytes file;
    cr_assert_eq(cw_file_read(&file, path, 1 << 20, NULL), CW_OK);
    for (char *word = strtok((char *)file.data, " \n,[]"); word; word = strtok(NULL, " \n,[]")) {
        bool known = !strstr(word, "__") || is_of_no_chip(word);
        for (size_t i = 0; i < count && !known; i++)
            known = cw_set_usable(chips[i], CW_OF_RANGES, word, NULL);
        cr_expect(known, "%s: %s", path, word);
    }
    cw_bytes_free(&file);
}

Test(set, shipped_sets_serve_every_chip, .timeout = 600)
{
    const char *const *names;
    const struct cw_chip_file *files;
    const struct cw_chip *chips[64];
    size_t sets, count;
    cr_assert_eq(cw_chip_files(&files, &count, NULL, arena, NULL), CW_OK);
    cr_assert_eq(cw_set_list(&names, &sets, NULL, arena, NULL), CW_OK);
    cr_expect_geq(sets, 14);
    cr_assert_leq(count, 64);
    for (size_t i = 0; i < count; i++)
        cr_assert(cw_chip_load_file(&chips[i], files[i].path, arena, NULL) == CW_OK &&
                  cw_formulas_load_shipped(&chips[i], NULL, arena, NULL) == CW_OK);
    for (size_t k = 0; k < sets; k++) {
        char path[512];
        for (size_t i = 0; i < count; i++) {
            struct cw_set set;
            struct cw_error err = CW_ERROR_INIT;
            cr_expect_eq(cw_set_load(&set, NULL, names[k], chips[i], arena, &err), CW_OK, "%s: %s", chips[i]->name,
                         err.message);
            cr_expect_str_eq(set.name, names[k]);
            cr_expect(*set.title && set.metric_count);
        }
        snprintf(path, sizeof path, CW_SOURCE_DIR "/data/sets/%s.yaml", names[k]);
        expect_known_names(path, chips, count);
    }
}

Test(set, names_are_sorted)
{
    const char *const *names;
    size_t count;
    cr_assert_eq(cw_set_list(&names, &count, NULL, arena, NULL), CW_OK);
    for (size_t i = 1; i < count; i++)
        cr_expect_lt(strcmp(names[i - 1], names[i]), 0);
}

Test(set, sections_of_nsight_compute_are_names_of_one_set_each)
{
    const char *const *names;
    size_t count, sections = 0;
    cr_assert_eq(cw_set_list(&names, &count, NULL, arena, NULL), CW_OK);
    for (size_t i = 0; i < count; i++) {
        struct cw_set set, found;
        cr_assert_eq(cw_set_load(&set, NULL, names[i], NULL, arena, NULL), CW_OK);
        for (size_t j = 0; j < set.section_count; j++, sections++) {
            cr_assert_eq(cw_set_load(&found, NULL, set.sections[j], NULL, arena, NULL), CW_OK);
            cr_expect_str_eq(found.name, set.name, "%s", set.sections[j]);
        }
    }
    cr_expect_geq(sections, 11);
}

Test(set, a_path_is_a_file)
{
    struct cw_set set;
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_set_load(&set, NULL, CW_SOURCE_DIR "/data/sets/demo.yaml", chip, arena, NULL), CW_OK);
    cr_expect_str_eq(set.name, "demo");
    cr_expect_eq(cw_set_load(&set, NULL, "nowhere.yaml", chip, arena, &err), CW_ERR_IO);
}

Test(set, misspelt_names_get_the_nearest)
{
    struct cw_set set;
    struct cw_error err = CW_ERROR_INIT, empty = CW_ERROR_INIT;
    cr_expect_eq(cw_set_load(&set, NULL, "ocupancy", chip, arena, &err), CW_ERR_USAGE);
    cr_expect_str_eq(err.message,
                     "found no metric set named 'ocupancy', counterworks sets lists them; did you mean occupancy?");
    cr_expect_eq(cw_set_load(&set, NULL, "", chip, arena, &empty), CW_ERR_USAGE);
}

static enum cw_status parse(struct cw_set *set, const char *metrics, const struct cw_chip *of, struct cw_error *err)
{
    char text[512];
    snprintf(text, sizeof text, "schema: 1\nset: s\ntitle: t\nmetrics:\n%s", metrics);
    return cw_set_parse(set, text, strlen(text), "s.yaml", of, arena, err);
}

Test(set, what_a_chip_cannot_give_is_left_out)
{
    struct cw_set set;
    cr_assert_eq(parse(&set, "  - dram__bytes.summ\n  - dram__bytes.sum\n  - [a__b.sum, c__d.sum]\n", chip, NULL),
                 CW_OK);
    cr_assert(set.metric_count == 1 && set.missing_count == 2);
    cr_expect_str_eq(set.metrics[0], "dram__bytes.sum");
    cr_expect_str_eq(set.missing[0].name, "dram__bytes.summ");
    cr_expect(set.missing[0].line == 5 && set.missing[0].column == 5);
    cr_expect_str_eq(set.missing[1].name, "a__b.sum");
    cr_expect(set.missing[1].line == 7 && set.missing[1].column == 6);
    cr_assert_eq(parse(&set, "  - dram__bytes.summ\n", NULL, NULL), CW_OK, "names unchecked");
    cr_expect_eq(set.metric_count, 1);
}

Test(set, the_first_alternative_that_is_usable_is_taken)
{
    struct cw_set set;
    cr_assert_eq(parse(&set, "  - [dram__bytes_op_read.sum, dram__bytes_read.sum, dram__bytes.sum]\n", chip, NULL),
                 CW_OK);
    cr_assert(set.metric_count == 1 && set.missing_count == 0);
    cr_expect_str_eq(set.metrics[0], "dram__bytes_read.sum");
    /* GH100 has the ratio, but its formula is not known */
    cr_assert_eq(parse(&set, "  - [tpc__average_cta_latency.ratio, dram__bytes.sum]\n", chip, NULL), CW_OK);
    cr_expect_str_eq(set.metrics[0], "dram__bytes.sum");
}

Test(set, errors_name_the_place)
{
    static const struct {
        int test_line;
        const char *metrics;
        enum cw_status status;
        unsigned line, column;
        const char *message;
    } cases[] = {
        {__LINE__, "  - dram__bytes.summ\n", CW_ERR_UNSUPPORTED, 5, 3,
         "found no metric of the set that GH100 can give: found '.summ' after the counter dram__bytes"},
        {__LINE__, "  - []\n", CW_ERR_INPUT, 5, 5, "found no alternative, expected at least one name"},
        {__LINE__, "  - [a__b.sum, [c]]\n", CW_ERR_INPUT, 5, 16, "found a list for a name, expected a plain value"},
        {__LINE__, "  - dram__bytes.sum\n  - [x__y.sum, dram__bytes.sum]\n", CW_ERR_INPUT, 6, 16,
         "found the metric dram__bytes.sum a second time, first on line 5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_set set;
        struct cw_error err = CW_ERROR_INIT;
        cr_expect_eq(parse(&set, cases[i].metrics, chip, &err), cases[i].status, "line %d", cases[i].test_line);
        cr_expect(err.line == cases[i].line && err.column == cases[i].column, "line %d: %u:%u", cases[i].test_line,
                  err.line, err.column);
        cr_expect(strncmp(err.message, cases[i].message, strlen(cases[i].message)) == 0, "line %d: %s",
                  cases[i].test_line, err.message);
        cr_expect_str_eq(err.source, "s.yaml");
    }
}
