#include "agent/inject/modes/trace_fields.h"

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

void cw_trace_put_place(uint32_t device, uint32_t context, uint32_t stream, uint32_t correlation)
{
    cw_trace_put(CW_FIELD_DEVICE, device);
    cw_trace_put(CW_FIELD_CONTEXT, context);
    cw_trace_put(CW_FIELD_STREAM, stream);
    cw_trace_put(CW_FIELD_CORRELATION, correlation);
}

void cw_trace_count_direct(enum cw_trace_kind kind)
{
    atomic_fetch_add_explicit(&cw_trace_sheets->page->direct[kind], 1, memory_order_relaxed);
}
