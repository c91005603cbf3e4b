#include "agent/inject/memory/shared.h"

#include "agent/inject/memory/checkpoint.h"

static const size_t most_bytes = (size_t)256 << 20;

struct cw_shared_piece {
    struct cw_shared_piece *next;
    uint8_t *memory;
    void *bytes; /* earlier content; NULL if it is kept on the device: */
    CUdeviceptr on_device;
    const void *after; /* later content, or NULL */
    size_t size;
};

static bool is_managed(uint64_t address)
{
    unsigned managed = 0;
    return cw_inject->api.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) == CUDA_SUCCESS &&
           managed;
}

/* CUmemorytype; -1 if the driver does not know the address. */
static int type_of(uint64_t address)
{
    unsigned type = 0;
    bool known = address >= CW_LOWEST_ADDRESS &&
                 cw_inject->api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CUDA_SUCCESS;
    return known ? (int)type : -1;
}

static bool is_pinned(uint64_t address)
{
    return type_of(address) == CU_MEMORYTYPE_HOST && !is_managed(address);
}

enum cw_place cw_shared_place(uint64_t address)
{
    int type = type_of(address);
    return type >= 0 && is_managed(address) ? CW_PLACE_MANAGED
           : type == CU_MEMORYTYPE_DEVICE   ? CW_PLACE_DEVICE
                                            : CW_PLACE_HOST;
}

bool cw_shared_with_host(uint64_t address)
{
    int type = type_of(address);
    return type == CU_MEMORYTYPE_HOST || (type >= 0 && is_managed(address));
}

static bool has_pinned(const void *parameter, size_t size)
{
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)parameter + at, sizeof word);
        if (is_pinned(word))
            return true;
    }
    return false;
}

bool cw_shared_given(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    const void *buffer;
    size_t size;
    if (!cw_inject_launch(&launch, id, call) || !launch.function || !cw_inject->api.cuFuncGetParamInfo)
        return false;
    if (launch.packed)
        return cw_inject_packed(launch.packed, &buffer, &size) && buffer && has_pinned(buffer, size);
    for (size_t i = 0; launch.parameters && cw_inject_parameter_size(launch.function, i, &size); i++)
        if (has_pinned(launch.parameters[i], size))
            return true;
    return false;
}

void *cw_shared_copy(struct cw_shared *s, const void *from, size_t size)
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
    void *bytes = piece ? cw_shared_copy(s, memory, size) : NULL;
    if (!bytes)
        return false;
    *piece = (struct cw_shared_piece){.next = s->first, .memory = memory, .bytes = bytes, .size = size};
    s->first = piece;
    return true;
}

static bool copy_on_device(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    return cw_inject->api.cuMemcpyDtoDAsync_v2(to, from, size, NULL) == CUDA_SUCCESS &&
           cw_inject->api.cuCtxSynchronize() == CUDA_SUCCESS;
}

/* Keeps memory on the device, if there is room beside other data to save. */
static bool keep_on_device(struct cw_shared *s, CUdeviceptr memory, size_t size)
{
    struct cw_shared_piece *piece = cw_arena_alloc(s->arena, 1, sizeof *piece);
    if (!piece || !cw_checkpoint_has_room(size))
        return false;
    *piece = (struct cw_shared_piece){.next = s->first, .memory = (uint8_t *)(uintptr_t)memory, .size = size};
    if (cw_inject->api.cuMemAlloc_v2(&piece->on_device, size) != CUDA_SUCCESS)
        return false;
    s->first = piece;
    return copy_on_device(piece->on_device, memory, size);
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
    const struct cw_cupti *api = &cw_inject->api;
    if (api->cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address) != CUDA_SUCCESS ||
        api->cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) != CUDA_SUCCESS ||
        api->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) != CUDA_SUCCESS ||
        api->cuCtxSynchronize() != CUDA_SUCCESS) /* earlier kernels may have written it */
        return false;
    if (size > most_bytes - s->bytes && is_managed(address))
        return keep_on_device(s, start, size);
    return cw_shared_keep_bytes(s, (uint8_t *)host - (address - start), size);
}

/* Copies between the memory and its kept content. */
static bool copy_all(const struct cw_shared *s, bool back)
{
    bool good = true;
    for (const struct cw_shared_piece *piece = s->first; piece; piece = piece->next) {
        CUdeviceptr memory = (uintptr_t)piece->memory, kept = piece->on_device;
        if (piece->bytes)
            memcpy(back ? piece->memory : piece->bytes, back ? piece->bytes : piece->memory, piece->size);
        else
            good = copy_on_device(back ? memory : kept, back ? kept : memory, piece->size) && good;
    }
    return good;
}

bool cw_shared_restore(const struct cw_shared *s)
{
    return copy_all(s, true);
}

bool cw_shared_renew(const struct cw_shared *s)
{
    return copy_all(s, false);
}

bool cw_shared_keep_after(struct cw_shared *s)
{
    bool good = true;
    for (struct cw_shared_piece *piece = s->first; piece && good; piece = piece->next)
        if (piece->bytes) {
            void *after = cw_arena_alloc(s->arena, piece->size, 1);
            good = after != NULL;
            if (good)
                piece->after = memcpy(after, piece->memory, piece->size);
        }
    return good;
}

void cw_shared_put_after(const struct cw_shared *s)
{
    for (const struct cw_shared_piece *piece = s->first; piece; piece = piece->next)
        if (piece->after)
            memcpy(piece->memory, piece->after, piece->size);
}

void cw_shared_release(struct cw_shared *s)
{
    for (struct cw_shared_piece *piece = s->first; piece; piece = piece->next)
        if (piece->on_device)
            cw_inject->api.cuMemFree_v2(piece->on_device);
    cw_arena_destroy(s->arena);
    *s = (struct cw_shared){0};
}
