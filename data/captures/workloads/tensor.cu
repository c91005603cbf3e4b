// tensor: matrix products by warps on the tensor cores, one kernel for each input type: half, bfloat16, TF32, int8
// and double. Meant to move the tensor pipes (HMMA, IMMA, DMMA) and their operation counts by type; the inputs are
// small integers, so every type must give the same product.
#include "check.cuh"

#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

constexpr int n = 512;
constexpr int warps = 4;

// One M by N tile of the product for each warp; Input is how the fragments see what Stored holds.
template <typename Input, typename Stored, typename Sum, int M, int N, int K>
__global__ void product(const Stored *a, const Stored *b, Sum *c)
{
    int warp = blockIdx.x * warps + threadIdx.x / 32;
    int row = warp / (n / N) * M, col = warp % (n / N) * N;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    wmma::fill_fragment(sum, Sum(0));
    for (int k = 0; k < n; k += K) {
        wmma::fragment<wmma::matrix_a, M, N, K, Input, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, M, N, K, Input, wmma::row_major> right;
        wmma::load_matrix_sync(left, a + row * n + k, n);
        wmma::load_matrix_sync(right, b + k * n + col, n);
        if constexpr (std::is_same_v<Input, wmma::precision::tf32>) {
            for (float &value : left.x)
                value = wmma::__float_to_tf32(value);
            for (float &value : right.x)
                value = wmma::__float_to_tf32(value);
        }
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

template <typename Input, typename Stored, typename Sum, int M, int N, int K>
void run(const char *what, const std::vector<float> &a, const std::vector<float> &b, const std::vector<float> &want)
{
    Buffer<Stored> device_a(fill<Stored>(a.size(), [&](size_t i) { return a[i]; }));
    Buffer<Stored> device_b(fill<Stored>(b.size(), [&](size_t i) { return b[i]; }));
    Buffer<Sum> device_c(n * n);

    product<Input, Stored, Sum, M, N, K>
        <<<(n / M) * (n / N) / warps, warps * 32>>>(device_a.get(), device_b.get(), device_c.get());
    finish();
    expect(what, device_c.download(), [&](size_t i) { return want[i]; });
}

int main()
{
    auto a = fill<float>(n * n, small_int);
    auto b = fill<float>(n * n, [](size_t i) { return small_int(i + n * n); });
    auto want = reference_product(a, b, n);

    run<half, half, float, 16, 16, 16>("tensor: half", a, b, want);
    run<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16>("tensor: bfloat16", a, b, want);
    run<wmma::precision::tf32, float, float, 16, 16, 8>("tensor: TF32", a, b, want);
    run<signed char, signed char, int, 16, 16, 16>("tensor: int8", a, b, want);
    run<double, double, double, 8, 8, 4>("tensor: double", a, b, want);
    return passed("tensor", "512 by 512 products in half, bfloat16, TF32, int8 and double");
}
