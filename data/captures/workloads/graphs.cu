// graphs: CUDA graphs between ordinary launches. Every launch of one continues from what device and host memory held
// before, so that a profiler that launches a graph again and puts one byte back wrongly is found out: kernels on two
// streams, sets, copies in both directions through memory that the graph itself changes, kernels that write pinned
// memory, a child graph, nodes and whole graphs that are updated. A graph with a host node and one that allocates memory
// must run once for each launch.
#include "check.cuh"

#include <nvtx3/nvToolsExt.h>

constexpr int count = 1 << 16, threads = 256, blocks = count / threads;
constexpr size_t bytes = count * sizeof(uint32_t);

__global__ void step(uint32_t *x, uint32_t salt)
{
    int i = blockIdx.x * threads + threadIdx.x;
    x[i] = x[i] * 1664525u + salt + i;
}

__global__ void blend(uint32_t *x, const uint32_t *y)
{
    int i = blockIdx.x * threads + threadIdx.x;
    x[i] = (x[i] ^ y[i]) * 22695477u + 1u;
}

__global__ void total(const uint32_t *x, unsigned long long *sum)
{
    atomicAdd(sum, (unsigned long long)x[blockIdx.x * threads + threadIdx.x]);
}

__global__ void tick(uint32_t *calls)
{
    ++*calls;
}

using Words = std::vector<uint32_t>;

void step_reference(Words &x, uint32_t salt)
{
    for (int i = 0; i < count; i++)
        x[i] = x[i] * 1664525u + salt + i;
}

void blend_reference(Words &x, const Words &y)
{
    for (int i = 0; i < count; i++)
        x[i] = (x[i] ^ y[i]) * 22695477u + 1u;
}

unsigned long long total_reference(const Words &x)
{
    unsigned long long sum = 0;
    for (uint32_t v : x)
        sum += v;
    return sum;
}

void same(const char *what, const Words &got, const Words &want)
{
    expect(what, got, [&](size_t i) { return want[i]; });
}

template <typename T> void equal(const char *what, T got, T want)
{
    expect(what, std::vector<T>{got}, [&](size_t) { return want; });
}

cudaStream_t a, b;
cudaEvent_t fork_point, join_point;

cudaGraph_t captured(void (*work)(void *), void *with)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    work(with);
    CHECK(cudaStreamEndCapture(a, &graph));
    return graph;
}

