// red: atomics of every kind. Reductions whose result nobody reads (RED), in several types and as vectors; and atomics
// that return something: exchanges, compare-and-swap on few and on many addresses, on global and on shared memory.
// Meant to move the reduction and atomic counters of L1, L2 and the instruction mix.
#include "check.cuh"

constexpr int count = 1 << 18, threads = 256, bins = 1024;

// Reductions to many addresses.
__global__ void spread(int *sum, unsigned *most, unsigned *least, unsigned *bits, float *real, unsigned long long *wide)
{
    int i = blockIdx.x * threads + threadIdx.x, bin = mix(i) % bins;
    atomicAdd(&sum[bin], i % 7);
    atomicMax(&most[bin], mix(i));
    atomicMin(&least[bin], mix(i));
    atomicOr(&bits[bin], 1u << i % 32);
    atomicAdd(&real[bin], 0.5f);
    atomicAdd(&wide[bin], (unsigned long long)i);
}

// Four floats by one instruction (sm_90).
__global__ void vectors(float4 *to)
{
    int i = blockIdx.x * threads + threadIdx.x;
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(&to[i % bins]), "f"(1.0f) : "memory");
}

// Atomics that return what was there: exchange, and compare-and-swap in a loop that always ends.
__global__ void returned(unsigned *turn, unsigned long long *swapped, int *seen)
{
    int i = blockIdx.x * threads + threadIdx.x;
    unsigned before = atomicInc(&turn[i % 4], 0xffffffffu);
    unsigned long long *at = &swapped[i % bins], old = *at, next;
    do {
        next = old;
        old = atomicCAS(at, next, next + 3);
    } while (old != next);
    if (before < 1u << 31)
        atomicExch(&seen[i % bins], 1);
}

__global__ void shared_atomics(int *out)
{
    __shared__ int bin[64], most[8];
    __shared__ unsigned long long total;
    if (threadIdx.x < 64)
        bin[threadIdx.x] = most[threadIdx.x % 8] = 0;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    atomicAdd(&bin[threadIdx.x % 64], 1);
    atomicMax(&most[threadIdx.x % 8], int(threadIdx.x));
    atomicAdd(&total, 1ull);
    if (atomicCAS(&bin[63], -1, 0) == -1)
        bin[0] = -1;
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&out[threadIdx.x], bin[threadIdx.x] + most[threadIdx.x % 8] + int(total));
}

int main()
{
    Buffer<int> sum(bins), seen(bins), out(64);
    Buffer<unsigned> most(bins), bits(bins), turn(4), least(std::vector<unsigned>(bins, 0xffffffffu));
    Buffer<float> real(bins);
    Buffer<float4> vector(bins);
    Buffer<unsigned long long> wide(bins), swapped(bins);
    spread<<<count / threads, threads>>>(sum.get(), most.get(), least.get(), bits.get(), real.get(), wide.get());
    vectors<<<count / threads, threads>>>(vector.get());
    returned<<<count / threads, threads>>>(turn.get(), swapped.get(), seen.get());
    shared_atomics<<<count / threads, threads>>>(out.get());
    finish();

    std::vector<int> wsum(bins);
    std::vector<unsigned> wmost(bins), wleast(bins, 0xffffffffu), wbits(bins);
    std::vector<float> wreal(bins);
    std::vector<unsigned long long> wwide(bins);
    for (int i = 0; i < count; i++) {
        int bin = mix(i) % bins;
        wsum[bin] += i % 7;
        wmost[bin] = std::max(wmost[bin], mix(i));
        wleast[bin] = std::min(wleast[bin], mix(i));
        wbits[bin] |= 1u << i % 32;
        wreal[bin] += 0.5f;
        wwide[bin] += i;
    }
    expect("red: sum", sum.download(), [&](size_t i) { return wsum[i]; });
    expect("red: most", most.download(), [&](size_t i) { return wmost[i]; });
    expect("red: least", least.download(), [&](size_t i) { return wleast[i]; });
    expect("red: bits", bits.download(), [&](size_t i) { return wbits[i]; });
    expect("red: real", real.download(), [&](size_t i) { return wreal[i]; });
    expect("red: wide", wide.download(), [&](size_t i) { return wwide[i]; });
    auto vectors_got = vector.download();
    std::vector<float> last(bins);
    for (int i = 0; i < bins; i++)
        last[i] = vectors_got[i].w;
    expect("red: vectors", last, [](size_t) { return count / bins; });
    expect("red: turns", turn.download(), [](size_t) { return count / 4; });
    expect("red: swapped", swapped.download(), [](size_t) { return 3 * (count / bins); });
    expect("red: seen", seen.download(), [](size_t) { return 1; });
    int blocks = count / threads;
    expect("red: shared", out.download(),
           [&](size_t i) { return blocks * (threads / 64 + threads - 8 + int(i % 8) + threads); });
    return passed("red", "reductions and atomics of every kind");
}
