#include "agent/inject/memory/record.h"

#include <stddef.h>

enum { MOST_PARAMETERS = 4096 };

struct cw_operation {
    enum { LAUNCH, SET, COPY } kind;
    bool refused; /* by the driver */
    struct cw_operation *next;
    CUstream stream;
    CUfunction function;
    CUlaunchConfig config;
    void **parameters; /* of a launch, or its packed arguments */
    void *packed;
    size_t packed_size;
    CUdeviceptr to, from; /* from: of a copy on the device */
    const void *bytes;    /* of a copy from the host */
    unsigned value, width;
    size_t count; /* of values of `width`, or of bytes */
};

/* ---- the driver's calls ----------------------------------------------------------------------------------------- */

/* Calls that leave alone what kernels read. Waiting is among them: the program may read results, which are the first
 * pass's, and what it writes comes by a call that is recorded. New memory is too: it holds nothing yet. So is managed
 * memory that moves. Waiting for the whole context is apart, because programs do that at the end, and some leave
 * without their exit handlers. */
static const char *const harmless[] = {"cuArray3DGet",
                                       "cuArrayGet",
                                       "cuCtxGet",
                                       "cuCtxPop",
                                       "cuCtxPush",
                                       "cuCtxSetCurrent",
                                       "cuDeviceCan",
                                       "cuDeviceComputeCapability",
                                       "cuDeviceGet",
                                       "cuDevicePrimaryCtxGet",
                                       "cuDevicePrimaryCtxRetain",
                                       "cuDeviceSetMemPool",
                                       "cuDeviceTotalMem",
                                       "cuDriverGet",
                                       "cuEventCreate",
                                       "cuEventDestroy",
                                       "cuEventElapsed",
                                       "cuEventQuery",
                                       "cuEventRecord",
                                       "cuEventSynch",
                                       "cuFuncGet",
                                       "cuFuncIsLoaded",
                                       "cuFuncLoad",
                                       "cuFuncSet",
                                       "cuGetError",
                                       "cuGetExport",
                                       "cuGetProc",
                                       "cuInit",
                                       "cuKernelGet",
                                       "cuKernelSet",
                                       "cuLibraryEnumerate",
                                       "cuLibraryGet",
                                       "cuLibraryLoad",
                                       "cuLink",
                                       "cuMemAdvise",
                                       "cuMemAlloc",
                                       "cuMemGetAccess",
                                       "cuMemGetAddress",
                                       "cuMemGetAllocation",
                                       "cuMemGetDefaultMemPool",
                                       "cuMemGetInfo",
                                       "cuMemGetMemPool",
                                       "cuMemHostAlloc",
                                       "cuMemHostGet",
                                       "cuMemPoolCreate",
                                       "cuMemPoolGet",
                                       "cuMemPoolSetAttribute",
                                       "cuMemPrefetch",
                                       "cuMemRangeGet",
                                       "cuMipmappedArrayGet",
                                       "cuModuleEnumerate",
                                       "cuModuleGet",
                                       "cuModuleLoad",
                                       "cuOccupancy",
                                       "cuPointerGet",
                                       "cuProfiler",
                                       "cuStreamCreate",
                                       "cuStreamGet",
                                       "cuStreamIs",
                                       "cuStreamQuery",
                                       "cuStreamSynch",
                                       "cuStreamWaitEvent",
                                       "cuSurfObjectGet",
                                       "cuTensorMap",
                                       "cuTexObjectGet",
                                       "cuThreadExchange"};

/* Those beside launches. */
enum memory_call { SETS_8, SETS_32, COPIES_FROM_HOST, COPIES_ON_DEVICE };
static const struct recorded {
    CUpti_CallbackId id;
    enum memory_call does;
    size_t stream; /* where its parameters have the stream, behind those that all of the kind begin with; 0: none */
} recorded[] = {
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, SETS_8, 0},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds, SETS_8, 0},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, SETS_8, offsetof(cuMemsetD8Async_params, hStream)},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz, SETS_8, offsetof(cuMemsetD8Async_params, hStream)},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2, SETS_32, 0},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds, SETS_32, 0},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, SETS_32, offsetof(cuMemsetD32Async_params, hStream)},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz, SETS_32, offsetof(cuMemsetD32Async_params, hStream)},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, COPIES_FROM_HOST, 0},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, COPIES_FROM_HOST, 0},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, COPIES_FROM_HOST, offsetof(cuMemcpyHtoDAsync_v2_params, hStream)},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz, COPIES_FROM_HOST,
     offsetof(cuMemcpyHtoDAsync_v2_params, hStream)},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, COPIES_ON_DEVICE, 0},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2_ptds, COPIES_ON_DEVICE, 0},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, COPIES_ON_DEVICE, offsetof(cuMemcpyDtoDAsync_v2_params, hStream)},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz, COPIES_ON_DEVICE,
     offsetof(cuMemcpyDtoDAsync_v2_params, hStream)},
};
enum { RECORDED = sizeof recorded / sizeof *recorded };

