// Who adds to the same word at the same time.
#include "advice.cuh"

constexpr uint32_t bins = 2048;

__global__ void k21a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t count)
{
    for (uint32_t i = thread(); i < count; i += threads())
        atomicAdd(out + in[i] % bins, in[i] >> 24);
}

__global__ void k21b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t count)
{
    __shared__ uint32_t sums[bins];
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
        sums[i] = 0;
    __syncthreads();
    for (uint32_t i = thread(); i < count; i += threads())
        atomicAdd(sums + in[i] % bins, in[i] >> 24);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
        atomicAdd(out + i, sums[i]);
}

static Case k21(
    "k21", [](const Memory &m) { k21a<<<m.sms * 2, 1024>>>(m.in, m.out, 1 << 25); },
    [](const Memory &m) { k21b<<<m.sms * 2, 1024>>>(m.in, m.out, 1 << 25); });

__global__ void k22a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    uint32_t x = __reduce_add_sync(0xffffffff, rounds(in[thread()], 1024));
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, x);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}

__global__ void k22b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    atomicAdd(out, rounds(in[thread()], 1024));
}

static Case k22(
    "k22", [](const Memory &m) { k22a<<<2048, 256>>>(m.in, m.out); },
    [](const Memory &m) { k22b<<<2048, 256>>>(m.in, m.out); });

constexpr uint32_t kinds = 16;

// Nine of ten are of kind 0.
__device__ inline uint32_t kind(uint32_t x)
{
    return x % 256 < 230 ? 0 : x % kinds;
}

// `copies` of each sum in shared memory, a power of two of at most 32.
template <uint32_t copies> __device__ inline void sum_kinds(const uint32_t *in, uint32_t *out, uint32_t count)
{
    __shared__ uint32_t sums[kinds * copies];
    for (uint32_t i = threadIdx.x; i < kinds * copies; i += blockDim.x)
        sums[i] = 0;
    __syncthreads();
    for (uint32_t i = thread(); i < count; i += threads())
        atomicAdd(sums + kind(in[i]) * copies + threadIdx.x % copies, in[i] >> 24);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < kinds * copies; i += blockDim.x)
        atomicAdd(out + i / copies, sums[i]);
}

__global__ void k23a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    sum_kinds<32>(in, out, words);
}

__global__ void k23b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    sum_kinds<1>(in, out, words);
}

static Case k23(
    "k23", [](const Memory &m) { k23a<<<m.sms * 4, 512>>>(m.in, m.out); },
    [](const Memory &m) { k23b<<<m.sms * 4, 512>>>(m.in, m.out); });
