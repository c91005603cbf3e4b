#define _GNU_SOURCE
#include "agent/inject/modes/trace_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "agent/inject/ranges/mode.h"
#include "agent/inject/driver/wire.h"
#include "base/utf8.h"
#include "image/trace_data.h"

struct cw_trace_known { /* the number of a text or shape, by a 64-bit hash */
    uint64_t hash;
    uint32_t number; /* 0: an empty slot */
};

#define self cw_trace_sheets

/* Texts are sent when this many bytes wait. */
static const size_t most_pending = 1 << 20;

/* ---- beginning and end ------------------------------------------------------------------------------------------ */

static void number_fields(void)
{
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        for (uint32_t f = 0; f < cw_trace_kinds[k].field_count; f++)
            self->places[k][cw_trace_kinds[k].fields[f]] = (uint8_t)(f + 1);
}

static bool prepare(void)
{
    self->page = &self->early;
    self->texts = calloc(CW_TRACE_KNOWN_TEXTS, sizeof *self->texts);
    self->shapes = calloc(CW_TRACE_KNOWN_SHAPES, sizeof *self->shapes);
    if (!self->texts || !self->shapes)
        return false;
    number_fields();
    cw_writer_init(&self->pending);
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        cw_trace_text_number(cw_trace_kinds[k].name);
    cw_trace_text_number(CW_TRACE_ALL_KINDS);
    if (self->last_text != CW_TRACE_TEXT_OF_ALL) /* accounts name kinds by these numbers */
        return false;
    self->kinds = UINT64_MAX;
    self->begun = true;
    return true;
}

/* Whether rows may be kept, possibly until the setup is known. Needs the lock. */
static bool may_keep(void)
{
    const struct cw_inject_mode *mode = cw_inject->mode;
    if (mode && !mode->traces) /* another kind of capture is wanted */
        self->closed = true;
    if (self->closed || self->begun)
        return !self->closed;
    const bool agent = cw_wire->tried || cw_wire_variable(CW_AGENT_SOCKET_VARIABLE);
    self->closed = cw_inject->over || !agent || !prepare();
    return !self->closed;
}

