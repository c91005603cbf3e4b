#define _GNU_SOURCE
#include "agent/inject/modes/trace_nvtx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_COPIED = 2 << 20, /* bytes of texts of ranges opened outside windows */
    LABEL_TEXTS = 3
};
#define TEXTS_OF(label)                                                                                                \
    {                                                                                                                  \
        (label)->domain, (label)->name, (label)->payload_text                                                          \
    }

struct open_range { /* a range or mark */
    uint64_t id;    /* 0: pushed */
    uint64_t thread, domain, start_ns, color;
    struct cw_trace_payload payload;
    uint32_t category;
    uint32_t texts[LABEL_TEXTS]; /* their numbers, or: */
    char *copy;                  /* the texts, one behind another, while it is unknown whether they are wanted */
};

struct category {
    uint64_t domain;
    uint32_t category, name;
};

static struct {
    uint32_t count, category_count;
    struct open_range *open; /* room for CW_TRACE_MOST_OPEN, in the order of opening */
    struct cw_beyond beyond;
    size_t copied;      /* bytes */
    bool windows, shut; /* windows: the trace has windows; shut: none is open now */
    uint64_t closed_ns; /* time of the last closing; 0: none yet */
    struct category categories[CW_TRACE_MOST_CATEGORIES];
} state CW_STATE;
#define self (&state)

#define put cw_trace_put

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

static struct category *find_category(uint64_t domain, uint32_t category)
{
    for (uint32_t i = 0; i < self->category_count; i++)
        if (self->categories[i].category == category && self->categories[i].domain == domain)
            return &self->categories[i];
    return NULL;
}

static uint32_t category_name(uint64_t domain, uint32_t category)
{
    char number[16];
    const struct category *known = find_category(domain, category);
    if (known)
        return known->name;
    snprintf(number, sizeof number, "%u", category);
    return category ? cw_trace_text_number(number) : 0;
}

static struct open_range describe(uint64_t domain, uint64_t id, const struct cw_trace_label *label)
{
    return (struct open_range){.id = id,
                               .thread = cw_inject_thread(),
                               .domain = domain,
                               .start_ns = cw_inject_now_ns(),
                               .color = label->color,
                               .payload = label->payload,
                               .category = label->category};
}

/* Numbers texts of a label that stand one behind another. */
static void number_copied(struct open_range *o, const char *text)
{
    for (int i = 0; i < LABEL_TEXTS; i++, text += strlen(text) + 1)
        o->texts[i] = cw_trace_text_number(text);
}

static void number_texts(struct open_range *o, enum cw_trace_kind kind, const struct cw_trace_label *label)
{
    const char *const texts[LABEL_TEXTS] = TEXTS_OF(label);
    for (int i = 0; i < LABEL_TEXTS && cw_trace_row_wanted(kind); i++)
        o->texts[i] = cw_trace_text_number(texts[i]);
}

/* Copies the texts instead of numbering them: a numbered text is kept and sent to the agent, even if no window opens.
 * False if there is no room. */
static bool copy_texts(struct open_range *o, const struct cw_trace_label *label)
{
    const char *const texts[LABEL_TEXTS] = TEXTS_OF(label);
    size_t size = 0;
    for (int i = 0; i < LABEL_TEXTS; i++)
        size += strlen(texts[i] ? texts[i] : "") + 1;
    char *to = o->copy = self->copied + size <= MOST_COPIED ? malloc(size) : NULL;
    for (int i = 0; i < LABEL_TEXTS && to; i++)
        to = stpcpy(to, texts[i] ? texts[i] : "") + 1;
    self->copied += to ? size : 0;
    return to;
}

static void drop_copy(struct open_range *o)
{
    const char *end = o->copy;
    if (!end)
        return;
    for (int i = 0; i < LABEL_TEXTS; i++)
        end += strlen(end) + 1;
    self->copied -= (size_t)(end - o->copy);
    free(o->copy);
    o->copy = NULL;
}

static void put_label(const struct open_range *o)
{
    put(CW_FIELD_THREAD, o->thread);
    put(CW_FIELD_DOMAIN, o->texts[0]);
    put(CW_FIELD_NAME, o->texts[1]);
    put(CW_FIELD_PAYLOAD_TEXT, o->texts[2]);
    put(CW_FIELD_CATEGORY, category_name(o->domain, o->category));
    put(CW_FIELD_COLOR, o->color);
    put(CW_FIELD_PAYLOAD, o->payload.number);
    put(CW_FIELD_UNSIGNED_PAYLOAD, o->payload.large);
    put(CW_FIELD_REAL_PAYLOAD, o->payload.real);
}

static bool was_in_window(const struct open_range *o)
{
    return !self->shut || self->closed_ns >= o->start_ns;
}

static void put_range(struct open_range *o, uint64_t end_ns, uint64_t end_thread)
{
    const uint32_t type = cw_trace_text_number(o->id ? "start" : "push");
    if (o->copy)
        number_copied(o, o->copy);
    if (!cw_trace_row(CW_TRACE_NVTX_RANGE))
        return;
    put_label(o);
    put(CW_FIELD_START, o->start_ns);
    put(CW_FIELD_END, end_ns);
    put(CW_FIELD_END_THREAD, end_thread);
    put(CW_FIELD_TYPE, type);
}

