#include "agent/inject/memory/regions.h"

#include <stdlib.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/memory/pinned.h"

#define self cw_regions

/* ---- the list --------------------------------------------------------------------------------------------------- */

/* Index of the first region that ends behind an address. */
static uint32_t first_behind(CUdeviceptr address)
{
    uint32_t low = 0, high = self->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (self->items[middle].at + self->items[middle].size > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void drop(uint32_t index)
{
    self->count--;
    memmove(self->items + index, self->items + index + 1, (self->count - index) * sizeof *self->items);
    self->changes++;
}

/* Makes room for one more; without memory the list is not whole from here on. */
static bool make_room(void)
{
    const uint32_t room = self->room ? 2 * self->room : 64;
    if (self->count < self->room)
        return true;
    struct cw_region *items = realloc(self->items, room * sizeof *items);
    self->beyond = self->beyond || !items;
    if (items) {
        self->items = items;
        self->room = room;
    }
    return items;
}

static void insert(uint32_t index, CUdeviceptr at, size_t size)
{
    if (!size || !make_room())
        return;
    memmove(self->items + index + 1, self->items + index, (self->count - index) * sizeof *self->items);
    self->items[index] = (struct cw_region){at, size};
    self->count++;
    self->changes++;
}

/* Removes addresses from all regions, which may leave two pieces of one. */
static void take_out(CUdeviceptr at, size_t size)
{
    uint32_t i = first_behind(at);
    while (i < self->count && self->items[i].at < at + size) {
        const struct cw_region old = self->items[i];
        const CUdeviceptr end = old.at + old.size;
        drop(i);
        if (old.at < at)
            insert(i++, old.at, at - old.at);
        if (end > at + size)
            insert(i++, at + size, end - (at + size));
    }
}

bool cw_regions_have(CUdeviceptr address)
{
    const uint32_t i = first_behind(address);
    return i < self->count && self->items[i].at <= address;
}

/* Memory of the host can be mapped, or come from a pool, as that of the device. shared.h keeps it. */
static bool is_of_host(CUdeviceptr address)
{
    unsigned type = 0;
    return cw_inject->api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_HOST;
}

static void add(CUdeviceptr at, size_t size)
{
    const uint32_t i = first_behind(at);
    if (is_of_host(at))
        return;
    if (i < self->count && self->items[i].at == at && self->items[i].size == size)
        return;
    take_out(at, size);
    insert(first_behind(at), at, size);
}

CUresult cw_regions_allocate(CUdeviceptr *at, size_t size)
{
    const CUresult result = cw_inject->api.cuMemAlloc_v2(at, size);
    if (result == CUDA_SUCCESS && self->own_count == self->own_room) {
        const uint32_t room = self->own_room ? 2 * self->own_room : 16;
        struct cw_region *own = realloc(self->own, room * sizeof *own);
        self->own = own ? own : self->own;
        self->own_room = own ? room : self->own_room;
    }
    if (result == CUDA_SUCCESS && self->own_count < self->own_room)
        self->own[self->own_count++] = (struct cw_region){*at, size};
    return result;
}

void cw_regions_release(CUdeviceptr at)
{
    for (uint32_t i = self->own_count; i-- > 0;)
        if (self->own[i].at == at)
            self->own[i] = self->own[--self->own_count];
    cw_inject->api.cuMemFree_v2(at);
}

static bool is_own(CUdeviceptr address)
{
    for (uint32_t i = 0; i < self->own_count; i++)
        if (address >= self->own[i].at && address - self->own[i].at < self->own[i].size)
            return true;
    return false;
}

/* Removes the region that begins at an address. */
static void free_at(CUdeviceptr address)
{
    const uint32_t i = first_behind(address);
    if (i < self->count && self->items[i].at == address)
        drop(i);
}

static bool is_of_device(CUdeviceptr address)
{
    const struct cw_cupti *api = &cw_inject->api;
    unsigned type = 0, managed = 0;
    return address >= CW_LOWEST_ADDRESS &&
           api->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE &&
           (api->cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) != CUDA_SUCCESS || !managed);
}

/* A variable is not in memory that was saved before: what has been saved counts as older than its module. */
static void add_variable(CUdeviceptr at, size_t size)
{
    const uint64_t before = self->changes;
    if (is_of_device(at)) /* a managed one is not for us */
        add(at, size);
    if (self->changes != before)
        atomic_fetch_add(&cw_variables->modules, 1);
}

/* Whether some memory will never be known, so that nothing needs to be asked any more. */
static bool is_beyond(void)
{
    return self->beyond || cw_variables->beyond;
}

/* ---- calls of the driver ---------------------------------------------------------------------------------------- */

/* How a call changes device memory. */
enum kind {
    NOTHING,
    ALLOCATES, /* begins with the address to set, and the size */
    ALLOCATES_ROWS,
    ALLOCATES_LATER, /* in a stream */
    FREES,           /* begins with the address */
    FREES_LATER,
    ALLOWS, /* access to mapped memory */
    UNMAPS, /* begins with address and size */
    FINDS_VARIABLE,
    UNLOADS,
    ADDS_KERNEL, /* to a graph */
    ADDS_NODE,
    ASKS,   /* how much memory there is */
    BEYOND, /* kernels may write what is made here, such as arrays behind surfaces, or it cannot be read (multicast) */
};

static enum kind kind_of(CUpti_CallbackId id)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2:
        return ALLOCATES;
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2:
        return ALLOCATES_ROWS;
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz:
        return ALLOCATES_LATER;
    case CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2:
        return FREES;
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz:
        return FREES_LATER;
    case CUPTI_DRIVER_TRACE_CBID_cuMemSetAccess:
        return ALLOWS;
    case CUPTI_DRIVER_TRACE_CBID_cuMemUnmap:
        return UNMAPS;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleGetGlobal_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryGetGlobal:
        return FINDS_VARIABLE;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleUnload:
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload:
        return UNLOADS;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2:
        return ADDS_KERNEL;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams:
        return ADDS_NODE;
    case CUPTI_DRIVER_TRACE_CBID_cuMemGetInfo_v2:
        return ASKS;
    case CUPTI_DRIVER_TRACE_CBID_cuSurfObjectCreate:
    case CUPTI_DRIVER_TRACE_CBID_cuSurfRefSetArray:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphicsResourceGetMappedPointer_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuExternalMemoryGetMappedBuffer:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemAllocNode:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemFreeNode:
    case CUPTI_DRIVER_TRACE_CBID_cuMulticastCreate:
        return BEYOND;
    default:
        return NOTHING;
    }
}

