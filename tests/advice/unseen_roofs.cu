// Kernels that are as fast as a part of the GPU allows, each in two sizes of block, and one that is too short to judge.
#include <cuda_fp16.h>
#include "advice.cuh"

constexpr uint32_t row = 32; // fours of words: all lanes of a warp read one
constexpr uint32_t bag = 64; // rows that a warp adds up

// Sums of rows of 512 bytes all over the memory.
__device__ inline void sum_bag(const uint4 *in, uint4 *out)
{
    uint32_t warp = thread() / 32, lane = threadIdx.x % 32;
    uint4 sum = {};
#pragma unroll 8
    for (uint32_t k = 0; k < bag; k++) {
        uint32_t r = (warp * bag + k) * 0x9e3779b1 % (words / 4 / row);
        uint4 v = in[r * row + lane];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
    out[thread()] = sum;
}

__global__ void k102a(const uint4 *__restrict__ in, uint4 *__restrict__ out)
{
    sum_bag(in, out);
}

__global__ void k102b(const uint4 *__restrict__ in, uint4 *__restrict__ out)
{
    sum_bag(in, out);
}

static Case k102(
    "k102", [](const Memory &m) { k102a<<<words / 4 / bag / 128, 128>>>((const uint4 *)m.in, (uint4 *)m.out); },
    [](const Memory &m) { k102b<<<words / 4 / bag / 256, 256>>>((const uint4 *)m.in, (uint4 *)m.out); });

// Four bytes become four floats.
__device__ inline void widen(const uint32_t *in, float4 *out)
{
    uint32_t x = in[thread()];
    out[thread()] = make_float4((float)(x % 256), (float)(x >> 8 & 255), (float)(x >> 16 & 255), (float)(x >> 24));
}

__global__ void k103a(const uint32_t *__restrict__ in, float4 *__restrict__ out)
{
    widen(in, out);
}

__global__ void k103b(const uint32_t *__restrict__ in, float4 *__restrict__ out)
{
    widen(in, out);
}

static Case k103(
    "k103", [](const Memory &m) { k103a<<<words / 4 / 256, 256>>>(m.in, (float4 *)m.out); },
    [](const Memory &m) { k103b<<<words / 4 / 512, 512>>>(m.in, (float4 *)m.out); });

// Four chains of whole numbers.
__device__ inline void chain_words(const uint32_t *in, uint32_t *out)
{
    uint32_t y = in[thread()], x[4] = {y, y ^ 1, y ^ 2, y ^ 3}, factor = y | 1;
#pragma unroll 16
    for (uint32_t k = 0; k < 2048; k++) {
#pragma unroll
        for (uint32_t j = 0; j < 4; j++)
            x[j] = x[j] * factor + y;
    }
    out[thread()] = x[0] ^ x[1] ^ x[2] ^ x[3];
}

__global__ void k104a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    chain_words(in, out);
}

__global__ void k104b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    chain_words(in, out);
}

static Case k104(
    "k104", [](const Memory &m) { k104a<<<m.sms * 8, 256>>>(m.in, m.out); },
    [](const Memory &m) { k104b<<<m.sms * 16, 128>>>(m.in, m.out); });

// Eight chains of two halves each.
__device__ inline void chain_halves(const float *in, uint32_t *out)
{
    __half2 y = __float2half2_rn(in[thread()]), half = __float2half2_rn(0.5f), x[8];
#pragma unroll
    for (uint32_t j = 0; j < 8; j++)
        x[j] = __float2half2_rn((float)j);
#pragma unroll 16
    for (uint32_t k = 0; k < 4096; k++) {
#pragma unroll
        for (uint32_t j = 0; j < 8; j++)
            x[j] = __hfma2(x[j], half, y);
    }
    uint32_t bits = 0;
#pragma unroll
    for (uint32_t j = 0; j < 8; j++)
        bits = bits * 3 + (uint32_t &)x[j];
    out[thread()] = bits;
}

__global__ void k105a(const float *__restrict__ in, uint32_t *__restrict__ out)
{
    chain_halves(in, out);
}

__global__ void k105b(const float *__restrict__ in, uint32_t *__restrict__ out)
{
    chain_halves(in, out);
}

static Case k105(
    "k105", [](const Memory &m) { k105a<<<m.sms * 8, 256>>>(m.numbers, m.out); },
    [](const Memory &m) { k105b<<<m.sms * 4, 512>>>(m.numbers, m.out); });

// Words that nothing is read for.
__device__ inline void write_words(uint4 *out, uint32_t seed)
{
    uint32_t x = thread() * 4 + seed;
    out[thread()] = make_uint4(x, x + 1, x + 2, x + 3);
}

__global__ void k106a(uint4 *__restrict__ out, uint32_t seed)
{
    write_words(out, seed);
}

__global__ void k106b(uint4 *__restrict__ out, uint32_t seed)
{
    write_words(out, seed);
}

static Case k106(
    "k106", [](const Memory &m) { k106a<<<words / 4 / 256, 256>>>((uint4 *)m.out, 7); },
    [](const Memory &m) { k106b<<<words / 4 / 1024, 1024>>>((uint4 *)m.out, 7); });

constexpr uint32_t few = 1 << 15; // words, so that most of the time is the launch

__device__ inline void scale(const float *in, float *out)
{
    out[thread()] = in[thread()] * 3 + 1;
}

__global__ void k107a(const float *__restrict__ in, float *__restrict__ out)
{
    scale(in, out);
}

__global__ void k107b(const float *__restrict__ in, float *__restrict__ out)
{
    scale(in, out);
}

static Case k107(
    "k107", [](const Memory &m) { k107a<<<few / 256, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k107b<<<few / 128, 128>>>(m.numbers, (float *)m.out); });
