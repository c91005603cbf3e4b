// gpus: every GPU of the node at once, from a thread each: five steps of two kernels, under an NVTX range each.
// `gpus one` drives them from one thread, `gpus apart` starts a process for each that sees no other GPU.
#include "check.cuh"

#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

constexpr int count = 1 << 18;
constexpr int threads = 256;
constexpr int steps = 5;

__global__ void scale(float *p, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = p[i] * by + 1.0f;
}

__global__ void shift(float *p, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; i < n && k < 200; k++)
        p[i] += by;
}

static float *prepare(int gpu)
{
    float *p;
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMalloc(&p, count * sizeof *p));
    CHECK(cudaMemset(p, 0, count * sizeof *p));
    return p;
}

static void step(int gpu, float *p, int number)
{
    CHECK(cudaSetDevice(gpu));
    nvtxRangePushA(("step " + std::to_string(number) + " of gpu " + std::to_string(gpu)).c_str());
    scale<<<count / threads, threads>>>(p, count, 2.0f);
    shift<<<count / threads, threads>>>(p, count, 0.5f);
    CHECK(cudaGetLastError());
    nvtxRangePop();
}

static void check(int gpu, const float *p)
{
    std::vector<float> got(count);
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMemcpy(got.data(), p, count * sizeof *p, cudaMemcpyDeviceToHost));
    float want = 0;
    for (int i = 0; i < steps; i++)
        want = want * 2 + 1 + 100;
    expect("gpus", got, [&](size_t) { return want; });
}

static void work(int gpu)
{
    float *p = prepare(gpu);
    for (int i = 0; i < steps; i++) {
        step(gpu, p, i);
        CHECK(cudaDeviceSynchronize());
    }
    check(gpu, p);
}

// The parent uses no CUDA. Its children know of one GPU each, and their number as a parallel job would tell them.
static int apart(const char *program)
{
    int failed = 0;
    for (int i = 0; i < 2; i++) {
        if (fork() != 0)
            continue;
        std::string number = std::to_string(i);
        setenv("CUDA_VISIBLE_DEVICES", number.c_str(), 1);
        setenv("OMPI_COMM_WORLD_RANK", number.c_str(), 1);
        execl("/proc/self/exe", program, static_cast<char *>(nullptr));
        _exit(2);
    }
    for (int status; wait(&status) > 0;)
        failed |= status;
    return failed != 0;
}

int main(int argc, char **argv)
{
    std::string how = argc > 1 ? argv[1] : "";
    if (how == "apart")
        return apart(argv[0]);
    int gpus = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    if (how == "one") {
        std::vector<float *> p;
        for (int gpu = 0; gpu < gpus; gpu++)
            p.push_back(prepare(gpu));
        for (int i = 0; i < steps; i++)
            for (int gpu = 0; gpu < gpus; gpu++)
                step(gpu, p[gpu], i);
        for (int gpu = 0; gpu < gpus; gpu++)
            check(gpu, p[gpu]);
    } else {
        std::vector<std::thread> all;
        for (int gpu = 0; gpu < gpus; gpu++)
            all.emplace_back(work, gpu);
        for (auto &one : all)
            one.join();
    }
    return passed("gpus", "five steps on each GPU");
}
