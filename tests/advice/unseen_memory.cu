// Memory as real programs use it: records that are written, stencils in three dimensions, packed files, and codes.
#include "advice.cuh"

constexpr uint32_t fields = 11; // of a record
constexpr uint32_t records = 1 << 22;

// Field f of record i, whose fields lie in streams of their own.
__device__ inline uint32_t field(const uint32_t *streams, uint32_t f, uint32_t i)
{
    return streams[f * records + i] * 3 + f;
}

__global__ void k84a(const uint32_t *__restrict__ streams, uint32_t *__restrict__ out)
{
    __shared__ uint32_t part[256 * fields];
#pragma unroll
    for (uint32_t f = 0; f < fields; f++)
        part[threadIdx.x * fields + f] = field(streams, f, thread());
    __syncthreads();
    uint32_t *mine = out + blockIdx.x * 256 * fields + threadIdx.x;
#pragma unroll
    for (uint32_t k = 0; k < fields; k++)
        mine[k * 256] = part[k * 256 + threadIdx.x];
}

__global__ void k84b(const uint32_t *__restrict__ streams, uint32_t *__restrict__ out)
{
#pragma unroll
    for (uint32_t f = 0; f < fields; f++)
        out[thread() * fields + f] = field(streams, f, thread());
}

static Case k84(
    "k84", [](const Memory &m) { k84a<<<records / 256, 256>>>(m.in, m.out); },
    [](const Memory &m) { k84b<<<records / 256, 256>>>(m.in, m.out); });

constexpr uint32_t side = 512; // points of a line, and lines of a plane
constexpr uint32_t plane = side * side;
constexpr uint32_t planes = 192; // of results; `in` has more
constexpr uint32_t reach = 4;    // of the star
constexpr uint32_t tile_x = 32, tile_y = 16;
constexpr uint32_t column = 64; // planes that a block goes through

__device__ constexpr float weight(uint32_t distance)
{
    return (float)(distance * 3 + 1);
}

// The place of a thread's first result: lines and planes that end go on with the next ones.
__device__ inline uint32_t star_place(uint32_t z)
{
    return (reach + z) * plane + (blockIdx.y * tile_y + threadIdx.y) * side + blockIdx.x * tile_x + threadIdx.x;
}

__global__ void __launch_bounds__(512, 4) k85a(const float *__restrict__ in, float *__restrict__ out)
{
    const float *mine = in + star_place(blockIdx.z);
    float sum = mine[0] * weight(0);
#pragma unroll
    for (uint32_t d = 1; d <= reach; d++) {
        const float *before = mine - d, *above = mine - d * side, *under = mine - d * plane;
        sum += weight(d) * (before[0] + mine[d] + above[0] + mine[d * side] + under[0] + mine[d * plane]);
    }
    out[star_place(blockIdx.z)] = sum;
}

// A thread keeps nine planes of its own column; neighbours in the plane are in shared memory.
__global__ void __launch_bounds__(512, 3) k85b(const float *__restrict__ in, float *__restrict__ out)
{
    constexpr uint32_t wide = tile_x + 2 * reach, high = tile_y + 2 * reach;
    __shared__ float part[high][wide];
    uint32_t place = star_place(blockIdx.z * column), x = threadIdx.x + reach, y = threadIdx.y + reach;
    float line[2 * reach + 1];
#pragma unroll
    for (uint32_t k = 0; k < 2 * reach; k++)
        line[k + 1] = (in + place - reach * plane)[k * plane];
#pragma unroll 1
    for (uint32_t z = 0; z < column; z++, place += plane) {
#pragma unroll
        for (uint32_t k = 0; k < 2 * reach; k++)
            line[k] = line[k + 1];
        line[2 * reach] = in[place + reach * plane];
        const float *corner = in + place - threadIdx.y * side - threadIdx.x - reach * side - reach;
        __syncthreads();
        for (uint32_t i = threadIdx.y * tile_x + threadIdx.x; i < wide * high; i += tile_x * tile_y)
            part[i / wide][i % wide] = corner[i / wide * side + i % wide];
        __syncthreads();
        float sum = line[reach] * weight(0);
#pragma unroll
        for (uint32_t d = 1; d <= reach; d++)
            sum += weight(d) * (part[y][x - d] + part[y][x + d] + part[y - d][x] + part[y + d][x] + line[reach - d] +
                                line[reach + d]);
        out[place] = sum;
    }
}

