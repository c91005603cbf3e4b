// fft: cuFFT transforms in four streams at once, there and back; the last line is a sum over all results.
#include <cufft.h>
#include <memory>

#include "../../data/captures/workloads/check.cuh"

constexpr int n = 1 << 14, batch = 64, streams = 4, rounds = 6;

static void check(cufftResult status)
{
    if (status != CUFFT_SUCCESS) {
        fprintf(stderr, "fft: cuFFT answers %d\n", static_cast<int>(status));
        exit(2);
    }
}

__global__ void scale(cufftComplex *a, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        a[i] = make_cuComplex(a[i].x / n, a[i].y / n);
}

int main()
{
    std::vector<float> values = fill<float>(2 * n * batch, [](size_t i) { return small_int(i); });
    std::vector<cufftHandle> plans(streams);
    std::vector<cudaStream_t> of(streams);
    std::vector<std::unique_ptr<Buffer<float>>> data;
    for (int s = 0; s < streams; s++) {
        data.push_back(std::make_unique<Buffer<float>>(values));
        CHECK(cudaStreamCreate(&of[s]));
        check(cufftPlan1d(&plans[s], n, CUFFT_C2C, batch));
        check(cufftSetStream(plans[s], of[s]));
    }
    for (int k = 0; k < rounds; k++)
        for (int s = 0; s < streams; s++) {
            auto *a = reinterpret_cast<cufftComplex *>(data[s]->get());
            check(cufftExecC2C(plans[s], a, a, CUFFT_FORWARD));
            check(cufftExecC2C(plans[s], a, a, CUFFT_INVERSE));
            scale<<<n * batch / 256, 256, 0, of[s]>>>(a, n * batch);
        }
    finish();
    double sum = 0;
    for (int s = 0; s < streams; s++)
        for (float v : data[s]->download())
            sum += v;
    printf("fft: %.6f\n", sum);
    return 0;
}
