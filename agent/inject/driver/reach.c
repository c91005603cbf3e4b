#include "agent/inject/driver/reach.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/inject/driver/module.h"
#include "agent/inject/driver/stream_capture.h"

#define self cw_reach

/* Addresses of device memory are at least so high, and below the non-canonical ones. */
static const uint64_t lowest_peer = UINT64_C(1) << 32, highest_address = UINT64_C(1) << 57;
#define WHY "other devices or processes can reach its memory, since "

enum { NO_PEERS = -2 };                     /* a device whose launches reach no other */
enum { MOST_TABLE = 1 << 16, GRAIN = 512 }; /* bytes: of a table; of a unit that no two allocations share */

static const char given[] = "it is given memory that other devices or processes can reach",
                  not_known[] = "other devices or processes can reach memory, and its arguments are not known",
                  of_several[] = "its kernel works with other devices or processes",
                  of_variable[] = "a variable of its code holds an address of such memory",
                  of_nvshmem[] = "any kernel may reach other devices, since code of NVSHMEM was loaded";

/* How to tell from a call that it makes memory reachable. */
enum kind {
    NOTHING,
    ALL,       /* any launch may reach others' memory, or wait for them */
    CROSSES,   /* copies between devices */
    COPIES,    /* begins with destination, source and size */
    SETS,      /* begins with the destination */
    LISTS,     /* the same for a list of copies */
    LISTS_3D,  /* and of rectangles */
    COPIES_2D, /* of a rectangle */
    COPIES_3D,
    PEERS,        /* lets devices reach each other's memory */
    ACCESS,       /* memory, size, list of accessing devices, its length */
    POOL,         /* the same without the size */
    CREATES,      /* creates memory on a device or the host */
    SHARES,       /* second parameter: an address in an allocation */
    SHARES_RANGE, /* the same, then its size */
    ATTRIBUTES,   /* sets attributes of a pointer */
    REGISTERS,    /* registers host memory, which may be another process's, too */
    EXPORTS,      /* second parameter: a handle of memory */
    /* the calls below are known when they have returned */
    IMPORTS, /* makes the handle of another process's memory */
    RETAINS, /* the same of memory at an address */
    OPENS,   /* maps another process's memory */
    MAPS,    /* address, size, offset, handle */
    UNMAPS,  /* address and size */
    FREES,   /* begins with the address */
    VARIES,  /* finds a variable: where to put its address, and its size */
    ENCODES, /* makes a tensor map: fourth parameter: the address */
    ENCODES_AGAIN,
};

static const struct {
    const char *name; /* the call's name, or its beginning */
    enum kind kind;
} calls[] = {
    {"cuCtxEnablePeerAccess", PEERS},
    {"cuIpcGetMemHandle", SHARES},
    {"cuIpcOpenMemHandle", OPENS},
    {"cuIpcCloseMemHandle", FREES},
    {"cuMemExportToShareableHandle", EXPORTS},
    {"cuMemImportFromShareableHandle", IMPORTS},
    {"cuMemRetainAllocationHandle", RETAINS},
    {"cuMemMapArrayAsync", NOTHING},
    {"cuMemMap", MAPS},
    {"cuMemUnmap", UNMAPS},
    {"cuMemFreeHost", NOTHING},
    {"cuMemFree", FREES},
    {"cuMemHostUnregister", FREES},
    {"cuMemPoolExport", ALL},
    {"cuMemPoolImport", ALL},
    {"cuMemGetHandleForAddressRange", SHARES_RANGE},
    {"cuMulticastGet", NOTHING},
    {"cuMulticast", ALL},
    {"cuImportExternal", ALL},
    {"cuMemcpyPeer", CROSSES},
    {"cuMemcpy3DPeer", CROSSES},
    {"cuStreamWaitValue", ALL}, /* later launches wait for the host or another device */
    {"cuStreamBatchMemOp", ALL},
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
    {"cuModuleGetGlobal", VARIES},
    {"cuLibraryGetGlobal", VARIES},
    {"cuTensorMapEncode", ENCODES},
    {"cuTensorMapReplaceAddress", ENCODES_AGAIN},
};

static enum kind kind_of(const char *name)
{
    if (strcmp(name, "cuMemcpy") == 0 || strcmp(name, "cuMemcpy_ptds") == 0)
        return COPIES;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strncmp(name, calls[i].name, strlen(calls[i].name)) == 0)
            return calls[i].kind;
    return NOTHING;
}

