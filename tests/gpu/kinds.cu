// Everything that a trace records and this GPU has: kernels of all forms, copies in every direction, sets, graphs, pools,
// managed memory, events, waits, questions, code that is compiled as it runs, threads, NVTX in full, numbers from
// counterworks/annotate.h. Prints what it did, and at the end a line that depends on nothing else. With `all` also graphs
// that the GPU launches, a green context, and work between two GPUs where there are. tests/gpu/kinds [REPEATS [all]]
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtSync.h>

#include "counterworks/annotate.h"

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const auto result = (call);                                                                                    \
        if (result != 0) {                                                                                             \
            std::printf("%s: %d\n", #call, static_cast<int>(result));                                                  \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

__global__ void add(float *a, int n, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] += by;
}

__global__ void shared_sum(float *a, int n)
{
    extern __shared__ float part[];
    part[threadIdx.x] = blockIdx.x * blockDim.x + threadIdx.x < n ? a[blockIdx.x * blockDim.x + threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x == 0)
        a[blockIdx.x] = part[0] + part[blockDim.x - 1];
}

__global__ void whole_grid(float *a)
{
    a[threadIdx.x] += 1;
    cooperative_groups::this_grid().sync();
}

__global__ void __cluster_dims__(2, 1, 1) clusters(float *a)
{
    a[blockIdx.x] += 1;
}

__global__ void parent(float *a, int n)
{
    cudaMemsetAsync(a, 0, 1024);
    cudaMemcpyAsync(a + 1024, a, 1024, cudaMemcpyDeviceToDevice);
    add<<<(n + 255) / 256, 256>>>(a, n, 1);
}

__global__ void carved(float *a)
{
    a[threadIdx.x] += 2;
}

__global__ void launch_graphs(cudaGraphExec_t besides, cudaGraphExec_t behind)
{
    cudaGraphLaunch(besides, cudaStreamGraphFireAndForget);
    cudaGraphLaunch(behind, cudaStreamGraphTailLaunch);
}

enum { N = 1 << 18 };
static int questions; // whether something is done
static const size_t bytes = N * sizeof(float);

static void named(const char *message, const char *category, uint32_t number, double payload)
{
    static const nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
    nvtxDomainNameCategoryA(domain, number, category);
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.category = number;
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0xff336699;
    event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    event.payload.dValue = payload;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = message;
    nvtxDomainMarkEx(domain, &event);
    nvtxDomainRangePushEx(domain, &event);
}

static void numbered(const char *message, nvtxPayloadType_t type, uint64_t number)
{
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.payloadType = type;
    event.payload.ullValue = number;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = message;
    nvtxMarkEx(&event);
    nvtxRangePushEx(&event);
    nvtxRangePop();
}

static void end_named()
{
    static const nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
    nvtxDomainRangePop(domain);
}

// Names of objects, and a lock of the program's own that is tried, taken and given back.
static void resources(cudaStream_t stream)
{
    static const nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
    nvtxResourceAttributes_t resource = {};
    nvtxSyncUserAttributes_t lock = {};
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    nvtxNameCudaEventA(event, "halo is there");
    resource.version = NVTX_VERSION;
    resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    resource.identifierType = NVTX_RESOURCE_TYPE_CUDART_STREAM;
    resource.identifier.pValue = stream;
    resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
    resource.message.ascii = "stream of halos";
    const nvtxResourceHandle_t handle = nvtxDomainResourceCreate(domain, &resource);
    lock.version = NVTX_VERSION;
    lock.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
    lock.messageType = NVTX_MESSAGE_TYPE_ASCII;
    lock.message.ascii = "queue";
    const nvtxSyncUser_t queue = nvtxDomainSyncUserCreate(domain, &lock);
    nvtxDomainSyncUserAcquireStart(queue);
    nvtxDomainSyncUserAcquireFailed(queue);
    nvtxDomainSyncUserAcquireStart(queue);
    nvtxDomainSyncUserAcquireSuccess(queue);
    nvtxDomainSyncUserReleasing(queue);
    nvtxDomainSyncUserDestroy(queue);
    nvtxDomainResourceDestroy(handle);
    CHECK(cudaEventDestroy(event));
}

static void copies(float *device, float *other)
{
    std::vector<float> pageable(N, 1.0f);
    float *pinned;
    cudaArray_t array, second;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    nvtxRangePushA("copies");
    CHECK(cudaMallocHost(&pinned, bytes));
    CHECK(cudaMallocArray(&array, &format, 512, 512));
    CHECK(cudaMallocArray(&second, &format, 512, 512));
    CHECK(cudaMemcpy(device, pageable.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(pageable.data(), other, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyAsync(pinned, other, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pinned, 2048, 2048, 512, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, device, 2048, 2048, 512, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DFromArray(pinned, 2048, array, 0, 0, 2048, 512, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2DFromArray(device, 2048, array, 0, 0, 2048, 512, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DArrayToArray(second, 0, 0, array, 0, 0, 2048, 512));
    CHECK(cudaMemcpy(pageable.data(), pinned, bytes, cudaMemcpyHostToHost));
    CHECK(cudaMemset(device, 0, bytes));
    CHECK(cudaMemsetAsync(other, 7, bytes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(second));
    CHECK(cudaFreeHost(pinned));
    nvtxRangePop();
}

static void kernels(float *device, cudaStream_t stream)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaFuncSetAttribute(carved, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    numbered("signed", NVTX_PAYLOAD_TYPE_INT64, static_cast<uint64_t>(-5));
    numbered("unsigned", NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, UINT64_MAX - 5);
    named("kernels", "compute", 3, 2.5);
    CHECK(cudaEventRecord(begin, stream));
    for (int i = 0; i < 20; i++)
        add<<<N / 256, 256, 0, stream>>>(device, N, 1);
    shared_sum<<<64, 128, 128 * sizeof(float), stream>>>(device, N);
    void *arguments[] = {&device};
    CHECK(cudaLaunchCooperativeKernel((void *)whole_grid, dim3(8), dim3(128), arguments, 0, stream));
    clusters<<<8, 64, 0, stream>>>(device);
    parent<<<1, 1, 0, stream>>>(device, N);
    carved<<<1, 32, 0, stream>>>(device);
    CHECK(cudaEventRecord(end, stream));
    do
        questions++;
    while (cudaEventQuery(end) == cudaErrorNotReady);
    CHECK(cudaStreamQuery(stream));
    questions++;
    (void)cudaGetLastError();
    CHECK(cudaStreamWaitEvent(0, end, 0));
    add<<<1, 32>>>(device, 32, 1);
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaStreamSynchronize(stream));
    end_named();
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
}

static void graphs(float *device, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    nvtxRangePushA("graphs");
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 5; i++)
        add<<<N / 256, 256, 0, stream>>>(device, N, 1);
    CHECK(cudaMemsetAsync(device, 0, 1024, stream));
    CHECK(cudaMemcpyAsync(device + 1024, device, 1024, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&runs, graph, 0));
    for (int i = 0; i < 4; i++)
        CHECK(cudaGraphLaunch(runs, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(runs));
    CHECK(cudaGraphDestroy(graph));
    nvtxRangePop();
}

static void CUDART_CB visit(void *visits)
{
    ++*static_cast<int *>(visits);
}

#if CUDART_VERSION >= 12040
// A node that runs its own graph, of one kernel, if a number is not 0, as it is here.
static void add_condition(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraphNode_t before,
                          const cudaKernelNodeParams *kernel)
{
    cudaGraphConditionalHandle handle;
    cudaGraphNodeParams about = {};
    cudaGraphNode_t within;
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    about.type = cudaGraphNodeTypeConditional;
    about.conditional.handle = handle;
    about.conditional.type = cudaGraphCondTypeIf;
    about.conditional.size = 1;
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddNode(node, graph, &before, nullptr, 1, &about));
#else
    CHECK(cudaGraphAddNode(node, graph, &before, 1, &about));
#endif
    CHECK(cudaGraphAddKernelNode(&within, about.conditional.phGraph_out[0], nullptr, 0, kernel));
}
#endif

// A graph that is built node by node, of each type that a stream does not capture: a chain.
static void built_graph(float *device, cudaStream_t stream)
{
    cudaGraph_t graph, child;
    cudaGraphExec_t runs;
    cudaGraphNode_t last, next;
    cudaEvent_t recorded, waited;
    int visits = 0, n = N;
    float by = 1;
    cudaMemAllocNodeParams allocation = {};
    cudaMemsetParams set = {};
    cudaKernelNodeParams first = {}, second = {};
    const cudaHostNodeParams host = {visit, &visits};
    nvtxRangePushA("built graph");
    CHECK(cudaEventCreate(&recorded));
    CHECK(cudaEventCreate(&waited));
    CHECK(cudaEventRecord(waited, stream));
    allocation.poolProps.allocType = cudaMemAllocationTypePinned;
    allocation.poolProps.location.type = cudaMemLocationTypeDevice;
    allocation.bytesize = bytes;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&last, graph, nullptr, 0, &allocation));
    float *memory = static_cast<float *>(allocation.dptr);
    void *of_first[] = {&memory, &n, &by}, *of_second[] = {&device};
    first.func = reinterpret_cast<void *>(add);
    first.gridDim = dim3(N / 256);
    first.blockDim = dim3(256);
    first.kernelParams = of_first;
    CHECK(cudaGraphAddKernelNode(&next, graph, &last, 1, &first));
    last = next;
    CHECK(cudaGraphAddHostNode(&next, graph, &last, 1, &host));
    last = next;
    CHECK(cudaGraphAddEventRecordNode(&next, graph, &last, 1, recorded));
    last = next;
    CHECK(cudaGraphAddEventWaitNode(&next, graph, &last, 1, waited));
    last = next;
    set.dst = device;
    set.elementSize = 4;
    set.width = 256;
    set.height = 1;
    CHECK(cudaGraphCreate(&child, 0));
    CHECK(cudaGraphAddMemsetNode(&next, child, nullptr, 0, &set));
    CHECK(cudaGraphAddChildGraphNode(&next, graph, &last, 1, child));
    last = next;
    second.func = reinterpret_cast<void *>(carved);
    second.gridDim = dim3(1);
    second.blockDim = dim3(32);
    second.kernelParams = of_second;
#if CUDART_VERSION >= 12040
    add_condition(&next, graph, last, &second);
#else
    CHECK(cudaGraphAddKernelNode(&next, graph, &last, 1, &second));
#endif
    last = next;
    CHECK(cudaGraphAddEmptyNode(&next, graph, &last, 1));
    last = next;
    CHECK(cudaGraphAddMemFreeNode(&next, graph, &last, 1, memory));
    CHECK(cudaGraphInstantiate(&runs, graph, 0));
    CHECK(cudaGraphLaunch(runs, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(runs));
    CHECK(cudaGraphDestroy(child));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(recorded));
    CHECK(cudaEventDestroy(waited));
    std::printf("the graph called the host %d times\n", visits);
    nvtxRangePop();
}

static void memory(cudaStream_t stream)
{
    float *pooled, *managed;
    cudaMemPool_t pool;
    cudaMemPoolProps about = {};
    about.allocType = cudaMemAllocationTypePinned;
    about.location.type = cudaMemLocationTypeDevice;
    nvtxRangeId_t range = nvtxRangeStartA("memory");
    CHECK(cudaMallocAsync(&pooled, bytes, stream));
    add<<<N / 256, 256, 0, stream>>>(pooled, N, 1);
    CHECK(cudaFreeAsync(pooled, stream));
    CHECK(cudaMemPoolCreate(&pool, &about));
    CHECK(cudaMallocFromPoolAsync((void **)&pooled, bytes, pool, stream));
    CHECK(cudaFreeAsync(pooled, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolDestroy(pool));
    CHECK(cudaMallocManaged(&managed, 16 * bytes));
    for (int i = 0; i < 16 * N; i += 256)
        managed[i] = 1;
    add<<<16 * N / 256, 256, 0, stream>>>(managed, 16 * N, 1);
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 16 * N; i += 4096)
        managed[i] += 1;
    CHECK(cudaFree(managed));
    nvtxRangeEnd(range);
}

static const char source[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry compiled_here(.param .u64 p)\n{\n.reg .b64 %rd<3>;\n.reg .f32 %f<3>;\n"
                             "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nld.global.f32 %f1, [%rd2];\n"
                             "add.f32 %f2, %f1, 0f3F800000;\nst.global.f32 [%rd2], %f2;\nret;\n}\n";

static void compiled(float *device)
{
    CUmodule module;
    CUfunction function;
    void *arguments[] = {&device};
    CHECK(cuModuleLoadData(&module, source));
    CHECK(cuModuleGetFunction(&function, module, "compiled_here"));
    cw_correlate_push(4711);
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    cw_correlate_pop();
    CHECK(cuCtxSynchronize());
    CHECK(cuModuleUnload(module));
}

static void work(float *device, int number)
{
    cudaStream_t stream;
    char name[32];
    std::snprintf(name, sizeof name, "worker %d", number);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    nvtxNameCudaStreamA(stream, name);
    for (int i = 0; i < 10; i++) {
        cw_range_push(name);
        add<<<N / 256, 256, 0, stream>>>(device, N, 1);
        CHECK(cudaStreamSynchronize(stream));
        cw_range_pop();
    }
    CHECK(cudaStreamDestroy(stream));
}

static cudaGraphExec_t device_graph(float *device, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add<<<N / 256, 256, 0, stream>>>(device, N, 1);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&runs, graph, cudaGraphInstantiateFlagDeviceLaunch));
    CHECK(cudaGraphUpload(runs, stream));
    CHECK(cudaGraphDestroy(graph));
    return runs;
}

// Graphs that a kernel launches, which is itself in one.
static void graphs_of_gpu(float *device, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t runs, besides = device_graph(device, stream), behind = device_graph(device, stream);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch_graphs<<<1, 1, 0, stream>>>(besides, behind);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&runs, graph, 0));
    CHECK(cudaGraphLaunch(runs, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(runs));
    CHECK(cudaGraphExecDestroy(besides));
    CHECK(cudaGraphExecDestroy(behind));
    CHECK(cudaGraphDestroy(graph));
}

#if CUDA_VERSION >= 12050
static void green_context(float *device)
{
    CUdevResource all, part, rest;
    CUdevResourceDesc description;
    CUgreenCtx context;
    CUstream stream;
    unsigned groups = 1;
    CHECK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, 16));
    CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
    CHECK(cuGreenCtxCreate(&context, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    CHECK(cuGreenCtxStreamCreate(&stream, context, CU_STREAM_NON_BLOCKING, 0));
    add<<<N / 256, 256, 0, stream>>>(device, N, 1);
    CHECK(cudaGetLastError());
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuGreenCtxDestroy(context));
    std::printf("a green context of %u of %u multiprocessors\n", part.sm.smCount, all.sm.smCount);
}
#endif

static void between_gpus(float *device)
{
    float *other;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaMemcpyPeer(other, 1, device, 0, bytes));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpyPeer(device, 0, other, 1, bytes));
    CHECK(cudaDeviceSynchronize());
}

