#include "agent/inject/driver/kernel_facts.h"

#include <math.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/stream_capture.h"

static struct {
    struct cw_known_kernel {
        CUfunction kernel; /* NULL: an empty place */
        int32_t facts[CW_FACT__COUNT];
    } known[CW_MOST_KNOWN_KERNELS];
    uint32_t replaced; /* count of replacements, which determines the next one in a full set */
    atomic_bool forgotten;
} state CW_STATE;
#define self (&state)

#define UNKNOWN INT32_MIN

static const struct {
    CUfunction_attribute attribute;
    enum cw_launch_fact fact;
} attributes[] = {
    {CU_FUNC_ATTRIBUTE_NUM_REGS, CW_FACT_REGISTERS},
    {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CW_FACT_SHARED_STATIC},
    {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CW_FACT_LOCAL},
    {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, CW_FACT_CONSTANT},
    {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CW_FACT_MAX_THREADS},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CW_FACT_CLUSTER_X},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, CW_FACT_CLUSTER_Y},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, CW_FACT_CLUSTER_Z},
    {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, CW_FACT_CARVEOUT},
    {CU_FUNC_ATTRIBUTE_PTX_VERSION, CW_FACT_PTX},
    {CU_FUNC_ATTRIBUTE_BINARY_VERSION, CW_FACT_BINARY},
};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