void cw_reach_init(void)
{
    self->why[0] = self->why_all[0] = 0;
    self->reached = self->several = self->variable = self->peers = self->collectives = self->encoded = false;
    self->count = 0;
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

void cw_reach_several_devices(void)
{
    self->several = true;
}

const char *cw_reach_why_all(void)
{
    if (atomic_load(&cw_variables->symmetric))
        return of_nvshmem;
    return *self->why_all ? self->why_all : NULL;
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

static bool is_of_others(const struct cw_reach_range *r)
{
    return r->kind == CW_REACH_SHARED || r->kind == CW_REACH_FOREIGN;
}

static void reach_all(const char *name)
{
    if (!*self->why_all)
        snprintf(self->why_all, sizeof self->why_all, WHY "%.60s", name);
    self->changes++;
}

void cw_reach_everything(const char *why)
{
    if (!self->reached)
        snprintf(self->why, sizeof self->why, WHY "%.60s", why);
    self->reached = true;
    reach_all(why);
}

/* Whether a launch that is given an address of the range reaches others' memory. */
static bool is_reach(const struct cw_reach_range *r)
{
    return is_of_others(r) || r->kind == CW_REACH_TABLE;
}

static void widen_bounds(const struct cw_reach_range *r)
{
    if (!is_reach(r))
        return;
    self->low = !self->high || r->begin < self->low ? r->begin : self->low;
    self->high = r->end > self->high ? r->end : self->high;
}

static bool has_room(void)
{
    if (self->count < self->room)
        return true;
    const size_t room = self->room ? 2 * self->room : 64;
    struct cw_reach_range *ranges = room <= CW_REACH_MOST_RANGES ? realloc(self->ranges, room * sizeof *ranges) : NULL;
    if (!ranges)
        return false;
    self->ranges = ranges;
    self->room = room;
    return true;
}

/* Adds a range. If there are too many, any launch counts as reaching one. */
static void add(struct cw_reach_range range)
{
    if (!has_room()) {
        reach_all("more memory than can be followed");
        return;
    }
    self->ranges[self->count++] = range;
    widen_bounds(&range);
}

static const struct cw_reach_range *find(enum cw_reach_range_kind kind, uint64_t address)
{
    for (size_t i = 0; i < self->count; i++) {
        const struct cw_reach_range *r = &self->ranges[i];
        if (r->kind == kind && address >= r->begin && address < r->end)
            return r;
    }
    return NULL;
}

static bool is_memory_from(const struct cw_reach_range *r, uint64_t begin, uint64_t end)
{
    return r->kind != CW_REACH_HANDLE && r->begin >= begin && r->begin < end;
}

static bool is_table_within(const struct cw_reach_range *r, uint64_t begin, uint64_t end)
{
    return r->kind == CW_REACH_TABLE && r->begin >= begin && r->end <= end;
}

/* Forgets the ranges that are so to [begin, end). The bounds may be too wide then. */
static void drop(bool (*is_so)(const struct cw_reach_range *r, uint64_t begin, uint64_t end), uint64_t begin,
                 uint64_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++) {
        const struct cw_reach_range *r = &self->ranges[i];
        if (!is_so(r, begin, end))
            self->ranges[kept++] = *r;
        else
            self->changes += is_of_others(r);
    }
    self->count = kept;
}

/* Whether an address is of memory that others outside of this process reach, or of a table. */
static bool is_reaching(uint64_t address)
{
    if (address < self->low || address >= self->high)
        return false;
    for (size_t i = 0; i < self->count; i++) {
        const struct cw_reach_range *r = &self->ranges[i];
        if (is_reach(r) && address >= r->begin && address < r->end)
            return true;
    }
    return false;
}

bool cw_reach_beyond(void)
{
    return cw_reach_next(NULL) != NULL;
}

const struct cw_reach_range *cw_reach_next(const struct cw_reach_range *range)
{
    for (range = range ? range + 1 : self->ranges; range && range < self->ranges + self->count; range++)
        if (is_of_others(range))
            return range;
    return NULL;
}

void cw_reach_forget(void)
{
    if (cw_reach_beyond())
        reach_all("a context was destroyed");
}

static bool allocation_at(uint64_t address, struct cw_reach_range *range)
{
    CUdeviceptr begin = 0;
    size_t size = 0;
    const struct cw_cupti *api = &cw_inject->api;
    if (!address ||
        api->cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) != CUDA_SUCCESS ||
        api->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) != CUDA_SUCCESS)
        return false;
    *range = (struct cw_reach_range){.begin = begin, .end = begin + size, .kind = CW_REACH_SHARED};
    return true;
}

