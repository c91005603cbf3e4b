#include "image/pc_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "image/chunk_walk.h"
#include "image/data_chunks.h"
#include "image/fields.h"

const char *const cw_sass_level_names[CW_SASS_LEVEL__COUNT] = {"gpu", "sm", "smsp"};

/* ---- instructions ----------------------------------------------------------------------------------------------- */

enum { INSTRUCTION_SIZE = 8 + 8 + 4 + 4 };

/* Consecutive records are mostly of one function; its name is then written once. */
static bool same_function(const struct cw_instruction *a, const struct cw_instruction *b)
{
    return a->function == b->function || strcmp(a->function, b->function) == 0;
}

static const struct cw_instruction *instruction(const void *records, size_t size, uint32_t i)
{
    return (const void *)((const char *)records + size * i);
}

/* Writes the list of functions; returns the index of each record's function, for the caller to free. If records return
 * to an earlier function, its name is repeated, which only costs bytes. `at` is the first member of a record. */
static uint32_t *write_functions(const void *records, size_t size, uint32_t count, struct cw_writer *out)
{
    uint32_t *indices = calloc((size_t)count + 1, sizeof *indices), n = 0;
    if (!indices) {
        out->status = CW_ERR_NOMEM;
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        n += i == 0 || !same_function(instruction(records, size, i), instruction(records, size, i - 1));
        indices[i] = n - 1;
    }
    cw_write_u32(out, n);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || indices[i] != indices[i - 1])
            cw_write_string(out, instruction(records, size, i)->function);
    return indices;
}

static void write_instruction(const struct cw_instruction *at, uint32_t function, struct cw_writer *out)
{
    cw_write_u64(out, at->module);
    cw_write_u64(out, at->pc);
    cw_write_u32(out, function);
    cw_write_u32(out, at->symbol);
}

static void read_instruction(struct cw_instruction *at, const char *const *functions, uint32_t function_count,
                             struct cw_reader *in)
{
    at->module = cw_read_u64(in);
    at->pc = cw_read_u64(in);
    uint32_t function = cw_field_read_index(in, function_count, "function");
    at->function = in->status == CW_OK ? functions[function] : "";
    at->symbol = cw_read_u32(in);
}

/* ---- PC samples ------------------------------------------------------------------------------------------------- */

void cw_pc_batch_write(const struct cw_pc_batch *b, struct cw_writer *out)
{
    cw_write_u32(out, b->device);
    cw_write_u32(out, b->process);
    cw_write_u64(out, b->start_ns);
    cw_write_u64(out, b->end_ns);
    cw_write_u8(out, (uint8_t)b->mode);
    cw_write_u8(out, b->period);
    cw_write_u8(out, b->buffer_full);
    cw_write_u64(out, b->total);
    cw_write_u64(out, b->dropped);
    cw_write_u64(out, b->other);
    cw_field_write_strings(out, b->reasons, b->reason_count);
    uint32_t *functions = write_functions(b->records, sizeof *b->records, b->record_count, out);
    cw_write_u32(out, b->record_count);
    for (uint32_t i = 0; functions && i < b->record_count; i++) {
        const struct cw_pc_record *r = &b->records[i];
        write_instruction(&r->at, functions[i], out);
        cw_write_u32(out, r->launch);
        cw_write_u32(out, r->stall_count);
        for (uint32_t k = 0; k < r->stall_count; k++) {
            cw_write_u32(out, r->stalls[k].reason);
            cw_write_u32(out, r->stalls[k].samples);
        }
    }
    free(functions);
}

static void read_stalls(struct cw_pc_record *r, uint32_t reasons, struct cw_reader *in, struct cw_arena *arena)
{
    r->stall_count = cw_read_count(in, 8, "stall reasons");
    struct cw_stall *stalls = cw_field_array(in, arena, r->stall_count, sizeof *stalls);
    for (uint32_t k = 0; k < r->stall_count && in->status == CW_OK; k++) {
        stalls[k].reason = cw_field_read_index(in, reasons, "stall reason");
        stalls[k].samples = cw_read_u32(in);
    }
    r->stalls = stalls;
}

