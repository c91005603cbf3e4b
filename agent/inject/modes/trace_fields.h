/* What many of CUPTI's records have alike, as fields of the row that is being made. */
#ifndef CW_INJECT_TRACE_FIELDS_H
#define CW_INJECT_TRACE_FIELDS_H

#include "agent/inject/modes/trace_rows.h"

/* Records grow with versions of CUPTI, at their end. Those that are read are in the headers of all toolkits from 12.6
 * on; what a later version has behind them is read where both this library and the CUPTI that runs have it. */
enum { CW_CUPTI_OF_12_8 = 26 };

struct cw_trace_cupti {
    uint32_t version;
    bool unified;       /* CUPTI knows what to count of unified memory */
    _Atomic bool waits; /* it records synchronization */
    struct {            /* contexts that there are; with the rows' lock */
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

/* CUPTI's number of a context, by a handle, which is used again. Those beyond what there is room for are not known. */
void cw_trace_context_add(CUcontext context, uint64_t id);
void cw_trace_context_remove(CUcontext context);
uint64_t cw_trace_context_find(CUcontext context); /* CW_TRACE_UNKNOWN: it is not known */

/* The word for a value; "unknown" for one that is not in the list, or has none there. */
void cw_trace_put_word(enum cw_trace_field field, struct cw_trace_words words, uint32_t value);
void cw_trace_put_memory(enum cw_trace_field field, uint32_t kind);
void cw_trace_put_channel(uint32_t channel, uint32_t type);
/* CUPTI says 0 of what is in no graph. */
void cw_trace_put_graph(uint32_t graph, uint64_t node);
/* What CUPTI did not collect it says 0 of. */
void cw_trace_put_times(enum cw_trace_kind kind, uint64_t start, uint64_t end);
void cw_trace_put_place(uint32_t device, uint32_t context, uint32_t stream, uint32_t correlation);
/* A row that calls are counted for. */
void cw_trace_count_direct(enum cw_trace_kind kind);

#endif
