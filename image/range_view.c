#include "image/range_view.h"

#include <inttypes.h>
#include <string.h>

#include "image/directory.h"

/* Number of values held as columns at a time: few enough for a second-level cache. */
enum { VIEW_VALUES = 1 << 14, LEAST_ROOM = 16, MOST_ROOM = 4096 };

enum cw_status cw_range_view_init(struct cw_range_view *view, const struct cw_counter_data *data,
                                  struct cw_arena *arena, struct cw_error *err)
{
    const uint32_t columns = cw_schema_columns(&data->schema), passes = data->schema.pass_count;
    uint32_t room = columns ? VIEW_VALUES / columns : MOST_ROOM;
    room = room < LEAST_ROOM ? LEAST_ROOM : room > MOST_ROOM ? MOST_ROOM : room;
    room = room < data->range_count ? room : data->range_count;
    *view = (struct cw_range_view){.data = *data, .room = room, .of = data, .err = err, .next = UINT32_MAX};
    view->walk.window.input = data->input;
    view->walk.err = err;
    view->walk.gaps = data->directory ? &data->directory->gaps : NULL;
    struct cw_counter_data *to = &view->data;
    to->directory = NULL;
    to->ranges = view->ranges = cw_arena_alloc(arena, room, sizeof *view->ranges);
    view->durations = cw_arena_alloc(arena, (size_t)room * passes, sizeof *view->durations);
    to->forms = cw_arena_alloc(arena, (size_t)room * columns, sizeof *to->forms);
    to->facts = cw_arena_alloc(arena, (size_t)room * data->schema.fact_count, sizeof *to->facts);
    bool good = to->ranges && view->durations && to->forms && to->facts;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        to->rollups[r] = cw_arena_alloc(arena, (size_t)room * columns, sizeof *to->rollups[r]);
        good = good && to->rollups[r];
    }
    return good ? CW_OK : cw_error_nomem(err);
}

/* Finds the chunk of the file's next range, and leaves its parts in `parts`. */
static enum cw_status next_range(struct cw_range_view *v, struct cw_chunk *chunk)
{
    cw_range_parts_clear(&v->parts);
    for (;;) {
        bool found = false, taken;
        CW_TRY(cw_chunk_walk_next(&v->walk, chunk, &found, NULL));
        if (!found)
            return cw_error_set(v->err, CW_ERR_IO, "%s: the file was changed while it was read", v->of->input->name);
        CW_TRY(cw_range_parts_take(&v->parts, chunk, &taken, v->err));
        if (chunk->type == CW_CHUNK_RANGE && chunk->flags == 0) {
            v->next++;
            return CW_OK;
        }
    }
}

static enum cw_status go_to(struct cw_range_view *v, uint32_t range)
{
    struct cw_chunk chunk;
    enum cw_status status = CW_OK;
    if (range < v->next || range - v->next > CW_DIRECTORY_STEP) {
        cw_chunk_walk_seek(&v->walk, v->of->directory->places[range / CW_DIRECTORY_STEP]);
        v->next = range - range % CW_DIRECTORY_STEP;
    }
    while (status == CW_OK && v->next < range)
        status = next_range(v, &chunk);
    return status;
}

static enum cw_status read_facts(struct cw_range_view *v, const struct cw_reader *file, uint32_t i)
{
    const uint32_t facts = v->data.schema.fact_count;
    double of_range[CW_FACTS_MAX];
    const enum cw_status status = facts ? cw_facts_read(file, &v->parts.facts, of_range, facts) : CW_OK;
    for (uint32_t f = 0; status == CW_OK && f < facts; f++)
        v->data.facts[(size_t)f * v->data.range_count + i] = of_range[f];
    return status;
}

