#include "agent/inject/shared.h"

static const size_t most_bytes = (size_t)256 << 20;

struct cw_shared_piece {
    struct cw_shared_piece *next;
    uint8_t *memory;
    const void *bytes; /* what it held */
    size_t size;
};

bool cw_shared_with_host(uint64_t address)
{
    unsigned type = 0, managed = 0;
    if (address < CW_LOWEST_ADDRESS ||
        cw_inject.api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS)
        return false;
    return type == CU_MEMORYTYPE_HOST ||
           (cw_inject.api.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) == CUDA_SUCCESS &&
            managed);
}

const void *cw_shared_copy(struct cw_shared *s, const void *from, size_t size)
{
    void *copy = size <= most_bytes - s->bytes ? cw_arena_alloc(s->arena, size, 1) : NULL;
    if (copy) {
        memcpy(copy, from, size);
        s->bytes += size;
    }
    return copy;
}

bool cw_shared_keep_bytes(struct cw_shared *s, void *memory, size_t size)
{
    struct cw_shared_piece *piece = cw_arena_alloc(s->arena, 1, sizeof *piece);
    const void *bytes = piece ? cw_shared_copy(s, memory, size) : NULL;
    if (!bytes)
        return false;
    *piece = (struct cw_shared_piece){s->first, memory, bytes, size};
    s->first = piece;
    return true;
}

bool cw_shared_keep(struct cw_shared *s, uint64_t address)
{
    const struct cw_shared_piece *piece = s->first;
    while (piece && (address < (uintptr_t)piece->memory || address - (uintptr_t)piece->memory >= piece->size))
        piece = piece->next;
    if (piece)
        return true;
    void *host = NULL;
    CUdeviceptr start = 0;
    size_t size = 0;
    const struct cw_cupti *api = &cw_inject.api;
    return api->cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address) == CUDA_SUCCESS &&
           api->cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) == CUDA_SUCCESS &&
           api->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) == CUDA_SUCCESS &&
           api->cuCtxSynchronize() == CUDA_SUCCESS && /* earlier kernels may still write it */
           cw_shared_keep_bytes(s, (uint8_t *)host - (address - start), size);
}

void cw_shared_restore(const struct cw_shared *s)
{
    for (const struct cw_shared_piece *piece = s->first; piece; piece = piece->next)
        memcpy(piece->memory, piece->bytes, piece->size);
}
