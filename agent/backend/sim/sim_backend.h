/* The simulated GPU, for machines without one. */
#ifndef CW_AGENT_SIM_BACKEND_H
#define CW_AGENT_SIM_BACKEND_H

#include "agent/backend/backend.h"

extern const struct cw_backend cw_backend_sim;

/* ---- its parts, for cw_backend ---------------------------------------------------------------------------------- */

enum cw_status cw_sim_range(const struct cw_range_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_sim_pc(const struct cw_pc_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_sim_pm(const struct cw_pm_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_sim_trace(const struct cw_trace_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_sim_check(const struct cw_node_needs *needs, struct cw_error *err);

#endif
