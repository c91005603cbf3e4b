// diverge: loops whose trip counts differ from lane to lane (Collatz), a switch by lane and the same switch by warp,
// and short conditions that become predicates and selects.
// Meant to move branches, divergent targets, threads per instruction executed and predicated on, and branch stalls.
#include "check.cuh"

constexpr int count = 1 << 16;
constexpr int threads = 128;

// Steps until n is 1; at most 350 in this range, and no value on the way needs more than 64 bits.
__host__ __device__ int collatz_steps(unsigned long long n)
{
    int steps = 0;
    while (n > 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

// Four paths with loops of their own, so that no compiler makes predicates of them.
__host__ __device__ uint32_t one_of_four(int path, uint32_t value)
{
    switch (path) {
    case 0:
        for (uint32_t k = value % 8; k < 20; k++)
            value = value * 5 + k;
        return value;
    case 1:
        for (uint32_t k = value % 16; k < 30; k++)
            value ^= value >> 3 ^ k << 7;
        return value;
    case 2:
        while (value & 0xff000000u)
            value -= value >> 2;
        return value;
    default:
        return ~value;
    }
}

// Short conditions: no branch is worth it.
__host__ __device__ uint32_t conditions(uint32_t value)
{
    uint32_t result = value;
    for (uint32_t k = 0; k < 16; k++) {
        if (value >> k & 1)
            result += 3 * k;
        if (result % 4 == 1)
            result ^= value;
    }
    return result;
}

__global__ void collatz(int *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = collatz_steps(i);
}

template <int lanes> __global__ void paths(uint32_t *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = one_of_four(i / lanes % 4, mix(i));
}

__global__ void predicates(uint32_t *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count - 5)
        return;
    out[i] = conditions(mix(i));
}

int main()
{
    Buffer<int> steps(count);
    Buffer<uint32_t> by_lane(count), by_warp(count), predicated(count);

    collatz<<<count / threads, threads>>>(steps.get());
    paths<1><<<count / threads, threads>>>(by_lane.get());
    paths<32><<<count / threads, threads>>>(by_warp.get());
    predicates<<<count / threads, threads>>>(predicated.get());
    finish();

    expect("diverge: collatz", steps.download(), [](size_t i) { return collatz_steps(i); });
    expect("diverge: by lane", by_lane.download(), [](size_t i) { return one_of_four(i % 4, mix(uint32_t(i))); });
    expect("diverge: by warp", by_warp.download(), [](size_t i) { return one_of_four(i / 32 % 4, mix(uint32_t(i))); });
    expect("diverge: predicates", predicated.download(),
           [](size_t i) { return i < count - 5 ? conditions(mix(uint32_t(i))) : 0; });
    return passed("diverge", "Collatz, paths by lane and by warp, predicates");
}
