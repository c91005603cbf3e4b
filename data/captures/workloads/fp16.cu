// fp16: fused multiply-adds on pairs of half and of bfloat16, two results an instruction, and conversions from and to
// FP32. Meant to move the FP16 pipe, HFMA2 and its operation counts, and the conversion pipe.
#include "check.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int count = 1 << 17;
constexpr int threads = 256;
constexpr int steps = 1024;

__device__ half2 pack(float low, float high, half2)
{
    return __floats2half2_rn(low, high);
}

__device__ __nv_bfloat162 pack(float low, float high, __nv_bfloat162)
{
    return __floats2bfloat162_rn(low, high);
}

__device__ float2 unpack(half2 pair)
{
    return __half22float2(pair);
}

__device__ float2 unpack(__nv_bfloat162 pair)
{
    return __bfloat1622float2(pair);
}

// y = y / 2 + x, again and again: with x a multiple of 1/8 below 1, y nears 2 x.
template <typename Pair> __global__ void settle(const float2 *in, float2 *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    float2 value = in[i];
    Pair x = pack(value.x, value.y, Pair()), factor = pack(0.5f, 0.5f, Pair()), y = pack(0.0f, 0.0f, Pair());
    for (int k = 0; k < steps; k++)
        y = __hfma2(y, factor, x);
    out[i] = unpack(y);
}

template <typename Pair> void run(const char *what, const std::vector<float2> &in, double tolerance)
{
    Buffer<float2> device_in(in), device_out(in.size());
    settle<Pair><<<count / threads, threads>>>(device_in.get(), device_out.get());
    finish();
    auto out = device_out.download();
    auto side = [&](float float2::*member) {
        expect(what, fill<float>(count, [&](size_t i) { return out[i].*member; }),
               [&](size_t i) { return 2 * (in[i].*member); }, tolerance);
    };
    side(&float2::x);
    side(&float2::y);
}

int main()
{
    std::vector<float2> in(count);
    for (int i = 0; i < count; i++)
        in[i] = {small_int(i) / 8.0f, small_int(i + count) / 8.0f};

    run<half2>("fp16: half", in, 0.002);
    run<__nv_bfloat162>("fp16: bfloat16", in, 0.016);
    return passed("fp16", "131072 pairs of half and of bfloat16");
}
