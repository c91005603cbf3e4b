/* The rows of a trace as items of a timeline. Blocks are read twice: the first time finds lanes and counts their
 * items, so that the second can write each item to its place at once. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "eval/timeline/parts.h"
#include "eval/timeline/timeline.h"

static uint64_t get(const struct cw_trace_rows *rows, enum cw_trace_field field, uint32_t row)
{
    return cw_trace_get(rows, field, row);
}

/* A number of at most 32 bits; `otherwise` for larger and unknown ones. */
static uint32_t get32(const struct cw_trace_rows *rows, enum cw_trace_field field, uint32_t row, uint32_t otherwise)
{
    const uint64_t value = get(rows, field, row);
    return value < UINT32_MAX ? (uint32_t)value : otherwise;
}

static uint32_t get_name(const struct cw_timeline_work *w, const struct cw_trace_rows *rows, enum cw_trace_field field,
                         uint32_t row)
{
    return cw_timeline_name(w->t, rows->process, get(rows, field, row));
}

static bool is_timed(uint64_t start, uint64_t end)
{
    return start && end >= start;
}

/* Also widens the time of the trace. */
static bool has_time(struct cw_timeline *t, uint64_t start, uint64_t end)
{
    if (!is_timed(start, end))
        return false;
    t->start = !t->start || start < t->start ? start : t->start;
    t->end = end > t->end ? end : t->end;
    return true;
}

static struct cw_key stream_key(const struct cw_trace_rows *rows, uint32_t row)
{
    return (struct cw_key){{rows->process, get(rows, CW_FIELD_DEVICE, row), get(rows, CW_FIELD_CONTEXT, row),
                            get(rows, CW_FIELD_STREAM, row)}};
}

static bool find_thread(struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t row, uint32_t *thread)
{
    *thread = cw_keys_add(&w->threads, (struct cw_key){{rows->process, get(rows, CW_FIELD_THREAD, row), 0, 0}});
    return *thread != CW_NO_KEY;
}

/* ---- by kind ----------------------------------------------------------------------------------------------------- */

/* Takes a row. False when out of memory. */
typedef bool take_row(struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t row, uint32_t block);
/* Makes an item in a lane from a row that has a time. */
typedef void make_item(const struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t row, uint32_t block,
                       uint32_t lane, void *item);

static enum cw_trace_kind kind_of(const struct cw_timeline_work *w, const struct cw_trace_rows *rows)
{
    return w->t->trace->kinds[rows->kind].kind;
}

static void make_gpu(const struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t i, uint32_t block,
                     uint32_t lane, void *item)
{
    const enum cw_trace_kind kind = kind_of(w, rows);
    const uint32_t shape =
        kind == CW_TRACE_KERNEL && get(rows, CW_FIELD_SHAPE, i) != CW_TRACE_UNKNOWN
            ? cw_keys_find(&w->shapes, (struct cw_key){{rows->process, get(rows, CW_FIELD_SHAPE, i), 0, 0}})
            : CW_NO_KEY;
    *(struct cw_timeline_gpu *)item = (struct cw_timeline_gpu){
        .start = get(rows, CW_FIELD_START, i),
        .end = get(rows, CW_FIELD_END, i),
        .stream = lane,
        .correlation = get32(rows, CW_FIELD_CORRELATION, i, CW_TIMELINE_NONE),
        .bytes = get(rows, CW_FIELD_BYTES, i),
        .name = kind == CW_TRACE_COPY     ? get_name(w, rows, CW_FIELD_DIRECTION, i)
                : kind == CW_TRACE_MEMSET ? get_name(w, rows, CW_FIELD_MEMORY, i)
                : shape != CW_NO_KEY      ? w->t->shapes[shape].name
                                          : get_name(w, rows, CW_FIELD_NAME, i),
        .call = CW_TIMELINE_NONE,
        .shape = shape,
        .from = get_name(w, rows, CW_FIELD_SOURCE, i),
        .to = get_name(w, rows, CW_FIELD_TARGET, i),
        .block = block,
        .row = (uint16_t)i,
        .kind = (uint8_t)kind,
        .in_graph = kind != CW_TRACE_GRAPH && get32(rows, CW_FIELD_GRAPH, i, 0) != 0,
    };
}

