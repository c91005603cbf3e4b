#include "image/pm_view.h"

#include <math.h>
#include <string.h>

/* Values that are columns at a time: enough for whole cache lines, however large a block is. */
enum { VIEW_VALUES = 1 << 18 };

enum cw_status cw_pm_view_init(struct cw_pm_view *view, const struct cw_counter_data *data, struct cw_arena *arena,
                               struct cw_error *err)
{
    uint32_t counters = data->schema.counter_count, largest = data->pm.largest;
    uint32_t most = counters ? VIEW_VALUES / counters + 1 : VIEW_VALUES;
    largest = largest < most ? largest : most;
    struct cw_range *ranges = cw_arena_alloc(arena, largest, sizeof *ranges);
    *view = (struct cw_pm_view){.room = largest, .data = {.schema = data->schema, .device_count = 1, .ranges = ranges}};
    view->data.forms = cw_arena_alloc(arena, (size_t)largest * counters, 1);
    view->columns = cw_arena_alloc(arena, counters, 1);
    bool good = ranges && view->data.forms && view->columns;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        view->data.rollups[r] = cw_arena_alloc(arena, (size_t)largest * counters, sizeof(double));
        good = good && view->data.rollups[r];
    }
    return good ? CW_OK : cw_error_nomem(err);
}

static void fill(double *column, uint32_t count, double value)
{
    for (uint32_t i = 0; i < count; i++)
        column[i] = value;
}

/* Sums alone: the average follows from the number of instances, least and greatest only where there is one instance. */
static void spread_sums(double *const column[CW_ROLLUP_COUNT], uint32_t count, uint32_t instances)
{
    for (uint32_t i = 0; i < count; i++)
        column[CW_AVG][i] = instances ? column[CW_SUM][i] / instances : NAN;
    for (int r = CW_MIN; r <= CW_MAX; r++)
        for (uint32_t i = 0; i < count; i++)
            column[r][i] = instances == 1 ? column[CW_SUM][i] : NAN;
}

/* Of a column of `total` samples, those from `first` on. */
static void load_column(struct cw_pm_view *view, uint32_t counter, uint32_t instances, struct cw_reader *in,
                        uint32_t first, uint32_t total)
{
    static const uint8_t as_range[CW_COLUMN__COUNT] = {CW_FORM_NOT_COLLECTED, CW_FORM_UNAVAILABLE, CW_FORM_ZERO,
                                                       CW_FORM_ROLLUPS,       CW_FORM_ROLLUPS,     CW_FORM_ROLLUPS};
    uint32_t count = view->data.range_count;
    size_t at = (size_t)counter * count;
    double *column[CW_ROLLUP_COUNT];
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        column[r] = view->data.rollups[r] + at;
    enum cw_column_form form = (enum cw_column_form)cw_read_u8(in);
    const size_t start = in->pos;
    view->columns[counter] = (uint8_t)form;
    memset(view->data.forms + at, as_range[form], count);
    switch (form) {
    case CW_COLUMN_COUNTS:
        in->pos = start + 4 * (size_t)first;
        for (uint32_t i = 0; i < count; i++)
            column[CW_SUM][i] = cw_read_u32(in);
        spread_sums(column, count, instances);
        break;
    case CW_COLUMN_SUMS:
        in->pos = start + 8 * (size_t)first;
        cw_read_f64s(in, column[CW_SUM], count);
        spread_sums(column, count, instances);
        break;
    case CW_COLUMN_ROLLUPS:
        for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
            in->pos = start + 8 * ((size_t)r * total + first);
            cw_read_f64s(in, column[r], count);
        }
        break;
    default:
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            fill(column[r], count, form == CW_COLUMN_ZERO ? 0 : NAN);
        break;
    }
    in->pos = start + (size_t)total * cw_column_sample_size(form);
}

uint32_t cw_pm_view_load(struct cw_pm_view *view, const struct cw_counter_data *data, uint32_t index, uint32_t first)
{
    const struct cw_pm_block *block = &data->pm.blocks[index];
    struct cw_reader in;
    cw_reader_init(&in, block->columns, block->size, "", block->offset, NULL);
    view->data.devices = &data->devices[block->device];
    view->data.range_count = block->count - first < view->room ? block->count - first : view->room;
    for (uint32_t c = 0; c < data->schema.counter_count; c++)
        load_column(view, c, data->devices[block->device].facts[c].instances, &in, first, block->count);
    return view->data.range_count;
}
