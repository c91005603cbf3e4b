// Arithmetic as real programs do it: shapes that are known late, images, series, signals, and products of bytes.
#include <mma.h>
#include "advice.cuh"

constexpr uint32_t ranks = 5; // of a tensor

// A number to divide by. The factor and the shift do the same for numbers below 2^31.
struct Divisor {
    uint32_t value, factor, shift;
};

struct Shape {
    Divisor lengths[ranks];
    uint32_t strides[ranks]; // lines and planes have gaps after them
    uint32_t count;
};

static Divisor divisor(uint32_t value)
{
    uint32_t shift = 0;
    while (1u << shift < value)
        shift++;
    uint64_t factor = ((1ull << 32) * ((1ull << shift) - value)) / value + 1;
    return {value, (uint32_t)factor, shift};
}

static Shape shape()
{
    constexpr uint32_t lengths[ranks] = {96, 60, 50, 40, 4};
    Shape s = {};
    uint32_t stride = 1;
    s.count = 1;
    for (uint32_t k = 0; k < ranks; k++) {
        s.lengths[k] = divisor(lengths[k]);
        s.strides[k] = stride;
        stride *= lengths[k] + (k == 0 ? 4 : 1);
        s.count *= lengths[k];
    }
    return s;
}

// The sum of the elements of a view that a warp has, one for each thread, by their numbers.
template <bool divides> __device__ inline void sum_view(const uint32_t *in, uint32_t *out, const Shape &s)
{
    uint32_t rest = thread(), place = 0;
#pragma unroll
    for (uint32_t k = 0; k < ranks; k++) {
        const Divisor &d = s.lengths[k];
        uint32_t quotient = divides ? rest / d.value : (__umulhi(rest, d.factor) + rest) >> d.shift;
        place += (rest - quotient * d.value) * s.strides[k];
        rest = quotient;
    }
    uint32_t sum = __reduce_add_sync(0xffffffff, in[place] * (thread() | 1));
    if (threadIdx.x % 32 == 0)
        out[thread() / 32] = sum;
}

__global__ void k94a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, Shape s)
{
    sum_view<false>(in, out, s);
}

__global__ void k94b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, Shape s)
{
    sum_view<true>(in, out, s);
}

static Case k94(
    "k94", [](const Memory &m) { k94a<<<shape().count / 256, 256>>>(m.in, m.out, shape()); },
    [](const Memory &m) { k94b<<<shape().count / 256, 256>>>(m.in, m.out, shape()); });

constexpr uint32_t line = 4096; // pixels
constexpr uint32_t window = 4;

// How far two images are apart around a pixel, where one of them is moved by parts of a pixel: exact in float.
template <typename Real> __device__ inline float moved_apart(const float *in, const float *moves, Real one)
{
    const float *mine = in + thread();
    float x = moves[thread()] * 0.0625f, y = moves[thread() + line] * 0.0625f, sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < window * window; k++) {
        const float *tap = mine + k / window * line + k % window;
        float there =
            (float)(((one - x) * tap[0] + x * tap[1]) * (one - y) + ((one - x) * tap[line] + x * tap[line + 1]) * y);
        sum += fabsf(there - tap[0]);
    }
    return sum;
}

__global__ void k95a(const float *__restrict__ in, const float *__restrict__ moves, float *__restrict__ out)
{
    out[thread()] = moved_apart(in, moves, 1.0f);
}

__global__ void k95b(const float *__restrict__ in, const float *__restrict__ moves, float *__restrict__ out)
{
    out[thread()] = moved_apart(in, moves, 1.0);
}

static Case k95(
    "k95", [](const Memory &m) { k95a<<<line * line / 256, 256>>>(m.numbers, m.numbers + words / 2, (float *)m.out); },
    [](const Memory &m) { k95b<<<line * line / 256, 256>>>(m.numbers, m.numbers + words / 2, (float *)m.out); });

constexpr uint32_t chains = 8; // of a thread
constexpr uint32_t links = 16384;

// `together` recurrences at a time.
template <uint32_t together> __device__ inline void recur(const float *in, float *out)
{
#pragma unroll 1
    for (uint32_t c = 0; c < chains; c += together) {
        float x[together], y[together];
#pragma unroll
        for (uint32_t j = 0; j < together; j++) {
            y[j] = in[(c + j) * threads() + thread()];
            x[j] = 0;
        }
#pragma unroll 16
        for (uint32_t k = 0; k < links; k++) {
#pragma unroll
            for (uint32_t j = 0; j < together; j++)
                x[j] = fmaf(x[j], -0.75f, y[j]);
        }
#pragma unroll
        for (uint32_t j = 0; j < together; j++)
            out[(c + j) * threads() + thread()] = x[j];
    }
}

__global__ void k96a(const float *__restrict__ in, float *__restrict__ out)
{
    recur<1>(in, out);
}

__global__ void k96b(const float *__restrict__ in, float *__restrict__ out)
{
    recur<chains>(in, out);
}

static Case k96( // 256 threads for each multiprocessor have all the work
    "k96", [](const Memory &m) { k96a<<<m.sms * 2, 128>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k96b<<<m.sms * 2, 128>>>(m.numbers, (float *)m.out); });

constexpr uint32_t tones = 64; // of a thread

// The nearest whole number.
__device__ inline float whole(float x)
{
    return (x + 12582912.0f) - 12582912.0f;
}

// A loudness and a wave for each of 16 tones: none is near the middle between two whole numbers.
struct Precise {
    __device__ static void wave(float x, float *sine, float *cosine)
    {
        sincosf(x, sine, cosine);
    }
    __device__ static float power(float x, float y)
    {
        return powf(x, y);
    }
};