static void make_call(const struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t i, uint32_t block,
                      uint32_t lane, void *item)
{
    *(struct cw_timeline_call *)item =
        (struct cw_timeline_call){.start = get(rows, CW_FIELD_START, i),
                                  .end = get(rows, CW_FIELD_END, i),
                                  .thread = lane,
                                  .correlation = get32(rows, CW_FIELD_CORRELATION, i, CW_TIMELINE_NONE),
                                  .name = get_name(w, rows, CW_FIELD_NAME, i),
                                  .result = get32(rows, CW_FIELD_RESULT, i, 0),
                                  .block = block,
                                  .row = (uint16_t)i,
                                  .kind = (uint8_t)kind_of(w, rows)};
}

static void make_range(const struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t i, uint32_t block,
                       uint32_t lane, void *item)
{
    const uint64_t end = get(rows, CW_FIELD_END, i);
    const char *type = cw_trace_text(w->t->trace, rows->process, get(rows, CW_FIELD_TYPE, i));
    *(struct cw_timeline_range *)item = (struct cw_timeline_range){.start = get(rows, CW_FIELD_START, i),
                                                                   .end = end ? end : w->t->end,
                                                                   .thread = lane,
                                                                   .domain = get_name(w, rows, CW_FIELD_DOMAIN, i),
                                                                   .name = get_name(w, rows, CW_FIELD_NAME, i),
                                                                   .color = get32(rows, CW_FIELD_COLOR, i, 0),
                                                                   .payload = get32(rows, CW_FIELD_PAYLOAD_TEXT, i, 0),
                                                                   .block = block,
                                                                   .row = (uint16_t)i,
                                                                   .pushed = type[0] != 's',
                                                                   .open = !end};
}

static void make_mark(const struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t i, uint32_t block,
                      uint32_t lane, void *item)
{
    const uint64_t time = get(rows, CW_FIELD_TIME, i);
    *(struct cw_timeline_mark *)item = (struct cw_timeline_mark){.start = time,
                                                                 .end = time,
                                                                 .thread = lane,
                                                                 .domain = get_name(w, rows, CW_FIELD_DOMAIN, i),
                                                                 .name = get_name(w, rows, CW_FIELD_NAME, i),
                                                                 .color = get32(rows, CW_FIELD_COLOR, i, 0),
                                                                 .block = block,
                                                                 .row = (uint16_t)i};
}

static bool take_wait(struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t i, uint32_t block)
{
    struct cw_timeline *t = w->t;
    const enum cw_trace_kind kind = t->trace->kinds[rows->kind].kind;
    const uint64_t start = get(rows, CW_FIELD_START, i), end = get(rows, CW_FIELD_END, i);
    uint32_t thread = CW_TIMELINE_NONE;
    if (!has_time(t, start, end)) {
        t->untimed[kind]++;
        return true;
    }
    if (get(rows, CW_FIELD_THREAD, i) != CW_TRACE_UNKNOWN && !find_thread(w, rows, i, &thread))
        return false;
    cw_timeline_step(t);
    t->waits[t->wait_count++] =
        (struct cw_timeline_wait){.start = start,
                                  .end = end,
                                  .process = rows->process,
                                  .correlation = get32(rows, CW_FIELD_CORRELATION, i, CW_TIMELINE_NONE),
                                  .type = get_name(w, rows, CW_FIELD_TYPE, i),
                                  .call = CW_TIMELINE_NONE,
                                  .thread = thread,
                                  .stream = CW_TIMELINE_NONE,
                                  .context = get(rows, CW_FIELD_CONTEXT, i),
                                  .event = get(rows, CW_FIELD_EVENT, i),
                                  .stream_number = get(rows, CW_FIELD_STREAM, i),
                                  .block = block,
                                  .row = (uint16_t)i,
                                  .kind = (uint8_t)kind};
    return true;
}

