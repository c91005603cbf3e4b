// What a thread or a block keeps: lists of the largest, rare ways that need much, and shared memory beside L1.
#include "advice.cuh"

constexpr uint32_t most_kept = 32;
constexpr uint32_t seen = 128; // words of a thread

// The `count` largest words of a thread, the largest first.
template <uint32_t unrolled> __device__ inline void largest(const uint32_t *in, uint32_t *out, uint32_t count)
{
    uint32_t kept[most_kept];
#pragma unroll unrolled
    for (uint32_t j = 0; j < count; j++)
        kept[j] = 0;
#pragma unroll 4
    for (uint32_t k = 0; k < seen; k++) {
        uint32_t x = in[k * threads() + thread()];
#pragma unroll unrolled
        for (uint32_t j = 0; j < count; j++) {
            uint32_t low = min(kept[j], x);
            kept[j] = max(kept[j], x);
            x = low;
        }
    }
#pragma unroll unrolled
    for (uint32_t j = 0; j < count; j++)
        out[j * threads() + thread()] = kept[j];
}

__global__ void k99a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t)
{
    largest<12>(in, out, 12);
}

__global__ void k99b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, uint32_t count)
{
    largest<1>(in, out, count);
}

static Case k99(
    "k99", [](const Memory &m) { k99a<<<words / seen / 256, 256>>>(m.in, m.out, 12); },
    [](const Memory &m) { k99b<<<words / seen / 256, 256>>>(m.in, m.out, 12); });

constexpr uint32_t near_fours = 1 << 20; // of words: 16 MB, which stay in the L2 cache
constexpr uint32_t state = 160;          // words of the rare way

// Two turns over many words, which are in registers where `unrolled` is `state`, and else in local memory.
template <uint32_t unrolled> __device__ inline uint32_t repair(uint32_t seed)
{
    uint32_t x[state], sum = 0;
#pragma unroll unrolled
    for (uint32_t k = 0; k < state; k++)
        x[k] = seed * (2 * k + 1);
#pragma unroll 1
    for (uint32_t turn = 0; turn < 2; turn++) {
#pragma unroll unrolled
        for (uint32_t k = 0; k < state; k++)
            x[k] = x[k] * 5 + x[(k + 77) % state];
    }
#pragma unroll unrolled
    for (uint32_t k = 0; k < state; k++)
        sum = sum * 3 + x[k];
    return sum;
}

// Two of a million are to be repaired.
template <uint32_t unrolled> __device__ inline void check_words(const uint4 *in, uint32_t *out)
{
    uint32_t sum = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < 384; k++) {
        uint4 v = in[(thread() + k * 12288) % near_fours];
        sum = sum * 5 + (v.x < 4096 ? repair<unrolled>(v.x) : v.x) + (v.y ^ v.z ^ v.w);
    }
    out[thread()] = sum;
}

__global__ void __launch_bounds__(256) k100a(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    check_words<state>(in, out);
}

__global__ void __launch_bounds__(256) k100b(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    check_words<1>(in, out);
}

static Case k100(
    "k100", [](const Memory &m) { k100a<<<m.sms * 16, 256>>>((const uint4 *)m.in, m.out); },
    [](const Memory &m) { k100b<<<m.sms * 16, 256>>>((const uint4 *)m.in, m.out); });

constexpr uint32_t table_rows = 128; // a word for each lane, 16 KB in all

__device__ inline void look_up(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t table[table_rows * 32];
    for (uint32_t i = threadIdx.x; i < table_rows * 32; i += blockDim.x)
        table[i] = in[i];
    __syncthreads();
    uint32_t x = in[thread()];
#pragma unroll 4
    for (uint32_t k = 0; k < 1024; k++)
        x = x * 5 + table[x / (1u << 25) * 32 + threadIdx.x % 32];
    out[thread()] = x;
}

__global__ void k101a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    look_up(in, out);
}

__global__ void k101b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    look_up(in, out);
}

// `percent` of the memory that L1 and shared memory have together is to be shared memory.
template <typename Kernel> static void launch_carved(Kernel kernel, const Memory &m, int percent)
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent);
    kernel<<<m.sms * 32, 256>>>(m.in, m.out);
}

static Case k101(
    "k101", [](const Memory &m) { launch_carved(k101a, m, cudaSharedmemCarveoutMaxL1); },
    [](const Memory &m) { launch_carved(k101b, m, cudaSharedmemCarveoutMaxShared); });
