// What the cases share: the memory that kernels work on, and the list of cases.
#pragma once
#include <cstddef>
#include <cstdint>

constexpr uint32_t words = 1u << 26;      // in each buffer of the device
constexpr uint32_t host_words = 1u << 22; // in each buffer of the host

struct Memory {
    const uint32_t *in;      // random words
    const float *numbers;    // whole numbers from 0 to 15, so that short sums are exact in any order
    uint32_t *out;           // 0 before the first launch
    const uint32_t *host_in; // the first words of `in`, in the host's pinned memory
    uint32_t *host_out;      // a word here counts as the same word of `out`; 0 before the first launch
    uint32_t sms;            // multiprocessors of the device
};

// Two kernels that leave the same words in `out`: "k01" is k01a and k01b. The second is null where a kernel has no
// twin.
struct Case {
    using Launch = void (*)(const Memory &);
    Case(const char *name, Launch a, Launch b);
    const char *name;
    Launch launch[2];
};

__device__ inline uint32_t thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ inline uint32_t threads()
{
    return gridDim.x * blockDim.x;
}

__host__ __device__ inline uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x85ebca6b;
    x ^= x >> 13;
    x *= 0xc2b2ae35;
    return x ^ x >> 16;
}

// Integer work of `rounds` steps, each of which needs the one before.
__device__ inline uint32_t rounds(uint32_t x, uint32_t count)
{
#pragma unroll 4
    for (uint32_t k = 0; k < count; k++) {
        x = x * 1664525 + 1013904223;
        x ^= x >> 13;
    }
    return x;
}