/* ---- parameters of calls ---------------------------------------------------------------------------------------- */

static bool is_other(CUmemLocationType type, int device)
{
    CUdevice own;
    return type == CU_MEM_LOCATION_TYPE_DEVICE &&
           (cw_inject->api.cuCtxGetDevice(&own) != CUDA_SUCCESS || device != (int)own);
}

/* The device of an address, -1 if it is none of a device. */
static int device_of(CUdeviceptr address)
{
    unsigned type = 0;
    const struct cw_cupti *api = &cw_inject->api;
    const bool has_one = address &&
                         api->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CUDA_SUCCESS &&
                         type == CU_MEMORYTYPE_DEVICE;
    return has_one ? cw_inject_device_of(address) : -1;
}

/* `own`: the device of the memory, -1 if unknown. */
static bool gives_access(const CUmemAccessDesc *list, size_t count, int own)
{
    for (size_t i = 0; list && i < count; i++)
        if (list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
            (is_other(list[i].location.type, list[i].location.id) ||
             (own >= 0 && list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && list[i].location.id != own)))
            return true;
    return false;
}

static bool is_elsewhere(CUdeviceptr address)
{
    const int device = device_of(address);
    return device >= 0 && is_other(CU_MEM_LOCATION_TYPE_DEVICE, device);
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

bool cw_reach_has(uint64_t address)
{
    return find(CW_REACH_SHARED, address) || find(CW_REACH_FOREIGN, address) || is_elsewhere(address);
}

#if CUDA_VERSION >= 12080
static bool is_any_across(const CUdeviceptr *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        if (cw_reach_has(list[i]))
            return true;
    return false;
}

static bool is_operand_across(const CUmemcpy3DOperand *operand)
{
    return operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER && cw_reach_has(operand->op.ptr.ptr);
}
#endif

/* The same for one side of a copy of rows. */
static bool is_side_across(CUmemorytype type, CUdeviceptr address)
{
    return (type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED) && cw_reach_has(address);
}

/* Whether a copy or set is to or from another device. */
static bool is_across(enum kind kind, const void *params)
{
    switch (kind) {
    case CROSSES:
        return true;
    case COPIES: {
        const cuMemcpyDtoD_v2_params *p = params; /* the other calls begin with the same parameters */
        return cw_reach_has(p->dstDevice) || cw_reach_has(p->srcDevice);
    }
    case SETS:
        return cw_reach_has(((const cuMemsetD8_v2_params *)params)->dstDevice);
#if CUDA_VERSION >= 12080 /* versions of these calls begin with the same parameters */
    case LISTS: {
        const cuMemcpyBatchAsync_params *p = params;
        return is_any_across(p->dsts, p->count) || is_any_across(p->srcs, p->count);
    }
    case LISTS_3D: {
        const cuMemcpy3DBatchAsync_params *p = params;
        for (size_t i = 0; p->opList && i < p->numOps; i++)
            if (is_operand_across(&p->opList[i].dst) || is_operand_across(&p->opList[i].src))
                return true;
        return false;
    }
#endif
    case COPIES_2D: {
        const CUDA_MEMCPY2D *p = ((const cuMemcpy2D_v2_params *)params)->pCopy;
        return p && (is_side_across(p->dstMemoryType, p->dstDevice) || is_side_across(p->srcMemoryType, p->srcDevice));
    }
    case COPIES_3D: {
        const CUDA_MEMCPY3D *p = ((const cuMemcpy3D_v2_params *)params)->pCopy;
        return p && (is_side_across(p->dstMemoryType, p->dstDevice) || is_side_across(p->srcMemoryType, p->srcDevice));
    }
    default:
        return false;
    }
}

/* ---- signs ------------------------------------------------------------------------------------------------------ */

static bool lets_peers(enum kind kind, const void *params)
{
    switch (kind) {
    case PEERS:
        return true;
    case ACCESS: {
        const cuMemSetAccess_params *p = params;
        return gives_access(p->desc, p->count, device_of(p->ptr));
    }
    case POOL: {
        const cuMemPoolSetAccess_params *p = params;
        return gives_access(p->map, p->count, -1);
    }
    case CREATES: {
        const cuMemCreate_params *p = params;
        return p->prop && is_other(p->prop->location.type, p->prop->location.id);
    }
    default:
        return false;
    }
}

/* Whether a call shares memory; *range: the memory, without an end if it is unknown. */
static bool shares(enum kind kind, const void *params, struct cw_reach_range *range)
{
    *range = (struct cw_reach_range){.kind = CW_REACH_SHARED};
    switch (kind) {
    case SHARES:
        if (params)
            allocation_at(((const cuIpcGetMemHandle_params *)params)->dptr, range);
        return true;
    case SHARES_RANGE: {
        const cuMemGetHandleForAddressRange_params *p = params;
        range->begin = p->dptr;
        range->end = p->dptr + p->size;
        return true;
    }
    case REGISTERS: {
        const cuMemHostRegister_v2_params *p = params;
        range->begin = (uintptr_t)p->p;
        range->end = range->begin + p->bytesize;
        return is_of_several_processes(p->p);
    }
    case ATTRIBUTES: { /* as drivers of network cards need */
        const cuPointerSetAttribute_params *p = params;
        allocation_at(p->ptr, range);
        return p->attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    }
    case EXPORTS:
        range->kind = CW_REACH_HANDLE;
        range->begin = params ? ((const cuMemExportToShareableHandle_params *)params)->handle : 0;
        range->end = range->begin + (range->begin != 0);
        return true;
    default:
        return false;
    }
}

static bool is_known(const struct cw_reach_range *range)
{
    const struct cw_reach_range *found = range->end ? find(range->kind, range->begin) : NULL;
    return range->end ? found && found->end >= range->end : *self->why_all;
}

/* Whether a call, before it is made, gives others access to more memory. */
static bool is_change(enum kind kind, const void *params)
{
    struct cw_reach_range range;
    if (kind == ALL)
        return !*self->why_all;
    return (!self->peers && lets_peers(kind, params)) || (shares(kind, params, &range) && !is_known(&range));
}

/* A kernel's name without what C++ puts before it: _Z and the length of the name. */
static const char *own_name(const char *kernel)
{
    return strncmp(kernel, "_Z", 2) == 0 ? kernel + 2 + strspn(kernel + 2, "0123456789") : kernel;
}

/* Kernels of NCCL, NVSHMEM, PyTorch's symmetric memory, and the collectives of inference servers. Some find the other
 * device's memory by an address that another kernel wrote. */
bool cw_reach_by_name(const char *kernel)
{
    static const char *const words[] = {
        "nccl",       "nvshmem",   "symm_mem",  "symmetric_memory", "all_reduce",    "allreduce",   "AllReduce",
        "all_gather", "allgather", "AllGather", "reduce_scatter",   "ReduceScatter", "cross_device"};
    for (size_t i = 0; kernel && i < sizeof words / sizeof *words; i++)
        if (strstr(kernel, words[i]))
            return true;
    return false;
}

static enum kind kind_of_call(CUpti_CallbackId id)
{
    return cw_reach_follows(id) ? (enum kind)self->kinds[id] : NOTHING;
}

/* Foreign memory is found only when its call has returned, but no collection may run then. */
static bool brings_foreign(enum kind kind)
{
    return kind == IMPORTS || kind == OPENS;
}

bool cw_reach_crosses(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return is_across(kind_of_call(id), call->functionParams);
}

static void note_return(enum kind kind, const void *params);
static void note_table(enum kind kind, const void *params);

static bool is_collective(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    return cw_inject_launch(&launch, id, call) && cw_reach_by_name(call->symbolName);
}

static bool is_first_collective(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return !self->collectives && is_collective(id, call);
}

bool cw_reach_is_written(void)
{
    return self->collectives;
}

bool cw_reach_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const enum kind kind = kind_of_call(id);
    if (call->callbackSite != CUPTI_API_ENTER) {
        if (kind != NOTHING && !cw_inject_refused(call) && call->functionParams)
            note_return(kind, call->functionParams);
        return false;
    }
    if (self->reached || self->several)
        note_table(kind, call->functionParams);
    bool changes = is_change(kind, call->functionParams);
    bool collective = is_first_collective(id, call);
    bool first = !self->reached && (brings_foreign(kind) || is_across(kind, call->functionParams));
    const char *name = collective           ? own_name(call->symbolName)
                       : call->functionName ? call->functionName
                                            : "a call of the driver";
    if (!self->reached && (changes || first || collective))
        snprintf(self->why, sizeof self->why, WHY "%s%.60s", collective ? "the kernel " : "", name);
    return changes || first || collective;
}

