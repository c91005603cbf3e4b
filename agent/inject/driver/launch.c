/* Recognizes the driver's launch calls. */
#include "agent/inject/driver/inject.h"

bool cw_inject_launch(struct cw_driver_launch *l, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    static const CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
    *l = (struct cw_driver_launch){0};
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        l->config = (CUlaunchConfig){.attrs = (CUlaunchAttribute *)&cooperative, .numAttrs = 1};
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
        l->packed = ((const cuLaunchKernel_params *)call->functionParams)->extra;
        break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
        const cuLaunchKernelEx_params *p = call->functionParams;
        *l = (struct cw_driver_launch){*p->config, p->f, p->kernelParams, p->extra, false};
        return true;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
        l->config.hStream = ((const cuGraphLaunch_params *)call->functionParams)->hStream;
        l->graph = true;
        return true;
    default:
        return false;
    }
    const cuLaunchKernel_params *p = call->functionParams; /* cooperative calls begin with the same parameters */
    l->function = p->f;
    l->parameters = p->kernelParams;
    l->config.gridDimX = p->gridDimX;
    l->config.gridDimY = p->gridDimY;
    l->config.gridDimZ = p->gridDimZ;
    l->config.blockDimX = p->blockDimX;
    l->config.blockDimY = p->blockDimY;
    l->config.blockDimZ = p->blockDimZ;
    l->config.sharedMemBytes = p->sharedMemBytes;
    l->config.hStream = p->hStream;
    return true;
}

CUfunction cw_inject_kernel(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    cw_inject_launch(&launch, id, call);
    return launch.function;
}

bool cw_inject_packed(void **packed, const void **buffer, size_t *size)
{
    *buffer = NULL;
    *size = 0;
    for (; *packed != CU_LAUNCH_PARAM_END; packed += 2) {
        if (*packed == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = packed[1];
        else if (*packed == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *size = *(const size_t *)packed[1];
        else
            return false;
    }
    return true;
}

bool cw_inject_launches_graph(CUpti_CallbackId id)
{
    return id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch || id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
}

int cw_inject_device_of(uint64_t address)
{
    int device = -1;
    const bool known =
        cw_inject->api.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) == CUDA_SUCCESS;
    return known ? device : -1;
}

bool cw_inject_parameter_size(CUfunction function, size_t index, size_t *size)
{
    size_t offset;
    return cw_inject->api.cuFuncGetParamInfo(function, index, &offset, size) == CUDA_SUCCESS ||
           (cw_inject->api.cuKernelGetParamInfo &&
            cw_inject->api.cuKernelGetParamInfo((CUkernel)function, index, &offset, size) == CUDA_SUCCESS);
}

const char *cw_inject_call_name(CUpti_CallbackId id)
{
    const char *name = NULL;
    return cw_inject->api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS && name ? name
                                                                                                               : "";
}

CUstream cw_inject_stream(CUpti_CallbackId id, CUstream stream)
{
    const char *name = stream ? "" : cw_inject_call_name(id), *kind = strrchr(name, '_');
    bool of_thread = kind && kind > name && (strcmp(kind, "_ptsz") == 0 || strcmp(kind, "_ptds") == 0);
    return of_thread ? CU_STREAM_PER_THREAD : stream;
}

uint64_t cw_inject_context_id(CUcontext context)
{
    uint32_t number = 0;
    return cw_inject->api.cuptiGetContextId(context, &number) == CUPTI_SUCCESS ? number : 0;
}

uint64_t cw_inject_stream_id(CUpti_CallbackId id, CUcontext context, CUstream stream)
{
    uint32_t number = 0;
    stream = cw_inject_stream(id, stream);
    const bool of_thread = stream == CU_STREAM_PER_THREAD, standard = of_thread || stream == CU_STREAM_LEGACY;
    CUptiResult result = cw_inject->api.cuptiGetStreamIdEx(context, standard ? NULL : stream, of_thread, &number);
    return result == CUPTI_SUCCESS ? number : 0;
}

bool cw_inject_launches(CUpti_CallbackId id)
{
    static const CUpti_CallbackId launches[] = {
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
    };
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++)
        if (launches[i] == id)
            return true;
    return false;
}

bool cw_inject_launches_otherwise(CUpti_CallbackId id)
{
    return id == CUPTI_DRIVER_TRACE_CBID_cuLaunch || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid ||
           id == CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync ||
           id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice;
}

bool cw_inject_blocks_stream(CUpti_CallbackId id)
{
    static const char *const names[] = {"cuLaunchHostFunc", "cuStreamAddCallback", "cuStreamWaitValue",
                                        "cuStreamBatchMemOp"};
    const char *name = cw_inject_call_name(id);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

void *cw_inject_host_function(CUpti_CallbackId id, const void *params)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback_ptsz:
        return (void *)((const cuLaunchHostFunc_params *)params)->fn; /* the other calls begin with the same ones */
    default:
        return NULL;
    }
}
