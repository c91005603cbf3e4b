/* The device memory that a program's kernels may write, from its calls. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/regions.h"
#include "agent/inject/state.h"
#include "tests/support/fake_device.h"

#define ID(name) CUPTI_DRIVER_TRACE_CBID_##name

static void set_up(void)
{
    fake_driver();
    cw_inject_acquire();
    fake_device_begin((size_t)8 << 30);
}

static void tear_down(void)
{
    free(cw_regions->items);
}

TestSuite(regions, .init = set_up, .fini = tear_down);

static void expect(const struct cw_region *regions, uint32_t count)
{
    cr_assert_eq(cw_regions->count, count);
    for (uint32_t i = 0; i < count; i++)
        cr_expect(cw_regions->items[i].at == regions[i].at && cw_regions->items[i].size == regions[i].size, "%u", i);
}

#define EXPECT(...)                                                                                                    \
    expect((const struct cw_region[]){__VA_ARGS__},                                                                    \
           sizeof((const struct cw_region[]){__VA_ARGS__}) / sizeof(struct cw_region))

static void allocate(CUdeviceptr at, size_t size)
{
    fake_device_call(ID(cuMemAlloc_v2), &(cuMemAlloc_v2_params){&at, size});
}

Test(regions, allocations_are_known_until_they_are_freed)
{
    CUdeviceptr rows = 0x70000, later = 0x90000;
    size_t pitch = 512;
    allocate(0x50000, 100);
    allocate(0x30000, 0x1000);
    fake_device_call(ID(cuMemAllocPitch_v2), &(cuMemAllocPitch_v2_params){&rows, &pitch, 300, 10, 4});
    fake_device_call(ID(cuMemAllocAsync), &(cuMemAllocAsync_params){&later, 64, NULL});
    EXPECT({0x30000, 0x1000}, {0x50000, 100}, {0x70000, 5120}, {0x90000, 64});
    cr_expect(cw_regions_have(0x30fff) && !cw_regions_have(0x31000) && !cw_regions_have(0x2ffff));
    fake_device_call(ID(cuMemFree_v2), &(cuMemFree_v2_params){0x50000});
    fake_device_call(ID(cuMemFreeAsync), &(cuMemFreeAsync_params){0x90000, NULL});
    EXPECT({0x30000, 0x1000}, {0x70000, 5120});
    allocate(0x30000, 0x2000); /* it was freed without our notice */
    EXPECT({0x30000, 0x2000}, {0x70000, 5120});
    cr_expect(cw_regions_are_all());
}

Test(regions, mapped_memory_is_known_where_the_device_may_write_it)
{
    CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    fake_device_call(ID(cuMemSetAccess), &(cuMemSetAccess_params){0x200000, 0x100000, &access, 1});
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    fake_device_call(ID(cuMemSetAccess), &(cuMemSetAccess_params){0x240000, 0x10000, &access, 1});
    EXPECT({0x200000, 0x40000}, {0x250000, 0xb0000});
    fake_device_call(ID(cuMemUnmap), &(cuMemUnmap_params){0x200000, 0x60000});
    EXPECT({0x260000, 0xa0000});
    fake_device_call(ID(cuMemUnmap), &(cuMemUnmap_params){0x200000, 0x100000});
    cr_expect_eq(cw_regions->count, 0);
    cr_expect(cw_regions_are_all());
}

