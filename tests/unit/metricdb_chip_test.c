#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "metricdb/chip.h"
#include "metricdb/chip_load.h"
#include "metricdb/chip_write.h"
#include "tests/support/small_chip.h"

static struct cw_arena *arena;

static void setup(void)
{
    arena = cw_arena_create();
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(chip, .init = setup, .fini = teardown);

static const struct cw_chip *small(void)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    char text[1200];
    cr_assert_eq(cw_chip_parse(&chip, cw_small_chip, strlen(cw_small_chip), "tiny.yaml", arena, &err), CW_OK, "%s",
                 cw_error_format(&err, text, sizeof text));
    return chip;
}

Test(chip, holds_what_the_file_says)
{
    const struct cw_chip *chip = small();
    cr_expect_str_eq(chip->name, "TINY");
    cr_assert_eq(chip->counter_count, 5);
    cr_assert_eq(chip->raw_count, 3);
    cr_expect_str_eq(chip->counters[chip->time].name, "gpu__time_duration");
    cr_expect_eq(chip->raws[1].id, 0x22);
    cr_expect_eq(chip->raws[1].placement_count, 2);
    cr_expect_eq(chip->placements[chip->raws[1].placement].domain, 1, "the preferred domain comes first");
    const struct cw_counter *warps = &chip->counters[4];
    cr_expect_str_eq(warps->dimension, "warps");
    cr_expect_eq(warps->instances, 2, "its own");
    cr_expect_eq(warps->active, CW_NONE, "its own");
    cr_expect_str_eq(chip->counters[warps->elapsed].name, "sm__cycles_elapsed", "its unit's");
    cr_expect_eq(warps->line, 21);
    const struct cw_ratio *ratio = &chip->ratios[0];
    cr_expect_str_eq(chip->counters[ratio->numerator].name, "sm__inst_executed");
    cr_expect_eq(ratio->scale, 2);
    cr_expect_eq(ratio->confirmed, 3);
    cr_expect_eq(chip->throughputs[1].throughputs.items[0], 0);
    cr_expect_eq(chip->throughputs[0].counters.count, 2);
}

/* The small chip, of whose metrics CUPTI samples some. */
static const struct cw_chip *sampled(void)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    char *some = cw_text_with(cw_small_chip, "dim: gpc_cycles, peak: 1, raw: [0x11]}",
                              "dim: gpc_cycles, peak: 1, pm: also, raw: [0x11]}");
    char *text = cw_text_with(some, "ratios:\n",
                              "  sm__stalls: {unit: sm, dim: warps, pm: only, raw: [0x22]}\n"
                              "  sm__loads: {unit: sm, dim: warps, pm_elapsed: sm__cycles_active, pm_active: none, pm: "
                              "also, raw: [0x22]}\nratios:\n");
    cr_assert_eq(cw_chip_parse(&chip, text, strlen(text), "tiny.yaml", arena, &err), CW_OK, "%s", err.message);
    free(some);
    free(text);
    return chip;
}

Test(chip, each_profiler_has_its_list)
{
    const struct cw_chip *chip = small();
    cr_expect_eq(cw_chip_listed_count(chip, CW_COUNTER, CW_OF_SAMPLES), 5, "one list where nothing is said");
    chip = sampled();
    cr_expect_eq(chip->counter_count, 7);
    cr_expect_eq(cw_chip_listed_count(chip, CW_COUNTER, CW_OF_RANGES), 6);
    cr_expect_eq(cw_chip_listed_count(chip, CW_COUNTER, CW_OF_SAMPLES), 3);
    cr_expect_eq(cw_chip_listed_count(chip, CW_RATIO, CW_OF_SAMPLES), 0);
    cr_expect(cw_chip_lists(chip, CW_COUNTER, 1, CW_OF_RANGES) && cw_chip_lists(chip, CW_COUNTER, 1, CW_OF_SAMPLES));
    cr_expect(!cw_chip_lists(chip, CW_COUNTER, 5, CW_OF_RANGES) && cw_chip_lists(chip, CW_COUNTER, 5, CW_OF_BOTH));
}

Test(chip, samples_divide_by_cycles_of_their_own)
{
    const struct cw_chip *chip = sampled(), *as_sampled = chip;
    cr_assert_eq(cw_chip_as_sampled(&as_sampled, arena, NULL), CW_OK);
    cr_assert_neq(as_sampled, chip);
    cr_expect_str_eq(chip->counters[chip->counters[6].elapsed].name, "sm__cycles_elapsed");
    cr_expect_str_eq(chip->counters[as_sampled->counters[6].elapsed].name, "sm__cycles_active");
    cr_expect_eq(as_sampled->counters[6].active, chip->counters[6].active, "none is no other counter");
    cr_expect_eq(as_sampled->counters[1].elapsed, chip->counters[1].elapsed);
    chip = as_sampled = small();
    cr_assert_eq(cw_chip_as_sampled(&as_sampled, arena, NULL), CW_OK);
    cr_expect_eq(as_sampled, chip, "nothing to change");
}

