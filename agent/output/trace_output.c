#define _GNU_SOURCE
#include "agent/output/trace_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_name.h"
#include "base/progress.h"
#include "image/data_chunks.h"

/* Limit on kept texts. Texts are kept for the names and notes of accounts, which come early: most_kept bytes in all,
 * and kept_of_each for every process in any case. With samples they also serve names of kernels. */
static const size_t most_kept = 8 << 20, most_kept_beside = 64 << 20, kept_of_each = 4 << 10;

struct cw_trace_output_file {
    char *path; /* "": another writer's file */
    struct cw_collector own, *out;
    struct cw_file_devices numbers;
    uint32_t process_count;
    uint64_t used; /* number of its last use */
};
/* Limit on open files, above the number of processes traced at the same time. The file unused for the longest time
 * rests. */
enum { MOST_OPEN_FILES = 300 };

struct cw_trace_output_process {
    struct cw_trace_output_file *file;
    uint32_t number, index; /* index: its number in the file */
    struct cw_trace_process about;
    struct cw_trace_device devices[CW_MOST_FILE_DEVICES];
    uint32_t text_count; /* including the first, empty one */
    uint32_t kept_count, kept_capacity;
    const char **kept; /* its first texts, beginning with "" */
    size_t kept_bytes;
    struct cw_trace_books books[CW_TRACE_KIND__COUNT];
    uint64_t dropped; /* records that CUPTI lost, of any kind */
};

