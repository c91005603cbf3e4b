// Traffic that need not be, past caches that are too small for it or that loads pass; and functions that round precisely.
#include "advice.cuh"

constexpr uint32_t states = 96; // of a thread

// Turns over `states` values, all of which are in use until the end.
__device__ inline void relax(const float *in, float *out)
{
    float x[states], sum = 0;
    float seed = in[thread()];
#pragma unroll
    for (uint32_t k = 0; k < states; k++)
        x[k] = seed + (float)k;
#pragma unroll 1
    for (uint32_t turn = 0; turn < 64; turn++) {
#pragma unroll
        for (uint32_t k = 0; k < states; k++)
            x[k] = fmaf(x[k], 0.5f, x[(k + 41) % states]) * 0.5f;
    }
#pragma unroll
    for (uint32_t k = 0; k < states; k++)
        sum += x[k];
    out[thread()] = sum;
}

__global__ void __launch_bounds__(256, 8) k108a(const float *__restrict__ in, float *__restrict__ out)
{
    relax(in, out);
}

__global__ void __launch_bounds__(256, 2) k108b(const float *__restrict__ in, float *__restrict__ out)
{
    relax(in, out);
}

static Case k108(
    "k108", [](const Memory &m) { k108a<<<m.sms * 8, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k108b<<<m.sms * 8, 256>>>(m.numbers, (float *)m.out); });

constexpr uint32_t side = 8;
constexpr uint32_t steps = 32;

// A product of 8 x `steps` and `steps` x 8 words for each thread.
__device__ inline void multiply(const uint32_t *in, uint32_t *out)
{
    uint32_t sums[side][side] = {};
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t a[side], b[side], word = in[step * threads() + thread()];
#pragma unroll
        for (uint32_t k = 0; k < side; k++) {
            word = word * 1664525 + 1013904223;
            a[k] = word >> 20;
            b[k] = word & 4095;
        }
#pragma unroll
        for (uint32_t y = 0; y < side; y++) {
#pragma unroll
            for (uint32_t x = 0; x < side; x++)
                sums[y][x] += a[y] * b[x];
        }
    }
    uint32_t all = 0;
#pragma unroll
    for (uint32_t y = 0; y < side; y++) {
#pragma unroll
        for (uint32_t x = 0; x < side; x++)
            all = mix(all ^ sums[y][x]);
    }
    out[thread()] = all;
}

__global__ void __launch_bounds__(128, 5) k109a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    multiply(in, out);
}

__global__ void __launch_bounds__(128, 16) k109b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    multiply(in, out);
}

static Case k109(
    "k109", [](const Memory &m) { k109a<<<m.sms * 32, 128>>>(m.in, m.out); },
    [](const Memory &m) { k109b<<<m.sms * 32, 128>>>(m.in, m.out); });

constexpr uint32_t read = 16; // numbers of a thread

struct Power {
    __device__ static float of(float x, float exponent)
    {
        return rintf(powf(x, exponent));
    }
};

struct Square {
    __device__ static float of(float x, float)
    {
        return x * x;
    }
};

// Squares of the distances from eight places.
template <typename Way> __device__ inline void spread_out(const float *in, float *out, float exponent)
{
    float sum = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < read; k++) {
        float x = in[k * threads() + thread()];
#pragma unroll
        for (uint32_t place = 1; place <= 8; place++)
            sum += Way::of(x + (float)place, exponent);
    }
    out[thread()] = sum;
}

__global__ void k110a(const float *__restrict__ in, float *__restrict__ out, float exponent)
{
    spread_out<Power>(in, out, exponent);
}

__global__ void k110b(const float *__restrict__ in, float *__restrict__ out, float exponent)
{
    spread_out<Square>(in, out, exponent);
}

static Case k110(
    "k110", [](const Memory &m) { k110a<<<1 << 13, 256>>>(m.numbers, (float *)m.out, 2); },
    [](const Memory &m) { k110b<<<1 << 13, 256>>>(m.numbers, (float *)m.out, 2); });

struct Rounded {
    __device__ static float of(float x)
    {
        return log1pf(expf(x)) * tanhf(x);
    }
};

struct Rough {
    __device__ static float of(float x)
    {
        float power = __expf(x), square = power * power;
        return __logf(1 + power) * __fdividef(square - 1, square + 1);
    }
};

// Hundredths of a smooth step, of none of which the fast functions are wrong.
template <typename Way> __device__ inline void activate(const float *in, float *out)
{
    float sum = 0;
#pragma unroll 4
    for (uint32_t k = 0; k < read; k++)
        sum += rintf(Way::of(in[k * threads() + thread()] * 0.25f) * 100);
    out[thread()] = sum;
}

__global__ void k111a(const float *__restrict__ in, float *__restrict__ out)
{
    activate<Rough>(in, out);
}

__global__ void k111b(const float *__restrict__ in, float *__restrict__ out)
{
    activate<Rounded>(in, out);
}

static Case k111(
    "k111", [](const Memory &m) { k111a<<<words / read / 256, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k111b<<<words / read / 256, 256>>>(m.numbers, (float *)m.out); });

constexpr uint32_t edge = 256; // of a cube
constexpr uint32_t plane = edge * edge;

// Each point of a cube less the mean of its six neighbours, as wholes.
template <typename Word> __device__ inline void smooth(Word *in, float *out)
{
    uint32_t i = thread(), last = plane * edge - plane - 1;
    uint32_t c = min(max(i, plane), last);
    out[i] = 6 * in[c] - in[c - 1] - in[c + 1] - in[c - edge] - in[c + edge] - in[c - plane] - in[c + plane];
}

__global__ void k112a(const float *__restrict__ in, float *__restrict__ out)
{
    smooth(in, out);
}

__global__ void k112b(const volatile float *in, float *out)
{
    smooth(in, out);
}

static Case k112(
    "k112", [](const Memory &m) { k112a<<<plane * edge / 256, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k112b<<<plane * edge / 256, 256>>>(m.numbers, (float *)m.out); });

constexpr uint32_t reach = 12; // words of a moving sum

__global__ void k113a(const volatile float *in, float *out)
{
    float sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < reach; k++)
        sum += in[thread() + k];
    out[thread()] = sum;
}

__global__ void k113b(const float *__restrict__ in, float *__restrict__ out)
{
    __shared__ float tile[256 + reach];
    tile[threadIdx.x] = in[thread()];
    if (threadIdx.x < reach)
        tile[256 + threadIdx.x] = in[thread() + 256];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < reach; k++)
        sum += tile[threadIdx.x + k];
    out[thread()] = sum;
}

static Case k113(
    "k113", [](const Memory &m) { k113a<<<words / 4 / 256, 256>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k113b<<<words / 4 / 256, 256>>>(m.numbers, (float *)m.out); });