cudaGraphExec_t ready(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

// Everything at once, and what it leaves behind.
struct State {
    uint32_t *x, *y, *z;     // on the device
    uint32_t *pinned, *calls; // of the host
    unsigned long long *sum;
    Words hx, hy, hz, hpinned;
    unsigned long long hsum = 0;
    uint32_t hcalls = 0, salt = 3;
};

void enqueue_all(void *state)
{
    State &s = *static_cast<State *>(state);
    CHECK(cudaMemcpyAsync(s.z, s.pinned, bytes, cudaMemcpyHostToDevice, a)); // what the last launch left there
    CHECK(cudaMemsetAsync(s.z, 0x5a, bytes / 4, a));
    step<<<blocks, threads, 0, a>>>(s.z, s.salt);
    CHECK(cudaEventRecord(fork_point, a));
    CHECK(cudaStreamWaitEvent(b, fork_point, 0));
    blend<<<blocks, threads, 0, b>>>(s.y, s.z);
    step<<<blocks, threads, 0, a>>>(s.x, s.salt + 1);
    tick<<<1, 1, 0, a>>>(s.calls);
    CHECK(cudaEventRecord(join_point, b));
    CHECK(cudaStreamWaitEvent(a, join_point, 0));
    blend<<<blocks, threads, 0, a>>>(s.x, s.y);
    total<<<blocks, threads, 0, a>>>(s.x, s.sum);
    CHECK(cudaMemcpyAsync(s.y, s.x, bytes / 2, cudaMemcpyDeviceToDevice, a));
    CHECK(cudaMemcpyAsync(s.pinned, s.x, bytes, cudaMemcpyDeviceToHost, a));
}

void all_reference(State &s)
{
    s.hz = s.hpinned;
    std::fill(s.hz.begin(), s.hz.begin() + count / 4, 0x5a5a5a5au);
    step_reference(s.hz, s.salt);
    blend_reference(s.hy, s.hz);
    step_reference(s.hx, s.salt + 1);
    s.hcalls++;
    blend_reference(s.hx, s.hy);
    s.hsum += total_reference(s.hx);
    std::copy(s.hx.begin(), s.hx.begin() + count / 2, s.hy.begin());
    s.hpinned = s.hx;
}

void compare(const State &s)
{
    Words seen(count);
    unsigned long long sum;
    CHECK(cudaStreamSynchronize(a));
    same("graphs: pinned memory", Words(s.pinned, s.pinned + count), s.hpinned);
    equal("graphs: calls", *s.calls, s.hcalls);
    CHECK(cudaMemcpy(seen.data(), s.x, bytes, cudaMemcpyDeviceToHost));
    same("graphs: x", seen, s.hx);
    CHECK(cudaMemcpy(seen.data(), s.y, bytes, cudaMemcpyDeviceToHost));
    same("graphs: y", seen, s.hy);
    CHECK(cudaMemcpy(seen.data(), s.z, bytes, cudaMemcpyDeviceToHost));
    same("graphs: z", seen, s.hz);
    CHECK(cudaMemcpy(&sum, s.sum, sizeof sum, cudaMemcpyDeviceToHost));
    equal("graphs: sum", sum, s.hsum);
}

void enqueue_host(void *state)
{
    State &s = *static_cast<State *>(state);
    step<<<blocks, threads, 0, a>>>(s.x, 31);
    CHECK(cudaLaunchHostFunc(a, [](void *calls) { ++*static_cast<uint32_t *>(calls); }, s.calls));
}

void enqueue_allocation(void *state)
{
    State &s = *static_cast<State *>(state);
    uint32_t *late;
    CHECK(cudaMallocAsync(&late, bytes, a));
    CHECK(cudaMemcpyAsync(late, s.x, bytes, cudaMemcpyDeviceToDevice, a));
    blend<<<blocks, threads, 0, a>>>(s.x, late);
    CHECK(cudaFreeAsync(late, a));
}

// step three times, then a copy to memory that is not pinned: built node by node, the steps as a child graph.
struct Built {
    cudaGraph_t graph;
    Words landed;
    std::vector<uint32_t> salts = {41, 42, 43};
};

cudaKernelNodeParams step_node(void **arguments)
{
    cudaKernelNodeParams p = {};
    p.func = reinterpret_cast<void *>(step);
    p.gridDim = dim3(blocks);
    p.blockDim = dim3(threads);
    p.kernelParams = arguments;
    return p;
}

void build(Built &built, State &s)
{
    cudaGraph_t steps;
    cudaGraphNode_t child, copy, node = nullptr;
    built.landed.resize(count);
    CHECK(cudaGraphCreate(&steps, 0));
    for (uint32_t &salt : built.salts) {
        void *arguments[] = {&s.x, &salt};
        cudaKernelNodeParams p = step_node(arguments);
        cudaGraphNode_t before = node;
        CHECK(cudaGraphAddKernelNode(&node, steps, before ? &before : nullptr, before ? 1 : 0, &p));
    }
    CHECK(cudaGraphCreate(&built.graph, 0));
    CHECK(cudaGraphAddChildGraphNode(&child, built.graph, nullptr, 0, steps));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, built.graph, &child, 1, built.landed.data(), s.x, bytes,
                                   cudaMemcpyDeviceToHost));
    CHECK(cudaGraphDestroy(steps));
}

// One kernel, whose node can be changed.
struct Single {
    cudaGraph_t graph;
    cudaGraphNode_t node;
};

void build(Single &single, State &s, uint32_t salt)
{
    void *arguments[] = {&s.x, &salt};
    cudaKernelNodeParams p = step_node(arguments);
    CHECK(cudaGraphCreate(&single.graph, 0));
    CHECK(cudaGraphAddKernelNode(&single.node, single.graph, nullptr, 0, &p));
}

