/* Writes the trace of the program that a capture of ranges is of: trace_of_ranges IN.cwd TIMES SCALE OUT.cwd
 *
 * Its launches are those of IN.cwd, in their order and NVTX ranges, all of them TIMES times; a kernel takes SCALE times
 * what it took when it was counted. Graphs have as many kernels as they say, and a user range has one. Times begin with
 * those of IN.cwd; a stream runs one kernel after another. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "image/chunk.h"
#include "image/counter_data.h"
#include "image/trace_data.h"

enum { CALL_NS = 4000, LAUNCH_NS = 6000, BETWEEN_NS = 1000, DEPTH_MAX = 16, TEXTS_MAX = 1 << 16, BLOCK_ROWS = 4096 };

struct block {
    uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    uint32_t count;
};

struct making {
    const struct cw_counter_data *data;
    FILE *file;
    double scale;
    uint32_t process, pid; /* that is written: its number in the trace, and in the ranges */
    struct block blocks[CW_TRACE_KIND__COUNT];
    const char *texts[TEXTS_MAX];
    uint32_t text_count, shape_count, correlation, depth;
    uint64_t host, busy; /* the time of the thread, and until when the GPU is busy */
    struct open_range {
        char text[256];
        uint64_t start;
    } open[DEPTH_MAX];
    bool good;
};

static void put(struct making *m, struct cw_writer *out)
{
    m->good = m->good && out->status == CW_OK && (!out->size || fwrite(out->data, 1, out->size, m->file) == out->size);
    cw_writer_free(out);
    cw_writer_init(out);
}

static void flush(struct making *m, enum cw_trace_kind kind)
{
    struct block *b = &m->blocks[kind];
    struct cw_writer out;
    cw_writer_init(&out);
    if (b->count)
        cw_trace_write_rows(m->process, kind, b->count, (const uint64_t *const *)b->columns, false, &out);
    b->count = 0;
    put(m, &out);
}

/* A row of a kind, all of whose fields are not known yet. */
static void begin_row(struct making *m, enum cw_trace_kind kind)
{
    struct block *b = &m->blocks[kind];
    if (b->count == BLOCK_ROWS) {
        flush(m, CW_TRACE_SHAPE); /* what a kernel names stands before it */
        flush(m, kind);
    }
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++) {
        const enum cw_trace_type type = cw_trace_fields[cw_trace_kinds[kind].fields[f]].type;
        if (!b->columns[f] && !(b->columns[f] = calloc(BLOCK_ROWS, sizeof *b->columns[f])))
            exit(1);
        b->columns[f][b->count] = type == CW_TRACE_TEXT || type == CW_TRACE_TIME ? 0 : CW_TRACE_UNKNOWN;
    }
    b->count++;
}

static void set(struct making *m, enum cw_trace_kind kind, enum cw_trace_field field, uint64_t value)
{
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++)
        if (cw_trace_kinds[kind].fields[f] == field)
            m->blocks[kind].columns[f][m->blocks[kind].count - 1] = value;
}

static uint32_t text(struct making *m, const char *name)
{
    for (uint32_t i = m->text_count; i-- > 0;)
        if (strcmp(m->texts[i], name) == 0)
            return i + 1;
    if (m->text_count == TEXTS_MAX)
        exit(1);
    m->texts[m->text_count] = strdup(name);
    struct cw_writer out;
    cw_writer_init(&out);
    cw_trace_write_texts(m->process, m->text_count + 1, &m->texts[m->text_count], 1, &out);
    put(m, &out);
    return ++m->text_count;
}

/* ---- NVTX ranges ------------------------------------------------------------------------------------------------ */

static void pop(struct making *m)
{
    const struct open_range *range = &m->open[--m->depth];
    const char *at = strchr(range->text, '@');
    char domain[256] = "";
    if (at)
        snprintf(domain, sizeof domain, "%.*s", (int)(at - range->text), range->text);
    const uint32_t domain_text = at ? text(m, domain) : 0, name = text(m, at ? at + 1 : range->text);
    begin_row(m, CW_TRACE_NVTX_RANGE);
    set(m, CW_TRACE_NVTX_RANGE, CW_FIELD_START, range->start);
    set(m, CW_TRACE_NVTX_RANGE, CW_FIELD_END, m->host++);
    set(m, CW_TRACE_NVTX_RANGE, CW_FIELD_THREAD, m->pid);
    set(m, CW_TRACE_NVTX_RANGE, CW_FIELD_END_THREAD, m->pid);
    set(m, CW_TRACE_NVTX_RANGE, CW_FIELD_TYPE, text(m, "push"));
    set(m, CW_TRACE_NVTX_RANGE, CW_FIELD_DOMAIN, domain_text);
    set(m, CW_TRACE_NVTX_RANGE, CW_FIELD_NAME, name);
}

