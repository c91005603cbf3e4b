/* A compiled chip with a payload that was changed, behind a header that holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "host/schedule.h"
#include "metricdb/chip_load.h"
#include "metricdb/chip_write.h"
#include "metricdb/compiled.h"
#include "metricdb/formula_load.h"
#include "metricdb/meaning.h"
#include "metricdb/term.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/small_chip.h"

enum { HEADER = 48, SIZE_AT = 32, CHECKSUM_AT = 40 };

static struct cw_writer valid;
static uint8_t hash[16];

static void make_valid(void)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chip;
    /* all that the small chip lacks */
    char *text = cw_text_with(cw_small_chip, "ratios:",
                              "  sm__both: {unit: sm, dim: warps, of: {sm__inst_executed: 0.5, sm__warps_launched: 3}, "
                              "confirmed: 2, raw: [0x22, 0x33]}\n"
                              "  sm__twice: {unit: sm, dim: warps, of: {sm__inst_executed: 2}, raw: [0x22]}\n"
                              "also: [TINIER]\ndevice_counter: 0x33\n"
                              "pass_costs: [{cost: 5, domains: [trace]}, {cost: 7, domains: [trace, gpu_sm_a]}]\n"
                              "classes: {a: {domain: trace, raw: [0x22, 0x33]}}\n"
                              "limits: [{max: 1, each: [a]}, {max: 2, groups: [a, gpu_sm_a]}]\n"
                              "pm_limits: [{max: 1, each: [gpu_sm_a]}]\n"
                              "ratios:");
    cw_writer_init(&valid);
    CW_FUZZ_CHECK(cw_chip_parse(&chip, text, strlen(text), "small", arena, NULL) == CW_OK);
    free(text);
    CW_FUZZ_CHECK(cw_compiled_write(chip, &valid, NULL) == CW_OK);
    memcpy(hash, chip->hash, sizeof hash);
    cw_arena_destroy(arena);
}

/* Applies the input to a valid file: a byte says how much is cut off, then two bytes of offset and one of value for
 * each change. So a corpus outlives changes of the layout. */
static size_t edit(uint8_t *file, const uint8_t *data, size_t size)
{
    size_t cut = size ? data[0] : 0, left = valid.size - (cut < valid.size - HEADER ? cut : 0);
    memcpy(file, valid.data, left);
    for (size_t i = 1; i + 3 <= size; i += 3)
        file[HEADER + (data[i] | (size_t)data[i + 1] << 8) % (left - HEADER)] = data[i + 2];
    cw_store_u64(file + SIZE_AT, left - HEADER);
    cw_store_u64(file + CHECKSUM_AT, XXH3_64bits(file + HEADER, left - HEADER));
    return left;
}

static void check_needed(void *context, uint32_t counter, unsigned rollups)
{
    CW_FUZZ_CHECK(rollups < CW_ROLLUP_BIT(CW_ROLLUP_COUNT));
    CW_FUZZ_CHECK(counter < ((const struct cw_chip *)context)->counter_count);
}

/* What evaluation does with a counter: its terms, with their coefficients. */
static void use_terms(const struct cw_chip *chip, uint32_t counter)
{
    const struct cw_counter *c = &chip->counters[counter];
    double sum = 0;
    for (uint32_t k = 0; k < c->terms.count; k++)
        sum += c->coefficients[k] * chip->counters[c->terms.items[k]].peak;
    CW_FUZZ_CHECK(cw_counter_follows(chip, counter, 0) == (c->terms.count > 0) && !isinf(sum * 0));
}

static void use_metric(const struct cw_chip *chip, const struct cw_metric *m)
{
    char name[CW_METRIC_NAME_MAX], text[256];
    struct cw_metric back;
    cw_metric_name(chip, m, name);
    if (cw_metric_parse(&back, chip, name, NULL) == CW_OK) /* not where a base name is the full name of another's */
        CW_FUZZ_CHECK(back.base < cw_chip_base_count(chip, back.type));
    cw_metric_dimension(chip, m, text, sizeof text);
    cw_metric_needs(&(struct cw_needs){.chip = chip, .add = check_needed, .context = (void *)(uintptr_t)chip}, m, NULL);
}

