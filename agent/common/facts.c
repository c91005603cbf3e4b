#include "agent/common/facts.h"

#include <math.h>

const char *const cw_fact_names[CW_FACT__COUNT] = {
    [CW_FACT_REGISTERS] = "launch__registers_per_thread",
    [CW_FACT_SHARED_STATIC] = "launch__shared_mem_per_block_static",
    [CW_FACT_SHARED_DYNAMIC] = "launch__shared_mem_per_block_dynamic",
    [CW_FACT_SHARED_DRIVER] = "launch__shared_mem_per_block_driver",
    [CW_FACT_LOCAL] = "launch__local_mem_per_thread",
    [CW_FACT_CONSTANT] = "launch__const_mem_per_kernel",
    [CW_FACT_MAX_THREADS] = "launch__max_threads_per_block",
    [CW_FACT_CLUSTER_X] = "launch__cluster_dim_x",
    [CW_FACT_CLUSTER_Y] = "launch__cluster_dim_y",
    [CW_FACT_CLUSTER_Z] = "launch__cluster_dim_z",
    [CW_FACT_COOPERATIVE] = "launch__cooperative",
    [CW_FACT_PROGRAMMATIC] = "launch__programmatic_serialization",
    [CW_FACT_PRIORITY] = "launch__priority",
    [CW_FACT_CARVEOUT] = "launch__preferred_shared_carveout",
    [CW_FACT_PTX] = "launch__ptx_version",
    [CW_FACT_BINARY] = "launch__binary_version",
};

void cw_facts_forget(double facts[CW_FACT__COUNT])
{
    for (int f = 0; f < CW_FACT__COUNT; f++)
        facts[f] = NAN;
}

void cw_facts_join(double all[CW_FACT__COUNT], const double one[CW_FACT__COUNT], bool first)
{
    for (int f = 0; f < CW_FACT__COUNT; f++)
        all[f] = first || all[f] == one[f] ? one[f] : (double)NAN;
}
