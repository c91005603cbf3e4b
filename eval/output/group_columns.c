#include "eval/output/group_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FILES(member) CW_TO_FILES, offsetof(struct cw_group_row, member)
#define TREES(member) (CW_TO_JSON | CW_TO_HDF5), offsetof(struct cw_group_row, member)
#define NOWHERE(member) 0, offsetof(struct cw_group_row, member)
enum {
    TRACE = CW_GROUPS_OF_KERNELS | CW_GROUPS_OF_ITEMS | CW_GROUPS_OF_CALLS | CW_GROUPS_OF_NVTX | CW_GROUPS_OF_GRAPHS,
    ALL = CW_GROUPS_OF_RANGES | TRACE,
    WALLS = CW_GROUPS_OF_NVTX | CW_GROUPS_OF_GRAPHS,
    LAUNCHED = ALL & ~WALLS, /* the median of launches; the other kinds have one of walls */
    MOVED = CW_GROUPS_OF_ITEMS | WALLS
};

const struct cw_group_column cw_group_columns[] = {
    {NULL, {"group", CW_CELL_TEXT, FILES(name)}, ALL},
    {NULL, {"kernel", CW_CELL_TEXT, FILES(kernel)}, ALL},
    {NULL, {"device", CW_CELL_KNOWN, FILES(device)}, ALL},
    {"launches", {"launches", CW_CELL_U64, FILES(launches)}, ALL},
    {"total", {"total_ns", CW_CELL_F64, FILES(total), .units = "ns"}, ALL},
    {"share", {"share", CW_CELL_F64, FILES(share)}, ALL},
    {"mean", {"mean_ns", CW_CELL_F64, FILES(mean), .units = "ns"}, ALL},
    {"median", {"median_ns", CW_CELL_F64, FILES(median), .units = "ns"}, LAUNCHED},
    {NULL, {"median_ns", CW_CELL_F64, FILES(median), .units = "ns"}, WALLS},
    {"least", {"least_ns", CW_CELL_F64, FILES(least), .units = "ns"}, ALL},
    {"greatest", {"greatest_ns", CW_CELL_F64, FILES(greatest), .units = "ns"}, ALL},
    {"deviation", {"deviation_ns", CW_CELL_F64, FILES(deviation), .units = "ns"}, ALL},
    {"spread", {"spread", CW_CELL_F64, NOWHERE(spread)}, ALL},
    {"stream", {"stream", CW_CELL_KNOWN, NOWHERE(stream)}, CW_GROUPS_OF_RANGES | CW_GROUPS_OF_ITEMS},
    {NULL, {"grid", CW_CELL_U32, TREES(grid), &cw_output_xyz}, CW_GROUPS_OF_RANGES},
    {NULL, {"block", CW_CELL_U32, TREES(block), &cw_output_xyz}, CW_GROUPS_OF_RANGES},
    {"bytes", {"bytes", CW_CELL_F64, FILES(bytes), .units = "bytes"}, MOVED},
    {"failed", {"failed", CW_CELL_U64, FILES(failed)}, CW_GROUPS_OF_CALLS},
    {"self", {"self_ns", CW_CELL_F64, FILES(own), .units = "ns"}, CW_GROUPS_OF_NVTX},
    {"ranges", {"ranges", CW_CELL_U64, FILES(ranges)}, CW_GROUPS_OF_NVTX},
    {"ranges", {"graph_launches", CW_CELL_U64, FILES(ranges)}, CW_GROUPS_OF_GRAPHS},
    {"nodes", {"nodes", CW_CELL_U64, FILES(nodes)}, CW_GROUPS_OF_GRAPHS},
    {"wall", {"wall_ns", CW_CELL_F64, FILES(wall), .units = "ns"}, WALLS},
    {"fastest", {"fastest_wall_ns", CW_CELL_F64, FILES(fastest_wall), .units = "ns"}, WALLS},
    {"median", {"median_wall_ns", CW_CELL_F64, FILES(median_wall), .units = "ns"}, WALLS},
    {"slowest", {"slowest_wall_ns", CW_CELL_F64, FILES(slowest_wall), .units = "ns"}, WALLS},
    {NULL, {"slowest", CW_CELL_TEXT, FILES(slowest_name)}, CW_GROUPS_OF_NVTX},
    {NULL, {"slowest_start_ns", CW_CELL_SIGNED, FILES(slowest_start), .units = CW_OUTPUT_DATE}, CW_GROUPS_OF_NVTX},
    {NULL, {"other_thread", CW_CELL_U64, FILES(other_thread)}, CW_GROUPS_OF_NVTX},
    {NULL, {"joined", CW_CELL_U32, FILES(joined)}, CW_GROUPS_JOINED},
    {NULL, {"joined_by_kernel", CW_CELL_U32, FILES(joined_by_kernel)}, CW_GROUPS_JOINED},
    {NULL, {"not_joined", CW_CELL_U32, FILES(not_joined)}, CW_GROUPS_JOINED},
    {NULL, {"gap_ns", CW_CELL_F64, FILES(gap), .units = "ns"}, CW_GROUPS_JOINED},
    {NULL, {"latency_ns", CW_CELL_F64, FILES(latency), .units = "ns"}, CW_GROUPS_JOINED},
    {NULL, {"counted_ns", CW_CELL_F64, FILES(counted), .units = "ns"}, CW_GROUPS_JOINED},
};
const size_t cw_group_column_count = sizeof cw_group_columns / sizeof *cw_group_columns;

