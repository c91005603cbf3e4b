// Threads beside each other and the memory that they touch.
#include "advice.cuh"

constexpr uint32_t run = 16;

__global__ void k01a(const float *__restrict__ in, float *__restrict__ out)
{
    uint32_t first = thread() * run;
    for (uint32_t k = 0; k < run; k++)
        out[first + k] = fmaf(in[first + k], 3, 1);
}

__global__ void k01b(const float *__restrict__ in, float *__restrict__ out)
{
    uint32_t first = blockIdx.x * blockDim.x * run + threadIdx.x;
    for (uint32_t k = 0; k < run; k++)
        out[first + k * blockDim.x] = fmaf(in[first + k * blockDim.x], 3, 1);
}

static Case k01(
    "k01", [](const Memory &m) { k01a<<<words / run / 256, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k01b<<<words / run / 256, 256>>>(m.numbers, (float *)m.out); });

constexpr uint32_t side = 8192;
constexpr uint32_t tile = 32;

__global__ void k02a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t part[tile][tile + 1];
    uint32_t left = blockIdx.x * tile, top = blockIdx.y * tile;
#pragma unroll
    for (uint32_t k = 0; k < tile; k += 8) {
        uint32_t y = k + threadIdx.y;
        part[y][threadIdx.x] = in[(top + y) * side + left + threadIdx.x];
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < tile; k += 8) {
        uint32_t y = k + threadIdx.y;
        out[(left + y) * side + top + threadIdx.x] = part[threadIdx.x][y];
    }
}

__global__ void k02b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t left = blockIdx.x * tile, top = blockIdx.y * tile;
#pragma unroll
    for (uint32_t k = 0; k < tile; k += 8) {
        uint32_t y = k + threadIdx.y;
        out[(left + threadIdx.x) * side + top + y] = in[(top + y) * side + left + threadIdx.x];
    }
}

static Case k02(
    "k02", [](const Memory &m) { k02a<<<dim3(side / tile, side / tile), dim3(tile, 8)>>>(m.in, m.out); },
    [](const Memory &m) { k02b<<<dim3(side / tile, side / tile), dim3(tile, 8)>>>(m.in, m.out); });

constexpr uint32_t row = 256;
constexpr uint32_t rows = words / 2 / row;

__global__ void k03a(const uint64_t *__restrict__ in, uint64_t *__restrict__ out)
{
    uint32_t r = thread() / 32, lane = threadIdx.x % 32;
    uint64_t sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < row; k += 32)
        sum += in[r * row + k + lane];
    for (uint32_t step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        out[r] = sum;
}

__global__ void k03b(const uint64_t *__restrict__ in, uint64_t *__restrict__ out)
{
    uint32_t r = thread();
    uint64_t sum = 0;
#pragma unroll 8
    for (uint32_t k = 0; k < row; k++)
        sum += in[r * row + k];
    out[r] = sum;
}

static Case k03(
    "k03", [](const Memory &m) { k03a<<<rows / 8, 256>>>((const uint64_t *)m.in, (uint64_t *)m.out); },
    [](const Memory &m) { k03b<<<rows / 256, 256>>>((const uint64_t *)m.in, (uint64_t *)m.out); });

__device__ inline void blur(const float *in, float *out, uint32_t x, uint32_t y)
{
    const float *line = in + y * side;
    out[y * side + x] = line[x] + 2 * line[(x + 1) % side] + line[(x + 2) % side];
}

__global__ void k04a(const float *__restrict__ in, float *__restrict__ out)
{
    blur(in, out, blockIdx.x * blockDim.y + threadIdx.y, blockIdx.y * blockDim.x + threadIdx.x);
}

__global__ void k04b(const float *__restrict__ in, float *__restrict__ out)
{
    blur(in, out, blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
}

static Case k04(
    "k04", [](const Memory &m) { k04a<<<dim3(side / 8, side / 32), dim3(32, 8)>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k04b<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(m.numbers, (float *)m.out); });
