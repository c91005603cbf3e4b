// Loads that wait for loads, and memory that is far away.
#include "advice.cuh"

constexpr uint32_t chains = 8; // of each warp
constexpr uint32_t steps = 64;

// The next node, which all lanes read together, eight words of it.
__device__ inline uint32_t follow(const uint32_t *in, uint32_t node)
{
    return __shfl_sync(0xffffffff, in[node * 8 + threadIdx.x % 8], 0) % (words / 8);
}

__global__ void k29a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t warp = thread() / 32, node[chains];
#pragma unroll
    for (uint32_t c = 0; c < chains; c++)
        node[c] = warp * chains + c;
#pragma unroll 1
    for (uint32_t k = 0; k < steps; k++) {
#pragma unroll
        for (uint32_t c = 0; c < chains; c++)
            node[c] = follow(in, node[c] ^ k);
    }
#pragma unroll
    for (uint32_t c = 0; c < chains; c++)
        out[warp * chains + c] = node[c];
}

__global__ void k29b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t warp = thread() / 32;
#pragma unroll 1
    for (uint32_t c = 0; c < chains; c++) {
        uint32_t node = warp * chains + c;
#pragma unroll 1
        for (uint32_t k = 0; k < steps; k++)
            node = follow(in, node ^ k);
        out[warp * chains + c] = node;
    }
}

static Case k29(
    "k29", [](const Memory &m) { k29a<<<m.sms * 8, 256>>>(m.in, m.out); },
    [](const Memory &m) { k29b<<<m.sms * 8, 256>>>(m.in, m.out); });

// In which 512 words of its part a warp finds a word below 4, or the last: few parts have one. `ahead` times 32 words
// are read before they are looked at.
template <uint32_t ahead> __device__ inline void find(const uint32_t *in, uint32_t *out)
{
    uint32_t part = words / (threads() / 32) / 512 * 512, warp = thread() / 32;
    const uint32_t *mine = in + warp * part + threadIdx.x % 32;
    uint32_t seen = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < part; i += 32 * ahead) {
        uint32_t x[ahead];
#pragma unroll
        for (uint32_t k = 0; k < ahead; k++)
            x[k] = mine[i + k * 32];
        uint32_t found = 0;
#pragma unroll
        for (uint32_t k = 0; k < ahead; k++)
            found |= __ballot_sync(0xffffffff, x[k] < 4);
        seen = i / 512;
        if (found)
            break;
    }
    if (threadIdx.x % 32 == 0)
        out[warp] = seen;
}

__global__ void k30a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    find<1>(in, out);
}

__global__ void k30b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    find<8>(in, out);
}

static Case k30(
    "k30", [](const Memory &m) { k30a<<<m.sms * 4, 256>>>(m.in, m.out); },
    [](const Memory &m) { k30b<<<m.sms * 4, 256>>>(m.in, m.out); });

constexpr uint32_t count = 1 << 23;

// One warp of 16 multiplies by words of a table.
__device__ inline void scale(const uint4 *in, const uint4 *table, uint4 *out)
{
    for (uint32_t i = thread(); i < count; i += threads()) {
        uint4 v = in[i], factor = i / 32 % 16 ? make_uint4(3, 5, 7, 9) : table[i / 512 * 32 + i % 32];
        out[i] = make_uint4(v.x * factor.x, v.y * factor.y, v.z * factor.z, v.w * factor.w);
    }
}

__global__ void k31a(const uint4 *__restrict__ in, const uint4 *__restrict__ table, uint4 *__restrict__ out)
{
    scale(in, table, out);
}

__global__ void k31b(const uint4 *__restrict__ in, const uint4 *__restrict__ table, uint4 *__restrict__ out)
{
    scale(in, table, out);
}

static Case k31(
    "k31",
    [](const Memory &m) { k31a<<<m.sms * 8, 256>>>((const uint4 *)m.in, (const uint4 *)m.host_in, (uint4 *)m.out); },
    [](const Memory &m) { k31b<<<m.sms * 8, 256>>>((const uint4 *)m.in, (const uint4 *)m.in, (uint4 *)m.out); });

// A thread sums up 16 words.
__device__ inline void sum_sixteens(const uint4 *in, uint32_t *sums)
{
    for (uint32_t i = thread(); i < words / 16; i += threads()) {
        uint32_t sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            uint4 v = in[i / 32 * 128 + k * 32 + i % 32];
            sum += v.x + v.y + v.z + v.w;
        }
        sums[i] = sum;
    }
}

__global__ void k32a(const uint4 *__restrict__ in, uint32_t *__restrict__ sums)
{
    sum_sixteens(in, sums);
}

__global__ void k32b(const uint4 *__restrict__ in, uint32_t *__restrict__ sums)
{
    sum_sixteens(in, sums);
}

static Case k32(
    "k32", [](const Memory &m) { k32a<<<m.sms * 8, 256>>>((const uint4 *)m.in, m.out); },
    [](const Memory &m) { k32b<<<m.sms * 8, 256>>>((const uint4 *)m.in, m.host_out); });
