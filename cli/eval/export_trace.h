/* metric-eval export of a trace. */
#ifndef CW_CLI_EVAL_EXPORT_TRACE_H
#define CW_CLI_EVAL_EXPORT_TRACE_H

#include "cli/eval/run.h"

/* Writes the trace that the run has open: as JSON of Chrome's if `chrome`, else as Perfetto has it. */
enum cw_status cw_eval_export_trace(struct cw_eval_run *run, const char *output, bool chrome);

#endif