/* Adds shared memory or an exported handle. Mappings of the handle become shared. */
static void share(const struct cw_reach_range *range)
{
    add(*range);
    for (size_t i = 0; i < self->count; i++) {
        struct cw_reach_range *r = &self->ranges[i];
        if (range->kind == CW_REACH_HANDLE && r->kind == CW_REACH_MAPPED && r->handle == range->begin) {
            r->kind = CW_REACH_SHARED;
            widen_bounds(r);
        }
    }
}

void cw_reach_begin(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const enum kind kind = kind_of_call(id);
    struct cw_reach_range range;
    self->reached = true;
    self->changes++;
    if (self->variable)
        reach_all(of_variable);
    if (kind == ALL)
        reach_all(call->functionName ? call->functionName : "a call of the driver");
    else if (is_first_collective(id, call))
        self->collectives = true;
    else if (lets_peers(kind, call->functionParams))
        self->peers = true;
    else if (shares(kind, call->functionParams, &range) && !is_known(&range)) {
        if (range.end)
            share(&range);
        else
            reach_all(call->functionName ? call->functionName : "a call of the driver");
    }
}

/* ---- addresses that the program hands out ------------------------------------------------------------------------ */

/* Whether an address is of another device of this process than `own`. A launch that is given such an address ends all
 * batches, and none begins before it has ended. */