bool cw_regions_follows(CUpti_CallbackId id)
{
    return kind_of(id) != NOTHING;
}

static bool is_captured(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return cw_inject->api.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* The device of memory, the current one if that is not known. */
static int device_of(CUdeviceptr at)
{
    int device = cw_inject_device_of(at);
    if (device < 0)
        cw_inject->api.cuCtxGetDevice(&device);
    return device;
}

/* Bytes from `at` on, of `size`, that were mapped as one piece. */
static size_t piece_of(CUdeviceptr at, size_t size)
{
    const struct cw_cupti *api = &cw_inject->api;
    CUdeviceptr start;
    size_t whole;
    const bool known = api->cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at) == CUDA_SUCCESS &&
                       api->cuPointerGetAttribute(&whole, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at) == CUDA_SUCCESS &&
                       start <= at && at - start < whole;
    return known && whole - (at - start) < size ? whole - (at - start) : size;
}

/* Adds memory that its own device may write at these addresses, and removes any other: another device may have the
 * memory at other addresses. The pieces may be of several devices. */
static void allow(const cuMemSetAccess_params *p)
{
    size_t size;
    for (size_t done = 0; p->desc && done < p->size; done += size) {
        const CUdeviceptr at = p->ptr + done;
        const int own = device_of(at);
        size = piece_of(at, p->size - done);
        for (size_t i = 0; i < p->count; i++)
            if (p->desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || p->desc[i].location.id != own)
                continue;
            else if (p->desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
                add(at, size);
            else
                take_out(at, size);
    }
}

/* A graph's own memory is there while the graph runs only. */
static void add_node(const CUgraphNodeParams *node)
{
    if (!node)
        return;
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
        cw_regions_meet(node->kernel.func ? node->kernel.func : (CUfunction)node->kernel.kern);
    self->beyond =
        self->beyond || node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

static const CUDA_KERNEL_NODE_PARAMS *kernel_of(CUpti_CallbackId id, const void *params)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2:
        return ((const cuGraphAddKernelNode_v2_params *)params)->nodeParams;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2:
        return ((const cuGraphKernelNodeSetParams_v2_params *)params)->nodeParams;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2:
        return ((const cuGraphExecKernelNodeSetParams_v2_params *)params)->nodeParams;
    default:
        return NULL; /* the first versions, whose structure is another */
    }
}

