// stencil: the sum over a 9 by 9 window of an image, as rows and then columns, in tiles of shared memory with a halo.
// Meant to move shared memory loads and stores, barriers and barrier stalls, and L1 hits on the overlapping halos.
#include "check.cuh"

constexpr int width = 1024, height = 1024;
constexpr int radius = 4;
constexpr int tile = 32, rows_per_step = 8;
constexpr int padded = tile + 2 * radius;
static_assert(padded % rows_per_step == 0, "every step fills whole rows");

__host__ __device__ int clamp_to(int value, int size)
{
    return value < 0 ? 0 : value >= size ? size - 1 : value;
}

__global__ void window_sum(const float *in, float *out)
{
    __shared__ float source[padded][padded];
    __shared__ float row_sums[padded][tile];
    int left = blockIdx.x * tile, top = blockIdx.y * tile;

    for (int step = 0; step < padded; step += rows_per_step) {
        int y = threadIdx.y + step;
        for (int x = threadIdx.x; x < padded; x += tile)
            source[y][x] = in[clamp_to(top + y - radius, height) * width + clamp_to(left + x - radius, width)];
    }
    __syncthreads();

    for (int step = 0; step < padded; step += rows_per_step) {
        int y = threadIdx.y + step;
        float sum = 0;
        for (int k = 0; k <= 2 * radius; k++)
            sum += source[y][threadIdx.x + k];
        row_sums[y][threadIdx.x] = sum;
    }
    __syncthreads();

    for (int step = 0; step < tile; step += rows_per_step) {
        int y = threadIdx.y + step;
        float sum = 0;
        for (int k = 0; k <= 2 * radius; k++)
            sum += row_sums[y + k][threadIdx.x];
        out[(top + y) * width + left + threadIdx.x] = sum;
    }
}

float reference(const std::vector<float> &in, size_t index)
{
    int x = int(index % width), y = int(index / width);
    float sum = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++)
            sum += in[clamp_to(y + dy, height) * width + clamp_to(x + dx, width)];
    return sum;
}

int main()
{
    auto in = fill<float>(width * height, small_int);
    Buffer<float> device_in(in), device_out(in.size());

    window_sum<<<dim3(width / tile, height / tile), dim3(tile, rows_per_step)>>>(device_in.get(), device_out.get());
    finish();

    expect("stencil", device_out.download(), [&](size_t i) { return reference(in, i); });
    return passed("stencil", "9 by 9 window sums of 1024 by 1024 floats");
}
