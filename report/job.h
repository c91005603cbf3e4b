/* The ranks of a parallel job beside one another. */
#ifndef CW_REPORT_JOB_H
#define CW_REPORT_JOB_H

#include <stdio.h>

#include "base/error.h"
#include "eval/output/ranks_output.h"

/* Prints one object: ranks, the kernels that take longest with how ranks differ in them, and sentences on slow ranks. */
enum cw_status cw_report_job_put(FILE *out, const struct cw_ranks_view *view, struct cw_error *err);

#endif
