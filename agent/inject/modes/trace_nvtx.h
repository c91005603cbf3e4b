/* NVTX's ranges, marks and names in a trace. A program may use them before its first CUDA call, which brings the setup:
 * until then rows are kept, as many as a table has. If a trace has windows, it keeps ranges that overlap one, and marks
 * inside one. All functions take the rows' lock, unless noted. */
#ifndef CW_INJECT_TRACE_NVTX_H
#define CW_INJECT_TRACE_NVTX_H

#include "agent/common/nesting.h"
#include "agent/inject/modes/trace_rows.h"

enum { CW_TRACE_MOST_OPEN = 4096, CW_TRACE_MOST_CATEGORIES = 1024 };

struct cw_trace_label {        /* attributes of a range or mark */
    const char *domain, *name; /* NULL or "": none */
    uint32_t category;         /* 0: none */
    uint64_t color;            /* CW_TRACE_UNKNOWN: none */
    struct cw_trace_payload {  /* one of these is set, in the form of the row's field */
        uint64_t number, large, real;
    } payload;
    const char *payload_text; /* of a payload with a schema, a JSON object; NULL or "": none */
    const char *step;         /* of a mark: what a thread does to an object of synchronization; NULL: nothing */
};
#define CW_TRACE_NO_PAYLOAD                                                                                            \
    {                                                                                                                  \
        CW_TRACE_SIGNED_UNKNOWN, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN                                                    \
    }

/* Reports that a trace with windows has begun, or that a window has opened or closed. Call it with the rows' lock. */
void cw_trace_nvtx_window(bool open, uint64_t now_ns);

/* Opens a range that was started (`id`, by which it ends) or pushed (0), in a domain given by number. */
void cw_trace_nvtx_open(uint64_t domain, uint64_t id, const struct cw_trace_label *label);
void cw_trace_nvtx_close(uint64_t domain, uint64_t id);
/* Counts a started range that has no number as lost. */
void cw_trace_nvtx_lost(void);
void cw_trace_nvtx_mark(uint64_t domain, const struct cw_trace_label *label);
void cw_trace_nvtx_category(uint64_t domain, uint32_t category, const char *name);
/* Adds the program's name for an object with a number: "thread", "device", "context", "stream", "event", "resource". */
void cw_trace_nvtx_name(const char *type, uint64_t id, uint64_t context, const char *name);

/* Ends the trace: open ranges get no end. Call it with the rows' lock. */
void cw_trace_nvtx_finish(void);
/* Prepares for another trace, which does not know the earlier numbers of texts. Call it with the rows' lock. */
void cw_trace_nvtx_reset(void);
/* The same in a forked child, with cw_trace_forget: another thread may have been changing the texts. */
void cw_trace_nvtx_forget(void);

#endif