static const CUgraphNodeParams *node_of(CUpti_CallbackId id, const void *params)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode:
        return ((const cuGraphAddNode_params *)params)->nodeParams;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2:
        return ((const cuGraphAddNode_v2_params *)params)->nodeParams;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams:
        return ((const cuGraphNodeSetParams_params *)params)->nodeParams;
    default:
        return ((const cuGraphExecNodeSetParams_params *)params)->nodeParams;
    }
}

static void add_kernel(const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    self->beyond = self->beyond || !kernel;
    if (kernel)
        cw_regions_meet(kernel->func ? kernel->func : (CUfunction)kernel->kern);
}

static void entered(CUpti_CallbackId id, const void *params)
{
    const cuMemFreeAsync_params *freed = params; /* cuMemFree begins alike */
    switch (kind_of(id)) {
    case FREES_LATER:
        self->beyond = self->beyond || is_captured(cw_inject_stream(id, freed->hStream)); /* the graph frees it */
        /* fall through */
    case FREES:
        free_at(freed->dptr);
        break;
    case UNMAPS:
        take_out(((const cuMemUnmap_params *)params)->ptr, ((const cuMemUnmap_params *)params)->size);
        break;
    case UNLOADS:
        cw_regions_forget_code(id == CUPTI_DRIVER_TRACE_CBID_cuModuleUnload);
        break;
    case ADDS_KERNEL:
        add_kernel(kernel_of(id, params));
        break;
    case ADDS_NODE:
        add_node(node_of(id, params));
        break;
    case BEYOND:
        self->beyond = true;
        break;
    default:
        break;
    }
}

static CUstream stream_of(CUpti_CallbackId id, const void *params)
{
    const bool pool = id == CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync ||
                      id == CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz;
    return cw_inject_stream(id, pool ? ((const cuMemAllocFromPoolAsync_params *)params)->hStream
                                     : ((const cuMemAllocAsync_params *)params)->hStream);
}

static void left(CUpti_CallbackId id, const void *params)
{
    const cuMemAlloc_v2_params *made = params; /* the other calls begin alike */
    const cuMemAllocPitch_v2_params *rows = params;
    const cuModuleGetGlobal_v2_params *variable = params; /* so does cuLibraryGetGlobal */
    CUdeviceptr at;
    size_t size;
    switch (kind_of(id)) {
    case ALLOCATES_LATER:
        if (is_captured(stream_of(id, params))) {
            self->beyond = true;
            break;
        }
        /* fall through */
    case ALLOCATES:
        add(*made->dptr, made->bytesize);
        break;
    case ALLOCATES_ROWS:
        add(*rows->dptr, *rows->pPitch * rows->Height);
        break;
    case ALLOWS:
        allow(params);
        break;
    case FINDS_VARIABLE:
        if (variable->dptr && *variable->dptr && !cw_regions_have(*variable->dptr) &&
            cw_inject->api.cuPointerGetAttribute(&at, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, *variable->dptr) ==
                CUDA_SUCCESS &&
            cw_inject->api.cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, *variable->dptr) ==
                CUDA_SUCCESS)
            add_variable(at, size);
        break;
    default:
        break;
    }
}

void cw_regions_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const enum kind kind = kind_of(id);
    if (call->callbackSite == CUPTI_API_ENTER)
        entered(id, call->functionParams);
    else if (!cw_inject_refused(call))
        left(id, call->functionParams);
    else if (kind == FREES || kind == FREES_LATER || kind == UNMAPS) /* it was taken out, and may still be there */
        self->beyond = true;
}