struct Fast {
    __device__ static void wave(float x, float *sine, float *cosine)
    {
        __sincosf(x, sine, cosine);
    }
    __device__ static float power(float x, float y)
    {
        return __powf(x, y);
    }
};

template <typename Way> __device__ inline void mix_tones(const float *in, float *out, float exponent)
{
    float sum = 0;
#pragma unroll 2
    for (uint32_t k = 0; k < tones; k++) {
        float tone = in[k * threads() + thread()], sine, cosine;
        Way::wave(tone * 0.39269908f, &sine, &cosine);
        sum += whole(sine * 100) * whole(Way::power(tone + 1, exponent)) + whole(cosine * 100);
    }
    out[thread()] = sum;
}

__global__ void k97a(const float *__restrict__ in, float *__restrict__ out, float exponent)
{
    mix_tones<Fast>(in, out, exponent);
}

__global__ void k97b(const float *__restrict__ in, float *__restrict__ out, float exponent)
{
    mix_tones<Precise>(in, out, exponent);
}

static Case k97(
    "k97", [](const Memory &m) { k97a<<<words / tones / 256, 256>>>(m.numbers, (float *)m.out, 1.7f); },
    [](const Memory &m) { k97b<<<words / tones / 256, 256>>>(m.numbers, (float *)m.out, 1.7f); });

constexpr uint32_t rows = 4096;  // of both matrices, so that all products of two rows are wanted
constexpr uint32_t length = 512; // words of four bytes in a row
constexpr uint32_t chunk = 16;   // words of a row that are in shared memory

// The products of rows of bytes with multiply-add of four bytes, by 256 threads, 128 x 128 of them.
__global__ void __launch_bounds__(256, 2) k98a(const int *__restrict__ in, int *__restrict__ out)
{
    __shared__ int part[2][128][chunk + 1];
    uint32_t y = threadIdx.x / 16, x = threadIdx.x % 16;
    int sum[8][8] = {};
#pragma unroll 1
    for (uint32_t first = 0; first < length; first += chunk) {
        int next[2][8];
#pragma unroll
        for (uint32_t k = 0; k < 16; k++) {
            uint32_t i = k % 8 * 256 + threadIdx.x, top = (k / 8 ? rows + blockIdx.x * 128 : blockIdx.y * 128);
            next[k / 8][k % 8] = in[(top + i / chunk) * length + first + i % chunk];
        }
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < 16; k++) {
            uint32_t i = k % 8 * 256 + threadIdx.x;
            part[k / 8][i / chunk][i % chunk] = next[k / 8][k % 8];
        }
        __syncthreads();
#pragma unroll 4
        for (uint32_t k = 0; k < chunk; k++) {
            int u[8], v[8];
#pragma unroll
            for (uint32_t r = 0; r < 8; r++) {
                u[r] = part[0][y + r * 16][k];
                v[r] = part[1][x + r * 16][k];
            }
#pragma unroll
            for (uint32_t r = 0; r < 64; r++)
                sum[r / 8][r % 8] = __dp4a(u[r / 8], v[r % 8], sum[r / 8][r % 8]);
        }
    }
#pragma unroll
    for (uint32_t r = 0; r < 64; r++)
        out[(blockIdx.y * 128 + y + r / 8 * 16) * rows + blockIdx.x * 128 + x + r % 8 * 16] = sum[r / 8][r % 8];
}

// The same with wmma: a warp has 64 x 32 products. Sixteen bytes of each row lie together.
__global__ void __launch_bounds__(256, 2) k98b(const uint4 *__restrict__ in, int *__restrict__ out)
{
    using namespace nvcuda::wmma;
    constexpr uint32_t pitch = 128 * 16 + 32;
    __shared__ __align__(32) signed char part[2][4][pitch];
    uint32_t y = threadIdx.x / 128 * 64, x = threadIdx.x / 32 % 4 * 32;
    fragment<accumulator, 16, 16, 16, int> sum[4][2];
    for (uint32_t r = 0; r < 8; r++)
        fill_fragment(sum[r / 2][r % 2], 0);
#pragma unroll 1
    for (uint32_t first = 0; first < length; first += chunk) {
        uint4 next[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t i = k % 2 * 256 + threadIdx.x, top = (k / 2 ? rows + blockIdx.x * 128 : blockIdx.y * 128);
            next[k] = in[((top + i / 4) * length + first) / 4 + i % 4];
        }
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t i = k % 2 * 256 + threadIdx.x;
            *(uint4 *)(part[k / 2][i % 4] + i / 4 * 16) = next[k];
        }
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            fragment<matrix_a, 16, 16, 16, signed char, row_major> u[4];
            fragment<matrix_b, 16, 16, 16, signed char, col_major> v[2];
            for (uint32_t s = 0; s < 2; s++)
                load_matrix_sync(v[s], part[1][k] + (x + s * 16) * 16, 16);
#pragma unroll
            for (uint32_t r = 0; r < 4; r++) {
                load_matrix_sync(u[r], part[0][k] + (y + r * 16) * 16, 16);
                for (uint32_t s = 0; s < 2; s++)
                    mma_sync(sum[r][s], u[r], v[s], sum[r][s]);
            }
        }
    }
#pragma unroll
    for (uint32_t r = 0; r < 8; r++) {
        int *to = out + (blockIdx.y * 128 + y + r / 2 * 16) * rows + blockIdx.x * 128 + x + r % 2 * 16;
        store_matrix_sync(to, sum[r / 2][r % 2], rows, mem_row_major);
    }
}

static Case k98(
    "k98", [](const Memory &m) { k98a<<<dim3(rows / 128, rows / 128), 256>>>((const int *)m.in, (int *)m.out); },
    [](const Memory &m) { k98b<<<dim3(rows / 128, rows / 128), 256>>>((const uint4 *)m.in, (int *)m.out); });
