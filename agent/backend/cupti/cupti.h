/* Captures of real GPUs through NVIDIA's CUPTI: ranges and instructions from inside the program (agent/inject), samples
 * from processes of our own. */
#ifndef CW_AGENT_CUPTI_H
#define CW_AGENT_CUPTI_H

#include "agent/backend/backend.h"

extern const struct cw_backend cw_backend_cupti;

/* ---- its parts, for cw_backend ---------------------------------------------------------------------------------- */

enum cw_status cw_cupti_range(const struct cw_range_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_cupti_pc(const struct cw_pc_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_cupti_pm(const struct cw_pm_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_cupti_trace(const struct cw_trace_options *options, int *exit_status, struct cw_error *err);

#endif
