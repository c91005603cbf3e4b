#include "agent/inject/memory/shared.h"

#include "agent/inject/driver/reach.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/pinned.h"
#include "agent/inject/memory/regions.h"

static const size_t most_bytes = (size_t)256 << 20, most_beside = 1 << 20, /* of one launch alone; beside others */
    most_searched = 4 << 20, most_mailbox = 4096, most_table = 1 << 16;

struct cw_shared_piece {
    struct cw_shared_piece *next;
    uint8_t *memory;
    bool replaced, owns; /* the program has freed its memory, and `memory` is a copy; this piece frees the copy */
    void *bytes;         /* earlier content; NULL if it is kept on the device: */
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

/* Asks only of memory of the host whether it is managed. */
static bool is_pinned(int type, uint64_t address)
{
    return type == CU_MEMORYTYPE_HOST && !is_managed(address);
}

bool cw_shared_pinned(uint64_t address)
{
    return is_pinned(type_of(address), address);
}

/* What the words of a launch's arguments say: whether one is an address of pinned memory, or may be of other memory. */
struct given {
    bool pinned, other;
    uint64_t hash;          /* of the other words */
    const uint32_t *device; /* whose launch it is; or NULL */
    bool several;           /* work of other devices uses the pinned memory as well */
    bool deep; /* whether the pinned memory holds an address of the device, too, or too much to be looked at */
};

/* Finds the pinned memory that holds an address, if it can be read: registered memory may be gone, or belong to another
 * device. */
static bool may_look(uint64_t address, size_t most, uint64_t *start, size_t *size)
{
    return cw_pinned_holds(address, start, size) && *size <= most &&
           cw_pinned_find((const void *)(uintptr_t)*start, 0, size);
}

static bool is_of_other_device(uint64_t word, uint32_t device)
{
    if (cw_regions_have(word) || type_of(word) != CU_MEMORYTYPE_DEVICE)
        return false;
    const int of = cw_inject_device_of(word);
    return of >= 0 && of != (int)device;
}

/* Whether pinned memory of at most so many bytes holds an address of another device than `device`; NULL: any address.
 * True if the memory cannot be read. */
static bool leads_on(uint64_t address, size_t most, const uint32_t *device)
{
    uint64_t start;
    size_t size;
    if (!may_look(address, most, &start, &size))
        return true;
    for (size_t at = 0; at + 8 <= size; at += 4) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)(uintptr_t)start + at, sizeof word);
        if (device ? is_of_other_device(word, *device) : type_of(word) >= 0)
            return true;
    }
    return false;
}

/* Of a word that is no address of the device's own memory. */
static bool use(uint64_t word, int type, uint32_t device)
{
    if (type < 0 || is_managed(word))
        return type >= 0;
    const bool several = type == CU_MEMORYTYPE_HOST && cw_pinned_use(word, device);
    return several || (type == CU_MEMORYTYPE_HOST && cw_reach->peers && leads_on(word, most_table, &device));
}

bool cw_shared_use(uint64_t word, uint32_t device)
{
    return !cw_regions_have(word) && use(word, type_of(word), device);
}

static void look_at(struct given *g, const void *parameter, size_t size)
{
    g->other = g->other || size >= sizeof(CUtensorMap); /* which hides the address in it */
    uint64_t rest = 0;
    memcpy(&rest, (const uint8_t *)parameter + size / 8 * 8, size % 8);
    g->hash = cw_inject_mix(g->hash, rest);
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)parameter + at, sizeof word);
        const bool own = cw_regions_have(word);
        const int type = own ? CU_MEMORYTYPE_DEVICE : type_of(word); /* which asks the driver */
        const bool pinned = is_pinned(type, word);
        g->pinned = g->pinned || pinned;
        g->several = (g->device && !own && use(word, type, *g->device)) || g->several;
        g->hash = pinned ? g->hash : cw_inject_mix(g->hash, word);
        g->other = g->other || (type >= 0 && !pinned) || (pinned && g->deep && leads_on(word, most_mailbox, NULL));
    }
}

