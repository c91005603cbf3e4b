#include "eval/output/timeline_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64 };

/* The source of a cell: a field of the row, or a fact that the timeline joined to it. */
enum source {
    OF_ROW,   /* the field */
    OF_SHAPE, /* the field of a kernel's launch_shape */
    PROCESS,
    RANK,
    CALL_START,
    CALL_THREAD,
    OTHER_THREAD, /* 1: another thread opened the ranges of `nvtx` */
    NVTX
};

struct column {
    enum source source;
    enum cw_trace_field field;
    enum cw_trace_type type;
};

/* A cell as a number or a text, with the index of the text for HDF5. Times are signed. */
struct cell {
    union {
        uint64_t number;
        double real;
        const char *text;
    } as;
    uint32_t index;
};

enum { NAMES, PATHS, TEXT_TABLES };

struct kind_rows {
    const struct cw_timeline *t;
    const struct cw_timeline_keep *keep; /* NULL: all */
    const char *const *paths;            /* text of each NVTX path */
    const struct cw_output_table *texts; /* NAMES and PATHS */
    enum cw_trace_kind kind;
    uint32_t count; /* of columns */
    struct column columns[MOST_COLUMNS];
    struct cw_output_column shown[2 * MOST_COLUMNS];
    char names[MOST_COLUMNS][40];
    struct cell cells[MOST_COLUMNS];
    const struct places *places; /* of the kind's list */
    uint32_t item;               /* of the row, or CW_TIMELINE_NONE */
    /* the current block, its next row, and the number of that row in the table */
    size_t block;
    uint32_t row;
    uint64_t at;
    bool is_read;
    struct cw_trace_rows rows;
    struct cw_timeline_tables *tables;
};

enum list { NO_LIST, GPU, CALLS, RANGES, WAITS, MARKS, LISTS };

/* Items by block and row. */
struct places {
    uint32_t *firsts; /* [block]: where its rows begin in `items` */
    uint32_t *items;
};

/* State that the tables share; one of them is read at a time. */
struct cw_timeline_tables {
    const struct cw_timeline *t;
    struct places places[LISTS]; /* of the lists that have a table */
    struct cw_trace_buffer buffer;
    const size_t *reading; /* the reader of the block in the buffer */
    enum cw_status status; /* why a block cannot be read */
    struct cw_error *err;
};

/* ---- items by row ----------------------------------------------------------------------------------------------- */

static enum list list_of(enum cw_trace_kind kind)
{
    switch (kind) {
    case CW_TRACE_KERNEL:
    case CW_TRACE_COPY:
    case CW_TRACE_MEMSET:
    case CW_TRACE_GRAPH:
        return GPU;
    case CW_TRACE_DRIVER:
    case CW_TRACE_RUNTIME:
    case CW_TRACE_INTERNAL:
        return CALLS;
    case CW_TRACE_NVTX_RANGE:
        return RANGES;
    case CW_TRACE_SYNC:
    case CW_TRACE_OVERHEAD:
    case CW_TRACE_JIT:
        return WAITS;
    case CW_TRACE_NVTX_MARK:
        return MARKS;
    default:
        return NO_LIST;
    }
}

/* Whether the items of a kind lie in NVTX ranges. */
static bool has_path(enum cw_trace_kind kind)
{
    const enum list list = list_of(kind);
    return list == GPU || list == CALLS || list == RANGES;
}

static bool is_kept(const struct kind_rows *k)
{
    const struct cw_timeline_keep *keep = k->keep;
    const enum list list = list_of(k->kind);
    const bool *of = !keep            ? NULL
                     : list == GPU    ? keep->gpu
                     : list == CALLS  ? keep->calls
                     : list == RANGES ? keep->paths
                     : list == WAITS  ? keep->waits
                     : list == MARKS  ? keep->marks
                                      : NULL;
    return !of || (k->item != CW_TIMELINE_NONE && of[list == RANGES ? k->t->ranges[k->item].path : k->item]);
}