static Case k85(
    "k85",
    [](const Memory &m) {
        k85a<<<dim3(side / tile_x, side / tile_y, planes), dim3(tile_x, tile_y)>>>(m.numbers, (float *)m.out);
    },
    [](const Memory &m) {
        k85b<<<dim3(side / tile_x, side / tile_y, planes / column), dim3(tile_x, tile_y)>>>(m.numbers, (float *)m.out);
    });

constexpr uint32_t series = 1 << 20; // a thread has one
constexpr uint32_t samples = words / series;

// Sums of a series and of its squares, and its largest word. They may be the same memory, for all that the compiler
// knows.
__global__ void k86a(const uint32_t *__restrict__ in, uint32_t *sum, uint32_t *squares, uint32_t *most)
{
    uint32_t i = thread();
    sum[i] = squares[i] = most[i] = 0;
#pragma unroll 4
    for (uint32_t k = 0; k < samples; k++) {
        uint32_t x = in[k * series + i] >> 20;
        sum[i] += x;
        squares[i] += x * x;
        most[i] = max(most[i], x);
    }
}

__global__ void k86b(const uint32_t *__restrict__ in, uint32_t *sum, uint32_t *squares, uint32_t *most)
{
    uint32_t i = thread(), s = 0, q = 0, largest = 0;
#pragma unroll 4
    for (uint32_t k = 0; k < samples; k++) {
        uint32_t x = in[k * series + i] >> 20;
        s += x;
        q += x * x;
        largest = max(largest, x);
    }
    sum[i] = s;
    squares[i] = q;
    most[i] = largest;
}

static Case k86(
    "k86", [](const Memory &m) { k86a<<<series / 256, 256>>>(m.in, m.out, m.out + series, m.out + 2 * series); },
    [](const Memory &m) { k86b<<<series / 256, 256>>>(m.in, m.out, m.out + series, m.out + 2 * series); });

constexpr uint32_t packed = 1 << 25; // entries of five bytes: a tag and a word

__global__ void k87a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t i = thread(), first = i * 5 / 4, shift = i * 5 % 4 * 8;
    uint64_t both = in[first] | (uint64_t)in[first + 1] << 32;
    both >>= shift;
    out[i] = (uint32_t)(both >> 8) * 5 + (uint8_t)both;
}

__global__ void k87b(const uint8_t *__restrict__ in, uint32_t *__restrict__ out)
{
    const uint8_t *mine = in + thread() * 5;
    uint32_t word = mine[1] | mine[2] << 8 | mine[3] << 16 | (uint32_t)mine[4] << 24;
    out[thread()] = word * 5 + mine[0];
}

static Case k87(
    "k87", [](const Memory &m) { k87a<<<packed / 256, 256>>>(m.in, m.out); },
    [](const Memory &m) { k87b<<<packed / 256, 256>>>((const uint8_t *)m.in, m.out); });

constexpr uint32_t code = 32;   // fours of words in a code: all lanes of a warp have one
constexpr uint32_t codes = 128; // of a tile, 64 KB
constexpr uint32_t tiles = words / 4 / code / codes;
constexpr uint32_t questions = 8;

// How far the nearest code of each warp's share of a tile is from question `q`.
__device__ inline void nearest(const uint4 *in, uint32_t *out, uint32_t q, uint32_t tile)
{
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, least = ~0u;
    uint4 wanted = in[q * code + lane];
#pragma unroll 8
    for (uint32_t k = warp; k < codes; k += 8) {
        uint4 v = in[(tile * codes + k) * code + lane];
        uint32_t far =
            __popc(v.x ^ wanted.x) + __popc(v.y ^ wanted.y) + __popc(v.z ^ wanted.z) + __popc(v.w ^ wanted.w);
        least = min(least, __reduce_add_sync(0xffffffff, far));
    }
    if (lane == 0)
        out[(q * tiles + tile) * 8 + warp] = least;
}

__global__ void k88a(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    nearest(in, out, blockIdx.x / tiles, blockIdx.x % tiles);
}

__global__ void k88b(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    nearest(in, out, blockIdx.x % questions, blockIdx.x / questions);
}

static Case k88(
    "k88", [](const Memory &m) { k88a<<<tiles * questions, 256>>>((const uint4 *)m.in, m.out); },
    [](const Memory &m) { k88b<<<tiles * questions, 256>>>((const uint4 *)m.in, m.out); });
