// What keeps warps from being resident.
#include "advice.cuh"

__device__ inline void through_shared(const uint32_t *in, uint32_t *out)
{
    extern __shared__ uint32_t part[];
    part[threadIdx.x] = in[thread()];
    __syncthreads();
    out[thread()] = rounds(part[threadIdx.x ^ 64], 256);
}

__global__ void k37a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    through_shared(in, out);
}

__global__ void k37b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    through_shared(in, out);
}

template <typename Kernel> static void launch_shared(Kernel kernel, const Memory &m, int bytes)
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<1 << 15, 128, bytes>>>(m.in, m.out);
}

static Case k37(
    "k37", [](const Memory &m) { launch_shared(k37a, m, 100 << 10); },
    [](const Memory &m) { launch_shared(k37b, m, 1 << 10); });

constexpr uint32_t near_pairs = 1 << 21; // 16 MB, which stay in the L2 cache

__device__ inline uint32_t sum_near(const uint2 *in, uint32_t count)
{
    uint32_t sum = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < count; k++) {
        uint2 v = in[(thread() + k * 12288) % near_pairs];
        sum += v.x ^ v.y;
    }
    return sum;
}

__global__ void k38a(const uint2 *__restrict__ in, uint32_t *__restrict__ out)
{
    out[thread()] = sum_near(in, 512);
}

__global__ void k38b(const uint2 *__restrict__ in, uint32_t *__restrict__ out)
{
    out[thread()] = sum_near(in, 512);
}

static Case k38(
    "k38", [](const Memory &m) { k38a<<<m.sms * 8, 256>>>((const uint2 *)m.in, m.out); },
    [](const Memory &m) { k38b<<<m.sms * 64, 32>>>((const uint2 *)m.in, m.out); });

constexpr uint32_t own = 96; // words that a thread adds to its sum

__global__ void __launch_bounds__(128) k39a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t sum = sum_near((const uint2 *)in, 512);
#pragma unroll 8
    for (uint32_t k = 0; k < own; k++)
        sum = sum * 3 + in[k * threads() + thread()];
    out[thread()] = sum;
}

__global__ void __launch_bounds__(128) k39b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t kept[own];
#pragma unroll
    for (uint32_t k = 0; k < own; k++)
        kept[k] = in[k * threads() + thread()];
#pragma unroll
    for (uint32_t k = 0; k < own; k++)
        asm volatile("" : "+r"(kept[k])); // so that the compiler does not load them later
    uint32_t sum = sum_near((const uint2 *)in, 512);
#pragma unroll
    for (uint32_t k = 0; k < own; k++)
        sum = sum * 3 + kept[k];
    out[thread()] = sum;
}

static Case k39(
    "k39", [](const Memory &m) { k39a<<<m.sms * 16, 128>>>(m.in, m.out); },
    [](const Memory &m) { k39b<<<m.sms * 16, 128>>>(m.in, m.out); });
