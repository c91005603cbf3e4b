#include "image/pm_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of values held as columns at a time: enough for whole cache lines in any block. */
enum { VIEW_VALUES = 1 << 18 };

/* Bytes to read at a time: most blocks are smaller, and of a large block only parts are needed. */
enum { AHEAD = 1 << 18 };

enum cw_status cw_pm_view_init(struct cw_pm_view *view, const struct cw_counter_data *data, struct cw_arena *arena,
                               struct cw_error *err)
{
    uint32_t counters = data->schema.counter_count, largest = data->pm.largest;
    uint32_t most = counters ? VIEW_VALUES / counters + 1 : VIEW_VALUES;
    largest = largest < most ? largest : most;
    struct cw_range *ranges = cw_arena_alloc(arena, largest, sizeof *ranges);
    *view = (struct cw_pm_view){.room = largest,
                                .data = {.schema = data->schema, .input = data->input, .device_count = 1, .ranges = ranges},
                                .window = {.input = data->input, .ahead = AHEAD},
                                .err = err};
    view->start_ns = cw_arena_alloc(arena, largest, sizeof *view->start_ns);
    view->end_ns = cw_arena_alloc(arena, largest, sizeof *view->end_ns);
    view->data.forms = cw_arena_alloc(arena, (size_t)largest * counters, 1);
    view->columns = cw_arena_alloc(arena, counters, 1);
    bool good = ranges && view->data.forms && view->columns && view->start_ns && view->end_ns;
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

/* Fills in rollups from sums alone: the average follows from the number of instances; least and greatest are known only
 * for one instance. */
static void spread_sums(double *const column[CW_ROLLUP_COUNT], uint32_t count, uint32_t instances)
{
    for (uint32_t i = 0; i < count; i++)
        column[CW_AVG][i] = instances ? column[CW_SUM][i] / instances : NAN;
    for (int r = CW_MIN; r <= CW_MAX; r++)
        for (uint32_t i = 0; i < count; i++)
            column[r][i] = instances == 1 ? column[CW_SUM][i] : NAN;
}

/* Opens a reader over bytes of the file, valid until the next call. */
static bool open_bytes(struct cw_pm_view *view, uint64_t at, size_t size, struct cw_reader *in)
{
    const uint8_t *bytes = NULL;
    if (view->status == CW_OK)
        view->status = cw_window_get(&view->window, at, size, &bytes, view->err);
    cw_reader_init(in, bytes, bytes ? size : 0, view->data.input->name, at, NULL);
    return view->status == CW_OK;
}

static void load_sums(struct cw_pm_view *view, enum cw_column_form form, uint64_t at, double *sums)
{
    const uint32_t count = view->data.range_count;
    const size_t size = cw_column_sample_size(form);
    struct cw_reader in;
    if (!open_bytes(view, at, size * count, &in))
        return;
    if (form == CW_COLUMN_SUMS)
        cw_read_f64s(&in, sums, count);
    else
        for (uint32_t i = 0; i < count; i++)
            sums[i] = cw_read_u32(&in);
}

/* Loads samples from `first` on of a column of `total` samples at *at; moves *at to the next column. */
static void load_column(struct cw_pm_view *view, uint32_t counter, uint32_t instances, uint64_t *at, uint32_t first,
                        uint32_t total)
{
    static const uint8_t as_range[CW_COLUMN__COUNT] = {CW_FORM_NOT_COLLECTED, CW_FORM_UNAVAILABLE, CW_FORM_ZERO,
                                                       CW_FORM_ROLLUPS,       CW_FORM_ROLLUPS,     CW_FORM_ROLLUPS};
    const uint32_t count = view->data.range_count;
    const size_t to = (size_t)counter * count;
    double *column[CW_ROLLUP_COUNT];
    struct cw_reader in;
    if (!open_bytes(view, *at, 1, &in))
        return;
    const enum cw_column_form form = (enum cw_column_form)cw_read_u8(&in);
    const uint64_t start = *at + 1;
    if (form >= CW_COLUMN__COUNT) {
        view->status = cw_error_set(view->err, CW_ERR_IO, "%s: the file was changed while it was read",
                                    view->data.input->name);
        return;
    }
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        column[r] = view->data.rollups[r] + to;
    view->columns[counter] = (uint8_t)form;
    memset(view->data.forms + to, as_range[form], count);
    if (form == CW_COLUMN_COUNTS || form == CW_COLUMN_SUMS) {
        load_sums(view, form, start + cw_column_sample_size(form) * first, column[CW_SUM]);
        spread_sums(column, count, instances);
    }
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        if (form < CW_COLUMN_COUNTS)
            fill(column[r], count, form == CW_COLUMN_ZERO ? 0 : NAN);
        else if (form == CW_COLUMN_ROLLUPS)
            load_sums(view, CW_COLUMN_SUMS, start + 8 * ((uint64_t)r * total + first), column[r]);
    *at = start + (uint64_t)total * cw_column_sample_size(form);
}

static void load_times(struct cw_pm_view *view, const struct cw_pm_data *pm, const struct cw_pm_block *block,
                       uint32_t first)
{
    const uint32_t count = view->data.range_count;
    for (int k = 0; k < 2; k++) {
        struct cw_reader in;
        if (!open_bytes(view, block->offset + 8 * ((uint64_t)k * block->count + first), 8 * (size_t)count, &in))
            return;
        for (uint32_t i = 0; i < count; i++)
            (k ? view->end_ns : view->start_ns)[i] = cw_pm_time(pm, block->device, cw_read_u64(&in));
    }
}

uint32_t cw_pm_view_load_times(struct cw_pm_view *view, const struct cw_counter_data *data, uint32_t index,
                               uint32_t first)
{
    const struct cw_pm_block *block = &data->pm.blocks[index];
    view->data.devices = &data->devices[block->device];
    view->data.range_count = block->count - first < view->room ? block->count - first : view->room;
    load_times(view, &data->pm, block, first);
    return view->status == CW_OK ? view->data.range_count : 0;
}

uint32_t cw_pm_view_load(struct cw_pm_view *view, const struct cw_counter_data *data, uint32_t index, uint32_t first)
{
    const struct cw_pm_block *block = &data->pm.blocks[index];
    uint64_t at = block->offset + 16 * (uint64_t)block->count;
    cw_pm_view_load_times(view, data, index, first);
    for (uint32_t c = 0; c < data->schema.counter_count && view->status == CW_OK; c++)
        load_column(view, c, data->devices[block->device].facts[c].instances, &at, first, block->count);
    return view->status == CW_OK ? view->data.range_count : 0;
}

void cw_pm_view_free(struct cw_pm_view *view)
{
    free(view->window.data);
    view->window.data = NULL;
}
