/* Writes fields common to several CUPTI records into the current row. */
#ifndef CW_INJECT_TRACE_FIELDS_H
#define CW_INJECT_TRACE_FIELDS_H

#include "agent/inject/modes/trace_rows.h"

/* Newer versions of CUPTI have longer records. The headers of all toolkits from 12.6 on have the members read here. A
 * later member is read if both this build and the running CUPTI have it. */
enum { CW_CUPTI_OF_12_8 = 26 };

struct cw_trace_cupti {
    uint32_t version;
    bool unified;       /* CUPTI was told which unified memory events to count */
    bool attributes;    /* records may have attributes of launches */
    bool serialized;    /* kernels run one after another */
    _Atomic bool waits; /* CUPTI records synchronization */
    uint64_t dumped;    /* CUPTI's kinds that told of what was there before the trace, a bit each */
    uint32_t with_row;  /* number of contexts with a row, and their numbers; under the rows' lock */
    uint64_t rows[CW_MOST_CONTEXTS];
    struct { /* existing contexts; under the rows' lock */
        CUcontext context;
        uint64_t id;
    } contexts[CW_MOST_CONTEXTS];
};
extern struct cw_trace_cupti *const cw_trace_cupti;

struct cw_trace_words {
    const char *const *items;
    uint32_t count;
};
#define CW_TRACE_WORDS(...)                                                                                            \
    (struct cw_trace_words)                                                                                            \
    {                                                                                                                  \
        (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)                \
    }

/* Map a context's handle, which may be reused, to CUPTI's number. Contexts beyond the limit are unknown. */
void cw_trace_context_add(CUcontext context, uint64_t id);
void cw_trace_context_remove(CUcontext context);
uint64_t cw_trace_context_find(CUcontext context); /* CW_TRACE_UNKNOWN: not known */

/* Whether a context has its row. Under the rows' lock. */
bool cw_trace_context_has_row(uint64_t id);
/* Notes that a context has its row. False if there is no room to note it. */
bool cw_trace_context_note(uint64_t id);

/* Puts the word for a value; "unknown" for a value that is not in the list, or has no word there. */
void cw_trace_put_word(enum cw_trace_field field, struct cw_trace_words words, uint32_t value);
void cw_trace_put_memory(enum cw_trace_field field, uint32_t kind);
void cw_trace_put_channel(uint32_t channel, uint32_t type);
/* Puts graph and node; CUPTI gives 0 outside graphs. */
void cw_trace_put_graph(uint32_t graph, uint64_t node);
/* Puts times; CUPTI gives 0 for times that it did not collect. */
void cw_trace_put_times(enum cw_trace_kind kind, uint64_t start, uint64_t end);
/* CUPTI gives all ones for none. */
uint64_t cw_trace_or_unknown(uint32_t number);
void cw_trace_put_place(uint32_t device, uint32_t context, uint32_t stream, uint32_t correlation);
/* Counts a row of an event that calls launch. */
void cw_trace_count_direct(enum cw_trace_kind kind);

#endif