/* Makes room for one more pointer. */
static bool grow(void *list, uint32_t count, uint32_t *capacity)
{
    void **items = *(void ***)list;
    if (count < *capacity)
        return true;
    const uint32_t wanted = *capacity ? 2 * *capacity : 16;
    items = realloc(items, wanted * sizeof *items);
    if (!items)
        return false;
    *(void ***)list = items;
    *capacity = wanted;
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* Called before a write: makes room for the file among the open ones. */
static struct cw_collector *use(struct cw_trace_output *o, struct cw_trace_output_file *file)
{
    struct cw_trace_output_file *oldest = NULL;
    uint32_t open = 0;
    file->used = ++o->uses;
    for (uint32_t i = 0; i < o->file_count && file->out == &file->own && file->own.fd < 0; i++) {
        struct cw_trace_output_file *other = o->files[i];
        open += other->own.fd >= 0;
        if (other->own.fd >= 0 && (!oldest || other->used < oldest->used))
            oldest = other;
    }
    if (open >= MOST_OPEN_FILES)
        cw_collector_rest(&oldest->own);
    return file->out;
}

static enum cw_status begin_file(struct cw_trace_output *o, struct cw_trace_output_file *file, struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_trace_write_kinds(&out);
    enum cw_status status = CW_OK;
    if (file->out == &file->own)
        status = cw_collector_open(use(o, file), file->path, o->force, &o->schema, err);
    if (status == CW_OK)
        return cw_collector_append(file->out, &out, err);
    cw_writer_free(&out);
    return status;
}

static enum cw_status open_file(struct cw_trace_output *o, const struct cw_file_name_parts *parts,
                                struct cw_trace_output_file **found, struct cw_error *err)
{
    char *path = NULL;
    enum cw_status status = CW_OK;
    if (!o->beside)
        status = cw_file_name(&path, o->pattern, parts, err);
    else if (!(path = strdup("")))
        status = cw_error_nomem(err);
    if (status != CW_OK)
        return status;
    for (uint32_t i = 0; i < o->file_count; i++)
        if (strcmp(o->files[i]->path, path) == 0) {
            free(path);
            *found = o->files[i];
            return CW_OK;
        }
    struct cw_trace_output_file *file =
        grow(&o->files, o->file_count, &o->file_capacity) ? calloc(1, sizeof *file) : NULL;
    if (!file) {
        free(path);
        return cw_error_nomem(err);
    }
    file->path = path;
    file->own.fd = -1;
    file->out = o->beside ? o->beside->out : &file->own;
    o->files[o->file_count++] = *found = file;
    return begin_file(o, file, err);
}

enum cw_status cw_trace_output_open(struct cw_trace_output *o, const char *pattern, bool force, const char *chip,
                                    const char *filter, struct cw_error *err)
{
    *o = (struct cw_trace_output){.pattern = pattern, .force = force, .filter = filter, .arena = cw_arena_create()};
    if (!o->arena)
        return cw_error_nomem(err);
    o->schema = (struct cw_schema){
        .chip = cw_arena_strdup(o->arena, chip), .producer = "counterworks " CW_VERSION, .profiler = CW_PROFILER_TRACE};
    if (!o->schema.chip)
        return cw_error_nomem(err);
    const struct cw_file_name_parts parts = {.process = (uint32_t)getpid()};
    struct cw_trace_output_file *file;
    if (!cw_file_name_of_process(pattern))
        return open_file(o, &parts, &file, err);
    char *name;
    enum cw_status status = cw_file_name(&name, pattern, &parts, err); /* checks the pattern */
    free(name);
    return status;
}

enum cw_status cw_trace_output_beside(struct cw_trace_output *o, const struct cw_trace_beside *beside,
                                      struct cw_error *err)
{
    *o = (struct cw_trace_output){.beside = beside, .arena = cw_arena_create()};
    return o->arena ? CW_OK : cw_error_nomem(err);
}

/* ---- processes and devices -------------------------------------------------------------------------------------- */

static const char *attribute(const struct cw_trace_process *process, const char *key)
{
    const struct cw_device as_device = {.attribute_count = process->attribute_count, .attributes = process->attributes};
    return cw_device_attribute(&as_device, key);
}

static enum cw_status write_process(struct cw_trace_output *o, const struct cw_trace_output_process *p,
                                    struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_trace_write_process(p->index, &p->about, &out);
    return cw_collector_append(use(o, p->file), &out, err);
}

/* Copies the attributes, and adds one for windows if there are any. */
static const struct cw_pair *copy_attributes(const struct cw_trace_process *process, const char *windows,
                                             struct cw_arena *arena)
{
    const uint32_t count = process->attribute_count;
    struct cw_pair *pairs = calloc((size_t)count + 1, sizeof *pairs);
    if (!pairs)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        pairs[i] = process->attributes[i];
    pairs[count] = (struct cw_pair){"windows", windows ? windows : ""};
    const struct cw_pair *copy = cw_pairs_copy(pairs, count + (windows != NULL), arena);
    free(pairs);
    return copy;
}

enum cw_status cw_trace_output_add_process(struct cw_trace_output *o, const struct cw_trace_process *process,
                                           uint32_t *index, struct cw_error *err)
{
    const struct cw_file_name_parts parts = {attribute(process, "host"), attribute(process, "rank"), process->pid};
    struct cw_trace_output_file *file = NULL;
    enum cw_status status = open_file(o, &parts, &file, err);
    if (status != CW_OK)
        return status;
    const bool windows = o->windows && *o->windows;
    const struct cw_pair *pairs = copy_attributes(process, windows ? o->windows : NULL, o->arena);
    struct cw_trace_output_process *p =
        pairs && grow(&o->processes, o->process_count, &o->process_capacity) ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return cw_error_nomem(err);
    *p = (struct cw_trace_output_process){
        .file = file, .number = o->process_count, .index = file->process_count, .text_count = 1};
    p->about = (struct cw_trace_process){.pid = process->pid,
                                         .attribute_count = process->attribute_count + windows,
                                         .attributes = pairs,
                                         .devices = p->devices};
    status = write_process(o, p, err);
    if (status != CW_OK) {
        free(p);
        return status;
    }
    file->process_count++;
    *index = o->process_count;
    o->processes[o->process_count++] = p;
    return CW_OK;
}

/* Writes a device without the rank, which the process has. */
static enum cw_status write_device(struct cw_trace_output *o, struct cw_trace_output_file *file,
                                   const struct cw_device *device, uint32_t number, struct cw_error *err)
{
    struct cw_pair *pairs = calloc((size_t)device->attribute_count + 1, sizeof *pairs);
    struct cw_device mine = {.index = number, .attributes = pairs};
    if (!pairs)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < device->attribute_count; i++)
        if (!cw_pair_is_rank(device->attributes[i].key))
            pairs[mine.attribute_count++] = device->attributes[i];
    if (o->filter && *o->filter)
        pairs[mine.attribute_count++] = (struct cw_pair){"filter", o->filter};
    enum cw_status status = cw_collector_device(use(o, file), &mine, err);
    free(pairs);
    return status;
}

