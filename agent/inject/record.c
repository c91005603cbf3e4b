#include "agent/inject/record.h"

#include "host/base/arena.h"

enum { MOST_PARAMETERS = 4096, SHARED_FROM = 1 << 16 };
static const size_t most_bytes = (size_t)256 << 20;

struct cw_operation {
    enum { LAUNCH, SET, COPY } kind;
    struct cw_operation *next;
    CUstream stream;
    CUfunction function;
    CUlaunchConfig config;
    void **parameters;
    CUdeviceptr to, from; /* from: of a copy on the device */
    const void *bytes;    /* of a copy from the host */
    unsigned value, width;
    size_t count; /* of values of `width`, or of bytes */
};

/* ---- the driver's calls ----------------------------------------------------------------------------------------- */

static uint8_t effects[CUPTI_DRIVER_TRACE_CBID_SIZE];

/* Calls that leave alone what kernels read. Waiting is among them: the program may read results, which are the first
 * pass's, and what it writes comes by a call that is recorded. New memory is too: it holds nothing yet. Waiting for the
 * whole context is not, because programs do that at the end, and at their exit it is late to replay anything. */
static const char *const harmless[] = {
    "cuCtxGet",          "cuCtxPush",
    "cuCtxPop",          "cuCtxSetCurrent",

    "cuDeviceGet",       "cuDevicePrimaryCtxGet",
    "cuDeviceCan",       "cuDriverGet",
    "cuEventCreate",     "cuEventElapsed",
    "cuEventQuery",      "cuEventRecord",
    "cuEventSynch",      "cuEventDestroy",
    "cuFuncGet",         "cuFuncSet",
    "cuFuncIsLoaded",    "cuFuncLoad",
    "cuGetError",        "cuGetExport",
    "cuGetProc",         "cuInit",
    "cuKernelGet",       "cuKernelSet",
    "cuLibraryGet",      "cuLibraryLoad",
    "cuMemAlloc",        "cuMemGetAddress",
    "cuMemGetInfo",      "cuMemHostAlloc",
    "cuMemHostGet",      "cuModuleGet",
    "cuModuleLoad",      "cuOccupancy",
    "cuPointerGet",      "cuStreamCreate",
    "cuStreamGet",       "cuStreamIs",
    "cuStreamQuery",     "cuStreamSynch",
    "cuStreamWaitEvent", "cuTensorMap",
    "cuThreadExchange",
};

static const CUpti_CallbackId recorded[] = {
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2,        CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,      CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2,       CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,     CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,      CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2,      CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2_ptds,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz,
};

bool cw_record_init(void)
{
    for (CUpti_CallbackId id = 0; id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++) {
        const char *name = NULL;
        effects[id] = CW_EFFECT_END;
        if (cw_inject.api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || !name)
            continue;
        for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
            if (strncmp(name, harmless[i], strlen(harmless[i])) == 0)
                effects[id] = CW_EFFECT_NONE;
        if (strncmp(name, "cuMemcpyDtoH", 12) == 0)
            effects[id] = CW_EFFECT_READ;
    }
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        effects[recorded[i]] = CW_EFFECT_RECORD;
    for (size_t i = 0; i < cw_inject_launch_count; i++)
        effects[cw_inject_launches[i]] = CW_EFFECT_RECORD;
    return cw_inject.api.cuFuncGetParamInfo && cw_inject.api.cuLaunchKernelEx;
}

enum cw_effect cw_record_effect(CUpti_CallbackId id)
{
    return id < CUPTI_DRIVER_TRACE_CBID_SIZE ? (enum cw_effect)effects[id] : CW_EFFECT_END;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* True for an address of memory that the host sees too: managed, or pinned. */
static bool shared_with_host(uint64_t address)
{
    unsigned type = 0, managed = 0;
    if (address < SHARED_FROM ||
        cw_inject.api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS)
        return false;
    return type == CU_MEMORYTYPE_HOST ||
           (cw_inject.api.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) == CUDA_SUCCESS &&
            managed);
}

