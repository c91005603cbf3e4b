// bulk: copies by the tensor memory accelerator. Each block of a cluster brings its part of an array to shared memory by
// bulk copies, one of them multicast to both blocks, adds to it, stores it back by a bulk copy and adds it to a second
// array by a bulk reduction. Meant to move the counters of bulk copies and of distributed shared memory.
#include "check.cuh"

constexpr int threads = 128, words = 1024, clusters = 64, cluster_size = 2;

__device__ unsigned shared_address(const void *p)
{
    return unsigned(__cvta_generic_to_shared(p));
}

__device__ void wait(unsigned barrier, unsigned phase)
{
    asm volatile("{\n.reg .pred done;\nAGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(barrier),
                 "r"(phase)
                 : "memory");
}

__global__ void __cluster_dims__(cluster_size, 1, 1) copies(const int *from, const int *common, int *to, int *sum)
{
    __shared__ alignas(128) int mine[words], both[words];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned rank, bar = shared_address(&barrier), bytes = words * sizeof(int);
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const int *source = from + blockIdx.x * words;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(2 * bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         shared_address(mine)),
                     "l"(source), "r"(bytes), "r"(bar)
                     : "memory");
        if (rank == 0)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                         "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(both)),
                         "l"(common), "r"(bytes), "r"(bar), "h"((unsigned short)3)
                         : "memory");
    }
    wait(bar, 0);
    for (int i = threadIdx.x; i < words; i += threads)
        mine[i] += both[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + blockIdx.x * words),
                     "r"(shared_address(mine)), "r"(bytes)
                     : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(sum),
                     "r"(shared_address(mine)), "r"(bytes)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// The other block's shared memory: loads, stores, atomics, and a reduction that a barrier counts.
__global__ void __cluster_dims__(cluster_size, 1, 1) neighbours(int *out)
{
    __shared__ int mine[threads], stored[threads], added[threads], reduced;
    __shared__ alignas(8) unsigned long long barrier;
    unsigned rank, bar = shared_address(&barrier);
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    auto other = [&](const void *p) {
        unsigned to;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(p)), "r"(rank ^ 1));
        return to;
    };
    mine[threadIdx.x] = blockIdx.x * threads + threadIdx.x;
    added[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        reduced = 0;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(threads * 4) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    int theirs, before;
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(theirs) : "r"(other(&mine[threadIdx.x])) : "memory");
    asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(other(&stored[threadIdx.x])), "r"(theirs + 1) : "memory");
    asm volatile("atom.shared::cluster.add.s32 %0, [%1], 5;" : "=r"(before) : "r"(other(&added[threadIdx.x])) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%0], 1, [%1];" ::"r"(
                     other(&reduced)),
                 "r"(other(&barrier))
                 : "memory");
    wait(bar, 0);
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    out[blockIdx.x * threads + threadIdx.x] = stored[threadIdx.x] + added[threadIdx.x] + before + reduced;
}

int main()
{
    constexpr int blocks = clusters * cluster_size, all = blocks * words;
    auto from = fill<int>(all, [](size_t i) { return int(mix(uint32_t(i)) & 1023); });
    auto common = fill<int>(words, [](size_t i) { return int(i % 97); });
    Buffer<int> dfrom(from), dcommon(common), to(all), sum(words), out(blocks * threads);
    copies<<<blocks, threads>>>(dfrom.get(), dcommon.get(), to.get(), sum.get());
    neighbours<<<blocks, threads>>>(out.get());
    finish();
    std::vector<int> wsum(words);
    for (int i = 0; i < all; i++)
        wsum[i % words] += from[i] + common[i % words];
    expect("bulk: stored", to.download(), [&](size_t i) { return from[i] + common[i % words]; });
    expect("bulk: reduced", sum.download(), [&](size_t i) { return wsum[i]; });
    expect("bulk: neighbours", out.download(), [](size_t i) { return int(i) + 1 + 5 + threads; });
    return passed("bulk", "bulk copies, reductions and distributed shared memory");
}
