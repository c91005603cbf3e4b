/* What CUPTI's checkpoint does to memory of the host's, and what stays of it. */
#include <criterion/criterion.h>

#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/state.h"

enum { SIZE = 10000 };
static uint8_t pinned[SIZE], registered[64];
static const void *unknown;

static CUresult place(void *answer, CUpointer_attribute attribute, CUdeviceptr address)
{
    cr_assert_eq(attribute, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
    *(unsigned *)answer = CU_MEMORYTYPE_HOST;
    return (uintptr_t)unknown == address ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* As CUPTI does: what was pinned when the checkpoint was saved is back. */
static CUptiResult restore(struct cw_checkpoint *checkpoint)
{
    (void)checkpoint;
    if (unknown != pinned)
        memset(pinned, 1, SIZE);
    memset(registered, 1, sizeof registered);
    return CUPTI_SUCCESS;
}

static void call(CUpti_CallbackId id, const void *params, CUresult result)
{
    CUpti_CallbackData data = {.functionParams = params, .functionReturnValue = &result};
    data.callbackSite = CUPTI_API_ENTER;
    cw_pinned_follow(id, &data);
    data.callbackSite = CUPTI_API_EXIT;
    cw_pinned_follow(id, &data);
}

static void begin(void)
{
    void *memory = pinned;
    cw_inject->api.cuPointerGetAttribute = place;
    cw_checkpoint_library->restore = restore;
    unknown = NULL;
    memset(pinned, 1, SIZE);
    call(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, &(cuMemHostAlloc_params){.pp = &memory, .bytesize = SIZE},
         CUDA_SUCCESS);
    call(CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2,
         &(cuMemHostRegister_v2_params){.p = registered, .bytesize = sizeof registered}, CUDA_SUCCESS);
}

TestSuite(pinned, .init = begin, .fini = cw_pinned_forget);

Test(pinned, stays_as_the_program_has_it)
{
    struct cw_checkpoint checkpoint = {.size = sizeof checkpoint};
    memset(pinned, 7, SIZE);
    registered[63] = 8;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(pinned[0], 7);
    cr_expect_eq(pinned[SIZE - 1], 7);
    cr_expect_eq(registered[63], 8);
}

Test(pinned, what_the_program_gives_back_is_left_alone)
{
    struct cw_checkpoint checkpoint = {.size = sizeof checkpoint};
    call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, &(cuMemFreeHost_params){.p = pinned}, CUDA_SUCCESS);
    cr_expect_eq(cw_pinned->bytes, sizeof registered);
    memset(pinned, 7, SIZE);
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(pinned[0], 1);
}

Test(pinned, a_context_that_ends_takes_its_memory_with_it)
{
    struct cw_checkpoint checkpoint = {.size = sizeof checkpoint};
    unknown = pinned;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(cw_pinned->bytes, sizeof registered);
}

Test(pinned, what_was_refused_is_none)
{
    void *memory = NULL;
    call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2, &(cuMemAllocHost_v2_params){.pp = &memory, .bytesize = SIZE},
         CUDA_ERROR_OUT_OF_MEMORY);
    call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged, &(cuMemAllocManaged_params){.bytesize = SIZE},
         CUDA_ERROR_OUT_OF_MEMORY);
    cr_expect_eq(cw_pinned->bytes, SIZE + sizeof registered);
    cr_expect_not(cw_pinned->managed);
}
