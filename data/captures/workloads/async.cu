// async: copies from global to shared memory that bypass the registers: by 16 bytes a thread, double buffered
// (LDGSTS), and in bulk, by one thread for the whole block, on a barrier that counts bytes (UBLKCP), there and back.
// Meant to move LDGSTS and bulk-copy traffic, mbarrier instructions and waits, and L1 bypass counters.
#include "check.cuh"

#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_pipeline.h>

constexpr int threads = 256;
constexpr int chunks = 16;
constexpr int blocks = 128;
constexpr int per_block = chunks * threads;
constexpr size_t count = size_t(blocks) * per_block;

// Each chunk of 256 comes out reversed, so that threads need what others have copied.
__global__ void staged(const int4 *in, int4 *out)
{
    __shared__ int4 stage[2][threads];
    int thread = threadIdx.x;
    const int4 *from = in + size_t(blockIdx.x) * per_block;
    int4 *to = out + size_t(blockIdx.x) * per_block;

    __pipeline_memcpy_async(&stage[0][thread], &from[thread], sizeof(int4));
    __pipeline_commit();
    for (int k = 0; k < chunks; k++) {
        if (k + 1 < chunks)
            __pipeline_memcpy_async(&stage[(k + 1) % 2][thread], &from[(k + 1) * threads + thread], sizeof(int4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        to[k * threads + thread] = stage[k % 2][threads - 1 - thread];
        __syncthreads();
    }
}

// Each chunk of 256 comes out with its index in the chunk added to x.
__global__ void bulk(const int4 *in, int4 *out)
{
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(128) int4 stage[threads];
    __shared__ alignas(Barrier) unsigned char storage[sizeof(Barrier)];
    Barrier &ready = *reinterpret_cast<Barrier *>(storage);
    int thread = threadIdx.x;

    if (thread == 0) {
        init(&ready, threads);
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
    for (int k = 0; k < chunks; k++) {
        size_t at = size_t(blockIdx.x) * per_block + k * threads;
        Barrier::arrival_token token;
        if (thread == 0) {
            cuda::device::memcpy_async_tx(stage, in + at, cuda::aligned_size_t<16>(sizeof stage), ready);
            token = cuda::device::barrier_arrive_tx(ready, 1, sizeof stage);
        } else {
            token = ready.arrive();
        }
        ready.wait(std::move(token));
        stage[thread].x += thread;
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
        __syncthreads();
        if (thread == 0) {
            cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out + at, stage, sizeof stage);
            cuda::ptx::cp_async_bulk_commit_group();
            cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
        }
    }
}

void check(const char *what, const Buffer<int4> &buffer, int (*want_x)(size_t))
{
    auto out = buffer.download();
    expect(what, fill<int>(count, [&](size_t i) { return out[i].x; }), want_x);
}

int main()
{
    std::vector<int4> in(count);
    for (size_t i = 0; i < count; i++)
        in[i] = {int(i), small_int(i), 1, 2};
    Buffer<int4> device_in(in), reversed(count), indexed(count);

    staged<<<blocks, threads>>>(device_in.get(), reversed.get());
    bulk<<<blocks, threads>>>(device_in.get(), indexed.get());
    finish();

    check("async: staged", reversed, [](size_t i) { return int(i / threads * threads + threads - 1 - i % threads); });
    check("async: bulk", indexed, [](size_t i) { return int(i + i % threads); });
    return passed("async", "524288 int4 staged and in bulk");
}
