// Arithmetic that is dearer than the result needs.
#include "advice.cuh"

// Four chains that stay whole and small where `sign` is -1.
template <typename Real> __device__ inline void alternate(const float *in, float *out, Real sign)
{
    Real x[4] = {}, y[4];
    for (uint32_t j = 0; j < 4; j++)
        y[j] = in[j * threads() + thread()];
#pragma unroll 4
    for (uint32_t k = 0; k < 511; k++) {
        for (uint32_t j = 0; j < 4; j++)
            x[j] = fma(x[j], sign, y[j]);
    }
    out[thread()] = (float)(x[0] + x[1] + x[2] + x[3]);
}

__global__ void k42a(const float *__restrict__ in, float *__restrict__ out, double sign)
{
    alternate(in, out, sign);
}

__global__ void k42b(const float *__restrict__ in, float *__restrict__ out, float sign)
{
    alternate(in, out, sign);
}

static Case k42(
    "k42", [](const Memory &m) { k42a<<<1 << 13, 256>>>(m.numbers, (float *)m.out, -1); },
    [](const Memory &m) { k42b<<<1 << 13, 256>>>(m.numbers, (float *)m.out, -1); });

constexpr uint32_t points = 4096;

// The sum of the squares of the distances to all points.
template <typename Real> __device__ inline void distances(const float *in, float *out)
{
    __shared__ Real x[256], y[256], z[256];
    Real u = in[thread() * 3], v = in[thread() * 3 + 1], w = in[thread() * 3 + 2], sum = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < points; first += 256) {
        x[threadIdx.x] = in[first + threadIdx.x];
        y[threadIdx.x] = in[points + first + threadIdx.x];
        z[threadIdx.x] = in[points * 2 + first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (uint32_t k = 0; k < 256; k++) {
            Real dx = x[k] - u, dy = y[k] - v, dz = z[k] - w;
            sum = fma(dx, dx, fma(dy, dy, fma(dz, dz, sum)));
        }
        __syncthreads();
    }
    out[thread()] = (float)sum;
}

__global__ void k43a(const float *__restrict__ in, float *__restrict__ out)
{
    distances<float>(in, out);
}

__global__ void k43b(const float *__restrict__ in, float *__restrict__ out)
{
    distances<double>(in, out);
}

static Case k43(
    "k43", [](const Memory &m) { k43a<<<1 << 10, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k43b<<<1 << 10, 256>>>(m.numbers, (float *)m.out); });

__global__ void k44a(const float *__restrict__ in, float *__restrict__ out)
{
    float y = in[thread()], x = 0;
    uint32_t w = thread();
#pragma unroll 1
    for (uint32_t k = 0; k < 64; k++) {
        w = rounds(w, 2);
        x = x * 0.5f + y;
    }
    out[thread()] = x + (float)(w % 16);
}

__global__ void k44b(const float *__restrict__ in, float *__restrict__ out)
{
    float y = in[thread()], x = 0;
    uint32_t w = thread();
#pragma unroll 1
    for (uint32_t k = 0; k < 64; k++) {
        w = rounds(w, 2);
        x = x * 0.5 + y;
    }
    out[thread()] = x + (float)(w % 16);
}

static Case k44(
    "k44", [](const Memory &m) { k44a<<<1 << 15, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k44b<<<1 << 15, 256>>>(m.numbers, (float *)m.out); });

constexpr uint32_t each = 32; // numbers of a thread
constexpr uint32_t turns = 8; // uses of a number

__device__ inline float weight(float v)
{
    return fmaf(__expf(-v), rsqrtf(v + 1), __logf(v + 1));
}

__global__ void k45a(const float *__restrict__ in, float *__restrict__ out)
{
    float sum = 0;
#pragma unroll 2
    for (uint32_t k = 0; k < each; k++) {
        float v = in[k * threads() + thread()];
#pragma unroll
        for (uint32_t turn = 0; turn < turns; turn++)
            sum += weight(fabsf(v - (float)turn));
    }
    out[thread()] = sum;
}

__global__ void k45b(const float *__restrict__ in, float *__restrict__ out)
{
    __shared__ float weights[16];
    if (threadIdx.x < 16)
        weights[threadIdx.x] = weight((float)threadIdx.x);
    __syncthreads();
    float sum = 0;
#pragma unroll 2
    for (uint32_t k = 0; k < each; k++) {
        float v = in[k * threads() + thread()];
#pragma unroll
        for (uint32_t turn = 0; turn < turns; turn++)
            sum += weights[__float_as_uint(fabsf(v - (float)turn) + 0x1p23f) % 16];
    }
    out[thread()] = sum;
}

static Case k45(
    "k45", [](const Memory &m) { k45a<<<words / each / 256, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k45b<<<words / each / 256, 256>>>(m.numbers, (float *)m.out); });

__device__ inline float whole(float v)
{
    return __fsub_rn(__fadd_rn(v, 0x1.8p23f), 0x1.8p23f);
}

__global__ void k46a(const float *__restrict__ in, float *__restrict__ out)
{
    float sum = 0;
#pragma unroll 2
    for (uint32_t k = 0; k < each; k++) {
        float v = in[k * threads() + thread()];
#pragma unroll
        for (uint32_t turn = 0; turn < turns; turn++) {
            float x = fabsf(v - (float)turn);
            sum += whole(x * x * x);
        }
    }
    out[thread()] = sum;
}

__global__ void k46b(const float *__restrict__ in, float *__restrict__ out, float power)
{
    float sum = 0;
#pragma unroll 2
    for (uint32_t k = 0; k < each; k++) {
        float v = in[k * threads() + thread()];
#pragma unroll
        for (uint32_t turn = 0; turn < turns; turn++)
            sum += whole(__powf(fabsf(v - (float)turn), power));
    }
    out[thread()] = sum;
}

static Case k46(
    "k46", [](const Memory &m) { k46a<<<words / each / 256, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k46b<<<words / each / 256, 256>>>(m.numbers, (float *)m.out, 3); });

// 2 to the power of `n`, which may be negative.
__device__ inline float power_of_two(int n)
{
    return __int_as_float((127 + n) << 23);
}

__global__ void k47a(const float *__restrict__ in, float *__restrict__ out)
{
    float sum = 0;
#pragma unroll 2
    for (uint32_t k = 0; k < each; k++) {
        float v = in[k * threads() + thread()];
#pragma unroll
        for (uint32_t turn = 0; turn < turns / 2; turn++)
            sum += v / power_of_two((thread() + turn * k) % 4);
    }
    out[thread()] = sum;
}

__global__ void k47b(const float *__restrict__ in, float *__restrict__ out)
{
    float sum = 0;
#pragma unroll 2
    for (uint32_t k = 0; k < each; k++) {
        float v = in[k * threads() + thread()];
#pragma unroll
        for (uint32_t turn = 0; turn < turns / 2; turn++)
            sum += v * power_of_two(-(int)((thread() + turn * k) % 4));
    }
    out[thread()] = sum;
}

static Case k47(
    "k47", [](const Memory &m) { k47a<<<words / each / 256, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k47b<<<words / each / 256, 256>>>(m.numbers, (float *)m.out); });
