/* By which calls and kernels others come to reach a program's memory. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "agent/inject/driver/module.h"
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
    {CUPTI_DRIVER_TRACE_CBID_cuMemMap, "cuMemMap"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemUnmap, "cuMemUnmap"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, "cuMemFree_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemGetHandleForAddressRange, "cuMemGetHandleForAddressRange"},
    {CUPTI_DRIVER_TRACE_CBID_cuLibraryGetGlobal, "cuLibraryGetGlobal"},
    {CUPTI_DRIVER_TRACE_CBID_cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled"},
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
        cw_reach_begin(id, &call);
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
    cr_expect(reaches_as(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params,
                         "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"));
    cr_expect(reaches_as(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params,
                         "_ZN4c10d12_GLOBAL__N_126one_shot_all_reduce_kernelIfLi16EEEvPPT_S3_mmPPjmm"));
    cr_expect(reaches_as(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params,
                         "_ZN4vllm26cross_device_reduce_1stageI6__halfLi2EEEvPNS_8RankDataE"));
    cr_expect(!reaches_as(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, "gemm"));
    cr_expect(!reaches_as(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, "_Z4gemmPf"));
    cr_expect(!reaches_as(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, NULL));
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

enum { OWN = 0x10000, OTHERS = 0x20000, SIZE = 0x1000 };

static void set_up(void)
{
    fake_driver();
    fake_memory[0] = (struct fake_memory){(void *)OWN, SIZE, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_memory[1] = (struct fake_memory){(void *)OTHERS, SIZE, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_names = names;
    cw_reach_init();
}

static void tear_down(void)
{
    free(cw_reach->ranges);
}

static void made(CUpti_CallbackId id, const void *params)
{
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionName = "call", .functionParams = params};
    if (cw_reach_follow(id, &call))
        cw_reach_begin(id, &call);
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    cr_expect(!cw_reach_follow(id, &call));
}

static const char *why(CUpti_CallbackId id, const void *params)
{
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = params, .symbolName = "gemm"};
    return cw_reach_why_launch(id, &call);
}

/* Whether a launch of a kernel with these arguments, packed into one buffer, reaches what others do. */
static bool is_reached(const void *arguments, size_t size)
{
    void *packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      CU_LAUNCH_PARAM_END};
    const cuLaunchKernel_params params = {.gridDimX = 1, .extra = packed};
    return why(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params);
}

static bool is_given(uint64_t address)
{
    return is_reached(&address, sizeof address);
}

static void share(uint64_t address)
{
    const cuIpcGetMemHandle_params params = {.dptr = address};
    made(CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle, &params);
}

TestSuite(reach_launches, .init = set_up, .fini = tear_down);

/* The others write shared memory then, which ends batches once. Launches beside collectives are judged as before. */
Test(reach_launches, beside_collectives_by_their_arguments)
{
    const cuLaunchKernel_params params = {.gridDimX = 1};
    const CUpti_CallbackData call = {
        .callbackSite = CUPTI_API_ENTER,
        .functionParams = &params,
        .symbolName = "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"};
    share(OTHERS);
    cr_expect(!cw_reach_is_written());
    const uint32_t changes = cw_reach->changes;
    cr_assert(cw_reach_follow(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call));
    cw_reach_begin(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call);
    cr_expect(cw_reach_is_written());
    cr_expect_neq(cw_reach->changes, changes);
    cr_expect(!cw_reach_follow(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call));
    cr_expect_null(cw_reach_why_all());
    cr_expect_str_eq(cw_reach_why_launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &call),
                     "its kernel works with other devices or processes");
    cr_expect(is_given(OTHERS + 8));
    cr_expect(!is_given(OWN));
}

Test(reach_launches, whose_arguments_hold_an_address_of_shared_memory)
{
    uint64_t word = OTHERS + 8;
    void *arguments[] = {&word};
    const cuLaunchKernel_params one = {.f = (CUfunction)1, .kernelParams = arguments}, nothing = {.f = (CUfunction)1};
    const cuGraphLaunch_params graph = {0};
    cr_expect_null(why(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &one));
    share(OTHERS + 0x10);
    cr_expect_not_null(cw_reach_why());
    cr_expect_null(cw_reach_why_all());
    cr_expect_not_null(why(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &one));
    cr_expect_not_null(why(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &nothing), "nobody knows its arguments");
    cr_expect_null(why(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &graph), "its kernels are asked one by one");
    word = OWN + 8;
    cr_expect_null(why(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &one));
    cr_expect(is_given(OTHERS) && is_given(OTHERS + SIZE - 1));
    cr_expect(!is_given(OTHERS - 1) && !is_given(OTHERS + SIZE));
}

/* Also where a structure is packed. At other bytes stand counters and characters. */
Test(reach_launches, at_any_multiple_of_four_bytes_of_a_structure)
{
    share(OTHERS);
    for (size_t at = 0; at + 8 <= 32; at++) {
        uint8_t bytes[32] = {0};
        memcpy(bytes + at, &(uint64_t){OTHERS + at}, 8);
        cr_expect_eq(is_reached(bytes, sizeof bytes), at % 4 == 0, "byte %zu", at);
        cr_expect(!is_reached(bytes, at + 7), "byte %zu", at);
    }
}

