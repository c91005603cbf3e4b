// Arithmetic as real programs do it: products of matrices in short formats, random numbers, filters, and lookups.
#include <cuda_bf16.h>
#include <mma.h>
#include "advice.cuh"
#include "more_product.cuh"

// Zeros and ones in the low bits of words, in lines of `pitch` words of two.
struct Bits {
    const uint32_t *from;
    uint32_t pitch;
    __device__ float4 operator()(uint32_t row, uint32_t at) const
    {
        uint2 v = *(const uint2 *)(from + row * pitch + at / 2);
        return make_float4((float)(v.x & 1), (float)(v.x >> 16 & 1), (float)(v.y & 1), (float)(v.y >> 16 & 1));
    }
};

// The same as `product` with wmma, by 256 threads: a warp has 64 x 32 results. `one` is the bits of 1 in the format.
template <typename Short, uint32_t one>
__device__ inline void short_product(Bits a, Bits b, float *c, uint32_t depth, uint32_t top, uint32_t left,
                                     uint32_t pitch)
{
    using namespace nvcuda::wmma;
    constexpr uint32_t wide = 136;
    __shared__ __align__(32) Short part[2][32 * wide];
    uint32_t y = threadIdx.x / 128 * 64, x = threadIdx.x / 32 % 4 * 32;
    fragment<accumulator, 16, 16, 16, float> sum[4][2];
    for (uint32_t r = 0; r < 4; r++) {
        for (uint32_t s = 0; s < 2; s++)
            fill_fragment(sum[r][s], 0);
    }
#pragma unroll 1
    for (uint32_t k = 0; k < depth; k += 32) {
        uint4 next[2][2];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            const Bits &from = j / 2 ? b : a;
            uint32_t row = k + j % 2 * 16 + threadIdx.x / 16, at = (j / 2 ? left : top) / 2 + threadIdx.x % 16 * 4;
            uint4 v = *(const uint4 *)(from.from + row * from.pitch + at);
            next[j / 2][j % 2] =
                make_uint4((v.x & 0x10001) * one, (v.y & 0x10001) * one, (v.z & 0x10001) * one, (v.w & 0x10001) * one);
        }
        __syncthreads();
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            uint32_t row = j % 2 * 16 + threadIdx.x / 16;
            *(uint4 *)(part[j / 2] + row * wide + threadIdx.x % 16 * 8) = next[j / 2][j % 2];
        }
        __syncthreads();
#pragma unroll
        for (uint32_t j = 0; j < 32; j += 16) {
            fragment<matrix_a, 16, 16, 16, Short, col_major> u[4];
            fragment<matrix_b, 16, 16, 16, Short, row_major> v[2];
            for (uint32_t s = 0; s < 2; s++)
                load_matrix_sync(v[s], part[1] + j * wide + x + s * 16, wide);
#pragma unroll
            for (uint32_t r = 0; r < 4; r++) {
                load_matrix_sync(u[r], part[0] + j * wide + y + r * 16, wide);
                for (uint32_t s = 0; s < 2; s++)
                    mma_sync(sum[r][s], u[r], v[s], sum[r][s]);
            }
        }
    }
#pragma unroll
    for (uint32_t r = 0; r < 4; r++) {
        for (uint32_t s = 0; s < 2; s++)
            store_matrix_sync(c + (top + y + r * 16) * pitch + left + x + s * 16, sum[r][s], pitch, mem_row_major);
    }
}

constexpr uint32_t depth = 2048;

__global__ void __launch_bounds__(256, 2) k66a(const uint32_t *__restrict__ in, float *__restrict__ out)
{
    Bits a = {in, product_side / 2}, b = {in + words / 2, product_side / 2};
    product(a, b, out, depth, blockIdx.y * 128, blockIdx.x * 128, product_side);
}

__global__ void __launch_bounds__(256, 2) k66b(const uint32_t *__restrict__ in, float *__restrict__ out)
{
    Bits a = {in, product_side / 2}, b = {in + words / 2, product_side / 2};
    short_product<__half, 0x3c00>(a, b, out, depth, blockIdx.y * 128, blockIdx.x * 128, product_side);
}

constexpr dim3 product_grid = dim3(product_side / 128, product_side / 128);

static Case k66(
    "k66", [](const Memory &m) { k66a<<<product_grid, 256>>>(m.in, (float *)m.out); },
    [](const Memory &m) { k66b<<<product_grid, 256>>>(m.in, (float *)m.out); });

