/* NVTX's ranges, marks and names in a trace. A program may use them before its first call of CUDA, which tells what is
 * to be collected: until then rows are kept, as many as a table has. Where a trace has windows, ranges are kept that
 * one of them was open in, and marks in them. Everything here takes the rows' lock itself, where it does not say
 * otherwise.
 */
#ifndef CW_INJECT_TRACE_NVTX_H
#define CW_INJECT_TRACE_NVTX_H

#include "agent/common/beyond.h"
#include "agent/inject/modes/trace_rows.h"

enum {
    CW_TRACE_MOST_OPEN = 4096,
    CW_TRACE_MOST_CATEGORIES = 1024,
    CW_TRACE_MOST_COPIED = 2 << 20 /* bytes of texts of ranges that are open outside of windows */
};

struct cw_trace_payload { /* one of these, as the fields of a row have it */
    uint64_t number, large, real;
};
#define CW_TRACE_NO_PAYLOAD                                                                                            \
    {                                                                                                                  \
        CW_TRACE_SIGNED_UNKNOWN, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN                                                    \
    }

struct cw_trace_label {        /* what the program says of a range or mark */
    const char *domain, *name; /* NULL or "": none */
    uint32_t category;         /* 0: none */
    uint64_t color;            /* CW_TRACE_UNKNOWN */
    struct cw_trace_payload payload;
};

struct cw_trace_open { /* a range or mark */
    uint64_t id;       /* 0: pushed */
    uint64_t thread, domain, start_ns, color;
    struct cw_trace_payload payload;
    uint32_t category;
    uint32_t domain_name, name; /* numbers of texts, or: */
    char *copy;                 /* the texts, for it is not known whether they are wanted: the domain's and its own */
};

struct cw_trace_category {
    uint64_t domain;
    uint32_t category, name;
};

struct cw_trace_ranges {
    uint32_t count, category_count;
    struct cw_trace_open *open; /* room for CW_TRACE_MOST_OPEN, in the order of opening */
    struct cw_beyond beyond;
    size_t copied;      /* bytes */
    bool windows, shut; /* shut: no window is open now */
    uint64_t closed_ns; /* when the last one was; 0: there was none yet */
    struct cw_trace_category categories[CW_TRACE_MOST_CATEGORIES];
};
extern struct cw_trace_ranges *const cw_trace_ranges;

/* A trace with windows has begun, or one has opened or closed. With the rows' lock held. */
void cw_trace_nvtx_window(bool open, uint64_t now_ns);

/* A range was started (`id`, which ends it) or pushed (0), in a domain that has a number. */
void cw_trace_nvtx_open(uint64_t domain, uint64_t id, const struct cw_trace_label *label);
void cw_trace_nvtx_close(uint64_t domain, uint64_t id);
/* One was started that has no number: it is lost. */
void cw_trace_nvtx_lost(void);
void cw_trace_nvtx_mark(uint64_t domain, const struct cw_trace_label *label);
void cw_trace_nvtx_category(uint64_t domain, uint32_t category, const char *name);
/* The program's name for what has a number: "thread", "device", "context", "stream", "event". */
void cw_trace_nvtx_name(const char *type, uint64_t id, uint64_t context, const char *name);

/* At the end: ranges that are open then have no end. With the rows' lock held. */
void cw_trace_nvtx_finish(void);
/* Before another trace: the numbers of the texts before are none of its own. With the rows' lock held. */
void cw_trace_nvtx_reset(void);
/* The same in a child that was forked, with cw_trace_forget: texts may be in another thread's hands. */
void cw_trace_nvtx_forget(void);

#endif
