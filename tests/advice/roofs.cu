// Kernels that are as fast as a part of the GPU allows.
#include <mma.h>
#include "advice.cuh"

__global__ void k48a(const float4 *__restrict__ x, const float4 *__restrict__ y, float4 *__restrict__ out)
{
    float4 u = x[thread()], v = y[thread()];
    out[thread()] = make_float4(fmaf(u.x, 3, v.x), fmaf(u.y, 3, v.y), fmaf(u.z, 3, v.z), fmaf(u.w, 3, v.w));
}

static Case k48(
    "k48",
    [](const Memory &m) {
        k48a<<<words / 8 / 256, 256>>>((const float4 *)m.numbers, (const float4 *)(m.numbers + words / 2),
                                       (float4 *)m.out);
    },
    nullptr);

constexpr uint32_t near_words = 1 << 20; // 16 MB in fours, which stay in the L2 cache

__global__ void k49a(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t sum = 0;
#pragma unroll 8
    for (uint32_t k = 0; k < 256; k++) {
        uint4 v = __ldcg(in + (thread() + k * 12288) % near_words);
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    out[thread()] = sum;
}

static Case k49(
    "k49", [](const Memory &m) { k49a<<<m.sms * 8, 256>>>((const uint4 *)m.in, m.out); }, nullptr);

__global__ void k50a(const float *__restrict__ in, float *__restrict__ out, float factor)
{
    float y = in[thread()], x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, sum = 0;
#pragma unroll 16
    for (uint32_t k = 0; k < 2048; k++) {
#pragma unroll
        for (uint32_t j = 0; j < 8; j++)
            x[j] = fmaf(x[j], factor, y);
    }
    for (uint32_t j = 0; j < 8; j++)
        sum += x[j];
    out[thread()] = sum;
}

static Case k50(
    "k50", [](const Memory &m) { k50a<<<m.sms * 8, 256>>>(m.numbers, (float *)m.out, 0.5f); }, nullptr);

__global__ void __launch_bounds__(256) k51a(const uint32_t *__restrict__ in, float *__restrict__ out)
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) uint32_t part[5][128];
    for (uint32_t i = threadIdx.x; i < 5 * 128; i += blockDim.x)
        part[i / 128][i % 128] = in[i] & 0x3bff3bff; // halves from 0 to 1
    __syncthreads();
    fragment<matrix_a, 16, 16, 16, half, row_major> x;
    fragment<matrix_b, 16, 16, 16, half, col_major> y[4];
    fragment<accumulator, 16, 16, 16, float> sum[4];
    load_matrix_sync(x, (const half *)part[4], 16);
    for (uint32_t j = 0; j < 4; j++) {
        load_matrix_sync(y[j], (const half *)part[j], 16);
        fill_fragment(sum[j], 0);
    }
#pragma unroll 4
    for (uint32_t k = 0; k < 1024; k++) {
#pragma unroll
        for (uint32_t j = 0; j < 4; j++)
            mma_sync(sum[j], x, y[j], sum[j]);
    }
    for (uint32_t j = 0; j < 4; j++)
        store_matrix_sync(out + (thread() / 32 * 4 + j) * 256, sum[j], 16, mem_row_major);
}

static Case k51(
    "k51", [](const Memory &m) { k51a<<<m.sms * 2, 256>>>(m.in, (float *)m.out); }, nullptr);

__global__ void k52a(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint4 part[1024];
    for (uint32_t i = threadIdx.x; i < 1024; i += blockDim.x)
        part[i] = in[i];
    __syncthreads();
    uint32_t sum = 0;
#pragma unroll 8
    for (uint32_t k = 0; k < 1024; k++) {
        uint4 v = part[(threadIdx.x + k * 8) % 1024];
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    out[thread()] = sum;
}

static Case k52(
    "k52", [](const Memory &m) { k52a<<<m.sms * 8, 256>>>((const uint4 *)m.in, m.out); }, nullptr);

__device__ inline void sum_fours(const uint4 *in, uint32_t *out)
{
    uint32_t sum = 0;
#pragma unroll 4
    for (uint32_t i = thread(); i < words / 4; i += threads()) {
        uint4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

__global__ void k53a(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    sum_fours(in, out);
}

__global__ void k53b(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    sum_fours(in, out);
}

static Case k53(
    "k53", [](const Memory &m) { k53a<<<m.sms * 8, 256>>>((const uint4 *)m.in, m.out); },
    [](const Memory &m) { k53b<<<m.sms * 4, 512>>>((const uint4 *)m.in, m.out); });
