// Which threads of a warp go which way.
#include "advice.cuh"

constexpr uint32_t count = 1 << 22;

// Two ways of much the same length.
__device__ inline uint32_t either(bool first, uint32_t x)
{
    if (first) {
#pragma unroll 1
        for (uint32_t k = 0; k < 160; k++)
            x = x * 1664525 + (x >> 7);
    } else {
#pragma unroll 1
        for (uint32_t k = 0; k < 160; k++)
            x = (x ^ k) * 22695477 - (x >> 9);
    }
    return x;
}

__global__ void k11a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t i = blockIdx.x * 256 + threadIdx.x % 128 * 2 + threadIdx.x / 128;
    out[i] = either(i % 2, in[i]);
}

__global__ void k11b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t i = thread();
    out[i] = either(i % 2, in[i]);
}

static Case k11(
    "k11", [](const Memory &m) { k11a<<<count / 256, 256>>>(m.in, m.out); },
    [](const Memory &m) { k11b<<<count / 256, 256>>>(m.in, m.out); });

// The number of steps depends on the place within 32.
__device__ inline float relaxed(uint32_t i, float x)
{
    float y = x;
#pragma unroll 1
    for (uint32_t k = 0; k < i % 32 * 24; k++)
        y = fmaf(y, 0.75f, x);
    return y;
}

__global__ void k12a(const float *__restrict__ in, float *__restrict__ out)
{
    uint32_t i = thread();
    out[i] = relaxed(i, in[i]);
}

__global__ void k12b(const float *__restrict__ in, float *__restrict__ out)
{
    uint32_t i = blockIdx.x * 1024 + threadIdx.x % 32 * 32 + threadIdx.x / 32;
    out[i] = relaxed(i, in[i]);
}

static Case k12(
    "k12", [](const Memory &m) { k12a<<<count / 1024, 1024>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k12b<<<count / 1024, 1024>>>(m.numbers, (float *)m.out); });

constexpr uint32_t each = 8; // items of a thread

__device__ inline bool rare(uint32_t x)
{
    return x % 16 == 3;
}

__global__ void k13a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t queue[256 * each], queued;
    uint32_t first = blockIdx.x * 256 * each;
    if (threadIdx.x == 0)
        queued = 0;
    __syncthreads();
#pragma unroll 1
    for (uint32_t k = 0; k < each; k++) {
        uint32_t i = first + k * 256 + threadIdx.x;
        if (rare(in[i]))
            queue[atomicAdd(&queued, 1)] = i;
        else
            out[i] = in[i] * 3;
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < queued; k += 256)
        out[queue[k]] = rounds(in[queue[k]], 200);
}

__global__ void k13b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t first = blockIdx.x * 256 * each;
#pragma unroll 1
    for (uint32_t k = 0; k < each; k++) {
        uint32_t i = first + k * 256 + threadIdx.x;
        if (rare(in[i]))
            out[i] = rounds(in[i], 200);
        else
            out[i] = in[i] * 3;
    }
}

static Case k13(
    "k13", [](const Memory &m) { k13a<<<count * 4 / 256 / each, 256>>>(m.in, m.out); },
    [](const Memory &m) { k13b<<<count * 4 / 256 / each, 256>>>(m.in, m.out); });