/* False if the launch's arguments cannot be read. */
static bool look_at_launch(struct given *g, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    const void *buffer;
    size_t size;
    if (!cw_inject_launch(&launch, id, call) || !launch.function || !cw_inject->api.cuFuncGetParamInfo)
        return false;
    if (launch.packed) {
        if (!cw_inject_packed(launch.packed, &buffer, &size) || !buffer)
            return false;
        look_at(g, buffer, size);
        return true;
    }
    for (size_t i = 0; launch.parameters && cw_inject_parameter_size(launch.function, i, &size); i++)
        look_at(g, launch.parameters[i], size);
    return launch.parameters;
}

bool cw_shared_given(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct given g = {0};
    return look_at_launch(&g, id, call) && g.pinned;
}

bool cw_shared_with_devices(CUpti_CallbackId id, const CUpti_CallbackData *call, uint32_t device)
{
    struct given g = {.device = &device};
    return look_at_launch(&g, id, call) && g.several;
}

bool cw_shared_given_alone(CUpti_CallbackId id, const CUpti_CallbackData *call, uint64_t *others)
{
    struct given g = {.deep = true};
    const bool known = look_at_launch(&g, id, call);
    *others = g.hash;
    return known && g.pinned && !g.other;
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
    if (cw_regions_allocate(&piece->on_device, size) != CUDA_SUCCESS)
        return false;
    s->first = piece;
    return copy_on_device(piece->on_device, memory, size);
}

bool cw_shared_keep(struct cw_shared *s, uint64_t address, const struct cw_shared_piece *end, bool alone)
{
    const struct cw_shared_piece *piece = s->first;
    while (piece != end && (address < (uintptr_t)piece->memory || address - (uintptr_t)piece->memory >= piece->size))
        piece = piece->next;
    if (piece != end)
        return true;
    void *host = NULL;
    CUdeviceptr start = 0;
    size_t size = 0;
    const struct cw_cupti *api = &cw_inject->api;
    if (api->cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address) != CUDA_SUCCESS ||
        api->cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) != CUDA_SUCCESS ||
        api->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) != CUDA_SUCCESS)
        return false;
    const bool beside = size <= most_beside && !is_managed(address) && (uintptr_t)host == address;
    if ((!alone && !beside) || api->cuCtxSynchronize() != CUDA_SUCCESS) /* earlier kernels may have written it */
        return false;
    s->alone = s->alone || !beside;
    if (size > most_bytes - s->bytes && is_managed(address))
        return keep_on_device(s, start, size);
    return cw_shared_keep_bytes(s, (uint8_t *)host - (address - start), size);
}

void cw_shared_back(struct cw_shared *s, struct cw_shared_piece *end)
{
    for (; s->first != end; s->first = s->first->next)
        s->bytes -= s->first->bytes ? s->first->size : 0;
}

bool cw_shared_hold(const void *bytes, size_t size, uint64_t begin, uint64_t end)
{
    for (size_t at = 0; at + 8 <= size; at++) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)bytes + at, sizeof word);
        if (word >= begin && word < end)
            return true;
    }
    return false;
}