static bool take_shape(struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t i, uint32_t block)
{
    struct cw_timeline *t = w->t;
    const uint64_t id = get(rows, CW_FIELD_ID, i);
    const uint32_t at = cw_keys_add(&w->shapes, (struct cw_key){{rows->process, id, 0, 0}});
    (void)block;
    if (at == CW_NO_KEY || at < t->shape_count) /* repeated rows are equal */
        return at != CW_NO_KEY;
    struct cw_timeline_shape *shape = &t->shapes[t->shape_count++];
    *shape = (struct cw_timeline_shape){.process = rows->process,
                                        .name = get_name(w, rows, CW_FIELD_NAME, i),
                                        .id = id,
                                        .registers = get32(rows, CW_FIELD_REGISTERS, i, CW_TIMELINE_NONE),
                                        .static_shared = get(rows, CW_FIELD_STATIC_SHARED, i),
                                        .dynamic_shared = get(rows, CW_FIELD_DYNAMIC_SHARED, i),
                                        .local_per_thread = get(rows, CW_FIELD_LOCAL_PER_THREAD, i)};
    for (int a = 0; a < 3; a++) {
        shape->grid[a] = get32(rows, CW_FIELD_GRID_X + a, i, 0);
        shape->block[a] = get32(rows, CW_FIELD_BLOCK_X + a, i, 0);
        shape->cluster[a] = get32(rows, CW_FIELD_CLUSTER_X + a, i, 0);
    }
    return true;
}

static bool take_window(struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t i, uint32_t block)
{
    struct cw_timeline *t = w->t;
    const uint64_t start = get(rows, CW_FIELD_START, i), end = get(rows, CW_FIELD_END, i);
    (void)block;
    if (start)
        t->windows[t->window_count++] = (struct cw_timeline_window){start, end > start ? end : UINT64_MAX};
    return true;
}

