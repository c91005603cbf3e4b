// faults: six launches, each waited for, and then an end: `exit` without exit handlers, `kill` by a signal, `fork` of a
// child that stays for a while, `trap` in a kernel.
#include "../../data/captures/workloads/check.cuh"

#include <csignal>
#include <string>
#include <unistd.h>

constexpr int count = 1 << 14, block = 256, launches = 6;

__global__ void add(float *values)
{
    values[blockIdx.x * block + threadIdx.x] += 1;
}

__global__ void crash()
{
    asm("trap;");
}

int main(int argc, char **argv)
{
    std::string how = argc > 1 ? argv[1] : "";
    Buffer<float> values(count);
    for (int i = 0; i < launches; i++) {
        add<<<count / block, block>>>(values.get());
        finish();
    }
    expect("faults", values.download(), [](size_t) { return launches; });
    passed("faults", "six launches");
    fflush(stdout);
    if (how == "exit")
        _exit(4);
    if (how == "kill")
        raise(SIGKILL);
    if (how == "fork" && fork() == 0) {
        sleep(5);
        _exit(0);
    }
    if (how == "trap") {
        crash<<<1, 1>>>();
        return cudaDeviceSynchronize() == cudaSuccess ? 9 : 5;
    }
    return 0;
}
