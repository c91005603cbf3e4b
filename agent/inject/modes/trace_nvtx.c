#include "agent/inject/modes/trace_nvtx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define self cw_trace_ranges
#define put cw_trace_put

/* Whether rows may be kept, with their lock held then. Without an agent nothing ever is. */
static bool enter(void)
{
    if (!cw_inject_enter())
        return false;
    cw_trace_rows_lock();
    if (cw_trace_rows_await())
        return true;
    cw_trace_rows_unlock();
    cw_inject_leave();
    return false;
}

static void leave(void)
{
    cw_trace_rows_unlock();
    cw_inject_leave();
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

static struct cw_trace_category *find_category(uint64_t domain, uint32_t category)
{
    for (uint32_t i = 0; i < self->category_count; i++)
        if (self->categories[i].category == category && self->categories[i].domain == domain)
            return &self->categories[i];
    return NULL;
}

static uint32_t category_name(uint64_t domain, uint32_t category)
{
    char number[16];
    const struct cw_trace_category *known = find_category(domain, category);
    if (known)
        return known->name;
    snprintf(number, sizeof number, "%u", category);
    return category ? cw_trace_text_number(number) : 0;
}

static struct cw_trace_open describe(uint64_t domain, uint64_t id, const struct cw_trace_label *label)
{
    return (struct cw_trace_open){.id = id,
                                  .thread = cw_inject_thread(),
                                  .domain = domain,
                                  .start_ns = cw_inject_now_ns(),
                                  .color = label->color,
                                  .payload = label->payload,
                                  .real_payload = label->real_payload,
                                  .domain_name = cw_trace_text_number(label->domain),
                                  .name = cw_trace_text_number(label->name),
                                  .category = category_name(domain, label->category)};
}

static void put_label(const struct cw_trace_open *o)
{
    put(CW_FIELD_THREAD, o->thread);
    put(CW_FIELD_DOMAIN, o->domain_name);
    put(CW_FIELD_NAME, o->name);
    put(CW_FIELD_CATEGORY, o->category);
    put(CW_FIELD_COLOR, o->color);
    put(CW_FIELD_PAYLOAD, o->payload);
    put(CW_FIELD_REAL_PAYLOAD, o->real_payload);
}

static void put_range(const struct cw_trace_open *o, uint64_t end_ns, uint64_t end_thread)
{
    const uint32_t type = cw_trace_text_number(o->id ? "start" : "push");
    if (!cw_trace_row(CW_TRACE_NVTX_RANGE))
        return;
    put_label(o);
    put(CW_FIELD_START, o->start_ns);
    put(CW_FIELD_END, end_ns);
    put(CW_FIELD_END_THREAD, end_thread);
    put(CW_FIELD_TYPE, type);
}

void cw_trace_nvtx_open(uint64_t domain, uint64_t id, const struct cw_trace_label *label)
{
    if (!enter())
        return;
    self->open = self->open ? self->open : calloc(CW_TRACE_MOST_OPEN, sizeof *self->open);
    if (self->open && self->count < CW_TRACE_MOST_OPEN)
        self->open[self->count++] = describe(domain, id, label);
    else
        cw_trace_row_lost(CW_TRACE_NVTX_RANGE);
    leave();
}

/* The range that ends: the one of that number, or the innermost that the thread has pushed in the domain. */
static struct cw_trace_open *find(uint64_t domain, uint64_t id)
{
    const uint64_t thread = cw_inject_thread();
    for (uint32_t i = self->count; i-- > 0;) {
        struct cw_trace_open *o = &self->open[i];
        if (id ? o->id == id : !o->id && o->thread == thread && o->domain == domain)
            return o;
    }
    return NULL;
}

void cw_trace_nvtx_close(uint64_t domain, uint64_t id)
{
    if (!enter())
        return;
    struct cw_trace_open *o = find(domain, id);
    if (o) {
        put_range(o, cw_inject_now_ns(), cw_inject_thread());
        memmove(o, o + 1, (size_t)(self->open + --self->count - o) * sizeof *o);
    }
    leave();
}

void cw_trace_nvtx_finish(void)
{
    for (uint32_t i = 0; i < self->count; i++)
        put_range(&self->open[i], 0, CW_TRACE_UNKNOWN);
    self->count = 0;
}

void cw_trace_nvtx_forget(void)
{
    self->count = self->category_count = 0;
}

void cw_trace_nvtx_mark(uint64_t domain, const struct cw_trace_label *label)
{
    if (!enter())
        return;
    const struct cw_trace_open mark = describe(domain, 0, label);
    if (cw_trace_row(CW_TRACE_NVTX_MARK)) {
        put_label(&mark);
        put(CW_FIELD_TIME, mark.start_ns);
    }
    leave();
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

void cw_trace_nvtx_category(uint64_t domain, uint32_t category, const char *name)
{
    if (!enter())
        return;
    struct cw_trace_category *known = find_category(domain, category);
    if (!known && self->category_count < CW_TRACE_MOST_CATEGORIES)
        known = &self->categories[self->category_count++];
    if (known)
        *known = (struct cw_trace_category){domain, category, cw_trace_text_number(name)};
    leave();
}

void cw_trace_nvtx_name(const char *type, uint64_t id, uint64_t context, const char *name)
{
    if (!enter())
        return;
    const uint32_t type_text = cw_trace_text_number(type), name_text = cw_trace_text_number(name);
    if (cw_trace_row(CW_TRACE_NAME)) {
        put(CW_FIELD_TIME, cw_inject_now_ns());
        put(CW_FIELD_TYPE, type_text);
        put(CW_FIELD_ID, id);
        put(CW_FIELD_CONTEXT, context);
        put(CW_FIELD_NAME, name_text);
    }
    leave();
}