enum cw_status cw_trace_output_add_device(struct cw_trace_output *o, uint32_t process, const struct cw_device *device,
                                          struct cw_error *err)
{
    struct cw_trace_output_process *p = o->processes[process];
    uint32_t number;
    bool is_new;
    for (uint32_t i = 0; i < p->about.device_count; i++)
        if (p->devices[i].number == device->index)
            return CW_OK;
    if (o->beside) {
        is_new = false;
        if (!o->beside->find_device(o->beside->user, device, &number))
            return CW_OK;
    } else if (p->about.device_count == CW_MOST_FILE_DEVICES ||
               !cw_file_devices_find(&p->file->numbers, device, &number, &is_new)) {
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "found a trace of more than %d GPUs, expected no more",
                            CW_MOST_FILE_DEVICES);
    }
    const enum cw_status status = is_new ? write_device(o, p->file, device, number, err) : CW_OK;
    if (status != CW_OK) {
        cw_file_devices_forget(&p->file->numbers);
        return status;
    }
    p->devices[p->about.device_count++] = (struct cw_trace_device){device->index, number};
    return write_process(o, p, err);
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* Keeps a text if there is room; otherwise only the file has it. */
static bool keep_text(struct cw_trace_output *o, struct cw_trace_output_process *p, const char *text)
{
    const size_t size = strlen(text) + sizeof(char *);
    const size_t most = o->beside ? most_kept_beside : most_kept;
    if (p->kept_count != p->text_count || (o->kept + size > most && p->kept_bytes + size > kept_of_each))
        return true;
    const char *copy = cw_arena_strdup(o->arena, text);
    if (!copy || !grow(&p->kept, p->kept_count, &p->kept_capacity))
        return false;
    p->kept[p->kept_count++] = copy;
    p->kept_bytes += size;
    o->kept += size;
    return true;
}

static const char *text_of(const struct cw_trace_output_process *p, uint64_t number)
{
    return number && number < p->kept_count ? p->kept[number] : "";
}

const char *cw_trace_output_text(const struct cw_trace_output *o, uint32_t process, uint64_t number)
{
    return text_of(o->processes[process], number);
}

enum cw_status cw_trace_output_texts(struct cw_trace_output *o, uint32_t process, const char *const *texts,
                                     uint32_t count, struct cw_error *err)
{
    struct cw_trace_output_process *p = o->processes[process];
    struct cw_writer out;
    if (!count)
        return CW_OK;
    if (count > UINT32_MAX - p->text_count)
        return cw_error_set(err, CW_ERR_INPUT, "a profiled process sent more than %" PRIu32 " texts", UINT32_MAX);
    cw_writer_init(&out);
    cw_trace_write_texts(p->index, p->text_count, texts, count, &out);
    enum cw_status status = cw_collector_append(use(o, p->file), &out, err);
    if (status == CW_OK && !p->kept_count) {
        if (!grow(&p->kept, 0, &p->kept_capacity))
            return cw_error_nomem(err);
        p->kept[p->kept_count++] = "";
    }
    for (uint32_t i = 0; i < count && status == CW_OK; i++, p->text_count++)
        status = keep_text(o, p, texts[i]) ? CW_OK : cw_error_nomem(err);
    return status;
}

