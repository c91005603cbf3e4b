// How real programs share work and results: embeddings, statistics of channels, refined grids, and sums of blocks.
#include "advice.cuh"

constexpr uint32_t width = 8;         // words of a token's gradient
constexpr uint32_t run = 1 << 19;     // tokens of the same id, one after another
constexpr uint32_t tokens_each = 256; // of a warp, four at a time

__device__ inline uint32_t gradient(const uint32_t *in, uint32_t token, uint32_t column)
{
    return in[token * width + column] >> 20;
}

__global__ void k89a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t first = thread() / 32 * tokens_each + threadIdx.x % 32 / width, column = threadIdx.x % width;
    uint32_t sum = 0;
#pragma unroll 8
    for (uint32_t k = 0; k < tokens_each; k += 32 / width)
        sum += gradient(in, first + k, column);
    for (uint32_t step = width; step < 32; step *= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 < width)
        atomicAdd(out + first / run * width + column, sum);
}

__global__ void k89b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t first = thread() / 32 * tokens_each + threadIdx.x % 32 / width, column = threadIdx.x % width;
#pragma unroll 8
    for (uint32_t k = 0; k < tokens_each; k += 32 / width)
        atomicAdd(out + (first + k) / run * width + column, gradient(in, first + k, column));
}

static Case k89( // a warp's tokens have one id, because `run` is a multiple of `tokens_each`
    "k89", [](const Memory &m) { k89a<<<words / width / tokens_each / 8, 256>>>(m.in, m.out); },
    [](const Memory &m) { k89b<<<words / width / tokens_each / 8, 256>>>(m.in, m.out); });

using Sum = unsigned long long;

constexpr uint32_t channels = 33;
constexpr uint32_t shares = 64;            // of a channel
constexpr uint32_t share_fours = 31 * 256; // fours of words in a share
constexpr uint32_t channel_fours = share_fours * shares;

__device__ inline Sum warp_sum(Sum x)
{
    for (uint32_t step = 16; step > 0; step /= 2)
        x += __shfl_down_sync(0xffffffff, x, step);
    return x;
}

// Adds up `count` fours of a channel and their squares.
__device__ inline void statistics(const uint4 *in, Sum *out, uint32_t count)
{
    Sum sum = 0, squares = 0;
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        uint4 v = in[i];
        uint32_t x = v.x >> 20, y = v.y >> 20, z = v.z >> 20, w = v.w >> 20;
        sum += x + y + z + w;
        squares += x * x + y * y + z * z + w * w;
    }
    sum = warp_sum(sum);
    squares = warp_sum(squares);
    __shared__ Sum total[2];
    if (threadIdx.x < 2)
        total[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
        atomicAdd(total + 1, squares);
    }
    __syncthreads();
    if (threadIdx.x < 2)
        atomicAdd(out + threadIdx.x, total[threadIdx.x]);
}

__global__ void k90a(const uint4 *__restrict__ in, Sum *__restrict__ out)
{
    statistics(in + blockIdx.x * share_fours, out + blockIdx.x / shares * 2, share_fours);
}

__global__ void k90b(const uint4 *__restrict__ in, Sum *__restrict__ out)
{
    statistics(in + blockIdx.x * channel_fours, out + blockIdx.x * 2, channel_fours);
}

static Case k90(
    "k90", [](const Memory &m) { k90a<<<channels * shares, 256>>>((const uint4 *)m.in, (Sum *)m.out); },
    [](const Memory &m) { k90b<<<channels, 1024>>>((const uint4 *)m.in, (Sum *)m.out); });

constexpr uint32_t patches = 16; // of each block

// A patch of the sixteenth around the front takes 32 times as many steps.
__device__ inline void advance_patch(const uint32_t *in, uint32_t *out, uint32_t patch)
{
    uint32_t all = gridDim.x * patches, i = patch * blockDim.x + threadIdx.x;
    bool refined = patch / (all / 16) == 7;
    out[i] = rounds(in[i], refined ? 4096 : 128);
}

__global__ void k91a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
#pragma unroll 1
    for (uint32_t k = 0; k < patches; k++)
        advance_patch(in, out, blockIdx.x * patches + k);
}

__global__ void k91b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
#pragma unroll 1
    for (uint32_t k = 0; k < patches; k++)
        advance_patch(in, out, k * gridDim.x + blockIdx.x);
}

static Case k91(
    "k91", [](const Memory &m) { k91a<<<m.sms * 4, 256>>>(m.in, m.out); },
    [](const Memory &m) { k91b<<<m.sms * 4, 256>>>(m.in, m.out); });

constexpr uint32_t primes = 4; // a long number is its remainders by them
constexpr uint32_t factors = 256;

__device__ constexpr uint32_t prime(uint32_t k)
{
    return k == 0 ? 2147483647u : k == 1 ? 2147483629u : k == 2 ? 2147483587u : 2147483579u;
}

__device__ inline void multiply(uint32_t (*part)[factors], uint32_t to, uint32_t from)
{
#pragma unroll
    for (uint32_t k = 0; k < primes; k++)
        part[k][to] = (uint32_t)((uint64_t)part[k][to] * part[k][from] % prime(k));
}

// The product of the block's long numbers. Step by step, those at multiples of a growing distance take the next, or the
// first ones take the last ones.
template <bool growing> __device__ inline void multiply_all(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t part[primes][factors];
    for (uint32_t k = 0; k < primes; k++)
        part[k][threadIdx.x] = in[thread()] % prime(k) + 1;
    __syncthreads();
#pragma unroll 1
    for (uint32_t step = 1; step < factors; step *= 2) {
        uint32_t distance = growing ? step : factors / 2 / step;
        if (growing ? (threadIdx.x & (2 * step - 1)) == 0 : threadIdx.x < distance)
            multiply(part, threadIdx.x, threadIdx.x + distance);
        __syncthreads();
    }
    if (threadIdx.x < primes)
        out[blockIdx.x * primes + threadIdx.x] = part[threadIdx.x][0];
}

__global__ void k92a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    multiply_all<false>(in, out);
}

__global__ void k92b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    multiply_all<true>(in, out);
}

static Case k92(
    "k92", [](const Memory &m) { k92a<<<1 << 16, factors>>>(m.in, m.out); },
    [](const Memory &m) { k92b<<<1 << 16, factors>>>(m.in, m.out); });

constexpr uint32_t charges = 2048;

// What all charges do to the point of a thread; `staged` of them are in shared memory at a time.
template <uint32_t staged> __device__ inline void potential(const float *in, float *out)
{
    __shared__ float4 part[staged];
    float x = in[thread()], y = in[thread() + words / 2], sum = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < charges; first += staged) {
        __syncthreads();
        if (threadIdx.x < staged)
            part[threadIdx.x] = ((const float4 *)in)[first + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (uint32_t k = 0; k < staged; k++) {
            float4 v = part[k];
            sum += v.z * (fabsf(v.x - x) + fabsf(v.y - y));
        }
    }
    out[thread()] = sum;
}

__global__ void __launch_bounds__(1024, 2) k93a(const float *__restrict__ in, float *__restrict__ out)
{
    potential<1024>(in, out);
}

__global__ void __launch_bounds__(1024, 2) k93b(const float *__restrict__ in, float *__restrict__ out)
{
    potential<2>(in, out);
}

static Case k93(
    "k93", [](const Memory &m) { k93a<<<m.sms * 4, 1024>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k93b<<<m.sms * 4, 1024>>>(m.numbers, (float *)m.out); });
