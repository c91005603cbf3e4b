/* CUPTI's activity records, and the rows of a trace that become of them. */
#ifndef CW_INJECT_TRACE_RECORDS_H
#define CW_INJECT_TRACE_RECORDS_H

#include "agent/common/filter.h"
#include "agent/inject/modes/trace_rows.h"

enum { CW_TRACE_KNOWN_THREADS = 1024 };

struct cw_trace_call_names {                  /* numbers of texts by call; 0: not asked yet */
    uint32_t threads[CW_TRACE_KNOWN_THREADS]; /* that have been named */
    uint32_t driver[CUPTI_DRIVER_TRACE_CBID_SIZE], runtime[CUPTI_RUNTIME_TRACE_CBID_SIZE];
    uint32_t version; /* CUPTI's */
};
extern struct cw_trace_call_names *const cw_trace_call_names;

/* Enables or disables what CUPTI has of a kind, of calls those that are listed (cw_filter_name_is_listed; "": those of
 * interest); CUPTI's answer where it has nothing of it, and CUPTI_SUCCESS for a kind
 * that CUPTI has no part in. */
CUptiResult cw_trace_records_set(enum cw_trace_kind kind, const char *calls, bool enable);

/* Makes a row of a record, with the rows' lock held. Others than ours are ignored. */
void cw_trace_record_take(const CUpti_Activity *record);

#endif
