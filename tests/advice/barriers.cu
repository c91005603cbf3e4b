// Threads that wait for others of their block.
#include "advice.cuh"

// One warp after another has the long way; words go to the other thread of a pair only.
template <bool whole_block> __device__ inline void pairs(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t part[1024];
    uint32_t x = in[thread()];
#pragma unroll 1
    for (uint32_t k = 0; k < 64; k++) {
        part[threadIdx.x] = rounds(x, k % 32 == threadIdx.x / 32 ? 256 : 16);
        if (whole_block)
            __syncthreads();
        else
            __syncwarp();
        x = part[threadIdx.x ^ 1];
        if (whole_block)
            __syncthreads();
        else
            __syncwarp();
    }
    out[thread()] = x;
}

__global__ void __launch_bounds__(1024, 2) k35a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    pairs<true>(in, out);
}

__global__ void __launch_bounds__(1024, 2) k35b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    pairs<false>(in, out);
}

static Case k35(
    "k35", [](const Memory &m) { k35a<<<m.sms * 4, 1024>>>(m.in, m.out); },
    [](const Memory &m) { k35b<<<m.sms * 4, 1024>>>(m.in, m.out); });

__device__ inline uint32_t total_of_warps(uint32_t x)
{
    __shared__ uint32_t part[8];
    uint32_t sum = __reduce_add_sync(0xffffffff, x);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    uint32_t total = 0;
    for (uint32_t k = 0; k < 8; k++)
        total += part[k];
    __syncthreads();
    return total;
}

__device__ inline uint32_t total_by_one(uint32_t x)
{
    __shared__ uint32_t part[256], total;
    part[threadIdx.x] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < 256; k++)
            sum += part[k];
        total = sum;
    }
    __syncthreads();
    return total;
}

__global__ void k36a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t x = in[thread()];
#pragma unroll 1
    for (uint32_t k = 0; k < 96; k++)
        x = rounds(x, 16) + total_of_warps(x);
    out[thread()] = x;
}

__global__ void k36b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t x = in[thread()];
#pragma unroll 1
    for (uint32_t k = 0; k < 96; k++)
        x = rounds(x, 16) + total_by_one(x);
    out[thread()] = x;
}

static Case k36(
    "k36", [](const Memory &m) { k36a<<<m.sms * 16, 256>>>(m.in, m.out); },
    [](const Memory &m) { k36b<<<m.sms * 16, 256>>>(m.in, m.out); });