void *cw_shared_replace(struct cw_shared *s, void *memory, size_t size)
{
    const struct cw_cupti *api = &cw_inject->api;
    const uint64_t begin = (uintptr_t)memory;
    struct cw_shared_piece *given = NULL;
    void *copy = memory;
    if (s->bytes > most_searched)
        return NULL;
    for (struct cw_shared_piece *piece = s->first; piece; piece = piece->next) {
        const uint64_t at = (uintptr_t)piece->memory;
        const bool partly = piece->memory != memory && at < begin + size && begin < at + piece->size;
        if (!piece->bytes || partly || cw_shared_hold(piece->bytes, piece->size, begin, begin + size + 1))
            return NULL;
        if (piece->memory == memory && piece->size < size)
            return NULL;
        given = piece->memory == memory ? piece : given;
    }
    void *after = given ? cw_arena_alloc(s->arena, size, 1) : NULL;
    if (given &&
        (!after || !api->cuMemHostAlloc || !api->cuMemFreeHost || api->cuMemHostAlloc(&copy, size, 0) != CUDA_SUCCESS))
        return NULL;
    if (given)
        memcpy(after, memory, size);
    for (struct cw_shared_piece *piece = s->first; given && piece; piece = piece->next)
        if (piece->memory == memory) {
            piece->after = after;
            piece->memory = copy;
            piece->size = size; /* the driver may name a larger range than the program asked for */
            piece->replaced = true;
            piece->owns = piece == given;
        }
    return copy;
}

/* Copies between the memory and its kept content. */
static bool copy_pieces(const struct cw_shared *s, const struct cw_shared_piece *first,
                        const struct cw_shared_piece *end, bool back)
{
    bool good = true;
    for (const struct cw_shared_piece *piece = first; piece != end; piece = piece->next) {
        CUdeviceptr memory = (uintptr_t)piece->memory, kept = piece->on_device;
        if (piece->bytes && back && piece->after && atomic_load(&s->let_go))
            memcpy(piece->memory, piece->after, piece->size);
        else if (piece->bytes)
            memcpy(back ? piece->memory : piece->bytes, back ? piece->bytes : piece->memory, piece->size);
        else
            good = copy_on_device(back ? memory : kept, back ? kept : memory, piece->size) && good;
    }
    return good;
}

bool cw_shared_restore(const struct cw_shared *s)
{
    return copy_pieces(s, s->first, NULL, true);
}

bool cw_shared_restore_some(const struct cw_shared *s, const struct cw_shared_piece *first,
                            const struct cw_shared_piece *end)
{
    return copy_pieces(s, first, end, true);
}

bool cw_shared_renew(const struct cw_shared *s)
{
    return copy_pieces(s, s->first, NULL, false);
}

/* The later content of the same memory, if another piece has it. */
static const void *after_of(const struct cw_shared *s, const struct cw_shared_piece *piece)
{
    for (const struct cw_shared_piece *p = s->first; p != piece; p = p->next)
        if (p->memory == piece->memory && p->size == piece->size)
            return p->after;
    return NULL;
}

bool cw_shared_keep_after(struct cw_shared *s)
{
    bool good = true;
    for (struct cw_shared_piece *piece = s->first; piece && good; piece = piece->next)
        if (piece->bytes && !piece->replaced && !(piece->after = after_of(s, piece))) {
            void *after = cw_arena_alloc(s->arena, piece->size, 1);
            good = after != NULL;
            if (good)
                piece->after = memcpy(after, piece->memory, piece->size);
        }
    return good;
}

bool cw_shared_is_there(const struct cw_shared *s)
{
    for (const struct cw_shared_piece *piece = s->first; piece; piece = piece->next)
        if (!piece->replaced)
            return true;
    return false;
}

void cw_shared_put_after(const struct cw_shared *s)
{
    for (const struct cw_shared_piece *piece = s->first; piece; piece = piece->next)
        if (piece->after)
            memcpy(piece->memory, piece->after, piece->size);
}

void cw_shared_let_go(struct cw_shared *s)
{
    atomic_store(&s->let_go, true);
    cw_shared_put_after(s);
}

void cw_shared_release(struct cw_shared *s)
{
    for (struct cw_shared_piece *piece = s->first; piece; piece = piece->next) {
        if (piece->on_device)
            cw_regions_release(piece->on_device);
        if (piece->owns)
            cw_inject->api.cuMemFreeHost(piece->memory);
    }
    cw_arena_destroy(s->arena);
    *s = (struct cw_shared){0};
}
