// options [MS [COMMAND [STEPS]]]: three parts under NVTX, each of STEPS steps (4) with a kernel of the part's name.
// Part `second` is between cudaProfilerStart and cudaProfilerStop. Part N begins N * MS milliseconds after the program,
// and the program prints its name at its end. COMMAND runs MS after the last one. The last line depends on STEPS alone.
#include "../../data/captures/workloads/check.cuh"

#include <chrono>
#include <string>
#include <thread>

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

constexpr int blocks = 512, threads = 256;

__device__ void turn(unsigned *a, unsigned by)
{
    unsigned *own = a + blockIdx.x * threads + threadIdx.x, value = *own;
    for (int i = 0; i < 2000; i++)
        value = value * 1664525u + by;
    *own = value;
}

__global__ void first(unsigned *a) { turn(a, 1); }
__global__ void second(unsigned *a) { turn(a, 2); }
__global__ void third(unsigned *a) { turn(a, 3); }

int main(int argc, char **argv)
{
    const auto began = std::chrono::steady_clock::now();
    const std::chrono::milliseconds gap(argc > 1 ? atoi(argv[1]) : 0);
    const int steps = argc > 3 ? atoi(argv[3]) : 4;
    void (*const kernels[])(unsigned *) = {first, second, third};
    const char *const names[] = {"first", "second", "third"};
    // memory of zeros is restored without a copy
    Buffer<unsigned> a(fill<unsigned>(blocks * threads, [](size_t i) { return static_cast<unsigned>(i) + 1; }));
    unsigned sum = 0;
    for (int part = 0; part < 3; part++) {
        std::this_thread::sleep_until(began + (part + 1) * gap);
        if (part == 1)
            CHECK(cudaProfilerStart());
        nvtxRangePushA(names[part]);
        for (int step = 1; step <= steps; step++) {
            nvtxRangePushA(("step " + std::to_string(step)).c_str());
            kernels[part]<<<blocks, threads>>>(a.get());
            finish();
            std::this_thread::sleep_for(std::chrono::milliseconds(2)); // samples over time
            nvtxRangePop();
        }
        nvtxRangePop();
        CHECK(cudaProfilerStop());
        puts(names[part]);
        fflush(stdout);
    }
    if (argc > 2)
        std::this_thread::sleep_until(began + 4 * gap);
    const int status = argc > 2 ? system(argv[2]) : 0;
    for (unsigned value : a.download())
        sum += value;
    printf("options: %u\n", sum);
    return status != 0;
}
