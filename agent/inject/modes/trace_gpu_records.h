/* Makes rows of records about work on a GPU: kernels, copies and graphs. Call these with the rows' lock. */
#ifndef CW_INJECT_TRACE_GPU_RECORDS_H
#define CW_INJECT_TRACE_GPU_RECORDS_H

#include "agent/common/cupti_api.h"

void cw_trace_take_kernel(const CUpti_Activity *record);
void cw_trace_take_copy(const CUpti_Activity *record);
void cw_trace_take_peer_copy(const CUpti_Activity *record);
void cw_trace_take_set(const CUpti_Activity *record);
void cw_trace_take_decompression(const CUpti_Activity *record);
void cw_trace_take_graph(const CUpti_Activity *record);
void cw_trace_take_device_graph(const CUpti_Activity *record);

#endif
