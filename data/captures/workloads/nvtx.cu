// nvtx: three steps of work under user ranges: NVTX push and pop, a domain, ranges that start and end across others, and
// those of counterworks/annotate.h with a loop for user replay. What it computes in place comes out right only if each
// launch counted once, so it also shows that memory is put back between passes.
// `nvtx how` then ends in another way: fork, _exit, kill, trap (in a kernel), vary (another number of launches each run).
#include "check.cuh"

#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <counterworks/annotate.h>
#include <nvtx3/nvToolsExt.h>

constexpr int count = 1 << 20;
constexpr int threads = 256;

__global__ void forward(const int *in, int *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = in[i] * 3 + 1;
}

__global__ void backward(const int *out, int *gradient)
{
    int i = blockIdx.x * threads + threadIdx.x;
    gradient[i] += out[i] % 7;
}

__global__ void update(int *in, const int *gradient)
{
    int i = blockIdx.x * threads + threadIdx.x;
    in[i] += gradient[i];
}

__global__ void trap()
{
    if (threadIdx.x == 3)
        __trap();
}

static void step_on_host(std::vector<int> &in, std::vector<int> &gradient)
{
    for (int i = 0; i < count; i++) {
        gradient[i] += (in[i] * 3 + 1) % 7;
        in[i] += gradient[i];
    }
}

int main(int argc, char **argv)
{
    std::string how = argc > 1 ? argv[1] : "";
    auto start = fill<int>(count, [](size_t i) { return int(mix(uint32_t(i)) % 1000); });
    std::vector<int> want = start, want_gradient(count);
    Buffer<int> in(start), out(count), gradient(count);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("optimizer");
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "update");

    auto forward_backward = [&] {
        nvtxRangePushA("forward");
        forward<<<count / threads, threads>>>(in.get(), out.get());
        nvtxRangePop();
        nvtxRangePushW(L"backward");
        backward<<<count / threads, threads>>>(out.get(), gradient.get());
        nvtxRangePop();
    };
    nvtxRangeId_t window = 0;
    for (int step = 0; step < 3; step++) {
        nvtxRangePushA("step");
        forward_backward();
        if (step == 1)
            window = nvtxRangeStartA("window"); // ends in the middle of the next step
        nvtxDomainRangePushEx(domain, &event);
        update<<<count / threads, threads>>>(in.get(), gradient.get());
        nvtxDomainRangePop(domain);
        if (step == 2)
            nvtxRangeEnd(window);
        nvtxRangePop();
        step_on_host(want, want_gradient);
    }
    cw_range_push("ours");
    forward_backward();
    update<<<count / threads, threads>>>(in.get(), gradient.get());
    cw_range_pop();
    step_on_host(want, want_gradient);
    struct cw_replay solve = {"solve", 0};
    while (cw_range_pass(&solve)) {
        forward_backward();
        update<<<count / threads, threads>>>(in.get(), gradient.get());
    }
    step_on_host(want, want_gradient);
    finish();
    expect("nvtx: in", in.download(), [&](size_t i) { return want[i]; });

    if (how == "fork") {
        pid_t child = fork();
        if (child == 0) {
            nvtxRangePushA("in the child");
            nvtxRangePop();
            exit(0); // runs the handlers that the parent registered
        }
        waitpid(child, nullptr, 0);
    }
    for (int i = 0; how == "vary" && i < int(getpid() % 3); i++)
        update<<<count / threads, threads>>>(in.get(), gradient.get());
    if (how == "_exit")
        _exit(0);
    if (how == "kill")
        raise(SIGKILL);
    if (how == "trap") {
        trap<<<1, 32>>>();
        cudaDeviceSynchronize();
        return 4;
    }
    return passed("nvtx", "five steps under user ranges");
}