void cw_pc_batch_read(struct cw_pc_batch *b, struct cw_reader *in, struct cw_arena *arena)
{
    *b = (struct cw_pc_batch){.device = cw_read_u32(in)};
    b->process = cw_read_u32(in);
    b->start_ns = cw_read_u64(in);
    b->end_ns = cw_read_u64(in);
    b->mode =
        (enum cw_pc_mode)cw_field_read_enum(in, CW_PC_MODE__COUNT, "sampling mode", "0 (continuous) or 1 (serialized)");
    b->period = cw_field_read_enum(in, 32, "sampling period", "an exponent below 32");
    b->buffer_full = cw_field_read_enum(in, 2, "a full buffer's flag", "0 or 1") != 0;
    b->total = cw_read_u64(in);
    b->dropped = cw_read_u64(in);
    b->other = cw_read_u64(in);
    b->reason_count = cw_field_read_strings(in, arena, &b->reasons, "stall reasons");
    const char *const *functions;
    uint32_t function_count = cw_field_read_strings(in, arena, &functions, "functions");
    b->record_count = cw_read_count(in, INSTRUCTION_SIZE + 8, "PC records");
    struct cw_pc_record *records = cw_field_array(in, arena, b->record_count, sizeof *records);
    for (uint32_t i = 0; i < b->record_count && in->status == CW_OK; i++) {
        read_instruction(&records[i].at, functions, function_count, in);
        records[i].launch = cw_read_u32(in);
        read_stalls(&records[i], b->reason_count, in, arena);
    }
    b->records = records;
}

static const char twin[] = "_not_issued";

bool cw_stall_reason_is_twin(const char *name)
{
    const size_t length = strlen(name), end = sizeof twin - 1;
    return length >= end && strcmp(name + length - end, twin) == 0;
}

/* Reasons of the PC sampling API by those of the older activity API, behind their prefixes. */
static const char sampled_prefix[] = "smsp__pcsamp_warps_issue_stalled_";
static const struct {
    const char *sampled, *legacy;
} reason_names[] = {
    {"selected", CW_STALL_LEGACY "NONE"},
    {"branch_resolving", CW_STALL_LEGACY "INST_FETCH"},
    {"no_instructions", CW_STALL_LEGACY "INST_FETCH"},
    {"short_scoreboard", CW_STALL_LEGACY "EXEC_DEPENDENCY"},
    {"wait", CW_STALL_LEGACY "EXEC_DEPENDENCY"},
    {"long_scoreboard", CW_STALL_LEGACY "MEMORY_DEPENDENCY"},
    {"tex_throttle", CW_STALL_LEGACY "TEXTURE"},
    {"barrier", CW_STALL_LEGACY "SYNC"},
    {"membar", CW_STALL_LEGACY "SYNC"},
    {"imc_miss", CW_STALL_LEGACY "CONSTANT_MEMORY_DEPENDENCY"},
    {"mio_throttle", CW_STALL_LEGACY "PIPE_BUSY"},
    {"math_pipe_throttle", CW_STALL_LEGACY "PIPE_BUSY"},
    {"drain", CW_STALL_LEGACY "MEMORY_THROTTLE"},
    {"lg_throttle", CW_STALL_LEGACY "MEMORY_THROTTLE"},
    {"not_selected", CW_STALL_LEGACY "NOT_SELECTED"},
    {"misc", CW_STALL_LEGACY "OTHER"},
    {"dispatch_stall", CW_STALL_LEGACY "OTHER"},
    {"sleeping", CW_STALL_LEGACY "SLEEPING"},
};

/* Whether `name` is the reason `sampled` or its twin, without the prefix. */
static bool is_short(const char *name, const char *sampled)
{
    const size_t length = strlen(sampled);
    if (strncmp(name, sampled_prefix, sizeof sampled_prefix - 1) != 0 ||
        strncmp(name + sizeof sampled_prefix - 1, sampled, length) != 0)
        return false;
    const char *rest = name + sizeof sampled_prefix - 1 + length;
    return !*rest || strcmp(rest, twin) == 0;
}

