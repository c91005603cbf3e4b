// How many blocks there are.
#include "advice.cuh"

__device__ inline void all_rounds(const uint32_t *in, uint32_t *out, uint32_t count)
{
#pragma unroll 1
    for (uint32_t i = thread(); i < count; i += threads())
        out[i] = rounds(in[i], 64);
}

__global__ void k14a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t count)
{
    all_rounds(in, out, count);
}

__global__ void k14b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t count)
{
    all_rounds(in, out, count);
}

static Case k14(
    "k14", [](const Memory &m) { k14a<<<48, 512>>>(m.in, m.out, 1 << 24); },
    [](const Memory &m) { k14b<<<4096, 512>>>(m.in, m.out, 1 << 24); });

constexpr uint32_t rows = 24;
constexpr uint32_t row = 1 << 19; // of four words

// The sum of a row, `shares` blocks a row.
__device__ inline void row_sum(const uint4 *in, uint32_t *out, uint32_t shares)
{
    uint32_t r = blockIdx.x / shares, share = blockIdx.x % shares;
    uint32_t sum = 0;
#pragma unroll 2
    for (uint32_t i = share * blockDim.x + threadIdx.x; i < row; i += shares * blockDim.x) {
        uint4 v = in[r * row + i];
        sum += v.x + v.y + v.z + v.w;
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out + r, sum);
}

__global__ void k15a(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    row_sum(in, out, 64);
}

__global__ void k15b(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    row_sum(in, out, 1);
}

static Case k15(
    "k15", [](const Memory &m) { k15a<<<rows * 64, 1024>>>((const uint4 *)m.in, m.out); },
    [](const Memory &m) { k15b<<<rows, 1024>>>((const uint4 *)m.in, m.out); });

constexpr uint32_t each = 8; // items of a thread in a large block's work

__device__ inline void chunk_rounds(const uint32_t *in, uint32_t *out, uint32_t items)
{
    for (uint32_t k = 0; k < items; k++) {
        uint32_t i = (blockIdx.x * items + k) * blockDim.x + threadIdx.x;
        out[i] = rounds(in[i], 512);
    }
}

__global__ void __launch_bounds__(1024, 2) k16a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    chunk_rounds(in, out, 1);
}

__global__ void __launch_bounds__(1024, 2) k16b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    chunk_rounds(in, out, each);
}

// Two blocks fit on a multiprocessor: one wave and an eighth of a half.
static uint32_t k16_blocks(const Memory &m)
{
    return m.sms * 2 + m.sms / 8;
}

static Case k16(
    "k16", [](const Memory &m) { k16a<<<k16_blocks(m) * each, 1024>>>(m.in, m.out); },
    [](const Memory &m) { k16b<<<k16_blocks(m), 1024>>>(m.in, m.out); });

constexpr uint32_t table_words = 1 << 15; // a copy for each lane: so much shared memory that one block fits

__device__ inline void lookups(const uint32_t *in, uint32_t *out, uint32_t items)
{
    extern __shared__ uint32_t table[];
    for (uint32_t i = threadIdx.x; i < table_words; i += blockDim.x)
        table[i] = in[i / 32];
    __syncthreads();
    for (uint32_t k = 0; k < items; k++) {
        uint32_t i = (blockIdx.x * items + k) * blockDim.x + threadIdx.x;
        uint32_t x = in[i];
#pragma unroll 1
        for (uint32_t step = 0; step < 512; step++)
            x = x * 5 + table[(x >> 22) * 32 + threadIdx.x % 32]; // each lane has a bank of its own
        out[i] = x;
    }
}

__global__ void __launch_bounds__(1024, 1) k17a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    lookups(in, out, each);
}

__global__ void __launch_bounds__(1024, 1) k17b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    lookups(in, out, 1);
}

template <typename Kernel> static void launch_lookups(Kernel kernel, const Memory &m, uint32_t pieces)
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, table_words * 4);
    kernel<<<(m.sms * 2 + m.sms / 16) * pieces, 1024, table_words * 4>>>(m.in, m.out);
}

static Case k17(
    "k17", [](const Memory &m) { launch_lookups(k17a, m, 1); }, [](const Memory &m) { launch_lookups(k17b, m, each); });
