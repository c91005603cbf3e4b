#include "agent/inject/driver/reach.h"

#include <inttypes.h>
#include <stdio.h>

#define self cw_reach

/* How to tell from a call that it makes memory reachable. */
enum kind {
    NOTHING,
    ALWAYS,
    COPIES,    /* begins with destination and source */
    SETS,      /* begins with the destination */
    LISTS,     /* the same for a list of copies */
    LISTS_3D,  /* and of rectangles */
    COPIES_2D, /* of a rectangle */
    COPIES_3D,
    ACCESS,     /* memory, size, list of accessing devices, its length */
    POOL,       /* the same without the size */
    CREATES,    /* creates memory on a device or the host */
    REGISTERS,  /* registers host memory, which may be another process's, too */
    ATTRIBUTES, /* sets attributes of a pointer */
};

static const struct {
    const char *name; /* the call's name, or its beginning */
    enum kind kind;
} calls[] = {
    {"cuCtxEnablePeerAccess", ALWAYS},
    {"cuIpcGetMemHandle", ALWAYS},
    {"cuIpcOpenMemHandle", ALWAYS},
    {"cuMemExportToShareableHandle", ALWAYS},
    {"cuMemImportFromShareableHandle", ALWAYS},
    {"cuMemPoolExport", ALWAYS},
    {"cuMemPoolImport", ALWAYS},
    {"cuMemGetHandleForAddressRange", ALWAYS},
    {"cuMulticast", ALWAYS},
    {"cuImportExternal", ALWAYS},
    {"cuMemcpyPeer", ALWAYS},
    {"cuMemcpy3DPeer", ALWAYS},
    {"cuStreamWaitValue", ALWAYS}, /* later launches wait for the host or another device */
    {"cuStreamBatchMemOp", ALWAYS},
    {"cuMemcpyAsync", COPIES},
    {"cuMemcpyBatchAsync", LISTS},
    {"cuMemcpy2D", COPIES_2D},
    {"cuMemcpy3DBatch", LISTS_3D},
    {"cuMemcpy3D", COPIES_3D},
    {"cuMemcpyDtoD", COPIES},
    {"cuMemcpyHtoD", COPIES},
    {"cuMemset", SETS},
    {"cuMemSetAccess", ACCESS},
    {"cuMemPoolSetAccess", POOL},
    {"cuMemCreate", CREATES},
    {"cuMemHostRegister", REGISTERS},
    {"cuPointerSetAttribute", ATTRIBUTES},
};

static enum kind kind_of(const char *name)
{
    if (strcmp(name, "cuMemcpy") == 0 || strcmp(name, "cuMemcpy_ptds") == 0)
        return COPIES;
    if (strncmp(name, "cuMulticastGet", 14) == 0)
        return NOTHING;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strncmp(name, calls[i].name, strlen(calls[i].name)) == 0)
            return calls[i].kind;
    return NOTHING;
}

void cw_reach_init(void)
{
    self->why[0] = 0;
    self->reached = false;
    for (CUpti_CallbackId id = 0; id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++)
        self->kinds[id] = kind_of(cw_inject_call_name(id));
}

bool cw_reach_follows(CUpti_CallbackId id)
{
    return id < CUPTI_DRIVER_TRACE_CBID_SIZE && self->kinds[id] != NOTHING;
}

const char *cw_reach_why(void)
{
    return self->reached ? self->why : NULL;
}

void cw_reach_begin(void)
{
    self->reached = true;
}

/* ---- parameters of calls ---------------------------------------------------------------------------------------- */

static bool is_other(CUmemLocationType type, int device)
{
    CUdevice own;
    return type == CU_MEM_LOCATION_TYPE_DEVICE &&
           (cw_inject->api.cuCtxGetDevice(&own) != CUDA_SUCCESS || device != (int)own);
}

static bool gives_access(const CUmemAccessDesc *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        if (list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && is_other(list[i].location.type, list[i].location.id))
            return true;
    return false;
}

static bool is_elsewhere(CUdeviceptr address)
{
    unsigned type = 0;
    int device = 0;
    const struct cw_cupti *api = &cw_inject->api;
    return address && api->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE &&
           api->cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) == CUDA_SUCCESS &&
           device >= 0 && is_other(CU_MEM_LOCATION_TYPE_DEVICE, device);
}

