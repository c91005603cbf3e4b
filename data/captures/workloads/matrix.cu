// matrix: small matrix products by every kind of tensor-core instruction, with ldmatrix and stmatrix. The operands are
// constant, so that the result does not depend on how a fragment is laid out. Meant to move the tensor pipes and the
// matrix loads and stores of shared memory.
#include "check.cuh"

constexpr int warps = 4, rounds = 64, blocks = 132;

__device__ unsigned shared_address(const void *p)
{
    return unsigned(__cvta_generic_to_shared(p));
}

// D = A * B + D with A of 2s and B of 3s; every element of D ends as 6 * k * rounds.
__global__ void f64(double *out)
{
    double d0 = 0, d1 = 0, a = 2, b = 3;
    for (int i = 0; i < rounds; i++)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(d0), "+d"(d1)
                     : "d"(a), "d"(b));
    out[blockIdx.x * blockDim.x + threadIdx.x] = d0 + d1;
}

__global__ void s8(int *out)
{
    int d[4] = {0, 0, 0, 0};
    unsigned a = 0x02020202, b = 0x03030303;
    for (int i = 0; i < rounds; i++)
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a), "r"(b));
    out[blockIdx.x * blockDim.x + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

__global__ void bf16(float *out)
{
    float d[4] = {0, 0, 0, 0};
    unsigned a = 0x40004000, b = 0x40404040; // 2 and 3
    for (int i = 0; i < rounds; i++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a), "r"(b));
    out[blockIdx.x * blockDim.x + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

// Fragments by ldmatrix from shared memory, and the same words back by stmatrix.
__global__ void fragments(unsigned *out)
{
    __shared__ alignas(16) unsigned from[warps * 32 * 4], to[warps * 32 * 4];
    unsigned *in = &from[threadIdx.x / 32 * 128], *back = &to[threadIdx.x / 32 * 128];
    for (int i = 0; i < 4; i++)
        in[threadIdx.x % 32 * 4 + i] = mix(blockIdx.x * blockDim.x * 4 + threadIdx.x * 4 + i);
    __syncwarp();
    unsigned r[4], source = shared_address(in + threadIdx.x % 32 * 4), target = shared_address(back + threadIdx.x % 32 * 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(source));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0,%1,%2,%3};" ::"r"(r[0]), "r"(r[1]), "r"(r[2]),
                 "r"(r[3]), "r"(target)
                 : "memory");
    __syncwarp();
    for (int i = 0; i < 4; i++)
        out[(blockIdx.x * blockDim.x + threadIdx.x) * 4 + i] = back[threadIdx.x % 32 * 4 + i];
}

// A warpgroup's product of f16 matrices in shared memory: D is 64 by 8, k is 16. All elements are alike.
__global__ void warpgroup(float *out)
{
    __shared__ alignas(128) unsigned short a[64 * 16], b[16 * 8];
    for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x)
        a[i] = 0x4000; // 2
    for (int i = threadIdx.x; i < 16 * 8; i += blockDim.x)
        b[i] = 0x4200; // 3
    __syncthreads();
    asm volatile("fence.proxy.async;" ::: "memory");
    // address, leading and stride offset in units of 16 bytes; no swizzle
    auto describe = [](const void *p) {
        return (unsigned long long)(shared_address(p) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32;
    };
    unsigned long long da = describe(a), db = describe(b);
    float d[4] = {0, 0, 0, 0};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < rounds; i++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "l"(da), "l"(db));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    out[blockIdx.x * blockDim.x + threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

int main()
{
    constexpr int threads = warps * 32, all = blocks * threads;
    Buffer<double> d(all);
    Buffer<int> i(all);
    Buffer<float> b(all), w(all);
    Buffer<unsigned> f(all * 4);
    f64<<<blocks, threads>>>(d.get());
    s8<<<blocks, threads>>>(i.get());
    bf16<<<blocks, threads>>>(b.get());
    fragments<<<blocks, threads>>>(f.get());
    warpgroup<<<blocks, threads>>>(w.get());
    finish();
    expect("matrix: f64", d.download(), [](size_t) { return 2 * 6 * 4 * rounds; });
    expect("matrix: s8", i.download(), [](size_t) { return 4 * 6 * 32 * rounds; });
    expect("matrix: bf16", b.download(), [](size_t) { return 4 * 6 * 16 * rounds; });
    expect("matrix: fragments", f.download(), [](size_t at) { return mix(uint32_t(at)); });
    expect("matrix: warpgroup", w.download(), [](size_t) { return 4 * 6 * 16 * rounds; });
    return passed("matrix", "f64, s8, bf16 and f16 products, matrix loads and stores");
}
