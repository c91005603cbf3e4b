// Memory as real programs use it: records, sparse rows, gathers, trees, filters, and volumes.
#include "advice.cuh"
#include "more_product.cuh"

constexpr uint32_t fields = 24; // of a record
constexpr uint32_t records = 1 << 21;

__device__ inline uint32_t digest(const uint32_t *record)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < fields; k++)
        sum = sum * 5 + record[k];
    return sum;
}

__global__ void k54a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    out[thread()] = digest(in + thread() * fields);
}

__global__ void k54b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    __shared__ uint32_t part[8][32 * (fields + 1)];
    uint32_t *mine = part[threadIdx.x / 32], lane = threadIdx.x % 32;
    const uint32_t *first = in + thread() / 32 * 32 * fields;
#pragma unroll
    for (uint32_t k = 0; k < fields; k++) {
        uint32_t i = k * 32 + lane;
        mine[i / fields * (fields + 1) + i % fields] = first[i];
    }
    __syncwarp();
    out[thread()] = digest(mine + lane * (fields + 1));
}

static Case k54(
    "k54", [](const Memory &m) { k54a<<<records / 256, 256>>>(m.in, m.out); },
    [](const Memory &m) { k54b<<<records / 256, 256>>>(m.in, m.out); });

constexpr uint32_t degree = 128; // entries of a row, in columns near the row
constexpr uint32_t sparse_rows = 1 << 18;

__device__ inline uint32_t entry(const uint32_t *column, const uint32_t *value, const uint32_t *x, uint32_t row,
                                 uint32_t e)
{
    return value[row * degree + e] * x[row + column[row * degree + e] % 64];
}

__global__ void k55a(const uint32_t *__restrict__ column, const uint32_t *__restrict__ value,
                     const uint32_t *__restrict__ x, uint32_t *__restrict__ out)
{
    uint32_t row = thread() / 32, sum = 0;
#pragma unroll
    for (uint32_t e = 0; e < degree; e += 32)
        sum += entry(column, value, x, row, e + threadIdx.x % 32);
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        out[row] = sum;
}

__global__ void k55b(const uint32_t *__restrict__ column, const uint32_t *__restrict__ value,
                     const uint32_t *__restrict__ x, uint32_t *__restrict__ out)
{
    uint32_t row = thread(), sum = 0;
#pragma unroll 4
    for (uint32_t e = 0; e < degree; e++)
        sum += entry(column, value, x, row, e);
    out[row] = sum;
}

static Case k55(
    "k55", [](const Memory &m) { k55a<<<sparse_rows / 8, 256>>>(m.in, m.in + words / 2, m.in, m.out); },
    [](const Memory &m) { k55b<<<sparse_rows / 256, 256>>>(m.in, m.in + words / 2, m.in, m.out); });

constexpr uint32_t gathers = 1 << 25;
constexpr uint32_t at_once = 1 << 18; // threads, so that each has as many items

__device__ inline uint32_t far_place(uint32_t i)
{
    i ^= i >> 12;
    i = i * 0x9e3779b1 % gathers;
    return i ^ i >> 13;
}

__device__ inline uint32_t near_place(uint32_t i)
{
    return (i & ~31u) | (i * 5 + 3) % 32;
}

template <uint32_t place(uint32_t)> __device__ inline void gather(const uint32_t *in, uint32_t *out)
{
    uint32_t sum = 0;
#pragma unroll 8
    for (uint32_t k = 0; k < gathers / at_once; k++)
        sum += in[place(thread() + k * at_once)] >> 7;
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

__global__ void k56a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    gather<far_place>(in, out);
}

__global__ void k56b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    gather<near_place>(in, out);
}

static Case k56(
    "k56", [](const Memory &m) { k56a<<<at_once / 256, 256>>>(m.in, m.out); },
    [](const Memory &m) { k56b<<<at_once / 256, 256>>>(m.in, m.out); });

// A word within the 128 bytes of word i.
__device__ inline uint32_t beside(uint32_t i, uint32_t index)
{
    return i / 32 * 32 + index % 32;
}

template <uint32_t ahead> __device__ inline void sum_indexed(const uint32_t *index, const float *in, float *out)
{
    float sum = 0;
#pragma unroll 1
    for (uint32_t i = thread(); i + (ahead - 1) * threads() < gathers; i += ahead * threads()) {
        uint32_t place[ahead];
#pragma unroll
        for (uint32_t k = 0; k < ahead; k++)
            place[k] = index[i + k * threads()];
#pragma unroll
        for (uint32_t k = 0; k < ahead; k++)
            sum += in[beside(i + k * threads(), place[k])];
    }
    out[thread()] = sum;
}

