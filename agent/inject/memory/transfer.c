#include "agent/inject/memory/transfer.h"

#include <stddef.h>

/* Kinds of calls. Calls of one kind begin with the same parameters, except for the width of the value. */
enum kind { SETS, SETS_ROWS, TO_HOST, FROM_HOST, ON_DEVICE, ANYWHERE, ROWS, BOXES };

static const struct call {
    CUpti_CallbackId id;
    enum kind kind;
    unsigned width; /* width of the set value */
    size_t stream;  /* offset of the stream in its parameters; 0: none, the call is synchronous */
} calls[] = {
#define ID(name) CUPTI_DRIVER_TRACE_CBID_##name
#define NOW(name, kind, width)                                                                                         \
    {ID(name), kind, width, 0},                                                                                        \
    {                                                                                                                  \
        ID(name##_ptds), kind, width, 0                                                                                \
    }
#define LATER(name, kind, width)                                                                                       \
    {ID(name), kind, width, offsetof(name##_params, hStream)},                                                         \
    {                                                                                                                  \
        ID(name##_ptsz), kind, width, offsetof(name##_params, hStream)                                                 \
    }
    NOW(cuMemsetD8_v2, SETS, 1),         LATER(cuMemsetD8Async, SETS, 1),
    NOW(cuMemsetD16_v2, SETS, 2),        LATER(cuMemsetD16Async, SETS, 2),
    NOW(cuMemsetD32_v2, SETS, 4),        LATER(cuMemsetD32Async, SETS, 4),
    NOW(cuMemsetD2D8_v2, SETS_ROWS, 1),  LATER(cuMemsetD2D8Async, SETS_ROWS, 1),
    NOW(cuMemsetD2D16_v2, SETS_ROWS, 2), LATER(cuMemsetD2D16Async, SETS_ROWS, 2),
    NOW(cuMemsetD2D32_v2, SETS_ROWS, 4), LATER(cuMemsetD2D32Async, SETS_ROWS, 4),
    NOW(cuMemcpyDtoH_v2, TO_HOST, 0),    LATER(cuMemcpyDtoHAsync_v2, TO_HOST, 0),
    NOW(cuMemcpyHtoD_v2, FROM_HOST, 0),  LATER(cuMemcpyHtoDAsync_v2, FROM_HOST, 0),
    NOW(cuMemcpyDtoD_v2, ON_DEVICE, 0),  LATER(cuMemcpyDtoDAsync_v2, ON_DEVICE, 0),
    NOW(cuMemcpy, ANYWHERE, 0),          LATER(cuMemcpyAsync, ANYWHERE, 0),
    NOW(cuMemcpy2D_v2, ROWS, 0),         NOW(cuMemcpy2DUnaligned_v2, ROWS, 0),
    LATER(cuMemcpy2DAsync_v2, ROWS, 0),  NOW(cuMemcpy3D_v2, BOXES, 0),
    LATER(cuMemcpy3DAsync_v2, BOXES, 0),
};

static const struct call *find(CUpti_CallbackId id)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].id == id)
            return &calls[i];
    return NULL;
}

bool cw_transfer_is(CUpti_CallbackId id)
{
    return find(id) != NULL;
}

/* ---- locations of memory ---------------------------------------------------------------------------------------- */

static bool is_on_device(CUmemorytype type, CUdeviceptr address)
{
    return (type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED) &&
           cw_shared_place(address) == CW_PLACE_DEVICE;
}

static bool is_of_host(CUmemorytype type, CUdeviceptr address)
{
    return type == CU_MEMORYTYPE_HOST || (type == CU_MEMORYTYPE_UNIFIED && cw_shared_place(address) == CW_PLACE_HOST);
}

/* Converts a copy of rows into a copy of a box. */
static CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D *rows)
{
    return (CUDA_MEMCPY3D){.srcXInBytes = rows->srcXInBytes,
                           .srcY = rows->srcY,
                           .srcMemoryType = rows->srcMemoryType,
                           .srcHost = rows->srcHost,
                           .srcDevice = rows->srcDevice,
                           .srcArray = rows->srcArray,
                           .srcPitch = rows->srcPitch,
                           .dstXInBytes = rows->dstXInBytes,
                           .dstY = rows->dstY,
                           .dstMemoryType = rows->dstMemoryType,
                           .dstHost = rows->dstHost,
                           .dstDevice = rows->dstDevice,
                           .dstArray = rows->dstArray,
                           .dstPitch = rows->dstPitch,
                           .WidthInBytes = rows->WidthInBytes,
                           .Height = rows->Height,
                           .Depth = 1};
}

