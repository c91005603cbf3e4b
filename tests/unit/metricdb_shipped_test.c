/* The formulas that come with the data, on every chip. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/file.h"
#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "metricdb/data.h"
#include "metricdb/formula.h"
#include "metricdb/formula_load.h"
#include "metricdb/set.h"

enum { MOST_CHIPS = 64 };

static struct cw_arena *arena;
static const struct cw_chip *chips[MOST_CHIPS];
static size_t count;

static void setup(void)
{
    const struct cw_chip_file *files;
    struct cw_error err = CW_ERROR_INIT;
    arena = cw_arena_create();
    cr_assert_eq(cw_chip_files(&files, &count, NULL, arena, NULL), CW_OK);
    cr_assert(count >= 14 && count <= MOST_CHIPS);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(cw_chip_load_file(&chips[i], files[i].path, arena, NULL), CW_OK);
        cr_assert(cw_formulas_load_shipped(&chips[i], NULL, arena, &err) == CW_OK, "%s: %s:%u:%u: %s", files[i].path,
                  err.source, err.line, err.column, err.message);
    }
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(shipped, .init = setup, .fini = teardown, .timeout = 600);

/* Numbers, functions and units have no two underscores. */
static void expect_known_names(const char *path)
{
    struct cw_bytes file;
    cr_assert_eq(cw_file_read(&file, path, 1 << 20, NULL), CW_OK);
    for (char *word = strtok((char *)file.data, " \n,()[]:*/+-"); word; word = strtok(NULL, " \n,()[]:*/+-")) {
        bool known = !strstr(word, "__");
        for (size_t i = 0; i < count && !known; i++)
            known = cw_set_usable(chips[i], CW_OF_RANGES, word, NULL);
        cr_expect(known, "%s: no chip has %s", path, word);
    }
    cw_bytes_free(&file);
}

Test(shipped, every_name_is_one_of_some_chip)
{
    const char *const *names;
    size_t files;
    char path[CW_DATA_PATH_MAX], name[300];
    cr_assert_eq(cw_data_list(NULL, "formulas", &names, &files, arena, NULL), CW_OK);
    cr_expect_geq(files, 2);
    for (size_t i = 0; i < files; i++) {
        snprintf(name, sizeof name, "formulas/%s", names[i]);
        cr_assert_eq(cw_data_path(path, NULL, name, NULL), CW_OK);
        expect_known_names(path);
    }
}

Test(shipped, each_says_what_it_is)
{
    for (size_t i = 0; i < count; i++)
        for (uint32_t f = 0; f < chips[i]->formulas->count; f++) {
            const struct cw_formula *formula = &chips[i]->formulas->items[f];
            cr_expect(formula->shipped && *formula->description && *formula->unit, "%s", formula->name);
        }
}

/* What every chip has, and what one needs device memory or tensor cores for. */
Test(shipped, all_chips_have_the_roofline)
{
    static const char *const everywhere[] = {"launch__occupancy_limit",
                                             "launch__waves_per_multiprocessor",
                                             "sm__maximum_warps_per_active_cycle_pct",
                                             "roofline__flop",
                                             "roofline__flop_fp16_per_second",
                                             "roofline__flop_fp32_per_second",
                                             "roofline__flop_fp64_peak",
                                             "roofline__op_integer_per_second",
                                             "roofline__l2_intensity",
                                             "roofline__l1_intensity",
                                             "roofline__shared_intensity",
                                             "roofline__l2_fraction",
                                             "roofline__flop_peak",
                                             "roofline__flop_roof",
                                             "roofline__fraction"};
    for (size_t i = 0; i < count; i++) {
        const struct cw_chip *c = chips[i];
        const bool memory = cw_set_usable(c, CW_OF_RANGES, "dram__bytes.sum", NULL);
        const bool tensor = strcmp(c->name, "TU116") != 0;
        for (size_t k = 0; k < sizeof everywhere / sizeof *everywhere; k++)
            cr_expect(cw_set_usable(c, CW_OF_RANGES, everywhere[k], NULL), "%s: %s", c->name, everywhere[k]);
        cr_expect(cw_set_usable(c, CW_OF_RANGES, "roofline__dram_fraction", NULL) == memory, "%s", c->name);
        cr_expect(cw_set_usable(c, CW_OF_RANGES, "roofline__flop_tensor_fp16_peak", NULL) == tensor, "%s", c->name);
        cr_expect(cw_set_usable(c, CW_OF_RANGES, "roofline__flop_fraction_tensor", NULL) == tensor, "%s", c->name);
    }
}
