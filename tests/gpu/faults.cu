// faults: six launches, each waited for, and then an end: `exit` without exit handlers, `kill` by a signal, `fork` of a
// child that stays for a while, `trap` in a kernel. `orphan` kills its parent, after two seconds in which that can write what
// it was sent, and launches on without it.
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

static void launch(const Buffer<float> &values)
{
    for (int i = 0; i < launches; i++) {
        add<<<count / block, block>>>(values.get());
        finish();
    }
}

static void outlive_parent()
{
    pid_t parent = getppid();
    sleep(2);
    kill(parent, SIGKILL);
    while (getppid() == parent)
        usleep(1000);
}

int main(int argc, char **argv)
{
    std::string how = argc > 1 ? argv[1] : "";
    Buffer<float> values(count);
    launch(values);
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
    if (how == "orphan") {
        outlive_parent();
        launch(values);
        expect("faults", values.download(), [](size_t) { return 2 * launches; });
        passed("faults", "six launches more");
    }
    if (how == "trap") {
        crash<<<1, 1>>>();
        return cudaDeviceSynchronize() == cudaSuccess ? 9 : 5;
    }
    return 0;
}