constexpr uint32_t small = 128; // the side of a matrix
constexpr uint32_t batch = 2048;

__global__ void __launch_bounds__(256, 2) k67a(const uint32_t *__restrict__ in, float *__restrict__ out)
{
    const uint32_t *mine = in + blockIdx.x * small * small / 2;
    Bits a = {mine, small / 2}, b = {mine + words / 2, small / 2};
    short_product<__nv_bfloat16, 0x3f80>(a, b, out + blockIdx.x * small * small, small, 0, 0, small);
}

__global__ void __launch_bounds__(256, 2) k67b(const uint32_t *__restrict__ in, float *__restrict__ out)
{
    const uint32_t *mine = in + blockIdx.x * small * small / 2;
    Bits a = {mine, small / 2}, b = {mine + words / 2, small / 2};
    product(a, b, out + blockIdx.x * small * small, small, 0, 0, small);
}

static Case k67(
    "k67", [](const Memory &m) { k67a<<<batch, 256>>>(m.in, (float *)m.out); },
    [](const Memory &m) { k67b<<<batch, 256>>>(m.in, (float *)m.out); });

__global__ void k74a(const float *__restrict__ in, float *__restrict__ out)
{
    float x = in[thread()] * 0.0625f, y[8];
#pragma unroll
    for (uint32_t k = 0; k < 8; k++)
        y[k] = (float)k;
#pragma unroll 16
    for (uint32_t step = 0; step < 512; step++) {
#pragma unroll
        for (uint32_t k = 0; k < 8; k++)
            y[k] = fmaf(y[k], x, 0.5f);
    }
    float sum = 0;
    for (uint32_t k = 0; k < 8; k++)
        sum += y[k];
    out[thread()] = sum;
}

static Case k74(
    "k74", [](const Memory &m) { k74a<<<m.sms * 32, 256>>>(m.numbers, (float *)m.out); }, nullptr);

__global__ void k75a(const uint32_t *__restrict__ in, float *__restrict__ out)
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __nv_bfloat16 part[512];
    part[threadIdx.x] = __float2bfloat16((float)(in[threadIdx.x] % 2));
    part[threadIdx.x + 256] = __float2bfloat16((float)(in[threadIdx.x + 256] % 2));
    __syncthreads();
    fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> a;
    fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> b;
    fragment<accumulator, 16, 16, 16, float> sum[4];
    load_matrix_sync(a, part, 16);
    load_matrix_sync(b, part + 256, 16);
    for (uint32_t k = 0; k < 4; k++)
        fill_fragment(sum[k], (float)k);
#pragma unroll 4
    for (uint32_t step = 0; step < 1024; step++) {
        for (uint32_t k = 0; k < 4; k++)
            mma_sync(sum[k], a, b, sum[k]);
    }
    for (uint32_t k = 0; k < 4; k++)
        store_matrix_sync(out + (thread() / 32 * 4 + k) * 256, sum[k], 16, mem_row_major);
}

static Case k75(
    "k75", [](const Memory &m) { k75a<<<m.sms * 4, 256>>>(m.in, (float *)m.out); }, nullptr);

__global__ void __launch_bounds__(256, 2)
    k77a(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    product(Floats{a, product_side}, Floats{b, product_side}, c, depth, blockIdx.y * 128, blockIdx.x * 128,
            product_side);
}

static Case k77(
    "k77", [](const Memory &m) { k77a<<<product_grid, 256>>>(m.numbers, m.numbers + words / 2, (float *)m.out); },
    nullptr);

constexpr uint32_t draws = 64; // that a thread accepts

__device__ inline uint32_t seed(uint32_t x, uint32_t k)
{
    return mix(x + k * 0x9e3779b1);
}

// One draw of four is accepted.
__global__ void k79a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t x = in[thread()], sum = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < draws; k++) {
        uint32_t draw = seed(x, k), trial = 0;
        do
            draw = rounds(draw + ++trial, 8);
        while (draw >> 30);
        sum += draw;
    }
    out[thread()] = sum;
}

__global__ void k79b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t x = in[thread()], sum = 0, k = 0, draw = seed(x, 0), trial = 0;
#pragma unroll 1
    while (k < draws) {
        draw = rounds(draw + ++trial, 8);
        if (draw >> 30)
            continue;
        sum += draw;
        draw = seed(x, ++k);
        trial = 0;
    }
    out[thread()] = sum;
}

static Case k79(
    "k79", [](const Memory &m) { k79a<<<m.sms * 16, 256>>>(m.in, m.out); },
    [](const Memory &m) { k79b<<<m.sms * 16, 256>>>(m.in, m.out); });

