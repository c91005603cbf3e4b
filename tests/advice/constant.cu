// Constant memory serves one address of a warp at a time.
#include "advice.cuh"

constexpr uint32_t size = 64;

struct Table {
    uint32_t words[size];
};

constexpr Table filled()
{
    Table table = {};
    uint32_t x = 12345;
    for (uint32_t &word : table.words) {
        x = x * 1664525 + 1013904223;
        word = x;
    }
    return table;
}

__constant__ Table constant_table = filled();
__device__ Table global_table = filled();

__device__ inline uint32_t substitute(const uint32_t *table, uint32_t x, uint32_t mask)
{
#pragma unroll 4
    for (uint32_t k = 0; k < 128; k++)
        x = x * 5 + table[x >> 20 & mask];
    return x;
}

__global__ void k33a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t mask)
{
    out[thread()] = substitute(constant_table.words, in[thread()], mask);
}

__global__ void k33b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t mask)
{
    __shared__ uint32_t table[size];
    if (threadIdx.x < size)
        table[threadIdx.x] = global_table.words[threadIdx.x];
    __syncthreads();
    out[thread()] = substitute(table, in[thread()], mask);
}

static Case k33(
    "k33", [](const Memory &m) { k33a<<<1 << 14, 256>>>(m.in, m.out, 3); },
    [](const Memory &m) { k33b<<<1 << 14, 256>>>(m.in, m.out, 3); });

constexpr uint32_t classes = 4;
constexpr uint32_t degree = 8;

constexpr Table small_numbers()
{
    Table table = {};
    for (uint32_t k = 0; k < size; k++)
        table.words[k] = k * 37 % 101;
    return table;
}

__constant__ Table constant_numbers = small_numbers();
__device__ Table global_numbers = small_numbers();

// Much like a polynomial for each class of items; eight items beside each other are of one class.
__device__ inline uint32_t polynomials(const uint32_t *table, uint32_t x)
{
    const uint32_t *mine = table + thread() / 8 % classes;
    uint32_t sum = 0;
#pragma unroll 1
    for (uint32_t turn = 0; turn < 32; turn++) {
        uint32_t y = 0;
#pragma unroll
        for (uint32_t k = 0; k < degree; k++) {
            y = y * x + mine[(k + turn) % degree * classes];
            y ^= y >> 9;
        }
        sum += y;
        x += 7;
    }
    return sum;
}

__global__ void k34a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t table[size];
    if (threadIdx.x < size)
        table[threadIdx.x] = global_numbers.words[threadIdx.x];
    __syncthreads();
    out[thread()] = polynomials(table, in[thread()]);
}

__global__ void k34b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    out[thread()] = polynomials(constant_numbers.words, in[thread()]);
}

static Case k34(
    "k34", [](const Memory &m) { k34a<<<1 << 13, 256>>>(m.in, m.out); },
    [](const Memory &m) { k34b<<<1 << 13, 256>>>(m.in, m.out); });