const struct cw_group_column *cw_group_column_find(enum cw_group_kind kind, const char *name, size_t length)
{
    for (size_t i = 0; i < cw_group_column_count; i++) {
        const struct cw_group_column *c = &cw_group_columns[i];
        if (c->name && c->kinds & kind && strlen(c->name) == length && strncmp(c->name, name, length) == 0)
            return c;
    }
    return NULL;
}

const char *cw_group_column_names(enum cw_group_kind kind, char text[CW_GROUP_COLUMN_NAMES])
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < cw_group_column_count && used < CW_GROUP_COLUMN_NAMES; i++)
        if (cw_group_columns[i].name && cw_group_columns[i].kinds & kind)
            used += (size_t)snprintf(text + used, CW_GROUP_COLUMN_NAMES - used, "%s%s", used ? ", " : "",
                                     cw_group_columns[i].name);
    return text;
}

double cw_group_column_value(const struct cw_group_column *c, const struct cw_group_row *row)
{
    const void *cell = (const char *)row + c->column.offset;
    if (c->column.type == CW_CELL_F64)
        return *(const double *)cell;
    const uint64_t number = cw_cell_integer(c->column.type, cell);
    return number == UINT64_MAX ? NAN : (double)number;
}

const char *cw_group_column_text(const struct cw_group_column *c, const struct cw_group_row *row,
                                 char text[CW_TIME_TEXT_SIZE])
{
    const double value = cw_group_column_value(c, row);
    if (c->column.type != CW_CELL_F64)
        return cw_terminal_integer((uint64_t)value, text);
    if (!c->column.units)
        return cw_terminal_percent(value, text);
    return *c->column.units == 'n' ? cw_terminal_time(value, text) : cw_terminal_amount(value, c->column.units, text);
}

const struct cw_output_column *cw_group_columns_of(unsigned kinds, size_t *count, struct cw_arena *arena)
{
    struct cw_output_column *columns = cw_arena_alloc(arena, cw_group_column_count, sizeof *columns);
    *count = 0;
    for (size_t i = 0; columns && i < cw_group_column_count; i++)
        if (cw_group_columns[i].column.formats && cw_group_columns[i].kinds & kinds)
            columns[(*count)++] = cw_group_columns[i].column;
    return columns;
}
