// threads: three threads in one context. One launches kernels, one copies its own memory to the device and back, one
// captures graphs of copies and a kernel and launches them. Each checks what it finds in memory of its own. NVTX ranges
// are around the launches, and within the captures. Captures are local to their thread, or relaxed: `threads relaxed`.
#include "check.cuh"

#include <functional>
#include <string>
#include <thread>

#include <nvtx3/nvToolsExt.h>

constexpr int count = 1 << 16;
constexpr int block = 256;
constexpr int rounds = 12;
constexpr size_t most = 8 << 20;

__global__ void add(int *values, int much)
{
    values[blockIdx.x * block + threadIdx.x] += much;
}

// The default stream's work is not waited for by streams that do not block: buffers are made before.
struct Work {
    Buffer<int> launched{count}, copied{most}, values{count}, found{count};
    Buffer<int> from{fill<int>(count, [](size_t) { return 5; })};
};

static cudaStream_t make_stream()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static void launch(Work &work, cudaStream_t stream)
{
    for (int round = 0; round < rounds; round++) {
        nvtxRangePushA("launch");
        for (int k = 1; k <= 3; k++)
            add<<<count / block, block, 0, stream>>>(work.launched.get(), k);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(stream));
        nvtxRangePop();
    }
}

static void copy(Work &work)
{
    std::vector<int> host(most), back(most);
    for (int round = 1; round <= rounds; round++) {
        std::fill(host.begin(), host.end(), round);
        CHECK(cudaMemcpy(work.copied.get(), host.data(), most * sizeof(int), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(back.data(), work.copied.get(), most * sizeof(int), cudaMemcpyDeviceToHost));
        expect("copied", back, [&](size_t) { return round; });
    }
}

static void capture(Work &work, cudaStream_t stream, cudaStreamCaptureMode mode)
{
    const size_t bytes = count * sizeof(int);
    for (int round = 0; round < rounds; round++) {
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CHECK(cudaStreamBeginCapture(stream, mode));
        nvtxRangePushA("capture");
        CHECK(cudaMemcpyAsync(work.values.get(), work.from.get(), bytes, cudaMemcpyDeviceToDevice, stream));
        add<<<count / block, block, 0, stream>>>(work.values.get(), round);
        CHECK(cudaMemcpyAsync(work.found.get(), work.values.get(), bytes, cudaMemcpyDeviceToDevice, stream));
        nvtxRangePop();
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&executable, graph, 0));
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
        expect("captured", work.found.download(), [&](size_t) { return 5 + round; });
        CHECK(cudaGraphExecDestroy(executable));
        CHECK(cudaGraphDestroy(graph));
    }
}

int main(int argc, char **argv)
{
    bool relaxed = argc > 1 && std::string(argv[1]) == "relaxed";
    {
        Work work;
        cudaStream_t first = make_stream(), second = make_stream();
        finish();
        std::thread threads[] = {
            std::thread(launch, std::ref(work), first), std::thread(copy, std::ref(work)),
            std::thread(capture, std::ref(work), second,
                        relaxed ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeThreadLocal)};
        for (std::thread &thread : threads)
            thread.join();
        finish();
        expect("launched", work.launched.download(), [](size_t) { return rounds * (1 + 2 + 3); });
    }
    return passed("threads", "launches, copies and captures at the same time");
}
