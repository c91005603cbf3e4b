// local: an array of each thread's own, indexed by data (local memory by need), and more live values than a thread
// may have registers (local memory by spilling).
// Meant to move local loads and stores (LDL, STL), their L1 traffic and hit rates, and the spill counters.
#include "check.cuh"

constexpr int count = 1 << 15;
constexpr int threads = 128;
constexpr int length = 64;
constexpr int rounds = 8;

// Shuffles 0..63 by the seed, then follows the permutation from 0.
__host__ __device__ int wander(uint32_t seed)
{
    int next[length];
    for (int k = 0; k < length; k++)
        next[k] = k;
    for (int k = length - 1; k > 0; k--) {
        seed = mix(seed);
        int other = seed % (k + 1), kept = next[k];
        next[k] = next[other];
        next[other] = kept;
    }
    int at = 0, sum = 0;
    for (int k = 0; k < length; k++) {
        at = next[at] ^ (k & 7);
        sum += at * k;
    }
    return sum;
}

__global__ void indexed(int *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = wander(i);
}

// Every value takes the next one in, round after round.
__host__ __device__ uint32_t stir(uint32_t (&value)[length], int rounds)
{
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int k = 0; k < length; k++)
            value[k] = value[k] * 3 + value[(k + 1) % length];
    }
    uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < length; k++)
        sum = sum * 5 + value[k];
    return sum;
}

// 64 values live through a loop, in at most 32 registers (4 blocks of 512 threads on a multiprocessor).
__global__ void __launch_bounds__(512, 4) spilling(const uint32_t *in, uint32_t *out, int rounds)
{
    int i = blockIdx.x * 512 + threadIdx.x;
    uint32_t value[length];
#pragma unroll
    for (int k = 0; k < length; k++)
        value[k] = in[(i + k * 512) % count];
    out[i] = stir(value, rounds);
}

uint32_t reference(const std::vector<uint32_t> &in, size_t i)
{
    uint32_t value[length];
    for (size_t k = 0; k < length; k++)
        value[k] = in[(i + k * 512) % count];
    return stir(value, rounds);
}

int main()
{
    auto in = fill<uint32_t>(count, [](size_t i) { return mix(uint32_t(i)); });
    Buffer<uint32_t> device_in(in), spilled(count);
    Buffer<int> wandered(count);

    indexed<<<count / threads, threads>>>(wandered.get());
    spilling<<<count / 512, 512>>>(device_in.get(), spilled.get(), rounds);
    finish();

    expect("local: indexed", wandered.download(), [](size_t i) { return wander(uint32_t(i)); });
    expect("local: spilling", spilled.download(), [&](size_t i) { return reference(in, i); });
    return passed("local", "32768 threads with arrays and with spills");
}
