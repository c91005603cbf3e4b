// fp64: double precision: a polynomial by fused multiply-adds, separate adds and multiplications, and the special
// functions (square root, division, exponential, sine, logarithm).
// Meant to move the FP64 pipe and the counts of DFMA, DADD and DMUL, and MUFU's 64-bit seeds.
#include "check.cuh"

constexpr int count = 1 << 16;
constexpr int threads = 128;
constexpr int steps = 256;

__host__ __device__ double argument(size_t i)
{
    return 0.5 + double(mix(uint32_t(i)) % 100000) / 100000;
}

__host__ __device__ double horner(double x)
{
    double sum = 1;
    for (int k = 0; k < steps; k++)
        sum = fma(sum, x * 0.5, 1.0 + k * 0.125);
    return sum;
}

__global__ void polynomial(double *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = horner(argument(i));
}

// The intrinsics keep the compiler from fusing them.
__global__ void separate(double *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    double x = argument(i), sum = 0;
    for (int k = 0; k < steps; k++)
        sum = __dadd_rn(__dmul_rn(sum, 0.75), x);
    out[i] = sum;
}

double separate_reference(double x)
{
    volatile double product = 0;
    double sum = 0;
    for (int k = 0; k < steps; k++) {
        product = sum * 0.75;
        sum = product + x;
    }
    return sum;
}

__host__ __device__ double functions(double x)
{
    return sqrt(x) + exp(-x) / (1 + x * x) + sin(3 * x) * log(x + 1);
}

__global__ void special(double *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = functions(argument(i));
}

int main()
{
    Buffer<double> polynomials(count), sums(count), values(count);

    polynomial<<<count / threads, threads>>>(polynomials.get());
    separate<<<count / threads, threads>>>(sums.get());
    special<<<count / threads, threads>>>(values.get());
    finish();

    expect("fp64: polynomial", polynomials.download(), [](size_t i) { return horner(argument(i)); }, 1e-12);
    expect("fp64: separate", sums.download(), [](size_t i) { return separate_reference(argument(i)); }, 1e-13);
    expect("fp64: special", values.download(), [](size_t i) { return functions(argument(i)); }, 1e-13);
    return passed("fp64", "65536 polynomials, sums and special functions");
}