/* Reads the box of a call of ROWS or BOXES; false if the program gave none. */
static bool read_box(CUDA_MEMCPY3D *box, const struct call *call, const void *params)
{
    if (call->kind == ROWS) {
        const CUDA_MEMCPY2D *rows = ((const cuMemcpy2D_v2_params *)params)->pCopy;
        if (rows)
            *box = box_of(rows);
        return rows;
    }
    const CUDA_MEMCPY3D *given = ((const cuMemcpy3D_v2_params *)params)->pCopy;
    if (given)
        *box = *given;
    return given;
}

bool cw_transfer_reads(CUpti_CallbackId id, const void *params, bool *at_once)
{
    const struct call *call = find(id);
    CUDA_MEMCPY3D box;
    *at_once = call && !call->stream;
    if (!call || call->kind < TO_HOST || call->kind == FROM_HOST || call->kind == ON_DEVICE)
        return false;
    if (call->kind == TO_HOST)
        return true;
    if (call->kind == ANYWHERE)
        return cw_shared_place(((const cuMemcpy_params *)params)->dst) == CW_PLACE_HOST;
    return read_box(&box, call, params) && is_of_host(box.dstMemoryType, box.dstDevice);
}

bool cw_transfer_sets_host(CUpti_CallbackId id, const void *params)
{
    const struct call *call = find(id);
    return call && (call->kind == SETS || call->kind == SETS_ROWS) &&
           cw_shared_pinned(((const cuMemsetD8_v2_params *)params)->dstDevice); /* both kinds begin with it */
}

static struct cw_host_bytes host_bytes(const void *memory, size_t size)
{
    uintptr_t begin = (uintptr_t)memory;
    return (struct cw_host_bytes){begin, size > UINTPTR_MAX - begin ? UINTPTR_MAX : begin + size};
}

/* Host bytes of a box; only their beginning is computed. */
static struct cw_host_bytes box_bytes(CUmemorytype type, const void *host, CUdeviceptr unified)
{
    return host_bytes(type == CU_MEMORYTYPE_HOST ? host : (const void *)(uintptr_t)unified, SIZE_MAX);
}

int cw_transfer_device(CUpti_CallbackId id, const void *params)
{
    const struct call *call = find(id);
    const cuMemcpy_params *p = params; /* copies of one piece begin with destination and source */
    if (!call || (call->kind != TO_HOST && call->kind != FROM_HOST && call->kind != ANYWHERE))
        return -1;
    const bool out = call->kind == TO_HOST || (call->kind == ANYWHERE && cw_shared_place(p->dst) != CW_PLACE_DEVICE);
    return cw_inject_device_of(out ? p->src : p->dst);
}

struct cw_host_bytes cw_transfer_host(CUpti_CallbackId id, const void *params)
{
    const struct call *call = find(id);
    const cuMemcpyDtoH_v2_params *out = params;
    const cuMemcpyHtoD_v2_params *in = params;
    const cuMemcpy_params *any = params;
    CUDA_MEMCPY3D box;
    if (call && call->kind == TO_HOST)
        return host_bytes(out->dstHost, out->ByteCount);
    if (call && call->kind == FROM_HOST)
        return host_bytes(in->srcHost, in->ByteCount);
    if (call && call->kind == ANYWHERE) {
        bool to = cw_shared_place(any->dst) == CW_PLACE_HOST;
        return host_bytes((const void *)(uintptr_t)(to ? any->dst : any->src), any->ByteCount);
    }
    if (!call || (call->kind != ROWS && call->kind != BOXES) || !read_box(&box, call, params))
        return (struct cw_host_bytes){0, 0};
    if (is_of_host(box.dstMemoryType, box.dstDevice))
        return box_bytes(box.dstMemoryType, box.dstHost, box.dstDevice);
    return is_of_host(box.srcMemoryType, box.srcDevice) ? box_bytes(box.srcMemoryType, box.srcHost, box.srcDevice)
                                                        : (struct cw_host_bytes){0, 0};
}

