#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/chip_load.h"
#include "metricdb/glossary.h"
#include "tests/support/small_chip.h"

static struct cw_arena *arena;
static const struct cw_glossary *shipped;
static const struct cw_chip *gh100;

static void setup(void)
{
    arena = cw_arena_create();
    cr_assert_eq(cw_glossary_load(&shipped, arena, NULL), CW_OK);
    cr_assert_eq(cw_chip_load(&gh100, NULL, "GH100", arena, NULL), CW_OK);
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(glossary, .init = setup, .fini = teardown);

static const char *describe(const char *name)
{
    static char text[CW_DESCRIPTION_MAX];
    enum cw_metric_type type;
    uint32_t base;
    cr_assert(cw_chip_find(gh100, name, strlen(name), &type, &base), "%s", name);
    return cw_describe(shipped, gh100, type, base, text, sizeof text);
}

Test(glossary, what_a_name_has_is_enough_to_describe_it)
{
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(gh100, (enum cw_metric_type)t); i += 29) {
            char all[CW_DESCRIPTION_MAX], some[CW_DESCRIPTION_MAX];
            const char *name = cw_chip_base_name(gh100, (enum cw_metric_type)t, i);
            struct cw_arena *own = cw_arena_create();
            const struct cw_glossary *about;
            cr_assert_eq(cw_glossary_load_about(&about, NULL, name, own, NULL), CW_OK, "%s", name);
            cw_describe(shipped, gh100, (enum cw_metric_type)t, i, all, sizeof all);
            cw_describe(about, gh100, (enum cw_metric_type)t, i, some, sizeof some);
            cr_expect_str_eq(some, all, "%s", name);
            cw_arena_destroy(own);
        }
}

Test(glossary, describes_each_type)
{
    static const char *const cases[][2] = {
        {"sm__inst_executed", "Number of warp instructions executed by the SM."},
        {"lts__t_sectors_srcunit_tex_op_read_lookup_hit", "Number of 32-byte sectors looked up by the L2 cache slice, "
                                                          "for reads, asked for by the L1/texture caches, that "
                                                          "hit."},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
         "Number of 32-byte sectors looked up by the L1/texture cache, for loads in global memory, in the load/store "
         "pipe (LSU)."},
        {"smsp__warps_issue_stalled_long_scoreboard",
         "Number of warps of the SM sub-partition that could not issue, summed over cycles, waiting for a result from "
         "L1, texture, local or global memory."},
        {"lts__t_sector_hit_rate", "Share of hits among 32-byte sectors looked up by the L2 cache slice."},
        {"l1tex__average_t_sectors_per_request",
         "Average number of 32-byte sectors looked up by the L1/texture cache for each request."},
        {"sm__pipe_tensor_op_hmma_cycles_active",
         "Number of active cycles of the tensor pipe of the SM, for floating-point matrix operations (HMMA)."},
        {"sm__ops_path_tensor_src_tf32_dst_fp32",
         "Number of math operations of the tensor cores of the SM, on TF32 with FP32 results."},
        {"sm__throughput", "Highest utilization among the parts of the SM."},
        {"smsp__sass_l1tex_tags_mem_global", "Number of cache tags of the L1/texture cache of the SM sub-partition "
                                             "accessed, in global memory (counted by instrumenting the code)."},
        {"SM_A.TriageCompute.sm__inst_executed_pipe_xu_realtime",
         "Number of warp instructions executed by the SM, in the pipe for transcendentals and conversions (XU) "
         "(variant for sampling over time, SM counters, group A)."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(describe(cases[i][0]), cases[i][1], "%s", describe(cases[i][0]));
}

Test(glossary, covers_every_word_of_the_shipped_chip)
{
    char word[CW_METRIC_NAME_MAX];
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(gh100, (enum cw_metric_type)t); i++) {
            const char *name = cw_chip_base_name(gh100, (enum cw_metric_type)t, i);
            cr_expect(cw_glossary_covers(shipped, name, word), "%s in %s", word, name);
        }
}

Test(glossary, descriptions_are_whole_sentences)
{
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(gh100, (enum cw_metric_type)t); i++) {
            char text[CW_DESCRIPTION_MAX];
            cw_describe(shipped, gh100, (enum cw_metric_type)t, i, text, sizeof text);
            size_t length = strlen(text);
            cr_expect(length > 10 && length < 400 && text[length - 1] == '.', "%s", text);
            cr_expect(!strchr(text, '{') && !strchr(text, '"') && !strstr(text, "  ") && !strstr(text, " ,"), "%s",
                      text);
        }
}

