// mixed: what stands between launches in real programs. Memory is set, copied in both directions and on the device,
// allocated and freed; two streams wait for each other; kernels write managed and pinned memory, run cooperatively, in a
// graph, and with large arguments. Each step continues from the last one's results, so that a profiler that replays
// launches and puts one byte of memory back wrongly is found out.
#include <cooperative_groups.h>

#include "check.cuh"

constexpr int count = 1 << 16, threads = 256;

struct Big { // a kernel argument of many words
    uint32_t word[64];
};

__global__ void step(uint32_t *x, uint32_t salt)
{
    int i = blockIdx.x * threads + threadIdx.x;
    x[i] = x[i] * 1664525u + salt + i;
}

__global__ void blend(uint32_t *x, const uint32_t *y, Big big)
{
    int i = blockIdx.x * threads + threadIdx.x;
    x[i] ^= y[i] + big.word[i % 64];
}

__global__ void total(const uint32_t *x, unsigned long long *sum)
{
    atomicAdd(sum, (unsigned long long)x[blockIdx.x * threads + threadIdx.x]);
}

__global__ void together(uint32_t *x)
{
    int i = blockIdx.x * threads + threadIdx.x, all = gridDim.x * threads;
    uint32_t next = x[(i + 1) % all];
    cooperative_groups::this_grid().sync();
    x[i] += next;
}

void step_reference(std::vector<uint32_t> &x, uint32_t salt)
{
    for (int i = 0; i < count; i++)
        x[i] = x[i] * 1664525u + salt + i;
}

void blend_reference(std::vector<uint32_t> &x, const std::vector<uint32_t> &y, const Big &big)
{
    for (int i = 0; i < count; i++)
        x[i] ^= y[i] + big.word[i % 64];
}

void together_reference(std::vector<uint32_t> &x, int all)
{
    std::vector<uint32_t> old = x;
    for (int i = 0; i < all; i++)
        x[i] += old[(i + 1) % all];
}

unsigned long long total_reference(const std::vector<uint32_t> &x)
{
    unsigned long long sum = 0;
    for (uint32_t v : x)
        sum += v;
    return sum;
}

void same(const char *what, const uint32_t *got, const std::vector<uint32_t> &want)
{
    expect(what, std::vector<uint32_t>(got, got + count), [&](size_t i) { return want[i]; });
}

int main()
{
    constexpr int blocks = count / threads, few = 64;
    size_t bytes = count * sizeof(uint32_t);
    cudaStream_t a, b;
    cudaEvent_t ready;
    uint32_t *x, *y, *managed, *pinned;
    unsigned long long *sum;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&ready));
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMalloc(&y, bytes));
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMallocManaged(&managed, bytes));
    CHECK(cudaMallocHost(&pinned, bytes));
    std::vector<uint32_t> hx(count), hy(count, 0x07070707u), seen(count);
    Big big;
    for (int i = 0; i < 64; i++)
        big.word[i] = 0x9e3779b9u * (i + 1);
    for (int i = 0; i < count; i++)
        hx[i] = pinned[i] = managed[i] = i ^ 0x5bd1e995u;
    unsigned long long hsum = 0;
    CHECK(cudaMemsetAsync(sum, 0, sizeof *sum, a));
    CHECK(cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice, a));
    CHECK(cudaMemsetAsync(y, 7, bytes, b));

    for (uint32_t round = 0; round < 4; round++) { // launches with copies, sets and events between them
        step<<<blocks, threads, 0, a>>>(x, round);
        step_reference(hx, round);
        CHECK(cudaEventRecord(ready, a));
        CHECK(cudaStreamWaitEvent(b, ready, 0));
        blend<<<blocks, threads, 0, b>>>(y, x, big);
        blend_reference(hy, hx, big);
        CHECK(cudaEventRecord(ready, b));
        CHECK(cudaStreamWaitEvent(a, ready, 0));
        CHECK(cudaMemcpyAsync(x, y, bytes / 2, cudaMemcpyDeviceToDevice, a));
        std::copy(hy.begin(), hy.begin() + count / 2, hx.begin());
        total<<<blocks, threads, 0, a>>>(x, sum); // adds up only if it ran once
        hsum += total_reference(hx);
        CHECK(cudaMemcpyAsync(seen.data(), x, bytes, cudaMemcpyDeviceToHost, a));
        CHECK(cudaStreamSynchronize(a));
        same("mixed: x in a round", seen.data(), hx);
        seen[round] ^= 0xffffffffu; // the host answers with new data, from memory that it then overwrites
        hx = seen;
        CHECK(cudaMemcpyAsync(x, seen.data(), bytes, cudaMemcpyHostToDevice, a));
        CHECK(cudaStreamSynchronize(a));
        std::fill(seen.begin(), seen.end(), 0);
    }

    uint32_t *late; // memory that comes and goes
    CHECK(cudaMalloc(&late, bytes));
    CHECK(cudaMemcpy(late, x, bytes, cudaMemcpyDeviceToDevice));
    blend<<<blocks, threads>>>(x, late, big);
    blend_reference(hx, std::vector<uint32_t>(hx), big);
    CHECK(cudaFree(late));

    std::vector<uint32_t> hm(managed, managed + count), hp(pinned, pinned + count);
    step<<<blocks, threads>>>(managed, 11); // memory of the host's
    step<<<blocks, threads>>>(pinned, 12);
    step_reference(hm, 11);
    step_reference(hp, 12);

    void *arguments[] = {&x};
    CHECK(cudaLaunchCooperativeKernel((void *)together, dim3(few), dim3(threads), arguments, 0, nullptr));
    together_reference(hx, few * threads);
    CHECK(cudaDeviceSynchronize());

    cudaGraph_t graph;
    cudaGraphExec_t ready_graph;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    step<<<blocks, threads, 0, a>>>(x, 21);
    total<<<blocks, threads, 0, a>>>(x, sum);
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&ready_graph, graph, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(ready_graph, a));
        step_reference(hx, 21);
        hsum += total_reference(hx);
    }
    CHECK(cudaStreamSynchronize(a));

    unsigned long long got;
    CHECK(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(seen.data(), x, bytes, cudaMemcpyDeviceToHost));
    same("mixed: x", seen.data(), hx);
    CHECK(cudaMemcpy(seen.data(), y, bytes, cudaMemcpyDeviceToHost));
    same("mixed: y", seen.data(), hy);
    expect("mixed: sum", std::vector<unsigned long long>{got}, [&](size_t) { return hsum; });
    same("mixed: managed memory", managed, hm);
    same("mixed: pinned memory", pinned, hp);
    return passed("mixed", "every buffer");
}
