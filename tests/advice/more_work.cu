// How work is dealt out and results are gathered in real programs: attention, n-body, particle cells, lists, sums.
#include "advice.cuh"

constexpr uint32_t heads = 32;
constexpr uint32_t keys = 1 << 15; // of a head, each of 64 words

// The weighted sum of the values of a head, `shares` blocks a head.
template <uint32_t shares> __device__ inline void weigh_values(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t total[64];
    uint32_t head = blockIdx.x / shares, share = blockIdx.x % shares, column = threadIdx.x % 64, sum = 0;
    if (threadIdx.x < 64)
        total[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 4
    for (uint32_t j = 0; j < keys / shares / 16; j++) {
        uint32_t k = (j * shares + share) * 16 + threadIdx.x / 64;
        sum += in[(head * keys + k) * 64 + column] * (k % 13);
    }
    atomicAdd(total + column, sum);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(out + head * 64 + column, total[column]);
}

__global__ void k57a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    weigh_values<64>(in, out);
}

__global__ void k57b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    weigh_values<1>(in, out);
}

static Case k57(
    "k57", [](const Memory &m) { k57a<<<heads * 64, 1024>>>(m.in, m.out); },
    [](const Memory &m) { k57b<<<heads, 1024>>>(m.in, m.out); });

constexpr uint32_t sources = 2048;

// What all sources do to the body of a thread: whole numbers below 2^24.
template <uint32_t block> __device__ inline void attract(const float *in, float *out)
{
    __shared__ float4 part[block];
    float x = in[thread()], y = in[thread() + words / 2], sum = 0;
    for (uint32_t first = 0; first < sources; first += block) {
        __syncthreads();
        part[threadIdx.x] = ((const float4 *)in)[first + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (uint32_t k = 0; k < block; k++) {
            float4 v = part[k];
            float dx = v.x - x, dy = v.y - y;
            sum += v.z * (dx * dx + dy * dy);
        }
    }
    out[thread()] = sum;
}

__global__ void __launch_bounds__(1024, 2) k58a(const float *__restrict__ in, float *__restrict__ out)
{
    attract<1024>(in, out);
}

__global__ void __launch_bounds__(128, 16) k58b(const float *__restrict__ in, float *__restrict__ out)
{
    attract<128>(in, out);
}

static Case k58( // two blocks of 1024 threads fit on a multiprocessor
    "k58", [](const Memory &m) { k58a<<<m.sms * 2 + 8, 1024>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k58b<<<(m.sms * 2 + 8) * 8, 128>>>(m.numbers, (float *)m.out); });

constexpr uint32_t cells = 2048;
constexpr uint32_t piece = 4096; // particles of a cell
constexpr uint32_t crowd = 48;   // times as many in the crowded cell
constexpr uint32_t crowded = cells / 2;

__device__ inline void sum_cell(const uint32_t *in, uint32_t *out, uint32_t cell, uint32_t first, uint32_t end)
{
    uint32_t sum = 0;
    for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x)
        sum += rounds(in[i], 64);
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out + cell, sum);
}

__global__ void k59a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t cell = min(blockIdx.x, crowded) + (blockIdx.x < crowded + crowd ? 0 : blockIdx.x - crowded - crowd + 1);
    sum_cell(in, out, cell, blockIdx.x * piece, (blockIdx.x + 1) * piece);
}

__global__ void k59b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t cell = blockIdx.x, first = cell + (cell > crowded ? crowd - 1 : 0);
    sum_cell(in, out, cell, first * piece, (first + (cell == crowded ? crowd : 1)) * piece);
}

static Case k59(
    "k59", [](const Memory &m) { k59a<<<cells - 1 + crowd, 256>>>(m.in, m.out); },
    [](const Memory &m) { k59b<<<cells, 256>>>(m.in, m.out); });

constexpr uint32_t items = 1 << 24;

