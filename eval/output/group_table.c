#include <inttypes.h>

#include "eval/output/joined.h"
#include "eval/output/rows_text.h"

struct record {
    struct cw_group of;
    const char *kernel;
    uint64_t device; /* UINT64_MAX: of several */
    double share; /* 0 to 1 */
    const uint32_t *grid, *block;
    struct cw_joined_row joined;
};

struct content {
    const struct cw_output_rows *rows;
    struct record one;
};

static struct cw_output_row row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const struct cw_groups *groups = c->rows->groups;
    const struct cw_result *r = c->rows->result;
    const uint32_t group = c->rows->rows[i];
    const struct cw_range *first = cw_launch_of(&groups->data, group);
    c->one = (struct record){.of = groups->items[group],
                             .kernel = groups->by == CW_BY_KERNEL ? first->kernel : "",
                             .device = groups->items[group].several_gpus ? UINT64_MAX
                                                                         : groups->data.devices[first->device].index,
                             .share = cw_group_share(groups, &groups->items[group]),
                             .grid = first->grid,
                             .block = first->block};
    if (c->rows->joined)
        c->one.joined = c->rows->joined->rows->rows[group];
    return cw_output_row(r, &c->one, i);
}

static const char *const letters[] = {"x", "y", "z"};
static const struct cw_output_column xyz_columns[] = {{"xyz", CW_CELL_TEXT, CW_TO_HDF5, 0}};
static const struct cw_output_table xyz = {CW_OUTPUT_COLUMNS(xyz_columns), .record_size = sizeof *letters,
                                           .row_count = 3, .row = cw_output_array, .content = (void *)letters};

static const struct cw_output_column columns[] = {
    {"group", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct record, of.name)},
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct record, kernel)},
    {"device", CW_CELL_KNOWN, CW_TO_FILES, offsetof(struct record, device)},
    {"ranges", CW_CELL_U32, CW_TO_FILES, offsetof(struct record, of.count)},
    {"total_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct record, of.total)},
    {"share", CW_CELL_F64, CW_TO_FILES, offsetof(struct record, share)},
    {"mean_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct record, of.mean)},
    {"least_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct record, of.least)},
    {"greatest_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct record, of.greatest)},
    {"deviation_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct record, of.deviation)},
    {"grid", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, grid), &xyz},
    {"block", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, block), &xyz},
    /* of a join alone */
    {"joined", CW_CELL_U32, CW_TO_FILES, offsetof(struct record, joined.twins)},
    {"joined_by_kernel", CW_CELL_U32, CW_TO_FILES, offsetof(struct record, joined.like)},
    {"not_joined", CW_CELL_U32, CW_TO_FILES, offsetof(struct record, joined.none)},
    {"gap_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct record, joined.gap)},
    {"latency_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct record, joined.latency)},
    {"counted_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct record, joined.counted)},
};
enum { JOINED_COLUMNS = 6 };

static enum cw_status print(const struct cw_output *o, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    const struct cw_output_rows *rows = o->result;
    const bool one = rows->count == 1 && !rows->left && rows->result->metric_count;
    bool listed = false;
    enum cw_status status = CW_OK;
    if (!rows->wide && !one)
        status = cw_rows_put_list(rows, style, out, &listed, err);
    if (status != CW_OK || listed)
        return status;
    status = cw_rows_put_full(rows->result, rows, style, out, err);
    if (status == CW_OK && rows->left && !style->quiet)
        fprintf(out, "\n%" PRIu32 " more; --top N shows more\n", rows->left);
    return status;
}

enum cw_status cw_output_groups(struct cw_output *o, const struct cw_output_rows *rows, const char *const *descriptions,
                                struct cw_arena *arena, struct cw_error *err)
{
    struct content *c = cw_arena_alloc(arena, 1, sizeof *c);
    *o = (struct cw_output){
        .data = rows->data, .source = rows->result->source, .table_count = 1, .print = print, .result = rows};
    if (!c || !cw_output_metrics(&o->metrics, rows->result, descriptions, false, arena))
        return cw_error_nomem(err);
    c->rows = rows;
    o->tables[0] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(columns),
        .name = "groups",
        .group = "group",
        .record_size = sizeof c->one,
        .row_count = rows->count,
        .row = row,
        .content = c,
        .metrics = &o->metrics,
        .spread = rows->result->spread,
        .short_escapes = true,
        .coordinates = "kernel device ranges total_ns share mean_ns least_ns greatest_ns deviation_ns unit type "
                       "description",
    };
    if (!rows->joined)
        o->tables[0].column_count -= JOINED_COLUMNS;
    return CW_OK;
}