static enum cw_status take_texts(struct cw_trace_output *o, uint32_t process, struct cw_reader *in,
                                 struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    const char *const *texts = NULL;
    if (!arena)
        return cw_error_nomem(err);
    cw_read_u32(in);
    const size_t pos = in->pos;
    const uint32_t first = cw_read_u32(in), count = cw_field_read_strings(in, arena, &texts, "texts");
    if (in->status == CW_OK && first != o->processes[process]->text_count)
        cw_reader_fail_at(in, pos, "found texts from number %" PRIu32 " on, expected %" PRIu32, first,
                          o->processes[process]->text_count);
    enum cw_status status = in->status;
    if (status == CW_OK)
        status = cw_trace_output_texts(o, process, texts, count, err);
    cw_arena_destroy(arena);
    return status;
}

/* ---- books ------------------------------------------------------------------------------------------------------ */

static void keep_note(struct cw_trace_output *o, enum cw_trace_kind kind, const char *text)
{
    uint32_t i = 0;
    while (i < o->note_count && strcmp(o->notes[i].text, text) != 0)
        i++;
    if (!*text || i == CW_MOST_TRACE_NOTES)
        return;
    if (i == o->note_count)
        o->notes[o->note_count++] = (struct cw_trace_note){0, text};
    o->notes[i].kinds |= CW_TRACE_BIT(kind);
}

/* The value of a field, 0 if unknown. */
static uint64_t known(const struct cw_trace_rows *rows, enum cw_trace_field field, uint32_t row)
{
    const uint64_t value = cw_trace_get(rows, field, row);
    return value == CW_TRACE_UNKNOWN ? 0 : value;
}

static void take_accounts(struct cw_trace_output *o, struct cw_trace_output_process *p,
                          const struct cw_trace_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const char *type = text_of(p, cw_trace_get(rows, CW_FIELD_TYPE, i));
        const enum cw_trace_kind kind = cw_trace_kind_find(type);
        if (strcmp(type, CW_TRACE_ALL_KINDS) == 0)
            p->dropped = known(rows, CW_FIELD_DROPPED, i);
        if (kind == CW_TRACE_KIND__COUNT)
            continue;
        const uint64_t launched = known(rows, CW_FIELD_LAUNCHED, i), recorded = known(rows, CW_FIELD_RECORDED, i);
        const uint64_t dropped = known(rows, CW_FIELD_DROPPED, i);
        const uint64_t missing = launched > recorded ? launched - recorded : 0;
        struct cw_trace_books *b = &p->books[kind];
        b->launched = launched;
        b->recorded = recorded;
        b->lost = missing > dropped ? missing : dropped;
        b->untimed = known(rows, CW_FIELD_UNTIMED, i);
        b->accounted = true;
        keep_note(o, kind, text_of(p, cw_trace_get(rows, CW_FIELD_NOTE, i)));
    }
}

struct cw_trace_books cw_trace_output_books(const struct cw_trace_output *o, enum cw_trace_kind kind)
{
    struct cw_trace_books all = {0};
    for (uint32_t i = 0; i < o->process_count; i++) {
        const struct cw_trace_books *b = &o->processes[i]->books[kind];
        all.rows += b->rows;
        all.launched += b->launched;
        all.recorded += b->recorded;
        all.lost += b->lost;
        all.untimed += b->untimed;
        all.accounted |= b->accounted;
    }
    return all;
}

uint64_t cw_trace_output_dropped(const struct cw_trace_output *o)
{
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < o->process_count; i++)
        dropped += o->processes[i]->dropped;
    return dropped;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* Notes when the devices of the rows were active, for their clocks. Rows of one device are mostly adjacent. */
