// transpose: the same matrix transpose three ways: straight through global memory (stores uncoalesced), through a
// shared tile read by columns (32-way bank conflicts), and through a tile padded by one column (none).
// Meant to move shared bank conflicts, sectors per request of stores, and shared wavefronts against requests.
#include "check.cuh"

constexpr int n = 1024;
constexpr int tile = 32, rows_per_step = 8;

__global__ void direct(const float *in, float *out)
{
    int x = blockIdx.x * tile + threadIdx.x, top = blockIdx.y * tile + threadIdx.y;
    for (int step = 0; step < tile; step += rows_per_step)
        out[x * n + top + step] = in[(top + step) * n + x];
}

template <int pitch> __global__ void tiled(const float *in, float *out)
{
    __shared__ float block[tile][pitch];
    int left = blockIdx.x * tile, top = blockIdx.y * tile;
    for (int step = 0; step < tile; step += rows_per_step) {
        int y = threadIdx.y + step;
        block[y][threadIdx.x] = in[(top + y) * n + left + threadIdx.x];
    }
    __syncthreads();
    for (int step = 0; step < tile; step += rows_per_step) {
        int y = threadIdx.y + step;
        out[(left + y) * n + top + threadIdx.x] = block[threadIdx.x][y];
    }
}

int main()
{
    auto in = fill<float>(n * n, [](size_t i) { return float(i); });
    Buffer<float> source(in), plain(n * n), conflicting(n * n), padded(n * n);
    dim3 grid(n / tile, n / tile), block(tile, rows_per_step);

    direct<<<grid, block>>>(source.get(), plain.get());
    tiled<tile><<<grid, block>>>(source.get(), conflicting.get());
    tiled<tile + 1><<<grid, block>>>(source.get(), padded.get());
    finish();

    auto want = [&](size_t i) { return in[i % n * n + i / n]; };
    expect("transpose: direct", plain.download(), want);
    expect("transpose: conflicting", conflicting.download(), want);
    expect("transpose: padded", padded.download(), want);
    return passed("transpose", "1024 by 1024 floats three ways");
}
