#include <math.h>
#include <string.h>

#include "eval/output/output.h"
#include "eval/output/rows_text.h"

/* ---- facts of ranges -------------------------------------------------------------------------------------------- */

struct record {
    struct cw_range of;
    uint32_t range, device, passes;
    const char *nvtx, *replay, *scope, *rank;
    const uint32_t *grid, *block;
    struct cw_output_pairs attributes;
};

struct content {
    const struct cw_result *result;
    struct record one;
    struct cw_output_column durations[2];
    struct cw_output_table passes; /* that these are across */
    uint32_t pass;
};

static uint32_t timed_passes(const struct cw_result *r, const struct cw_range *g)
{
    uint32_t timed = 0;
    for (uint32_t i = 0; i < r->data->schema.pass_count; i++)
        timed += !isnan(g->durations[i]);
    return timed;
}

static const char *attribute(const struct cw_range *g, const char *key, const char *otherwise)
{
    const char *value = cw_range_attribute(g, key);
    return value ? value : otherwise;
}

static struct cw_output_row row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const struct cw_result *r = c->result;
    const struct cw_range *g = cw_result_range(r, (uint32_t)i);
    if (!g)
        return (struct cw_output_row){0};
    c->one = (struct record){.of = *g,
                             .range = r->numbers ? r->numbers[r->ranges[i]] : r->ranges[i],
                             .device = r->data->devices[g->device].index,
                             .passes = timed_passes(r, g),
                             .nvtx = attribute(g, "nvtx", ""),
                             .replay = attribute(g, "replay", ""),
                             .scope = attribute(g, "scope", "context"),
                             .rank = attribute(g, "rank", ""),
                             .grid = g->grid,
                             .block = g->block,
                             .attributes = {g->attributes, g->attribute_count}};
    return cw_output_row(r, &c->one, i);
}

static struct cw_output_row pass_row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    c->pass = (uint32_t)i;
    return (struct cw_output_row){.record = &c->pass};
}

static const char *const letters[] = {"x", "y", "z"};
static const struct cw_output_column xyz_columns[] = {{"xyz", CW_CELL_TEXT, CW_TO_CSV | CW_TO_HDF5, 0}};
static const struct cw_output_table xyz = {CW_OUTPUT_COLUMNS(xyz_columns), .record_size = sizeof *letters,
                                           .row_count = 3, .row = cw_output_array, .content = (void *)letters};

/* JSON and HDF5 have the same in orders of their own. */
static const struct cw_output_column columns[] = {
    {"range", CW_CELL_U32, CW_TO_FILES, offsetof(struct record, range)},
    {"name", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct record, of.name)},
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct record, of.kernel)},
    {"host_start_ns", CW_CELL_U64, CW_TO_HDF5, offsetof(struct record, of.start_ns), .units = CW_OUTPUT_DATE,
     .long_name = "when the host began the call that launched it, or opened the user range"},
    {"host_end_ns", CW_CELL_U64, CW_TO_HDF5, offsetof(struct record, of.end_ns), .units = CW_OUTPUT_DATE,
     .long_name = "when that call returned, or when all that the user range launched was done"},
    {"context", CW_CELL_U64, CW_TO_HDF5, offsetof(struct record, of.context)},
    {"stream", CW_CELL_U64, CW_TO_HDF5, offsetof(struct record, of.stream)},
    {"device", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, device)},
    {"process", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, of.process)},
    {"context", CW_CELL_I64, CW_TO_JSON, offsetof(struct record, of.context)},
    {"stream", CW_CELL_I64, CW_TO_JSON, offsetof(struct record, of.stream)},
    {"pass_count", CW_CELL_U32, CW_TO_HDF5, offsetof(struct record, passes)},
    {"nvtx", CW_CELL_TEXT, CW_TO_CSV | CW_TO_HDF5, offsetof(struct record, nvtx)},
    {"replay", CW_CELL_TEXT, CW_TO_HDF5, offsetof(struct record, replay)},
    {"scope", CW_CELL_TEXT, CW_TO_HDF5, offsetof(struct record, scope)},
    {"rank", CW_CELL_TEXT, CW_TO_CSV | CW_TO_HDF5, offsetof(struct record, rank)},
    {"grid", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, grid), &xyz},
    {"block", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, block), &xyz},
    {"host_start_ns", CW_CELL_I64, CW_TO_CSV | CW_TO_JSON, offsetof(struct record, of.start_ns)},
    {"host_end_ns", CW_CELL_I64, CW_TO_CSV | CW_TO_JSON, offsetof(struct record, of.end_ns)},
    {"attributes", CW_CELL_PAIRS, CW_TO_JSON, offsetof(struct record, attributes)},
};

static enum cw_status print(const struct cw_output *o, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    return cw_rows_put_full(o->result, NULL, style, out, err);
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_output_ranges(struct cw_output *o, const struct cw_result *r, const char *const *descriptions,
                                struct cw_arena *arena, struct cw_error *err)
{
    static const struct cw_output_column pass[] = {{"pass", CW_CELL_U32, CW_TO_HDF5, 0}};
    struct content *c = cw_arena_alloc(arena, 1, sizeof *c);
    *o = (struct cw_output){.data = r->data, .source = r->source, .table_count = 1, .print = print, .result = r};
    if (!c || !cw_output_metrics(&o->metrics, r, descriptions, false, arena))
        return cw_error_nomem(err);
    c->result = r;
    c->passes = (struct cw_output_table){CW_OUTPUT_COLUMNS(pass), .row_count = r->data->schema.pass_count,
                                         .row = pass_row, .content = c};
    c->durations[0] = (struct cw_output_column){"range", CW_CELL_U32, CW_TO_HDF5, offsetof(struct record, range)};
    c->durations[1] = (struct cw_output_column){"duration_ns",
                                                CW_CELL_F64,
                                                CW_TO_HDF5,
                                                offsetof(struct record, of.durations),
                                                &c->passes,
                                                .units = "ns",
                                                .long_name = "how long the pass took on the GPU"};
    o->tables[0] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(columns),
        .name = "ranges",
        .group = "range",
        .record_size = sizeof(struct record),
        .row_count = r->row_count,
        .row = row,
        .content = c,
        .failed = r->stream ? &r->stream->status : NULL,
        .metrics = &o->metrics,
        .spread = r->spread,
        .short_escapes = true,
        /* the other facts as coordinates of the values, by the convention that xarray follows */
        .coordinates =
            "name kernel host_start_ns host_end_ns device process context stream pass_count nvtx replay rank unit type "
            "description",
    };
    o->passes = o->tables[0];
    o->passes.columns = c->durations;
    o->passes.column_count = 2;
    o->passes.metrics = NULL;
    return CW_OK;
}
