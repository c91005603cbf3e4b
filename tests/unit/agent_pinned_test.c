/* What CUPTI's checkpoint does to memory of the host's, and what stays of it. */
#include <criterion/criterion.h>

#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/state.h"

enum { SIZE = 10000 };
static uint8_t pinned[SIZE], registered[64];
static const void *unknown;
static struct cw_checkpoint checkpoint;

static CUresult place(void *answer, CUpointer_attribute attribute, CUdeviceptr address)
{
    cr_assert_eq(attribute, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
    *(unsigned *)answer = CU_MEMORYTYPE_HOST;
    return (uintptr_t)unknown == address ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult room(size_t *unused, size_t *total)
{
    *unused = *total = (size_t)1 << 30;
    return CUDA_SUCCESS;
}

/* As CUPTI does: what was pinned when the checkpoint was saved is back. Another thread of the program writes when it
 * likes. */
static struct {
    uint8_t pinned[SIZE], registered[sizeof registered];
} saved;
static void (*while_saved)(void), (*when_back)(void);

static CUptiResult save(struct cw_checkpoint *c)
{
    cr_expect_eq(c->size, 48, "what the library knows");
    if (while_saved)
        while_saved();
    memcpy(saved.pinned, pinned, SIZE);
    memcpy(saved.registered, registered, sizeof registered);
    return CUPTI_SUCCESS;
}

static CUptiResult restore(struct cw_checkpoint *c)
{
    cr_expect_eq(c, &checkpoint);
    if (unknown != pinned)
        memcpy(pinned, saved.pinned, SIZE);
    memcpy(registered, saved.registered, sizeof registered);
    if (when_back)
        when_back();
    return CUPTI_SUCCESS;
}

static CUptiResult release(struct cw_checkpoint *c)
{
    cr_expect_eq(c, &checkpoint);
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
    cw_inject->api.cuMemGetInfo_v2 = room;
    *cw_checkpoint_library = (struct cw_checkpoint_library){save, restore, release};
    unknown = NULL;
    memset(pinned, 1, SIZE);
    memset(registered, 1, sizeof registered);
    call(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, &(cuMemHostAlloc_params){.pp = &memory, .bytesize = SIZE},
         CUDA_SUCCESS);
    call(CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2,
         &(cuMemHostRegister_v2_params){.p = registered, .bytesize = sizeof registered}, CUDA_SUCCESS);
}

static void end(void)
{
    cw_checkpoint_free(&checkpoint);
    cw_pinned_forget();
}

TestSuite(pinned, .init = begin, .fini = end);

Test(pinned, stays_as_the_program_has_it)
{
    cr_assert(cw_checkpoint_save(&checkpoint, (CUcontext)0x10));
    memset(pinned, 7, SIZE);
    registered[63] = 8;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(pinned[0], 7);
    cr_expect_eq(pinned[SIZE - 1], 7);
    cr_expect_eq(registered[63], 8);
}

static void write_one(void)
{
    pinned[5000] = registered[7] = 9;
}

/* A loader of data goes on while memory is put back. */
Test(pinned, what_another_thread_writes_meanwhile_stays)
{
    cr_assert(cw_checkpoint_save(&checkpoint, (CUcontext)0x10));
    memset(pinned, 7, SIZE);
    memset(registered, 8, sizeof registered);
    when_back = write_one;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect(pinned[5000] == 9 && registered[7] == 9);
    for (int i = 0; i < SIZE; i++) /* words are written at once: this one was */
        cr_expect(i / 4 == 5000 / 4 || pinned[i] == 7, "byte %d is %d", i, pinned[i]);
    cr_expect(registered[8] == 8 && registered[3] == 8);
}

/* What CUPTI has saved of this memory is not known for sure then. */
Test(pinned, what_another_thread_wrote_while_it_was_saved_stays)
{
    while_saved = write_one;
    cr_assert(cw_checkpoint_save(&checkpoint, (CUcontext)0x10));
    pinned[5000] = registered[7] = 10;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect(pinned[5000] == 10 && registered[7] == 10);
}

/* CUPTI does not know it. */
Test(pinned, what_came_later_is_left_alone)
{
    static uint8_t more[64];
    void *memory = more;
    cr_assert(cw_checkpoint_save(&checkpoint, (CUcontext)0x10));
    call(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, &(cuMemHostAlloc_params){.pp = &memory, .bytesize = sizeof more},
         CUDA_SUCCESS);
    pinned[0] = 7;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(pinned[0], 7);
}

/* Each pass puts memory back. */
Test(pinned, stays_so_however_often_it_is_put_back)
{
    cr_assert(cw_checkpoint_save(&checkpoint, (CUcontext)0x10));
    for (uint8_t i = 2; i < 6; i++) {
        memset(pinned, i, SIZE);
        registered[63] = i;
        cr_expect(cw_checkpoint_restore(&checkpoint));
        cr_expect(pinned[0] == i && pinned[SIZE - 1] == i && registered[63] == i);
    }
}

Test(pinned, what_the_program_gives_back_is_left_alone)
{
    cr_assert(cw_checkpoint_save(&checkpoint, (CUcontext)0x10));
    call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, &(cuMemFreeHost_params){.p = pinned}, CUDA_SUCCESS);
    cr_expect_eq(cw_pinned->bytes, sizeof registered);
    memset(pinned, 7, SIZE);
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(pinned[0], 1);
}

Test(pinned, a_context_that_ends_takes_its_memory_with_it)
{
    cr_assert(cw_checkpoint_save(&checkpoint, (CUcontext)0x10));
    unknown = pinned;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(cw_pinned->bytes, sizeof registered);
}

Test(pinned, what_was_refused_is_none)
{
    cr_assert(cw_checkpoint_save(&checkpoint, (CUcontext)0x10));
    void *memory = NULL;
    call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2, &(cuMemAllocHost_v2_params){.pp = &memory, .bytesize = SIZE},
         CUDA_ERROR_OUT_OF_MEMORY);
    call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged, &(cuMemAllocManaged_params){.bytesize = SIZE},
         CUDA_ERROR_OUT_OF_MEMORY);
    cr_expect_eq(cw_pinned->bytes, SIZE + sizeof registered);
    cr_expect_not(cw_pinned->managed);
}