static enum cw_effect effect_of(const char *name)
{
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strncmp(name, harmless[i], strlen(harmless[i])) == 0)
            return CW_EFFECT_NONE;
    if (strncmp(name, "cuGraph", 7) == 0 && strstr(name, "Get"))
        return CW_EFFECT_NONE;
    if (strncmp(name, "cuMemcpyDtoH", 12) == 0)
        return CW_EFFECT_READ;
    return strncmp(name, "cuCtxSynchronize", 16) == 0 ? CW_EFFECT_WAIT : CW_EFFECT_END;
}

bool cw_record_init(void)
{
    for (CUpti_CallbackId id = 0; id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++)
        cw_effects->of[id] = cw_inject_launches(id) ? CW_EFFECT_RECORD : effect_of(cw_inject_call_name(id));
    for (size_t i = 0; i < RECORDED; i++)
        cw_effects->of[recorded[i].id] = CW_EFFECT_RECORD;
    return cw_inject->api.cuFuncGetParamInfo && cw_inject->api.cuLaunchKernelEx;
}

enum cw_effect cw_record_effect(CUpti_CallbackId id)
{
    return id < CUPTI_DRIVER_TRACE_CBID_SIZE ? (enum cw_effect)cw_effects->of[id] : CW_EFFECT_END;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* Copies one parameter, and the shared memory that it names. */
static void *keep_parameter(struct cw_record *r, const void *parameter, size_t size)
{
    uint8_t *copy = cw_arena_alloc(r->shared.arena, size + 16, 1);
    if (!copy)
        return NULL;
    copy += -(uintptr_t)copy & 15;
    memcpy(copy, parameter, size);
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, copy + at, sizeof word);
        if (cw_shared_with_host(word) && (r->first || !r->rests || !cw_shared_keep(&r->shared, word)))
            return NULL;
    }
    return copy;
}

static bool keep_parameters(struct cw_record *r, struct cw_operation *op, void **parameters)
{
    size_t count = 0, size;
    while (count < MOST_PARAMETERS && cw_inject_parameter_size(op->function, count, &size))
        count++;
    op->parameters = cw_arena_alloc(r->shared.arena, count + 1, sizeof *op->parameters);
    if (!op->parameters || (count && !parameters))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!cw_inject_parameter_size(op->function, i, &size))
            return false;
        op->parameters[i] = keep_parameter(r, parameters[i], size);
        if (!op->parameters[i])
            return false;
    }
    return true;
}

/* Arguments that the caller has packed into one buffer. */
static bool keep_packed(struct cw_record *r, struct cw_operation *op, void **extra)
{
    const void *buffer;
    if (!cw_inject_packed(extra, &buffer, &op->packed_size))
        return false;
    op->packed = buffer ? keep_parameter(r, buffer, op->packed_size) : NULL;
    return op->packed != NULL;
}

static bool keep_launch(struct cw_record *r, struct cw_operation *op, const struct cw_driver_launch *l)
{
    if (l->graph)
        return false;
    op->function = l->function;
    op->config = l->config;
    op->config.attrs = cw_arena_alloc(r->shared.arena, l->config.numAttrs + 1u, sizeof *l->config.attrs);
    if (!op->config.attrs)
        return false;
    if (l->config.numAttrs)
        memcpy(op->config.attrs, l->config.attrs, l->config.numAttrs * sizeof *l->config.attrs);
    op->stream = l->config.hStream;
    return l->packed ? keep_packed(r, op, l->packed) : keep_parameters(r, op, l->parameters);
}

/* ---- sets and copies -------------------------------------------------------------------------------------------- */

static bool keep_bytes(struct cw_record *r, struct cw_operation *op, CUdeviceptr to, const void *from, size_t size)
{
    op->kind = COPY;
    op->to = to;
    op->bytes = cw_shared_with_host(to) ? NULL : cw_shared_copy(&r->shared, from, size);
    op->count = size;
    return op->bytes != NULL;
}

