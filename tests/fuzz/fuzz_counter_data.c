#include <string.h>

#include "image/pm_view.h"
#include "tests/fuzz/merge_twice.h"
#include "tests/support/chunk_edit.h"

/* Touches everything, so that the sanitizers see a bad pointer or length. */
static double check_content(const struct cw_counter_data *data)
{
    double sum = 0;
    for (uint32_t i = 0; i < data->device_count; i++) {
        sum += cw_device_attribute(&data->devices[i], "name") != NULL;
        for (uint32_t c = 0; c < data->schema.counter_count; c++)
            sum += data->devices[i].facts[c].peak[CW_MAX];
    }
    for (uint32_t i = 0; i < data->range_count; i++) {
        CW_FUZZ_CHECK(data->ranges[i].device < data->device_count);
        sum += (double)strlen(data->ranges[i].name) + (double)strlen(data->ranges[i].kernel);
        for (uint32_t k = 0; k < data->schema.pass_count; k++)
            sum += data->ranges[i].durations[k];
        for (uint32_t f = 0; f < data->schema.fact_count; f++)
            sum += (double)strlen(data->schema.fact_names[f]) + data->facts[(size_t)f * data->range_count + i];
        for (uint32_t c = 0; c < cw_schema_columns(&data->schema); c++) {
            size_t at = (size_t)c * data->range_count + i;
            CW_FUZZ_CHECK(data->forms[at] < CW_FORM__COUNT);
            for (int r = 0; r < CW_ROLLUP_COUNT; r++)
                sum += data->rollups[r][at];
        }
    }
    return sum;
}

static double check_samples(const struct cw_counter_data *data, struct cw_arena *arena)
{
    double sum = 0;
    struct cw_pm_view view;
    if (cw_pm_view_init(&view, data, arena, NULL) != CW_OK)
        return 0;
    for (uint32_t i = 0; i < data->pm.sample_count; i++)
        sum += (double)data->pm.start_ns[i] + (double)data->pm.end_ns[i];
    for (uint32_t i = 0; i < data->pm.launch_count; i++)
        sum += (double)strlen(data->pm.names[data->pm.launches[i].name]);
    for (uint32_t w = 0; w < data->pm.window_count; w++)
        CW_FUZZ_CHECK(data->pm.windows[w].device < data->device_count);
    for (uint32_t b = 0; b < data->pm.block_count; b++) {
        CW_FUZZ_CHECK(data->pm.blocks[b].device < data->device_count);
        for (uint32_t first = 0; first < data->pm.blocks[b].count; first += view.data.range_count) {
            CW_FUZZ_CHECK(cw_pm_view_load(&view, data, b, first) > 0);
            for (size_t i = 0; i < (size_t)view.data.range_count * data->schema.counter_count; i++)
                for (int r = 0; r < CW_ROLLUP_COUNT; r++)
                    sum += view.data.rollups[r][i] + view.data.forms[i];
        }
    }
    return sum;
}

/* *further: something was read behind the first damaged place. */
static uint32_t parse(const uint8_t *bytes, size_t size, enum cw_status *status, bool *further)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data data;
    struct cw_error err = CW_ERROR_INIT;
    *status = cw_counter_data_read(&data, bytes, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(*status == CW_OK || *status == CW_ERR_INPUT);
    CW_FUZZ_CHECK(*status == err.code);
    CW_FUZZ_CHECK(!err.has_offset || err.offset <= size);
    volatile double used = check_content(&data) + check_samples(&data, arena);
    (void)used;
    if (*status == CW_OK)
        cw_fuzz_merge_twice(&data, bytes, size);
    uint32_t ranges = data.range_count + data.pm.sample_count;
    *further = data.damage.places && data.damage.first + data.damage.bytes < size;
    cw_arena_destroy(arena);
    return ranges;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum cw_status status, cut_status;
    bool further;
    parse(bytes, size, &status, &further);
    uint8_t *fixed = malloc(size ? size : 1);
    if (!fixed)
        return 0;
    memcpy(fixed, bytes, size);
    cw_edit_fix_checksums(fixed, size);
    uint32_t ranges = parse(fixed, size, &status, &further);
    /* what reads in full reads, or is refused for its missing schema, when it is cut; a reader that looks for the next
     * chunk behind the cut one may find chunks in the content of a chunk that it does not know */
    if (status == CW_OK) {
        uint32_t kept = parse(fixed, size - size / 5, &cut_status, &further);
        CW_FUZZ_CHECK(kept <= ranges || further);
    }
    free(fixed);
    return 0;
}
