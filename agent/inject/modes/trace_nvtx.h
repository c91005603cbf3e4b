/* NVTX's ranges, marks and names in a trace. A program may use them before its first call of CUDA, which tells what is
 * to be collected: until then rows are kept, as many as a table has. Everything here takes the rows' lock itself. */
#ifndef CW_INJECT_TRACE_NVTX_H
#define CW_INJECT_TRACE_NVTX_H

#include "agent/inject/modes/trace_rows.h"

enum { CW_TRACE_MOST_OPEN = 4096, CW_TRACE_MOST_CATEGORIES = 1024 };

struct cw_trace_label {                    /* what the program says of a range or mark */
    const char *domain, *name;             /* NULL or "": none */
    uint32_t category;                     /* 0: none */
    uint64_t color, payload, real_payload; /* CW_TRACE_UNKNOWN */
};

struct cw_trace_open { /* a range, and the numbers of its texts */
    uint64_t id;       /* 0: pushed */
    uint64_t thread, domain, start_ns, color, payload, real_payload;
    uint32_t domain_name, name, category;
};

struct cw_trace_category {
    uint64_t domain;
    uint32_t category, name;
};

struct cw_trace_ranges {
    uint32_t count, category_count;
    struct cw_trace_open *open; /* room for CW_TRACE_MOST_OPEN, in the order of opening */
    struct cw_trace_category categories[CW_TRACE_MOST_CATEGORIES];
};
extern struct cw_trace_ranges *const cw_trace_ranges;

/* A range was started (`id`, which ends it) or pushed (0), in a domain that has a number. */
void cw_trace_nvtx_open(uint64_t domain, uint64_t id, const struct cw_trace_label *label);
void cw_trace_nvtx_close(uint64_t domain, uint64_t id);
void cw_trace_nvtx_mark(uint64_t domain, const struct cw_trace_label *label);
void cw_trace_nvtx_category(uint64_t domain, uint32_t category, const char *name);
/* The program's name for what has a number: "thread", "device", "context", "stream", "event". */
void cw_trace_nvtx_name(const char *type, uint64_t id, uint64_t context, const char *name);

/* At the end: ranges that are open then have no end. With the rows' lock held. */
void cw_trace_nvtx_finish(void);
/* In a child that was forked, with cw_trace_forget, and before another trace: the numbers of the texts before are none
 * of its own. */
void cw_trace_nvtx_forget(void);

#endif
