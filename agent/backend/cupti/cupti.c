#include "agent/backend/cupti/cupti.h"

#include "agent/backend/cupti/check.h"

const struct cw_backend cw_backend_cupti = {.name = "cupti",
                                            .has_batches = true,
                                            .keeps_native = true,
                                            .sees_launches = true,
                                            .range = cw_cupti_range,
                                            .pc = cw_cupti_pc,
                                            .pm = cw_cupti_pm,
                                            .trace = cw_cupti_trace,
                                            .check = cw_node_check};
