/* The driver's ways to launch. */
#include "agent/inject/driver/inject.h"

bool cw_inject_launch_shape(struct cw_launch *l, CUpti_CallbackId id, const void *params)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: {
        const cuLaunchKernel_params *p = params; /* the others begin alike */
        *l = (struct cw_launch){.grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                .stream = (uint64_t)(uintptr_t)p->hStream};
        return true;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
        const CUlaunchConfig *c = ((const cuLaunchKernelEx_params *)params)->config;
        *l = (struct cw_launch){.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                .stream = (uint64_t)(uintptr_t)c->hStream};
        return true;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
        *l = (struct cw_launch){.graphs = 1,
                                .stream = (uint64_t)(uintptr_t)((const cuGraphLaunch_params *)params)->hStream};
        return true;
    default:
        return false;
    }
}

CUfunction cw_inject_launch_arguments(CUpti_CallbackId id, const void *params, void ***parameters, void ***packed)
{
    *parameters = *packed = NULL;
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
        *packed = ((const cuLaunchKernel_params *)params)->extra;
        /* fallthrough */
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel: /* begins alike and has no packed arguments */
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        *parameters = ((const cuLaunchKernel_params *)params)->kernelParams;
        return ((const cuLaunchKernel_params *)params)->f;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
        *packed = ((const cuLaunchKernelEx_params *)params)->extra;
        *parameters = ((const cuLaunchKernelEx_params *)params)->kernelParams;
        return ((const cuLaunchKernelEx_params *)params)->f;
    default:
        return NULL;
    }
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

CUfunction cw_inject_launch_function(CUpti_CallbackId id, const void *params)
{
    void **parameters, **packed;
    return cw_inject_launch_arguments(id, params, &parameters, &packed);
}

bool cw_inject_launches_graph(CUpti_CallbackId id)
{
    return id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch || id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
}

bool cw_inject_parameter_size(CUfunction function, size_t index, size_t *size)
{
    size_t offset;
    return cw_inject->api.cuFuncGetParamInfo(function, index, &offset, size) == CUDA_SUCCESS ||
           (cw_inject->api.cuKernelGetParamInfo &&
            cw_inject->api.cuKernelGetParamInfo((CUkernel)function, index, &offset, size) == CUDA_SUCCESS);
}

CUstream cw_inject_stream(CUpti_CallbackId id, CUstream stream)
{
    const char *name = NULL;
    size_t n =
        !stream && cw_inject->api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS && name
            ? strlen(name)
            : 0;
    bool of_thread = n > 5 && (strcmp(name + n - 5, "_ptsz") == 0 || strcmp(name + n - 5, "_ptds") == 0);
    return of_thread ? CU_STREAM_PER_THREAD : stream;
}

const CUpti_CallbackId cw_inject_launches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};
const size_t cw_inject_launch_count = sizeof cw_inject_launches / sizeof *cw_inject_launches;
