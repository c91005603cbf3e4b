// integer: the integer instructions beyond plain addition: multiply-add in 32 and 64 bits and the high half (IMAD),
// bit counts, reversal, fields and funnel shifts, byte permutation, and dot products of four bytes (IDP).
// Meant to move the ALU, the FMA pipe's integer half, and the slow pipe that counts bits.
#include "check.cuh"

constexpr int count = 1 << 16;
constexpr int threads = 256;
constexpr int steps = 64;

__device__ uint32_t multiply(uint32_t x, uint32_t y)
{
    uint64_t wide = uint64_t(x) * y + x;
    return x * y + __umulhi(x, ~y) + uint32_t(wide >> 24);
}

uint32_t multiply_reference(uint32_t x, uint32_t y)
{
    return x * y + uint32_t((uint64_t(x) * uint32_t(~y)) >> 32) + uint32_t((uint64_t(x) * y + x) >> 24);
}

__device__ uint32_t bits(uint32_t x, uint32_t y)
{
    uint32_t field;
    asm("bfe.u32 %0, %1, 5, 9;" : "=r"(field) : "r"(y));
    uint32_t counts = __popc(x) + (__clz(y) << 8) + (__ffs(x) << 16);
    return counts + (__brev(x) ^ __funnelshift_l(x, y, 7)) + field;
}

uint32_t bits_reference(uint32_t x, uint32_t y)
{
    uint32_t reversed = 0;
    for (int k = 0; k < 32; k++)
        reversed |= (x >> k & 1) << (31 - k);
    int leading = y ? __builtin_clz(y) : 32;
    uint32_t counts = __builtin_popcount(x) + (leading << 8) + (__builtin_ffs(int(x)) << 16);
    return counts + (reversed ^ (y << 7 | x >> 25)) + (y >> 5 & 0x1ff);
}

__device__ uint32_t bytes(uint32_t x, uint32_t y)
{
    uint32_t mixed = __byte_perm(x, y, 0x2461);
    int product = __dp4a(int(x), int(y), 17);
    return mixed + uint32_t(product) * 256 + __dp4a(x, y, 3u) + __usad(x, y, 1u);
}

uint32_t bytes_reference(uint32_t x, uint32_t y)
{
    const int order[] = {1, 6, 4, 2};
    uint64_t both = uint64_t(y) << 32 | x;
    uint32_t mixed = 0, unsigned_product = 3;
    int product = 17;
    for (int k = 0; k < 4; k++) {
        mixed |= uint32_t(both >> (8 * order[k]) & 0xff) << (8 * k);
        product += int8_t(x >> (8 * k)) * int8_t(y >> (8 * k));
        unsigned_product += uint8_t(x >> (8 * k)) * uint8_t(y >> (8 * k));
    }
    return mixed + uint32_t(product) * 256 + unsigned_product + (x > y ? x - y : y - x) + 1;
}

using Operation = uint32_t (*)(uint32_t, uint32_t);

template <Operation operation> __global__ void chain(uint32_t *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    uint32_t x = mix(i), y = ~i;
    for (int k = 0; k < steps; k++) {
        uint32_t next = operation(x, y);
        y = x + k;
        x = next;
    }
    out[i] = x;
}

uint32_t chain_reference(Operation operation, uint32_t i)
{
    uint32_t x = mix(i), y = ~i;
    for (int k = 0; k < steps; k++) {
        uint32_t next = operation(x, y);
        y = x + k;
        x = next;
    }
    return x;
}

template <Operation operation> void run(const char *what, Operation reference)
{
    Buffer<uint32_t> out(count);
    chain<operation><<<count / threads, threads>>>(out.get());
    finish();
    expect(what, out.download(), [&](size_t i) { return chain_reference(reference, uint32_t(i)); });
}

int main()
{
    run<multiply>("integer: multiply", multiply_reference);
    run<bits>("integer: bits", bits_reference);
    run<bytes>("integer: bytes", bytes_reference);
    return passed("integer", "65536 chains of multiplications, bit and byte operations");
}
