#include <string.h>

#include "metricdb/chip.h"
#include "metricdb/chip_load.h"
#include "metricdb/chip_write.h"
#include "metricdb/lint.h"
#include "metricdb/term.h"
#include "tests/fuzz/fuzz.h"

/* A chip that was read writes to a text that reads and writes again to itself. */
static void check_round_trip(const struct cw_chip *chip)
{
    static const char *const source[] = {NULL};
    struct cw_writer once, twice;
    cw_writer_init(&once);
    cw_writer_init(&twice);
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *again;
    cw_chip_write(chip, source, &once);
    CW_FUZZ_CHECK(cw_chip_parse(&again, once.data, once.size, "again", arena, NULL) == CW_OK);
    cw_chip_write(again, source, &twice);
    CW_FUZZ_CHECK(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
    cw_arena_destroy(arena);
    cw_writer_free(&once);
    cw_writer_free(&twice);
}

static void check_needed(void *context, uint32_t counter, unsigned rollups)
{
    CW_FUZZ_CHECK(rollups < CW_ROLLUP_BIT(CW_ROLLUP_COUNT));
    const struct cw_chip *chip = context;
    CW_FUZZ_CHECK(counter < chip->counter_count);
}

/* A base name that looks like a full name of another: the longest base name counts, so the other does not read back. */
static int hides_another(const struct cw_chip *chip)
{
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++) {
            const char *name = cw_chip_base_name(chip, (enum cw_metric_type)t, i);
            if (strstr(name, ".sum") || strstr(name, ".ratio"))
                return 1;
        }
    return 0;
}

/* The names of a chip read back, and what they need is in the chip. */
static void check_names(const struct cw_chip *chip)
{
    for (int t = 0; !hides_another(chip) && t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++) {
            char name[CW_METRIC_NAME_MAX], dimension[64];
            struct cw_metric m = cw_metric_variant((enum cw_metric_type)t, i, 0), back;
            cw_metric_name(chip, &m, name);
            cw_metric_dimension(chip, &m, dimension, sizeof dimension);
            CW_FUZZ_CHECK(cw_metric_parse(&back, chip, name, NULL) == CW_OK);
            CW_FUZZ_CHECK(back.type == m.type && back.base == i);
            cw_metric_needs(&(struct cw_needs){.chip = chip, .add = check_needed, .context = (void *)(uintptr_t)chip},
                            &m, NULL);
        }
}

static void check_finding(void *context, const struct cw_finding *finding)
{
    (void)context;
    CW_FUZZ_CHECK(finding->line > 0 && *finding->message);
}

/* The lint reads what the loader reads, and says where each finding is. */
static void check_lint(const uint8_t *data, size_t size, enum cw_status expected)
{
    CW_FUZZ_CHECK(cw_lint_chip(data, size, "fuzz", NULL, check_finding, NULL, NULL) == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = cw_chip_parse(&chip, data, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    CW_FUZZ_CHECK(status == err.code);
    CW_FUZZ_CHECK(status == CW_OK || (err.line > 0 && err.column > 0));
    if (status == CW_OK) {
        check_round_trip(chip);
        check_names(chip);
    }
    check_lint(data, size, status);
    cw_arena_destroy(arena);
    return 0;
}
