#include "image/capture_texts.h"

#include <stdlib.h>
#include <string.h>

#include "image/data_chunks.h"

/* ---- facts ------------------------------------------------------------------------------------------------------ */

/* The attributes that redaction knows; any other may be private. Numbers of a machine's make and versions of software
 * are no secret: values need them. */
static const struct cw_text_fact attributes[] = {
    {"host", CW_TEXT_PRIVATE},
    {"program", CW_TEXT_PRIVATE},
    {"filter", CW_TEXT_PRIVATE},
    {"sampled_ranges", CW_TEXT_PRIVATE},
    {"windows", CW_TEXT_PRIVATE},
    {"nvtx", CW_TEXT_WITHOUT_PATHS, CW_TEXT_OF_RANGES},
    {"kernels_not_counted", CW_TEXT_WITHOUT_PATHS},
    {"launches_not_counted", CW_TEXT_WITHOUT_PATHS},
    {"counted_until", CW_TEXT_WITHOUT_PATHS},
    {"name", CW_TEXT_KEPT},
    {"chip", CW_TEXT_KEPT},
    {"backend", CW_TEXT_KEPT},
    {"simulated", CW_TEXT_KEPT},
    {"ids", CW_TEXT_KEPT},
    {"seed", CW_TEXT_KEPT},
    {"pci", CW_TEXT_KEPT},
    {"uuid", CW_TEXT_PRIVATE, CW_TEXT_UUID},
    {"numa_node", CW_TEXT_KEPT},
    {"ecc", CW_TEXT_KEPT},
    {"mig", CW_TEXT_KEPT},
    {"pcie", CW_TEXT_KEPT},
    {"nvlinks", CW_TEXT_KEPT},
    {"peers", CW_TEXT_KEPT},
    {"driver", CW_TEXT_KEPT},
    {"cuda_driver", CW_TEXT_KEPT},
    {"cupti", CW_TEXT_KEPT},
    {"rank", CW_TEXT_KEPT},
    {"ranks", CW_TEXT_KEPT},
    {"clock", CW_TEXT_KEPT},
    {"kernels", CW_TEXT_KEPT},
    {"multiprocessors", CW_TEXT_KEPT},
    {"warp_size", CW_TEXT_KEPT},
    {"compute_capability_major", CW_TEXT_KEPT},
    {"compute_capability_minor", CW_TEXT_KEPT},
    {"clock_khz", CW_TEXT_KEPT},
    {"memory_clock_khz", CW_TEXT_KEPT},
    {"memory_bus_bits", CW_TEXT_KEPT},
    {"l2_bytes", CW_TEXT_KEPT},
    {"memory_bytes", CW_TEXT_KEPT},
    {"max_threads_per_multiprocessor", CW_TEXT_KEPT},
    {"max_blocks_per_multiprocessor", CW_TEXT_KEPT},
    {"max_registers_per_multiprocessor", CW_TEXT_KEPT},
    {"max_shared_memory_per_multiprocessor", CW_TEXT_KEPT},
    {"max_threads_per_block", CW_TEXT_KEPT},
    {"max_registers_per_block", CW_TEXT_KEPT},
    {"max_shared_memory_per_block", CW_TEXT_KEPT},
    {"max_shared_memory_per_block_optin", CW_TEXT_KEPT},
    {"reserved_shared_memory_per_block", CW_TEXT_KEPT},
    {"steady", CW_TEXT_KEPT},
    {"steady_begin_ns", CW_TEXT_KEPT},
    {"steady_period_ns", CW_TEXT_KEPT},
    {"steady_period_launches", CW_TEXT_KEPT},
    {"steady_periods", CW_TEXT_KEPT},
    {"steady_captured", CW_TEXT_KEPT},
    {"steady_share", CW_TEXT_KEPT},
    {"sampling_interval", CW_TEXT_KEPT},
    {"wanted_interval", CW_TEXT_KEPT},
    {"sampling_window", CW_TEXT_KEPT},
    {"replay", CW_TEXT_KEPT},
    {"cold", CW_TEXT_KEPT},
    {"scope", CW_TEXT_KEPT},
    {"once", CW_TEXT_WITHOUT_PATHS},
    {"period", CW_TEXT_KEPT},
    {"graphs", CW_TEXT_KEPT},
    {"graph_kernel", CW_TEXT_KEPT},
    {"runs", CW_TEXT_KEPT},
};
static const struct cw_text_fact unknown_attribute = {"unknown attribute", CW_TEXT_PRIVATE},
                                 unknown_key = {"unknown key", CW_TEXT_PRIVATE},
                                 unknown_kind = {"unknown kind", CW_TEXT_PRIVATE},
                                 unknown_field = {"unknown field", CW_TEXT_PRIVATE};

