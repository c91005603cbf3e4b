// Where words lie in shared memory.
#include "advice.cuh"

constexpr uint32_t side = 8192;
constexpr uint32_t tile = 32;

template <uint32_t width> __device__ inline void turn(const float *in, float *out)
{
    __shared__ float part[tile][width];
    uint32_t left = blockIdx.x * tile, top = blockIdx.y * tile;
#pragma unroll
    for (uint32_t k = 0; k < tile; k += 8) {
        uint32_t y = k + threadIdx.y;
        part[y][threadIdx.x] = in[(top + y) * side + left + threadIdx.x];
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < tile; k += 8) {
        uint32_t y = k + threadIdx.y;
        out[(left + y) * side + top + threadIdx.x] = part[threadIdx.x][y];
    }
}

__global__ void k08a(const float *__restrict__ in, float *__restrict__ out)
{
    turn<tile>(in, out);
}

__global__ void k08b(const float *__restrict__ in, float *__restrict__ out)
{
    turn<tile + 1>(in, out);
}

static Case k08(
    "k08", [](const Memory &m) { k08a<<<dim3(side / tile, side / tile), dim3(tile, 8)>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k08b<<<dim3(side / tile, side / tile), dim3(tile, 8)>>>(m.numbers, (float *)m.out); });

constexpr uint32_t row = 16; // of 64-bit words; a thread has one

template <uint32_t pitch> __device__ inline void weigh(const uint64_t *in, uint64_t *out)
{
    __shared__ uint64_t part[128 * pitch];
    const uint64_t *mine = in + blockIdx.x * 128 * row;
    for (uint32_t i = threadIdx.x; i < 128 * row; i += 128)
        part[i / row * pitch + i % row] = mine[i];
    __syncthreads();
    uint64_t sum = 0;
    for (uint32_t turn = 1; turn <= 4; turn++) {
        for (uint32_t k = 0; k < row; k++)
            sum = sum * 5 + part[threadIdx.x * pitch + (k * turn) % row];
    }
    out[thread()] = sum;
}

__global__ void k09a(const uint64_t *__restrict__ in, uint64_t *__restrict__ out)
{
    weigh<row + 1>(in, out);
}

__global__ void k09b(const uint64_t *__restrict__ in, uint64_t *__restrict__ out)
{
    weigh<row>(in, out);
}

static Case k09(
    "k09", [](const Memory &m) { k09a<<<words / 2 / row / 128, 128>>>((const uint64_t *)m.in, (uint64_t *)m.out); },
    [](const Memory &m) { k09b<<<words / 2 / row / 128, 128>>>((const uint64_t *)m.in, (uint64_t *)m.out); });

// Each thread shuffles 16 words of its own: word k is at k * step of `state`.
template <uint32_t step> __device__ inline uint32_t shuffled(uint32_t *state, uint32_t seed)
{
    for (uint32_t k = 0; k < 16; k++)
        state[k * step] = mix(seed + k);
    uint32_t j = 0, sum = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < 512; k++) {
        uint32_t here = state[k % 16 * step];
        j = (j + here) % 16;
        uint32_t there = state[j * step];
        state[k % 16 * step] = there;
        state[j * step] = here + k;
        sum += there;
    }
    return sum;
}

__global__ void k10a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t state[16 * 128];
    out[thread()] = shuffled<1>(state + threadIdx.x * 16, in[thread()]);
}

__global__ void k10b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t state[16 * 128];
    out[thread()] = shuffled<128>(state + threadIdx.x, in[thread()]);
}

static Case k10(
    "k10", [](const Memory &m) { k10a<<<m.sms * 64, 128>>>(m.in, m.out); },
    [](const Memory &m) { k10b<<<m.sms * 64, 128>>>(m.in, m.out); });