bool cw_regions_takes(CUpti_CallbackId id, const void *params, size_t *size)
{
    const cuMemAllocPitch_v2_params *rows = params;
    switch (kind_of(id)) {
    case ALLOCATES:
    case ALLOCATES_LATER:
        *size = ((const cuMemAlloc_v2_params *)params)->bytesize;
        return true;
    case ALLOCATES_ROWS:
        *size = 2 * rows->WidthInBytes * rows->Height; /* at most, with what the driver adds to each */
        return true;
    case ASKS:
        *size = SIZE_MAX;
        return true;
    default:
        if (id == CUPTI_DRIVER_TRACE_CBID_cuMemCreate)
            *size = ((const cuMemCreate_params *)params)->size;
        return id == CUPTI_DRIVER_TRACE_CBID_cuMemCreate;
    }
}

/* Structures of arguments have words that nobody set: those of PyTorch's kernels for lists of tensors, 4 KB, of which
 * few are used. Such a word has what stood on the stack before, as an address of this library's own memory, whose code
 * ran on that stack. Others' memory is in no region, and is not put back. */
bool cw_regions_know(CUdeviceptr address)
{
    if (is_beyond() || cw_regions_have(address) || !is_of_device(address) || is_own(address) || cw_reach_has(address))
        return true;
    self->beyond = true;
    return false;
}

/* ---- modules ---------------------------------------------------------------------------------------------------- */

static uint32_t place_of(const void *handle)
{
    return (uint32_t)(((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52) % CW_MOST_MET;
}

/* A library's handle of a kernel names the function only when the kernel is loaded. */
static bool module_of(CUfunction function, CUmodule *module)
{
    const struct cw_cupti *api = &cw_inject->api;
    CUfunction loaded;
    if (!api->cuFuncGetModule || !api->cuModuleGetGlobal_v2)
        return false;
    return api->cuFuncGetModule(module, function) == CUDA_SUCCESS ||
           (api->cuKernelGetFunction && api->cuKernelGetFunction(&loaded, (CUkernel)function) == CUDA_SUCCESS &&
            api->cuFuncGetModule(module, loaded) == CUDA_SUCCESS);
}

/* What is found of a function while the lock is released. */
struct meeting {
    CUfunction function;
    CUmodule module;
    struct cw_region *variables;
    uint32_t count;
};

static bool find_module(struct meeting *m)
{
    return module_of(m->function, &m->module);
}

/* CUPTI gives the code of a module without its handle, so the names of all modules are tried. */
static bool find_variables(struct meeting *m)
{
    struct cw_writer names;
    cw_module_names(&names);
    uint32_t most = 0;
    for (size_t at = 0; at < names.size; at++)
        most += !names.data[at];
    m->variables = calloc(most + 1u, sizeof *m->variables);
    const bool good = m->variables && names.status == CW_OK;
    for (size_t at = 0; at < names.size && good; at += strlen((const char *)names.data + at) + 1) {
        struct cw_region *found = &m->variables[m->count];
        m->count += cw_inject->api.cuModuleGetGlobal_v2(&found->at, &found->size, m->module,
                                                        (const char *)names.data + at) == CUDA_SUCCESS;
    }
    cw_writer_free(&names);
    return good;
}

/* The driver may load code here, under a lock of its own that other threads of the program have when they call us. */
static bool without_lock(bool (*find)(struct meeting *m), struct meeting *m)
{
    cw_in_flight_launch_entered();
    cw_inject_release();
    const bool good = find(m);
    cw_inject_acquire();
    cw_in_flight_launch_left();
    self->beyond = self->beyond || !good;
    cw_inject_release(); /* lets threads that wait for this see it now, and hold this one up */
    cw_inject_acquire();
    cw_in_flight_gate();
    return good;
}

void cw_regions_meet(CUfunction function)
{
    struct meeting m = {.function = function};
    if (atomic_exchange(&self->unmet, false)) {
        memset(self->functions, 0, sizeof self->functions);
        memset(self->owners, 0, sizeof self->owners);
        memset(self->modules, 0, sizeof self->modules);
    }
    if (is_beyond() || !function || self->functions[place_of(function)] == function || !without_lock(find_module, &m))
        return;
    if (self->modules[place_of(m.module)] != m.module && without_lock(find_variables, &m)) {
        for (uint32_t i = 0; i < m.count; i++)
            add_variable(m.variables[i].at, m.variables[i].size);
        self->modules[place_of(m.module)] = m.module;
    }
    free(m.variables);
    self->functions[place_of(function)] = function;
    self->owners[place_of(function)] = m.module;
}

CUmodule cw_regions_module(CUfunction function)
{
    return !atomic_load(&self->unmet) && self->functions[place_of(function)] == function
               ? self->owners[place_of(function)]
               : NULL;
}

void cw_regions_forget_module(CUmodule module)
{
    for (uint32_t i = 0; i < CW_MOST_MET; i++)
        if (self->owners[i] == module) {
            self->functions[i] = NULL;
            self->owners[i] = NULL;
        }
    if (self->modules[place_of(module)] == module)
        self->modules[place_of(module)] = NULL;
}

bool cw_regions_has_variables(CUfunction function)
{
    struct meeting m = {.function = function};
    const bool none = !is_beyond() && without_lock(find_module, &m) && without_lock(find_variables, &m) && !m.count;
    free(m.variables);
    return !none;
}

void cw_regions_forget_code(bool forgotten)
{
    if (!forgotten)
        atomic_store(&self->unmet, true);
    atomic_store(&self->unsure, true);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static bool is_there(const struct cw_region *region)
{
    CUdeviceptr start;
    size_t size;
    const struct cw_cupti *api = &cw_inject->api;
    return api->cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, region->at) == CUDA_SUCCESS &&
           api->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, region->at) == CUDA_SUCCESS &&
           start <= region->at && region->at - start <= size && region->size <= size - (region->at - start);
}

/* Whether a graph has memory of its own on the device, which a kernel may still write behind the graph. */
static bool graphs_have_memory(void)
{
    CUdevice device;
    cuuint64_t bytes = 0;
    const struct cw_cupti *api = &cw_inject->api;
    return !api->cuDeviceGetGraphMemAttribute || api->cuCtxGetDevice(&device) != CUDA_SUCCESS ||
           api->cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes) != CUDA_SUCCESS ||
           bytes;
}

