#include <math.h>

#include "eval/output/advice.h"
#include "tests/fuzz/small.h"

enum { COUNTERS = 2, RANGES = 3 };

/* Three launches of two kernels, of which one lacks a counter. */
static void make_capture(struct cw_counter_data *data)
{
    static const char *const names[COUNTERS] = {"gpu__time_duration", "sm__cycles_active"};
    static const uint32_t passes[] = {0};
    static struct cw_schema_counter counters[COUNTERS];
    static struct cw_device_facts facts[COUNTERS];
    static struct cw_device device = {.facts = facts};
    static struct cw_range ranges[RANGES];
    static double values[COUNTERS * RANGES], durations[] = {5000};
    static uint8_t forms[COUNTERS * RANGES];
    for (int c = 0; c < COUNTERS; c++) {
        counters[c] = (struct cw_schema_counter){names[c], true, 1, passes};
        facts[c] = (struct cw_device_facts){1, {1, 1, 1, 1}};
    }
    for (int i = 0; i < RANGES; i++)
        ranges[i] = (struct cw_range){.name = "k", .kernel = i ? "k" : "j", .durations = durations};
    for (int i = 0; i < COUNTERS * RANGES; i++) {
        values[i] = i == RANGES ? NAN : 20000 + 100 * i;
        forms[i] = i == RANGES ? CW_FORM_NOT_COLLECTED : CW_FORM_ROLLUPS;
    }
    *data = (struct cw_counter_data){.device_count = 1, .devices = &device, .range_count = RANGES, .ranges = ranges};
    data->schema = (struct cw_schema){.chip = "TINY", .pass_count = 1, .counter_count = COUNTERS, .counters = counters};
    data->forms = forms;
    data->complete = true;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        data->rollups[r] = values;
}

static void check_kernel(const struct cw_advice_kernel *k)
{
    CW_FUZZ_CHECK(k->limiter && k->step_count <= 24);
    for (size_t i = 0; i < k->finding_count; i++) {
        const struct cw_advice_finding *f = &k->findings[i];
        CW_FUZZ_CHECK(f->gain >= 0 && f->gain <= 1 && (i == 0 || f->gain <= k->findings[i - 1].gain));
    }
}

static void write_advice(const struct cw_advice *advice, const struct cw_advice_groups *groups, struct cw_arena *arena)
{
    struct cw_advice_view view = {.advice = advice, .groups = groups, .source = "fuzz", .arena = arena};
    FILE *out = fopen("/dev/null", "w");
    CW_FUZZ_CHECK(out);
    for (int by_groups = 0; by_groups < 2; by_groups++) {
        view.by_groups = by_groups;
        CW_FUZZ_CHECK(cw_advice_print(out, &view, NULL) == CW_OK);
        CW_FUZZ_CHECK(cw_advice_json(out, &view, NULL) == CW_OK);
    }
    fclose(out);
}

static void check_advice(const struct cw_advice *advice, const struct cw_counter_data *capture, struct cw_arena *arena)
{
    struct cw_groups families;
    struct cw_advice_groups added;
    CW_FUZZ_CHECK(cw_groups_make(&families, CW_BY_FAMILY, capture, advice->rules->chip, NULL, arena, NULL) == CW_OK);
    CW_FUZZ_CHECK(cw_advise_groups(&added, advice, &families, arena, NULL) == CW_OK);
    for (size_t i = 0; i < advice->kernel_count; i++)
        check_kernel(&advice->kernels[i]);
    for (uint32_t i = 0; i < families.count; i++)
        for (size_t k = 0; k < added.items[i].part_count; k++)
            CW_FUZZ_CHECK(added.items[i].parts[k].gain >= 0 && added.items[i].parts[k].gain <= 1 + 1e-9);
    write_advice(advice, &added, arena);
}

/* Rules, and what they say of a capture. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chip = cw_fuzz_small_chip();
    const struct cw_rules *rules;
    struct cw_error err = CW_ERROR_INIT;
    struct cw_counter_data capture;
    struct cw_groups groups;
    struct cw_advice advice;
    enum cw_status status = cw_rules_parse(&rules, chip, data, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    CW_FUZZ_CHECK(status == err.code);
    CW_FUZZ_CHECK(status == CW_OK || (err.line > 0 && err.column > 0));
    if (status == CW_OK) {
        make_capture(&capture);
        CW_FUZZ_CHECK(cw_groups_make(&groups, CW_BY_KERNEL, &capture, rules->chip, NULL, arena, NULL) == CW_OK);
        CW_FUZZ_CHECK(cw_advise(&advice, rules, &groups, 0.05, arena, NULL) == CW_OK);
        check_advice(&advice, &capture, arena);
    }
    cw_arena_destroy(arena);
    return 0;
}
