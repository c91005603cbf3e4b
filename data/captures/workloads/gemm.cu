// gemm: FP32 matrix product on the plain cores; 64 by 64 tiles in shared memory, 4 by 4 results in each thread's
// registers. Meant to move FFMA and the FMA pipe, FLOP counts (2 n^3 exactly), shared memory bandwidth and occupancy
// limits by registers.
#include "check.cuh"

constexpr int n = 512;
constexpr int tile = 64, depth = 16, each = 4;
constexpr int side = tile / each;

__global__ void __launch_bounds__(side *side) gemm(const float *a, const float *b, float *c)
{
    __shared__ float tile_a[depth][tile + 1];
    __shared__ float tile_b[depth][tile];
    int thread = threadIdx.y * side + threadIdx.x;
    int row = blockIdx.y * tile, col = blockIdx.x * tile;
    float sum[each][each] = {};

    for (int k = 0; k < n; k += depth) {
        for (int i = thread; i < tile * depth; i += side * side) {
            tile_a[i % depth][i / depth] = a[(row + i / depth) * n + k + i % depth];
            tile_b[i / tile][i % tile] = b[(k + i / tile) * n + col + i % tile];
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < depth; d++)
            for (int y = 0; y < each; y++)
                for (int x = 0; x < each; x++)
                    sum[y][x] += tile_a[d][threadIdx.y * each + y] * tile_b[d][x * side + threadIdx.x];
        __syncthreads();
    }
    for (int y = 0; y < each; y++)
        for (int x = 0; x < each; x++)
            c[(row + threadIdx.y * each + y) * n + col + x * side + threadIdx.x] = sum[y][x];
}

int main()
{
    auto a = fill<float>(n * n, small_int);
    auto b = fill<float>(n * n, [](size_t i) { return small_int(i + n * n); });
    Buffer<float> device_a(a), device_b(b), device_c(n * n);

    gemm<<<dim3(n / tile, n / tile), dim3(side, side)>>>(device_a.get(), device_b.get(), device_c.get());
    finish();

    auto want = reference_product(a, b, n);
    expect("gemm", device_c.download(), [&](size_t i) { return want[i]; });
    return passed("gemm", "FP32 product of 512 by 512 matrices");
}