static bool is_of_peer(uint64_t address, int own)
{
    const int device = own != NO_PEERS && address >= lowest_peer && address < highest_address ? device_of(address) : -1;
    return device >= 0 && device != own;
}

/* Whether bytes hold an address that reaches others' memory. Addresses stand at multiples of 8, or of 4 in a packed
 * structure. NCCL's memory has addresses such as 0x404000000, which counters of one byte look like at other places. */
static bool holds_address(const void *bytes, size_t size, int own)
{
    for (size_t at = 0; at + 8 <= size; at += 4) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)bytes + at, sizeof word);
        if (is_reaching(word) || is_of_peer(word, own))
            return true;
    }
    return false;
}

static bool is_host_memory(uint64_t address)
{
    unsigned type = 0;
    return cw_inject->api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS ||
           type == CU_MEMORYTYPE_HOST;
}

/* Notes a copy that brings such an address to the device, where it makes a table. If it writes a variable, any kernel
 * may read the address. */
static void note_table(enum kind kind, const void *params)
{
    const cuMemcpyDtoD_v2_params *p = params; /* copies from the host begin with the same parameters */
    if (kind != COPIES || !p || !p->srcDevice || !p->ByteCount || p->ByteCount > MOST_TABLE ||
        is_host_memory(p->dstDevice))
        return;
    const bool brings = is_host_memory(p->srcDevice)
                            ? holds_address((const void *)(uintptr_t)p->srcDevice, p->ByteCount,
                                            self->peers || self->several ? device_of(p->dstDevice) : NO_PEERS)
                            : find(CW_REACH_TABLE, p->srcDevice) != NULL;
    const struct cw_reach_range table = {.begin = p->dstDevice / GRAIN * GRAIN,
                                         .end = (p->dstDevice + p->ByteCount + GRAIN - 1) / GRAIN * GRAIN,
                                         .kind = CW_REACH_TABLE};
    if (!brings && !cw_stream_capture_is_under_way())
        drop(is_table_within, p->dstDevice, p->dstDevice + p->ByteCount); /* written anew, whole */
    if (!brings || is_known(&table))
        return;
    if (find(CW_REACH_VARIABLE, p->dstDevice) && self->reached)
        reach_all(of_variable);
    else if (find(CW_REACH_VARIABLE, p->dstDevice))
        self->variable = true;
    else
        add(table);
}

static uint64_t mark_of(const void *map)
{
    uint64_t mark = 1;
    for (size_t at = 0; at < sizeof(CUtensorMap); at += sizeof mark) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)map + at, sizeof word);
        mark = (mark ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        mark ^= mark >> 29;
    }
    return mark;
}

static void note_map(const void *map, uint64_t address)
{
    const uint64_t mark = mark_of(map);
    self->encoded = true;
    self->maps[mark % CW_REACH_TENSOR_MAPS].mark = mark;
    self->maps[mark % CW_REACH_TENSOR_MAPS].address = address;
}

static bool holds_map(const void *bytes, size_t size, int own)
{
    for (size_t at = 0; self->encoded && at + sizeof(CUtensorMap) <= size; at += 8) {
        const uint64_t mark = mark_of((const uint8_t *)bytes + at), slot = mark % CW_REACH_TENSOR_MAPS;
        if (self->maps[slot].mark == mark &&
            holds_address(&self->maps[slot].address, sizeof self->maps[slot].address, own))
            return true;
    }
    return false;
}

