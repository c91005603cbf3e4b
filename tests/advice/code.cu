// How long the code is that warps run through.
#include "advice.cuh"

constexpr uint32_t steps = 8192;
constexpr uint32_t straight = 4096; // steps of the long code

__device__ inline uint32_t step(uint32_t x)
{
    x = x * 1664525 + 1013904223;
    return x ^ x >> 13;
}

__global__ void k40a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t x = in[thread()];
#pragma unroll straight
    for (uint32_t k = 0; k < steps; k++)
        x = step(x);
    out[thread()] = x;
}

__global__ void k40b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t x = in[thread()];
#pragma unroll 32
    for (uint32_t k = 0; k < steps; k++)
        x = step(x);
    out[thread()] = x;
}

static Case k40(
    "k40", [](const Memory &m) { k40a<<<m.sms * 8, 128>>>(m.in, m.out); },
    [](const Memory &m) { k40b<<<m.sms * 8, 128>>>(m.in, m.out); });

constexpr uint32_t stages = 16;
constexpr uint32_t length = 512; // steps of a stage
constexpr uint32_t terms = 16;   // of a stage, again and again

// A stage of its own code.
template <uint32_t which> __device__ inline float unrolled_stage(float y)
{
#pragma unroll
    for (uint32_t k = 0; k < length; k++)
        y = fmaf(y, 0.5f, (float)(which * terms + k % terms));
    return y;
}

// Any stage, by the same code.
__device__ inline float stage(float y, uint32_t which)
{
    float first = (float)(which * terms);
#pragma unroll 32
    for (uint32_t k = 0; k < length; k++)
        y = fmaf(y, 0.5f, first + (float)(k % terms));
    return y;
}

template <uint32_t which = 0> __device__ inline float one_stage(float y, uint32_t wanted)
{
    if constexpr (which + 1 < stages) {
        if (wanted != which)
            return one_stage<which + 1>(y, wanted);
    }
    return unrolled_stage<which>(y);
}

__global__ void k41a(const float *__restrict__ in, float *__restrict__ out)
{
    float y = in[thread()];
#pragma unroll 1
    for (uint32_t s = 0; s < stages; s++)
        y = stage(y, (thread() / 32 * 5 + s) % stages);
    out[thread()] = y;
}

__global__ void k41b(const float *__restrict__ in, float *__restrict__ out)
{
    float y = in[thread()];
#pragma unroll 1
    for (uint32_t s = 0; s < stages; s++)
        y = one_stage(y, (thread() / 32 * 5 + s) % stages);
    out[thread()] = y;
}

static Case k41(
    "k41", [](const Memory &m) { k41a<<<m.sms * 16, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k41b<<<m.sms * 16, 256>>>(m.numbers, (float *)m.out); });
