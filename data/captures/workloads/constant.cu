// constant: look-ups in constant memory with one index for the whole warp and with an index for each lane, and code so
// long that it does not fit the instruction caches, entered by each warp at another place.
// Meant to move constant cache requests, hits and replays (IDC, IMC), instruction cache misses, and no-instruction
// and constant-miss stalls.
#include "check.cuh"

constexpr int entries = 1 << 12;
constexpr int lookups = 64;
constexpr int threads = 128, blocks = 264;
constexpr int count = threads * blocks;

constexpr int segments = 8, steps = 512;
constexpr int walkers = 64 * 132;

__constant__ uint32_t table[entries];

__host__ __device__ constexpr int table_index(int start, int k)
{
    return (start * 61 + k * 131) % entries;
}

// The index starts at the block's number, or at a number that looks random for each thread.
template <bool by_thread> __global__ void look_up(uint32_t *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    int start = by_thread ? int(mix(i) % entries) : blockIdx.x;
    uint32_t sum = 0;
    for (int k = 0; k < lookups; k++)
        sum = sum * 3 + table[table_index(start, k)];
    out[i] = sum;
}

uint32_t look_up_reference(const std::vector<uint32_t> &values, int start)
{
    uint32_t sum = 0;
    for (int k = 0; k < lookups; k++)
        sum = sum * 3 + values[table_index(start, k)];
    return sum;
}

// Each step has constants of its own, so the unrolled steps cannot share code.
template <int segment> __host__ __device__ uint32_t walk_segment(uint32_t value)
{
#pragma unroll
    for (int k = 0; k < steps; k++) {
        uint32_t random = mix(segment * steps + k);
        value = ((value ^ random) * (random | 1)) + (value >> (k % 13 + 1));
    }
    return value;
}

__host__ __device__ uint32_t walk_from(int start, uint32_t value)
{
    for (int k = 0; k < segments; k++) {
        switch ((start + k) % segments) {
        case 0: value = walk_segment<0>(value); break;
        case 1: value = walk_segment<1>(value); break;
        case 2: value = walk_segment<2>(value); break;
        case 3: value = walk_segment<3>(value); break;
        case 4: value = walk_segment<4>(value); break;
        case 5: value = walk_segment<5>(value); break;
        case 6: value = walk_segment<6>(value); break;
        default: value = walk_segment<7>(value); break;
        }
    }
    return value;
}

__global__ void long_code(uint32_t *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = walk_from(i / 32, i);
}

int main()
{
    auto values = fill<uint32_t>(entries, [](size_t i) { return mix(uint32_t(i)); });
    CHECK(cudaMemcpyToSymbol(table, values.data(), sizeof table));
    Buffer<uint32_t> same(count), differing(count), walked(walkers);

    look_up<false><<<blocks, threads>>>(same.get());
    look_up<true><<<blocks, threads>>>(differing.get());
    long_code<<<walkers / 64, 64>>>(walked.get());
    finish();

    expect("constant: by block", same.download(),
           [&](size_t i) { return look_up_reference(values, int(i / threads)); });
    expect("constant: by thread", differing.download(),
           [&](size_t i) { return look_up_reference(values, int(mix(uint32_t(i)) % entries)); });
    expect("constant: long code", walked.download(), [](size_t i) { return walk_from(int(i / 32), uint32_t(i)); });
    return passed("constant", "look-ups by block and by thread, and long code");
}
