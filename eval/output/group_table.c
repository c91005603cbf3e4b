#include <inttypes.h>

#include "eval/output/group_columns.h"
#include "eval/output/joined.h"
#include "eval/output/rows_text.h"

struct content {
    const struct cw_output_rows *rows;
    struct cw_group_row one;
};

struct cw_group_row cw_group_row_of(const struct cw_groups *groups, uint32_t group)
{
    const struct cw_range *first = cw_launch_of(&groups->data, group);
    const struct cw_group *g = &groups->items[group];
    return (struct cw_group_row){.name = g->name,
                                 .kernel = groups->by == CW_BY_KERNEL ? first->kernel : "",
                                 .device = g->several_gpus ? UINT64_MAX : groups->data.devices[first->device].index,
                                 .launches = g->count,
                                 .total = g->total,
                                 .share = cw_group_share(groups, g),
                                 .mean = g->mean,
                                 .median = g->median,
                                 .least = g->least,
                                 .greatest = g->greatest,
                                 .deviation = g->deviation,
                                 .spread = cw_group_spread(g),
                                 .grid = first->grid,
                                 .block = first->block};
}

static struct cw_output_row row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const uint32_t group = c->rows->rows[i];
    c->one = cw_group_row_of(c->rows->groups, group);
    if (c->rows->joined) {
        const struct cw_joined_row *joined = &c->rows->joined->rows->rows[group];
        c->one.joined = joined->twins;
        c->one.joined_by_kernel = joined->like;
        c->one.not_joined = joined->none;
        c->one.gap = joined->gap;
        c->one.latency = joined->latency;
        c->one.counted = joined->counted;
    }
    return cw_output_row(c->rows->result, &c->one, i);
}

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
    size_t column_count;
    const struct cw_output_column *columns =
        cw_group_columns_of(CW_GROUPS_OF_RANGES | (rows->joined ? CW_GROUPS_JOINED : 0), &column_count, arena);
    if (!c || !columns || !cw_output_metrics(&o->metrics, rows->result, descriptions, false, arena))
        return cw_error_nomem(err);
    c->rows = rows;
    o->tables[0] = (struct cw_output_table){
        .columns = columns,
        .column_count = column_count,
        .name = "groups",
        .group = "group",
        .record_size = sizeof c->one,
        .row_count = rows->count,
        .row = row,
        .content = c,
        .metrics = &o->metrics,
        .spread = rows->result->spread,
        .short_escapes = true,
        .coordinates = "kernel device launches total_ns share mean_ns median_ns least_ns greatest_ns deviation_ns "
                       "unit type description",
    };
    return CW_OK;
}
