/* Device memory that is saved and restored by what changed. */
#include <criterion/criterion.h>

#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/mirror.h"
#include "agent/inject/memory/record.h"
#include "agent/inject/state.h"
#include "tests/support/fake_device.h"

enum { CHUNK = 1 << 16, CHUNKS = 6, LAST = 100, SIZE = (CHUNKS - 1) * CHUNK + LAST };
#define GB ((size_t)1 << 30)

static const CUcontext context = (CUcontext)0x10;
static _Alignas(CHUNK) uint8_t memory[SIZE];
static struct cw_checkpoint checkpoint;
static int saves_by_library;

static CUptiResult save_by_library(struct cw_checkpoint *c)
{
    saves_by_library += c != NULL;
    return CUPTI_SUCCESS;
}

static CUptiResult nothing(struct cw_checkpoint *c)
{
    return c ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static void set_up(void)
{
    fake_driver();
    cw_inject_acquire();
    fake_total = 16 * GB;
    *cw_checkpoint_library = (struct cw_checkpoint_library){save_by_library, nothing, nothing};
    fake_device_begin(8 * GB);
    fake_device_allocate(memory, SIZE);
    memset(memory, 1, SIZE);
}

static void tear_down(void)
{
    cw_mirror_release(context);
    cw_mirror_forget(context);
    fake_device_end();
}

TestSuite(mirror, .init = set_up, .fini = tear_down);

static void save(void)
{
    cr_assert(cw_checkpoint_has_room(0));
    cr_assert(cw_checkpoint_save(&checkpoint, context));
    cr_expect_eq(saves_by_library, 0);
}

/* Saves after some content, and forgets the counts of the fake. */
static void begin(void)
{
    save();
    cw_checkpoint_free(&checkpoint);
    fake_device.saved = fake_device.put_back = 0;
}

/* More memory than goes to the host before it is known to change. */
static uint8_t much[3 << 25];

static void allocate_much(int value)
{
    memset(much, value, sizeof much);
    fake_device_allocate(much, sizeof much);
}

Test(mirror, only_chunks_that_changed_are_saved_and_put_back)
{
    save();
    cr_expect_eq(fake_device.saved, SIZE);
    cw_checkpoint_free(&checkpoint);
    memory[2 * CHUNK + 7] = 5;
    save();
    cr_expect_eq(fake_device.saved, SIZE + CHUNK);
    memory[0] = 9;
    memory[SIZE - 1] = 9;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(fake_device.put_back, CHUNK + LAST);
    cr_expect(memory[0] == 1 && memory[SIZE - 1] == 1 && memory[2 * CHUNK + 7] == 5);
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(fake_device.put_back, CHUNK + LAST, "nothing had changed");
    cw_checkpoint_free(&checkpoint);
}

Test(mirror, between_passes_the_same_chunks_are_put_back)
{
    begin();
    save();
    memory[0] = 2;
    cr_expect(cw_checkpoint_restore_between(&checkpoint));
    cr_expect_eq(memory[0], 1, "the first restore looks for what changed");
    const uint32_t kernels = fake_device.kernels;
    memory[0] = 3;
    memory[CHUNK] = 3;
    cr_expect(cw_checkpoint_restore_between(&checkpoint));
    cr_expect_eq(fake_device.kernels, kernels + 1);
    cr_expect(memory[0] == 1 && memory[CHUNK] == 3);
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(memory[CHUNK], 1, "the one before the last pass finds the rest");
    cw_checkpoint_free(&checkpoint);
}

Test(mirror, a_started_pass_sees_no_kernels)
{
    memset(memory + 4 * CHUNK, 0, CHUNK);
    begin();
    save();
    memset(memory, 7, 2 * CHUNK);
    memset(memory + 3 * CHUNK, 7, SIZE - 3 * CHUNK);
    cr_expect(cw_checkpoint_look(&checkpoint));
    const uint32_t kernels = fake_device.kernels;
    fake_device.copies = 0;
    fake_device.copied = fake_device.cleared = 0;
    cr_expect(cw_checkpoint_restore_started(&checkpoint));
    cr_expect_eq(fake_device.kernels, kernels);
    cr_expect_eq(fake_device.cleared, CHUNK);
    cr_expect_eq(fake_device.copied, 3 * CHUNK + LAST);
    cr_expect_eq(fake_device.copies, 4, "one for neighbours");
    for (size_t i = 0; i < SIZE; i++)
        cr_assert_eq(memory[i], i / CHUNK == 4 ? 0 : 1);
    cw_checkpoint_free(&checkpoint);
}

/* PyTorch's blocks of 2 MB often are. */
Test(mirror, neighbouring_allocations_are_put_back_one_by_one)
{
    static _Alignas(CHUNK) uint8_t two[4 * CHUNK];
    memset(two, 1, 2 * CHUNK);
    fake_device_allocate(two, CHUNK);
    fake_device_allocate(two + CHUNK, CHUNK);
    fake_device_allocate(two + 2 * CHUNK, CHUNK); /* of zeros */
    fake_device_allocate(two + 3 * CHUNK, CHUNK);
    begin();
    save();
    memset(two, 7, sizeof two);
    cr_expect(cw_checkpoint_look(&checkpoint));
    cr_expect(cw_checkpoint_restore_started(&checkpoint));
    for (size_t i = 0; i < sizeof two; i++)
        cr_assert_eq(two[i], i < 2 * CHUNK);
    cw_checkpoint_free(&checkpoint);
}

/* The first allocation for copies has room for 32 chunks, and the next one begins at its end. */
Test(mirror, neighbouring_copies_are_put_back_one_by_one)
{
    static _Alignas(CHUNK) uint8_t large[40 * CHUNK], arena[16 << 20];
    memset(memory, 0, SIZE);
    memset(large, 1, sizeof large);
    fake_device_allocate(large, sizeof large);
    fake_device.arena = arena;
    fake_unused = GB + CHUNK + (1 << 16) + ((size_t)3 << 20);
    cw_checkpoint_limit(CW_RESERVE_USUAL, 0);
    save();
    cr_expect(!cw_checkpoint_is_whole(&checkpoint));
    cw_checkpoint_free(&checkpoint);
    fake_unused = 8 * GB;
    begin();
    save();
    cr_expect(cw_checkpoint_is_whole(&checkpoint));
    memset(large, 7, sizeof large);
    cr_expect(cw_checkpoint_look(&checkpoint));
    cr_expect(cw_checkpoint_restore_started(&checkpoint));
    for (size_t i = 0; i < sizeof large; i++)
        cr_assert_eq(large[i], 1);
    cw_checkpoint_free(&checkpoint);
}

Test(mirror, zeros_take_no_memory)
{
    memset(memory, 0, SIZE);
    fake_unused = GB + CHUNK + (1 << 20); /* the reserve, what all zeros share, and tables */
    save();
    cr_expect(cw_checkpoint_is_whole(&checkpoint));
    cr_expect_eq(fake_device.saved, 0);
    memory[3 * CHUNK] = 1;
    memory[SIZE - 1] = 1;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect(!memory[3 * CHUNK] && !memory[SIZE - 1]);
    cw_checkpoint_free(&checkpoint);
}

/* A chunk is on the host once it is known to change. */
Test(mirror, a_full_device_saves_to_the_host_by_chunks)
{
    allocate_much(1);
    fake_unused = GB;
    save();
    cr_expect(!cw_checkpoint_is_whole(&checkpoint));
    cr_expect_eq(fake_device.saved, 0);
    cr_expect_eq(fake_device.on_host, 0);
    memory[CHUNK] = 2;
    cr_expect(!cw_checkpoint_restore(&checkpoint));
    cr_expect(cw_checkpoint_lacks(&checkpoint));
    cr_expect_eq(memory[CHUNK], 2, "the program goes on with it");
    cw_checkpoint_free(&checkpoint);
    save();
    cr_expect(fake_device.saved > CHUNK && !cw_checkpoint_is_whole(&checkpoint), "there is room for some others, too");
    cr_expect(fake_device.on_host > 0);
    memory[CHUNK] = 3;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(memory[CHUNK], 2);
    cw_checkpoint_free(&checkpoint);
}

/* On an H200 batches of a program with 512 KB were not collected where the device had no room. */
Test(mirror, little_memory_goes_to_the_host_at_once)
{
    fake_unused = GB;
    save();
    cr_expect(cw_checkpoint_is_whole(&checkpoint));
    cr_expect_eq(fake_device.saved, SIZE);
    memory[CHUNK] = 2;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(memory[CHUNK], 1);
    cw_checkpoint_free(&checkpoint);
}

/* The device has room for some; what changes takes the place of what does not. */
Test(mirror, chunks_that_change_take_the_place_of_others)
{
    static _Alignas(CHUNK) uint8_t large[64 * CHUNK];
    cw_checkpoint_limit(CW_RESERVE_USUAL, 0);
    memset(large, 1, sizeof large);
    fake_device_allocate(large, sizeof large);
    fake_unused = GB + CHUNK + (1 << 16) + ((size_t)3 << 20); /* 32 chunks */
    save();
    cr_expect(!cw_checkpoint_is_whole(&checkpoint));
    cr_expect(fake_device.saved > 31 * CHUNK && fake_device.saved <= 32 * CHUNK, "one may be the short one");
    large[63 * CHUNK] = memory[5 * CHUNK] = 2;
    uint8_t *last = &large[0] > &memory[0] ? &large[63 * CHUNK] : &memory[5 * CHUNK];
    cr_expect(!cw_checkpoint_restore(&checkpoint) && cw_checkpoint_lacks(&checkpoint));
    cw_checkpoint_free(&checkpoint);
    save();
    *last = 3;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(*last, 2);
    cr_expect_eq(fake_device.on_host, 0);
    cw_checkpoint_free(&checkpoint);
}

/* Work that fills memory changes all of it, in several passes, and not again. */
Test(mirror, what_is_changed_once_does_not_go_to_the_host)
{
    memset(memory, 0, SIZE);
    allocate_much(0);
    fake_unused = GB + CHUNK + (1 << 20);
    save();
    for (int pass = 0; pass < 3; pass++) {
        memset(much, 1, sizeof much);
        cr_expect(cw_checkpoint_restore(&checkpoint));
    }
    memset(much, 1, sizeof much);
    cw_checkpoint_free(&checkpoint);
    save();
    cr_expect(!cw_checkpoint_is_whole(&checkpoint));
    cr_expect_eq(fake_device.on_host, 0);
    cw_checkpoint_free(&checkpoint);
}

Test(mirror, memory_that_comes_and_goes)
{
    static uint8_t other[3 * CHUNK];
    begin();
    memset(other, 4, sizeof other);
    fake_device_allocate(other, sizeof other);
    save();
    cr_expect_eq(fake_device.saved, sizeof other, "the rest is as it was");
    other[5] = 1;
    memory[5] = 2;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect(other[5] == 4 && memory[5] == 1);
    cw_checkpoint_free(&checkpoint);
    fake_device_free(other);
    other[5] = 9;
    save();
    other[5] = 8;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(other[5], 8, "it is not the program's any more");
    cw_checkpoint_free(&checkpoint);
}

Test(mirror, the_program_sees_and_gets_all_memory)
{
    size_t free_before, total;
    const cuMemGetInfo_v2_params asks = {&free_before, &total};
    const size_t unused = fake_unused;
    begin();
    cr_expect(fake_device.on_device > SIZE);
    fake_device_call(CUPTI_DRIVER_TRACE_CBID_cuMemGetInfo_v2, &asks);
    cr_expect_eq(fake_unused + CHUNK, unused, "but for the zeros");
    begin();
    fake_device.busy = true;
    fake_device_call(CUPTI_DRIVER_TRACE_CBID_cuMemGetInfo_v2, &asks);
    cr_expect(fake_unused + SIZE < unused, "a kernel may wait for the program, and freeing for the kernel");
    fake_device.busy = false;
    fake_device_call(CUPTI_DRIVER_TRACE_CBID_cuMemCreate, &(cuMemCreate_params){.size = 7 * GB + (GB >> 1)});
    cr_expect_eq(fake_unused + CHUNK, unused);
    save();
    fake_device_call(CUPTI_DRIVER_TRACE_CBID_cuMemGetInfo_v2, &asks);
    cr_expect(fake_unused + SIZE < unused, "while it is in use it stays");
    memory[0] = 2;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(memory[0], 1);
    cw_checkpoint_free(&checkpoint);
}

Test(mirror, variables_of_launched_kernels_are_saved)
{
    static uint32_t variable = 5;
    fake_device.variable = "counter";
    fake_device.variable_at = &variable;
    fake_device.variable_size = sizeof variable;
    cw_write_bytes(&cw_variables->names, "other\0counter", 14);
    fake_memory[FAKE_MOST - 1] = (struct fake_memory){&variable, sizeof variable, CU_MEMORYTYPE_DEVICE, false, 0};
    cw_checkpoint_meet((CUfunction)0x20);
    cr_expect_eq(cw_variables->modules, 1, "older batches do not have it");
    save();
    variable = 6;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(variable, 5);
    cw_checkpoint_free(&checkpoint);
    cw_writer_free(&cw_variables->names);
}

static void expect_library(bool whole_list)
{
    const int before = saves_by_library;
    cr_expect(cw_checkpoint_save(&checkpoint, context));
    cr_expect_eq(saves_by_library, before + whole_list);
    cw_checkpoint_free(&checkpoint);
}

Test(mirror, the_library_saves_what_is_not_known)
{
    fake_device.graph_bytes = 1;
    expect_library(true);
    fake_device.graph_bytes = 0;
    expect_library(false);
    cw_variables->beyond = true;
    expect_library(true);
    cw_variables->beyond = false;
    cw_pinned->managed = true;
    expect_library(true);
    cw_pinned->managed = false;
    expect_library(false);
    fake_device.module_of_all = NULL; /* a kernel whose module cannot be found */
    cw_checkpoint_meet((CUfunction)0x30);
    expect_library(true);
    cr_expect_eq(fake_device.on_device, CHUNK, "which would save our copies as well");
}

Test(mirror, a_failed_kernel_leaves_it_to_the_library)
{
    fake_device.fails = CUDA_ERROR_LAUNCH_FAILED;
    expect_library(true);
    fake_device.fails = CUDA_SUCCESS;
    expect_library(true);
}

Test(mirror, memory_that_was_not_saved_ends_a_record)
{
    static uint8_t unknown[64];
    fake_memory[FAKE_MOST - 1] = (struct fake_memory){unknown, sizeof unknown, CU_MEMORYTYPE_DEVICE, false, 0};
    struct cw_record record = {0};
    const cuMemsetD8_v2_params known = {(uintptr_t)memory, 1, 2}, other = {(uintptr_t)unknown, 1, 2};
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = &known};
    cr_expect(cw_record_add(&record, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, &call, true));
    call.functionParams = &other;
    cr_expect(!cw_record_add(&record, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, &call, true));
    cr_expect(cw_record_add(&record, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, &call, true), "the library knows it");
    expect_library(true);
    cw_record_clear(&record);
}