static const struct cw_text_fact uses_of_texts[CW_USE__COUNT] = {
    [CW_USE_NONE] = {"unused text", CW_TEXT_PRIVATE},
    [CW_USE_LABEL] = {"label", CW_TEXT_PRIVATE},
    [CW_USE_WINDOW] = {"window", CW_TEXT_PRIVATE},
    [CW_USE_PAYLOAD] = {"payload", CW_TEXT_PRIVATE},
    [CW_USE_NAME] = {"name", CW_TEXT_WITHOUT_PATHS},
    [CW_USE_KERNEL] = {"kernel", CW_TEXT_WITHOUT_PATHS},
    [CW_USE_NVTX] = {"NVTX name", CW_TEXT_WITHOUT_PATHS},
    [CW_USE_NOTE] = {"note", CW_TEXT_WITHOUT_PATHS},
    [CW_USE_CALLER] = {"caller", CW_TEXT_PRIVATE},
    [CW_USE_FILE] = {"file", CW_TEXT_PRIVATE},
    [CW_USE_UUID] = {"uuid", CW_TEXT_PRIVATE, CW_TEXT_UUID},
    [CW_USE_UNKNOWN] = {"unknown text", CW_TEXT_PRIVATE},
    [CW_USE_WORD] = {"word", CW_TEXT_KEPT},
};
static const struct cw_text_fact ranges = {"range", CW_TEXT_WITHOUT_PATHS},
                                 user_ranges = {"range", CW_TEXT_WITHOUT_PATHS, CW_TEXT_OF_RANGES},
                                 kernels = {"kernel", CW_TEXT_WITHOUT_PATHS},
                                 functions = {"function", CW_TEXT_WITHOUT_PATHS};

static const struct cw_text_fact *fact_of_attribute(const char *key)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (strcmp(attributes[i].name, key) == 0)
            return &attributes[i];
    return &unknown_attribute;
}

/* ---- texts of a trace ------------------------------------------------------------------------------------------- */

static enum cw_trace_use use_of_name(enum cw_trace_kind kind)
{
    switch (kind) {
    case CW_TRACE_SHAPE:
    case CW_TRACE_NODE:
        return CW_USE_KERNEL;
    case CW_TRACE_NVTX_RANGE:
    case CW_TRACE_NVTX_MARK:
        return CW_USE_NVTX;
    case CW_TRACE_NAME:
        return CW_USE_LABEL;
    case CW_TRACE_WINDOW:
        return CW_USE_WINDOW;
    case CW_TRACE_DRIVER:
    case CW_TRACE_RUNTIME:
        return CW_USE_WORD;
    case CW_TRACE_INTERNAL:
    case CW_TRACE_ALLOCATION:
    case CW_TRACE_OPENACC:
        return CW_USE_NAME;
    default:
        return CW_USE_UNKNOWN;
    }
}

/* A field that is not listed here is private. */
static enum cw_trace_use use_of(enum cw_trace_kind kind, enum cw_trace_field field)
{
    if (kind == CW_TRACE_KIND__COUNT)
        return CW_USE_UNKNOWN;
    switch (field) {
    case CW_FIELD_FILE:
        return CW_USE_FILE;
    case CW_FIELD_CALLER:
        return CW_USE_CALLER;
    case CW_FIELD_NOTE:
        return CW_USE_NOTE;
    case CW_FIELD_DOMAIN:
    case CW_FIELD_CATEGORY:
        return CW_USE_NVTX;
    case CW_FIELD_PAYLOAD_TEXT:
        return CW_USE_PAYLOAD;
    case CW_FIELD_NAME:
        return use_of_name(kind);
    case CW_FIELD_SOURCE:
    case CW_FIELD_TARGET:
        return kind == CW_TRACE_LINK ? CW_USE_UUID : CW_USE_WORD;
    case CW_FIELD_TYPE:
    case CW_FIELD_CHANNEL_TYPE:
    case CW_FIELD_CACHE_REQUESTED:
    case CW_FIELD_CACHE_EXECUTED:
    case CW_FIELD_LAUNCH:
    case CW_FIELD_WINDOW_HIT:
    case CW_FIELD_WINDOW_MISS:
    case CW_FIELD_DIRECTION:
    case CW_FIELD_MEMORY:
    case CW_FIELD_POOL_TYPE:
    case CW_FIELD_CAUSE:
    case CW_FIELD_SOURCE_PORTS:
    case CW_FIELD_TARGET_PORTS:
    case CW_FIELD_PEERS:
    case CW_FIELD_DEVICES:
    case CW_FIELD_SHARED_CONFIG:
    case CW_FIELD_LINK_ACCESS:
        return CW_USE_WORD;
    default:
        return CW_USE_UNKNOWN;
    }
}