/* Whether other processes may map this host memory, as NCCL's shared memory; assumed if the maps cannot be read. */
static bool is_of_several_processes(const void *memory)
{
    uint64_t at = (uintptr_t)memory, begin, end;
    char line[512], sharing;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool shared = !maps;
    while (!shared && fgets(line, sizeof line, maps))
        shared = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*3c%c", &begin, &end, &sharing) == 3 && at >= begin &&
                 at < end && sharing == 's';
    if (maps)
        fclose(maps);
    return shared;
}

#if CUDA_VERSION >= 12080
static bool is_any_elsewhere(const CUdeviceptr *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        if (is_elsewhere(list[i]))
            return true;
    return false;
}

static bool is_operand_elsewhere(const CUmemcpy3DOperand *operand)
{
    return operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER && is_elsewhere(operand->op.ptr.ptr);
}
#endif

/* Whether one end of a copy of rows is elsewhere. */
static bool is_end_elsewhere(CUmemorytype type, CUdeviceptr address)
{
    return (type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED) && is_elsewhere(address);
}

static bool reaches(enum kind kind, const void *params)
{
    switch (kind) {
    case ALWAYS:
        return true;
    case COPIES: {
        const cuMemcpyDtoD_v2_params *p = params; /* the other calls begin with the same parameters */
        return is_elsewhere(p->dstDevice) || is_elsewhere(p->srcDevice);
    }
    case SETS:
        return is_elsewhere(((const cuMemsetD8_v2_params *)params)->dstDevice);
#if CUDA_VERSION >= 12080 /* versions of these calls begin with the same parameters */
    case LISTS: {
        const cuMemcpyBatchAsync_params *p = params;
        return is_any_elsewhere(p->dsts, p->count) || is_any_elsewhere(p->srcs, p->count);
    }
    case LISTS_3D: {
        const cuMemcpy3DBatchAsync_params *p = params;
        for (size_t i = 0; p->opList && i < p->numOps; i++)
            if (is_operand_elsewhere(&p->opList[i].dst) || is_operand_elsewhere(&p->opList[i].src))
                return true;
        return false;
    }
#endif
    case COPIES_2D: {
        const CUDA_MEMCPY2D *p = ((const cuMemcpy2D_v2_params *)params)->pCopy;
        return p &&
               (is_end_elsewhere(p->dstMemoryType, p->dstDevice) || is_end_elsewhere(p->srcMemoryType, p->srcDevice));
    }
    case COPIES_3D: {
        const CUDA_MEMCPY3D *p = ((const cuMemcpy3D_v2_params *)params)->pCopy;
        return p &&
               (is_end_elsewhere(p->dstMemoryType, p->dstDevice) || is_end_elsewhere(p->srcMemoryType, p->srcDevice));
    }
    case ACCESS: {
        const cuMemSetAccess_params *p = params;
        return gives_access(p->desc, p->count);
    }
    case POOL: {
        const cuMemPoolSetAccess_params *p = params;
        return gives_access(p->map, p->count);
    }
    case CREATES: {
        const cuMemCreate_params *p = params;
        return p->prop && is_other(p->prop->location.type, p->prop->location.id);
    }
    case REGISTERS:
        return is_of_several_processes(((const cuMemHostRegister_v2_params *)params)->p);
    case ATTRIBUTES: /* as drivers of network cards need */
        return ((const cuPointerSetAttribute_params *)params)->attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    default:
        return false;
    }
}

static bool is_of_several_devices(const char *kernel)
{
    static const char *const names[] = {"ncclDevKernel", "ncclKernel", "ncclSymk", "nvshmem"};
    for (size_t i = 0; kernel && i < sizeof names / sizeof *names; i++)
        if (strncmp(kernel, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

bool cw_reach_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    if (self->reached || call->callbackSite != CUPTI_API_ENTER)
        return false;
    bool reaching = cw_reach_follows(id) && reaches((enum kind)self->kinds[id], call->functionParams);
    bool collective = !reaching && cw_inject_launch(&launch, id, call) && is_of_several_devices(call->symbolName);
    const char *name = collective ? call->symbolName : call->functionName ? call->functionName : "a call of the driver";
    if (reaching || collective)
        snprintf(self->why, sizeof self->why, "other devices or processes can reach its memory, since %s%.60s",
                 collective ? "the kernel " : "", name);
    return reaching || collective;
}
