/* Sets and copies that are kept and done again, with a driver that only notes what it is asked for. */
#include <criterion/criterion.h>

#include "agent/inject/memory/transfer.h"
#include "agent/inject/state.h"
#include "tests/support/fake_driver.h"

enum { SIZE = 4096 };
static uint8_t device[SIZE], pinned[SIZE], managed[SIZE], pageable[SIZE];
static const CUstream stream = (CUstream)0x7;
static struct cw_shared shared;

static struct asked {
    const char *call;
    CUdeviceptr to, from;
    const void *host;
    size_t count, rows, pitch;
    unsigned value;
    CUstream stream;
    CUDA_MEMCPY3D box;
} asked;

static CUresult set_8(CUdeviceptr to, unsigned char value, size_t count, CUstream s)
{
    asked = (struct asked){.call = "D8", .to = to, .value = value, .count = count, .stream = s};
    return CUDA_SUCCESS;
}

static CUresult set_16(CUdeviceptr to, unsigned short value, size_t count, CUstream s)
{
    asked = (struct asked){.call = "D16", .to = to, .value = value, .count = count, .stream = s};
    return CUDA_SUCCESS;
}

static CUresult set_32(CUdeviceptr to, unsigned value, size_t count, CUstream s)
{
    asked = (struct asked){.call = "D32", .to = to, .value = value, .count = count, .stream = s};
    return CUDA_SUCCESS;
}

static CUresult set_rows_8(CUdeviceptr to, size_t pitch, unsigned char value, size_t count, size_t rows, CUstream s)
{
    asked = (struct asked){"D2D8", to, .pitch = pitch, .value = value, .count = count, .rows = rows, .stream = s};
    return CUDA_SUCCESS;
}

static CUresult set_rows_16(CUdeviceptr to, size_t pitch, unsigned short value, size_t count, size_t rows, CUstream s)
{
    asked = (struct asked){"D2D16", to, .pitch = pitch, .value = value, .count = count, .rows = rows, .stream = s};
    return CUDA_SUCCESS;
}

static CUresult set_rows_32(CUdeviceptr to, size_t pitch, unsigned value, size_t count, size_t rows, CUstream s)
{
    asked = (struct asked){"D2D32", to, .pitch = pitch, .value = value, .count = count, .rows = rows, .stream = s};
    return CUDA_SUCCESS;
}

static CUresult from_host(CUdeviceptr to, const void *from, size_t count, CUstream s)
{
    asked = (struct asked){.call = "HtoD", .to = to, .host = from, .count = count, .stream = s};
    return CUDA_SUCCESS;
}

static CUresult on_device(CUdeviceptr to, CUdeviceptr from, size_t count, CUstream s)
{
    asked = (struct asked){.call = "DtoD", .to = to, .from = from, .count = count, .stream = s};
    return CUDA_SUCCESS;
}

static CUresult copy_box(const CUDA_MEMCPY3D *box, CUstream s)
{
    asked = (struct asked){.call = "3D", .box = *box, .stream = s};
    return CUDA_SUCCESS;
}

