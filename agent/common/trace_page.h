/* Memory that a traced process shares with the agent. The agent reads it after the process has ended, in whatever way:
 * counts of events, and of rows not yet sent. */
#ifndef CW_AGENT_TRACE_PAGE_H
#define CW_AGENT_TRACE_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "image/trace_kinds.h"

struct cw_trace_page {
    _Atomic uint64_t launched[CW_TRACE_KIND__COUNT]; /* calls counted by callbacks; only for kernels and graphs */
    _Atomic uint64_t direct[CW_TRACE_KIND__COUNT];   /* rows of events that such calls launch */
    _Atomic uint64_t rows[CW_TRACE_KIND__COUNT];     /* rows handed over by CUPTI or the program */
    _Atomic uint64_t lost[CW_TRACE_KIND__COUNT];     /* rows among these for which there was no room */
    _Atomic uint64_t untimed[CW_TRACE_KIND__COUNT];  /* rows among these without times */
    _Atomic uint64_t dropped;                        /* records that CUPTI reports as lost, of any kind */
    _Atomic uint64_t opened_ns;                      /* opening time of the open window; 0: none is open */
    _Atomic uint32_t toggled; /* set by the agent: number of signals that open or close a window */
};

/* Number of launches of a kind. A record proves a launch even if the callbacks missed its call: the call was running
 * when an agent attached, or when a window opened or closed. */
static inline uint64_t cw_trace_page_launched(const struct cw_trace_page *page, enum cw_trace_kind kind)
{
    const uint64_t seen = atomic_load(&page->launched[kind]), direct = atomic_load(&page->direct[kind]);
    return seen > direct ? seen : direct;
}

/* The first texts of every process: names of all kinds, by number, from 1 on, then one for all kinds together. */
#define CW_TRACE_ALL_KINDS "all"
enum { CW_TRACE_TEXT_OF_ALL = CW_TRACE_KIND__COUNT + 1 };

/* CUPTI's buffers on a GPU, for each context; 0: CUPTI's default. */
struct cw_trace_device_buffers {
    uint64_t bytes;       /* size of one */
    uint32_t most, first; /* the greatest number of them, and how many are allocated with the context */
};

/* Content of a trace, as SETUP requests it. */
enum cw_trace_flag {
    CW_TRACE_GRAPH_NODES = 1 << 0, /* each node of a CUDA graph separately, instead of whole graphs */
    CW_TRACE_LATENCY = 1 << 1,     /* times at which a launch was queued and submitted */
    CW_TRACE_ATTRIBUTES = 1 << 2,  /* attributes of launches */
    CW_TRACE_HARDWARE = 1 << 3,    /* times from the hardware event system, if the chip has it */
    CW_TRACE_CALLERS = 1 << 4,     /* the library that allocated memory */
    CW_TRACE_SERIALIZED = 1 << 5,  /* kernels run one after another */
};

#endif