static void see_devices(struct cw_trace_output_process *p, const struct cw_trace_rows *rows)
{
    const uint64_t *device = rows->column[CW_FIELD_DEVICE], *start = rows->column[CW_FIELD_START],
                   *end = rows->column[CW_FIELD_END];
    for (uint32_t i = 0, next; device && start && end && i < rows->count; i = next) {
        uint64_t from = UINT64_MAX, until = 0;
        for (next = i; next < rows->count && device[next] == device[i]; next++) {
            from = start[next] && start[next] < from ? start[next] : from;
            until = end[next] > until ? end[next] : until;
        }
        for (uint32_t d = 0; d < p->about.device_count; d++)
            if (p->devices[d].number == device[i])
                cw_collector_seen(p->file->out, p->devices[d].device, NULL, from, until);
    }
}

static enum cw_status write_block(struct cw_trace_output *o, struct cw_trace_output_process *p,
                                  const struct cw_trace_rows *rows, struct cw_error *err)
{
    const enum cw_trace_kind kind = (enum cw_trace_kind)rows->kind;
    const bool taken = o->beside && (kind == CW_TRACE_KERNEL || kind == CW_TRACE_SHAPE);
    struct cw_writer out;
    cw_writer_init(&out);
    if (!taken)
        cw_trace_write_rows(p->index, kind, rows->count, rows->columns, false, &out);
    enum cw_status status = taken ? o->beside->take_kernels(o->beside->user, p->number, rows, err)
                                  : cw_collector_append(use(o, p->file), &out, err);
    if (status != CW_OK)
        return status;
    p->books[kind].rows += rows->count;
    o->rows += rows->count;
    cw_progress_tell(0, 0, "%" PRIu64 " rows of %" PRIu32 " process%s", o->rows, o->process_count,
                     o->process_count == 1 ? "" : "es");
    if (kind == CW_TRACE_ACCOUNT)
        take_accounts(o, p, rows);
    if (!o->beside)
        see_devices(p, rows);
    return CW_OK;
}

enum cw_status cw_trace_output_rows(struct cw_trace_output *o, uint32_t process, enum cw_trace_kind kind,
                                    uint64_t count, const uint64_t *const *columns, struct cw_error *err)
{
    const struct cw_trace_kind_info *info = &cw_trace_kinds[kind];
    enum cw_status status = CW_OK;
    for (uint64_t done = 0; done < count && status == CW_OK; done += CW_TRACE_ROWS_MAX) {
        const uint64_t *part[CW_TRACE_KIND_FIELDS_MAX], left = count - done;
        struct cw_trace_rows rows = {
            .kind = kind, .count = left < CW_TRACE_ROWS_MAX ? (uint32_t)left : CW_TRACE_ROWS_MAX, .columns = part};
        for (uint32_t f = 0; f < info->field_count; f++)
            rows.column[info->fields[f]] = part[f] = columns[f] + done;
        status = write_block(o, o->processes[process], &rows, err);
    }
    return status;
}

static enum cw_status take_rows(struct cw_trace_output *o, uint32_t process, struct cw_reader *in, struct cw_error *err)
{
    struct cw_trace_output_process *p = o->processes[process];
    struct cw_trace_rows rows;
    enum cw_status status = cw_trace_rows_decode(&rows, in, p->text_count, &o->buffer);
    return status == CW_OK ? write_block(o, p, &rows, err) : status;
}

