// Launches kernels of every kind, each once, and prints what the runtime says of them, as facts of the launch are
// named: NUMBER FACT VALUE, with blocks of the launch that a multiprocessor holds as launch__occupancy_limit. The last
// line is whether all computed what they should.
#include "check.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { BLOCKS = 64, THREADS = 128 };

__global__ void plain(unsigned *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void with_static(unsigned *a)
{
    __shared__ unsigned kept[3000];
    for (unsigned i = threadIdx.x; i < 3000; i += blockDim.x)
        kept[i] = i;
    __syncthreads();
    a[blockIdx.x * blockDim.x + threadIdx.x] += kept[(threadIdx.x * 17 + 1) % 3000] - (threadIdx.x * 17 + 1) % 3000 + 1;
}

__global__ void with_dynamic(unsigned *a)
{
    extern __shared__ unsigned own[];
    own[threadIdx.x] = threadIdx.x;
    __syncthreads();
    a[blockIdx.x * blockDim.x + threadIdx.x] += own[blockDim.x - 1 - threadIdx.x] + threadIdx.x + 2 - blockDim.x;
}

__global__ void __launch_bounds__(THREADS, 8) with_bounds(unsigned *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void with_registers(unsigned *a) // whose values are all alive at once
{
    unsigned own[96], all = 0;
#pragma unroll
    for (int i = 0; i < 96; i++)
        own[i] = *(volatile unsigned *)&a[(i * 97 + threadIdx.x) % (BLOCKS * THREADS)];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 96; i++)
        all |= own[i] * own[95 - i];
    a[blockIdx.x * blockDim.x + threadIdx.x] += all == 0xffffffff ? 2 : 1;
}

__global__ void with_local(unsigned *a)
{
    unsigned own[64], *next = &own[0];
#pragma unroll 1
    for (unsigned i = 0; i < 64; i++)
        own[(i + threadIdx.x) % 64] = i;
#pragma unroll 1
    for (unsigned i = 0; i < 64; i++)
        next = &own[*(volatile unsigned *)next % 64];
    a[blockIdx.x * blockDim.x + threadIdx.x] += *next > 64 ? 2 : 1;
}

__constant__ unsigned table[256];

__global__ void with_constants(unsigned *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] += table[threadIdx.x % 256] + 1;
}

__global__ void __cluster_dims__(2, 1, 1) in_clusters(unsigned *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] += cg::this_cluster().num_blocks() / 2;
}

__global__ void in_any_cluster(unsigned *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] += cg::this_cluster().num_blocks() / 4;
}

__global__ void together(unsigned *a)
{
    cg::this_grid().sync();
    a[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static int launches;

static void say(const char *fact, long long value)
{
    printf("%d launch__%s %lld\n", launches, fact, value);
}

static long long device_attribute(cudaDeviceAttr attribute)
{
    int value;
    CHECK(cudaDeviceGetAttribute(&value, attribute, 0));
    return value;
}

// Asks behind the launch, which loads the kernel.
static void say_all(void (*kernel)(unsigned *), size_t dynamic, const cudaLaunchAttribute *attribute)
{
    cudaFuncAttributes f;
    int held;
    CHECK(cudaGetLastError());
    CHECK(cudaFuncGetAttributes(&f, kernel));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, kernel, THREADS, dynamic));
    bool cluster = attribute && attribute->id == cudaLaunchAttributeClusterDimension;
    say("registers_per_thread", f.numRegs);
    say("shared_mem_per_block_static", f.sharedSizeBytes);
    say("shared_mem_per_block_dynamic", dynamic);
    say("shared_mem_per_block_driver", device_attribute(cudaDevAttrReservedSharedMemoryPerBlock));
    say("local_mem_per_thread", f.localSizeBytes);
    say("const_mem_per_kernel", f.constSizeBytes);
    say("max_threads_per_block", f.maxThreadsPerBlock);
    say("cluster_dim_x", cluster ? attribute->val.clusterDim.x : f.requiredClusterWidth);
    say("cluster_dim_y", cluster ? attribute->val.clusterDim.y : f.requiredClusterHeight);
    say("cluster_dim_z", cluster ? attribute->val.clusterDim.z : f.requiredClusterDepth);
    say("cooperative", attribute && attribute->id == cudaLaunchAttributeCooperative);
    say("programmatic_serialization", attribute && attribute->id == cudaLaunchAttributeProgrammaticStreamSerialization);
    say("preferred_shared_carveout", f.preferredShmemCarveout);
    say("ptx_version", f.ptxVersion);
    say("binary_version", f.binaryVersion);
    say("occupancy_limit", held);
    launches++;
}

static void launch(void (*kernel)(unsigned *), unsigned *a, size_t dynamic = 0)
{
    kernel<<<BLOCKS, THREADS, dynamic>>>(a);
    say_all(kernel, dynamic, nullptr);
}

static void launch_with(void (*kernel)(unsigned *), unsigned *a, cudaLaunchAttribute attribute)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(BLOCKS);
    config.blockDim = dim3(THREADS);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, a));
    say_all(kernel, 0, &attribute);
}

static cudaLaunchAttribute make(cudaLaunchAttributeID id)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = id;
    attribute.val.cooperative = 1; // or programmaticStreamSerializationAllowed
    return attribute;
}

int main()
{
    const size_t much = 100 << 10;
    Buffer<unsigned> a(BLOCKS * THREADS);
    launch(plain, a.get());
    launch(with_static, a.get());
    launch(with_dynamic, a.get(), 20000);
    CHECK(cudaFuncSetAttribute(with_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, much));
    launch(with_dynamic, a.get(), much);
    launch(with_bounds, a.get());
    launch(with_registers, a.get());
    launch(with_local, a.get());
    launch(with_constants, a.get());
    CHECK(cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    launch(plain, a.get()); // again, of which something has changed
    launch_with(together, a.get(), make(cudaLaunchAttributeCooperative));
    launch_with(plain, a.get(), make(cudaLaunchAttributeProgrammaticStreamSerialization));
    int expected = launches;
    if (device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9) {
        launch(in_clusters, a.get());
        cudaLaunchAttribute cluster = make(cudaLaunchAttributeClusterDimension);
        cluster.val.clusterDim.x = 4;
        cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
        launch_with(in_any_cluster, a.get(), cluster);
        expected += 2;
    }
    finish();
    expect("facts", a.download(), [=](size_t) { return expected; });
    return passed("facts", "every kind of launch");
}