/* ---- keeping ---------------------------------------------------------------------------------------------------- */

static bool keep_set(struct cw_transfer *t, const cuMemsetD8_v2_params *p)
{
    *t = (struct cw_transfer){.kind = CW_TRANSFER_SET, .width = t->width, .to = p->dstDevice, .count = p->N};
    memcpy(&t->value, &p->uc, t->width);
    return !cw_shared_with_host(t->to);
}

static bool keep_rows(struct cw_transfer *t, const cuMemsetD2D8_v2_params *p)
{
    *t = (struct cw_transfer){.kind = CW_TRANSFER_SET,
                              .width = t->width,
                              .to = p->dstDevice,
                              .count = p->Width,
                              .rows = p->Height,
                              .pitch = p->dstPitch};
    memcpy(&t->value, &p->uc, t->width);
    return t->rows && !cw_shared_with_host(t->to); /* without rows it would be a set of one row */
}

static bool keep_bytes(struct cw_transfer *t, struct cw_shared *shared, CUdeviceptr to, const void *from, size_t size)
{
    *t = (struct cw_transfer){.kind = CW_TRANSFER_COPY, .to = to, .count = size};
    if (from && !cw_shared_with_host(to))
        t->bytes = cw_shared_copy(shared, from, size);
    return t->bytes != NULL;
}

static bool keep_copy(struct cw_transfer *t, CUdeviceptr to, CUdeviceptr from, size_t size)
{
    *t = (struct cw_transfer){.kind = CW_TRANSFER_COPY, .to = to, .from = from, .count = size};
    return !cw_shared_with_host(to) && !cw_shared_with_host(from);
}

static bool keep_anywhere(struct cw_transfer *t, struct cw_shared *shared, const cuMemcpy_params *p)
{
    enum cw_place from = cw_shared_place(p->src);
    if (cw_shared_place(p->dst) != CW_PLACE_DEVICE)
        return false;
    if (from == CW_PLACE_DEVICE)
        return keep_copy(t, p->dst, p->src, p->ByteCount);
    return from == CW_PLACE_HOST && keep_bytes(t, shared, p->dst, (const void *)(uintptr_t)p->src, p->ByteCount);
}

/* Keeps the source rows of a box, which then begin at the copy. */
static bool keep_source(CUDA_MEMCPY3D *box, struct cw_shared *shared)
{
    const uint8_t *host = box->srcMemoryType == CU_MEMORYTYPE_HOST ? (const uint8_t *)box->srcHost
                                                                   : (const uint8_t *)(uintptr_t)box->srcDevice;
    size_t rows, before, bytes;
    if (!host || !box->Height || !box->Depth || (box->Depth > 1 && box->srcHeight < box->Height) ||
        (box->Height > 1 && box->srcPitch < box->WidthInBytes) ||
        __builtin_mul_overflow(box->Depth - 1, box->srcHeight, &rows) ||
        __builtin_add_overflow(rows, box->Height - 1, &rows) || __builtin_mul_overflow(rows, box->srcPitch, &bytes) ||
        __builtin_add_overflow(bytes, box->WidthInBytes, &bytes))
        return false;
    before = (box->srcZ * box->srcHeight + box->srcY) * box->srcPitch + box->srcXInBytes;
    box->srcMemoryType = CU_MEMORYTYPE_HOST;
    box->srcHost = cw_shared_copy(shared, host + before, bytes);
    box->srcXInBytes = box->srcY = box->srcZ = 0;
    return box->srcHost != NULL;
}

