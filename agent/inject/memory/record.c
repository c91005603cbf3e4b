#include "agent/inject/memory/record.h"

#include "agent/inject/memory/pinned.h"
#include "agent/inject/memory/regions.h"

enum { MOST_PARAMETERS = 4096 };

static uint8_t effects[CUPTI_DRIVER_TRACE_CBID_SIZE] CW_STATE; /* enum cw_effect */

struct cw_operation {
    bool launches; /* otherwise it is a transfer */
    bool refused;  /* refused by the driver */
    struct cw_operation *next;
    CUstream stream;
    CUfunction function;
    CUlaunchConfig config;
    void **parameters; /* arguments of a launch, or packed ones */
    void *packed;
    size_t packed_size;
    struct cw_transfer transfer;
    struct cw_shared_piece *given, *given_end; /* from and before: host memory that a launch is given */
};

/* ---- the driver's calls ----------------------------------------------------------------------------------------- */

/* Calls that leave the data read by kernels unchanged. Waits are among them: the results that the program reads then
 * are of the first pass, and its writes come by calls that are recorded. Allocations are among them, because they hold
 * no data yet, and so are moves of managed memory. Waits for the whole context are listed elsewhere, because programs
 * make them at their end, and some leave without exit handlers. */
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

/* Calls that set parameters of an executable graph's nodes, or of a graph's. */
static bool changes_graph(const char *name)
{
    return strncmp(name, "cuGraph", 7) == 0 && (strstr(name, "NodeSet") || strncmp(name, "cuGraphExecUpdate", 17) == 0);
}

/* Whether a call loads code. CUPTI may patch code when a launch is repeated, so a batch waits for loads of other
 * threads first, for a while. */
static bool loads_code(const char *name)
{
    return strncmp(name, "cuModuleLoad", 12) == 0 || strncmp(name, "cuLibraryLoad", 13) == 0;
}

static enum cw_effect effect_of(const char *name)
{
    if (loads_code(name))
        return CW_EFFECT_LOAD;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strncmp(name, harmless[i], strlen(harmless[i])) == 0)
            return CW_EFFECT_NONE;
    if (strncmp(name, "cuGraph", 7) == 0 && strstr(name, "Get"))
        return CW_EFFECT_NONE;
    if (changes_graph(name))
        return CW_EFFECT_GRAPH;
    return strncmp(name, "cuCtxSynchronize", 16) == 0 ? CW_EFFECT_WAIT : CW_EFFECT_END;
}

static bool sets_attribute(CUpti_CallbackId id)
{
    return id == CUPTI_DRIVER_TRACE_CBID_cuFuncSetAttribute || id == CUPTI_DRIVER_TRACE_CBID_cuKernelSetAttribute;
}

bool cw_record_init(void)
{
    for (CUpti_CallbackId id = 0; id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++)
        effects[id] = cw_inject_launches(id) || cw_transfer_is(id) ? CW_EFFECT_RECORD
                      : sets_attribute(id)                         ? CW_EFFECT_END
                                                                   : effect_of(cw_inject_call_name(id));
    return cw_inject->api.cuFuncGetParamInfo && cw_inject->api.cuLaunchKernelEx;
}

/* Whether repeating recorded launches gives the same result after this call. Raising a limit changes nothing. */
static bool is_same_again(CUpti_CallbackId id, const void *params)
{
    const struct cw_cupti *api = &cw_inject->api;
    const cuFuncSetAttribute_params *f = params;
    const cuKernelSetAttribute_params *k = params;
    const bool of_kernel = id == CUPTI_DRIVER_TRACE_CBID_cuKernelSetAttribute;
    const CUfunction_attribute attribute = of_kernel ? k->attrib : f->attrib;
    const int value = of_kernel ? k->val : f->value;
    int now;
    const bool known =
        of_kernel
            ? api->cuKernelGetAttribute && api->cuKernelGetAttribute(&now, attribute, k->kernel, k->dev) == CUDA_SUCCESS
            : api->cuFuncGetAttribute && api->cuFuncGetAttribute(&now, attribute, f->hfunc) == CUDA_SUCCESS;
    const bool is_limit = attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
                          attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    return known && (value == now || (is_limit && value > now));
}

/* Calls of a newer driver are known only by name. */
static enum cw_effect effect_of_kind(CUpti_CallbackId id)
{
    return id < CUPTI_DRIVER_TRACE_CBID_SIZE ? (enum cw_effect)effects[id] : effect_of(cw_inject_call_name(id));
}

bool cw_record_wants(CUpti_CallbackId id)
{
    return effect_of_kind(id) != CW_EFFECT_NONE;
}

enum cw_effect cw_record_effect(CUpti_CallbackId id, const CUpti_CallbackData *call, bool *at_once)
{
    enum cw_effect effect = effect_of_kind(id);
    if (call->callbackSite == CUPTI_API_ENTER && sets_attribute(id) && is_same_again(id, call->functionParams))
        effect = CW_EFFECT_NONE;
    return cw_transfer_reads(id, call->functionParams, at_once) ? CW_EFFECT_READ : effect;
}