static const struct cw_chip *with(const char *from, const char *to)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    char *text = cw_text_with(cw_small_chip, from, to);
    cr_assert_eq(cw_chip_parse(&chip, text, strlen(text), "tiny.yaml", arena, &err), CW_OK, "%s", err.message);
    free(text);
    return chip;
}

Test(chip, costs_of_passes)
{
    cr_expect_eq(small()->device_counter, CW_NONE);
    cr_expect_eq(small()->pass_cost_count, 0);
    const struct cw_chip *chip =
        with("time:", "device_counter: 0x22\npass_costs: [{cost: 5, domains: [gpu_sm_a, trace]}]\ntime:");
    cr_expect_eq(chip->device_counter, 1);
    cr_assert_eq(chip->pass_cost_count, 1);
    cr_expect_eq(chip->pass_costs[0].cost, 5);
    cr_assert_eq(chip->pass_costs[0].domains.count, 2);
    cr_expect_eq(chip->pass_costs[0].domains.items[0], 1);

    struct cw_writer many;
    struct cw_error err = CW_ERROR_INIT;
    cw_writer_init(&many);
    cw_write_format(&many, "pass_costs:\n");
    for (int i = 0; i <= CW_MOST_PASS_COSTS; i++)
        cw_write_format(&many, "  - {cost: 5, domains: [trace]}\n");
    cw_write_format(&many, "time:%c", 0);
    char *text = cw_text_with(cw_small_chip, "time:", (const char *)many.data);
    cr_expect_eq(cw_chip_parse(&chip, text, strlen(text), "tiny.yaml", arena, &err), CW_ERR_INPUT);
    cr_expect_str_eq(err.message, "found 65 pass costs, expected at most 64");
    free(text);
    cw_writer_free(&many);
}

Test(chip, derived_counters)
{
    const struct cw_chip *chip = with("peak: 1, instances: 2,", "of: {sm__inst_executed: 0.5, gpu__time_duration: -3}, "
                                                                "per: 4, confirmed: 7, peak: 1, instances: 2,");
    const struct cw_counter *c = &chip->counters[4];
    cr_assert_eq(c->terms.count, 2);
    cr_expect_str_eq(chip->counters[c->terms.items[0]].name, "sm__inst_executed");
    cr_expect_eq(c->coefficients[0], 0.5);
    cr_expect_eq(c->coefficients[1], -3);
    cr_expect_eq(c->per, 4);
    cr_expect_eq(c->confirmed, 7);
    for (int r = 0; r < 4; r++) {
        cr_expect_eq(cw_counter_follows(chip, 4, r), r < 2, "only sum and average follow");
        cr_expect_not(cw_counter_follows(chip, 3, r), "recorded");
    }
    static const char *const not_scaled[] = {"of: {gpu__time_duration: 2}, peak: 1, instances: 2,",
                                             "of: {sm__inst_executed: -2}, peak: 1, instances: 2,"};
    for (int i = 0; i < 2; i++)
        cr_expect_not(cw_counter_follows(with("peak: 1, instances: 2,", not_scaled[i]), 4, 3), "%s", not_scaled[i]);
    cr_expect(cw_counter_follows(with("peak: 1, instances: 2,", "of: {sm__inst_executed: 2}, peak: 1,"), 4, 3));
}

Test(chip, derived_counters_are_written_as_they_are_read)
{
    static const char *const source[] = {"written by hand", NULL};
    const struct cw_chip *chip = with("peak: 1, instances: 2,", "of: {sm__inst_executed: 0.03125, gpu__time_duration: "
                                                                "-64}, per: 0.5, confirmed: 7, instances: 2,");
    struct cw_writer text;
    cw_writer_init(&text);
    cw_chip_write(chip, source, &text);
    cw_write_bytes(&text, "", 1);
    cr_assert_eq(text.status, CW_OK);
    cr_expect(strstr((const char *)text.data, ", of: {sm__inst_executed: 0.03125, gpu__time_duration: -64}, per: 0.5, "
                                              "confirmed: 7, raw: ["),
              "%s", (const char *)text.data);
    cw_writer_free(&text);
}

