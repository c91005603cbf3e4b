/* What a capture says of launches beside their counters: NVTX ranges, and how they were counted. */
#ifndef CW_REPORT_LAUNCHES_H
#define CW_REPORT_LAUNCHES_H

#include "report/kernels.h"

/* Prints members of an object: "unwanted", the launches that were not asked for; "told", attributes that say how
 * launches were counted, each with how many have it; and where launches are in NVTX ranges "nvtx", for each path of
 * ranges the kernels with their launches and time in it, and "nvtx_left", how many paths are left out. CW_ERR_NOMEM
 * alone. */
enum cw_status cw_report_launches_put(FILE *out, const struct cw_report_kernels *kernels, struct cw_error *err);

#endif
