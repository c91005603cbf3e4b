// A product of matrices on the multiply-add pipes: a block of 256 threads has 128 x 128 results, a thread 8 x 8.
#pragma once
#include "advice.cuh"

constexpr uint32_t product_side = 2048; // results in a line

// Four numbers of a matrix that lies row after row; `at` is a multiple of four.
struct Floats {
    const float *from;
    uint32_t pitch;
    __device__ float4 operator()(uint32_t row, uint32_t at) const
    {
        return *(const float4 *)(from + row * pitch + at);
    }
};

// The product of the transposed of `a` and of `b`, each of `depth` rows.
template <typename Matrix>
__device__ inline void product(Matrix a, Matrix b, float *c, uint32_t depth, uint32_t top, uint32_t left,
                               uint32_t pitch)
{
    __shared__ float4 part[2][2][8][32]; // in turn: a and b, rows, columns
    uint32_t row = threadIdx.x / 32, lane = threadIdx.x % 32, y = threadIdx.x / 16, x = threadIdx.x % 16;
    float sum[8][8] = {};
    part[0][0][row][lane] = a(row, top + lane * 4);
    part[0][1][row][lane] = b(row, left + lane * 4);
    __syncthreads();
#pragma unroll 1
    for (uint32_t k = 0; k < depth; k += 8) {
        uint32_t turn = k / 8 % 2, next = min(k + 8, depth - 8) + row;
        float4 next_a = a(next, top + lane * 4), next_b = b(next, left + lane * 4);
#pragma unroll
        for (uint32_t j = 0; j < 8; j++) {
            float4 u[2] = {part[turn][0][j][y], part[turn][0][j][16 + y]};
            float4 v[2] = {part[turn][1][j][x], part[turn][1][j][16 + x]};
            const float us[8] = {u[0].x, u[0].y, u[0].z, u[0].w, u[1].x, u[1].y, u[1].z, u[1].w};
            const float vs[8] = {v[0].x, v[0].y, v[0].z, v[0].w, v[1].x, v[1].y, v[1].z, v[1].w};
#pragma unroll
            for (uint32_t r = 0; r < 8; r++) {
#pragma unroll
                for (uint32_t s = 0; s < 8; s++)
                    sum[r][s] += us[r] * vs[s];
            }
        }
        part[turn ^ 1][0][row][lane] = next_a;
        part[turn ^ 1][1][row][lane] = next_b;
        __syncthreads();
    }
#pragma unroll
    for (uint32_t r = 0; r < 8; r++) {
        float *line = c + (top + r / 4 * 64 + y * 4 + r % 4) * pitch + left;
        ((float4 *)line)[x] = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
        ((float4 *)line)[16 + x] = make_float4(sum[r][4], sum[r][5], sum[r][6], sum[r][7]);
    }
}
