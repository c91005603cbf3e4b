// reduce: a sum by warp shuffles, then shared memory, then one global atomic a block; a histogram by shared atomics;
// and a warp-wide census by votes and integer warp reductions.
// Meant to move shuffles, votes, REDUX, barriers, shared atomics with conflicts, and few global reductions.
#include "check.cuh"

constexpr int count = 1 << 20;
constexpr int threads = 256, blocks = 256;
constexpr int bins = 64;
constexpr unsigned all_lanes = 0xffffffffu;

__device__ int warp_sum(int value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(all_lanes, value, distance);
    return value;
}

__global__ void sum(const int *in, int *total)
{
    __shared__ int partial[threads / 32];
    int value = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += blocks * threads)
        value += in[i];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    value = warp_sum(threadIdx.x < threads / 32 ? partial[threadIdx.x] : 0);
    if (threadIdx.x == 0)
        atomicAdd(total, value);
}

__global__ void histogram(const int *in, int *out)
{
    __shared__ int local[bins];
    if (threadIdx.x < bins)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += blocks * threads)
        atomicAdd(&local[in[i] % bins], 1);
    __syncthreads();
    if (threadIdx.x < bins)
        atomicAdd(&out[threadIdx.x], local[threadIdx.x]);
}

// For each warp's 32 values: how many are odd, times 1000, plus the greatest modulo 1000.
__global__ void census(const int *in, int *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    int odd = __popc(__ballot_sync(all_lanes, in[i] & 1));
    int greatest = __reduce_max_sync(all_lanes, in[i] % 1000);
    if (threadIdx.x % 32 == 0)
        out[i / 32] = odd * 1000 + greatest;
}

int main()
{
    auto in = fill<int>(count, [](size_t i) { return mix(uint32_t(i)) % 2000; });
    int want_total = 0;
    std::vector<int> want_bins(bins), want_odd(count / 32), want_greatest(count / 32);
    for (int i = 0; i < count; i++) {
        want_total += in[i];
        want_bins[in[i] % bins]++;
        want_odd[i / 32] += in[i] & 1;
        want_greatest[i / 32] = std::max(want_greatest[i / 32], in[i] % 1000);
    }
    Buffer<int> device_in(in), total(1), counts(bins), warps(count / 32);

    sum<<<blocks, threads>>>(device_in.get(), total.get());
    histogram<<<blocks, threads>>>(device_in.get(), counts.get());
    census<<<count / threads, threads>>>(device_in.get(), warps.get());
    finish();

    expect("reduce: sum", total.download(), [&](size_t) { return want_total; });
    expect("reduce: histogram", counts.download(), [&](size_t i) { return want_bins[i]; });
    expect("reduce: census", warps.download(), [&](size_t i) { return want_odd[i] * 1000 + want_greatest[i]; });
    return passed("reduce", "sum, histogram and census of 1048576 ints");
}