/* Shares the page with the agent. Carries over earlier counts of wanted kinds. */
static bool share_page(uint64_t kinds)
{
    struct cw_trace_page *page = MAP_FAILED;
    if (cw_descriptor_take(&self->file, memfd_create("counterworks-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING)) &&
        cw_descriptor_may_grow(sizeof *page) && ftruncate(self->file.fd, sizeof *page) == 0 &&
        fcntl(self->file.fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
        page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, self->file.fd, 0);
    if (page == MAP_FAILED)
        return false;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (kinds & CW_TRACE_BIT(k)) {
            page->rows[k] = self->early.rows[k];
            page->lost[k] = self->early.lost[k];
        }
    self->page = page;
    return true;
}

bool cw_trace_rows_begin(uint64_t kinds, uint64_t early, int *page)
{
    errno = ENOMEM;
    if (self->closed || (!self->begun && !prepare()) || !share_page(kinds & early))
        return false;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (!(kinds & early & CW_TRACE_BIT(k)))
            self->tables[k].count = 0;
    self->kinds = kinds | CW_TRACE_BIT(CW_TRACE_SHAPE) | CW_TRACE_BIT(CW_TRACE_WINDOW) | CW_TRACE_BIT(CW_TRACE_ACCOUNT);
    self->known = true;
    *page = cw_descriptor_number(&self->file);
    return true;
}

void cw_trace_rows_lock(void)
{
    pthread_mutex_lock(&cw_trace_queue->lock);
}

void cw_trace_rows_unlock(void)
{
    pthread_mutex_unlock(&cw_trace_queue->lock);
}

bool cw_trace_rows_enter(void)
{
    if (!cw_inject_enter())
        return false;
    cw_trace_rows_lock();
    if (may_keep())
        return true;
    cw_trace_rows_unlock();
    cw_inject_leave();
    return false;
}

void cw_trace_rows_leave(void)
{
    cw_trace_rows_unlock();
    cw_inject_leave();
}

void cw_trace_rows_close(void)
{
    self->closed = true;
    cw_trace_queue_end();
}

void cw_trace_forget(void)
{
    const bool known = self->known;
    *self = (struct cw_trace_sheets){.closed = known}; /* another thread may have been changing its memory */
    *cw_trace_queue = (struct cw_trace_queue){0};
}

void cw_trace_rows_reset(void)
{
    if (self->page && self->page != &self->early)
        munmap(self->page, sizeof *self->page);
    cw_descriptor_close(&self->file);
    if (self->begun)
        cw_writer_free(&self->pending);
    free(self->texts);
    free(self->shapes);
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        free(self->tables[k].values);
    memset(self, 0, sizeof *self); /* too large for the stack */
    cw_trace_queue_reset();
}

/* ---- texts and shapes ------------------------------------------------------------------------------------------- */

/* Writes a TSTR chunk, as cw_trace_write_texts does. */
static void write_texts(struct cw_writer *out)
{
    const uint32_t count = self->last_text - self->sent;
    const char **texts = count ? malloc(count * sizeof *texts) : NULL;
    if (!texts) {
        out->status = count ? CW_ERR_NOMEM : out->status;
        return;
    }
    const uint8_t *at = self->pending.data;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size;
        memcpy(&size, at, sizeof size);
        texts[i] = (const char *)at + sizeof size;
        at += sizeof size + size + 1;
    }
    cw_trace_write_texts(0, self->sent + 1, texts, count, out);
    free(texts);
    self->sent = self->last_text;
    self->pending.size = 0;
}

/* Queues the written chunks. */
static void send(struct cw_writer *out)
{
    if ((out->size || out->status != CW_OK) && !cw_inject->over)
        cw_trace_queue_put(out);
    else
        cw_writer_free(out);
}

static void send_texts(void)
{
    struct cw_writer out;
    cw_writer_init(&out);
    write_texts(&out);
    send(&out);
}

/* The slot of a hash, or the free slot for it. */
static struct cw_trace_known *find(struct cw_trace_known *slots, uint32_t count, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (count - 1);
    while (slots[at].number && slots[at].hash != hash)
        at = (at + 1) & (count - 1);
    return &slots[at];
}

/* Forgets all entries of a full table; they get new numbers when they come again. */
static void forget_if_full(struct cw_trace_known *slots, uint32_t count, uint32_t *known)
{
    if (*known < count / 4 * 3)
        return;
    memset(slots, 0, count * sizeof *slots);
    *known = 0;
}

static uint32_t number_of(const char *text, size_t size)
{
    size = size < CW_TEXT_MAX ? size : CW_TEXT_MAX;
    if (!size)
        return 0;
    const uint64_t hash = XXH3_64bits(text, size);
    struct cw_trace_known *slot = find(self->texts, CW_TRACE_KNOWN_TEXTS, hash);
    if (slot->number)
        return slot->number;
    if (self->pending.size > most_pending && self->known && cw_trace_queue_has_room())
        send_texts();
    if (self->pending.size > 2 * most_pending)
        return 0;
    const size_t before = self->pending.size;
    cw_write_u32(&self->pending, (uint32_t)size);
    uint8_t *room = cw_write_room(&self->pending, size + 1);
    if (!room) {
        self->pending.size = before;
        self->pending.status = CW_OK;
        return 0;
    }
    memcpy(room, text, size);
    room[size] = 0;
    cw_utf8_force(room, size);
    forget_if_full(self->texts, CW_TRACE_KNOWN_TEXTS, &self->text_count);
    *find(self->texts, CW_TRACE_KNOWN_TEXTS, hash) = (struct cw_trace_known){hash, ++self->last_text};
    self->text_count++;
    return self->last_text;
}

uint32_t cw_trace_text_number(const char *text)
{
    return text ? number_of(text, strlen(text)) : 0;
}

uint32_t cw_trace_shape_find(uint64_t hash)
{
    return find(self->shapes, CW_TRACE_KNOWN_SHAPES, hash)->number;
}

uint32_t cw_trace_shape_add(uint64_t hash)
{
    forget_if_full(self->shapes, CW_TRACE_KNOWN_SHAPES, &self->shape_count);
    *find(self->shapes, CW_TRACE_KNOWN_SHAPES, hash) = (struct cw_trace_known){hash, ++self->last_shape};
    self->shape_count++;
    return self->last_shape;
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

static void write_table(struct cw_writer *out, enum cw_trace_kind kind)
{
    struct cw_trace_table *t = &self->tables[kind];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    if (!t->count) /* it may have no memory yet */
        return;
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++)
        columns[f] = t->values + (size_t)f * CW_TRACE_TABLE_ROWS;
    cw_trace_write_rows(0, kind, t->count, columns, true, out);
    t->count = 0;
}

/* Sends tables. Texts come before the rows that refer to them, and a kind's shapes before its launches. */
static void send_tables(enum cw_trace_kind first, enum cw_trace_kind last)
{
    struct cw_writer out;
    cw_writer_init(&out);
    write_texts(&out);
    if (first <= CW_TRACE_KERNEL)
        write_table(&out, CW_TRACE_SHAPE);
    for (enum cw_trace_kind k = first; k <= last; k++)
        write_table(&out, k);
    send(&out);
}

void cw_trace_rows_send(void)
{
    if (cw_trace_queue_has_room())
        send_tables(0, CW_TRACE_KIND__COUNT - 1);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* Whether rows of the kind are wanted; if so, counts one. */
static bool count_row(enum cw_trace_kind kind)
{
    if (self->closed || !self->begun || !(self->kinds & CW_TRACE_BIT(kind)))
        return false;
    atomic_fetch_add_explicit(&self->page->rows[kind], 1, memory_order_relaxed);
    return true;
}

static bool lose(enum cw_trace_kind kind)
{
    atomic_fetch_add_explicit(&self->page->lost[kind], 1, memory_order_relaxed);
    return false;
}

void cw_trace_row_lost(enum cw_trace_kind kind)
{
    if (count_row(kind))
        lose(kind);
}

/* Whether the table has room now. Others may have emptied it, or ended the trace, while this thread waited. */
static bool has_place(enum cw_trace_kind kind)
{
    const struct cw_trace_table *t = &self->tables[kind];
    if (t->count < CW_TRACE_TABLE_ROWS)
        return true;
    const bool room = self->known && cw_trace_queue_make_room() && !self->closed;
    if (room && t->count == CW_TRACE_TABLE_ROWS)
        send_tables(kind, kind);
    return room;
}

bool cw_trace_row_wanted(enum cw_trace_kind kind)
{
    return self->kinds & CW_TRACE_BIT(kind);
}

bool cw_trace_row(enum cw_trace_kind kind)
{
    struct cw_trace_table *t = &self->tables[kind];
    const struct cw_trace_kind_info *info = &cw_trace_kinds[kind];
    if (!count_row(kind))
        return false;
    if (!t->values)
        t->values = malloc((size_t)info->field_count * CW_TRACE_TABLE_ROWS * sizeof *t->values);
    if (!t->values || !has_place(kind))
        return lose(kind);
    self->kind = kind;
    self->row = t->count++;
    for (uint32_t f = 0; f < info->field_count; f++)
        t->values[(size_t)f * CW_TRACE_TABLE_ROWS + self->row] =
            cw_trace_unknown(cw_trace_fields[info->fields[f]].type);
    return true;
}

bool cw_trace_row_again(enum cw_trace_kind kind, enum cw_trace_field field, uint64_t value)
{
    const struct cw_trace_table *t = &self->tables[kind];
    const uint32_t place = self->places[kind][field];
    for (uint32_t row = place && !self->closed ? t->count : 0; row-- > 0;)
        if (t->values[(size_t)(place - 1) * CW_TRACE_TABLE_ROWS + row] == value) {
            self->kind = kind;
            self->row = row;
            return true;
        }
    return false;
}

void cw_trace_put(enum cw_trace_field field, uint64_t value)
{
    const uint32_t place = self->places[self->kind][field];
    if (place)
        self->tables[self->kind].values[(size_t)(place - 1) * CW_TRACE_TABLE_ROWS + self->row] = value;
}

void cw_trace_put_text(enum cw_trace_field field, const char *text)
{
    cw_trace_put(field, cw_trace_text_number(text));
}

/* ---- accounts ---------------------------------------------------------------------------------------------------- */

static uint64_t count_of(const _Atomic uint64_t *counts, enum cw_trace_kind kind)
{
    return atomic_load_explicit(&counts[kind], memory_order_relaxed);
}

static void put_account(uint32_t type, uint64_t launched, uint64_t recorded, uint64_t dropped, uint64_t untimed,
                        const char *note)
{
    const uint32_t note_text = cw_trace_text_number(note);
    if (!cw_trace_row(CW_TRACE_ACCOUNT))
        return;
    cw_trace_put(CW_FIELD_TIME, cw_inject_now_ns());
    cw_trace_put(CW_FIELD_TYPE, type);
    cw_trace_put(CW_FIELD_LAUNCHED, launched);
    cw_trace_put(CW_FIELD_RECORDED, recorded);
    cw_trace_put(CW_FIELD_DROPPED, dropped);
    cw_trace_put(CW_FIELD_UNTIMED, untimed);
    cw_trace_put(CW_FIELD_NOTE, note_text);
}

/* Sum of all counts in accounts, except those of accounts themselves. */
static uint64_t all_counts(void)
{
    const struct cw_trace_page *page = self->page;
    uint64_t sum = atomic_load(&page->dropped);
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++)
        sum += k == CW_TRACE_ACCOUNT ? 0 : count_of(page->launched, k) + count_of(page->rows, k);
    return sum;
}

/* Puts the account of a kind. CUPTI hands over its records, and there may have been no room for some. */
static void put_kind(const struct cw_trace_page *page, enum cw_trace_kind k)
{
    const bool counted = k == CW_TRACE_KERNEL || k == CW_TRACE_GRAPH;
    const uint64_t launched = cw_trace_page_launched(page, k), lost = count_of(page->lost, k),
                   had = count_of(counted ? page->direct : page->rows, k);
    put_account((uint32_t)k + 1, counted && launched ? launched : CW_TRACE_UNKNOWN, had > lost ? had - lost : 0,
                lost ? lost : CW_TRACE_UNKNOWN, count_of(page->untimed, k),
                lost ? "the program sent rows faster than the agent took them, or had too many ranges open" : NULL);
}

void cw_trace_accounts_put(void)
{
    const uint64_t all = all_counts();
    if (all == self->accounted || !cw_trace_queue_has_room())
        return;
    self->accounted = all;
    const struct cw_trace_page *page = self->page;
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (k != CW_TRACE_ACCOUNT && (count_of(page->launched, k) || count_of(page->rows, k)))
            put_kind(page, k);
    const uint64_t dropped = atomic_load(&page->dropped);
    if (dropped)
        put_account(CW_TRACE_TEXT_OF_ALL, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN, dropped, CW_TRACE_UNKNOWN, NULL);
}

void cw_trace_accounts_note(enum cw_trace_kind kind, const char *why)
{
    const bool all = kind == CW_TRACE_KIND__COUNT;
    put_account((uint32_t)kind + 1, CW_TRACE_UNKNOWN, all ? CW_TRACE_UNKNOWN : 0, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN,
                why);
}