/* Notes memory mapped from a handle. */
static void note_mapping(const cuMemMap_params *p)
{
    const bool shared = find(CW_REACH_HANDLE, p->handle) != NULL;
    add((struct cw_reach_range){.begin = p->ptr,
                                .end = p->ptr + p->size,
                                .handle = p->handle,
                                .kind = shared ? CW_REACH_SHARED : CW_REACH_MAPPED});
    self->changes += shared;
}

static void note_handle(uint64_t handle)
{
    const struct cw_reach_range range = {.begin = handle, .end = handle + 1, .kind = CW_REACH_HANDLE};
    if (!is_known(&range))
        share(&range);
}

/* Notes a variable of the program's code. Its place may be another variable's once the code was unloaded. */
static void note_variable(uint64_t begin, uint64_t size)
{
    const struct cw_reach_range range = {.begin = begin, .end = begin + size, .kind = CW_REACH_VARIABLE};
    if (begin && size && !is_known(&range))
        add(range);
}

static void note_freed(uint64_t address)
{
    const struct cw_reach_range *shared = find(CW_REACH_SHARED, address), *foreign = find(CW_REACH_FOREIGN, address);
    const uint64_t begin = shared ? shared->begin : foreign ? foreign->begin : address;
    drop(is_memory_from, begin, begin + 1);
}

static void note_opened(uint64_t address)
{
    struct cw_reach_range range;
    if (!allocation_at(address, &range)) {
        reach_all("cuIpcOpenMemHandle");
        return;
    }
    range.kind = CW_REACH_FOREIGN;
    add(range);
    self->changes++;
}

static void note_return(enum kind kind, const void *params)
{
    switch (kind) {
    case IMPORTS:
        note_handle(*((const cuMemImportFromShareableHandle_params *)params)->handle);
        self->changes++;
        return;
    case RETAINS: {
        const cuMemRetainAllocationHandle_params *p = params;
        if (find(CW_REACH_SHARED, (uintptr_t)p->addr))
            note_handle(*p->handle);
        return;
    }
    case OPENS:
        note_opened(*((const cuIpcOpenMemHandle_v2_params *)params)->pdptr);
        return;
    case MAPS:
        note_mapping(params);
        return;
    case UNMAPS: {
        const cuMemUnmap_params *p = params;
        drop(is_memory_from, p->ptr, p->ptr + p->size);
        return;
    }
    case FREES: {
        note_freed(((const cuMemFree_v2_params *)params)->dptr);
        return;
    }
    case VARIES: {
        const cuLibraryGetGlobal_params *p = params; /* that of a module begins with the same parameters */
        if (p->dptr && p->bytes)
            note_variable(*p->dptr, *p->bytes);
        return;
    }
    case ENCODES: {
        const cuTensorMapEncodeTiled_params *p = params; /* the other calls begin with the same parameters */
        note_map(p->tensorMap, (uintptr_t)p->globalAddress);
        return;
    }
    case ENCODES_AGAIN: {
        const cuTensorMapReplaceAddress_params *p = params;
        note_map(p->tensorMap, (uintptr_t)p->globalAddress);
        return;
    }
    default:
        return;
    }
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static const char *why_arguments(const void *bytes, size_t size)
{
    CUdevice own = -1;
    if (!self->peers)
        own = NO_PEERS;
    else if (cw_inject->api.cuCtxGetDevice(&own) != CUDA_SUCCESS)
        own = -1;
    return holds_address(bytes, size, own) || holds_map(bytes, size, own) ? given : NULL;
}

static const char *why_of(const struct cw_driver_launch *l)
{
    const void *buffer;
    const char *why = NULL;
    size_t size;
    if (l->packed)
        return !cw_inject_packed(l->packed, &buffer, &size) ? not_known : buffer ? why_arguments(buffer, size) : NULL;
    for (size_t i = 0; !why && cw_inject_parameter_size(l->function, i, &size); i++)
        why = l->parameters ? why_arguments(l->parameters[i], size) : not_known;
    return why;
}

const char *cw_reach_why_kernel(const struct cw_driver_launch *launch, const char *name)
{
    return cw_reach_by_name(name) ? of_several : why_of(launch);
}

const char *cw_reach_why_launch(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    if (!self->reached || !cw_inject_launch(&launch, id, call))
        return NULL;
    if (cw_reach_why_all() || launch.graph)
        return cw_reach_why_all();
    return cw_reach_why_kernel(&launch, call->symbolName);
}