/* The device itself cannot read it there; it has the memory at other addresses. */
Test(regions, addresses_of_another_device_alone_are_not_known)
{
    CUmemAccessDesc access[] = {
        {{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
    };
    fake_device_call(ID(cuMemSetAccess), &(cuMemSetAccess_params){0x200000, 0x100000, access, 1});
    cr_expect_eq(cw_regions->count, 0);
    fake_device_call(ID(cuMemSetAccess), &(cuMemSetAccess_params){0x400000, 0x100000, access, 2});
    EXPECT({0x400000, 0x100000});
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    fake_device_call(ID(cuMemSetAccess), &(cuMemSetAccess_params){0x400000, 0x100000, access, 1});
    EXPECT({0x400000, 0x100000});
    cr_expect(cw_regions_are_all());
}

/* Whichever device is current, and for pieces of several devices. */
Test(regions, memory_is_known_at_addresses_of_its_own_device)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    fake_memory[0] = (struct fake_memory){(void *)0x200000, 0x100000, CU_MEMORYTYPE_DEVICE, false, 1};
    fake_memory[1] = (struct fake_memory){(void *)0x300000, 0x100000, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_device_call(ID(cuMemSetAccess), &(cuMemSetAccess_params){0x200000, 0x200000, &access, 1});
    EXPECT({0x200000, 0x100000});
}

Test(regions, memory_of_the_host_is_none_of_the_device)
{
    static uint32_t mapped[4];
    const CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    fake_memory[0] =
        (struct fake_memory){.start = (uint8_t *)mapped, .size = sizeof mapped, .type = CU_MEMORYTYPE_HOST};
    fake_device_call(ID(cuMemSetAccess), &(cuMemSetAccess_params){(uintptr_t)mapped, sizeof mapped, &access, 1});
    cr_expect(!cw_regions->count && cw_regions_are_all());
}

Test(regions, memory_of_graphs_is_not_known)
{
    CUdeviceptr at = 0x30000;
    fake_captured = (CUstream)0x5;
    fake_device_call(ID(cuMemAllocAsync), &(cuMemAllocAsync_params){&at, 64, (CUstream)0x5});
    cr_expect(!cw_regions->count && !cw_regions_are_all());
}

Test(regions, graphs_that_allocate_are_not_known)
{
    CUgraphNodeParams node = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = {.func = (CUfunction)0x20}};
    fake_device_call(ID(cuGraphAddNode_v2), &(cuGraphAddNode_v2_params){.nodeParams = &node});
    cr_expect(cw_regions_are_all());
    node.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    fake_device_call(ID(cuGraphAddNode_v2), &(cuGraphAddNode_v2_params){.nodeParams = &node});
    cr_expect(!cw_regions_are_all());
}

Test(regions, surfaces_are_not_known)
{
    fake_device_call(ID(cuSurfObjectCreate), &(cuSurfObjectCreate_params){0});
    cr_expect(!cw_regions_are_all());
}

Test(regions, multicast_memory_is_not_known)
{
    fake_device_call(ID(cuMulticastCreate), &(cuMulticastCreate_params){0});
    cr_expect(!cw_regions_are_all());
}

Test(regions, a_free_that_fails_leaves_memory_that_is_not_known)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    const cuMemFree_v2_params params = {0x30000};
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = &params};
    allocate(0x30000, 64);
    cw_checkpoint_follow(ID(cuMemFree_v2), &call);
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    cw_checkpoint_follow(ID(cuMemFree_v2), &call);
    cr_expect(!cw_regions_are_all());
}

