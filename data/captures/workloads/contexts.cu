// contexts [TURNS]: three contexts of one device, the primary one and two made with the driver's own calls, whose
// launches take turns. Each has a kernel and adds to memory of its own, so what it holds at the end says whether every
// launch counted once.
#include "check.cuh"

#include <cuda.h>

constexpr int count = 1 << 16;
constexpr int threads = 256;
constexpr int contexts = 3;

template <int context> __global__ void add(int *values, int much)
{
    values[blockIdx.x * threads + threadIdx.x] += much;
}

static void driver(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "contexts: the driver answers %d\n", static_cast<int>(result));
        exit(2);
    }
}

int main(int argc, char **argv)
{
    const int turns = argc > 1 ? atoi(argv[1]) : 2;
    void (*const kernels[contexts])(int *, int) = {add<0>, add<1>, add<2>};
    CUcontext context[contexts];
    CUdevice device;
    int *values[contexts], expected[contexts] = {};
    driver(cuInit(0));
    driver(cuDeviceGet(&device, 0));
    driver(cuDevicePrimaryCtxRetain(&context[0], device));
    for (int i = 1; i < contexts; i++)
        driver(cuCtxCreate(&context[i], nullptr, 0, device));
    for (int i = 0; i < contexts; i++) {
        driver(cuCtxSetCurrent(context[i]));
        CHECK(cudaMalloc(&values[i], count * sizeof(int)));
        CHECK(cudaMemset(values[i], 0, count * sizeof(int)));
    }
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < contexts; i++) {
            driver(cuCtxSetCurrent(context[i]));
            for (int k = 0; k <= i; k++) {
                kernels[i]<<<count / threads, threads>>>(values[i], k + 1);
                expected[i] += k + 1;
            }
        }
    bool right = true;
    for (int i = 0; i < contexts; i++) {
        std::vector<int> found(count);
        driver(cuCtxSetCurrent(context[i]));
        CHECK(cudaMemcpy(found.data(), values[i], count * sizeof(int), cudaMemcpyDeviceToHost));
        for (int value : found)
            right = right && value == expected[i];
    }
    finish();
    driver(cuCtxDestroy(context[2]));
    printf("contexts: memory: %s\n", right ? "right" : "wrong");
    return !right;
}