/* Copies one parameter; NULL where it holds an address of shared memory. */
static void *keep_parameter(struct cw_record *r, const void *parameter, size_t size)
{
    uint8_t *copy = cw_arena_alloc(r->arena, size + 16, 1);
    if (!copy)
        return NULL;
    copy += -(uintptr_t)copy & 15;
    memcpy(copy, parameter, size);
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, copy + at, sizeof word);
        if (shared_with_host(word))
            return NULL;
    }
    return copy;
}

static bool parameter_size(CUfunction function, size_t index, size_t *size)
{
    size_t offset;
    return cw_inject.api.cuFuncGetParamInfo(function, index, &offset, size) == CUDA_SUCCESS ||
           (cw_inject.api.cuKernelGetParamInfo &&
            cw_inject.api.cuKernelGetParamInfo((CUkernel)function, index, &offset, size) == CUDA_SUCCESS);
}

static bool keep_parameters(struct cw_record *r, struct cw_operation *op, void **parameters)
{
    size_t count = 0, size;
    while (count < MOST_PARAMETERS && parameter_size(op->function, count, &size))
        count++;
    op->parameters = cw_arena_alloc(r->arena, count + 1, sizeof *op->parameters);
    if (!op->parameters || (count && !parameters))
        return false; /* packed arguments: their layout is the caller's own */
    for (size_t i = 0; i < count; i++) {
        if (!parameter_size(op->function, i, &size))
            return false;
        op->parameters[i] = keep_parameter(r, parameters[i], size);
        if (!op->parameters[i])
            return false;
    }
    return true;
}

static bool keep_config(struct cw_record *r, struct cw_operation *op, const CUlaunchConfig *config)
{
    op->config = *config;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && config->attrs[i].value.cooperative)
            return false;
    op->config.attrs = cw_arena_alloc(r->arena, config->numAttrs + 1u, sizeof *config->attrs);
    if (op->config.attrs && config->numAttrs)
        memcpy(op->config.attrs, config->attrs, config->numAttrs * sizeof *config->attrs);
    return op->config.attrs != NULL;
}

static bool keep_launch(struct cw_record *r, struct cw_operation *op, CUpti_CallbackId id, const void *params)
{
    if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz) {
        const cuLaunchKernel_params *p = params;
        CUlaunchConfig config = {.gridDimX = p->gridDimX,
                                 .gridDimY = p->gridDimY,
                                 .gridDimZ = p->gridDimZ,
                                 .blockDimX = p->blockDimX,
                                 .blockDimY = p->blockDimY,
                                 .blockDimZ = p->blockDimZ,
                                 .sharedMemBytes = p->sharedMemBytes,
                                 .hStream = p->hStream};
        op->function = p->f;
        op->stream = p->hStream;
        return !p->extra && keep_config(r, op, &config) && keep_parameters(r, op, p->kernelParams);
    }
    if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz) {
        const cuLaunchKernelEx_params *p = params;
        op->function = p->f;
        op->stream = p->config->hStream;
        return !p->extra && keep_config(r, op, p->config) && keep_parameters(r, op, p->kernelParams);
    }
    return false; /* cooperative kernels and graphs */
}

/* ---- sets and copies -------------------------------------------------------------------------------------------- */

static bool keep_bytes(struct cw_record *r, struct cw_operation *op, CUdeviceptr to, const void *from, size_t size)
{
    void *copy = r->bytes + size <= most_bytes ? cw_arena_alloc(r->arena, size, 1) : NULL;
    if (!copy || shared_with_host(to))
        return false;
    memcpy(copy, from, size);
    r->bytes += size;
    op->kind = COPY;
    op->to = to;
    op->bytes = copy;
    op->count = size;
    return true;
}

static bool keep_set(struct cw_operation *op, CUdeviceptr to, unsigned value, unsigned width, size_t count)
{
    op->kind = SET;
    op->to = to;
    op->value = value;
    op->width = width;
    op->count = count;
    return !shared_with_host(to);
}

static bool keep_copy(struct cw_operation *op, CUdeviceptr to, CUdeviceptr from, size_t size)
{
    op->kind = COPY;
    op->to = to;
    op->from = from;
    op->count = size;
    return !shared_with_host(to) && !shared_with_host(from);
}