enum cw_status cw_trace_output_take_chunks(struct cw_trace_output *o, uint32_t process, struct cw_reader *in,
                                           struct cw_error *err)
{
    enum cw_status status = CW_OK;
    while (status == CW_OK) {
        struct cw_chunk chunk;
        struct cw_reader payload;
        bool found;
        status = cw_chunk_next(in, &chunk, &found, NULL);
        if (status != CW_OK || !found)
            break;
        cw_chunk_open(in, &chunk, &payload);
        if (chunk.type == CW_CHUNK_TRACE_TEXTS)
            status = take_texts(o, process, &payload, err);
        else if (chunk.type == CW_CHUNK_TRACE_ROWS)
            status = take_rows(o, process, &payload, err);
        else
            status = cw_error_set(err, CW_ERR_INPUT,
                                  "a profiled process sent a chunk %" PRIx32 ", expected TSTR or TREC", chunk.type);
        if (status == CW_OK)
            status = cw_chunk_finish(&payload, &chunk);
    }
    return status;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* A field of the last account of a kind, or of all kinds together (not `accounted`), for which only losses are
 * known. */
static uint64_t last_account(const struct cw_trace_books *b, uint8_t field, uint64_t type, uint64_t note)
{
    switch (field) {
    case CW_FIELD_TIME:
        return cw_clock_log_now_ns();
    case CW_FIELD_TYPE:
        return type;
    case CW_FIELD_LAUNCHED:
        return b->launched ? b->launched : CW_TRACE_UNKNOWN;
    case CW_FIELD_RECORDED:
        return !b->accounted && !b->rows ? CW_TRACE_UNKNOWN : b->recorded > b->rows ? b->recorded : b->rows;
    case CW_FIELD_DROPPED:
        return b->lost;
    case CW_FIELD_UNTIMED:
        return !b->accounted && !b->rows ? CW_TRACE_UNKNOWN : b->untimed;
    default:
        return note;
    }
}

/* Writes a last account for each kind that has one. */
static enum cw_status write_accounts(struct cw_trace_output *o, uint32_t process, const struct cw_trace_books *books,
                                     struct cw_error *err)
{
    const struct cw_trace_output_process *p = o->processes[process];
    const struct cw_trace_kind_info *account = &cw_trace_kinds[CW_TRACE_ACCOUNT];
    const char *texts[1 + CW_TRACE_KIND__COUNT] = {CW_TRACE_CUT};
    uint64_t values[CW_TRACE_KIND_FIELDS_MAX][CW_TRACE_KIND__COUNT];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    uint32_t count = 0;
    for (int kind = 0; kind <= CW_TRACE_ACCOUNT; kind++) { /* the place of the kind account stands for all kinds */
        const struct cw_trace_books all = {.lost = p->dropped}, *b = kind < CW_TRACE_ACCOUNT ? &books[kind] : &all;
        if (b == &all ? !p->dropped : !b->accounted && !b->rows)
            continue;
        for (uint32_t f = 0; f < account->field_count; f++)
            values[f][count] = last_account(b, account->fields[f], p->text_count + 1 + count, p->text_count);
        texts[1 + count++] = b == &all ? CW_TRACE_ALL_KINDS : cw_trace_kinds[kind].name;
    }
    for (uint32_t f = 0; f < account->field_count; f++)
        columns[f] = values[f];
    enum cw_status status = count ? cw_trace_output_texts(o, process, texts, 1 + count, err) : CW_OK;
    return status == CW_OK ? cw_trace_output_rows(o, process, CW_TRACE_ACCOUNT, count, columns, err) : status;
}

enum cw_status cw_trace_output_cut(struct cw_trace_output *o, uint32_t process, struct cw_error *err)
{
    return write_accounts(o, process, o->processes[process]->books, err);
}

/* Corrects the last account by the page: adds rows that were not sent, and launches without a record. */
static struct cw_trace_books settled(const struct cw_trace_books *kept, const struct cw_trace_page *page,
                                     enum cw_trace_kind kind)
{
    struct cw_trace_books b = *kept;
    const uint64_t seen = atomic_load(&page->rows[kind]), launched = cw_trace_page_launched(page, kind),
                   direct = launched ? atomic_load(&page->direct[kind]) : seen;
    const uint64_t unsent = seen > b.rows ? seen - b.rows : 0;
    b.launched = launched;
    b.recorded = direct > unsent ? direct - unsent : 0;
    const uint64_t missing = launched > b.recorded ? launched - b.recorded : 0;
    b.lost = missing > unsent ? missing : unsent; /* one launch of a graph may make many rows */
    b.untimed = atomic_load(&page->untimed[kind]);
    b.accounted = seen || launched;
    return b;
}

/* Writes the window that was open when the process was killed. */
static enum cw_status write_window(struct cw_trace_output *o, uint32_t process, uint64_t opened_ns,
                                   struct cw_error *err)
{
    const struct cw_trace_kind_info *window = &cw_trace_kinds[CW_TRACE_WINDOW];
    const uint64_t now = cw_clock_log_now_ns(), no_name = 0, *columns[CW_TRACE_KIND_FIELDS_MAX];
    for (uint32_t f = 0; f < window->field_count; f++)
        columns[f] = window->fields[f] == CW_FIELD_START ? &opened_ns
                     : window->fields[f] == CW_FIELD_END ? &now
                                                         : &no_name;
    return cw_trace_output_rows(o, process, CW_TRACE_WINDOW, 1, columns, err);
}

enum cw_status cw_trace_output_settle(struct cw_trace_output *o, uint32_t process, const struct cw_trace_page *page,
                                      struct cw_error *err)
{
    struct cw_trace_output_process *p = o->processes[process];
    struct cw_trace_books books[CW_TRACE_KIND__COUNT];
    const uint64_t dropped = atomic_load(&page->dropped);
    bool cut = dropped > p->dropped;
    p->dropped = cut ? dropped : p->dropped;
    for (int kind = 0; kind < CW_TRACE_ACCOUNT; kind++) {
        const struct cw_trace_books *last = &p->books[kind];
        books[kind] = settled(last, page, kind);
        cut = cut || books[kind].lost != last->lost || books[kind].launched != last->launched;
    }
    const uint64_t opened_ns = atomic_load(&page->opened_ns);
    enum cw_status status = opened_ns ? write_window(o, process, opened_ns, err) : CW_OK;
    return status == CW_OK && cut ? write_accounts(o, process, books, err) : status;
}

/* Counts lost rows as drops of the file. */
static void count_lost(struct cw_trace_output *o)
{
    for (uint32_t i = 0; i < o->process_count; i++) {
        uint64_t lost = 0;
        for (int kind = 0; kind < CW_TRACE_KIND__COUNT; kind++)
            lost += o->processes[i]->books[kind].lost;
        /* records dropped by CUPTI are among these, or of kinds that nobody counts */
        o->processes[i]->file->out->dropped += lost > o->processes[i]->dropped ? lost : o->processes[i]->dropped;
    }
    o->dropped = cw_trace_output_dropped(o);
}

enum cw_status cw_trace_output_end(struct cw_trace_output *o, const struct cw_program *program, struct cw_error *err)
{
    const struct cw_file_name_parts parts = {.process = (uint32_t)program->pid};
    struct cw_trace_output_file *file;
    enum cw_status status = CW_OK;
    if (!o->file_count) /* a program that did nothing leaves a file that says so */
        status = open_file(o, &parts, &file, err);
    count_lost(o);
    for (uint32_t i = 0; status == CW_OK && i < o->file_count; i++) {
        o->files[i]->out->clocks = o->clocks;
        status = cw_collector_end(o->files[i]->out, program->how, program->code, err);
    }
    return status;
}

void cw_trace_output_close(struct cw_trace_output *o)
{
    for (uint32_t i = 0; i < o->process_count; i++) {
        free(o->processes[i]->kept);
        free(o->processes[i]);
    }
    for (uint32_t i = 0; i < o->file_count; i++) {
        cw_collector_close(&o->files[i]->own);
        free(o->files[i]->path);
        free(o->files[i]);
    }
    free(o->processes);
    free(o->files);
    cw_trace_buffer_free(&o->buffer);
    cw_arena_destroy(o->arena);
    *o = (struct cw_trace_output){0};
}
