/* Kernels by the NVTX ranges in which they were launched. */
#ifndef CW_REPORT_NVTX_H
#define CW_REPORT_NVTX_H

#include "report/kernels.h"

/* Prints members of an object, where launches are in NVTX ranges: "nvtx", for each path of ranges the kernels with their
 * launches and time in it, and "nvtx_left", how many paths are left out. CW_ERR_NOMEM alone. */
enum cw_status cw_report_nvtx_put(FILE *out, const struct cw_report_kernels *kernels, struct cw_error *err);

#endif