void prepare(State &s)
{
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&fork_point));
    CHECK(cudaEventCreate(&join_point));
    for (uint32_t **buffer : {&s.x, &s.y, &s.z})
        CHECK(cudaMalloc(buffer, bytes));
    CHECK(cudaMalloc(&s.sum, sizeof *s.sum));
    CHECK(cudaMallocHost(&s.pinned, bytes));
    CHECK(cudaMallocHost(&s.calls, sizeof *s.calls));
    s.hx = fill<uint32_t>(count, [](size_t i) { return mix(i); });
    s.hy = s.hz = Words(count, 7);
    s.hpinned = fill<uint32_t>(count, [](size_t i) { return mix(i + count); });
    std::copy(s.hpinned.begin(), s.hpinned.end(), s.pinned);
    *s.calls = 0;
    CHECK(cudaMemcpy(s.x, s.hx.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(s.y, s.hy.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(s.z, s.hz.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(s.sum, 0, sizeof *s.sum));
}

void ordinary(State &s, uint32_t salt)
{
    step<<<blocks, threads, 0, a>>>(s.x, salt);
    step_reference(s.hx, salt);
}

int main()
{
    State s;
    prepare(s);
    cudaGraph_t graph = captured(enqueue_all, &s);
    cudaGraphExec_t all = ready(graph);
    CHECK(cudaGraphDestroy(graph));
    for (uint32_t round = 0; round < 3; round++) { // 3 graphs of 6 kernels, each between launches
        nvtxRangePushA("round");
        ordinary(s, round);
        CHECK(cudaGraphLaunch(all, a));
        all_reference(s);
        ordinary(s, round + 100);
        compare(s);
        nvtxRangePop();
        s.pinned[round] = s.hpinned[round] = round; // the host answers
    }

    s.salt = 77; // the same again with another constant in every kernel
    graph = captured(enqueue_all, &s);
    cudaGraphExecUpdateResultInfo result;
    CHECK(cudaGraphExecUpdate(all, graph, &result));
    for (int i = 0; i < 2; i++) { // 2 more, one behind the other
        CHECK(cudaGraphLaunch(all, a));
        all_reference(s);
    }
    compare(s);

    nvtxRangePushA("kernel"); // as many instructions as in each of the three kernels of the next graph
    ordinary(s, 40);
    nvtxRangePop();
    Built built;
    build(built, s);
    cudaGraphExec_t steps = ready(built.graph);
    for (int i = 0; i < 2; i++) { // 2 of 3 kernels
        nvtxRangePushA("steps");
        CHECK(cudaGraphLaunch(steps, a));
        nvtxRangePop();
        for (uint32_t salt : built.salts)
            step_reference(s.hx, salt);
    }
    compare(s);
    same("graphs: memory that is not pinned", built.landed, s.hx);

    Single single;
    build(single, s, 51);
    cudaGraphExec_t one = ready(single.graph);
    CHECK(cudaGraphLaunch(one, a)); // of one kernel
    step_reference(s.hx, 51);
    uint32_t salt = 52;
    void *arguments[] = {&s.pinned, &salt}; // from now on in pinned memory
    cudaKernelNodeParams p = step_node(arguments);
    CHECK(cudaGraphExecKernelNodeSetParams(one, single.node, &p));
    CHECK(cudaGraphLaunch(one, a)); // and again
    step_reference(s.hpinned, 52);
    compare(s);

    cudaGraphExec_t host = ready(captured(enqueue_host, &s)), allocating = ready(captured(enqueue_allocation, &s));
    for (int i = 0; i < 2; i++) { // these four cannot be launched again
        CHECK(cudaGraphLaunch(host, a));
        step_reference(s.hx, 31);
        s.hcalls++;
        ordinary(s, 61);
        CHECK(cudaGraphLaunch(allocating, a));
        blend_reference(s.hx, s.hx);
    }
    compare(s);
    finish();
    return passed("graphs", "device and host memory");
}
