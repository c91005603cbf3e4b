// How many bytes a thread asks for at once.
#include <cuda_fp16.h>
#include "advice.cuh"

__global__ void k05a(const uint4 *__restrict__ in, uint4 *__restrict__ out, uint32_t count)
{
#pragma unroll 1
    for (uint32_t i = thread(); i < count; i += threads()) {
        uint4 v = in[i];
        out[i] = make_uint4(v.x ^ 0x5a5a5a5a, v.y ^ 0x5a5a5a5a, v.z ^ 0x5a5a5a5a, v.w ^ 0x5a5a5a5a);
    }
}

__global__ void k05b(const uint8_t *__restrict__ in, uint8_t *__restrict__ out, uint32_t count)
{
#pragma unroll 1
    for (uint32_t i = thread(); i < count; i += threads())
        out[i] = in[i] ^ 0x5a;
}

static Case k05(
    "k05", [](const Memory &m) { k05a<<<m.sms * 8, 256>>>((const uint4 *)m.in, (uint4 *)m.out, words / 4); },
    [](const Memory &m) { k05b<<<m.sms * 8, 256>>>((const uint8_t *)m.in, (uint8_t *)m.out, words * 4); });

constexpr uint32_t small = 0x3bff3bff; // the bits of two halves from 0 to 1

__device__ inline uint32_t scaled(uint32_t x, uint32_t y)
{
    x &= small;
    y &= small;
    __half2 sum = __hfma2((__half2 &)x, __float2half2_rn(3), (__half2 &)y);
    return (uint32_t &)sum;
}

__global__ void k06a(const uint16_t *__restrict__ x, const uint16_t *__restrict__ y, uint16_t *__restrict__ out,
                     uint32_t count)
{
#pragma unroll 1
    for (uint32_t i = thread(); i < count; i += threads())
        out[i] = (uint16_t)scaled(x[i], y[i]);
}

__global__ void k06b(const uint4 *__restrict__ x, const uint4 *__restrict__ y, uint4 *__restrict__ out, uint32_t count)
{
#pragma unroll 1
    for (uint32_t i = thread(); i < count; i += threads()) {
        uint4 u = x[i], v = y[i];
        out[i] = make_uint4(scaled(u.x, v.x), scaled(u.y, v.y), scaled(u.z, v.z), scaled(u.w, v.w));
    }
}

static Case k06(
    "k06",
    [](const Memory &m) {
        k06a<<<m.sms * 8, 256>>>((const uint16_t *)m.in, (const uint16_t *)(m.in + words / 2), (uint16_t *)m.out,
                                 words);
    },
    [](const Memory &m) {
        k06b<<<m.sms * 8, 256>>>((const uint4 *)m.in, (const uint4 *)(m.in + words / 2), (uint4 *)m.out, words / 8);
    });

constexpr uint32_t part = 16384; // numbers that a block sums up

__device__ inline void sum_up(float sum, float *out)
{
    for (uint32_t step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out + blockIdx.x, sum);
}

__global__ void k07a(const float *__restrict__ in, float *__restrict__ out)
{
    const float *mine = in + blockIdx.x * part;
    float sum = 0;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < part; i += blockDim.x)
        sum += mine[i];
    sum_up(sum, out);
}

__global__ void k07b(const float4 *__restrict__ in, float *__restrict__ out)
{
    const float4 *mine = in + blockIdx.x * (part / 4);
    float sum = 0;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < part / 4; i += blockDim.x) {
        float4 v = mine[i];
        sum += v.x + v.y + v.z + v.w;
    }
    sum_up(sum, out);
}

static Case k07(
    "k07", [](const Memory &m) { k07a<<<words / part, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k07b<<<words / part, 256>>>((const float4 *)m.numbers, (float *)m.out); });
