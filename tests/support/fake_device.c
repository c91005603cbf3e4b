#include "tests/support/fake_device.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "agent/inject/memory/checkpoint.h"

struct fake_device fake_device;

static const CUcontext context = (CUcontext)0x10;
static int check, move; /* their addresses are handles of the kernels */

enum { MOST_BLOCKS = 64 };
static struct block {
    void *at;
    size_t size;
    bool on_host;
} blocks[MOST_BLOCKS];

static CUresult take(void **at, size_t size, bool on_host)
{
    struct block *b = blocks;
    while (b < blocks + MOST_BLOCKS && b->at)
        b++;
    if (b == blocks + MOST_BLOCKS || (!on_host && size > fake_unused))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const size_t rounded = (size + 65535) / 65536 * 65536;
    *at = fake_device.arena && !on_host ? fake_device.arena : aligned_alloc(1 << 16, rounded);
    if (*at == fake_device.arena)
        fake_device.arena += rounded;
    *b = (struct block){*at, size, on_host};
    *(on_host ? &fake_device.on_host : &fake_device.on_device) += size;
    fake_unused -= on_host ? 0 : size;
    return CUDA_SUCCESS;
}

static CUresult give(void *at)
{
    for (struct block *b = blocks; b < blocks + MOST_BLOCKS; b++)
        if (b->at == at) {
            *(b->on_host ? &fake_device.on_host : &fake_device.on_device) -= b->size;
            fake_unused += b->on_host ? 0 : b->size;
            if (!fake_device.arena || b->on_host)
                free(at);
            *b = (struct block){0};
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult allocate(CUdeviceptr *at, size_t size)
{
    void *memory = NULL;
    const CUresult result = take(&memory, size, false);
    *at = (uintptr_t)memory;
    return result;
}

static CUresult release(CUdeviceptr at)
{
    return give((void *)(uintptr_t)at);
}

static CUresult allocate_on_host(void **at, size_t size, unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : take(at, size, true);
}

static CUresult upload(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    memcpy((void *)(uintptr_t)to, from, size);
    return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult download(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    memcpy(to, (const void *)(uintptr_t)from, size);
    return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static bool lies_across(const void *at, size_t size, const void *start, size_t whole)
{
    const size_t offset = (size_t)((const uint8_t *)at - (const uint8_t *)start);
    return start && offset < whole && size > whole - offset;
}

/* The driver refuses a copy from or to several allocations, though they are neighbours. */
static CUresult check_one(CUdeviceptr address, size_t size)
{
    const void *at = (const void *)(uintptr_t)address;
    bool across = false;
    for (const struct fake_memory *m = fake_memory; m < fake_memory + FAKE_MOST; m++)
        across = across || lies_across(at, size, m->start, m->size);
    for (const struct block *b = blocks; b < blocks + MOST_BLOCKS; b++)
        across = across || lies_across(at, size, b->at, b->size);
    return across ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult copy_on_device(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    if (check_one(to, size) || check_one(from, size))
        return CUDA_ERROR_INVALID_VALUE;
    fake_device.copied += size;
    fake_device.copies++;
    return download((void *)(uintptr_t)to, from, size, stream);
}

static CUresult set(CUdeviceptr to, unsigned char value, size_t size, CUstream stream)
{
    if (check_one(to, size))
        return CUDA_ERROR_INVALID_VALUE;
    memset((void *)(uintptr_t)to, value, size);
    fake_device.cleared += size;
    fake_device.copies++;
    return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult set_words(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    for (size_t i = 0; i < count; i++)
        ((unsigned *)(uintptr_t)to)[i] = value;
    return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- kernels, as in mirror.cu ----------------------------------------------------------------------------------- */

struct chunk {
    uint8_t *at, *slot;
    uint32_t size, changed;
};

static void run_check(const struct chunk *chunk, uint64_t *hash, uint32_t *list, const uint8_t *zeros, uint32_t keep,
                      uint32_t number)
{
    uint64_t found[2] = {1, 2};
    bool zero = true;
    for (uint32_t i = 0; i < chunk->size; i++) {
        found[0] = (found[0] ^ chunk->at[i]) * UINT64_C(0x100000001b3);
        zero = zero && !chunk->at[i];
    }
    if (memcmp(found, hash, sizeof found) == 0)
        return;
    list[1 + list[0]++] = number | (zero ? UINT32_C(1) << 31 : 0);
    if (keep)
        memcpy(hash, found, sizeof found);
    if (keep && chunk->slot && chunk->slot != zeros) {
        memcpy(chunk->slot, chunk->at, chunk->size);
        fake_device.saved += chunk->size;
    }
}

static void run_move(const struct chunk *chunk, uint32_t back)
{
    memcpy(back ? chunk->at : chunk->slot, back ? chunk->slot : chunk->at, chunk->size);
    *(back ? &fake_device.put_back : &fake_device.saved) += chunk->size;
}

static CUresult launch(const CUlaunchConfig *config, CUfunction function, void **p, void **extra)
{
    if (fake_device.run && function != (CUfunction)(void *)&check && function != (CUfunction)(void *)&move)
        return fake_device.run(function);
    cr_expect(config->blockDimX == 256 && !config->hStream && !extra);
    cr_expect(function == (CUfunction)(void *)&check || function == (CUfunction)(void *)&move);
    cr_expect(!fake_device.counting || !*fake_device.counting, "CUPTI would take it for a launch of the program's");
    const bool checks = function == (CUfunction)(void *)&check;
    const struct chunk *chunks = *(struct chunk **)p[0];
    fake_device.kernels++;
    for (uint32_t i = 0; i < config->gridDimX && !fake_device.fails; i++)
        if (checks)
            run_check(&chunks[i], *(uint64_t **)p[1] + 2 * (size_t)i, *(uint32_t **)p[2], *(uint8_t **)p[3],
                      *(uint32_t *)p[4], i);
        else
            run_move(&chunks[(*(uint32_t **)p[1])[1 + i] & INT32_MAX], *(uint32_t *)p[2]);
    return fake_device.fails;
}

static CUresult load_code(CUmodule *module, const void *code)
{
    *module = (CUmodule)0x77;
    return strstr(code, ".entry check(") && strstr(code, ".entry move(") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult find_kernel(CUfunction *function, CUmodule module, const char *name)
{
    *function = (CUfunction)(void *)(strcmp(name, "check") == 0 ? &check : &move);
    return module == (CUmodule)0x77 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* ---- modules, graphs, contexts ---------------------------------------------------------------------------------- */

static CUresult module_of(CUmodule *module, CUfunction function)
{
    *module = fake_device.module_of_all;
    return function && fake_device.module_of_all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult find_variable(CUdeviceptr *at, size_t *size, CUmodule module, const char *name)
{
    if (module != fake_device.module_of_all || !fake_device.variable || strcmp(name, fake_device.variable) != 0)
        return CUDA_ERROR_NOT_FOUND;
    *at = (uintptr_t)fake_device.variable_at;
    *size = fake_device.variable_size;
    return CUDA_SUCCESS;
}

static CUresult graph_memory(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
    *(cuuint64_t *)value = fake_device.graph_bytes;
    return device || attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult current_context(CUcontext *current)
{
    *current = context;
    return CUDA_SUCCESS;
}

static CUresult push_context(CUcontext pushed)
{
    return pushed == context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult synchronize(void)
{
    return fake_device.busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

void fake_device_begin(size_t unused)
{
    struct cw_cupti *api = &cw_inject->api;
    fake_device = (struct fake_device){.module_of_all = (CUmodule)0x66};
    fake_unused = unused;
    api->cuMemAlloc_v2 = allocate;
    api->cuMemFree_v2 = release;
    api->cuMemHostAlloc = allocate_on_host;
    api->cuMemFreeHost = give;
    api->cuMemcpyHtoDAsync_v2 = upload;
    api->cuMemcpyDtoHAsync_v2 = download;
    api->cuMemcpyDtoDAsync_v2 = copy_on_device;
    api->cuMemsetD8Async = set;
    api->cuMemsetD32Async = set_words;
    api->cuLaunchKernelEx = launch;
    api->cuModuleLoadData = load_code;
    api->cuModuleGetFunction = find_kernel;
    api->cuFuncGetModule = module_of;
    api->cuModuleGetGlobal_v2 = find_variable;
    api->cuDeviceGetGraphMemAttribute = graph_memory;
    if (!api->cuCtxGetCurrent) {
        api->cuCtxGetCurrent = current_context;
        api->cuCtxPushCurrent_v2 = push_context;
        api->cuCtxPopCurrent_v2 = current_context;
        api->cuCtxSynchronize = synchronize;
    }
    cw_checkpoint_by_changes();
}

void fake_device_call(CUpti_CallbackId id, const void *params)
{
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = params, .context = context};
    cr_expect(cw_checkpoint_follows(id));
    cw_checkpoint_follow(id, &call);
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    cw_checkpoint_follow(id, &call);
}

static struct fake_memory *place_of(const void *memory)
{
    struct fake_memory *m = fake_memory;
    while (m < fake_memory + FAKE_MOST && m->start != memory)
        m++;
    cr_assert(m < fake_memory + FAKE_MOST);
    return m;
}

void fake_device_allocate(void *memory, size_t size)
{
    CUdeviceptr at = (uintptr_t)memory;
    *place_of(NULL) = (struct fake_memory){memory, size, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_device_call(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &(cuMemAlloc_v2_params){&at, size});
}

void fake_device_free(void *memory)
{
    *place_of(memory) = (struct fake_memory){0};
    fake_device_call(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &(cuMemFree_v2_params){(uintptr_t)memory});
}

void fake_device_end(void)
{
    for (struct block *b = blocks; b < blocks + MOST_BLOCKS; b++)
        if (b->at)
            give(b->at);
}