/* Whether the end of a link is a place in the machine, such as "bus 0000:3f"; else it is a GPU by its UUID. */
static bool is_place(const char *end)
{
    static const char *const kinds[] = {"npu ", "bridge ", "bus ", "GPU "};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i]);
        if (strncmp(end, kinds[i], length) == 0)
            return end[length + strspn(end + length, "0123456789abcdef:")] == 0;
    }
    return strcmp(end, "CPU") == 0;
}

static void note_uses(uint8_t *of, const struct cw_trace_process *process, const uint64_t *texts, uint32_t count,
                      enum cw_trace_use use)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t one = use == CW_USE_UUID && is_place(process->texts[texts[i]]) ? CW_USE_WORD : (uint8_t)use;
        of[texts[i]] = one > of[texts[i]] ? one : of[texts[i]];
    }
}

static void note_numbers(struct cw_trace_numbers *n, const struct cw_trace_kind_field *field, const uint64_t *column,
                         uint32_t count)
{
    const bool payload = field->field == CW_FIELD_PAYLOAD || field->field == CW_FIELD_UNSIGNED_PAYLOAD ||
                         field->field == CW_FIELD_REAL_PAYLOAD;
    for (uint32_t i = 0; i < count; i++) {
        if (column[i] == cw_trace_unknown(field->type))
            continue;
        n->payloads += payload;
        n->addresses += field->type == CW_TRACE_ADDRESS;
        if (field->type == CW_TRACE_TIME) {
            n->first_ns = !n->first_ns || column[i] < n->first_ns ? column[i] : n->first_ns;
            n->last_ns = column[i] > n->last_ns ? column[i] : n->last_ns;
        }
    }
}