/* ---- memory that others reach ------------------------------------------------------------------------------------ */

static _Alignas(CHUNK) uint8_t shared[2 * CHUNK];

static void share(uint64_t begin, uint64_t end)
{
    static struct cw_reach_range range;
    range = (struct cw_reach_range){.begin = begin, .end = end, .kind = CW_REACH_SHARED};
    cw_reach->ranges = &range;
    cw_reach->count = 1;
    cw_reach->reached = true;
    cw_reach->changes++;
}

/* Others write it at any time, also between a save and a restore. */
Test(mirror, what_others_reach_is_neither_saved_nor_put_back)
{
    fake_device_allocate(shared, sizeof shared);
    begin();
    share((uintptr_t)shared, (uintptr_t)shared + sizeof shared);
    cr_expect(cw_checkpoint_leaves_out());
    save();
    cr_expect(cw_checkpoint_leaves_out(), "also while it is saved");
    memory[0] = shared[0] = 9;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect(memory[0] == 1 && shared[0] == 9);
    cw_checkpoint_free(&checkpoint);
    cw_reach->count = 0; /* it is shared no more */
    cw_reach->changes++;
    shared[0] = 5;
    save();
    shared[0] = 6;
    cr_expect(cw_checkpoint_restore(&checkpoint));
    cr_expect_eq(shared[0], 5);
    cw_checkpoint_free(&checkpoint);
}

Test(mirror, what_others_reach_in_part_cannot_be_saved)
{
    begin();
    share((uintptr_t)memory + 8, (uintptr_t)memory + 16);
    cr_expect(!cw_checkpoint_save(&checkpoint, context));
    cr_expect_eq(saves_by_library, 0, "it would put back all");
}
