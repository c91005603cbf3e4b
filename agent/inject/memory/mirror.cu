/* Kernels for mirror.c. mirror.ptx is made from this file: nvcc -ptx -arch=compute_75 mirror.cu, with the version and the
 * target of the oldest driver and GPU lowered by hand (.version 7.0, .target sm_70). */
#include <stdint.h>

enum { THREADS = 256, WARPS = THREADS / 32 };
#define ZERO (1u << 31) /* in the list: the chunk has nothing but zeros */

struct words { /* 16 bytes, read at once */
    uint64_t low, high;
};

static __device__ uint64_t turn(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

/* Each step is reversible in the state and in the word, so that two contents that differ in one word never agree. */
static __device__ void take(struct words *hash, uint64_t low, uint64_t high)
{
    hash->low = turn((hash->low ^ low) * 0x9fb21c651e98df25, 29);
    hash->high = turn((hash->high ^ high) * 0xd6e8feb86659fd93, 31) + hash->low;
}

static __device__ uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 33) * 0xff51afd7ed558ccd;
    value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53;
    return value ^ value >> 33;
}

/* The hash of this thread's words of a chunk. *any: bits that are set in some of them. */
static __device__ struct words hash_words(const uint8_t *from, uint32_t size, uint64_t *any)
{
    const uint64_t start = threadIdx.x * 0x9e3779b97f4a7c15;
    struct words hash = {start, ~start};
    const uint32_t whole = (uint64_t)from % 16 ? 0 : size / 16;
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < whole; i += THREADS) {
        const ulonglong2 w = __ldcs((const ulonglong2 *)from + i);
        take(&hash, w.x, w.y);
        *any |= w.x | w.y;
    }
    for (uint32_t i = 16 * whole + threadIdx.x; i < size; i += THREADS) {
        take(&hash, from[i], i);
        *any |= from[i];
    }
    return hash;
}

static __device__ void copy(uint8_t *to, const uint8_t *from, uint32_t size)
{
    const uint32_t whole = ((uint64_t)from | (uint64_t)to) % 16 ? 0 : size / 16;
    for (uint32_t i = threadIdx.x; i < whole; i += THREADS)
        ((ulonglong2 *)to)[i] = ((const ulonglong2 *)from)[i];
    for (uint32_t i = 16 * whole + threadIdx.x; i < size; i += THREADS)
        to[i] = from[i];
}

/* As in mirror.c. */
struct chunk {
    uint8_t *at, *slot;
    uint32_t size, changed;
};

/* A block for each chunk: lists it if its content has another hash than before. `keep`: the new hash counts from now on,
 * and the content is copied to the chunk's slot, unless that is `zeros`. list[0]: number of chunks behind it. */
extern "C" __global__ void __launch_bounds__(THREADS)
    check(const struct chunk *chunks, struct words *hashes, uint32_t *list, const uint8_t *zeros, uint32_t keep)
{
    __shared__ struct words parts[WARPS];
    __shared__ uint32_t differs;
    const struct chunk chunk = chunks[blockIdx.x];
    uint64_t any = 0;
    struct words hash = hash_words(chunk.at, chunk.size, &any);
    hash.low = mix(hash.low + threadIdx.x);
    hash.high = mix(hash.high ^ hash.low);
    for (int step = 16; step; step /= 2) {
        hash.low += __shfl_xor_sync(~0u, hash.low, step);
        hash.high += __shfl_xor_sync(~0u, hash.high, step);
    }
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = hash;
    const bool zero = !__syncthreads_or(any != 0);
    if (threadIdx.x == 0) {
        hash.low = hash.high = 0;
        for (int i = 0; i < WARPS; i++) {
            hash.low += parts[i].low;
            hash.high += parts[i].high;
        }
        hash.high |= 1; /* 0 is the hash of chunks that were never seen */
        differs = hash.low != hashes[blockIdx.x].low || hash.high != hashes[blockIdx.x].high;
        if (differs)
            list[1 + atomicAdd(list, 1)] = blockIdx.x | (zero ? ZERO : 0);
        if (differs && keep)
            hashes[blockIdx.x] = hash;
    }
    __syncthreads();
    if (differs && keep && chunk.slot && chunk.slot != zeros)
        copy(chunk.slot, chunk.at, chunk.size);
}

/* A block for each chunk of the list: copies it to its slot, or back. */
extern "C" __global__ void __launch_bounds__(THREADS)
    move(const struct chunk *chunks, const uint32_t *list, uint32_t back)
{
    const struct chunk chunk = chunks[list[1 + blockIdx.x] & ~ZERO];
    copy(back ? chunk.at : chunk.slot, back ? chunk.slot : chunk.at, chunk.size);
}