Test(glossary, rollup_and_submetric_follow)
{
    static const char *const cases[][2] = {
        {"sm__cycles_active.avg", "Number of active cycles of the SM. The average of the unit's instances."},
        {"sm__cycles_active.max.per_second",
         "Number of active cycles of the SM. For each second of the range; the largest of the unit's instances."},
        {"lts__t_sector_hit_rate.pct", "Share of hits among 32-byte sectors looked up by the L2 cache slice. In "
                                       "percent, from sums over all instances."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_metric m;
        char text[CW_DESCRIPTION_MAX];
        cr_assert_eq(cw_metric_parse(&m, gh100, cases[i][0], NULL), CW_OK);
        cr_expect_str_eq(cw_describe_metric(shipped, gh100, &m, text, sizeof text), cases[i][1], "%s", text);
    }
}

Test(glossary, small_buffers_cut_the_text)
{
    enum cw_metric_type type;
    uint32_t base;
    char whole[CW_DESCRIPTION_MAX], cut[CW_DESCRIPTION_MAX];
    cr_assert(cw_chip_find(gh100, "sm__inst_executed", 17, &type, &base));
    cw_describe(shipped, gh100, type, base, whole, sizeof whole);
    for (size_t size = 1; size < 60; size++) {
        memset(cut, 'x', sizeof cut);
        cw_describe(shipped, gh100, type, base, cut, size);
        cr_expect(strlen(cut) < size && strncmp(cut, whole, strlen(cut)) == 0 && cut[size] == 'x', "%zu", size);
    }
}

/* ---- unknown words and names ------------------------------------------------------------------------------------ */

static const char little[] = "schema: 1\n"
                             "units:\n"
                             "  sm: the SM\n"
                             "heads:\n"
                             "  inst_executed: instructions of {unit}\n"
                             "outcomes:\n"
                             "  lookup_hit: that hit\n";

static const struct cw_glossary *parse_little(void)
{
    const struct cw_glossary *g;
    cr_assert_eq(cw_glossary_parse(&g, little, strlen(little), "g.yaml", arena, NULL), CW_OK);
    return g;
}

Test(glossary, says_which_word_is_unknown)
{
    static const char *const cases[][2] = {
        {"sm__inst_executed", ""},
        {"sm__inst_executed_lookup_hit", ""},
        {"sm__inst", "inst"},
        {"sm__inst_executed_lookup", "lookup"},
        {"sm__inst_executed_strange_lookup_hit", "strange"},
        {"smsp__inst_executed", "smsp"},
        {"TPC.sm__inst_executed", "TPC"},
        {"sm_inst_executed", "sm_inst_executed"},
        {"sm__", "sm__"},
        {"__inst_executed", "__inst_executed"},
        {"", ""},
        {"sm__inst_executed___", ""},
    };
    const struct cw_glossary *g = parse_little();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char word[CW_METRIC_NAME_MAX] = "";
        cw_glossary_covers(g, cases[i][0], word);
        if (*cases[i][1])
            cr_expect_str_eq(word, cases[i][1], "%s: %s", cases[i][0], word);
    }
}

Test(glossary, unknown_words_stand_as_they_are)
{
    char *text = cw_text_with(cw_small_chip, "  sm__inst_executed: ", "  sm__strange_inst_executed_odd: ");
    char *renamed = cw_text_with(text, "num: sm__inst_executed", "num: sm__cycles_active");
    char *whole = cw_text_with(renamed, "[sm__inst_executed, ", "[");
    const struct cw_chip *chip;
    char description[CW_DESCRIPTION_MAX];
    cr_assert_eq(cw_chip_parse(&chip, whole, strlen(whole), "t.yaml", arena, NULL), CW_OK);
    cr_expect_str_eq(cw_describe(parse_little(), chip, CW_COUNTER, 3, description, sizeof description),
                     "Number of instructions of the SM, \"strange\", \"odd\".");
    free(text);
    free(renamed);
    free(whole);
}

Test(glossary, errors_name_the_place)
{
    static const struct {
        int test_line;
        const char *from, *to;
        unsigned line, column;
        const char *message;
    } cases[] = {
        {__LINE__, "schema: 1", "schema: 7", 1, 9, "found schema 7, expected schema 1"},
        {__LINE__, "schema: 1\n", "", 1, 1, "found no 'schema', which is required"},
        {__LINE__, "heads:", "head:", 4, 1, "found the unknown key 'head'"},
        {__LINE__, "units:\n  sm: the SM\n", "units: sm\n", 2, 8, "found a plain value for units, expected a mapping"},
        {__LINE__, "that hit", "[that, hit]", 7, 15, "found a list for a name, expected a plain value"},
        {__LINE__, "lookup_hit", "inst_executed", 7, 3, "found 'inst_executed' a second time, first on line 5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_glossary *g;
        struct cw_error err = CW_ERROR_INIT;
        char *text = cw_text_with(little, cases[i].from, cases[i].to);
        cr_expect_eq(cw_glossary_parse(&g, text, strlen(text), "g.yaml", arena, &err), CW_ERR_INPUT);
        cr_expect(err.line == cases[i].line && err.column == cases[i].column, "line %d: found %u:%u",
                  cases[i].test_line, err.line, err.column);
        cr_expect_str_eq(err.message, cases[i].message, "line %d: %s", cases[i].test_line, err.message);
        free(text);
    }
}