Test(reach_launches, memory_whose_handle_is_exported)
{
    const cuMemMap_params own = {.ptr = OWN, .size = SIZE, .handle = 5},
                          others = {.ptr = OTHERS, .size = SIZE, .handle = 7},
                          again = {.ptr = 0x30000, .size = SIZE, .handle = 7};
    const cuMemExportToShareableHandle_params exported = {.handle = 7};
    made(CUPTI_DRIVER_TRACE_CBID_cuMemMap, &own);
    made(CUPTI_DRIVER_TRACE_CBID_cuMemMap, &others);
    cr_expect(!cw_reach_why() && !cw_reach_beyond());
    made(CUPTI_DRIVER_TRACE_CBID_cuMemExportToShareableHandle, &exported);
    made(CUPTI_DRIVER_TRACE_CBID_cuMemMap, &again);
    cr_expect(is_given(OTHERS) && is_given(0x30000) && !is_given(OWN));
    const struct cw_reach_range *r = cw_reach_next(NULL);
    cr_assert(r && r->begin == OTHERS && r->end == OTHERS + SIZE);
    r = cw_reach_next(r);
    cr_assert(r && r->begin == 0x30000);
    cr_expect_null(cw_reach_next(r));
    const cuMemUnmap_params gone = {.ptr = OTHERS, .size = SIZE};
    made(CUPTI_DRIVER_TRACE_CBID_cuMemUnmap, &gone);
    cr_expect(!is_given(OTHERS) && is_given(0x30000));
}

Test(reach_launches, memory_of_another_process)
{
    CUmemGenericAllocationHandle handle = 9, retained = 10;
    CUdeviceptr opened = OTHERS;
    const cuMemImportFromShareableHandle_params imported = {.handle = &handle};
    const cuMemMap_params mapped = {.ptr = 0x30000, .size = SIZE, .handle = 9},
                          twice = {.ptr = 0x40000, .size = SIZE, .handle = 10};
    const cuMemRetainAllocationHandle_params kept = {.handle = &retained, .addr = (void *)0x30008};
    const cuIpcOpenMemHandle_v2_params open = {.pdptr = &opened};
    made(CUPTI_DRIVER_TRACE_CBID_cuMemImportFromShareableHandle, &imported);
    cr_expect_not_null(cw_reach_why());
    made(CUPTI_DRIVER_TRACE_CBID_cuMemMap, &mapped);
    cr_expect(is_given(0x30000) && !is_given(OTHERS));
    made(CUPTI_DRIVER_TRACE_CBID_cuMemRetainAllocationHandle, &kept);
    made(CUPTI_DRIVER_TRACE_CBID_cuMemMap, &twice);
    cr_expect(is_given(0x40000));
    made(CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2, &open);
    cr_expect(is_given(OTHERS));
}

Test(reach_launches, memory_that_is_freed_is_shared_no_more)
{
    const cuMemFree_v2_params gone = {.dptr = OTHERS};
    const cuMemGetHandleForAddressRange_params part = {.dptr = OWN + 0x100, .size = 0x10};
    share(OTHERS);
    made(CUPTI_DRIVER_TRACE_CBID_cuMemGetHandleForAddressRange, &part);
    cr_expect(is_given(OWN + 0x108) && !is_given(OWN));
    const uint32_t changes = cw_reach->changes;
    made(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &gone);
    cr_expect(!is_given(OTHERS) && is_given(OWN + 0x108));
    cr_expect_neq(cw_reach->changes, changes);
    cw_reach_forget();
    cr_expect_not_null(cw_reach_why_all());
}

/* The device's memory holds the address that the program has copied there. */
Test(reach_launches, tables)
{
    const uint64_t addresses[] = {OWN, OTHERS + 8}, own = OWN;
    const cuMemcpyDtoD_v2_params table = {OWN + 0x400, (uintptr_t)addresses, sizeof addresses},
                                 copy = {OWN + 0xc00, OWN + 0x408, 8}, plain = {OWN + 0x800, (uintptr_t)&own, 8};
    share(OTHERS);
    made(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, &table);
    made(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, &plain);
    cr_expect(is_given(OWN + 0x400) && !is_given(OWN + 0x800) && !is_given(OWN));
    made(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, &copy);
    cr_expect(is_given(OWN + 0xc00));
    cr_expect_null(cw_reach_why_all());
}

Test(reach_launches, a_variable_that_holds_an_address_is_read_by_any_kernel)
{
    CUdeviceptr variable = OWN + 0x100;
    size_t size = 8;
    const uint64_t address = OTHERS;
    const cuLibraryGetGlobal_params found = {.dptr = &variable, .bytes = &size};
    const cuMemcpyDtoD_v2_params set = {OWN + 0x100, (uintptr_t)&address, 8};
    made(CUPTI_DRIVER_TRACE_CBID_cuLibraryGetGlobal, &found);
    share(OTHERS);
    cr_expect(!is_given(OWN));
    made(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, &set);
    cr_expect(is_given(OWN));
}

/* The driver hides the address. */
Test(reach_launches, tensor_maps)
{
    struct {
        uint64_t before[2];
        CUtensorMap map;
    } arguments = {0};
    const cuTensorMapEncodeTiled_params made_of = {.tensorMap = &arguments.map, .globalAddress = (void *)OTHERS},
                                        own = {.tensorMap = &arguments.map, .globalAddress = (void *)OWN};
    memset(&arguments.map, 3, sizeof arguments.map);
    made(CUPTI_DRIVER_TRACE_CBID_cuTensorMapEncodeTiled, &made_of);
    cr_expect(!is_reached(&arguments, sizeof arguments));
    share(OTHERS);
    cr_expect(is_reached(&arguments, sizeof arguments), "what was made before is known");
    memset(&arguments.map, 4, sizeof arguments.map);
    made(CUPTI_DRIVER_TRACE_CBID_cuTensorMapEncodeTiled, &own);
    cr_expect(!is_reached(&arguments, sizeof arguments));
}

Test(reach_launches, code_of_nvshmem)
{
    share(OTHERS);
    cr_expect(!is_given(OWN));
    atomic_store(&cw_variables->symmetric, true);
    cr_expect(is_given(OWN));
}
