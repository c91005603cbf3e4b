// What a thread keeps for itself: too much for its registers, or in arrays that have none.
#include "advice.cuh"

constexpr uint32_t held = 34;

__device__ inline void blend(const float *in, float *out)
{
    float x[held];
    float seed = in[thread()];
    for (uint32_t k = 0; k < held; k++)
        x[k] = seed + (float)k;
#pragma unroll 1
    for (uint32_t turn = 0; turn < 64; turn++) {
#pragma unroll
        for (uint32_t k = 0; k < held; k++)
            x[k] = fmaf(x[k], 0.5f, x[(k + 19) % held]) * 0.5f;
    }
    float sum = 0;
    for (uint32_t k = 0; k < held; k++)
        sum += x[k];
    out[thread()] = sum;
}

__global__ void __launch_bounds__(256, 8) k24a(const float *__restrict__ in, float *__restrict__ out)
{
    blend(in, out);
}

__global__ void __launch_bounds__(256, 3) k24b(const float *__restrict__ in, float *__restrict__ out)
{
    blend(in, out);
}

static Case k24(
    "k24", [](const Memory &m) { k24a<<<4096, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k24b<<<4096, 256>>>(m.numbers, (float *)m.out); });

constexpr uint32_t keys = 32;

// Sorts 32 keys in registers (bitonic) and leaves every fourth.
__device__ inline void sort_keys(const uint32_t *in, uint32_t *out)
{
    uint32_t x[keys];
#pragma unroll
    for (uint32_t k = 0; k < keys; k++)
        x[k] = in[k * threads() + thread()];
#pragma unroll
    for (uint32_t size = 2; size <= keys; size *= 2) {
#pragma unroll
        for (uint32_t step = size / 2; step > 0; step /= 2) {
#pragma unroll
            for (uint32_t k = 0; k < keys; k++) {
                if ((k & step) == 0) {
                    uint32_t low = min(x[k], x[k | step]), high = max(x[k], x[k | step]);
                    bool up = (k & size) == 0;
                    x[k] = up ? low : high;
                    x[k | step] = up ? high : low;
                }
            }
        }
    }
#pragma unroll
    for (uint32_t k = 0; k < keys; k += 4)
        out[k / 4 * threads() + thread()] = x[k];
}

__global__ void __launch_bounds__(128, 8) k25a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    sort_keys(in, out);
}

__global__ void __launch_bounds__(128, 16) k25b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    sort_keys(in, out);
}

static Case k25(
    "k25", [](const Memory &m) { k25a<<<words / keys / 128, 128>>>(m.in, m.out); },
    [](const Memory &m) { k25b<<<words / keys / 128, 128>>>(m.in, m.out); });

// Counts of eight kinds, more than half of all in the last; that of kind k is counts[k * step].
template <uint32_t step> __device__ inline uint32_t most(uint32_t *counts, const uint32_t *in)
{
    for (uint32_t k = 0; k < 8; k++)
        counts[k * step] = 0;
#pragma unroll 4
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t x = in[i * threads() + thread()];
        counts[min(x % 16, 7) * step]++;
    }
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 8; k++)
        sum += counts[k * step] * counts[k * step];
    return sum;
}

__global__ void k26a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t counts[8 * 256];
    out[thread()] = most<256>(counts + threadIdx.x, in);
}

__global__ void k26b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t counts[8];
    out[thread()] = most<1>(counts, in);
}

static Case k26(
    "k26", [](const Memory &m) { k26a<<<words / 32 / 256, 256>>>(m.in, m.out); },
    [](const Memory &m) { k26b<<<words / 32 / 256, 256>>>(m.in, m.out); });

constexpr uint32_t window = 9;

// The sum of the distances of floats from the eight before them, with loops unrolled `times` times.
template <uint32_t times> __device__ inline float distances(const float *in)
{
    float x[window] = {}, sum = 0;
#pragma unroll 1
    for (uint32_t turn = 0; turn < 7; turn++) {
#pragma unroll times
        for (uint32_t k = 0; k < window; k++) {
            float newest = in[thread() + turn * window + k];
            x[k] = newest;
#pragma unroll times
            for (uint32_t j = 0; j < window; j++)
                sum += fabsf(newest - x[j]);
        }
    }
    return sum;
}

__global__ void k27a(const float *__restrict__ in, float *__restrict__ out)
{
    out[thread()] = distances<1>(in);
}

__global__ void k27b(const float *__restrict__ in, float *__restrict__ out)
{
    out[thread()] = distances<window>(in);
}

static Case k27(
    "k27", [](const Memory &m) { k27a<<<1 << 13, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k27b<<<1 << 13, 256>>>(m.numbers, (float *)m.out); });

// A walk with a stack over a binary tree of eight levels, without what the thread's word leaves out.
template <uint32_t step> __device__ inline uint32_t walk(uint32_t *stack, uint32_t seed)
{
    uint32_t depth = 1, sum = 0;
    stack[0] = 1;
#pragma unroll 1
    while (depth > 0) {
        uint32_t node = stack[--depth * step];
        sum += node * seed;
        if (node >> 7 || (seed >> node % 32 & 7) == 0)
            continue;
        stack[depth++ * step] = node * 2;
        stack[depth++ * step] = node * 2 + 1;
    }
    return sum;
}

__global__ void k28a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t stack[16];
    out[thread()] = walk<1>(stack, in[thread()]);
}

__global__ void k28b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t stack[16 * 128];
    out[thread()] = walk<128>(stack + threadIdx.x, in[thread()]);
}

static Case k28(
    "k28", [](const Memory &m) { k28a<<<1 << 14, 128>>>(m.in, m.out); },
    [](const Memory &m) { k28b<<<1 << 14, 128>>>(m.in, m.out); });