static bool keep_set(struct cw_operation *op, CUdeviceptr to, unsigned value, unsigned width, size_t count)
{
    op->kind = SET;
    op->to = to;
    op->value = value;
    op->width = width;
    op->count = count;
    return !cw_shared_with_host(to);
}

static bool keep_copy(struct cw_operation *op, CUdeviceptr to, CUdeviceptr from, size_t size)
{
    op->kind = COPY;
    op->to = to;
    op->from = from;
    op->count = size;
    return !cw_shared_with_host(to) && !cw_shared_with_host(from);
}

static bool keep_memory(struct cw_record *r, struct cw_operation *op, CUpti_CallbackId id, const void *params)
{
    const struct recorded *call = recorded;
    while (call < recorded + RECORDED && call->id != id)
        call++;
    if (call == recorded + RECORDED)
        return false;
    if (call->stream)
        memcpy(&op->stream, (const uint8_t *)params + call->stream, sizeof op->stream);
    switch (call->does) {
    case SETS_8: {
        const cuMemsetD8_v2_params *p = params;
        return keep_set(op, p->dstDevice, p->uc, 1, p->N);
    }
    case SETS_32: {
        const cuMemsetD32_v2_params *p = params;
        return keep_set(op, p->dstDevice, p->ui, 4, p->N);
    }
    case COPIES_FROM_HOST: {
        const cuMemcpyHtoD_v2_params *p = params;
        return keep_bytes(r, op, p->dstDevice, p->srcHost, p->ByteCount);
    }
    default: {
        const cuMemcpyDtoD_v2_params *p = params;
        return keep_copy(op, p->dstDevice, p->srcDevice, p->ByteCount);
    }
    }
}

/* ---- recording and playing -------------------------------------------------------------------------------------- */

bool cw_record_add(struct cw_record *r, CUpti_CallbackId id, const CUpti_CallbackData *call, bool rests)
{
    struct cw_driver_launch launch;
    if (!r->shared.arena) {
        *r = (struct cw_record){.shared = {.arena = cw_arena_create()}};
        r->next = &r->first;
    }
    struct cw_operation *op = r->shared.arena ? cw_arena_alloc(r->shared.arena, 1, sizeof *op) : NULL;
    if (!op)
        return false;
    *op = (struct cw_operation){.kind = LAUNCH};
    r->rests = rests;
    if (!(cw_inject_launch(&launch, id, call) ? keep_launch(r, op, &launch)
                                              : keep_memory(r, op, id, call->functionParams)))
        return false;
    op->stream = op->config.hStream = cw_inject_stream(id, op->stream);
    r->launch = op->kind == LAUNCH ? op : r->launch;
    *r->next = op;
    r->next = &op->next;
    return true;
}

void cw_record_refuse(struct cw_record *r)
{
    if (r->launch)
        r->launch->refused = true;
}

static CUresult launch(const struct cw_operation *op)
{
    size_t size = op->packed_size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, op->packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    return cw_inject->api.cuLaunchKernelEx(&op->config, op->function, op->parameters, op->packed ? extra : NULL);
}

static CUresult play(const struct cw_operation *op)
{
    const struct cw_cupti *api = &cw_inject->api;
    switch (op->kind) {
    case LAUNCH:
        return launch(op);
    case SET:
        return op->width == 1 ? api->cuMemsetD8Async(op->to, (unsigned char)op->value, op->count, op->stream)
                              : api->cuMemsetD32Async(op->to, op->value, op->count, op->stream);
    default:
        return op->bytes ? api->cuMemcpyHtoDAsync_v2(op->to, op->bytes, op->count, op->stream)
                         : api->cuMemcpyDtoDAsync_v2(op->to, op->from, op->count, op->stream);
    }
}

bool cw_record_play(const struct cw_record *r, const struct cw_around *around)
{
    const struct cw_operation *last = NULL;
    uint32_t launches = 0;
    bool good = cw_shared_restore(&r->shared);
    for (const struct cw_operation *op = r->first; op && good; last = op, op = op->next) {
        if (last && last->stream != op->stream) /* the program's own order between streams is not known here */
            good = cw_inject->api.cuCtxSynchronize() == CUDA_SUCCESS;
        if (op->kind == LAUNCH)
            around->before(around->user, ++launches);
        good = good && (op->refused || play(op) == CUDA_SUCCESS);
        if (op->kind == LAUNCH)
            around->after(around->user);
    }
    return good && cw_inject->api.cuCtxSynchronize() == CUDA_SUCCESS;
}

void cw_record_clear(struct cw_record *r)
{
    cw_shared_release(&r->shared);
    *r = (struct cw_record){0};
}
