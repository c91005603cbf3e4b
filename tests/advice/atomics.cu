// Who adds to the same word at the same time.
#include "advice.cuh"

constexpr uint32_t bins = 2048;

__device__ inline void add(uint32_t *sums, uint32_t x)
{
    x = rounds(x, 96);
    atomicAdd(sums + x % bins, x >> 24);
}

__device__ inline void add_all(const uint4 *in, uint32_t *sums, uint32_t count)
{
    for (uint32_t i = thread(); i < count; i += threads()) {
        uint4 v = in[i];
        add(sums, v.x);
        add(sums, v.y);
        add(sums, v.z);
        add(sums, v.w);
    }
}

__global__ void k21a(const uint4 *__restrict__ in, uint32_t *__restrict__ out, uint32_t count)
{
    add_all(in, out, count);
}

__global__ void k21b(const uint4 *__restrict__ in, uint32_t *__restrict__ out, uint32_t count)
{
    __shared__ uint32_t sums[bins];
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
        sums[i] = 0;
    __syncthreads();
    add_all(in, sums, count);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
        atomicAdd(out + i, sums[i]);
}

static Case k21(
    "k21", [](const Memory &m) { k21a<<<m.sms * 2, 1024>>>((const uint4 *)m.in, m.out, 1 << 21); },
    [](const Memory &m) { k21b<<<m.sms * 2, 1024>>>((const uint4 *)m.in, m.out, 1 << 21); });

using Sum = unsigned long long;

__global__ void k22a(const uint32_t *__restrict__ in, Sum *__restrict__ out)
{
    __shared__ Sum sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    Sum x = rounds(in[thread()], 1024);
    for (uint32_t step = 16; step > 0; step /= 2)
        x += __shfl_down_sync(0xffffffff, x, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, x);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}

__global__ void k22b(const uint32_t *__restrict__ in, Sum *__restrict__ out)
{
    atomicAdd(out, (Sum)rounds(in[thread()], 1024));
}

static Case k22(
    "k22", [](const Memory &m) { k22a<<<2048, 256>>>(m.in, (Sum *)m.out); },
    [](const Memory &m) { k22b<<<2048, 256>>>(m.in, (Sum *)m.out); });

constexpr uint32_t kinds = 16;

// Nine of ten are of kind 0.
__device__ inline uint32_t kind(uint32_t x)
{
    return x % 256 < 230 ? 0 : x % kinds;
}

template <uint32_t copies> __device__ inline void add_kind(uint32_t *sums, uint32_t x)
{
    atomicAdd(sums + kind(x) * copies + threadIdx.x % copies, x >> 24);
}

// `copies` of each sum in shared memory, a power of two of at most 32.
template <uint32_t copies> __device__ inline void sum_kinds(const uint4 *in, uint32_t *out, uint32_t count)
{
    __shared__ uint32_t sums[kinds * copies];
    for (uint32_t i = threadIdx.x; i < kinds * copies; i += blockDim.x)
        sums[i] = 0;
    __syncthreads();
    for (uint32_t i = thread(); i < count; i += threads()) {
        uint4 v = in[i];
        add_kind<copies>(sums, v.x);
        add_kind<copies>(sums, v.y);
        add_kind<copies>(sums, v.z);
        add_kind<copies>(sums, v.w);
    }
    __syncthreads();
    if (threadIdx.x >= kinds)
        return;
    uint32_t sum = 0;
    for (uint32_t k = 0; k < copies; k++)
        sum += sums[threadIdx.x * copies + (k + threadIdx.x) % copies];
    atomicAdd(out + threadIdx.x, sum);
}

__global__ void k23a(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    sum_kinds<32>(in, out, words / 4);
}

__global__ void k23b(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    sum_kinds<1>(in, out, words / 4);
}

static Case k23(
    "k23", [](const Memory &m) { k23a<<<m.sms * 4, 512>>>((const uint4 *)m.in, m.out); },
    [](const Memory &m) { k23b<<<m.sms * 4, 512>>>((const uint4 *)m.in, m.out); });