enum cw_status cw_trace_uses_find(uint8_t ***uses, struct cw_trace_numbers *numbers, const struct cw_trace *trace,
                                  struct cw_arena *arena, struct cw_error *err)
{
    struct cw_trace_buffer buffer = {0};
    struct cw_trace_rows rows;
    enum cw_status status = CW_OK;
    uint8_t **of = *uses = cw_arena_alloc(arena, trace->process_count, sizeof *of);
    for (uint32_t p = 0; of && p < trace->process_count; p++)
        if (!(of[p] = cw_arena_alloc(arena, trace->processes[p].text_count, 1)))
            of = NULL;
    if (!of)
        return cw_error_nomem(err);
    for (size_t b = 0; b < trace->block_count && status == CW_OK; b++) {
        status = cw_trace_read_rows(&rows, trace, b, &buffer, err);
        if (status != CW_OK)
            break;
        const struct cw_trace_kind_read *kind = &trace->kinds[rows.kind];
        for (uint32_t f = 0; f < kind->field_count; f++) {
            if (kind->fields[f].type == CW_TRACE_TEXT)
                note_uses(of[rows.process], &trace->processes[rows.process], rows.columns[f], rows.count,
                          use_of(kind->kind, kind->fields[f].field));
            else if (numbers)
                note_numbers(numbers, &kind->fields[f], rows.columns[f], rows.count);
        }
    }
    cw_trace_buffer_free(&buffer);
    return status;
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

struct taking {
    struct cw_reader in;
    struct cw_writer *out;
    cw_text_take *take;
    void *user;
    char text[CW_TEXT_MAX + 1];
};

static void copy(struct taking *t, size_t size)
{
    const uint8_t *bytes = cw_read_bytes(&t->in, size);
    if (bytes)
        cw_write_bytes(t->out, bytes, size);
}

static uint32_t copy_count(struct taking *t)
{
    const uint32_t count = cw_read_u32(&t->in);
    cw_write_u32(t->out, count);
    return count;
}

static const char *read_text(struct taking *t)
{
    const uint32_t size = cw_read_u32(&t->in);
    const uint8_t *bytes = size <= CW_TEXT_MAX ? cw_read_bytes(&t->in, size) : NULL;
    if (bytes)
        memcpy(t->text, bytes, size);
    t->text[bytes ? size : 0] = 0;
    return t->text;
}

/* `fact`: NULL for a word of the format, which stays. */
static void put_text(struct taking *t, const char *text, const struct cw_text_fact *fact)
{
    if (t->in.status != CW_OK)
        return;
    if (fact)
        text = t->take(t->user, fact, text);
    if (text)
        cw_write_string(t->out, text);
    else
        t->out->status = t->in.status = CW_ERR_NOMEM; /* nothing is taken behind it */
}

static void take_text(struct taking *t, const struct cw_text_fact *fact)
{
    put_text(t, read_text(t), fact);
}

static void take_texts(struct taking *t, const struct cw_text_fact *fact)
{
    for (uint32_t left = copy_count(t); left && t->in.status == CW_OK; left--)
        take_text(t, fact);
}

static void copy_text(struct taking *t)
{
    copy(t, copy_count(t));
}

static void copy_texts(struct taking *t)
{
    for (uint32_t left = copy_count(t); left && t->in.status == CW_OK; left--)
        copy_text(t);
}

static void take_pairs(struct taking *t)
{
    for (uint32_t left = copy_count(t); left && t->in.status == CW_OK; left--) {
        const struct cw_text_fact *fact = fact_of_attribute(read_text(t));
        put_text(t, t->text, fact == &unknown_attribute ? &unknown_key : NULL);
        take_text(t, fact);
    }
}

/* Takes the names of kinds and fields that this version does not know. */
static void take_kinds(struct taking *t)
{
    for (uint32_t left = copy_count(t); left && t->in.status == CW_OK; left--) {
        const char *kind = read_text(t);
        put_text(t, kind, cw_trace_kind_find(kind) == CW_TRACE_KIND__COUNT ? &unknown_kind : NULL);
        for (uint32_t fields = copy_count(t); fields && t->in.status == CW_OK; fields--) {
            const char *field = read_text(t);
            put_text(t, field, cw_trace_field_find(field) == CW_FIELD__COUNT ? &unknown_field : NULL);
            copy(t, 1); /* type */
        }
    }
}

/* A range without a kernel is the program's own, and its name is the path of the ranges around it. */
static void take_range(struct taking *t)
{
    const char *name = read_text(t);
    struct cw_reader behind = t->in;
    put_text(t, name, cw_read_u32(&behind) ? &ranges : &user_ranges);
    take_text(t, &kernels);
}

/* Takes the texts of a PCSM or SASS up to its records. */
static void take_batch(struct taking *t, uint32_t type)
{
    enum { PC_HEAD = 4 + 4 + 8 + 8 + 1 + 1 + 1 + 8 + 8 + 8, SASS_HEAD = 4 + 4 + 8 + 8 + 8 };
    copy(t, type == CW_CHUNK_PC ? PC_HEAD : SASS_HEAD);
    if (type == CW_CHUNK_PC)
        copy_texts(t);
    else
        for (uint32_t left = copy_count(t); left && t->in.status == CW_OK; left--) {
            copy_text(t);
            copy(t, 1); /* level */
        }
    take_texts(t, &functions);
}

/* Takes the texts of a TSTR, each by its use. */
static void take_trace_texts(struct taking *t, uint8_t *const *uses)
{
    const uint32_t process = copy_count(t), first = copy_count(t), count = copy_count(t);
    for (uint32_t i = 0; i < count && t->in.status == CW_OK; i++)
        take_text(t, &uses_of_texts[uses ? uses[process][first + i] : CW_USE_UNKNOWN]);
}

enum cw_status cw_capture_texts_take(const struct cw_chunk *chunk, uint8_t *const *uses, cw_text_take *take, void *user,
                                     struct cw_writer *out)
{
    struct taking t = {.out = out, .take = take, .user = user};
    cw_reader_quiet(&t.in, chunk->payload, chunk->size);
    switch (chunk->type) {
    case CW_CHUNK_RANGE:
        take_range(&t);
        break;
    case CW_CHUNK_ABOUT:
        take_pairs(&t);
        break;
    case CW_CHUNK_DEVICE:
        copy(&t, 4); /* device */
        take_pairs(&t);
        break;
    case CW_CHUNK_TRACE_PROCESS:
        copy(&t, 4 + 4); /* process, pid */
        take_pairs(&t);
        break;
    case CW_CHUNK_LAUNCHES:
        copy(&t, 4 + 8); /* process, dropped */
        take_texts(&t, &kernels);
        break;
    case CW_CHUNK_PC:
    case CW_CHUNK_SASS:
        take_batch(&t, chunk->type);
        break;
    case CW_CHUNK_UNCOUNTED:
        copy(&t, 4 + 4 + 4); /* device, process, kernels */
        take_text(&t, &kernels);
        break;
    case CW_CHUNK_TRACE_KINDS:
        take_kinds(&t);
        break;
    case CW_CHUNK_TRACE_TEXTS:
        take_trace_texts(&t, uses);
        break;
    default:
        break;
    }
    copy(&t, t.in.size - t.in.pos);
    return out->status;
}