/* Counts the rows of a list's blocks. */
static uint32_t find_firsts(const struct cw_timeline *t, enum list list, uint32_t *firsts)
{
    uint32_t count = 0;
    for (size_t b = 0; b < t->trace->block_count; b++) {
        const enum cw_trace_kind kind = t->trace->kinds[t->trace->blocks[b].kind].kind;
        firsts[b] = count;
        count += kind < CW_TRACE_KIND__COUNT && list_of(kind) == list ? t->trace->blocks[b].count : 0;
    }
    return count;
}

/* False when out of memory. */
static bool find_places(struct places *p, const struct cw_timeline *t, enum list list)
{
    p->firsts = calloc(t->trace->block_count + 1, sizeof *p->firsts);
    const uint32_t rows = p->firsts ? find_firsts(t, list, p->firsts) : 0;
    p->items = cw_large_alloc(t->large, (size_t)rows + 1, sizeof *p->items);
    if (!p->firsts || !p->items)
        return false;
    for (uint32_t i = 0; i < rows; i++, cw_timeline_step(t))
        p->items[i] = CW_TIMELINE_NONE;
#define PLACE(list, count)                                                                                             \
    for (uint32_t i = 0; i < (count); i++, cw_timeline_step(t))                                                        \
    p->items[p->firsts[(list)[i].block] + (list)[i].row] = i
    if (list == GPU)
        PLACE(t->gpu, t->gpu_count);
    else if (list == CALLS)
        PLACE(t->calls, t->call_count);
    else if (list == RANGES)
        PLACE(t->ranges, t->range_count);
    else if (list == WAITS)
        PLACE(t->waits, t->wait_count);
    else
        PLACE(t->marks, t->mark_count);
#undef PLACE
    return true;
}

static void free_places(struct places *p, const struct cw_timeline *t)
{
    free(p->firsts);
    cw_large_free(t->large, p->items);
}

