/* What metric-eval does with a capture of any kind, up to its last line of output. */
#include <string.h>

#include "eval/output/output.h"
#include "eval/ranges/explain.h"
#include "eval/ranges/spread.h"
#include "tests/fuzz/no_child.h"
#include "tests/fuzz/small.h"
#include "tests/support/chunk_edit.h"

/* Of all sub-metrics of the chip, one in so many. */
enum { STEP = 7, MOST_METRICS = 512 };

static const struct cw_chip *chip;
static struct cw_metric metrics[MOST_METRICS];
static size_t metric_count;
static FILE *nowhere;

static void set_up(void)
{
    nowhere = fopen("/dev/null", "w");
    CW_FUZZ_CHECK(nowhere);
    chip = cw_fuzz_small_chip();
    uint32_t n = 0;
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++)
            for (uint32_t v = 0; v < cw_metric_variants((enum cw_metric_type)t); v++)
                if (n++ % STEP == 0 && metric_count < MOST_METRICS)
                    metrics[metric_count++] = cw_metric_variant((enum cw_metric_type)t, i, v);
}

static void put(const struct cw_output *output)
{
    static const struct cw_terminal_style style = {80, true, 5};
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(cw_csv_write(nowhere, output, &err) == CW_OK);
    CW_FUZZ_CHECK(cw_json_write(nowhere, output, &err) == CW_OK);
    CW_FUZZ_CHECK(output->print(output, &style, nowhere, &err) == CW_OK);
}

static void put_ranges(const struct cw_counter_data *data, struct cw_arena *arena)
{
    static const struct cw_eval_options options = {1e6, 0};
    struct cw_result result = {chip, data, "fuzz", metrics, (uint32_t)metric_count};
    struct cw_output output;
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(cw_result_make(&result, &options, arena, &err) == CW_OK);
    for (size_t i = 0; i < metric_count * result.row_count; i++)
        CW_FUZZ_CHECK(result.statuses[i] >= 0 && result.statuses[i] < CW_VALUE_STATUS_COUNT);
    CW_FUZZ_CHECK(cw_output_ranges(&output, &result, NULL, arena, &err) == CW_OK);
    put(&output);
    for (size_t m = 0; m < metric_count && result.row_count; m += STEP)
        CW_FUZZ_CHECK(cw_explain(nowhere, chip, data, &metrics[m], 0, NULL, &options, arena, &err) == CW_OK);
}

/* The same ranges as groups: a list, and each in full. */
static void put_groups(const struct cw_counter_data *data, enum cw_group_by by, struct cw_arena *arena)
{
    static const struct cw_eval_options options = {1e6, 0};
    static const struct cw_sections none = {0};
    struct cw_groups groups;
    struct cw_output output;
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(cw_groups_make(&groups, by, data, chip, NULL, arena, &err) == CW_OK);
    struct cw_result result = {chip, &groups.data, "fuzz", metrics, (uint32_t)(metric_count < 5 ? metric_count : 5)};
    uint32_t *order = cw_arena_alloc(arena, groups.count, sizeof *order);
    CW_FUZZ_CHECK(order && cw_result_make(&result, &options, arena, &err) == CW_OK);
    for (uint32_t i = 0; i < groups.count; i++)
        order[i] = i;
    if (groups.folds.kinds) {
        CW_FUZZ_CHECK(cw_spread_find(&result, &groups, data, arena, &err) == CW_OK);
        for (size_t m = 0; m < result.metric_count && groups.count; m++)
            CW_FUZZ_CHECK(cw_explain(nowhere, chip, &groups.data, &metrics[m], 0, &groups, &options, arena, &err) ==
                          CW_OK);
    }
    struct cw_output_rows rows = {
        .data = data, .groups = &groups, .rows = order, .count = groups.count, .result = &result, .sections = &none};
    for (int wide = 0; wide < 2; wide++) {
        rows.wide = wide;
        CW_FUZZ_CHECK(cw_output_groups(&output, &rows, NULL, arena, &err) == CW_OK);
        put(&output);
    }
}

static void put_samples(const struct cw_counter_data *data, struct cw_arena *arena)
{
    static const struct cw_eval_options options = {0, 1e6};
    struct cw_result result = {chip, data, "fuzz", metrics, (uint32_t)metric_count};
    struct cw_output output;
    struct cw_error err = CW_ERROR_INIT;
    result.streamed = true;
    CW_FUZZ_CHECK(cw_result_make(&result, &options, arena, &err) == CW_OK);
    CW_FUZZ_CHECK(cw_output_samples(&output, &result, NULL, arena, &err) == CW_OK);
    put(&output);
}

static void put_instructions(const struct cw_counter_data *data, const struct cw_pc_data *raw, struct cw_arena *arena)
{
    struct cw_instructions all;
    struct cw_output output;
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(cw_instructions_make(&all, data, raw, "fuzz", NULL, arena, &err) == CW_OK);
    cw_output_instructions(&output, &all);
    put(&output);
}

static void evaluate(const uint8_t *bytes, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data data;
    struct cw_pc_data raw;
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = cw_counter_data_read(&data, bytes, size, "fuzz", arena, &err);
    if (status == CW_OK)
        status = cw_pc_data_read(&raw, bytes, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == err.code && (status == CW_OK || status == CW_ERR_INPUT));
    if (status == CW_OK) {
        cw_capture_show(&data, "fuzz", nowhere);
        put_instructions(&data, &raw, arena);
        if (data.schema.profiler == CW_PROFILER_PM)
            put_samples(&data, arena);
        else
            put_ranges(&data, arena);
        for (enum cw_group_by by = 0; data.schema.profiler == CW_PROFILER_RANGE && by < CW_BY__COUNT; by++)
            put_groups(&data, by, arena);
    }
    cw_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { ANSWER = 64 };
    if (!chip)
        set_up();
    uint8_t *fixed = malloc(size ? size : 1);
    if (!fixed)
        return 0;
    if (size)
        memcpy(fixed, bytes, size);
    cw_fuzz_answer_size = size < ANSWER ? size : ANSWER;
    cw_fuzz_answer = fixed + size - cw_fuzz_answer_size;
    cw_edit_fix_checksums(fixed, size);
    evaluate(fixed, size);
    free(fixed);
    return 0;
}
