// blas: a hundred matrix products by cuBLAS, without a wait between them. Each adds the same to c.
#include <cublas_v2.h>

#include "../../data/captures/workloads/check.cuh"

constexpr int n = 1024, products = 100;

static void check(cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "blas: cuBLAS answers %d\n", static_cast<int>(status));
        exit(2);
    }
}

int main()
{
    const float one = 1;
    auto value = [](size_t i) { return small_int(i); };
    std::vector<float> half = fill<float>(n * n, value);
    Buffer<float> a(half), b(fill<float>(n * n, [](size_t i) { return i / n == i % n; })), c(n * n);
    cublasHandle_t handle;
    check(cublasCreate(&handle));
    for (int i = 0; i < products; i++)
        check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.get(), n, b.get(), n, &one, c.get(), n));
    expect("blas", c.download(), [&](size_t i) { return products * value(i); });
    return passed("blas", "a hundred products with the identity");
}