Test(chip, finds_names_of_each_type)
{
    const struct cw_chip *chip = small();
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++) {
            enum cw_metric_type type;
            uint32_t index;
            const char *name = cw_chip_base_name(chip, (enum cw_metric_type)t, i);
            cr_assert(cw_chip_find(chip, name, strlen(name), &type, &index), "%s", name);
            cr_expect(type == (enum cw_metric_type)t && index == i, "%s", name);
            cr_expect_not(cw_chip_find(chip, name, strlen(name) - 1, &type, &index), "%s cut short", name);
        }
    cr_expect_eq(cw_chip_find_raw(chip, 0x33), 2);
    cr_expect_eq(cw_chip_find_raw(chip, 0x34), CW_NONE);
    cr_expect_eq(cw_chip_find_raw(chip, 0x10), CW_NONE);
}

Test(chip, errors_name_the_place)
{
    static const struct {
        int test_line;
        const char *from, *to;
        unsigned line, column;
        const char *message;
    } cases[] = {
        {__LINE__, "schema: 1", "schema: 2", 1, 9, "found schema 2, expected schema 1"},
        {__LINE__, "schema: 1", "schema: x", 1, 9, "found 'x', expected a whole number up to 4294967295"},
        {__LINE__, "schema: 1\n", "", 1, 1, "found no 'schema', which is required"},
        {__LINE__, "chip: TINY\n", "", 1, 1, "found no 'chip', which is required"},
        {__LINE__, "time:", "tme:", 5, 1, "found the unknown key 'tme'"},
        {__LINE__, "gpu__time_duration\n", "gpu__time_duratio\n", 5, 7,
         "found 'gpu__time_duratio', expected the name of a counter; did you mean gpu__time_duration?"},
        {__LINE__, "active: sm__cycles_active, elapsed", "active: sm__cycles, elapsed", 7, 31,
         "found 'sm__cycles', expected the name of a counter"},
        {__LINE__, "instances: 1", "instance: 1", 7, 9, "found the unknown key 'instance'"},
        {__LINE__, "instances: 4", "instances: -4", 8, 19, "found '-4', expected a whole number up to 4294967294"},
        {__LINE__, "trace: 1", "trace: []", 10, 10, "found a list for a whole number, expected a plain value"},
        {__LINE__, "0x0000000000000022", "0x0000000000000011", 14, 3,
         "found the key '0x0000000000000011' a second time, first on line 13"},
        {__LINE__, "0x0000000000000022", "0x0000000000000044", 15, 3,
         "found the raw counter '0x0000000000000033', expected ids above 0 in ascending order"},
        {__LINE__, "0x0000000000000011", "0x0000000000000000", 13, 3,
         "found the raw counter '0x0000000000000000', expected ids above 0 in ascending order"},
        {__LINE__, "[gpu_sm_a, trace]", "[gpu_sm_a, tracer]", 14, 34,
         "found 'tracer', expected a domain of the 'domains' section"},
        {__LINE__, "[gpu_sm_a, trace]", "gpu_sm_a", 14, 23,
         "found a plain value for the domains of a raw counter, expected a list"},
        {__LINE__, "unit: gpu, dim: nanoseconds", "unit: gp, dim: nanoseconds", 17, 30,
         "found 'gp', expected a unit of the 'units' section"},
        {__LINE__, "dim: nanoseconds, ", "", 17, 23, "found no 'dim', which is required"},
        {__LINE__, ", raw: [0x33]}", "}", 17, 23, "found no 'raw', which is required"},
        {__LINE__, "peak: 4, raw", "of: {sm__inst: 2}, raw", 20, 57,
         "found 'sm__inst', expected the name of a counter"},
        {__LINE__, "peak: 4, raw", "of: {sm__cycles_active: 0}, raw", 20, 76,
         "found the coefficient 0, expected a finite number other than 0"},
        {__LINE__, "peak: 4, raw", "of: {sm__inst_executed: 1}, raw", 20, 57,
         "found sm__inst_executed, which is derived itself, expected a recorded counter"},
        {__LINE__, "peak: 4, raw", "of: [sm__cycles_active], raw", 20, 56, "found a list for of, expected a mapping"},
        {__LINE__, "peak: 4, raw", "per: 0, raw", 20, 22,
         "found per: 0 for sm__inst_executed, expected a number above 0"},
        {__LINE__, "raw: [0x33]", "raw: [0x34]", 17, 68,
         "found the raw counter '0x34', expected one of the 'raw_counters' section"},
        {__LINE__, "peak: 4", "peak: four", 20, 58, "found 'four', expected a number"},
        {__LINE__, "sm__cycles_elapsed: {", "sm__cycles_active: {", 19, 3,
         "found the key 'sm__cycles_active' a second time, first on line 18"},
        {__LINE__, "  sm__cycles_active: {unit: sm, dim: gpc_cycles, peak: 1, raw: [0x11]}", "  sm__cycles_active: 1",
         18, 22, "found a plain value for an entry, expected a mapping"},
        {__LINE__, "num: sm__inst_executed", "num: sm__inst_executd", 23, 80,
         "found 'sm__inst_executd', expected the name of a counter; did you mean sm__inst_executed?"},
        {__LINE__, ", den: sm__warps_launched", "", 23, 39,
         "found only one of 'num' and 'den' for sm__average_inst_executed_per_warp, expected both or none"},
        {__LINE__, "sm__average_inst_executed_per_warp:", "sm__inst_executed:", 23, 3,
         "found the name sm__inst_executed a second time, expected unique names of counters, ratios and "
         "throughputs"},
        {__LINE__, "counters: [sm__inst_executed, ", "counters: [sm__inst, ", 25, 55,
         "found 'sm__inst', expected the name of a counter"},
        {__LINE__, "throughputs: [sm__throughput]", "throughputs: [sm__through]", 26, 60,
         "found 'sm__through', expected the name of a throughput"},
        {__LINE__, "throughputs: [sm__throughput]", "throughputs: [gpu__throughput]", 26, 3,
         "found gpu__throughput among its own constituents"},
        {__LINE__, "counters: [sm__inst_executed, sm__cycles_active]", "throughputs: [gpu__throughput]", 25, 3,
         "found sm__throughput among its own constituents"},
        {__LINE__, "gpu: {instances: 1, active: sm__cycles_active, elapsed: sm__cycles_elapsed}", "gpu: [1]", 7, 8,
         "found a list for an entry, expected a mapping"},
        {__LINE__, "gpu_sm_a: 32", "'gpu sm': 32", 11, 3,
         "found 'gpu sm', expected a name of letters, digits, '_' and '.', at most 200"},
        {__LINE__, "dim: percent", "dim: '%'", 25, 35,
         "found '%', expected a name of letters, digits, '_' and '.', at most 200"},
        {__LINE__, "throughputs:\n", "throughput:\n", 24, 1, "found the unknown key 'throughput'"},
        {__LINE__, "peak: 4, raw", "peak: 4, pm: yes, raw", 20, 65, "found pm: yes, expected also or only"},
        {__LINE__, "peak: 4, raw", "pm_elapsed: sm__stars, raw", 20, 64,
         "found 'sm__stars', expected the name of a counter"},
        {__LINE__, "time:", "device_counter: 0x34\ntime:", 5, 17,
         "found the raw counter '0x34', expected one of the 'raw_counters' section"},
        {__LINE__, "time:", "pass_costs: [{cost: 5, domains: [tracer]}]\ntime:", 5, 34,
         "found 'tracer', expected a domain of the 'domains' section"},
        {__LINE__, "time:", "pass_costs: [{domains: [trace]}]\ntime:", 5, 14, "found no 'cost', which is required"},
        {__LINE__, "time:", "pass_costs: {trace: 5}\ntime:", 5, 13, "found a mapping for pass_costs, expected a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_chip *chip;
        struct cw_error err = CW_ERROR_INIT;
        char *text = cw_text_with(cw_small_chip, cases[i].from, cases[i].to);
        int test_line = cases[i].test_line;
        cr_expect_eq(cw_chip_parse(&chip, text, strlen(text), "tiny.yaml", arena, &err), CW_ERR_INPUT, "line %d",
                     test_line);
        cr_expect_str_eq(err.source, "tiny.yaml", "line %d", test_line);
        cr_expect_eq(err.line, cases[i].line, "line %d: found line %u", test_line, err.line);
        cr_expect_eq(err.column, cases[i].column, "line %d: found column %u", test_line, err.column);
        cr_expect_str_eq(err.message, cases[i].message, "line %d: %s", test_line, err.message);
        free(text);
    }
}

Test(chip, other_root_than_a_mapping)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_chip_parse(&chip, "- x", 3, "f.yaml", arena, &err), CW_ERR_INPUT);
    cr_expect_str_eq(err.message, "found a list for a chip file, expected a mapping");
}