bool cw_regions_are_all(void)
{
    if (atomic_exchange(&self->unsure, false)) {
        for (uint32_t i = self->count; i-- > 0;)
            if (!is_there(&self->items[i]))
                drop(i);
        for (uint32_t i = self->own_count; i-- > 0;)
            if (!is_there(&self->own[i]))
                self->own[i] = self->own[--self->own_count];
    }
    return !is_beyond() && !cw_variables->managed && !cw_pinned->managed && !graphs_have_memory();
}

/* How much of a region others reach (reach.h), who write it at any time. */
enum shared { NOTHING_SHARED, ALL_SHARED, PARTLY_SHARED };

static enum shared shared_of(const struct cw_region *region)
{
    const CUdeviceptr end = region->at + region->size;
    for (const struct cw_reach_range *r = cw_reach_next(NULL); r; r = cw_reach_next(r)) {
        if (r->begin <= region->at && end <= r->end)
            return ALL_SHARED;
        if (r->begin < end && region->at < r->end)
            return PARTLY_SHARED;
    }
    return NOTHING_SHARED;
}

enum cw_region_owner cw_region_owner(const struct cw_region *region, CUcontext current)
{
    const struct cw_cupti *api = &cw_inject->api;
    const enum shared shared = shared_of(region);
    CUcontext owner = NULL;
    CUdevice own;
    int device;
    if (shared != NOTHING_SHARED)
        return shared == ALL_SHARED ? CW_REGION_ELSEWHERE : CW_REGION_NEIGHBOUR;
    if (api->cuCtxGetDevice(&own) == CUDA_SUCCESS &&
        api->cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, region->at) == CUDA_SUCCESS &&
        device != (int)own)
        return CW_REGION_ELSEWHERE;
    return api->cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, region->at) == CUDA_SUCCESS &&
                   (!owner || owner == current) /* mapped memory and pools have none */
               ? CW_REGION_OWN
               : CW_REGION_NEIGHBOUR;
}
