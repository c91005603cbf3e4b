/* CUPTI's activity records, and the rows of a trace that become of them. */
#ifndef CW_INJECT_TRACE_RECORDS_H
#define CW_INJECT_TRACE_RECORDS_H

#include "agent/inject/modes/trace_fields.h"

/* Enables or disables what CUPTI has of a kind; CUPTI's answer where it has nothing of it, and CUPTI_SUCCESS for a kind
 * that none of its records is of. */
CUptiResult cw_trace_records_set(enum cw_trace_kind kind, bool enable);

/* Makes a row of a record, with the rows' lock held. Others than ours are ignored. */
void cw_trace_record_take(const CUpti_Activity *record);

#endif