/* Finds the item of a row. */
static void find_item(struct kind_rows *k, size_t block, uint32_t row)
{
    cw_timeline_step(k->t);
    k->item = k->places ? k->places->items[k->places->firsts[block] + row] : CW_TIMELINE_NONE;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static uint64_t size_cell(uint32_t size)
{
    return size ? size : CW_TRACE_UNKNOWN;
}

static uint64_t shape_field(const struct cw_timeline_shape *s, enum cw_trace_field field)
{
    if (field >= CW_FIELD_GRID_X && field <= CW_FIELD_GRID_Z)
        return size_cell(s->grid[field - CW_FIELD_GRID_X]);
    if (field >= CW_FIELD_BLOCK_X && field <= CW_FIELD_BLOCK_Z)
        return size_cell(s->block[field - CW_FIELD_BLOCK_X]);
    switch (field) {
    case CW_FIELD_NAME:
        return s->name;
    case CW_FIELD_REGISTERS:
        return s->registers == CW_TIMELINE_NONE ? CW_TRACE_UNKNOWN : s->registers;
    case CW_FIELD_STATIC_SHARED:
        return s->static_shared;
    case CW_FIELD_DYNAMIC_SHARED:
        return s->dynamic_shared;
    default:
        return s->local_per_thread;
    }
}

static uint32_t call_of(const struct kind_rows *k)
{
    return k->item == CW_TIMELINE_NONE || list_of(k->kind) != GPU ? CW_TIMELINE_NONE : k->t->gpu[k->item].call;
}

static uint32_t path_of(const struct kind_rows *k)
{
    const enum list list = list_of(k->kind);
    return k->item == CW_TIMELINE_NONE || !has_path(k->kind) ? 0
           : list == GPU                                     ? k->t->gpu[k->item].path
           : list == CALLS                                   ? k->t->calls[k->item].path
                                                             : k->t->ranges[k->item].path;
}

static bool is_of_other(const struct kind_rows *k)
{
    const enum list list = list_of(k->kind);
    return k->item != CW_TIMELINE_NONE && (list == GPU     ? k->t->gpu[k->item].other_thread
                                           : list == CALLS ? k->t->calls[k->item].other_thread
                                                           : false);
}

static struct cell text_cell(const char *text, uint32_t index)
{
    return (struct cell){.as.text = text, .index = index};
}

static struct cell row_cell(const struct kind_rows *k, const struct column *c, uint32_t row)
{
    const struct cw_timeline *t = k->t;
    const uint64_t value = cw_trace_get(&k->rows, c->field, row);
    switch (c->type) {
    case CW_TRACE_TEXT: {
        const uint32_t name = cw_timeline_name(t, k->rows.process, value);
        return text_cell(c->field == CW_FIELD_NAME ? t->names[name].shown : t->names[name].text, name);
    }
    case CW_TRACE_DEVICE: {
        const uint32_t device = cw_trace_device(t->trace, k->rows.process, value);
        return (struct cell){.as.number =
                                 device == CW_NO_TRACE_DEVICE ? CW_TRACE_UNKNOWN : t->data->devices[device].index};
    }
    case CW_TRACE_TIME:
        return (struct cell){.as.number = value ? value : CW_TRACE_SIGNED_UNKNOWN};
    default: /* an unknown real has the bits of an unknown number */
        return (struct cell){.as.number = value};
    }
}

static struct cell shape_cell(const struct kind_rows *k, const struct column *c)
{
    const struct cw_timeline *t = k->t;
    const uint32_t shape = k->item == CW_TIMELINE_NONE ? CW_TIMELINE_NONE : t->gpu[k->item].shape;
    if (c->type == CW_TRACE_TEXT) {
        const uint32_t name = shape == CW_TIMELINE_NONE ? 0 : t->shapes[shape].name;
        return text_cell(t->names[name].shown, name);
    }
    return (struct cell){.as.number =
                             shape == CW_TIMELINE_NONE ? CW_TRACE_UNKNOWN : shape_field(&t->shapes[shape], c->field)};
}

static struct cell make_cell(const struct kind_rows *k, const struct column *c)
{
    const struct cw_timeline *t = k->t;
    const uint32_t call = c->source >= CALL_START ? call_of(k) : CW_TIMELINE_NONE;
    const char *rank;
    switch (c->source) {
    case OF_ROW:
        return row_cell(k, c, k->row);
    case OF_SHAPE:
        return shape_cell(k, c);
    case PROCESS:
        return (struct cell){.as.number = t->trace->processes[k->rows.process].pid};
    case RANK:
        rank = cw_timeline_attribute(t, k->rows.process, "rank");
        return text_cell(rank ? rank : "", 0);
    case CALL_START:
        return (struct cell){.as.number = call == CW_TIMELINE_NONE ? CW_TRACE_SIGNED_UNKNOWN : t->calls[call].start};
    case CALL_THREAD:
        return (struct cell){.as.number = call == CW_TIMELINE_NONE ? CW_TRACE_UNKNOWN
                                                                   : t->threads[t->calls[call].thread].thread};
    case OTHER_THREAD:
        return (struct cell){.as.number = is_of_other(k) ? 1 : CW_TRACE_UNKNOWN};
    default:
        return text_cell(k->paths[path_of(k)], path_of(k));
    }
}

static bool is_known(const struct column *c, const struct cell *cell)
{
    return c->type == CW_TRACE_TEXT   ? *cell->as.text != 0
           : c->type == CW_TRACE_TIME ? cell->as.number != CW_TRACE_SIGNED_UNKNOWN
                                      : cell->as.number != cw_trace_unknown(c->type);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void go_to_start(struct kind_rows *k)
{
    k->block = 0;
    k->row = 0;
    k->at = 0;
    k->is_read = false;
}

/* Goes to the next kept row, from `row` on; false at the end and after a failure. The timeline has read the blocks of
 * some kinds only, so rows of others may turn out damaged here. */
static bool find_row(struct kind_rows *k)
{
    const struct cw_trace *trace = k->t->trace;
    struct cw_timeline_tables *of = k->tables;
    for (; k->block < trace->block_count; k->block++, k->row = 0, k->is_read = false) {
        if (trace->kinds[trace->blocks[k->block].kind].kind != k->kind)
            continue;
        if (!k->is_read || of->reading != &k->block) {
            const enum cw_status status = cw_trace_read_rows(&k->rows, trace, k->block, &of->buffer, of->err);
            if (status != CW_OK) {
                of->status = status;
                return false;
            }
            k->is_read = true;
            of->reading = &k->block;
        }
        for (; k->row < k->rows.count; k->row++) {
            find_item(k, k->block, k->row);
            if (is_kept(k))
                return true;
        }
    }
    return false;
}

static struct cw_output_row row(const struct cw_output_table *table, uint64_t i)
{
    struct kind_rows *k = table->content;
    if (i < k->at)
        go_to_start(k);
    for (; k->at <= i && find_row(k); k->at++, k->row++)
        if (k->at == i)
            for (uint32_t c = 0; c < k->count; c++)
                k->cells[c] = make_cell(k, &k->columns[c]);
    return (struct cw_output_row){.record = k->tables->status == CW_OK ? k->cells : NULL};
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static void add_column(struct kind_rows *k, enum source source, enum cw_trace_field field, enum cw_trace_type type)
{
    if (k->count < MOST_COLUMNS)
        k->columns[k->count++] = (struct column){source, field, type};
}

static void add_columns(struct kind_rows *k)
{
    static const enum cw_trace_field of_shape[] = {
        CW_FIELD_NAME,          CW_FIELD_GRID_X,         CW_FIELD_GRID_Y,          CW_FIELD_GRID_Z,
        CW_FIELD_BLOCK_X,       CW_FIELD_BLOCK_Y,        CW_FIELD_BLOCK_Z,         CW_FIELD_REGISTERS,
        CW_FIELD_STATIC_SHARED, CW_FIELD_DYNAMIC_SHARED, CW_FIELD_LOCAL_PER_THREAD};
    const struct cw_trace_kind_info *kind = &cw_trace_kinds[k->kind];
    for (uint32_t f = 0; f < kind->field_count; f++)
        add_column(k, OF_ROW, (enum cw_trace_field)kind->fields[f], cw_trace_fields[kind->fields[f]].type);
    for (size_t f = 0; k->kind == CW_TRACE_KERNEL && f < sizeof of_shape / sizeof *of_shape; f++)
        add_column(k, OF_SHAPE, of_shape[f], cw_trace_fields[of_shape[f]].type);
    add_column(k, PROCESS, CW_FIELD__COUNT, CW_TRACE_NUMBER);
    add_column(k, RANK, CW_FIELD__COUNT, CW_TRACE_TEXT);
    if (list_of(k->kind) == GPU) {
        add_column(k, CALL_START, CW_FIELD__COUNT, CW_TRACE_TIME);
        add_column(k, CALL_THREAD, CW_FIELD__COUNT, CW_TRACE_NUMBER);
    }
    if (has_path(k->kind))
        add_column(k, OTHER_THREAD, CW_FIELD__COUNT, CW_TRACE_NUMBER);
    if (has_path(k->kind))
        add_column(k, NVTX, CW_FIELD__COUNT, CW_TRACE_TEXT);
}

/* Counts the kept rows, and drops columns without a known cell in them. If no row is kept, all rows decide; if there
 * are no rows, all columns stay. */
static uint64_t look_through(struct kind_rows *k)
{
    bool known[MOST_COLUMNS] = {false};
    uint64_t count = 0;
    uint32_t kept = 0;
    go_to_start(k);
    const struct cw_timeline_keep *keep = k->keep;
    const bool none = !find_row(k);
    k->keep = none ? NULL : keep;
    for (go_to_start(k); find_row(k); k->row++, count++)
        for (uint32_t c = 0; c < k->count; c++)
            if (!known[c]) {
                const struct cell cell = make_cell(k, &k->columns[c]);
                known[c] = is_known(&k->columns[c], &cell);
            }
    for (uint32_t c = 0; c < k->count; c++)
        if (known[c] || !count)
            k->columns[kept++] = k->columns[c];
    k->count = kept;
    k->keep = keep;
    go_to_start(k);
    return none ? 0 : count;
}

static const char *name_column(const struct column *c, char name[40])
{
    static const char *const names[] = {
        [PROCESS] = "process",           [RANK] = "rank", [CALL_START] = "call_start", [CALL_THREAD] = "call_thread",
        [OTHER_THREAD] = "other_thread", [NVTX] = "nvtx"};
    snprintf(name, 40, "%s%s", c->source <= OF_SHAPE ? cw_trace_fields[c->field].name : names[c->source],
             c->type == CW_TRACE_TIME ? "_ns" : "");
    return name;
}

static enum cw_cell_type cell_type(enum cw_trace_type type)
{
    return type == CW_TRACE_TEXT                              ? CW_CELL_TEXT
           : type == CW_TRACE_REAL                            ? CW_CELL_REAL
           : type == CW_TRACE_TIME || type == CW_TRACE_SIGNED ? CW_CELL_SIGNED
                                                              : CW_CELL_KNOWN;
}

/* Bits of CW_FIELD_THROTTLE, in the order of the management library. */
static const char limits[] =
    "idle application_clocks power_limit hardware sync_boost heat hardware_heat hardware_power display";

static const char *meanings_of(const struct column *c)
{
    const bool of_row = c->source == OF_ROW;
    return of_row && c->field == CW_FIELD_THROTTLE ? limits
           : c->source == OTHER_THREAD ||
                   (of_row && (c->field == CW_FIELD_ASYNC || c->field == CW_FIELD_DEVICE_LAUNCHED))
               ? "no yes"
               : NULL;
}

/* Names the clock of a time: a launch has one time on the GPU and another in the program. */
static const char *long_name_of(const struct kind_rows *k, const struct column *c)
{
    const enum list list = list_of(k->kind);
    if (c->source == CALL_START)
        return "when the host began the call that launched it";
    if (c->source != OF_ROW || (c->field != CW_FIELD_START && c->field != CW_FIELD_END))
        return NULL;
    const bool start = c->field == CW_FIELD_START;
    return list == GPU     ? (start ? "when it began on the GPU" : "when it ended on the GPU")
           : list == CALLS ? (start ? "when the host began the call" : "when the call returned to the host")
                           : NULL;
}

/* HDF5 has the index of a text: in /timeline/text/name, and of nvtx in /timeline/text/path. */
static size_t show_columns(struct kind_rows *k)
{
    const unsigned files = CW_TO_CSV | CW_TO_CSV_0 | CW_TO_JSON;
    size_t count = 0;
    for (uint32_t c = 0; c < k->count; c++) {
        const struct column *column = &k->columns[c];
        const char *name = name_column(column, k->names[c]);
        const size_t at = c * sizeof(struct cell);
        const bool indexed = column->type == CW_TRACE_TEXT && column->source != RANK;
        k->shown[count++] =
            (struct cw_output_column){name,
                                      cell_type(column->type),
                                      indexed ? files : files | CW_TO_HDF5,
                                      at + offsetof(struct cell, as),
                                      .units = column->type == CW_TRACE_TIME ? CW_OUTPUT_DATE
                                               : column->source <= OF_SHAPE  ? cw_trace_field_unit(column->field)
                                                                             : NULL,
                                      .long_name = long_name_of(k, column),
                                      .meanings = meanings_of(column),
                                      .bits = meanings_of(column) == limits};
        if (indexed)
            k->shown[count++] =
                (struct cw_output_column){name, CW_CELL_U32, CW_TO_HDF5, at + offsetof(struct cell, index),
                                          .texts = &k->texts[column->source == NVTX ? PATHS : NAMES]};
    }
    return count;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* NULL when out of memory. */
static const struct cw_output_table *make_texts(const struct cw_timeline *t, const char *const *paths,
                                                struct cw_arena *arena)
{
    static const struct cw_output_column name[] = {
        {"name", CW_CELL_TEXT, CW_TO_HDF5, offsetof(struct cw_timeline_name, shown)}};
    static const struct cw_output_column path[] = {{"path", CW_CELL_TEXT, CW_TO_HDF5, 0}};
    struct cw_output_table *texts = cw_arena_alloc(arena, TEXT_TABLES, sizeof *texts);
    if (!texts)
        return NULL;
    texts[NAMES] = (struct cw_output_table){.name = "name",
                                            .group = "timeline/text",
                                            CW_OUTPUT_COLUMNS(name),
                                            .record_size = sizeof(struct cw_timeline_name),
                                            .row_count = t->name_count,
                                            .row = cw_output_array,
                                            .content = (void *)(uintptr_t)t->names};
    texts[PATHS] = (struct cw_output_table){.name = "path",
                                            .group = "timeline/text",
                                            CW_OUTPUT_COLUMNS(path),
                                            .record_size = sizeof(char *),
                                            .row_count = t->path_count,
                                            .row = cw_output_array,
                                            .content = (void *)(uintptr_t)paths};
    return texts;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static const char *const groups_of[CW_TRACE_KIND__COUNT] = {
#define G(id, name) [CW_TRACE_##id] = "timeline/" name
    G(KERNEL, "kernel"),
    G(SHAPE, "launch_shape"),
    G(COPY, "copy"),
    G(MEMSET, "memset"),
    G(DRIVER, "driver"),
    G(RUNTIME, "runtime"),
    G(INTERNAL, "internal_launch"),
    G(SYNC, "synchronization"),
    G(EVENT, "cuda_event"),
    G(STREAM, "stream"),
    G(CONTEXT, "context"),
    G(NVTX_RANGE, "nvtx_range"),
    G(NVTX_MARK, "nvtx_mark"),
    G(NAME, "name"),
    G(OVERHEAD, "overhead"),
    G(ALLOCATION, "memory"),
    G(POOL, "memory_pool"),
    G(UNIFIED, "unified_memory"),
    G(ENVIRONMENT, "environment"),
    G(GRAPH, "graph_launch"),
    G(DEVICE_GRAPH, "device_graph_launch"),
    G(JIT, "jit"),
    G(MODULE, "module"),
    G(EXTERNAL, "external_correlation"),
    G(LINK, "link"),
    G(OPENACC, "openacc"),
    G(OPENMP, "openmp"),
    G(DECOMPRESS, "memory_decompression"),
    G(GRAPH_MADE, "graph"),
    G(NODE, "graph_node"),
    G(EDGE, "graph_edge"),
    G(WINDOW, "window"),
    G(ACCOUNT, "account"),
#undef G
};

static bool add_kind(struct cw_output *output, struct cw_timeline_tables *tables, struct kind_rows *from,
                     struct cw_arena *arena)
{
    struct kind_rows *k = cw_arena_alloc(arena, 1, sizeof *k);
    if (!k) {
        tables->status = cw_error_nomem(tables->err);
        return false;
    }
    *k = *from;
    k->tables = tables;
    add_columns(k);
    const uint64_t rows = look_through(k);
    output->tables[output->table_count++] = (struct cw_output_table){.name = cw_trace_kinds[k->kind].name,
                                                                     .group = groups_of[k->kind],
                                                                     .columns = k->shown,
                                                                     .column_count = show_columns(k),
                                                                     .record_size = sizeof k->cells,
                                                                     .row_count = rows,
                                                                     .row = row,
                                                                     .content = k,
                                                                     .failed = &tables->status};
    return tables->status == CW_OK;
}

_Static_assert(CW_TRACE_KIND__COUNT + TEXT_TABLES <= CW_OUTPUT_TABLES, "each kind has a table");

enum cw_status cw_timeline_tables_make(struct cw_timeline_tables **made, struct cw_output *output,
                                       const struct cw_timeline *t, const struct cw_timeline_keep *keep, uint64_t kinds,
                                       struct cw_arena *arena, struct cw_error *err)
{
    const char *const *paths = cw_timeline_path_texts(t, false, arena);
    const struct cw_output_table *texts = make_texts(t, paths, arena);
    struct cw_timeline_tables *tables = *made = cw_arena_alloc(arena, 1, sizeof *tables);
    if (!paths || !texts || !tables)
        return cw_error_nomem(err);
    *tables = (struct cw_timeline_tables){.t = t, .err = err};
    kinds &= keep && keep->kinds ? keep->kinds : UINT64_MAX;
    bool good = true;
    for (int k = 0; good && k < CW_TRACE_KIND__COUNT; k++) {
        const enum list list = list_of((enum cw_trace_kind)k);
        struct places *places = list == NO_LIST ? NULL : &tables->places[list];
        struct kind_rows rows = {
            .t = t, .keep = keep, .paths = paths, .texts = texts, .kind = (enum cw_trace_kind)k, .places = places};
        if (!(kinds & CW_TRACE_BIT(k)))
            continue;
        if (places && !places->items && !find_places(places, t, list))
            tables->status = cw_error_nomem(err);
        good = tables->status == CW_OK && add_kind(output, tables, &rows, arena);
    }
    for (int i = 0; good && i < TEXT_TABLES; i++) /* behind the kinds: CSV has the first table */
        output->tables[output->table_count++] = texts[i];
    return tables->status;
}

void cw_timeline_tables_free(struct cw_timeline_tables *tables)
{
    for (int i = 0; tables && i < LISTS; i++)
        free_places(&tables->places[i], tables->t);
    if (tables)
        cw_trace_buffer_free(&tables->buffer);
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

/* The device of a group that is on one alone. */
static uint64_t device_of(const struct cw_timeline_groups *groups, const struct cw_timeline_group *g)
{
    const struct cw_timeline *t = groups->t;
    if (groups->by != CW_TIMELINE_BY_STREAM && groups->by != CW_TIMELINE_BY_DEVICE && t->data->device_count != 1)
        return UINT64_MAX;
    if (groups->by == CW_TIMELINE_BY_CALL || cw_timeline_by_ranges(groups->by))
        return t->data->device_count == 1 ? t->data->devices[0].index : UINT64_MAX;
    const uint32_t device = t->streams[t->gpu[g->first].stream].device;
    return device == CW_NO_TRACE_DEVICE ? UINT64_MAX : t->data->devices[device].index;
}

/* The stream of a group that is one. */
static uint64_t stream_of(const struct cw_timeline_groups *groups, const struct cw_timeline_group *g)
{
    const struct cw_timeline *t = groups->t;
    return groups->by == CW_TIMELINE_BY_STREAM ? t->streams[t->gpu[g->first].stream].stream : UINT64_MAX;
}

enum cw_group_kind cw_timeline_group_kind(enum cw_timeline_by by)
{
    return cw_timeline_by_ranges(by)                                    ? CW_GROUPS_OF_NVTX
           : by == CW_TIMELINE_BY_GRAPH                                 ? CW_GROUPS_OF_GRAPHS
           : by == CW_TIMELINE_BY_CALL                                  ? CW_GROUPS_OF_CALLS
           : by == CW_TIMELINE_BY_KERNEL || by == CW_TIMELINE_BY_FAMILY ? CW_GROUPS_OF_KERNELS
                                                                        : CW_GROUPS_OF_ITEMS;
}

struct cw_group_row cw_timeline_group_row(const struct cw_timeline_groups *groups, uint32_t group)
{
    const struct cw_timeline_group *g = &groups->items[group];
    const bool ran = g->count, opened = g->ranges; /* times are unknown without items */
    const bool kernel = groups->by == CW_TIMELINE_BY_KERNEL && groups->t->gpu[g->first].kind == CW_TRACE_KERNEL;
    const double mean = ran ? cw_timeline_group_mean(g) : NAN;
    return (struct cw_group_row){.name = "",
                                 .kernel = kernel ? groups->t->names[groups->t->gpu[g->first].name].text : "",
                                 .device = device_of(groups, g),
                                 .stream = stream_of(groups, g),
                                 .launches = g->count,
                                 .failed = g->failed,
                                 .ranges = g->ranges,
                                 .nodes = g->nodes,
                                 .other_thread = g->other_thread,
                                 .total = g->total,
                                 .share = groups->total > 0 ? g->total / groups->total : NAN,
                                 .mean = mean,
                                 .median = g->middle,
                                 .least = ran ? g->least : NAN,
                                 .greatest = ran ? g->greatest : NAN,
                                 .deviation = g->deviation,
                                 .spread = mean > 0 ? g->deviation / mean : NAN,
                                 .bytes = g->bytes,
                                 .own = g->own,
                                 .wall = opened ? g->wall : NAN,
                                 .fastest_wall = opened ? g->fastest : NAN,
                                 .median_wall = opened ? g->median : NAN,
                                 .slowest_wall = opened ? g->longest : NAN,
                                 .slowest_name = "",
                                 .slowest_start = INT64_MIN};
}

/* The texts of a row. False when out of memory. */
static bool add_texts(struct cw_group_row *row, const struct cw_timeline_groups *groups, uint32_t group,
                      struct cw_arena *arena)
{
    const struct cw_timeline *t = groups->t;
    const uint32_t slowest = groups->items[group].slowest;
    char text[CW_TIMELINE_NAME_SIZE];
    row->name = cw_arena_strdup(arena, cw_timeline_group_name(groups, group, text));
    if (cw_timeline_by_ranges(groups->by) && slowest != CW_TIMELINE_NONE) {
        row->slowest_name = cw_arena_strdup(arena, cw_timeline_path_text(t, t->ranges[slowest].path, text));
        row->slowest_start = (int64_t)t->ranges[slowest].start;
    }
    return row->name && row->slowest_name;
}

enum cw_status cw_timeline_rows_table(struct cw_output *output, const struct cw_timeline_rows *rows,
                                      struct cw_arena *arena, struct cw_error *err)
{
    size_t column_count;
    const struct cw_output_column *columns =
        cw_group_columns_of(cw_timeline_group_kind(rows->groups.by), &column_count, arena);
    struct cw_group_row *records = cw_arena_alloc(arena, rows->count, sizeof *records);
    if (!columns || !records)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < rows->count; i++) {
        records[i] = cw_timeline_group_row(&rows->groups, rows->rows[i]);
        if (!add_texts(&records[i], &rows->groups, rows->rows[i], arena))
            return cw_error_nomem(err);
    }
    output->tables[output->table_count++] = (struct cw_output_table){.name = "groups",
                                                                     .group = "group",
                                                                     .columns = columns,
                                                                     .column_count = column_count,
                                                                     .record_size = sizeof *records,
                                                                     .row_count = rows->count,
                                                                     .row = cw_output_array,
                                                                     .content = records};
    return CW_OK;
}

enum cw_status cw_timeline_rows_make(struct cw_timeline_rows *rows, const struct cw_timeline *t, enum cw_timeline_by by,
                                     const struct cw_timeline_keep *keep, bool spread, size_t top,
                                     struct cw_arena *arena, struct cw_error *err)
{
    *rows = (struct cw_timeline_rows){0};
    CW_TRY(cw_timeline_group(&rows->groups, by, t, keep, spread, arena, err));
    rows->rows = cw_arena_alloc(arena, rows->groups.count, sizeof *rows->rows);
    if (!rows->rows)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < rows->groups.count; i++)
        rows->rows[rows->count++] = i;
    if (top && rows->count > top) {
        rows->left = rows->count - (uint32_t)top;
        rows->count = (uint32_t)top;
    }
    return CW_OK;
}

enum cw_status cw_timeline_sections_make(struct cw_timeline_sections *s, const struct cw_timeline *t,
                                         const struct cw_timeline_keep *keep, size_t top, struct cw_arena *arena,
                                         struct cw_error *err)
{
    const struct {
        struct cw_timeline_rows *rows;
        enum cw_timeline_by by;
        bool wanted;
    } lists[] = {{&s->copies, CW_TIMELINE_BY_COPY, true},
                 {&s->ranges, CW_TIMELINE_BY_NVTX, t->range_count},
                 {&s->streams, CW_TIMELINE_BY_STREAM, t->stream_count > 1},
                 {&s->processes, CW_TIMELINE_BY_PROCESS, t->trace->process_count > 1},
                 {&s->calls, CW_TIMELINE_BY_CALL, true}};
    *s = (struct cw_timeline_sections){0};
    const bool part = keep && keep->within;
    CW_TRY(cw_timeline_use(&s->usage, t, part ? keep->within : NULL, part ? keep->within_count : 0, arena, err));
    if (!part)
        CW_TRY(cw_timeline_find_extra(&s->extra, t, arena, err));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].wanted)
            CW_TRY(cw_timeline_rows_make(lists[i].rows, t, lists[i].by, keep, false, top, arena, err));
    return CW_OK;
}