Test(regions, variables_go_with_their_module)
{
    static uint32_t variable[2];
    const CUdeviceptr at = (uintptr_t)variable;
    CUdeviceptr found = at;
    size_t size = sizeof *variable;
    fake_memory[0] = (struct fake_memory){variable, sizeof *variable, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_device_call(ID(cuModuleGetGlobal_v2), &(cuModuleGetGlobal_v2_params){&found, &size, NULL, "x"});
    EXPECT({at, sizeof *variable});
    cr_expect_eq(cw_variables->modules, 1);
    fake_device_call(ID(cuModuleGetGlobal_v2), &(cuModuleGetGlobal_v2_params){&found, &size, NULL, "x"});
    cr_expect_eq(cw_variables->modules, 1, "it was known");
    cw_regions_forget_code(false);
    cr_expect(cw_regions_are_all() && cw_regions->count == 1, "it was another module");
    fake_memory[0].size = 0;
    cr_expect(cw_regions_are_all() && cw_regions->count == 1, "no code was unloaded");
    fake_device_call(ID(cuModuleUnload), &(cuModuleUnload_params){NULL});
    cr_expect(cw_regions_are_all() && !cw_regions->count);
}

Test(regions, a_function_is_met_again_when_code_was_unloaded)
{
    static uint32_t variable;
    fake_device.variable = "counter";
    fake_device.variable_at = &variable;
    fake_device.variable_size = sizeof variable;
    fake_memory[0] = (struct fake_memory){&variable, sizeof variable, CU_MEMORYTYPE_DEVICE, false, 0};
    cw_checkpoint_meet((CUfunction)0x20);
    cr_expect_eq(cw_regions->count, 0);
    cw_write_bytes(&cw_variables->names, "counter", 8);
    cw_checkpoint_meet((CUfunction)0x20);
    cw_checkpoint_meet((CUfunction)0x30);
    cr_expect_eq(cw_regions->count, 0, "its module has been looked at");
    cw_regions_forget_code(false);
    cw_checkpoint_meet((CUfunction)0x30);
    EXPECT({(uintptr_t)&variable, sizeof variable});
    cw_writer_free(&cw_variables->names);
}

Test(regions, nothing_is_asked_of_modules_where_not_all_can_be_known)
{
    cw_variables->beyond = true;
    fake_device.module_of_all = NULL;
    cw_checkpoint_meet((CUfunction)0x20);
    cr_expect(!cw_regions->beyond && !cw_regions_are_all());
}

Test(regions, managed_variables_are_not_the_devices)
{
    static uint32_t variable;
    CUdeviceptr found = (uintptr_t)&variable;
    size_t size = sizeof variable;
    fake_memory[0] = (struct fake_memory){&variable, sizeof variable, CU_MEMORYTYPE_DEVICE, true, 0};
    fake_device_call(ID(cuModuleGetGlobal_v2), &(cuModuleGetGlobal_v2_params){&found, &size, NULL, "x"});
    cr_expect(!cw_regions->count && cw_regions_know(found) && cw_regions_are_all());
}

Test(regions, memory_of_others_is_none_that_kernels_may_write_unseen)
{
    static uint8_t here[8], there[8], shared[8];
    fake_memory[0] = (struct fake_memory){here, sizeof here, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_memory[1] = (struct fake_memory){there, sizeof there, CU_MEMORYTYPE_DEVICE, false, 1};
    fake_memory[2] = (struct fake_memory){shared, sizeof shared, CU_MEMORYTYPE_DEVICE, false, 0};
    struct cw_reach_range range = {(uintptr_t)shared, (uintptr_t)shared + 8, 0, CW_REACH_FOREIGN};
    cw_reach->ranges = &range;
    cw_reach->count = 1;
    cr_expect(cw_regions_know((uintptr_t)there), "of another device");
    cr_expect(cw_regions_know((uintptr_t)shared), "of another process");
    cr_expect(cw_regions_are_all());
    cr_expect(!cw_regions_know((uintptr_t)here) && !cw_regions_are_all(), "of this device, and no call told of it");
}

Test(regions, memory_of_the_library_itself_is_the_programs_by_mistake_alone)
{
    CUdeviceptr own[20];
    for (int i = 0; i < 20; i++)
        cr_assert_eq(cw_regions_allocate(&own[i], 100), CUDA_SUCCESS);
    cr_expect(cw_regions_know(own[0]) && cw_regions_know(own[19] + 99) && cw_regions_are_all());
    for (int i = 0; i < 20; i++)
        cw_regions_release(own[i]);
    cr_expect_eq(cw_regions->own_count, 0);
    free(cw_regions->own);
}

Test(regions, owners)
{
    static uint8_t here[8], there[8];
    fake_memory[0] = (struct fake_memory){here, sizeof here, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_memory[1] = (struct fake_memory){there, sizeof there, CU_MEMORYTYPE_DEVICE, false, 1};
    const struct cw_region own = {(uintptr_t)here, 8}, other = {(uintptr_t)there, 8};
    fake_owner = (CUcontext)0x10;
    cr_expect_eq(cw_region_owner(&own, (CUcontext)0x10), CW_REGION_OWN);
    cr_expect_eq(cw_region_owner(&own, (CUcontext)0x20), CW_REGION_NEIGHBOUR);
    cr_expect_eq(cw_region_owner(&other, (CUcontext)0x10), CW_REGION_ELSEWHERE);
    fake_owner = NULL; /* mapped, or of a pool */
    cr_expect_eq(cw_region_owner(&own, (CUcontext)0x20), CW_REGION_OWN);
}
