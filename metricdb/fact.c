#include "metricdb/fact.h"

#include <string.h>

#include "metricdb/chip.h"

#define RANGE(name, which, unit, description)                                                                          \
    {                                                                                                                  \
        "launch__" name, unit, description, CW_FACT_OF_RANGE, which, NULL                                              \
    }
#define LAUNCH(name, unit, description)                                                                                \
    {                                                                                                                  \
        "launch__" name, unit, description, CW_FACT_OF_LAUNCH, 0, NULL                                                 \
    }
#define DEVICE(name, key, unit, description)                                                                           \
    {                                                                                                                  \
        "device__attribute_" name, unit, description, CW_FACT_OF_DEVICE, 0, key                                        \
    }

static const struct cw_fact facts[] = {
    RANGE("grid_size", CW_RANGE_GRID_SIZE, "blocks", "Thread blocks of the launch"),
    RANGE("grid_dim_x", CW_RANGE_GRID_X, "blocks", "Thread blocks along x"),
    RANGE("grid_dim_y", CW_RANGE_GRID_Y, "blocks", "Thread blocks along y"),
    RANGE("grid_dim_z", CW_RANGE_GRID_Z, "blocks", "Thread blocks along z"),
    RANGE("block_size", CW_RANGE_BLOCK_SIZE, "threads/blocks", "Threads of a block"),
    RANGE("block_dim_x", CW_RANGE_BLOCK_X, "threads/blocks", "Threads of a block along x"),
    RANGE("block_dim_y", CW_RANGE_BLOCK_Y, "threads/blocks", "Threads of a block along y"),
    RANGE("block_dim_z", CW_RANGE_BLOCK_Z, "threads/blocks", "Threads of a block along z"),
    RANGE("thread_count", CW_RANGE_THREADS, "threads", "Threads of the launch: blocks times threads of a block"),
    RANGE("stream_id", CW_RANGE_STREAM, "1", "Number of the stream that the launch was on"),
    RANGE("context_id", CW_RANGE_CONTEXT, "1", "Number of the CUDA context that the launch belongs to"),
    RANGE("device_id", CW_RANGE_DEVICE, "1", "Number of the device in the capture"),
    LAUNCH("registers_per_thread", "registers/threads", "Registers that the compiler gave each thread"),
    LAUNCH("shared_mem_per_block_static", "bytes/blocks", "Shared memory of a block that the kernel declares itself"),
    LAUNCH("shared_mem_per_block_dynamic", "bytes/blocks", "Shared memory of a block that the launch asks for"),
    LAUNCH("shared_mem_per_block_driver", "bytes/blocks", "Shared memory of a block that the driver keeps for itself"),
    LAUNCH("local_mem_per_thread", "bytes/threads",
           "Local memory of a thread: arrays that cannot be registers, and registers that are spilled"),
    LAUNCH("const_mem_per_kernel", "bytes", "Constant memory that the kernel declares"),
    LAUNCH("max_threads_per_block", "threads/blocks",
           "Threads that a block of this kernel can have at most, as its registers and launch bounds allow"),
    LAUNCH("cluster_dim_x", "1", "Thread blocks of a cluster along x; 0 without clusters"),
    LAUNCH("cluster_dim_y", "1", "Thread blocks of a cluster along y; 0 without clusters"),
    LAUNCH("cluster_dim_z", "1", "Thread blocks of a cluster along z; 0 without clusters"),
    LAUNCH("cooperative", "1", "1 if all blocks have to run at the same time (a cooperative launch), else 0"),
    LAUNCH("programmatic_serialization", "1",
           "1 if the launch may begin before the one before it in the stream has ended, else 0"),
    LAUNCH("priority", "1", "Priority of the launch; smaller numbers go first"),
    LAUNCH("preferred_shared_carveout", "%",
           "Share of the L1 cache that the kernel would like to have as shared memory; -1 if it does not say"),
    LAUNCH("ptx_version", "1", "Version of PTX that the kernel was compiled from, as 10 * major + minor"),
    LAUNCH("binary_version", "1", "Compute capability that the kernel's code is for, as 10 * major + minor"),
    DEVICE("multiprocessor_count", "multiprocessors", "1", "Streaming multiprocessors of the device"),
    DEVICE("max_threads_per_multiprocessor", "max_threads_per_multiprocessor", "threads",
           "Most threads on a streaming multiprocessor"),
    DEVICE("max_registers_per_multiprocessor", "max_registers_per_multiprocessor", "registers",
           "Registers of a streaming multiprocessor"),
    DEVICE("max_shared_memory_per_multiprocessor", "max_shared_memory_per_multiprocessor", "bytes",
           "Most shared memory of a streaming multiprocessor"),
    DEVICE("max_shared_memory_per_block", "max_shared_memory_per_block", "bytes/blocks",
           "Shared memory that a block gets without asking for more"),
    DEVICE("max_shared_memory_per_block_optin", "max_shared_memory_per_block_optin", "bytes/blocks",
           "Most shared memory that a block can ask for"),
    DEVICE("reserved_shared_memory_per_block", "reserved_shared_memory_per_block", "bytes/blocks",
           "Shared memory of a block that CUDA keeps for itself"),
    DEVICE("max_blocks_per_multiprocessor", "max_blocks_per_multiprocessor", "blocks",
           "Most thread blocks on a streaming multiprocessor"),
    DEVICE("max_threads_per_block", "max_threads_per_block", "threads/blocks", "Most threads of a block"),
    DEVICE("max_registers_per_block", "max_registers_per_block", "registers/blocks", "Most registers of a block"),
    DEVICE("warp_size", "warp_size", "threads/warps", "Threads of a warp"),
    DEVICE("compute_capability_major", "compute_capability_major", "1", "First number of the compute capability"),
    DEVICE("compute_capability_minor", "compute_capability_minor", "1", "Second number of the compute capability"),
    DEVICE("clock_rate_khz", "clock_khz", "1", "Highest clock of the multiprocessors in kHz"),
    DEVICE("memory_clock_rate_khz", "memory_clock_khz", "1", "Highest clock of the device memory in kHz"),
    DEVICE("global_memory_bus_width", "memory_bus_bits", "1", "Width of the device memory's bus in bits"),
    DEVICE("l2_cache_size", "l2_bytes", "bytes", "Size of the L2 cache"),
    DEVICE("total_memory", "memory_bytes", "bytes", "Size of the device memory"),
};
enum { COUNT = sizeof facts / sizeof *facts };

uint32_t cw_fact_count(void)
{
    return COUNT;
}

const struct cw_fact *cw_fact(uint32_t index)
{
    return &facts[index];
}

bool cw_fact_is_identifier(uint32_t index)
{
    return facts[index].source == CW_FACT_OF_RANGE && facts[index].field >= CW_RANGE_STREAM;
}

uint32_t cw_fact_find(const char *name)
{
    for (uint32_t i = 0; i < COUNT; i++)
        if (strcmp(facts[i].name, name) == 0)
            return i;
    return CW_NONE;
}