const char *cw_stall_reason_legacy(const char *name)
{
    for (size_t i = 0; i < sizeof reason_names / sizeof *reason_names; i++)
        if (is_short(name, reason_names[i].sampled))
            return reason_names[i].legacy;
    return NULL;
}

bool cw_stall_reason_is(const char *name, const char *wanted)
{
    const char *legacy = cw_stall_reason_legacy(name);
    return strcmp(name, wanted) == 0 || is_short(name, wanted) ||
           (legacy && (strcmp(legacy, wanted) == 0 || strcmp(legacy + sizeof CW_STALL_LEGACY - 1, wanted) == 0));
}

bool cw_pc_data_use_legacy_reasons(struct cw_pc_data *data, struct cw_arena *arena)
{
    struct cw_pc_batch *batches = cw_arena_alloc(arena, data->pc_count, sizeof *batches);
    bool good = batches != NULL;
    for (uint32_t i = 0; good && i < data->pc_count; i++) {
        batches[i] = data->pc[i];
        const char **reasons = cw_arena_alloc(arena, batches[i].reason_count, sizeof *reasons);
        good = reasons != NULL;
        for (uint32_t k = 0; good && k < batches[i].reason_count; k++) {
            const char *name = batches[i].reasons[k], *legacy = cw_stall_reason_legacy(name);
            reasons[k] = !legacy                         ? name
                         : cw_stall_reason_is_twin(name) ? cw_arena_printf(arena, "%s%s", legacy, twin)
                                                         : legacy;
            good = reasons[k] != NULL;
        }
        batches[i].reasons = reasons;
    }
    data->pc = batches;
    return good;
}

/* ---- SASS metrics ----------------------------------------------------------------------------------------------- */

void cw_sass_batch_write(const struct cw_sass_batch *b, struct cw_writer *out)
{
    cw_write_u32(out, b->device);
    cw_write_u32(out, b->process);
    cw_write_u64(out, b->start_ns);
    cw_write_u64(out, b->end_ns);
    cw_write_u64(out, b->dropped);
    cw_write_u32(out, b->metric_count);
    for (uint32_t m = 0; m < b->metric_count; m++) {
        cw_write_string(out, b->metrics[m].name);
        cw_write_u8(out, (uint8_t)b->metrics[m].level);
    }
    uint32_t *functions = write_functions(b->records, sizeof *b->records, b->record_count, out);
    cw_write_u32(out, b->record_count);
    for (uint32_t i = 0; functions && i < b->record_count; i++) {
        const struct cw_sass_record *r = &b->records[i];
        write_instruction(&r->at, functions[i], out);
        for (uint32_t m = 0; m < b->metric_count; m++) {
            cw_write_u32(out, r->counts[m]);
            for (uint32_t k = 0; k < r->counts[m]; k++)
                cw_write_u64(out, r->values[m][k]);
        }
    }
    free(functions);
}

static void read_metrics(struct cw_sass_batch *b, struct cw_reader *in, struct cw_arena *arena)
{
    b->metric_count = cw_read_count(in, 5, "SASS metrics");
    struct cw_sass_metric *metrics = cw_field_array(in, arena, b->metric_count, sizeof *metrics);
    for (uint32_t m = 0; m < b->metric_count && in->status == CW_OK; m++) {
        metrics[m].name = cw_read_string(in, arena);
        metrics[m].level =
            (enum cw_sass_level)cw_field_read_enum(in, CW_SASS_LEVEL__COUNT, "level", "0 (GPU), 1 (SM) or 2 (SMSP)");
    }
    b->metrics = metrics;
}

static void read_values(const struct cw_sass_batch *b, struct cw_sass_record *r, struct cw_reader *in,
                        struct cw_arena *arena)
{
    uint32_t *counts = cw_field_array(in, arena, b->metric_count, sizeof *counts);
    const uint64_t **lists = cw_field_array(in, arena, b->metric_count, sizeof *lists);
    for (uint32_t m = 0; m < b->metric_count && in->status == CW_OK; m++) {
        counts[m] = cw_read_count(in, 8, "values");
        uint64_t *values = cw_field_array(in, arena, counts[m], sizeof *values);
        for (uint32_t k = 0; k < counts[m] && in->status == CW_OK; k++)
            values[k] = cw_read_u64(in);
        lists[m] = values;
    }
    r->counts = counts;
    r->values = (const uint64_t *const *)lists;
}