bool cw_record_gives_back(CUpti_CallbackId id)
{
    static const char *const words[] = {"Free", "Destroy", "Unload", "Unmap", "Unregister", "Release", "Trim"};
    const char *name = cw_inject_call_name(id);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* Whether memory at an address is among what was saved before the first operation, if it is the device's. */
static bool is_saved(const struct cw_record *r, uint64_t address)
{
    return cw_regions_know(address) || !r->first;
}

/* Copies one parameter, and keeps the shared memory that it points to. */
static void *keep_parameter(struct cw_record *r, const struct cw_operation *op, const void *parameter, size_t size)
{
    uint8_t *copy = cw_arena_alloc(r->shared.arena, size + 16, 1);
    if (!copy)
        return NULL;
    copy += -(uintptr_t)copy & 15;
    memcpy(copy, parameter, size);
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, copy + at, sizeof word);
        if (cw_regions_have(word)) /* of the device alone, and saved */
            continue;
        if (!is_saved(r, word))
            return NULL;
        if (cw_shared_with_host(word) && (!r->rests || !cw_shared_keep(&r->shared, word, op->given_end, !r->first)))
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
        op->parameters[i] = keep_parameter(r, op, parameters[i], size);
        if (!op->parameters[i])
            return false;
    }
    return true;
}

/* Keeps arguments that the caller has packed into one buffer. */
static bool keep_packed(struct cw_record *r, struct cw_operation *op, void **extra)
{
    const void *buffer;
    if (!cw_inject_packed(extra, &buffer, &op->packed_size))
        return false;
    op->packed = buffer ? keep_parameter(r, op, buffer, op->packed_size) : NULL;
    return op->packed != NULL;
}

/* Drops the attribute: the event's waiters are done, and it may be destroyed or reused by now. */
static bool records_event(CUlaunchAttributeID id)
{
    return id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
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
    for (unsigned i = 0; i < l->config.numAttrs; i++) {
        op->config.attrs[i] = l->config.attrs[i];
        if (records_event(l->config.attrs[i].id))
            op->config.attrs[i].id = CU_LAUNCH_ATTRIBUTE_IGNORE;
    }
    return l->packed ? keep_packed(r, op, l->packed) : keep_parameters(r, op, l->parameters);
}

static bool is_given(const struct cw_operation *op)
{
    return op->given != op->given_end;
}

/* ---- recording and playing -------------------------------------------------------------------------------------- */

static struct cw_operation *new_operation(struct cw_record *r)
{
    if (!r->shared.arena) {
        *r = (struct cw_record){.shared = {.arena = cw_arena_create()}, .since = cw_pinned->count};
        r->next = &r->first;
    }
    struct cw_operation *op = r->shared.arena ? cw_arena_alloc(r->shared.arena, 1, sizeof *op) : NULL;
    if (op)
        *op = (struct cw_operation){.given = r->shared.first, .given_end = r->shared.first};
    return op;
}

static void append(struct cw_record *r, struct cw_operation *op, CUstream stream)
{
    op->stream = op->config.hStream = op->transfer.stream = stream;
    r->launch = op->launches ? op : r->launch;
    *r->next = op;
    r->next = &op->next;
}

bool cw_record_add(struct cw_record *r, CUpti_CallbackId id, const CUpti_CallbackData *call, bool rests)
{
    struct cw_driver_launch launch;
    struct cw_operation *op = new_operation(r);
    if (!op)
        return false;
    op->launches = cw_inject_launch(&launch, id, call);
    r->rests = rests;
    bool good = op->launches ? keep_launch(r, op, &launch)
                             : cw_transfer_keep(&op->transfer, &r->shared, id, call->functionParams) &&
                                   is_saved(r, cw_transfer_target(&op->transfer));
    if (!good && r->first) /* other launches go on without its memory */
        cw_shared_back(&r->shared, op->given_end);
    if (!good)
        return false;
    op->given = r->shared.first;
    append(r, op, cw_inject_stream(id, op->launches ? op->config.hStream : op->transfer.stream));
    return true;
}

static bool keep_node(struct cw_record *r, struct cw_operation *op, const struct cw_graph_node *n)
{
    op->launches = n->type == CU_GRAPH_NODE_TYPE_KERNEL;
    return op->launches ? keep_launch(r, op, &n->launch)
                        : cw_transfer_keep_node(&op->transfer, &r->shared, &n->transfer) &&
                              is_saved(r, cw_transfer_target(&op->transfer));
}