/* From the ranges that are open to those of a path. */
static void go_to(struct making *m, const char *path)
{
    uint32_t shared = 0;
    size_t length;
    const char *rest = path;
    for (; shared < m->depth; shared++, rest += length + (rest[length] == '/')) {
        length = strcspn(rest, "/");
        if (!length || strlen(m->open[shared].text) != length || strncmp(m->open[shared].text, rest, length) != 0)
            break;
    }
    while (m->depth > shared)
        pop(m);
    for (; *rest && m->depth < DEPTH_MAX; rest += length + (rest[length] == '/')) {
        length = strcspn(rest, "/");
        struct open_range *range = &m->open[m->depth++];
        snprintf(range->text, sizeof range->text, "%.*s", (int)length, rest);
        range->start = m->host++;
    }
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static double duration(const struct cw_counter_data *data, uint32_t range)
{
    double least = NAN;
    for (uint32_t p = 0; p < data->schema.pass_count; p++)
        if (data->ranges[range].durations[p] > 0)
            least = fmin(least, data->ranges[range].durations[p]);
    for (uint32_t c = 0; c < data->schema.counter_count; c++)
        if (strcmp(data->schema.counters[c].name, "gpu__time_duration") == 0 &&
            data->forms[(size_t)c * data->range_count + range] > CW_FORM_UNAVAILABLE)
            least = data->rollups[CW_SUM][(size_t)c * data->range_count + range];
    return isnan(least) ? 1000 : least;
}

static uint32_t add_shape(struct making *m, const char *name, const struct cw_range *range)
{
    static const enum cw_trace_field grid[] = {CW_FIELD_GRID_X, CW_FIELD_GRID_Y, CW_FIELD_GRID_Z},
                                     block[] = {CW_FIELD_BLOCK_X, CW_FIELD_BLOCK_Y, CW_FIELD_BLOCK_Z};
    const uint32_t number = text(m, name);
    begin_row(m, CW_TRACE_SHAPE);
    set(m, CW_TRACE_SHAPE, CW_FIELD_ID, m->shape_count);
    set(m, CW_TRACE_SHAPE, CW_FIELD_NAME, number);
    for (int d = 0; d < 3; d++) {
        set(m, CW_TRACE_SHAPE, grid[d], range->grid[d]);
        set(m, CW_TRACE_SHAPE, block[d], range->block[d]);
    }
    return m->shape_count++;
}

static void add_kernel(struct making *m, const struct cw_range *range, uint32_t shape, double ns, bool node)
{
    const uint64_t begins = m->host + LAUNCH_NS > m->busy + BETWEEN_NS ? m->host + LAUNCH_NS : m->busy + BETWEEN_NS;
    m->busy = begins + (uint64_t)ns;
    begin_row(m, CW_TRACE_KERNEL);
    set(m, CW_TRACE_KERNEL, CW_FIELD_START, begins);
    set(m, CW_TRACE_KERNEL, CW_FIELD_END, m->busy);
    set(m, CW_TRACE_KERNEL, CW_FIELD_DEVICE, m->data->devices[range->device].index);
    set(m, CW_TRACE_KERNEL, CW_FIELD_CONTEXT, 1);
    set(m, CW_TRACE_KERNEL, CW_FIELD_STREAM, range->stream ? range->stream % 1000 : 7);
    set(m, CW_TRACE_KERNEL, CW_FIELD_CORRELATION, m->correlation);
    set(m, CW_TRACE_KERNEL, CW_FIELD_SHAPE, shape);
    if (node)
        set(m, CW_TRACE_KERNEL, CW_FIELD_GRAPH, 1);
}

static void add_call(struct making *m, const char *name)
{
    const uint32_t number = text(m, name);
    begin_row(m, CW_TRACE_RUNTIME);
    set(m, CW_TRACE_RUNTIME, CW_FIELD_START, m->host);
    set(m, CW_TRACE_RUNTIME, CW_FIELD_END, m->host + CALL_NS);
    set(m, CW_TRACE_RUNTIME, CW_FIELD_THREAD, m->pid);
    set(m, CW_TRACE_RUNTIME, CW_FIELD_CORRELATION, ++m->correlation);
    set(m, CW_TRACE_RUNTIME, CW_FIELD_NAME, number);
    set(m, CW_TRACE_RUNTIME, CW_FIELD_RESULT, 0);
}

static void add_launch(struct making *m, uint32_t i, uint32_t *shapes)
{
    const struct cw_range *range = &m->data->ranges[i];
    const char *path = cw_range_attribute(range, "nvtx");
    const bool graph = strncmp(range->kernel, "graph (", 7) == 0;
    const uint32_t nodes = graph ? (uint32_t)strtoul(range->kernel + 7, NULL, 10) : 1;
    go_to(m, path ? path : *range->kernel ? "" : range->name);
    if (shapes[i] == UINT32_MAX)
        shapes[i] = add_shape(m, graph ? "node" : *range->kernel ? range->kernel : "in_range", range);
    add_call(m, graph ? "cudaGraphLaunch_v10000" : "cudaLaunchKernel_v7000");
    for (uint32_t n = 0; n < nodes; n++)
        add_kernel(m, range, shapes[i], duration(m->data, i) * m->scale / nodes, graph);
    m->host += CALL_NS + BETWEEN_NS + m->correlation * 2654435761u % 16384; /* a program is never even */
    if (!*range->kernel)                                                    /* each user range by itself */
        go_to(m, "");
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

static void write_process(struct making *m, uint32_t times)
{
    struct cw_trace_device devices[64];
    struct cw_pair attributes[2] = {{"program", "traced"}};
    uint32_t device_count = m->data->device_count < 64 ? m->data->device_count : 64;
    uint32_t *shapes = malloc((m->data->range_count + 1) * sizeof *shapes);
    struct cw_trace_process process = {
        .pid = m->pid, .attribute_count = 1, .attributes = attributes, .devices = devices};
    struct cw_writer out;
    cw_writer_init(&out);
    for (uint32_t d = 0; d < device_count; d++)
        devices[d] = (struct cw_trace_device){m->data->devices[d].index, m->data->devices[d].index};
    process.device_count = device_count;
    m->text_count = m->shape_count = m->correlation = m->depth = 0;
    m->host = m->busy = 0;
    for (uint32_t i = 0; i < m->data->range_count; i++) {
        const struct cw_range *range = &m->data->ranges[i];
        const char *rank = cw_range_attribute(range, "rank");
        shapes[i] = UINT32_MAX;
        if (range->process != m->pid)
            continue;
        m->host = m->host ? m->host : range->start_ns > 1000000 ? range->start_ns : 1700000000000000000u;
        if (rank)
            attributes[1] = (struct cw_pair){"rank", rank};
        process.attribute_count = rank ? 2 : process.attribute_count;
    }
    cw_trace_write_process(m->process, &process, &out);
    put(m, &out);
    for (uint32_t t = 0; t < times; t++)
        for (uint32_t i = 0; i < m->data->range_count; i++)
            if (m->data->ranges[i].process == m->pid)
                add_launch(m, i, shapes);
    go_to(m, "");
    flush(m, CW_TRACE_SHAPE);
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++)
        flush(m, k);
    free(shapes);
}

static void write_all(struct making *m, uint32_t times)
{
    const struct cw_schema schema = {
        .chip = m->data->schema.chip, .producer = m->data->schema.producer, .profiler = CW_PROFILER_TRACE};
    struct cw_writer out;
    cw_writer_init(&out);
    cw_schema_write_header(&schema, &out);
    cw_schema_write(&schema, &out);
    cw_trace_write_kinds(&out);
    for (uint32_t d = 0; d < m->data->device_count; d++)
        cw_counter_data_write_device(&schema, &m->data->devices[d], &out);
    put(m, &out);
    for (uint32_t i = 0; i < m->data->range_count; i++) {
        bool first = true;
        for (uint32_t k = 0; k < i && first; k++)
            first = m->data->ranges[k].process != m->data->ranges[i].process;
        m->pid = m->data->ranges[i].process;
        if (first)
            write_process(m, times);
        m->process += first;
    }
    cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, &out);
    put(m, &out);
}

int main(int argc, char **argv)
{
    static struct making m;
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data data;
    struct cw_bytes in;
    const uint32_t times = argc == 5 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (!times || cw_file_read(&in, argv[1], (size_t)1 << 31, NULL) != CW_OK ||
        cw_counter_data_read(&data, in.data, in.size, argv[1], arena, NULL) != CW_OK || !data.range_count) {
        fputs("usage: trace_of_ranges IN.cwd TIMES SCALE OUT.cwd\n", stderr);
        return 2;
    }
    m = (struct making){.data = &data, .scale = strtod(argv[3], NULL), .file = fopen(argv[4], "w"), .good = true};
    if (m.file)
        write_all(&m, times);
    const bool closed = m.file && fclose(m.file) == 0;
    cw_bytes_free(&in);
    cw_arena_destroy(arena);
    return m.good && closed ? 0 : 5;
}