void cw_sass_batch_read(struct cw_sass_batch *b, struct cw_reader *in, struct cw_arena *arena)
{
    *b = (struct cw_sass_batch){.device = cw_read_u32(in)};
    b->process = cw_read_u32(in);
    b->start_ns = cw_read_u64(in);
    b->end_ns = cw_read_u64(in);
    b->dropped = cw_read_u64(in);
    read_metrics(b, in, arena);
    const char *const *functions;
    uint32_t function_count = cw_field_read_strings(in, arena, &functions, "functions");
    b->record_count = cw_read_count(in, INSTRUCTION_SIZE + 4 * (size_t)b->metric_count, "SASS records");
    struct cw_sass_record *records = cw_field_array(in, arena, b->record_count, sizeof *records);
    for (uint32_t i = 0; i < b->record_count && in->status == CW_OK; i++) {
        read_instruction(&records[i].at, functions, function_count, in);
        read_values(b, &records[i], in, arena);
    }
    b->records = records;
}

/* ---- launches that were not counted ----------------------------------------------------------------------------- */

void cw_uncounted_write(const struct cw_uncounted *u, struct cw_writer *out)
{
    cw_write_u32(out, u->device);
    cw_write_u32(out, u->process);
    cw_write_u32(out, u->kernels);
    cw_write_string(out, u->example);
    cw_write_u64(out, u->graphs);
    cw_write_u64(out, u->launchers);
    cw_write_u64(out, u->others);
}

void cw_uncounted_read(struct cw_uncounted *u, struct cw_reader *in, struct cw_arena *arena)
{
    *u = (struct cw_uncounted){.device = cw_read_u32(in)};
    u->process = cw_read_u32(in);
    u->kernels = cw_read_u32(in);
    u->example = cw_read_string(in, arena);
    u->graphs = cw_read_u64(in);
    u->launchers = cw_read_u64(in);
    u->others = cw_read_u64(in);
}

bool cw_uncounted_any(const struct cw_uncounted *u)
{
    return u->kernels || u->graphs || u->launchers || u->others;
}

static uint64_t sum_of(uint64_t a, uint64_t b, uint64_t most)
{
    return b > most - a ? most : a + b;
}

void cw_uncounted_add(struct cw_uncounted *sum, const struct cw_uncounted *more)
{
    if (!sum->kernels)
        sum->example = more->example;
    sum->kernels = (uint32_t)sum_of(sum->kernels, more->kernels, UINT32_MAX);
    sum->graphs = sum_of(sum->graphs, more->graphs, UINT64_MAX);
    sum->launchers = sum_of(sum->launchers, more->launchers, UINT64_MAX);
    sum->others = sum_of(sum->others, more->others, UINT64_MAX);
}

const char *cw_uncounted_launches(const struct cw_uncounted *u, struct cw_arena *arena)
{
    const struct {
        uint64_t count;
        const char *of;
    } reasons[] = {{u->graphs, "of CUDA graphs"},
                   {u->launchers, "of kernels that launch others or work across GPUs"},
                   {u->others, "of kernels that were not patched"}};
    const char *text = "";
    for (size_t i = 0; text && i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].count)
            text =
                cw_arena_printf(arena, "%s%s%" PRIu64 " %s", text, *text ? ", " : "", reasons[i].count, reasons[i].of);
    return text;
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

void cw_module_write(const struct cw_module *module, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_MODULE, CW_CHUNK_OPTIONAL);
    cw_write_u64(out, module->crc);
    cw_write_bytes(out, module->code, module->size);
    cw_chunk_end(out, start);
}

static void write_payload(uint32_t type, const uint8_t *payload, size_t size, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, type, CW_CHUNK_OPTIONAL);
    cw_write_bytes(out, payload, size);
    cw_chunk_end(out, start);
}

void cw_pc_chunk_write(const uint8_t *payload, size_t size, struct cw_writer *out)
{
    write_payload(CW_CHUNK_PC, payload, size, out);
}