static void use_base(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base,
                     uint8_t *const marks[CW_FORMULA + 1])
{
    enum cw_metric_type found;
    uint32_t index;
    const char *name = cw_chip_base_name(chip, type, base);
    CW_FUZZ_CHECK(cw_chip_find(chip, name, strlen(name), &found, &index) && found == type && index == base);
    struct cw_base_meaning meaning = cw_base_meaning(chip, type, base);
    CW_FUZZ_CHECK(!cw_base_meaning_changed(&meaning, &meaning));
    cw_base_mark(chip, type, base, marks);
    for (uint32_t v = 0; v < cw_metric_variants(type); v++) {
        struct cw_metric m = cw_metric_variant(type, base, v);
        use_metric(chip, &m);
    }
}

static void use_limits(const struct cw_limit *limits, uint32_t count, const struct cw_chip *chip)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < limits[i].count; k++)
            CW_FUZZ_CHECK(limits[i].members[k] < chip->placement_count && limits[i].groups[k] < limits[i].count);
}

/* A plan for all raw counters, by the limits and the costs of passes. */
static void schedule(const struct cw_chip *chip, struct cw_arena *arena)
{
    struct cw_schedule plan;
    struct cw_list *groups = cw_arena_alloc(arena, chip->counter_count, sizeof *groups);
    CW_FUZZ_CHECK(groups);
    for (uint32_t i = 0; i < chip->counter_count; i++)
        groups[i] = chip->counters[i].raws;
    const struct cw_schedule_task task = {chip, CW_PROFILER_RANGE, chip->counter_count, groups,
                                          CW_SCHEDULE_WHOLE | CW_SCHEDULE_QUICK};
    if (chip->raw_count <= 64)
        cw_schedule_make(&plan, &task, arena, NULL);
}

/* Everything that a chip refers to is there: what the commands do with it. */
static void use(const struct cw_chip *chip, struct cw_arena *arena)
{
    static const char *const source[] = {NULL};
    static const char own[] = "schema: 1\nmetrics: {mine: {formula: sm__inst_executed.sum * 2 / "
                              "sm__throughput.avg.pct_of_peak_sustained_elapsed, unit: instructions}}";
    struct cw_writer text;
    uint8_t *marks[CW_FORMULA + 1];
    cw_writer_init(&text);
    cw_chip_write(chip, source, &text);
    cw_writer_free(&text);
    for (int t = 0; t <= CW_FORMULA; t++)
        marks[t] = cw_arena_alloc(arena, t < CW_FORMULA ? cw_chip_base_count(chip, (enum cw_metric_type)t) : 1, 1);
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++)
            use_base(chip, (enum cw_metric_type)t, i, marks);
    for (uint32_t i = 0; i < chip->counter_count; i++)
        use_terms(chip, i);
    for (uint32_t i = 0; i < chip->raw_count; i++)
        CW_FUZZ_CHECK(cw_chip_find_raw(chip, chip->raws[i].id) == i);
    use_limits(chip->limits, chip->limit_count, chip);
    use_limits(chip->pm_limits, chip->pm_limit_count, chip);
    schedule(chip, arena);
    cw_formulas_parse(&chip, own, sizeof own - 1, "own", arena, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!valid.size)
        make_valid();
    uint8_t *file = malloc(valid.size);
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(file && arena);
    size_t left = edit(file, data, size);
    enum cw_status status = cw_compiled_read(&chip, file, left, hash, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || (status == CW_ERR_INPUT && err.has_offset));
    CW_FUZZ_CHECK(size > 1 || status == CW_OK || left < valid.size);
    if (status == CW_OK)
        use(chip, arena);
    cw_arena_destroy(arena);
    free(file);
    return 0;
}