/* The last row of a process and kind counts. */
static bool take_account(struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t i, uint32_t block)
{
    struct cw_timeline *t = w->t;
    (void)block;
    const uint32_t at =
        cw_keys_add(&w->accounts, (struct cw_key){{rows->process, get_name(w, rows, CW_FIELD_TYPE, i), 0, 0}});
    if (at == CW_NO_KEY)
        return false;
    t->account_count = w->accounts.count;
    t->cut[rows->process] =
        t->cut[rows->process] ||
        strcmp(cw_trace_text(t->trace, rows->process, get(rows, CW_FIELD_NOTE, i)), CW_TRACE_CUT) == 0;
    t->accounts[at] = (struct cw_timeline_account){
        .process = rows->process,
        .kind = cw_trace_text(t->trace, rows->process, get(rows, CW_FIELD_TYPE, i)),
        .note = cw_trace_text(t->trace, rows->process, get(rows, CW_FIELD_NOTE, i)),
        .launched = get(rows, CW_FIELD_LAUNCHED, i),
        .recorded = get(rows, CW_FIELD_RECORDED, i),
        .dropped = get(rows, CW_FIELD_DROPPED, i),
        .untimed = get(rows, CW_FIELD_UNTIMED, i),
    };
    return true;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

/* The most memory that a row may take, with its lane, its path and the room for sorting. */
enum { KEY = 2 * (sizeof(struct cw_key) + 2 * sizeof(uint32_t)), SORTING = 2 * sizeof(uint32_t) };
enum { OF_STREAM = KEY + sizeof(struct cw_timeline_stream), OF_THREAD = KEY + sizeof(struct cw_timeline_thread) };
enum { OF_PATH = KEY + sizeof(struct cw_timeline_path) };

/* A row of a kind is taken at once, or becomes an item in a lane. */
static const struct taken_kind {
    size_t cost;
    take_row *take;
    make_item *make;
    enum cw_timeline_laned list;
} taken_kinds[CW_TRACE_KIND__COUNT] = {
#define GPU sizeof(struct cw_timeline_gpu) + SORTING + OF_STREAM, NULL, make_gpu, CW_LANED_GPU
#define CALL sizeof(struct cw_timeline_call) + 2 * SORTING + OF_THREAD, NULL, make_call, CW_LANED_CALLS
    [CW_TRACE_KERNEL] = {GPU},
    [CW_TRACE_COPY] = {GPU},
    [CW_TRACE_MEMSET] = {GPU},
    [CW_TRACE_GRAPH] = {GPU},
    [CW_TRACE_DRIVER] = {CALL},
    [CW_TRACE_RUNTIME] = {CALL},
    [CW_TRACE_INTERNAL] = {CALL},
    [CW_TRACE_SYNC] = {sizeof(struct cw_timeline_wait) + SORTING, take_wait, NULL, 0},
    [CW_TRACE_OVERHEAD] = {sizeof(struct cw_timeline_wait) + SORTING + OF_THREAD, take_wait, NULL, 0},
    [CW_TRACE_JIT] = {sizeof(struct cw_timeline_wait) + SORTING + OF_THREAD, take_wait, NULL, 0},
    [CW_TRACE_NVTX_RANGE] = {sizeof(struct cw_timeline_range) + SORTING + OF_THREAD + OF_PATH, NULL, make_range,
                             CW_LANED_RANGES},
    [CW_TRACE_NVTX_MARK] = {sizeof(struct cw_timeline_mark) + SORTING + OF_THREAD, NULL, make_mark, CW_LANED_MARKS},
    [CW_TRACE_SHAPE] = {sizeof(struct cw_timeline_shape) + KEY, take_shape, NULL, 0},
    [CW_TRACE_WINDOW] = {sizeof(struct cw_timeline_window), take_window, NULL, 0},
    [CW_TRACE_ACCOUNT] = {sizeof(struct cw_timeline_account) + KEY, take_account, NULL, 0},
#undef GPU
#undef CALL
};

/* A row may take less than a byte of its file; rows of real captures take several. */
enum { BYTES_A_BYTE = 40, BYTES_FREE = 32 << 20 };

static enum cw_status count_rows(struct cw_timeline_work *w, size_t file_size)
{
    struct cw_timeline *t = w->t;
    double cost = 0;
    uint64_t all = 0;
    for (uint32_t k = 0; k < t->trace->kind_count; k++) {
        const struct cw_trace_kind_read *kind = &t->trace->kinds[k];
        if (kind->kind == CW_TRACE_KIND__COUNT)
            continue;
        t->rows[kind->kind] += kind->rows;
        cost += (double)kind->rows * (double)taken_kinds[kind->kind].cost;
        all += kind->rows;
    }
    if (all >= CW_TIMELINE_NONE || cost > (double)BYTES_A_BYTE * (double)file_size + BYTES_FREE)
        return cw_error_set(w->err, CW_ERR_INPUT,
                            "%s: found %" PRIu64 " rows in %zu bytes, expected fewer in a file of this size",
                            t->trace->source, all, file_size);
    return CW_OK;
}

static bool make_room(struct cw_timeline *t)
{
    const uint64_t *rows = t->rows;
    const uint64_t waits = rows[CW_TRACE_SYNC] + rows[CW_TRACE_OVERHEAD] + rows[CW_TRACE_JIT];
    t->waits = cw_large_alloc(t->large, waits + 1, sizeof *t->waits);
    t->shapes = calloc(rows[CW_TRACE_SHAPE] + 1, sizeof *t->shapes);
    t->windows = calloc(rows[CW_TRACE_WINDOW] + 1, sizeof *t->windows);
    t->accounts = calloc(rows[CW_TRACE_ACCOUNT] + 1, sizeof *t->accounts);
    t->cut = calloc((size_t)t->trace->process_count + 1, sizeof *t->cut);
    return t->cut && t->waits && t->shapes && t->windows && t->accounts;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

/* Begin and end of a row's item. */
static struct cw_timeline_window span_of(const struct cw_trace_rows *rows, enum cw_timeline_laned list, uint32_t row)
{
    if (list == CW_LANED_MARKS)
        return (struct cw_timeline_window){get(rows, CW_FIELD_TIME, row), get(rows, CW_FIELD_TIME, row)};
    const uint64_t start = get(rows, CW_FIELD_START, row), end = get(rows, CW_FIELD_END, row);
    return (struct cw_timeline_window){start, list == CW_LANED_RANGES && !end ? start : end};
}

static struct cw_key lane_key(const struct cw_trace_rows *rows, enum cw_timeline_laned list, uint32_t row)
{
    return list == CW_LANED_GPU ? stream_key(rows, row)
                                : (struct cw_key){{rows->process, get(rows, CW_FIELD_THREAD, row), 0, 0}};
}

/* Counts one more item in a lane. */
static bool add_count(struct cw_timeline_counts *counts, uint32_t lane)
{
    if (lane >= counts->room) {
        const size_t room = 2 * (size_t)lane + 16;
        uint32_t *grown = realloc(counts->items, room * sizeof *grown);
        if (!grown)
            return false;
        memset(grown + counts->room, 0, (room - counts->room) * sizeof *grown);
        *counts = (struct cw_timeline_counts){grown, room};
    }
    counts->items[lane]++;
    return true;
}

static bool count_item(struct cw_timeline_work *w, const struct cw_trace_rows *rows, uint32_t row, uint32_t block)
{
    const enum cw_trace_kind kind = kind_of(w, rows);
    const enum cw_timeline_laned list = taken_kinds[kind].list;
    const struct cw_timeline_window span = span_of(rows, list, row);
    (void)block;
    if (!has_time(w->t, span.start, span.end)) {
        w->t->untimed[kind]++;
        return true;
    }
    const uint32_t lane = cw_keys_add(list == CW_LANED_GPU ? &w->streams : &w->threads, lane_key(rows, list, row));
    return lane != CW_NO_KEY && add_count(&w->counts[list], lane);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Passes each row of a block to `take`; counting an item needs only its time and lane. */
static enum cw_status take_block(struct cw_timeline_work *w, size_t block, take_row *take,
                                 struct cw_trace_buffer *buffer)
{
    static const bool counted[CW_FIELD__COUNT] = {
        [CW_FIELD_START] = true,   [CW_FIELD_END] = true,    [CW_FIELD_TIME] = true,  [CW_FIELD_DEVICE] = true,
        [CW_FIELD_CONTEXT] = true, [CW_FIELD_STREAM] = true, [CW_FIELD_THREAD] = true};
    struct cw_trace_rows rows;
    enum cw_status status = take == count_item ? cw_trace_read_some(&rows, w->t->trace, block, counted, buffer, w->err)
                                               : cw_trace_read_rows(&rows, w->t->trace, block, buffer, w->err);
    for (uint32_t i = 0; status == CW_OK && i < rows.count; i++)
        if (!take(w, &rows, i, (uint32_t)block))
            status = cw_error_nomem(w->err);
    return status;
}

static const struct taken_kind *taken_of(const struct cw_trace *trace, size_t block)
{
    static const struct taken_kind none = {0};
    const enum cw_trace_kind kind = trace->kinds[trace->blocks[block].kind].kind;
    return kind == CW_TRACE_KIND__COUNT ? &none : &taken_kinds[kind];
}

/* Reads all blocks of shapes, then all others, so that a kernel finds its shape wherever it stands. */
static enum cw_status read_blocks(struct cw_timeline_work *w, bool shapes, struct cw_trace_buffer *buffer)
{
    const struct cw_trace *trace = w->t->trace;
    enum cw_status status = CW_OK;
    for (size_t b = 0; b < trace->block_count && status == CW_OK; b++) {
        const struct taken_kind *taken = taken_of(trace, b);
        if ((taken->take || taken->make) && (taken->take == take_shape) == shapes)
            status = take_block(w, b, taken->make ? count_item : taken->take, buffer);
    }
    return status;
}

static enum cw_status find_lanes(struct cw_timeline_work *w, size_t file_size)
{
    struct cw_trace_buffer buffer = {0};
    enum cw_status status = count_rows(w, file_size);
    if (status == CW_OK && !make_room(w->t))
        status = cw_error_nomem(w->err);
    if (status == CW_OK)
        status = read_blocks(w, true, &buffer);
    if (status == CW_OK)
        status = read_blocks(w, false, &buffer);
    cw_trace_buffer_free(&buffer);
    for (uint32_t p = 0; status == CW_OK && p < w->t->trace->process_count && !w->t->data->complete; p++)
        w->t->cut[p] = true;
    return status;
}

/* Appends items to their lanes. */
static void make_items(struct cw_timeline_work *w, const struct cw_trace_rows *rows, const struct taken_kind *kind,
                       uint32_t block)
{
    struct cw_timeline *t = w->t;
    const bool gpu = kind->list == CW_LANED_GPU;
    struct cw_key last = {{CW_TRACE_UNKNOWN}}; /* of no process */
    uint32_t lane = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct cw_timeline_window span = span_of(rows, kind->list, i);
        if (!is_timed(span.start, span.end))
            continue;
        const struct cw_key key = lane_key(rows, kind->list, i);
        if (memcmp(&key, &last, sizeof key) != 0)
            lane = (gpu ? w->stream_rank : w->thread_rank)[cw_keys_find(gpu ? &w->streams : &w->threads, key)];
        last = key;
        struct cw_timeline_list *list = cw_timeline_lane(t, kind->list, lane);
        const uint32_t at = list->first + list->count++;
        void *item = gpu                             ? (void *)&t->gpu[at]
                     : kind->list == CW_LANED_CALLS  ? (void *)&t->calls[at]
                     : kind->list == CW_LANED_RANGES ? (void *)&t->ranges[at]
                                                     : (void *)&t->marks[at];
        kind->make(w, rows, i, block, lane, item);
        cw_timeline_step(t);
    }
}

static enum cw_status read_items(struct cw_timeline_work *w)
{
    const struct cw_trace *trace = w->t->trace;
    struct cw_trace_buffer buffer = {0};
    enum cw_status status = CW_OK;
    for (size_t b = 0; b < trace->block_count && status == CW_OK; b++) {
        const struct taken_kind *kind = taken_of(trace, b);
        struct cw_trace_rows rows;
        if (!kind->make)
            continue;
        status = cw_trace_read_rows(&rows, trace, b, &buffer, w->err);
        if (status == CW_OK)
            make_items(w, &rows, kind, (uint32_t)b);
    }
    cw_trace_buffer_free(&buffer);
    return status;
}

/* ---- load -------------------------------------------------------------------------------------------------------- */

static enum cw_status load(struct cw_timeline_work *w, size_t file_size)
{
    CW_TRY(cw_timeline_join_names(w));
    CW_TRY(find_lanes(w, file_size));
    CW_TRY(cw_timeline_sort_lanes(w));
    CW_TRY(read_items(w));
    CW_TRY(cw_timeline_sort_items(w));
    CW_TRY(cw_timeline_find_calls(w));
    CW_TRY(cw_timeline_find_paths(w));
    CW_TRY(cw_timeline_measure_paths(w, file_size));
    CW_TRY(cw_timeline_show_names(w));
    return cw_timeline_tell_apart(w);
}

enum cw_status cw_timeline_load(struct cw_timeline *t, const struct cw_trace *trace, const struct cw_counter_data *data,
                                size_t file_size, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_timeline_work w = {.t = t, .arena = arena, .err = err};
    *t = (struct cw_timeline){.trace = trace, .data = data, .large = cw_arena_alloc(arena, 1, sizeof *t->large)};
    const enum cw_status status = t->large ? load(&w, file_size) : cw_error_nomem(err);
    struct cw_keys *const keys[] = {&w.streams, &w.threads, &w.shapes, &w.paths, &w.accounts};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cw_keys_free(keys[i]);
    for (int i = 0; i < CW_LANED__COUNT; i++)
        free(w.counts[i].items);
    if (t->large)
        cw_large_let_go(t->large);
    return status;
}
