// multi: forty small launches of three kernels on two streams, with grids of many sizes, and no wait before the end.
// Meant to move little in any counter, but to make many ranges: launches, streams, names and grids to keep apart.
#include "check.cuh"

constexpr int launches = 40, streams = 2;
constexpr int threads = 128;
constexpr int most_blocks = 160;
constexpr int count = most_blocks * threads;

__global__ void scale(uint32_t *x, uint32_t factor)
{
    x[blockIdx.x * threads + threadIdx.x] *= factor;
}

__global__ void offset(uint32_t *x, uint32_t amount)
{
    x[blockIdx.x * threads + threadIdx.x] += amount;
}

// The block's values in reverse order, each with its neighbour's bits.
__global__ void reverse(uint32_t *x)
{
    __shared__ uint32_t values[threads];
    int i = blockIdx.x * threads + threadIdx.x;
    values[threadIdx.x] = x[i];
    __syncthreads();
    x[i] = values[threads - 1 - threadIdx.x] ^ values[threadIdx.x] >> 1;
}

// Between 1 block and 160, more than the GPU has multiprocessors.
int blocks_of(int launch)
{
    return 1 + launch * 37 % most_blocks;
}

void launch_one(int launch, cudaStream_t stream, uint32_t *x)
{
    int blocks = blocks_of(launch);
    if (launch % 3 == 0)
        scale<<<blocks, threads, 0, stream>>>(x, 2 * launch + 3);
    else if (launch % 3 == 1)
        offset<<<blocks, threads, 0, stream>>>(x, launch * 1001);
    else
        reverse<<<blocks, threads, 0, stream>>>(x);
    CHECK(cudaGetLastError());
}

void reference_one(int launch, std::vector<uint32_t> &x)
{
    std::vector<uint32_t> old = x;
    for (int i = 0; i < blocks_of(launch) * threads; i++) {
        int mirrored = i / threads * threads + threads - 1 - i % threads;
        if (launch % 3 == 0)
            x[i] *= 2 * launch + 3;
        else if (launch % 3 == 1)
            x[i] += launch * 1001;
        else
            x[i] = old[mirrored] ^ old[i] >> 1;
    }
}

int main()
{
    std::vector<uint32_t> want[streams];
    for (uint32_t s = 0; s < streams; s++)
        want[s] = fill<uint32_t>(count, [&](size_t i) { return mix(uint32_t(i) + s * count); });
    Buffer<uint32_t> first(want[0]), second(want[1]);
    uint32_t *x[streams] = {first.get(), second.get()};
    cudaStream_t stream[streams];
    for (auto &one : stream)
        CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize()); // the copies are done before streams start that do not wait for them

    for (int launch = 0; launch < launches; launch++)
        launch_one(launch, stream[launch % streams], x[launch % streams]);
    finish();

    for (int launch = 0; launch < launches; launch++)
        reference_one(launch, want[launch % streams]);
    expect("multi: first stream", first.download(), [&](size_t i) { return want[0][i]; });
    expect("multi: second stream", second.download(), [&](size_t i) { return want[1][i]; });
    for (auto &one : stream)
        CHECK(cudaStreamDestroy(one));
    return passed("multi", "40 launches of 3 kernels on 2 streams");
}
