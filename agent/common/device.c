/* Describes a GPU. */
#define _GNU_SOURCE
#include "agent/common/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file_name.h"

static void put_pair(struct cw_writer *out, uint32_t *count, const char *key, const char *value)
{
    cw_write_string(out, key);
    cw_write_string(out, value);
    (*count)++;
}

static void put_number(struct cw_writer *out, uint32_t *count, const char *key, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    put_pair(out, count, key, text);
}

static void put_kernel_driver(struct cw_writer *out, uint32_t *count)
{
    char line[256] = "";
    FILE *f = fopen("/sys/module/nvidia/version", "re");
    if (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        put_pair(out, count, "driver", line);
    }
    if (f)
        fclose(f);
}

/* Writes the host, and the process's rank in a parallel job with the number of ranks. */
static void put_place(struct cw_writer *out, uint32_t *count)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) == 0)
        put_pair(out, count, "host", host);
    const char *rank = cw_rank(), *ranks = cw_rank_count();
    if (rank)
        put_pair(out, count, "rank", rank);
    if (ranks)
        put_pair(out, count, "ranks", ranks);
}

CUptiResult cw_cupti_describe(const struct cw_cupti *api, CUdevice device, struct cw_writer *out, uint32_t *count)
{
    static const struct {
        CUdevice_attribute attribute;
        const char *key;
    } numbers[] = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "multiprocessors"},
                   {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, "compute_capability_major"},
                   {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, "compute_capability_minor"},
                   {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, "clock_khz"},
                   {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, "memory_clock_khz"},
                   {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, "memory_bus_bits"},
                   {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, "l2_bytes"},
                   {CU_DEVICE_ATTRIBUTE_WARP_SIZE, "warp_size"},
                   {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, "max_threads_per_multiprocessor"},
                   {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, "max_blocks_per_multiprocessor"},
                   {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, "max_registers_per_multiprocessor"},
                   {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, "max_shared_memory_per_multiprocessor"},
                   {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, "max_threads_per_block"},
                   {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, "max_registers_per_block"},
                   {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, "max_shared_memory_per_block"},
                   {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, "max_shared_memory_per_block_optin"},
                   {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, "reserved_shared_memory_per_block"}};
    char name[256] = "", pci[32] = "";
    CUpti_Device_GetChipName_Params chip;
    memset(&chip, 0, sizeof chip);
    chip.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
    chip.deviceIndex = (size_t)device;
    CUptiResult result = api->cuptiDeviceGetChipName(&chip);
    if (result != CUPTI_SUCCESS)
        return result;
    *count = 0;
    api->cuDeviceGetName(name, sizeof name, device);
    put_pair(out, count, "name", name);
    put_pair(out, count, "chip", chip.pChipName);
    put_pair(out, count, "backend", "cupti");
    put_pair(out, count, "simulated", "no");
    put_pair(out, count, "ids", "cupti");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int value;
        if (api->cuDeviceGetAttribute(&value, numbers[i].attribute, device) == CUDA_SUCCESS)
            put_number(out, count, numbers[i].key, value);
    }
    size_t memory;
    if (api->cuDeviceTotalMem_v2 && api->cuDeviceTotalMem_v2(&memory, device) == CUDA_SUCCESS)
        put_number(out, count, "memory_bytes", (long long)memory);
    if (api->cuDeviceGetPCIBusId(pci, sizeof pci, device) == CUDA_SUCCESS)
        put_pair(out, count, "pci", pci);
    put_kernel_driver(out, count);
    put_place(out, count);
    int cuda = 0;
    uint32_t cupti = 0;
    if (api->cuDriverGetVersion(&cuda) == CUDA_SUCCESS)
        put_number(out, count, "cuda_driver", cuda);
    if (api->cuptiGetVersion(&cupti) == CUPTI_SUCCESS)
        put_number(out, count, "cupti", cupti);
    return CUPTI_SUCCESS;
}