static bool keep_box(struct cw_transfer *t, struct cw_shared *shared, const struct call *call, const void *params)
{
    CUDA_MEMCPY3D *box = cw_arena_alloc(shared->arena, 1, sizeof *box);
    if (!box || !read_box(box, call, params))
        return false;
    *t = (struct cw_transfer){.kind = CW_TRANSFER_BOX, .box = box};
    return is_on_device(box->dstMemoryType, box->dstDevice) &&
           (is_on_device(box->srcMemoryType, box->srcDevice) ||
            (is_of_host(box->srcMemoryType, box->srcDevice) && keep_source(box, shared)));
}

static bool keep(struct cw_transfer *t, struct cw_shared *shared, const struct call *call, const void *params)
{
    switch (call->kind) {
    case SETS:
        return keep_set(t, params);
    case SETS_ROWS:
        return keep_rows(t, params);
    case FROM_HOST: {
        const cuMemcpyHtoD_v2_params *p = params;
        return keep_bytes(t, shared, p->dstDevice, p->srcHost, p->ByteCount);
    }
    case ON_DEVICE: {
        const cuMemcpyDtoD_v2_params *p = params;
        return keep_copy(t, p->dstDevice, p->srcDevice, p->ByteCount);
    }
    case ANYWHERE:
        return keep_anywhere(t, shared, params);
    case ROWS:
    case BOXES:
        return keep_box(t, shared, call, params);
    default:
        return false;
    }
}

bool cw_transfer_keep(struct cw_transfer *t, struct cw_shared *shared, CUpti_CallbackId id, const void *params)
{
    const struct call *call = find(id);
    *t = (struct cw_transfer){.width = call ? call->width : 0};
    if (!call || !keep(t, shared, call, params))
        return false;
    if (call->stream)
        memcpy(&t->stream, (const uint8_t *)params + call->stream, sizeof t->stream);
    return true;
}

bool cw_transfer_keep_node(struct cw_transfer *t, struct cw_shared *shared, const struct cw_transfer *node)
{
    *t = *node;
    if (node->kind == CW_TRANSFER_SET)
        return !cw_shared_with_host(node->to);
    CUDA_MEMCPY3D *box = cw_arena_alloc(shared->arena, 1, sizeof *box);
    if (!box)
        return false;
    *box = *node->box;
    t->box = box;
    return is_on_device(box->dstMemoryType, box->dstDevice) && is_on_device(box->srcMemoryType, box->srcDevice);
}

CUdeviceptr cw_transfer_target(const struct cw_transfer *t)
{
    return t->kind == CW_TRANSFER_BOX ? t->box->dstDevice : t->to;
}

/* ---- repeating -------------------------------------------------------------------------------------------------- */

static CUresult set(const struct cw_transfer *t)
{
    const struct cw_cupti *api = &cw_inject->api;
    switch (t->width) {
    case 1:
        return api->cuMemsetD8Async(t->to, (unsigned char)t->value, t->count, t->stream);
    case 2:
        return api->cuMemsetD16Async(t->to, (unsigned short)t->value, t->count, t->stream);
    default:
        return api->cuMemsetD32Async(t->to, t->value, t->count, t->stream);
    }
}

static CUresult set_rows(const struct cw_transfer *t)
{
    const struct cw_cupti *api = &cw_inject->api;
    switch (t->width) {
    case 1:
        return api->cuMemsetD2D8Async(t->to, t->pitch, (unsigned char)t->value, t->count, t->rows, t->stream);
    case 2:
        return api->cuMemsetD2D16Async(t->to, t->pitch, (unsigned short)t->value, t->count, t->rows, t->stream);
    default:
        return api->cuMemsetD2D32Async(t->to, t->pitch, t->value, t->count, t->rows, t->stream);
    }
}

CUresult cw_transfer_do(const struct cw_transfer *t)
{
    const struct cw_cupti *api = &cw_inject->api;
    switch (t->kind) {
    case CW_TRANSFER_SET:
        return t->rows ? set_rows(t) : set(t);
    case CW_TRANSFER_BOX:
        return api->cuMemcpy3DAsync_v2(t->box, t->stream);
    default:
        return t->bytes ? api->cuMemcpyHtoDAsync_v2(t->to, t->bytes, t->count, t->stream)
                        : api->cuMemcpyDtoDAsync_v2(t->to, t->from, t->count, t->stream);
    }
}
