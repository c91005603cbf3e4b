// cluster: clusters of four blocks that read each other's shared memory, and a histogram whose bins are spread over
// the cluster's shared memories; one cluster size is fixed in the code, the other given at the launch.
// Meant to move distributed shared memory loads and atomics, cluster barriers, and cluster launch counters.
#include "check.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int size = 4;
constexpr int threads = 256;
constexpr int count = 1 << 18;
constexpr int bins = 256, bins_each = bins / size;

// Each block's values come out in the place of the block before it in the cluster.
__global__ void __cluster_dims__(size, 1, 1) rotate(const int *in, int *out)
{
    __shared__ int values[threads];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * threads + threadIdx.x;
    values[threadIdx.x] = in[i];
    cluster.sync();
    out[i] = cluster.map_shared_rank(values, (cluster.block_rank() + 1) % size)[threadIdx.x];
    cluster.sync(); // nobody leaves while a neighbour may still read
}

__global__ void spread_histogram(const int *in, int *out)
{
    __shared__ int mine[bins_each];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < bins_each)
        mine[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        int bin = in[i] % bins;
        atomicAdd(cluster.map_shared_rank(mine, bin / bins_each) + bin % bins_each, 1);
    }
    cluster.sync();
    if (threadIdx.x < bins_each)
        atomicAdd(&out[cluster.block_rank() * bins_each + threadIdx.x], mine[threadIdx.x]);
}

int main()
{
    auto in = fill<int>(count, [](size_t i) { return mix(uint32_t(i)) >> 4; });
    Buffer<int> device_in(in), rotated(count), counts(bins);

    rotate<<<count / threads, threads>>>(device_in.get(), rotated.get());

    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {size, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(32 * size);
    config.blockDim = dim3(threads);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, spread_histogram, static_cast<const int *>(device_in.get()), counts.get()));
    finish();

    std::vector<int> want(bins);
    for (int value : in)
        want[value % bins]++;
    expect("cluster: rotate", rotated.download(), [&](size_t i) {
        size_t block = i / threads, next = block / size * size + (block + 1) % size;
        return in[next * threads + i % threads];
    });
    expect("cluster: histogram", counts.download(), [&](size_t i) { return want[i]; });
    return passed("cluster", "rotation and histogram of 262144 ints in clusters of 4");
}
