// One pool of GB gigabytes as frameworks make it, of which each step changes small parts: pool GB FILLED STEPS. FILLED:
// gigabytes with other bytes than zeros. Kernels change memory in every way that a pass must not see twice: in place, by
// atomics, by variables of the module and of a function, through pointers in memory, in memory that comes and goes. Prints
// seconds a step, and a sum of all memory, which tells whether each step ran once.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>

#define DO(call)                                                                                                       \
    do {                                                                                                               \
        if (int error = (int)(call)) {                                                                                 \
            fprintf(stderr, "pool: line %d: found error %d of CUDA\n", __LINE__, error);                               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

__device__ unsigned long long counter;
__constant__ unsigned factor;

__global__ void fill(uint32_t *to, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        to[i] = (uint32_t)(i * 2654435761u >> 7) | 1;
}

__global__ void change(uint32_t *at, size_t n)
{
    static __device__ unsigned calls;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        at[i] = at[i] * factor + (uint32_t)i + (i ? 0 : atomicAdd(&calls, 1));
}

__global__ void count(const uint32_t *at, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counter, at[i]);
}

// Changes memory whose address stands in memory only.
__global__ void follow(uint32_t **node)
{
    uint32_t *to = *node;
    to[threadIdx.x] = to[threadIdx.x] * 3 + 1;
}

__global__ void sum(const uint32_t *at, size_t n, unsigned long long *to)
{
    unsigned long long own = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        own += at[i] * (unsigned long long)(i % 1009 + 1);
    atomicAdd(to, own);
}

static uint32_t *make_pool(size_t size)
{
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    DO(cuMemCreate(&handle, size, &properties, 0));
    DO(cuMemAddressReserve(&at, size, 0, 0, 0));
    DO(cuMemMap(at, size, 0, handle, 0));
    DO(cuMemSetAccess(at, size, &access, 1));
    return (uint32_t *)at;
}

int main(int argc, char **argv)
{
    const size_t gb = (size_t)1 << 30, size = (argc > 1 ? atoi(argv[1]) : 32) * gb, part = 1 << 20;
    const size_t filled = (argc > 2 ? atoi(argv[2]) : 2) * gb;
    const int steps = argc > 3 ? atoi(argv[3]) : 4;
    unsigned long long *total, result = 0, counted = 0;
    uint32_t *buffer, **node;
    cudaStream_t stream;
    DO(cudaFree(0));
    uint32_t *pool = make_pool(size);
    DO(cudaStreamCreate(&stream));
    DO(cudaMalloc(&total, sizeof *total));
    DO(cudaMalloc(&node, sizeof *node));
    fill<<<1024, 256, 0, stream>>>(pool, filled / 4);
    DO(cudaStreamSynchronize(stream));
    const auto began = std::chrono::steady_clock::now();
    for (int step = 0; step < steps; step++) {
        const unsigned by = 5 + 2 * step;
        uint32_t *parts[8], *later;
        DO(cudaMalloc(&buffer, 4 * part + 4 * step)); // at another size each time
        DO(cudaMallocAsync(&later, 4 * part, stream));
        DO(cudaMemcpyToSymbolAsync(factor, &by, sizeof by, 0, cudaMemcpyHostToDevice, stream));
        DO(cudaMemsetAsync(later, step + 1, 4 * part, stream));
        DO(cudaMemcpyAsync(buffer, pool, 4 * part, cudaMemcpyDeviceToDevice, stream));
        for (int i = 0; i < 8; i++) { // some beyond what is filled
            parts[i] = pool + ((size_t)i * 977 + step % 3 * 31) * part % (size / 4 - part);
            change<<<part / 256, 256, 0, stream>>>(parts[i], part);
        }
        change<<<part / 256, 256, 0, stream>>>(buffer, part);
        change<<<part / 256, 256, 0, stream>>>(later, part);
        DO(cudaMemcpyAsync(node, &parts[3], sizeof *node, cudaMemcpyHostToDevice, stream));
        follow<<<1, 256, 0, stream>>>(node);
        DO(cudaMemcpyAsync(parts[5], later, 2 * part, cudaMemcpyDeviceToDevice, stream));
        count<<<part / 256, 256, 0, stream>>>(buffer, part);
        count<<<part / 256, 256, 0, stream>>>(later, part);
        DO(cudaFreeAsync(later, stream));
        DO(cudaStreamSynchronize(stream));
        DO(cudaFree(buffer));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    DO(cudaMemsetAsync(total, 0, sizeof *total, stream));
    sum<<<1024, 256, 0, stream>>>(pool, size / 4, total);
    DO(cudaMemcpyAsync(&result, total, sizeof result, cudaMemcpyDeviceToHost, stream));
    DO(cudaStreamSynchronize(stream));
    DO(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
    fprintf(stderr, "pool: %.4f s a step\n", took.count() / steps);
    printf("pool: %llu %llu\n", result, counted);
    return 0;
}