constexpr uint32_t signal = 1 << 24;

template <typename Real> __device__ inline float smooth(float x, Real half)
{
    float y = x;
#pragma unroll 8
    for (uint32_t k = 0; k < 64; k++)
        y = (float)((Real)y * half + (Real)x);
    return y;
}

__global__ void k80a(const float *__restrict__ in, float *__restrict__ out)
{
    out[thread()] = smooth(in[thread()], 0.5f);
}

__global__ void k80b(const float *__restrict__ in, float *__restrict__ out)
{
    out[thread()] = smooth(in[thread()], 0.5);
}

static Case k80(
    "k80", [](const Memory &m) { k80a<<<signal / 256, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k80b<<<signal / 256, 256>>>(m.numbers, (float *)m.out); });

constexpr uint32_t line = 8192; // pixels
constexpr uint32_t kept = 16;   // lines that a thread writes
constexpr uint32_t around = 9;  // lines that a result takes

__device__ inline float closeness(float distance)
{
    return __fmul_rn(rsqrtf(1 + distance), expf(distance * distance * -0.02f)); // rounded before it is added
}

// A column of the sums of how close pixels are to their neighbours above and below.
template <typename Pixel, typename Close> __device__ inline void compare_lines(const Pixel *in, float *out, Close close)
{
    const Pixel *mine = in + blockIdx.y * kept * line + blockIdx.x * blockDim.x + threadIdx.x;
    float *left = out + blockIdx.y * kept * line + blockIdx.x * blockDim.x + threadIdx.x;
    Pixel pixel[kept + around - 1];
#pragma unroll
    for (uint32_t y = 0; y < kept + around - 1; y++)
        pixel[y] = mine[y * line];
#pragma unroll
    for (uint32_t y = 0; y < kept; y++) {
        float sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < around; k++)
            sum += close(pixel[y + k], pixel[y + around / 2]);
        left[y * line] = sum;
    }
}

__global__ void k81a(const float *__restrict__ in, float *__restrict__ out)
{
    compare_lines(in, out, [](float x, float y) { return closeness(fabsf(x - y)); });
}

__global__ void k81b(const uint32_t *__restrict__ in, float *__restrict__ out)
{
    __shared__ float table[31];
    if (threadIdx.x < 31)
        table[threadIdx.x] = closeness(fabsf((float)threadIdx.x - 15));
    __syncthreads();
    const float *middle = table + 15;
    compare_lines(in, out, [=](uint32_t x, uint32_t y) { return middle[(int)(x >> 28) - (int)(y >> 28)]; });
}

constexpr dim3 filter_grid = dim3(line / 256, 2048 / kept);

static Case k81(
    "k81", [](const Memory &m) { k81a<<<filter_grid, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k81b<<<filter_grid, 256>>>(m.in, (float *)m.out); });

struct Curve {
    uint32_t at[256];
};

static constexpr Curve curve()
{
    Curve c = {};
    for (uint32_t k = 0; k < 256; k++)
        c.at[k] = k * k + 7 * k;
    return c;
}

__constant__ Curve gamma_curve = curve();

constexpr uint32_t pixels = 1 << 23; // of four bytes

__global__ void k82a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
#pragma unroll 1
    for (uint32_t i = thread(); i < pixels; i += threads()) {
        uint32_t x = in[i];
        out[i] = gamma_curve.at[x % 256] + gamma_curve.at[x >> 8 & 255] + gamma_curve.at[x >> 16 & 255] +
                 gamma_curve.at[x >> 24];
    }
}

// A copy of the curve for each lane, so that each has a bank of its own.
__global__ void k82b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t copies[256 * 32];
    for (uint32_t i = threadIdx.x; i < 256 * 32; i += blockDim.x)
        copies[i] = gamma_curve.at[i / 32];
    __syncthreads();
    const uint32_t *mine = copies + threadIdx.x % 32;
#pragma unroll 1
    for (uint32_t i = thread(); i < pixels; i += threads()) {
        uint32_t x = in[i];
        out[i] = mine[x % 256 * 32] + mine[(x >> 8 & 255) * 32] + mine[(x >> 16 & 255) * 32] + mine[(x >> 24) * 32];
    }
}

static Case k82(
    "k82", [](const Memory &m) { k82a<<<m.sms * 2, 1024>>>(m.in, m.out); },
    [](const Memory &m) { k82b<<<m.sms * 2, 1024>>>(m.in, m.out); });
