/* Memory that a traced process shares with the agent, which reads it when the process is gone, however that went: what
 * the process saw, and what it had not sent yet. */
#ifndef CW_AGENT_TRACE_PAGE_H
#define CW_AGENT_TRACE_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "image/trace_kinds.h"

struct cw_trace_page {
    _Atomic uint64_t launched[CW_TRACE_KIND__COUNT]; /* by calls that the callbacks saw: kernels and graphs alone */
    _Atomic uint64_t direct[CW_TRACE_KIND__COUNT];   /* of the rows: those that such calls are counted for */
    _Atomic uint64_t rows[CW_TRACE_KIND__COUNT];     /* that CUPTI or the program has handed over */
    _Atomic uint64_t lost[CW_TRACE_KIND__COUNT];     /* of these, for which there was no room */
    _Atomic uint64_t untimed[CW_TRACE_KIND__COUNT];  /* of the rows, without times */
    _Atomic uint64_t dropped;                        /* records that CUPTI says it lost, of whatever kind */
    _Atomic uint64_t opened_ns;                      /* when the window was opened that is open; 0: there is none */
    _Atomic uint32_t toggled;                        /* by the agent: how often a signal came that opens a window */
};

/* What was launched of a kind. A record proves a launch, also of a call of which nobody saw all: it was under way when an
 * agent attached, or when a window opened or closed. */
static inline uint64_t cw_trace_page_launched(const struct cw_trace_page *page, enum cw_trace_kind kind)
{
    const uint64_t seen = atomic_load(&page->launched[kind]), direct = atomic_load(&page->direct[kind]);
    return seen > direct ? seen : direct;
}

/* The texts that every process begins with: the names of all kinds, by number, from 1 on, and one for all of them. */
#define CW_TRACE_ALL_KINDS "all"
enum { CW_TRACE_TEXT_OF_ALL = CW_TRACE_KIND__COUNT + 1 };

/* What a trace is to hold, as SETUP says it. */
enum cw_trace_flag {
    CW_TRACE_GRAPH_NODES = 1 << 0, /* each node of a CUDA graph by itself, instead of graphs as one */
    CW_TRACE_LATENCY = 1 << 1,     /* when a launch was queued and submitted */
    CW_TRACE_ATTRIBUTES = 1 << 2,  /* attributes of launches */
    CW_TRACE_HARDWARE = 1 << 3,    /* times by the hardware event system, where the chip has it */
    CW_TRACE_CALLERS = 1 << 4,     /* which library allocated */
};

#endif