static void begin(void)
{
    fake_driver();
    struct cw_cupti *api = &cw_inject->api;
    api->cuMemsetD8Async = set_8;
    api->cuMemsetD16Async = set_16;
    api->cuMemsetD32Async = set_32;
    api->cuMemsetD2D8Async = set_rows_8;
    api->cuMemsetD2D16Async = set_rows_16;
    api->cuMemsetD2D32Async = set_rows_32;
    api->cuMemcpyHtoDAsync_v2 = from_host;
    api->cuMemcpyDtoDAsync_v2 = on_device;
    api->cuMemcpy3DAsync_v2 = copy_box;
    fake_memory[0] = (struct fake_memory){device, SIZE, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_memory[1] = (struct fake_memory){pinned, SIZE, CU_MEMORYTYPE_HOST, false, 0};
    fake_memory[2] = (struct fake_memory){managed, SIZE, CU_MEMORYTYPE_DEVICE, true, 0};
    for (int i = 0; i < SIZE; i++)
        pinned[i] = pageable[i] = (uint8_t)(i * 7);
    asked = (struct asked){0};
    shared = (struct cw_shared){.arena = cw_arena_create()};
}

static void end(void)
{
    cw_shared_release(&shared);
}

#define ID(name) CUPTI_DRIVER_TRACE_CBID_##name
#define AT(memory) ((CUdeviceptr)(uintptr_t)(memory))

/* Whether a call only brings memory to the host. */
static bool reads(CUpti_CallbackId id, const void *params)
{
    bool at_once;
    return cw_transfer_reads(id, params, &at_once);
}

/* Keeps a call and does it again; false where it cannot be kept. */
static bool again(CUpti_CallbackId id, const void *params)
{
    struct cw_transfer t;
    bool kept = cw_transfer_keep(&t, &shared, id, params);
    if (kept) {
        memset(pinned, 0, SIZE); /* the program goes on */
        memset(pageable, 0, SIZE);
        cr_expect_eq(cw_transfer_do(&t), CUDA_SUCCESS);
    }
    return kept;
}

static void expect_set(const char *call, unsigned value, size_t count, size_t rows, CUstream s)
{
    cr_expect_str_eq(asked.call, call);
    cr_expect(asked.to == AT(device) && asked.value == value && asked.count == count && asked.rows == rows, "%s", call);
    cr_expect_eq(asked.stream, s);
    cr_expect_eq(asked.pitch, rows ? 64 : 0);
}

Test(transfer, sets_of_each_width)
{
    begin();
    cr_expect(again(ID(cuMemsetD8_v2), &(cuMemsetD8_v2_params){AT(device), 0xab, 5}));
    expect_set("D8", 0xab, 5, 0, NULL);
    cr_expect(again(ID(cuMemsetD16Async), &(cuMemsetD16Async_params){AT(device), 0xabcd, 5, stream}));
    expect_set("D16", 0xabcd, 5, 0, stream);
    cr_expect(again(ID(cuMemsetD32Async_ptsz), &(cuMemsetD32Async_ptsz_params){AT(device), 0xabcdef01, 5, stream}));
    expect_set("D32", 0xabcdef01, 5, 0, stream);
    cr_expect(again(ID(cuMemsetD2D8Async), &(cuMemsetD2D8Async_params){AT(device), 64, 0xab, 5, 3, stream}));
    expect_set("D2D8", 0xab, 5, 3, stream);
    cr_expect(again(ID(cuMemsetD2D16_v2), &(cuMemsetD2D16_v2_params){AT(device), 64, 0xabcd, 5, 3}));
    expect_set("D2D16", 0xabcd, 5, 3, NULL);
    cr_expect(again(ID(cuMemsetD2D32Async), &(cuMemsetD2D32Async_params){AT(device), 64, 0xabcdef01, 5, 3, stream}));
    expect_set("D2D32", 0xabcdef01, 5, 3, stream);
    cr_expect(!again(ID(cuMemsetD16_v2), &(cuMemsetD16_v2_params){AT(pinned), 1, 5}));
    cr_expect(!again(ID(cuMemsetD2D8_v2), &(cuMemsetD2D8_v2_params){AT(managed), 64, 1, 5, 3}));
    end();
}

Test(transfer, copies_whose_addresses_say_where_they_go)
{
    begin();
    const cuMemcpyAsync_params inside = {AT(device + 64), AT(device), 32, stream},
                               back = {AT(pageable), AT(device), 32, stream},
                               to_pinned = {AT(pinned), AT(device), 32, stream},
                               moving = {AT(device), AT(managed), 32, stream},
                               to_moving = {AT(managed), AT(device), 32, stream};
    cr_expect(!reads(ID(cuMemcpyAsync), &inside) && again(ID(cuMemcpyAsync), &inside));
    cr_expect_str_eq(asked.call, "DtoD");
    cr_expect(asked.to == AT(device + 64) && asked.from == AT(device) && asked.count == 32 && asked.stream == stream);
    for (int i = 0; i < 2; i++) {
        uint8_t *from = i ? pageable : pinned;
        memset(from, 5 + i, SIZE);
        cr_expect(!reads(ID(cuMemcpy), &(cuMemcpy_params){AT(device), AT(from), 32}));
        cr_expect(again(ID(cuMemcpy), &(cuMemcpy_params){AT(device), AT(from), 32}));
        cr_expect_str_eq(asked.call, "HtoD");
        cr_expect(asked.host != from && asked.count == 32 && !asked.stream);
        cr_expect_eq(((const uint8_t *)asked.host)[31], 5 + i, "as it was");
    }
    cr_expect(reads(ID(cuMemcpyAsync), &back) && reads(ID(cuMemcpyAsync_ptsz), &to_pinned));
    cr_expect(!again(ID(cuMemcpyAsync), &back) && !again(ID(cuMemcpyAsync), &to_pinned));
    cr_expect(!reads(ID(cuMemcpyAsync), &moving) && !again(ID(cuMemcpyAsync), &moving));
    cr_expect(!reads(ID(cuMemcpyAsync), &to_moving) && !again(ID(cuMemcpyAsync), &to_moving));
    cr_expect(!again(ID(cuMemcpy), &(cuMemcpy_params){AT(device), 0, 32}), "of nothing");
    end();
}

Test(transfer, a_read_is_there_at_once_or_later)
{
    bool at_once;
    begin();
    cr_expect(cw_transfer_reads(ID(cuMemcpyDtoH_v2_ptds), NULL, &at_once) && at_once);
    cr_expect(cw_transfer_reads(ID(cuMemcpyDtoHAsync_v2), NULL, &at_once) && !at_once);
    cr_expect(!cw_transfer_reads(ID(cuMemcpyHtoD_v2), NULL, &at_once));
    cr_expect(!cw_transfer_is(ID(cuMemcpyPeer)) && !cw_transfer_reads(ID(cuMemcpyPeer), NULL, &at_once));
    end();
}

static int asked_driver;
static CUresult (*attribute)(void *, CUpointer_attribute, CUdeviceptr);

static CUresult count_attribute(void *to, CUpointer_attribute which, CUdeviceptr address)
{
    asked_driver++;
    return attribute(to, which, address);
}

/* The driver is asked once about most memory, as this is asked at each set. */
Test(transfer, a_set_of_the_hosts_memory)
{
    begin();
    attribute = cw_inject->api.cuPointerGetAttribute;
    cw_inject->api.cuPointerGetAttribute = count_attribute;
    const cuMemsetD8_v2_params on_device = {AT(device), 1, 2}, on_host = {AT(pinned), 1, 2},
                               moving = {AT(managed), 1, 2};
    cr_expect(!cw_transfer_sets_host(ID(cuMemsetD8_v2), &on_device) && asked_driver == 1);
    cr_expect(cw_transfer_sets_host(ID(cuMemsetD8_v2), &on_host) && asked_driver == 3);
    cr_expect(!cw_transfer_sets_host(ID(cuMemsetD2D32Async), &moving));
    cr_expect(!cw_transfer_sets_host(ID(cuMemcpyHtoD_v2), &(cuMemcpyHtoD_v2_params){AT(pinned), pageable, 2}));
    end();
}

Test(transfer, rows_on_the_device)
{
    begin();
    CUDA_MEMCPY2D rows = {.srcXInBytes = 4,
                          .srcY = 1,
                          .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = AT(device),
                          .srcPitch = 64,
                          .dstXInBytes = 8,
                          .dstY = 2,
                          .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .dstDevice = AT(device + 1024),
                          .dstPitch = 32,
                          .WidthInBytes = 16,
                          .Height = 3};
    cr_expect(again(ID(cuMemcpy2DAsync_v2), &(cuMemcpy2DAsync_v2_params){&rows, stream}));
    rows = (CUDA_MEMCPY2D){0};
    const CUDA_MEMCPY3D *b = &asked.box;
    cr_expect_eq(asked.stream, stream);
    cr_expect(b->srcDevice == AT(device) && b->srcXInBytes == 4 && b->srcY == 1 && b->srcPitch == 64 && !b->srcZ);
    cr_expect(b->dstDevice == AT(device + 1024) && b->dstXInBytes == 8 && b->dstY == 2 && b->dstPitch == 32);
    cr_expect(b->WidthInBytes == 16 && b->Height == 3 && b->Depth == 1);
    end();
}

Test(transfer, rows_of_the_host_are_kept_as_they_were)
{
    begin();
    CUDA_MEMCPY3D box = {.srcXInBytes = 2,
                         .srcY = 1,
                         .srcZ = 1,
                         .srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = pageable,
                         .srcPitch = 32,
                         .srcHeight = 5,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = AT(device),
                         .WidthInBytes = 16,
                         .Height = 3,
                         .Depth = 2};
    const size_t first = (1 * 5 + 1) * 32 + 2, last = first + (1 * 5 + 2) * 32 + 15;
    const uint8_t begins = pageable[first], ends = pageable[last];
    cr_expect(again(ID(cuMemcpy3D_v2), &(cuMemcpy3D_v2_params){&box}));
    const CUDA_MEMCPY3D *b = &asked.box;
    cr_expect(b->srcMemoryType == CU_MEMORYTYPE_HOST && !b->srcXInBytes && !b->srcY && !b->srcZ && !asked.stream);
    cr_expect_eq(((const uint8_t *)b->srcHost)[0], begins);
    cr_expect_eq(((const uint8_t *)b->srcHost)[last - first], ends);
    cr_expect_eq(shared.bytes, last - first + 1);
    end();
}

Test(transfer, rows_that_cannot_be_kept)
{
    begin();
    const CUDA_MEMCPY2D good = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = pageable,
                                .srcPitch = 32,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = AT(device),
                                .dstPitch = 32,
                                .WidthInBytes = 16,
                                .Height = 3};
    CUDA_MEMCPY2D bad[7];
    for (int i = 0; i < 7; i++)
        bad[i] = good;
    bad[0].srcPitch = 15;
    bad[1].Height = 0;
    bad[2].Height = SIZE_MAX;
    bad[3].srcHost = NULL;
    bad[4].srcMemoryType = CU_MEMORYTYPE_ARRAY;
    bad[5].dstMemoryType = CU_MEMORYTYPE_ARRAY;
    bad[6].dstDevice = AT(managed);
    cr_expect(again(ID(cuMemcpy2D_v2), &(cuMemcpy2D_v2_params){&good}));
    for (int i = 0; i < 7; i++) {
        cr_expect(!reads(ID(cuMemcpy2D_v2), &(cuMemcpy2D_v2_params){&bad[i]}), "case %d", i);
        cr_expect(!again(ID(cuMemcpy2D_v2), &(cuMemcpy2D_v2_params){&bad[i]}), "case %d", i);
    }
    cr_expect(!again(ID(cuMemcpy2D_v2), &(cuMemcpy2D_v2_params){NULL}));
    CUDA_MEMCPY2D back = good;
    back.dstMemoryType = CU_MEMORYTYPE_HOST;
    cr_expect(reads(ID(cuMemcpy2DAsync_v2), &(cuMemcpy2DAsync_v2_params){&back, stream}));
    back.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    back.dstDevice = AT(pinned);
    cr_expect(reads(ID(cuMemcpy2DUnaligned_v2), &(cuMemcpy2DUnaligned_v2_params){&back}));
    end();
}