static bool keep_memory(struct cw_record *r, struct cw_operation *op, CUpti_CallbackId id, const void *params)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async:
    case CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz:
        op->stream = ((const cuMemsetD8Async_params *)params)->hStream;
        /* fallthrough */
    case CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds: {
        const cuMemsetD8_v2_params *p = params; /* the asynchronous ones begin alike */
        return keep_set(op, p->dstDevice, p->uc, 1, p->N);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async:
    case CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz:
        op->stream = ((const cuMemsetD32Async_params *)params)->hStream;
        /* fallthrough */
    case CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds: {
        const cuMemsetD32_v2_params *p = params;
        return keep_set(op, p->dstDevice, p->ui, 4, p->N);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz:
        op->stream = ((const cuMemcpyHtoDAsync_v2_params *)params)->hStream;
        /* fallthrough */
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds: {
        const cuMemcpyHtoD_v2_params *p = params;
        return keep_bytes(r, op, p->dstDevice, p->srcHost, p->ByteCount);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz:
        op->stream = ((const cuMemcpyDtoDAsync_v2_params *)params)->hStream;
        /* fallthrough */
    default: {
        const cuMemcpyDtoD_v2_params *p = params;
        return keep_copy(op, p->dstDevice, p->srcDevice, p->ByteCount);
    }
    }
}

/* ---- recording and playing -------------------------------------------------------------------------------------- */

/* The calls that mean the calling thread's own stream by the stream 0. */
static bool of_thread_stream(CUpti_CallbackId id)
{
    const char *name = NULL;
    size_t n = cw_inject.api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS && name
                   ? strlen(name)
                   : 0;
    return n > 5 && (strcmp(name + n - 5, "_ptsz") == 0 || strcmp(name + n - 5, "_ptds") == 0);
}

bool cw_record_add(struct cw_record *r, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_launch shape;
    if (!r->arena) {
        *r = (struct cw_record){.arena = cw_arena_create()};
        r->next = &r->first;
    }
    struct cw_operation *op = r->arena ? cw_arena_alloc(r->arena, 1, sizeof *op) : NULL;
    if (!op)
        return false;
    *op = (struct cw_operation){.kind = LAUNCH};
    bool kept = cw_inject_launch_shape(&shape, id, call->functionParams) ? keep_launch(r, op, id, call->functionParams)
                                                                         : keep_memory(r, op, id, call->functionParams);
    if (!kept)
        return false;
    if (!op->stream && of_thread_stream(id))
        op->stream = op->config.hStream = CU_STREAM_PER_THREAD;
    *r->next = op;
    r->next = &op->next;
    return true;
}

static CUresult play(const struct cw_operation *op)
{
    const struct cw_cupti *api = &cw_inject.api;
    switch (op->kind) {
    case LAUNCH:
        return api->cuLaunchKernelEx(&op->config, op->function, op->parameters, NULL);
    case SET:
        return op->width == 1 ? api->cuMemsetD8Async(op->to, (unsigned char)op->value, op->count, op->stream)
                              : api->cuMemsetD32Async(op->to, op->value, op->count, op->stream);
    default:
        return op->bytes ? api->cuMemcpyHtoDAsync_v2(op->to, op->bytes, op->count, op->stream)
                         : api->cuMemcpyDtoDAsync_v2(op->to, op->from, op->count, op->stream);
    }
}

bool cw_record_play(const struct cw_record *r)
{
    CUresult result = CUDA_SUCCESS;
    const struct cw_operation *last = NULL;
    for (const struct cw_operation *op = r->first; op && result == CUDA_SUCCESS; op = op->next) {
        if (last && last->stream != op->stream) /* the program's own order between streams is not known here */
            result = cw_inject.api.cuCtxSynchronize();
        if (result == CUDA_SUCCESS)
            result = play(op);
        last = op;
    }
    return result == CUDA_SUCCESS && cw_inject.api.cuCtxSynchronize() == CUDA_SUCCESS;
}

void cw_record_clear(struct cw_record *r)
{
    cw_arena_destroy(r->arena);
    *r = (struct cw_record){0};
}