static struct cw_known_kernel *set_of(CUfunction kernel)
{
    if (atomic_load(&self->forgotten) && atomic_exchange(&self->forgotten, false))
        memset(self->known, 0, sizeof self->known);
    uint32_t at = (uint32_t)(((uintptr_t)kernel >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52);
    return &self->known[at % CW_MOST_KNOWN_KERNELS / CW_KNOWN_KERNELS_SET * CW_KNOWN_KERNELS_SET];
}

static const struct cw_known_kernel *find(CUfunction kernel)
{
    const struct cw_known_kernel *set = set_of(kernel);
    for (int i = 0; i < CW_KNOWN_KERNELS_SET; i++)
        if (set[i].kernel == kernel)
            return &set[i];
    return NULL;
}

static void keep(const struct cw_known_kernel *kernel)
{
    struct cw_known_kernel *set = set_of(kernel->kernel);
    int at = 0;
    while (at < CW_KNOWN_KERNELS_SET && set[at].kernel && set[at].kernel != kernel->kernel)
        at++;
    set[at < CW_KNOWN_KERNELS_SET ? (uint32_t)at : self->replaced++ % CW_KNOWN_KERNELS_SET] = *kernel;
}

/* Loads a kernel's code now. With lazy loading, its launch would load it, and variables with it that the batch has not
 * saved (module.h). */
static bool load(CUfunction kernel)
{
    const struct cw_cupti *api = &cw_inject->api;
    CUfunction function;
    if (!api->cuFuncLoad)
        return false;
    return api->cuFuncLoad(kernel) == CUDA_SUCCESS ||
           (api->cuKernelGetFunction && api->cuKernelGetFunction(&function, (CUkernel)kernel) == CUDA_SUCCESS &&
            api->cuFuncLoad(function) == CUDA_SUCCESS);
}

/* Surround calls of the driver, during which other threads go on. */
static void begin_calls(void)
{
    cw_in_flight_launch_entered();
    cw_inject_release();
}

static void end_calls(void)
{
    cw_inject_acquire();
    cw_in_flight_launch_left();
}

/* Lets threads that wait for this see it now. */
static void let_others_see(void)
{
    cw_inject_release();
    cw_inject_acquire();
    cw_in_flight_gate();
}

bool cw_kernel_load(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const CUfunction kernel = cw_inject_kernel(id, call);
    if (!kernel || cw_stream_capture_is_under_way())
        return false;
    begin_calls();
    const bool loaded = load(kernel);
    end_calls();
    let_others_see();
    return loaded;
}

/* Asks for a kernel's facts; a library's handle of a kernel needs other calls than a function. */
static void ask(struct cw_known_kernel *kernel)
{
    const struct cw_cupti *api = &cw_inject->api;
    CUdevice device = 0;
    bool on_device = api->cuCtxGetDevice(&device) == CUDA_SUCCESS;
    for (int f = 0; f < CW_FACT__COUNT; f++)
        kernel->facts[f] = UNKNOWN;
    for (int i = 0; i < ATTRIBUTES; i++) {
        int value;
        bool known = api->cuFuncGetAttribute(&value, attributes[i].attribute, kernel->kernel) == CUDA_SUCCESS ||
                     (on_device && api->cuKernelGetAttribute &&
                      api->cuKernelGetAttribute(&value, attributes[i].attribute, (CUkernel)kernel->kernel, device) ==
                          CUDA_SUCCESS);
        if (known)
            kernel->facts[attributes[i].fact] = value;
    }
    int reserved;
    if (on_device && api->cuDeviceGetAttribute(&reserved, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
                                               device) == CUDA_SUCCESS)
        kernel->facts[CW_FACT_SHARED_DRIVER] = reserved;
}

void cw_kernel_facts_learn(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_known_kernel kernel = {.kernel = cw_inject_kernel(id, call)};
    if (!kernel.kernel || !cw_inject->api.cuFuncGetAttribute || cw_stream_capture_is_under_way() || find(kernel.kernel))
        return;
    begin_calls();
    load(kernel.kernel);
    ask(&kernel);
    end_calls();
    keep(&kernel);
    let_others_see();
}

void cw_kernel_facts_learn_here(CUfunction function)
{
    struct cw_known_kernel kernel = {.kernel = function};
    if (!cw_inject->api.cuFuncGetAttribute || find(function))
        return;
    ask(&kernel);
    keep(&kernel);
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static void take_attribute(const CUlaunchAttribute *a, double facts[CW_FACT__COUNT])
{
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        facts[CW_FACT_CLUSTER_X] = a->value.clusterDim.x;
        facts[CW_FACT_CLUSTER_Y] = a->value.clusterDim.y;
        facts[CW_FACT_CLUSTER_Z] = a->value.clusterDim.z;
        break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        facts[CW_FACT_COOPERATIVE] = a->value.cooperative != 0;
        break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        facts[CW_FACT_PROGRAMMATIC] = a->value.programmaticStreamSerializationAllowed != 0;
        break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        facts[CW_FACT_PRIORITY] = a->value.priority;
        break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        facts[CW_FACT_CARVEOUT] = a->value.sharedMemCarveout;
        break;
    default:
        break;
    }
}

void cw_kernel_facts_get(const struct cw_driver_launch *launch, double facts[CW_FACT__COUNT])
{
    cw_facts_forget(facts);
    if (!launch->function || launch->graph)
        return;
    const struct cw_known_kernel *known = find(launch->function);
    for (int f = 0; known && f < CW_FACT__COUNT; f++)
        if (known->facts[f] != UNKNOWN)
            facts[f] = known->facts[f];
    facts[CW_FACT_SHARED_DYNAMIC] = launch->config.sharedMemBytes;
    facts[CW_FACT_COOPERATIVE] = facts[CW_FACT_PROGRAMMATIC] = 0;
    for (unsigned i = 0; launch->config.attrs && i < launch->config.numAttrs; i++)
        take_attribute(&launch->config.attrs[i], facts);
}

/* ---- changes ---------------------------------------------------------------------------------------------------- */

bool cw_kernel_facts_follows(CUpti_CallbackId id)
{
    return id == CUPTI_DRIVER_TRACE_CBID_cuFuncSetAttribute || id == CUPTI_DRIVER_TRACE_CBID_cuKernelSetAttribute;
}

/* Forgets all kernels after a change: the launch may use another handle of the changed kernel. */
void cw_kernel_facts_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!cw_kernel_facts_follows(id) || call->callbackSite != CUPTI_API_EXIT)
        return;
    CUfunction_attribute changed = id == CUPTI_DRIVER_TRACE_CBID_cuFuncSetAttribute
                                       ? ((const cuFuncSetAttribute_params *)call->functionParams)->attrib
                                       : ((const cuKernelSetAttribute_params *)call->functionParams)->attrib;
    for (int i = 0; i < ATTRIBUTES; i++)
        if (attributes[i].attribute == changed)
            cw_kernel_facts_forget();
}

void cw_kernel_facts_forget(void)
{
    self->forgotten = true;
}
