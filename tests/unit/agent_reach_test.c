/* By which calls and kernels others come to reach a program's memory. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "agent/inject/driver/reach.h"
#include "tests/support/fake_driver.h"

static const struct fake_name names[] = {
    {CUPTI_DRIVER_TRACE_CBID_cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess"},
    {CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle, "cuIpcGetMemHandle"},
    {CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2, "cuIpcOpenMemHandle_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemExportToShareableHandle, "cuMemExportToShareableHandle"},
    {CUPTI_DRIVER_TRACE_CBID_cuMulticastCreate, "cuMulticastCreate"},
    {CUPTI_DRIVER_TRACE_CBID_cuMulticastGetGranularity, "cuMulticastGetGranularity"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, "cuMemcpyPeerAsync"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32, "cuStreamWaitValue32"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy, "cuMemcpy"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, "cuMemcpyDtoD_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, "cuMemcpyHtoD_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, "cuMemsetD32Async"},
#if CUDA_VERSION >= 12080
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync, "cuMemcpyBatchAsync"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync, "cuMemcpy3DBatchAsync"},
#endif
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, "cuMemcpy2DAsync_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, "cuMemcpy3D_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemSetAccess, "cuMemSetAccess"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemPoolSetAccess, "cuMemPoolSetAccess"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemCreate, "cuMemCreate"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, "cuMemHostRegister_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuPointerSetAttribute, "cuPointerSetAttribute"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, "cuMemAlloc_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
    {0},
};

static bool reaches_as(CUpti_CallbackId id, const void *params, const char *kernel)
{
    const CUpti_CallbackData call = {
        .callbackSite = CUPTI_API_ENTER, .functionName = "call", .functionParams = params, .symbolName = kernel};
    fake_driver();
    fake_memory[0] = (struct fake_memory){(void *)0x10000, 0x1000, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_memory[1] = (struct fake_memory){(void *)0x20000, 0x1000, CU_MEMORYTYPE_DEVICE, false, 1};
    fake_names = names;
    cw_reach_init();
    cr_expect_null(cw_reach_why());
    bool reached = cw_reach_follow(id, &call);
    cr_expect_null(cw_reach_why(), "what is being collected ends first");
    if (reached)
        cw_reach_begin();
    cr_expect_eq(cw_reach_why() != NULL, reached);
    cr_expect(!cw_reach_follow(id, &call), "it is told once");
    return reached;
}

static bool reaches(CUpti_CallbackId id, const void *params)
{
    return reaches_as(id, params, NULL);
}

Test(reach, calls_that_share_memory)
{
    static const CUpti_CallbackId always[] = {
        CUPTI_DRIVER_TRACE_CBID_cuCtxEnablePeerAccess, CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle,
        CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2, CUPTI_DRIVER_TRACE_CBID_cuMemExportToShareableHandle,
        CUPTI_DRIVER_TRACE_CBID_cuMulticastCreate,     CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync,
        CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        cr_expect(reaches(always[i], NULL), "call %u", always[i]);
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, NULL));
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMulticastGetGranularity, NULL));
    cr_expect(cw_reach_follows(CUPTI_DRIVER_TRACE_CBID_cuMemSetAccess));
    cr_expect(!cw_reach_follows(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
}

Test(reach, copies_between_devices)
{
    const cuMemcpyDtoD_v2_params own = {0x10000, 0x10100, 4}, to = {0x20000, 0x10000, 4}, from = {0x10000, 0x20000, 4},
                                 host = {0x10000, 0x90000, 4};
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, &own));
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpy, &host));
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, &to));
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpy, &from));
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, &to));
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, &own));
    const cuMemsetD32Async_params there = {.dstDevice = 0x20000}, here = {.dstDevice = 0x10000};
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, &there));
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, &here));
}

Test(reach, copies_of_lists_and_of_rectangles)
{
#if CUDA_VERSION >= 12080
    CUdeviceptr here[] = {0x10000, 0x10100}, there[] = {0x10200, 0x20000};
    const cuMemcpyBatchAsync_params list = {.dsts = here, .srcs = there, .count = 2},
                                    first = {.dsts = there, .srcs = here, .count = 1};
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync, &list));
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync, &first));
    CUDA_MEMCPY3D_BATCH_OP copy = {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = 0x10000},
                                   .dst = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, .op.ptr.ptr = 0x20000}};
    const cuMemcpy3DBatchAsync_params solids = {.numOps = 1, .opList = &copy};
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync, &solids));
    copy.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync, &solids));
#endif
    const CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = 0x10000,
                                .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .dstDevice = 0x20000},
                        own = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                               .srcDevice = 0x20000,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = 0x10000};
    const cuMemcpy2D_v2_params to = {&flat}, within = {&own};
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, &to));
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, &within));
    const CUDA_MEMCPY3D solid = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = 0x20000};
    const cuMemcpy3D_v2_params from = {&solid};
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, &from));
}

Test(reach, access_for_another_device)
{
    CUmemAccessDesc both[] = {
        {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READ}};
    const cuMemSetAccess_params own = {.desc = both, .count = 1}, others = {.desc = both, .count = 2};
    const cuMemPoolSetAccess_params pool = {.map = both + 1, .count = 1};
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemSetAccess, &own));
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemSetAccess, &others));
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemPoolSetAccess, &pool));
    both[1].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemPoolSetAccess, &pool));
    const CUmemAllocationProp here = {.location = both[0].location}, there = {.location = both[1].location};
    const cuMemCreate_params mine = {.prop = &here}, its = {.prop = &there};
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemCreate, &mine));
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemCreate, &its));
}

/* NCCL keeps flags between processes in such memory. */
Test(reach, memory_of_the_host_that_processes_share)
{
    void *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const cuMemHostRegister_v2_params mine = {.p = own, .bytesize = 4096},
                                      all = {.p = (char *)shared + 64, .bytesize = 64};
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, &mine));
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, &all));
    munmap(own, 4096);
    munmap(shared, 4096);
}

/* No descriptor is free, or there is no /proc. */
Test(reach, memory_of_the_host_that_nobody_can_tell_of)
{
    static uint8_t own[64];
    const cuMemHostRegister_v2_params mine = {.p = own, .bytesize = sizeof own};
    struct rlimit before;
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, &mine));
    cr_assert(getrlimit(RLIMIT_NOFILE, &before) == 0);
    cr_assert(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}) == 0);
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, &mine));
    setrlimit(RLIMIT_NOFILE, &before);
}

/* As drivers of network cards want it. */
Test(reach, memory_that_a_card_may_write)
{
    const cuPointerSetAttribute_params sync = {.attribute = CU_POINTER_ATTRIBUTE_SYNC_MEMOPS},
                                       other = {.attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    cr_expect(reaches(CUPTI_DRIVER_TRACE_CBID_cuPointerSetAttribute, &sync));
    cr_expect(!reaches(CUPTI_DRIVER_TRACE_CBID_cuPointerSetAttribute, &other));
}

Test(reach, kernels_of_collectives)
{
    const cuLaunchKernel_params params = {.gridDimX = 1};
    cr_expect(reaches_as(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
    cr_expect(!reaches_as(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, "gemm"));
    cr_expect(!reaches_as(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, NULL));
}
