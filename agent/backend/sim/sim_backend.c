#include "agent/backend/sim/sim_backend.h"

const struct cw_backend cw_backend_sim = {.name = "sim",
                                          .range = cw_sim_range,
                                          .pc = cw_sim_pc,
                                          .pm = cw_sim_pm,
                                          .trace = cw_sim_trace,
                                          .check = cw_sim_check};