__global__ void k63a(const uint32_t *__restrict__ index, const float *__restrict__ in, float *__restrict__ out)
{
    sum_indexed<8>(index, in, out);
}

__global__ void k63b(const uint32_t *__restrict__ index, const float *__restrict__ in, float *__restrict__ out)
{
    sum_indexed<1>(index, in, out);
}

static Case k63(
    "k63", [](const Memory &m) { k63a<<<at_once / 256, 256>>>(m.in, m.numbers, (float *)m.out); },
    [](const Memory &m) { k63b<<<at_once / 256, 256>>>(m.in, m.numbers, (float *)m.out); });

constexpr uint32_t tree_nodes = words / 32;
constexpr uint32_t queries = 32; // of each warp

// A warp looks for keys in a tree whose nodes have 32 keys, `together` at a time.
template <uint32_t together> __device__ inline void search_tree(const uint32_t *in, uint32_t *out)
{
    uint32_t first = thread() / 32 * queries;
#pragma unroll 1
    for (uint32_t q = 0; q < queries; q += together) {
        uint32_t node[together];
#pragma unroll
        for (uint32_t k = 0; k < together; k++)
            node[k] = mix(first + q + k) % tree_nodes;
#pragma unroll 1
        for (uint32_t level = 0; level < 12; level++) {
            uint32_t key[together];
#pragma unroll
            for (uint32_t k = 0; k < together; k++)
                key[k] = in[node[k] * 32 + threadIdx.x % 32];
#pragma unroll
            for (uint32_t k = 0; k < together; k++) {
                uint32_t below = __ballot_sync(0xffffffff, key[k] < (first + q + k) * 0x9e3779b1);
                node[k] = mix(node[k] * 33 + __popc(below)) % tree_nodes;
            }
        }
#pragma unroll
        for (uint32_t k = 0; k < together; k++)
            out[first + q + k] = node[k];
    }
}

__global__ void k64a(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    search_tree<1>(in, out);
}

__global__ void k64b(const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    search_tree<8>(in, out);
}

static Case k64(
    "k64", [](const Memory &m) { k64a<<<m.sms * 8, 256>>>(m.in, m.out); },
    [](const Memory &m) { k64b<<<m.sms * 8, 256>>>(m.in, m.out); });

// `out` may be the same memory as the inputs, for all that the compiler knows.
__global__ void k65a(const uint32_t *index, const uint32_t *in, uint32_t *out)
{
    uint32_t first = blockIdx.x * blockDim.x * 8 + threadIdx.x;
#pragma unroll
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t i = first + k * 256;
        out[i] = in[beside(i, index[i])] * 3;
    }
}

__global__ void k65b(const uint32_t *__restrict__ index, const uint32_t *__restrict__ in, uint32_t *__restrict__ out)
{
    uint32_t first = blockIdx.x * blockDim.x * 8 + threadIdx.x;
#pragma unroll
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t i = first + k * 256;
        out[i] = in[beside(i, index[i])] * 3;
    }
}

static Case k65(
    "k65", [](const Memory &m) { k65a<<<gathers / 2048, 256>>>(m.in, m.in + gathers, m.out); },
    [](const Memory &m) { k65b<<<gathers / 2048, 256>>>(m.in, m.in + gathers, m.out); });

constexpr uint32_t depth = 512;

__global__ void k68a(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    uint32_t row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 8
    for (uint32_t k = 0; k < depth; k++)
        sum += a[k * product_side + row] * b[k * product_side + column];
    c[row * product_side + column] = sum;
}

__global__ void __launch_bounds__(256, 2)
    k68b(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    product(Floats{a, product_side}, Floats{b, product_side}, c, depth, blockIdx.y * 128, blockIdx.x * 128,
            product_side);
}

static Case k68(
    "k68",
    [](const Memory &m) {
        k68a<<<dim3(product_side / 32, product_side / 8), dim3(32, 8)>>>(m.numbers, m.numbers + words / 2,
                                                                         (float *)m.out);
    },
    [](const Memory &m) {
        k68b<<<dim3(product_side / 128, product_side / 128), 256>>>(m.numbers, m.numbers + words / 2, (float *)m.out);
    });

constexpr uint32_t image = 4096; // pixels in a line
constexpr uint32_t taps = 7;

__device__ constexpr float weight(uint32_t y, uint32_t x)
{
    return (float)((y * taps + x) % 5 + 1);
}