Test(chip, unknown_names_get_suggestions)
{
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT, path = CW_ERROR_INIT;
    cr_expect_eq(cw_chip_load(&chip, NULL, "GH10", arena, &err), CW_ERR_USAGE);
    cr_expect(strstr(err.message, "found no chip named 'GH10'") && strstr(err.message, "did you mean GH100 or GB10?"),
              "%s", err.message);
    cr_expect_eq(cw_chip_load(&chip, NULL, "../chips/gh100", arena, &path), CW_ERR_USAGE, "a name is not a path");
    cr_expect_eq(cw_chip_load(&chip, NULL, "gh100", arena, NULL), CW_OK);
    cr_expect_eq(cw_chip_load(&chip, NULL, "GH100", arena, NULL), CW_OK);
}

Test(chip, sections_may_be_empty)
{
    char *cut = cw_text_with(cw_small_chip, "ratios:", "ratios:\nthroughputs:\n---\n");
    *strstr(cut, "---") = 0;
    const struct cw_chip *chip;
    cr_assert_eq(cw_chip_parse(&chip, cut, strlen(cut), "tiny.yaml", arena, NULL), CW_OK);
    cr_expect(chip->ratio_count == 0 && chip->throughput_count == 0 && chip->counter_count == 5);
    free(cut);
}

