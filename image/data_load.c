/* Loads a whole capture into memory. */
#include <string.h>

#include "image/pm_view.h"
#include "image/range_view.h"

static enum cw_status allocate(struct cw_counter_data *to, struct cw_range **ranges, double **durations,
                               struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_schema *s = &to->schema;
    const size_t count = to->range_count, values = count * cw_schema_columns(s);
    to->ranges = *ranges = cw_arena_alloc(arena, count, sizeof **ranges);
    *durations = cw_arena_alloc(arena, count * s->pass_count, sizeof **durations);
    to->forms = cw_arena_alloc(arena, values, sizeof *to->forms);
    to->facts = cw_arena_alloc(arena, count * s->fact_count, sizeof *to->facts);
    bool good = *ranges && *durations && to->forms && to->facts;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        to->rollups[r] = cw_arena_alloc(arena, values, sizeof *to->rollups[r]);
        good = good && to->rollups[r];
    }
    return good ? CW_OK : cw_error_nomem(err);
}

/* Copies the columns of a view, whose ranges begin at `first`. */
static void take_columns(struct cw_counter_data *to, const struct cw_counter_data *view, uint32_t first)
{
    const uint32_t columns = cw_schema_columns(&to->schema), count = view->range_count;
    for (uint32_t c = 0; c < columns; c++) {
        const size_t at = (size_t)c * to->range_count + first, from = (size_t)c * count;
        memcpy(to->forms + at, view->forms + from, count * sizeof *to->forms);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            memcpy(to->rollups[r] + at, view->rollups[r] + from, count * sizeof *to->rollups[r]);
    }
    for (uint32_t f = 0; f < to->schema.fact_count; f++)
        memcpy(to->facts + (size_t)f * to->range_count + first, view->facts + (size_t)f * count,
               count * sizeof *to->facts);
}

static enum cw_status load_ranges(struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_counter_data to = *data;
    struct cw_range_view view;
    struct cw_range *ranges;
    double *durations;
    const uint32_t passes = data->schema.pass_count;
    enum cw_status status = cw_range_view_init(&view, data, arena, err);
    if (status == CW_OK)
        status = allocate(&to, &ranges, &durations, arena, err);
    for (uint32_t first = 0, n; status == CW_OK && first < data->range_count; first += n) {
        n = data->range_count - first < view.room ? data->range_count - first : view.room;
        status = cw_range_view_load(&view, first, NULL, n);
        if (status != CW_OK)
            break;
        take_columns(&to, &view.data, first);
        for (uint32_t i = 0; i < n; i++) {
            double *own = durations + (size_t)(first + i) * passes;
            ranges[first + i] = view.ranges[i];
            ranges[first + i].durations = own;
            memcpy(own, view.ranges[i].durations, passes * sizeof *own);
        }
    }
    cw_range_view_free(&view);
    to.directory = NULL;
    if (status == CW_OK)
        *data = to;
    return status;
}

static enum cw_status load_times(struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_pm_data *pm = &data->pm;
    struct cw_pm_view view;
    pm->start_ns = cw_arena_alloc(arena, pm->sample_count, sizeof *pm->start_ns);
    pm->end_ns = cw_arena_alloc(arena, pm->sample_count, sizeof *pm->end_ns);
    if (!pm->start_ns || !pm->end_ns)
        return cw_error_nomem(err);
    enum cw_status status = cw_pm_view_init(&view, data, arena, err);
    for (uint32_t b = 0; b < pm->block_count && status == CW_OK; b++)
        for (uint32_t first = 0, n; first < pm->blocks[b].count && status == CW_OK; first += n) {
            n = cw_pm_view_load_times(&view, data, b, first);
            memcpy(pm->start_ns + pm->blocks[b].first + first, view.start_ns, n * sizeof *view.start_ns);
            memcpy(pm->end_ns + pm->blocks[b].first + first, view.end_ns, n * sizeof *view.end_ns);
            status = view.status;
        }
    cw_pm_view_free(&view);
    return status;
}

enum cw_status cw_counter_data_load(struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = data->directory ? load_ranges(data, arena, err) : CW_OK;
    return status == CW_OK && !data->pm.start_ns ? load_times(data, arena, err) : status;
}

enum cw_status cw_counter_data_read(struct cw_counter_data *data, const void *bytes, size_t size, const char *name,
                                    struct cw_arena *arena, struct cw_error *err)
{
    struct cw_input *input = cw_arena_alloc(arena, 1, sizeof *input);
    *data = (struct cw_counter_data){0};
    if (!input)
        return cw_error_nomem(err);
    *input = cw_input_of(bytes, size, name);
    enum cw_status status = cw_counter_data_open(data, input, arena, err);
    if (status == CW_OK)
        status = cw_counter_data_load(data, arena, err);
    if (status != CW_OK)
        *data = (struct cw_counter_data){0};
    return status;
}
