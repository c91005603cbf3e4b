#include "agent/inject/modes/trace_fields.h"

#define self cw_trace_cupti

/* Index of a context, or of a free place if it is NULL; behind the last if there is none. */
static uint32_t place_of(CUcontext context)
{
    uint32_t i = 0;
    while (i < CW_MOST_CONTEXTS && self->contexts[i].context != context)
        i++;
    return i;
}

void cw_trace_context_add(CUcontext context, uint64_t id)
{
    const uint32_t known = place_of(context), place = known < CW_MOST_CONTEXTS ? known : place_of(NULL);
    if (place == CW_MOST_CONTEXTS)
        return;
    self->contexts[place].context = context;
    self->contexts[place].id = id;
}

void cw_trace_context_remove(CUcontext context)
{
    const uint32_t place = place_of(context);
    if (place < CW_MOST_CONTEXTS)
        self->contexts[place].context = NULL;
}

uint64_t cw_trace_context_find(CUcontext context)
{
    const uint32_t place = context ? place_of(context) : CW_MOST_CONTEXTS;
    return place < CW_MOST_CONTEXTS ? self->contexts[place].id : CW_TRACE_UNKNOWN;
}

bool cw_trace_context_has_row(uint64_t id)
{
    for (uint32_t i = 0; i < self->with_row; i++)
        if (self->rows[i] == id)
            return true;
    return false;
}

bool cw_trace_context_note(uint64_t id)
{
    if (self->with_row == CW_MOST_CONTEXTS)
        return false;
    self->rows[self->with_row++] = id;
    return true;
}

void cw_trace_put_word(enum cw_trace_field field, struct cw_trace_words words, uint32_t value)
{
    cw_trace_put_text(field, value < words.count && words.items[value] ? words.items[value] : "unknown");
}

void cw_trace_put_memory(enum cw_trace_field field, uint32_t kind)
{
    cw_trace_put_word(field,
                      CW_TRACE_WORDS("unknown", "pageable", "pinned", "device", "array", "managed", "device_static",
                                     "managed_static"),
                      kind);
}

void cw_trace_put_channel(uint32_t channel, uint32_t type)
{
    cw_trace_put(CW_FIELD_CHANNEL, channel);
    cw_trace_put_word(CW_FIELD_CHANNEL_TYPE, CW_TRACE_WORDS("none", "compute", "async_memcpy", "decompression"), type);
}

void cw_trace_put_graph(uint32_t graph, uint64_t node)
{
    cw_trace_put(CW_FIELD_GRAPH, graph ? graph : CW_TRACE_UNKNOWN);
    cw_trace_put(CW_FIELD_GRAPH_NODE, node ? node : CW_TRACE_UNKNOWN);
}

void cw_trace_put_times(enum cw_trace_kind kind, uint64_t start, uint64_t end)
{
    const bool timed = start && end;
    cw_trace_put(CW_FIELD_START, timed ? start : 0);
    cw_trace_put(CW_FIELD_END, timed ? end : 0);
    if (!timed)
        atomic_fetch_add_explicit(&cw_trace_sheets->page->untimed[kind], 1, memory_order_relaxed);
}

uint64_t cw_trace_or_unknown(uint32_t number)
{
    return number == UINT32_MAX ? CW_TRACE_UNKNOWN : number;
}

void cw_trace_put_place(uint32_t device, uint32_t context, uint32_t stream, uint32_t correlation)
{
    cw_trace_put(CW_FIELD_DEVICE, cw_trace_or_unknown(device));
    cw_trace_put(CW_FIELD_CONTEXT, cw_trace_or_unknown(context));
    cw_trace_put(CW_FIELD_STREAM, cw_trace_or_unknown(stream));
    cw_trace_put(CW_FIELD_CORRELATION, correlation);
}

void cw_trace_count_direct(enum cw_trace_kind kind)
{
    atomic_fetch_add_explicit(&cw_trace_sheets->page->direct[kind], 1, memory_order_relaxed);
}