/* The text after the header, whose comment and provenance the chip does not keep. */
static const char *body(const char *text)
{
    const char *at = strstr(text, "\ntime: ");
    cr_assert(at);
    return at;
}

/* The written text is the file's up to the sections that the writer does not write. Texts of a megabyte are too long
 * for the messages of an assertion. */
static void expect_same_body(const char *written, const char *file)
{
    size_t same = 0, line = 1;
    for (; written[same] && written[same] == file[same]; same++)
        line += written[same] == '\n';
    cr_expect(!written[same], "differs in line %zu after the header", line);
    cr_expect(!file[same] || strncmp(file + same, "\nclasses:", 9) == 0);
}

static void expect_round_trip(const char *data, size_t size, const char *path)
{
    static const char *const source[] = {"a test", NULL};
    const struct cw_chip *chip, *again;
    struct cw_writer first, second;
    cr_assert_eq(cw_chip_parse(&chip, data, size, path, arena, NULL), CW_OK);
    cw_writer_init(&first);
    cw_chip_write(chip, source, &first);
    cr_assert_eq(cw_chip_parse(&again, first.data, first.size, path, arena, NULL), CW_OK);
    cw_writer_init(&second);
    cw_chip_write(again, source, &second);
    cr_assert(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    cw_write_u8(&first, 0);
    if (strstr(path, "gh100"))
        expect_same_body(body((const char *)first.data), body(data));
    cw_writer_free(&first);
    cw_writer_free(&second);
}

Test(chip, small_chip_survives_writing)
{
    expect_round_trip(cw_small_chip, strlen(cw_small_chip), "tiny.yaml");
}

Test(chip, shipped_chip_is_as_the_writer_writes_it)
{
    struct cw_bytes file;
    cr_assert_eq(cw_file_read(&file, CW_SOURCE_DIR "/data/chips/gh100.yaml", 64 << 20, NULL), CW_OK);
    expect_round_trip((const char *)file.data, file.size, "gh100.yaml");
    cw_bytes_free(&file);
}

Test(chip, shipped_chip_holds_what_is_known_of_it)
{
    const struct cw_chip *chip;
    cr_assert_eq(cw_chip_load(&chip, NULL, "GH100", arena, NULL), CW_OK);
    cr_expect_eq(cw_chip_listed_count(chip, CW_COUNTER, CW_OF_RANGES), 3389);
    cr_expect_eq(cw_chip_listed_count(chip, CW_RATIO, CW_OF_RANGES), 205);
    cr_expect_eq(cw_chip_listed_count(chip, CW_THROUGHPUT, CW_OF_RANGES), 56);
    cr_expect_eq(cw_chip_listed_count(chip, CW_COUNTER, CW_OF_SAMPLES), 611);
    cr_expect_eq(cw_chip_listed_count(chip, CW_RATIO, CW_OF_SAMPLES), 605);
    cr_expect_eq(cw_chip_listed_count(chip, CW_THROUGHPUT, CW_OF_SAMPLES), 63);
    cr_expect_eq(chip->counter_count, 3389 + 121);
    cr_expect_eq(chip->ratio_count, 205 + 482);
    cr_expect_eq(chip->throughput_count, 56 + 18);
    enum cw_metric_type type;
    uint32_t index;
    cr_assert(cw_chip_find(chip, "sm__inst_executed", 17, &type, &index));
    cr_expect(type == CW_COUNTER && chip->counters[index].peak == 4 && chip->counters[index].instances == 132);
}