static void rest(float *device, cudaStream_t stream)
{
    int devices, priority, least;
    cudaStream_t urgent;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &priority));
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, priority));
    add<<<N / 256, 256, 0, urgent>>>(device, N, 1);
    CHECK(cudaStreamSynchronize(urgent));
    CHECK(cudaStreamDestroy(urgent));
    graphs_of_gpu(device, stream);
#if CUDA_VERSION >= 12050
    green_context(device);
#endif
    CHECK(cudaGetDeviceCount(&devices));
    if (devices > 1)
        between_gpus(device);
    std::printf("the GPU launched 2 graphs; %d GPUs\n", devices);
}

int main(int argc, char **argv)
{
    const int repeats = argc > 1 ? std::atoi(argv[1]) : 1;
    const bool all = argc > 2 && std::strcmp(argv[2], "all") == 0;
    float *device, *other;
    cudaStream_t stream;
    nvtxRangePushA("before CUDA"); // nothing has said yet what is to be collected
    nvtxMarkA("start");
    nvtxRangePop();
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaMemset(device, 0, bytes));
    CHECK(cudaStreamCreate(&stream));
    nvtxNameCudaStreamA(stream, "main stream");
    resources(stream);
    for (int i = 0; i < repeats; i++) {
        nvtxRangePushA("repeat");
        copies(device, other);
        kernels(device, stream);
        graphs(device, stream);
        built_graph(device, stream);
        memory(stream);
        compiled(device);
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; t++)
            threads.emplace_back(work, device, t);
        for (auto &t : threads)
            t.join();
        nvtxRangePop();
    }
    if (all)
        rest(device, stream);
    CHECK(cudaDeviceSynchronize());
    std::printf("questions %d\n", questions);
    std::printf("direct kernels %d, graph launches %d\n", repeats * (20 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 30) + 2 * all,
                repeats * 5 + all);
    std::printf("done\n");
    return 0;
}