bool cw_record_add_nodes(struct cw_record *r, const struct cw_graph_node *nodes, CUstream stream)
{
    struct cw_record before = *r;
    bool good = true;
    r->rests = false; /* none of its kernels is alone */
    for (const struct cw_graph_node *n = nodes; n && good; n = n->next) {
        struct cw_operation *op = n->off ? NULL : new_operation(r);
        before = before.shared.arena ? before : *r;
        good = n->off || (op && keep_node(r, op, n));
        if (good && op)
            append(r, op, stream);
    }
    if (!good && before.shared.arena) { /* back to the earlier record; only its arena holds more */
        before.shared.bytes = r->shared.bytes;
        *r = before;
        r->next = r->first ? before.next : &r->first;
        *r->next = NULL;
    }
    return good;
}

void cw_record_refuse(struct cw_record *r)
{
    if (r->launch)
        r->launch->refused = true;
}

bool cw_record_launch_shares(const struct cw_record *r)
{
    return r->launch && is_given(r->launch);
}

void cw_record_kernels(const struct cw_record *r, void (*each)(void *user, CUfunction kernel), void *user)
{
    for (const struct cw_operation *op = r->first; op; op = op->next)
        if (op->launches)
            each(user, op->function);
}

void cw_record_given_host(const struct cw_record *r, void (*each)(void *user, CUfunction kernel), void *user)
{
    for (const struct cw_operation *op = r->first; op; op = op->next)
        if (is_given(op))
            each(user, op->function);
}

/* Whether an operation may bring an address of host memory to the device in a way that cannot be exchanged. A launch
 * may be given the address behind the memory, as the end of an array. */
static bool brings_address(const struct cw_operation *op, uint64_t begin, uint64_t end)
{
    const struct cw_transfer *t = &op->transfer;
    size_t size;
    if (op->packed)
        return cw_shared_hold(op->packed, op->packed_size, end, end + 1);
    for (size_t i = 0; op->parameters && cw_inject_parameter_size(op->function, i, &size); i++)
        if (cw_shared_hold(op->parameters[i], size, end, end + 1))
            return true;
    if (op->launches)
        return false;
    return t->kind == CW_TRANSFER_BOX ? t->box->srcMemoryType == CU_MEMORYTYPE_HOST
                                      : t->bytes && cw_shared_hold(t->bytes, t->count, begin, end + 1);
}

/* Exchanges the addresses of host memory in arguments for those of its copy. */
static void exchange(void *bytes, size_t size, uint64_t begin, uint64_t end, uint64_t to)
{
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, (uint8_t *)bytes + at, sizeof word);
        word = word - begin + to;
        if (word >= to && word - to < end - begin)
            memcpy((uint8_t *)bytes + at, &word, sizeof word);
    }
}

bool cw_record_free_host(struct cw_record *r, void *memory)
{
    const uint64_t begin = (uintptr_t)memory;
    size_t size;
    bool good = cw_pinned_find(memory, r->since, &size);
    for (const struct cw_operation *op = r->first; op && good; op = op->next)
        good = !brings_address(op, begin, begin + size);
    void *copy = good ? cw_shared_replace(&r->shared, memory, size) : NULL;
    for (struct cw_operation *op = r->first; op && copy && copy != memory; op = op->next) {
        size_t bytes;
        if (op->packed)
            exchange(op->packed, op->packed_size, begin, begin + size, (uintptr_t)copy);
        for (size_t i = 0; op->parameters && cw_inject_parameter_size(op->function, i, &bytes); i++)
            exchange(op->parameters[i], bytes, begin, begin + size, (uintptr_t)copy);
    }
    return copy != NULL;
}

static CUresult launch(const struct cw_operation *op)
{
    size_t size = op->packed_size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, op->packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    return cw_inject->api.cuLaunchKernelEx(&op->config, op->function, op->parameters, op->packed ? extra : NULL);
}

static CUresult do_again(const struct cw_operation *op)
{
    return op->refused ? CUDA_SUCCESS : op->launches ? launch(op) : cw_transfer_do(&op->transfer);
}

CUresult cw_record_play(const struct cw_record *r, void (*before)(void *user, uint32_t launch),
                        void (*after)(void *user), void *user)
{
    const struct cw_operation *last = NULL;
    uint32_t launches = 0;
    CUresult result = CUDA_SUCCESS;
    for (const struct cw_operation *op = r->first; op && result == CUDA_SUCCESS; last = op, op = op->next) {
        const bool given = is_given(op);
        if (last && (given || last->stream != op->stream)) /* the program's order between streams is not known here */
            result = cw_inject->api.cuCtxSynchronize();
        if (result == CUDA_SUCCESS && given && !cw_shared_restore_some(&r->shared, op->given, op->given_end))
            result = CUDA_ERROR_UNKNOWN;
        if (before && op->launches)
            before(user, ++launches);
        result = result == CUDA_SUCCESS ? do_again(op) : result;
        if (after && op->launches)
            after(user);
    }
    return result == CUDA_SUCCESS ? cw_inject->api.cuCtxSynchronize() : result;
}

void cw_record_clear(struct cw_record *r)
{
    cw_shared_release(&r->shared);
    *r = (struct cw_record){0};
}
