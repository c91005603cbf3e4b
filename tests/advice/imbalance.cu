// How the work is dealt out.
#include "advice.cuh"

constexpr uint32_t rows = 1 << 15;

// The sum over a row of a triangle, by one warp.
__device__ inline void triangle_row(const uint32_t *in, uint32_t *out, uint32_t r)
{
    uint32_t sum = 0;
    for (uint32_t c = threadIdx.x % 32; c <= r; c += 32)
        sum += mix(in[c] ^ r);
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        out[r] = sum;
}

__global__ void __launch_bounds__(1024, 1) k18a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t warps = threads() / 32, share = (rows + warps - 1) / warps, first = thread() / 32 * share;
    for (uint32_t r = first; r < min(first + share, rows); r++)
        triangle_row(in, out, r);
}

__global__ void __launch_bounds__(1024, 1) k18b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    for (uint32_t r = thread() / 32; r < rows; r += threads() / 32)
        triangle_row(in, out, r);
}

static Case k18(
    "k18", [](const Memory &m) { k18a<<<m.sms, 1024>>>(m.in, m.out); },
    [](const Memory &m) { k18b<<<m.sms, 1024>>>(m.in, m.out); });

// The last `large` items take ten times as long as the others.
__device__ inline void uneven(const uint32_t *in, uint32_t *out, uint32_t item, uint32_t large)
{
    uint32_t i = item * blockDim.x + threadIdx.x;
    out[i] = rounds(in[i], item + large < gridDim.x ? 512 : 5120);
}

__global__ void __launch_bounds__(1024, 2)
    k19a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t large)
{
    uneven(in, out, gridDim.x - 1 - blockIdx.x, large);
}

__global__ void __launch_bounds__(1024, 2)
    k19b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t large)
{
    uneven(in, out, blockIdx.x, large);
}

static Case k19(
    "k19", [](const Memory &m) { k19a<<<m.sms * 20, 1024>>>(m.in, m.out, m.sms / 8); },
    [](const Memory &m) { k19b<<<m.sms * 20, 1024>>>(m.in, m.out, m.sms / 8); });

constexpr uint32_t count = 1 << 22;

__device__ inline void segment(const uint32_t *in, uint32_t *out, uint32_t first, uint32_t end)
{
    for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x)
        out[i] = rounds(in[i], 256);
}

__device__ inline uint32_t even_start(uint32_t block)
{
    return (uint32_t)((uint64_t)count * block / gridDim.x);
}

__device__ inline uint32_t cubic_start(uint32_t block)
{
    float part = (float)block / (float)gridDim.x;
    return (uint32_t)((float)count * (part * part * part));
}

__global__ void k20a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    segment(in, out, even_start(blockIdx.x), even_start(blockIdx.x + 1));
}

__global__ void k20b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    segment(in, out, cubic_start(blockIdx.x), cubic_start(blockIdx.x + 1));
}

static Case k20(
    "k20", [](const Memory &m) { k20a<<<m.sms, 1024>>>(m.in, m.out); },
    [](const Memory &m) { k20b<<<m.sms, 1024>>>(m.in, m.out); });