void cw_sass_chunk_write(const uint8_t *payload, size_t size, struct cw_writer *out)
{
    write_payload(CW_CHUNK_SASS, payload, size, out);
}

void cw_uncounted_chunk_write(const struct cw_uncounted *uncounted, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_UNCOUNTED, CW_CHUNK_OPTIONAL);
    cw_uncounted_write(uncounted, out);
    cw_chunk_end(out, start);
}

static void read_module(struct cw_module *module, struct cw_reader *in)
{
    module->crc = cw_read_u64(in);
    module->size = in->size - in->pos;
    module->code = cw_read_bytes(in, module->size);
}

struct chunk_list {
    struct cw_chunk *items;
    size_t count, capacity;
};

static enum cw_status add_chunk(struct chunk_list *list, const struct cw_chunk *chunk, struct cw_reader *file)
{
    if (list->count == UINT32_MAX)
        return cw_reader_fail(file, "found more than %" PRIu32 " chunks of a kind, expected no more", UINT32_MAX);
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        struct cw_chunk *grown = realloc(list->items, capacity * sizeof *grown);
        if (!grown)
            return cw_error_nomem(file->err);
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = *chunk;
    return CW_OK;
}

/* Lists the chunks and counts each kind. */
static enum cw_status list_chunks(struct chunk_list *list, struct cw_pc_data *data, struct cw_reader *file)
{
    const struct cw_input input = cw_input_of(file->data, file->size, file->source);
    struct cw_chunk_gaps gaps = {0};
    struct cw_chunk_walk walk;
    struct cw_chunk chunk;
    bool found = true;
    enum cw_status status = cw_chunk_walk_begin(&walk, &input, &cw_counter_data_kind, 0, file->err);
    walk.mends = &gaps;
    while (status == CW_OK && (status = cw_chunk_walk_next(&walk, &chunk, &found, NULL)) == CW_OK && found) {
        uint32_t *count = chunk.type == CW_CHUNK_MODULE ? &data->module_count
                          : chunk.type == CW_CHUNK_PC   ? &data->pc_count
                          : chunk.type == CW_CHUNK_SASS ? &data->sass_count
                                                        : NULL;
        if (count) {
            ++*count;
            status = add_chunk(list, &chunk, file);
        }
    }
    cw_chunk_walk_end(&walk);
    free(gaps.items);
    return status;
}

static enum cw_status read_chunks(struct cw_pc_data *data, const struct chunk_list *list, struct cw_reader *file,
                                  struct cw_arena *arena)
{
    struct cw_module *module = cw_field_array(file, arena, data->module_count, sizeof *module);
    struct cw_pc_batch *pc = cw_field_array(file, arena, data->pc_count, sizeof *pc);
    struct cw_sass_batch *sass = cw_field_array(file, arena, data->sass_count, sizeof *sass);
    data->modules = module;
    data->pc = pc;
    data->sass = sass;
    enum cw_status status = file->status;
    for (size_t i = 0; i < list->count && status == CW_OK; i++) {
        struct cw_reader in;
        cw_chunk_open(file, &list->items[i], &in);
        if (list->items[i].type == CW_CHUNK_MODULE)
            read_module(module++, &in);
        else if (list->items[i].type == CW_CHUNK_PC)
            cw_pc_batch_read(pc++, &in, arena);
        else
            cw_sass_batch_read(sass++, &in, arena);
        status = cw_chunk_finish(&in, &list->items[i]);
    }
    return status;
}

enum cw_status cw_pc_data_read(struct cw_pc_data *data, const void *bytes, size_t size, const char *source,
                               struct cw_arena *arena, struct cw_error *err)
{
    struct chunk_list list = {0};
    struct cw_reader file;
    *data = (struct cw_pc_data){0};
    cw_reader_init(&file, bytes, size, source, 0, err);
    enum cw_status status = list_chunks(&list, data, &file);
    if (status == CW_OK)
        status = read_chunks(data, &list, &file, arena);
    if (status != CW_OK)
        *data = (struct cw_pc_data){0};
    free(list.items);
    return status;
}
