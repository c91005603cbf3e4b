/* What an OpenMP program does on the host, in a trace: its runtime tells of it through OMPT, the interface for tools of
 * OpenMP 5. Of gcc's runtime nothing is known, which has no such interface before gcc 16. */
#ifndef CW_INJECT_TRACE_OPENMP_H
#define CW_INJECT_TRACE_OPENMP_H

#include "agent/inject/modes/trace_rows.h"

#include <Openmp/omp-tools.h>

enum { CW_OPENMP_MOST_OPEN = 32 }; /* of a thread; what is within is lost, and counted */

struct cw_openmp_open {       /* something that a thread is within */
    const char *type;         /* of one text is one type alone */
    uint64_t start_ns, count; /* start 0: it is not recorded */
};

struct cw_openmp_thread {
    struct cw_openmp_thread *next, **at;
    uint64_t thread, start_ns;
    uint32_t depth, beyond;
    struct cw_openmp_open open[CW_OPENMP_MOST_OPEN];
};

struct cw_openmp {
    ompt_start_tool_result_t tool;
    ompt_get_thread_data_t thread_data;
    struct cw_openmp_thread *threads; /* with the rows' lock */
};
extern struct cw_openmp *const cw_openmp;

/* At the end: threads that run still end now. With the rows' lock held. */
void cw_trace_openmp_finish(void);
/* In a child that was forked, which has none of the threads. */
void cw_trace_openmp_forget(void);

#endif
