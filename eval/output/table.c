#include "eval/output/table.h"

#include <string.h>

#include "base/progress.h"

struct cw_output_row cw_output_array(const struct cw_output_table *t, uint64_t i)
{
    return (struct cw_output_row){.record = (const char *)t->content + i * t->record_size};
}

static const char *const letters[] = {"x", "y", "z"};
static const struct cw_output_column xyz_columns[] = {{"xyz", CW_CELL_TEXT, CW_TO_CSV | CW_TO_HDF5, 0}};
const struct cw_output_table cw_output_xyz = {CW_OUTPUT_COLUMNS(xyz_columns), .record_size = sizeof *letters,
                                              .row_count = 3, .row = cw_output_array, .content = (void *)letters};

struct cw_output_row cw_output_next(const struct cw_output_table *t, uint64_t i)
{
    enum { EVERY = 512 };
    if (i && i % EVERY == 0)
        cw_progress_at(i, t->row_count);
    return t->row(t, i);
}

/* ---- metrics and values ----------------------------------------------------------------------------------------- */

struct metric {
    const char *name, *unit, *type, *description;
};

static const struct cw_output_column metric_columns[] = {
    {"name", CW_CELL_TEXT, CW_TO_JSON, offsetof(struct metric, name)},
    {"metric", CW_CELL_TEXT, CW_TO_CSV | CW_TO_CSV_0 | CW_TO_HDF5, offsetof(struct metric, name)},
    {"unit", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct metric, unit)},
    {"type", CW_CELL_TEXT, CW_TO_HDF5, offsetof(struct metric, type)},
    {"description", CW_CELL_TEXT, CW_TO_HDF5, offsetof(struct metric, description)},
    {"type", CW_CELL_TEXT, CW_TO_JSON, offsetof(struct metric, type)}, /* of typed tables */
};

bool cw_output_metrics(struct cw_output_table *t, const struct cw_result *r, const char *const *descriptions,
                       bool typed, struct cw_arena *arena)
{
    struct metric *list = cw_arena_alloc(arena, r->metric_count, sizeof *list);
    for (uint32_t m = 0; list && m < r->metric_count; m++)
        list[m] = (struct metric){r->names[m], r->units[m], cw_metric_type_text(r->metrics[m].type),
                                  descriptions ? descriptions[m] : ""};
    *t =
        (struct cw_output_table){CW_OUTPUT_COLUMNS(metric_columns), .name = "metrics",      .record_size = sizeof *list,
                                 .row_count = r->metric_count,      .row = cw_output_array, .content = list};
    t->column_count -= !typed;
    return list != NULL;
}

const struct cw_output_column cw_value_columns[CW_VALUE_COLUMNS] = {
    {"value", CW_CELL_F64, CW_TO_FILES, offsetof(struct cw_value_record, value)},
    {"status", CW_CELL_STATUS, CW_TO_FILES, offsetof(struct cw_value_record, status)},
    {"occurrences", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_value_record, occurrences)},
    {"spread", CW_CELL_F64, CW_TO_FILES, offsetof(struct cw_value_record, spread)},
};

size_t cw_output_value_columns(const struct cw_output_table *t)
{
    return t->spread ? CW_VALUE_COLUMNS : 2;
}

const void *cw_output_cells(const struct cw_output_row *row, const struct cw_output_column *c)
{
    const void *const cells[CW_VALUE_COLUMNS] = {row->values, row->statuses, row->occurrences, row->spread};
    return cells[c - cw_value_columns];
}

struct cw_output_row cw_output_row(const struct cw_result *r, const void *record, uint64_t i)
{
    struct cw_stream *s = r->stream;
    if (s) {
        const bool good = cw_stream_evaluate(s, (uint32_t)i);
        const size_t at = good ? (uint32_t)i - s->first : 0;
        return (struct cw_output_row){good ? record : NULL, s->values + at, s->statuses + at, .stride = s->count};
    }
    return (struct cw_output_row){record,
                                  r->values ? r->values + i : NULL,
                                  r->statuses ? r->statuses + i : NULL,
                                  r->occurrences ? r->occurrences + i : NULL,
                                  r->spread ? r->spread + i : NULL,
                                  r->row_count};
}

struct cw_value_record cw_output_value(const struct cw_output_row *row, size_t metric)
{
    const size_t at = metric * row->stride;
    return (struct cw_value_record){row->values[at], row->statuses[at], row->occurrences ? row->occurrences[at] : 0,
                                    row->spread ? row->spread[at] : 0};
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

bool cw_output_is_date(const struct cw_output_column *c)
{
    return c->units && strcmp(c->units, CW_OUTPUT_DATE) == 0;
}

const char *cw_output_units(const struct cw_output_table *t, const struct cw_output_column *c)
{
    const bool other_clock = t->clock && strcmp(t->clock, CW_OUTPUT_REALTIME) != 0;
    return other_clock && cw_output_is_date(c) ? NULL : c->units;
}

size_t cw_cell_size(enum cw_cell_type type)
{
    return type == CW_CELL_STATUS ? sizeof(int8_t) : type == CW_CELL_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

const void *cw_cell_at(const struct cw_output_column *c, const void *record, size_t i)
{
    const char *at = (const char *)record + c->offset;
    return c->across ? *(const char *const *)(const void *)at + i * cw_cell_size(c->type) : at;
}

uint64_t cw_cell_integer(enum cw_cell_type type, const void *cell)
{
    return type == CW_CELL_U32 ? *(const uint32_t *)cell : *(const uint64_t *)cell;
}
