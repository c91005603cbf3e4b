/* Traces an OpenMP program on the host: its runtime reports events through OMPT, the tools interface of OpenMP 5. gcc's
 * runtime has no such interface before gcc 16. */
#ifndef CW_INJECT_TRACE_OPENMP_H
#define CW_INJECT_TRACE_OPENMP_H

#include "agent/inject/modes/trace_rows.h"

#include <Openmp/omp-tools.h>

enum { CW_OPENMP_MOST_OPEN = 32 }; /* for each thread; deeper regions are lost and counted */

/* Ends running threads now, at the end of the trace. Call it with the rows' lock. */
void cw_trace_openmp_finish(void);
/* Call it in a forked child, which has none of the threads. */
void cw_trace_openmp_forget(void);

#endif
