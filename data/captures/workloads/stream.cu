// stream: vector add by single floats, then a triad by float4, over arrays that together fill most of the L2.
// Meant to move DRAM and L2 traffic, fully coalesced sectors per request (4 and 16 for one warp), LSU instructions
// and memory stalls; hardly any arithmetic.
#include "check.cuh"

constexpr size_t count = 1 << 22;
constexpr int threads = 256;
constexpr float scale = 3.0f;

__global__ void add(const float *a, const float *b, float *out)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}

__global__ void triad(const float4 *a, const float4 *b, float4 *out)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    float4 x = a[i], y = b[i];
    out[i] = make_float4(x.x + scale * y.x, x.y + scale * y.y, x.z + scale * y.z, x.w + scale * y.w);
}

int main()
{
    static_assert(count % (4 * threads) == 0, "the kernels have no bounds checks");
    auto a = fill<float>(count, [](size_t i) { return small_int(i); });
    auto b = fill<float>(count, [](size_t i) { return small_int(i + count); });
    Buffer<float> device_a(a), device_b(b), sum(count), scaled(count);

    add<<<count / threads, threads>>>(device_a.get(), device_b.get(), sum.get());
    triad<<<count / 4 / threads, threads>>>(reinterpret_cast<const float4 *>(device_a.get()),
                                            reinterpret_cast<const float4 *>(device_b.get()),
                                            reinterpret_cast<float4 *>(scaled.get()));
    finish();

    expect("stream: add", sum.download(), [&](size_t i) { return a[i] + b[i]; });
    expect("stream: triad", scaled.download(), [&](size_t i) { return a[i] + scale * b[i]; });
    return passed("stream", "add and triad of 4194304 floats");
}