void cw_trace_nvtx_window(bool open, uint64_t now_ns)
{
    if (!open && self->windows && !self->shut)
        self->closed_ns = now_ns;
    self->windows = true;
    self->shut = !open;
}

/* Adds an open range. False if there is no room. */
static bool keep_open(uint64_t domain, uint64_t id, const struct cw_trace_label *label)
{
    self->open = self->open ? self->open : calloc(CW_TRACE_MOST_OPEN, sizeof *self->open);
    if (!self->open || self->count == CW_TRACE_MOST_OPEN)
        return false;
    struct open_range *o = &self->open[self->count];
    *o = describe(domain, id, label);
    if (!self->shut)
        number_texts(o, CW_TRACE_NVTX_RANGE, label);
    else if (!copy_texts(o, label))
        return false;
    self->count++;
    return true;
}

void cw_trace_nvtx_open(uint64_t domain, uint64_t id, const struct cw_trace_label *label)
{
    if (!cw_trace_rows_enter())
        return;
    if (!keep_open(domain, id, label)) {
        if (!id)
            cw_beyond_push(&self->beyond, cw_inject_thread(), domain);
        if (!self->shut)
            cw_trace_row_lost(CW_TRACE_NVTX_RANGE);
    }
    cw_trace_rows_leave();
}

void cw_trace_nvtx_lost(void)
{
    if (!cw_trace_rows_enter())
        return;
    if (!self->shut)
        cw_trace_row_lost(CW_TRACE_NVTX_RANGE);
    cw_trace_rows_leave();
}

/* Finds the range that ends: by its number, or the innermost that the thread has pushed in the domain. */
static struct open_range *find(uint64_t domain, uint64_t id)
{
    const uint64_t thread = cw_inject_thread();
    if (!id && cw_beyond_pop(&self->beyond, thread, domain))
        return NULL;
    for (uint32_t i = self->count; i-- > 0;) {
        struct open_range *o = &self->open[i];
        if (id ? o->id == id : !o->id && o->thread == thread && o->domain == domain)
            return o;
    }
    return NULL;
}

void cw_trace_nvtx_close(uint64_t domain, uint64_t id)
{
    if (!cw_trace_rows_enter())
        return;
    struct open_range *found = find(domain, id);
    if (found) {
        struct open_range o = *found; /* while a row waits for room, ranges of other threads come and go */
        memmove(found, found + 1, (size_t)(self->open + --self->count - found) * sizeof *found);
        if (was_in_window(&o))
            put_range(&o, cw_inject_now_ns(), cw_inject_thread());
        drop_copy(&o);
    }
    cw_trace_rows_leave();
}

void cw_trace_nvtx_finish(void)
{
    while (self->count) {
        struct open_range o = self->open[--self->count];
        if (was_in_window(&o))
            put_range(&o, 0, CW_TRACE_UNKNOWN);
        drop_copy(&o);
    }
}

void cw_trace_nvtx_forget(void)
{
    self->count = self->category_count = self->beyond.count = 0;
    self->copied = 0;
    self->windows = self->shut = false;
    self->closed_ns = 0;
}

void cw_trace_nvtx_reset(void)
{
    while (self->count)
        drop_copy(&self->open[--self->count]);
    cw_trace_nvtx_forget();
}

void cw_trace_nvtx_mark(uint64_t domain, const struct cw_trace_label *label)
{
    if (!cw_trace_rows_enter())
        return;
    struct open_range mark = describe(domain, 0, label);
    if (!self->shut)
        number_texts(&mark, CW_TRACE_NVTX_MARK, label);
    const uint32_t step = self->shut ? 0 : cw_trace_text_number(label->step);
    if (!self->shut && cw_trace_row(CW_TRACE_NVTX_MARK)) {
        put_label(&mark);
        if (step)
            put(CW_FIELD_CATEGORY, step);
        put(CW_FIELD_TIME, mark.start_ns);
    }
    cw_trace_rows_leave();
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

void cw_trace_nvtx_category(uint64_t domain, uint32_t category, const char *name)
{
    if (!cw_trace_rows_enter())
        return;
    struct category *known = find_category(domain, category);
    if (!known && self->category_count < CW_TRACE_MOST_CATEGORIES)
        known = &self->categories[self->category_count++];
    if (known)
        *known = (struct category){domain, category, cw_trace_text_number(name)};
    cw_trace_rows_leave();
}

void cw_trace_nvtx_name(const char *type, uint64_t id, uint64_t context, const char *name)
{
    if (!cw_trace_rows_enter())
        return;
    const uint32_t type_text = cw_trace_text_number(type), name_text = cw_trace_text_number(name);
    if (cw_trace_row(CW_TRACE_NAME)) {
        put(CW_FIELD_TIME, cw_inject_now_ns());
        put(CW_FIELD_TYPE, type_text);
        put(CW_FIELD_ID, id);
        put(CW_FIELD_CONTEXT, context);
        put(CW_FIELD_NAME, name_text);
    }
    cw_trace_rows_leave();
}
