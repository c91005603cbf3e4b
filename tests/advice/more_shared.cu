// Memory that is near: streams through caches, shared memory, butterflies, and scans.
#include "advice.cuh"

__global__ void k72a(const uint4 *__restrict__ in, uint4 *__restrict__ out)
{
    uint32_t first = blockIdx.x * 1024 + threadIdx.x;
    uint4 v[4];
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        v[k] = in[first + k * 256];
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        out[first + k * 256] = v[k];
}

static Case k72(
    "k72", [](const Memory &m) { k72a<<<words / 4 / 1024, 256>>>((const uint4 *)m.in, (uint4 *)m.out); }, nullptr);

constexpr uint32_t resident = 1 << 20; // of four words: 16 MB

__global__ void k73a(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t sum = 0;
#pragma unroll 8
    for (uint32_t k = 0; k < 256; k++) {
        uint4 v = __ldcg(in + (thread() + k * (resident / 4 + 8192)) % resident);
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    out[thread()] = sum;
}

static Case k73(
    "k73", [](const Memory &m) { k73a<<<m.sms * 8, 256>>>((const uint4 *)m.in, m.out); }, nullptr);

// Lanes of a warp hand 16 bytes to each other.
__global__ void k76a(const uint4 *__restrict__ in, uint4 *__restrict__ out)
{
    __shared__ uint4 part[256];
    uint4 v = in[thread()];
    uint32_t other = threadIdx.x ^ 8;
#pragma unroll 4
    for (uint32_t k = 0; k < 512; k++) {
        part[threadIdx.x] = v;
        __syncwarp();
        v = part[other];
        __syncwarp();
        v.x += k;
    }
    out[thread()] = v;
}

static Case k76(
    "k76", [](const Memory &m) { k76a<<<m.sms * 16, 256>>>((const uint4 *)m.in, (uint4 *)m.out); }, nullptr);

constexpr uint32_t points = 4096; // that a block of 256 threads transforms, 16 in each thread at a time

__device__ inline void butterflies(uint32_t (&x)[16])
{
#pragma unroll
    for (uint32_t step = 1; step < 16; step *= 2) {
#pragma unroll
        for (uint32_t k = 0; k < 16; k++) {
            if (k & step)
                continue;
            uint32_t u = x[k], v = x[k | step];
            x[k] = u + v;
            x[k | step] = u - v;
        }
    }
}

// The Walsh-Hadamard transform of 4096 points. After every `gap` words of shared memory, one stays empty.
template <uint32_t gap> __device__ inline void transform(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t part[points + points / gap];
    uint32_t x[16], t = threadIdx.x;
    auto place = [](uint32_t i) { return i + i / gap % points; };
#pragma unroll
    for (uint32_t k = 0; k < 16; k++)
        x[k] = in[blockIdx.x * points + k * 256 + t];
#pragma unroll
    for (uint32_t stride = 256; stride > 0; stride /= 16) {
        uint32_t first = t / stride * stride * 16 + t % stride;
#pragma unroll
        for (uint32_t k = 0; k < 16; k++)
            x[k] = stride == 256 ? x[k] : part[place(first + k * stride)];
        butterflies(x);
#pragma unroll
        for (uint32_t k = 0; k < 16; k++)
            part[place(first + k * stride)] = x[k];
        __syncthreads();
    }
#pragma unroll
    for (uint32_t k = 0; k < 16; k++)
        out[blockIdx.x * points + k * 256 + t] = part[place(k * 256 + t)];
}

__global__ void k78a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    transform<points>(in, out);
}

__global__ void k78b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    transform<16>(in, out);
}

static Case k78(
    "k78", [](const Memory &m) { k78a<<<words / 2 / points, 256>>>(m.in, m.out); },
    [](const Memory &m) { k78b<<<words / 2 / points, 256>>>(m.in, m.out); });

constexpr uint32_t scans = 4; // one of the other

// Sums of each word and all before it in the block.
__device__ inline uint32_t scan_by_steps(uint32_t x)
{
    __shared__ uint32_t part[1024];
#pragma unroll 1
    for (uint32_t step = 1; step < 1024; step *= 2) {
        part[threadIdx.x] = x;
        __syncthreads();
        x += threadIdx.x < step ? 0 : part[threadIdx.x - step];
        __syncthreads();
    }
    return x;
}

__device__ inline uint32_t scan_by_warps(uint32_t x)
{
    __shared__ uint32_t part[32];
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffff, x, step);
        x += lane < step ? 0 : other;
    }
    if (lane == 31)
        part[warp] = x;
    __syncthreads();
    x += __reduce_add_sync(0xffffffff, lane < warp ? part[lane] : 0);
    __syncthreads();
    return x;
}

__global__ void __launch_bounds__(1024, 2) k83a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t x = in[thread()];
    for (uint32_t k = 0; k < scans; k++)
        x = scan_by_warps(x);
    out[thread()] = x;
}

__global__ void __launch_bounds__(1024, 2) k83b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t x = in[thread()];
    for (uint32_t k = 0; k < scans; k++)
        x = scan_by_steps(x);
    out[thread()] = x;
}

static Case k83(
    "k83", [](const Memory &m) { k83a<<<1 << 14, 1024>>>(m.in, m.out); },
    [](const Memory &m) { k83b<<<1 << 14, 1024>>>(m.in, m.out); });
