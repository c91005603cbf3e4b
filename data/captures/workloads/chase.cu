// chase: one thread a block follows a random cycle of pointers, each in a cache line of its own, so that every load
// waits for the one before: past the L1 (L2 latency) and through the L1 (L1 latency).
// Meant to move latency alone: long scoreboard stalls, next to no throughput, one active warp a multiprocessor.
#include "check.cuh"

constexpr int line = 128;
constexpr int nodes = 256;
constexpr int steps = 4 * nodes - 3;
constexpr int blocks = 16;

struct alignas(line) Node {
    Node *next;
    int number;
};

template <bool past_l1> __global__ void chase(Node *const *start, int *out)
{
    const Node *node = start[blockIdx.x];
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        auto address = reinterpret_cast<const unsigned long long *>(&node->next);
        unsigned long long next = past_l1 ? __ldcg(address) : __ldca(address);
        node = reinterpret_cast<const Node *>(next);
    }
    out[blockIdx.x] = node->number;
}

int main()
{
    // Sattolo's shuffle: one cycle through all nodes.
    std::vector<int> next(nodes);
    for (int i = 0; i < nodes; i++)
        next[i] = i;
    for (int i = nodes - 1; i > 0; i--)
        std::swap(next[i], next[mix(i) % i]);

    Buffer<Node> device(nodes);
    std::vector<Node> host(nodes);
    for (int i = 0; i < nodes; i++)
        host[i] = {device.get() + next[i], i};
    CHECK(cudaMemcpy(device.get(), host.data(), nodes * sizeof(Node), cudaMemcpyHostToDevice));
    Buffer<Node *> start(fill<Node *>(blocks, [&](size_t i) { return device.get() + i * 7; }));
    Buffer<int> through_l2(blocks), through_l1(blocks);

    chase<true><<<blocks, 1>>>(start.get(), through_l2.get());
    chase<false><<<blocks, 1>>>(start.get(), through_l1.get());
    finish();

    auto want = [&](size_t i) {
        int at = int(i * 7);
        for (int k = 0; k < steps; k++)
            at = next[at];
        return at;
    };
    expect("chase: past the L1", through_l2.download(), want);
    expect("chase: through the L1", through_l1.download(), want);
    return passed("chase", "1021 dependent loads past and through the L1");
}