/* Reads a range. Its bytes were checked when the capture was opened. */
static enum cw_status read_range(struct cw_range_view *v, uint32_t i, const struct cw_chunk *chunk)
{
    const struct cw_schema *s = &v->data.schema;
    const struct cw_reader file = cw_chunk_walk_reader(&v->walk);
    struct cw_range *range = &v->ranges[i];
    double *durations = v->durations + (size_t)i * s->pass_count;
    struct cw_reader in, more;
    cw_chunk_open(&file, chunk, &in);
    cw_chunk_open(&file, &v->parts.repeated, &more);
    cw_read_bytes(&in, cw_range_head_size(chunk));
    range->start_ns = cw_read_u64(&in);
    range->end_ns = cw_read_u64(&in);
    range->durations = durations;
    cw_read_f64s(&in, durations, s->pass_count);
    cw_range_read_values(&in, s->counter_count, v->data.forms, v->data.rollups, i, v->data.range_count);
    if (s->repeat_count)
        cw_range_read_values(&more, s->repeat_count, v->data.forms, v->data.rollups,
                             i + (size_t)s->counter_count * v->data.range_count, v->data.range_count);
    const enum cw_status status = cw_chunk_finish(&in, chunk);
    if (status != CW_OK || more.status != CW_OK)
        return status == CW_OK ? more.status : status;
    return read_facts(v, &file, i);
}

/* Copies a range of a capture in memory. */
static void copy_range(struct cw_range_view *v, uint32_t i, uint32_t range)
{
    const struct cw_counter_data *from = v->of, *to = &v->data;
    const uint32_t columns = cw_schema_columns(&to->schema);
    for (uint32_t c = 0; c < columns; c++) {
        const size_t at = (size_t)c * to->range_count + i, other = (size_t)c * from->range_count + range;
        to->forms[at] = from->forms[other];
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            to->rollups[r][at] = from->rollups[r][other];
    }
    for (uint32_t f = 0; f < to->schema.fact_count; f++)
        to->facts[(size_t)f * to->range_count + i] = from->facts[(size_t)f * from->range_count + range];
}

static void copy_value(struct cw_counter_data *to, size_t at, size_t from)
{
    to->forms[at] = to->forms[from];
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        to->rollups[r][at] = to->rollups[r][from];
}

/* A multiplexed range has one pass. A metric reads its counters from one pass for all ranges, mostly another one. */
static void share_pass(struct cw_counter_data *to, uint32_t i)
{
    const struct cw_schema *s = &to->schema;
    for (uint32_t k = 0; k < s->repeat_count; k++) {
        const size_t own = (size_t)s->repeats[k].counter * to->range_count + i;
        const size_t other = (size_t)(s->counter_count + k) * to->range_count + i;
        if (to->forms[own] == CW_FORM_NOT_COLLECTED && to->forms[other] != CW_FORM_MULTIPLEXED)
            copy_value(to, own, other);
    }
    for (uint32_t k = 0; k < s->repeat_count; k++) {
        const size_t own = (size_t)s->repeats[k].counter * to->range_count + i;
        if (to->forms[own] != CW_FORM_MULTIPLEXED) /* a mean of ranges has its columns by itself */
            copy_value(to, (size_t)(s->counter_count + k) * to->range_count + i, own);
    }
}

enum cw_status cw_range_view_load(struct cw_range_view *v, uint32_t first, const uint32_t *list, uint32_t count)
{
    v->data.range_count = count;
    v->walk.window.ahead = list ? 1 << 16 : CW_WINDOW_AHEAD;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t range = list ? list[i] : first + i;
        struct cw_chunk chunk;
        v->ranges[i] = *cw_launch_of(v->of, range);
        if (!v->of->directory) {
            copy_range(v, i, range);
            continue;
        }
        CW_TRY(go_to(v, range));
        CW_TRY(next_range(v, &chunk));
        CW_TRY(read_range(v, i, &chunk));
    }
    for (uint32_t i = 0; v->alone && v->data.schema.repeat_count && i < count; i++)
        if (cw_range_is_multiplexed(&v->ranges[i]))
            share_pass(&v->data, i);
    return CW_OK;
}

void cw_range_view_free(struct cw_range_view *v)
{
    cw_chunk_walk_end(&v->walk);
    cw_range_parts_free(&v->parts);
}