// Eight lines of results for each thread, from a part of the image in shared memory.
__global__ void k69a(const float *__restrict__ in, float *__restrict__ out)
{
    constexpr uint32_t wide = 32 + taps - 1, high = 64 + taps - 1;
    __shared__ float part[high][wide];
    uint32_t left = blockIdx.x * 32, top = blockIdx.y * 64;
    for (uint32_t i = threadIdx.y * 32 + threadIdx.x; i < wide * high; i += 256)
        part[i / wide][i % wide] = in[(top + i / wide) * image + left + i % wide];
    __syncthreads();
    float sum[8] = {};
#pragma unroll
    for (uint32_t y = 0; y < 8 + taps - 1; y++) {
#pragma unroll
        for (uint32_t x = 0; x < taps; x++) {
            float v = part[threadIdx.y * 8 + y][threadIdx.x + x];
#pragma unroll
            for (uint32_t k = 0; k < 8; k++) {
                if (y >= k && y - k < taps)
                    sum[k] += v * weight(y - k, x);
            }
        }
    }
#pragma unroll
    for (uint32_t k = 0; k < 8; k++)
        out[(top + threadIdx.y * 8 + k) * image + left + threadIdx.x] = sum[k];
}

__global__ void k69b(const float *__restrict__ in, float *__restrict__ out)
{
    const float *mine = in + (blockIdx.y * 8 + threadIdx.y) * image + blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (uint32_t y = 0; y < taps; y++) {
#pragma unroll
        for (uint32_t x = 0; x < taps; x++)
            sum += mine[y * image + x] * weight(y, x);
    }
    out[(blockIdx.y * 8 + threadIdx.y) * image + blockIdx.x * 32 + threadIdx.x] = sum;
}

static Case k69(
    "k69", [](const Memory &m) { k69a<<<dim3(image / 32, image / 64), dim3(32, 8)>>>(m.numbers, (float *)m.out); },
    [](const Memory &m) { k69b<<<dim3(image / 32, image / 8), dim3(32, 8)>>>(m.numbers, (float *)m.out); });

constexpr uint32_t tiles = 32;                       // of a table of 256 MB
constexpr uint32_t tile_sectors = words / 8 / tiles; // of 32 bytes
constexpr uint32_t visits = 1 << 21;                 // of sectors, in each tile

// Two threads read a sector; visit v of all is in tile v % tiles, or in tile v / visits.
template <bool in_turn> __device__ inline void visit_all(const uint4 *in, uint32_t *out)
{
    uint32_t sum = 0;
#pragma unroll 4
    for (uint32_t k = 0; k < 2 * tiles * visits / at_once; k++) {
        uint32_t i = thread() + k * at_once;
        uint32_t v = i / 2, tile = in_turn ? v % tiles : v / visits, turn = in_turn ? v / tiles : v % visits;
        uint32_t sector = tile * tile_sectors + mix(turn * tiles + tile) % tile_sectors;
        uint4 x = in[sector * 2 + i % 2];
        sum += (x.x ^ x.y) + (x.z ^ x.w);
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

__global__ void k70a(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    visit_all<false>(in, out);
}

__global__ void k70b(const uint4 *__restrict__ in, uint32_t *__restrict__ out)
{
    visit_all<true>(in, out);
}

static Case k70(
    "k70", [](const Memory &m) { k70a<<<at_once / 256, 256>>>((const uint4 *)m.in, m.out); },
    [](const Memory &m) { k70b<<<at_once / 256, 256>>>((const uint4 *)m.in, m.out); });

constexpr uint32_t planes = 16;
constexpr uint32_t plane = words / 4 / planes; // of four words

// The seven planes around z, added up.
__device__ inline void blur(const uint4 *in, uint4 *out, uint32_t z, uint32_t i)
{
    uint4 sum = {};
#pragma unroll
    for (uint32_t k = 0; k < 7; k++) {
        uint4 v = in[(z + planes - 3 + k) % planes * plane + i];
        sum.x += v.x * (k + 1);
        sum.y += v.y * (k + 1);
        sum.z += v.z * (k + 1);
        sum.w += v.w * (k + 1);
    }
    out[z * plane + i] = sum;
}

__global__ void k71a(const uint4 *__restrict__ in, uint4 *__restrict__ out)
{
    blur(in, out, thread() / plane, thread() % plane);
}

__global__ void k71b(const uint4 *__restrict__ in, uint4 *__restrict__ out)
{
    blur(in, out, threadIdx.x / 32, blockIdx.x * 32 + threadIdx.x % 32);
}

static Case k71(
    "k71", [](const Memory &m) { k71a<<<words / 4 / 512, 512>>>((const uint4 *)m.in, (uint4 *)m.out); },
    [](const Memory &m) { k71b<<<words / 4 / 512, 512>>>((const uint4 *)m.in, (uint4 *)m.out); });
