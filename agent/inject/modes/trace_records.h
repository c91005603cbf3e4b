/* Makes rows of a trace from CUPTI's activity records. */
#ifndef CW_INJECT_TRACE_RECORDS_H
#define CW_INJECT_TRACE_RECORDS_H

#include "agent/inject/modes/trace_fields.h"

/* Enables or disables CUPTI's records for a kind. Returns CUPTI's answer if it has none of them, and CUPTI_SUCCESS for
 * a kind without records. */
CUptiResult cw_trace_records_set(enum cw_trace_kind kind, bool enable);

/* Makes a row of a record. Call it with the rows' lock. Ignores unknown records. */
void cw_trace_record_take(const CUpti_Activity *record);

#endif
