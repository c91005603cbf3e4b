/* Chooses the records of a trace that lie in windows, while CUPTI records all the time: to enable its kinds takes CUPTI
 * 0.6 to 2 ms in the next launch (H200, CUPTI 13.0), which would be part of the window. The clocks of records and of
 * the host differ by up to a millisecond, so a record is in a window if the number of its call is. */
#ifndef CW_INJECT_TRACE_SIFT_H
#define CW_INJECT_TRACE_SIFT_H

#include <stdbool.h>
#include <stdint.h>

/* From now on windows alone are taken. Without this call, everything is. */
void cw_trace_sift_begin(void);
bool cw_trace_sift_has_begun(void);
/* Opens a window, which has the launches from here on, or closes it. The correlation is of the launch whose begin does
 * so; 0: none does. Call this, and cw_trace_sift_launch, with the library's lock. */
void cw_trace_sift_turn(bool open, uint32_t correlation);
/* Reports that the program is about to launch, behind what the launch opens or closes. */
void cw_trace_sift_launch(uint32_t correlation);
/* Whether a record of a call with this correlation is to be taken; call it with the rows' lock. Copies and memsets
 * between two launches of which one lies in a window, and before the first launch, may be taken without lying in it. */
bool cw_trace_sift_takes(uint32_t correlation);
/* Prepares for another trace. */
void cw_trace_sift_reset(void);

#endif
