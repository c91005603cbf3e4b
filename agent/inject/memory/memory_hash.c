#include "agent/inject/memory/memory_hash.h"

static struct hasher { /* of a context; NULL: a free place */
    CUcontext context;
    CUfunction function;
    CUdeviceptr sum;
} hashers[CW_MOST_CONTEXTS] CW_STATE;

enum { BLOCKS = 1056, THREADS = 512 }; /* the fastest on an H100 */

/* Each thread mixes words with their indices, and adds them up; the order of additions does not matter. As C:
 *     for (i = thread; i < count; i += threads) {
 *         word = (words[i] ^ (first + i) * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
 *         own += word ^ word >> 29;
 *     }
 *     atomicAdd(sum, own); */
static const char code[] = ".version 6.4\n"
                           ".target sm_70\n"
                           ".address_size 64\n"
                           ".visible .entry hash(.param .u64 words, .param .u64 count, .param .u64 first,\n"
                           "                     .param .u64 sum)\n"
                           "{\n"
                           "    .reg .pred %done;\n"
                           "    .reg .b32 %block, %thread, %blocks, %threads;\n"
                           "    .reg .b64 %i, %step, %words, %count, %first, %sum, %own, %at, %word, %mix;\n"
                           "    ld.param.u64 %words, [words];\n"
                           "    ld.param.u64 %count, [count];\n"
                           "    ld.param.u64 %first, [first];\n"
                           "    ld.param.u64 %sum, [sum];\n"
                           "    cvta.to.global.u64 %words, %words;\n"
                           "    cvta.to.global.u64 %sum, %sum;\n"
                           "    mov.u32 %block, %ctaid.x;\n"
                           "    mov.u32 %blocks, %nctaid.x;\n"
                           "    mov.u32 %thread, %tid.x;\n"
                           "    mov.u32 %threads, %ntid.x;\n"
                           "    mul.wide.u32 %i, %block, %threads;\n"
                           "    cvt.u64.u32 %at, %thread;\n"
                           "    add.u64 %i, %i, %at;\n"
                           "    mul.wide.u32 %step, %blocks, %threads;\n"
                           "    mov.u64 %own, 0;\n"
                           "next:\n"
                           "    setp.ge.u64 %done, %i, %count;\n"
                           "    @%done bra end;\n"
                           "    shl.b64 %at, %i, 3;\n"
                           "    add.u64 %at, %words, %at;\n"
                           "    ld.global.u64 %word, [%at];\n"
                           "    add.u64 %mix, %first, %i;\n"
                           "    mul.lo.u64 %mix, %mix, 0x9e3779b97f4a7c15;\n"
                           "    xor.b64 %word, %word, %mix;\n"
                           "    mul.lo.u64 %word, %word, 0xbf58476d1ce4e5b9;\n"
                           "    shr.u64 %mix, %word, 29;\n"
                           "    xor.b64 %word, %word, %mix;\n"
                           "    add.u64 %own, %own, %word;\n"
                           "    add.u64 %i, %i, %step;\n"
                           "    bra next;\n"
                           "end:\n"
                           "    red.global.add.u64 [%sum], %own;\n"
                           "    ret;\n"
                           "}\n";

static bool begin(struct hasher *hasher, CUcontext context)
{
    CUmodule module;
    const struct cw_cupti *api = &cw_inject->api;
    if (!api->cuModuleLoadData || !api->cuModuleGetFunction || !api->cuMemcpyDtoH_v2 || !api->cuLaunchKernelEx ||
        api->cuModuleLoadData(&module, code) != CUDA_SUCCESS ||
        api->cuModuleGetFunction(&hasher->function, module, "hash") != CUDA_SUCCESS ||
        cw_regions_allocate(&hasher->sum, sizeof(uint64_t)) != CUDA_SUCCESS)
        return false;
    hasher->context = context;
    return true;
}

static const struct hasher *hasher_of(CUcontext context)
{
    struct hasher *unused = NULL;
    for (uint32_t i = 0; i < CW_MOST_CONTEXTS; i++) {
        if (hashers[i].context == context)
            return &hashers[i];
        if (!unused && !hashers[i].context)
            unused = &hashers[i];
    }
    return unused && begin(unused, context) ? unused : NULL;
}

static bool add(const struct hasher *hasher, const struct cw_region *piece, uint64_t first)
{
    CUlaunchConfig config = {
        .gridDimX = BLOCKS, .gridDimY = 1, .gridDimZ = 1, .blockDimX = THREADS, .blockDimY = 1, .blockDimZ = 1};
    uint64_t words = piece->at, count = piece->size / sizeof(uint64_t), sum = hasher->sum;
    void *parameters[] = {&words, &count, &first, &sum};
    return cw_inject->api.cuLaunchKernelEx(&config, hasher->function, parameters, NULL) == CUDA_SUCCESS;
}

bool cw_memory_hash(CUcontext context, const struct cw_region *pieces, size_t count, uint64_t *hash)
{
    const struct hasher *hasher = hasher_of(context);
    const struct cw_cupti *api = &cw_inject->api;
    uint64_t first = 0;
    bool good = hasher && api->cuMemsetD32Async(hasher->sum, 0, 2, NULL) == CUDA_SUCCESS;
    for (size_t i = 0; i < count && good; i++) {
        good = add(hasher, &pieces[i], first);
        first += pieces[i].size / sizeof(uint64_t);
    }
    return good && api->cuCtxSynchronize() == CUDA_SUCCESS &&
           api->cuMemcpyDtoH_v2(hash, hasher->sum, sizeof *hash) == CUDA_SUCCESS;
}

void cw_memory_hash_forget(CUcontext context)
{
    for (uint32_t i = 0; i < CW_MOST_CONTEXTS; i++)
        if (hashers[i].context == context)
            hashers[i].context = NULL;
}