// Every odd word gets a place in a list. The places add up to the same in any order.
__global__ void k60a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t sum = 0;
#pragma unroll 4
    for (uint32_t i = thread(); i < items; i += threads()) {
        if (in[i] % 2)
            sum += atomicAdd(out, 1);
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out + 32, sum);
}

// The place of the first odd word of this thread, of those of all the block, which takes its places at once.
__device__ inline uint32_t first_place(uint32_t count, uint32_t *list)
{
    __shared__ uint32_t part[8], start;
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = count;
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffff, before, step);
        before += lane < step ? 0 : other;
    }
    if (lane == 31)
        part[warp] = before;
    __syncthreads();
    uint32_t all = 0, below = 0;
    for (uint32_t k = 0; k < 8; k++) {
        below += k < warp ? part[k] : 0;
        all += part[k];
    }
    if (threadIdx.x == 0)
        start = atomicAdd(list, all);
    __syncthreads();
    return start + below + before - count;
}

__global__ void k60b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t count = 0, sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < 16; k++)
        count += in[(blockIdx.x * 16 + k) * 256 + threadIdx.x] % 2;
    uint32_t place = first_place(count, out);
    for (uint32_t k = 0; k < count; k++)
        sum += place + k;
    sum = __reduce_add_sync(0xffffffff, sum);
    __shared__ uint32_t total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(out + 32, total);
}

static Case k60(
    "k60", [](const Memory &m) { k60a<<<m.sms * 8, 256>>>(m.in, m.out); },
    [](const Memory &m) { k60b<<<items / 4096, 256>>>(m.in, m.out); });

using Sum = unsigned long long;

constexpr uint32_t at_once = 1 << 18; // threads, so that each has as many words

// Sums of 64 words that lie together.
__global__ void k61a(const uint32_t *__restrict__ in, Sum *__restrict__ out)
{
#pragma unroll 4
    for (uint32_t k = 0; k < words / at_once; k++) {
        uint32_t i = thread() + k * at_once;
        uint32_t sum = __reduce_add_sync(0xffffffff, in[i] >> 8);
        if (threadIdx.x % 32 == 0)
            atomicAdd(out + i / 64, (Sum)sum);
    }
}

__global__ void k61b(const uint32_t *__restrict__ in, Sum *__restrict__ out)
{
#pragma unroll 4
    for (uint32_t k = 0; k < words / at_once; k++) {
        uint32_t i = thread() + k * at_once;
        atomicAdd(out + i / 64, (Sum)(in[i] >> 8));
    }
}

static Case k61(
    "k61", [](const Memory &m) { k61a<<<at_once / 256, 256>>>(m.in, (Sum *)m.out); },
    [](const Memory &m) { k61b<<<at_once / 256, 256>>>(m.in, (Sum *)m.out); });

constexpr uint32_t bins = 4096;
constexpr uint32_t samples = 1 << 21;

// The sum of each bin is a float.
__global__ void __launch_bounds__(1024, 2) k62a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    for (uint32_t i = thread(); i < samples; i += threads()) {
        uint32_t x = rounds(in[i], 256), *place = out + x / (1u << 20), seen = *(volatile uint32_t *)place, expected;
        do {
            expected = seen;
            seen = atomicCAS(place, expected, __float_as_uint(__uint_as_float(expected) + (float)(x % 16)));
        } while (seen != expected);
    }
}

__global__ void __launch_bounds__(1024, 2) k62b(const uint32_t *__restrict__ in, float *__restrict__ out)
{
    __shared__ uint32_t sums[bins];
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
        sums[i] = 0;
    __syncthreads();
    for (uint32_t i = thread(); i < samples; i += threads()) {
        uint32_t x = rounds(in[i], 256);
        atomicAdd(sums + x / (1u << 20), x % 16);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
        atomicAdd(out + i, (float)sums[i]);
}

static Case k62(
    "k62", [](const Memory &m) { k62a<<<m.sms * 2, 1024>>>(m.in, m.out); },
    [](const Memory &m) { k62b<<<m.sms * 2, 1024>>>(m.in, (float *)m.out); });
