// reached: a child process maps memory of its parent, which exports it by a handle. One kernel of the parent is given the
// memory, one counts it up by an address that stands in other memory, and most do neither. Each must run once in effect.
// Prints sums over all memory, and the child's. `reached NUMBER`: so many rounds, 12 where none is given.
#include "check.cuh"

#include <cuda.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr size_t size = 4 << 20;

#define DRIVER(call)                                                                                                   \
    if ((call) != CUDA_SUCCESS) {                                                                                      \
        fprintf(stderr, "reached: %s failed\n", #call);                                                                \
        exit(1);                                                                                                       \
    }

__global__ void step(unsigned *a, unsigned n, unsigned by)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] = a[i] * 3 + by;
}

__global__ void plant(unsigned **table, unsigned *address)
{
    *table = address;
}

__global__ void count_through(unsigned **table, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&(*table)[i], i + 1);
}

static unsigned long long sum_of(const unsigned *a, size_t n)
{
    std::vector<unsigned> all(n);
    unsigned long long sum = 0;
    CHECK(cudaMemcpy(all.data(), a, n * sizeof *a, cudaMemcpyDeviceToHost));
    for (unsigned value : all)
        sum = sum * 31 + value;
    return sum;
}

static unsigned *map(CUmemGenericAllocationHandle handle)
{
    CUdeviceptr at;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    DRIVER(cuMemAddressReserve(&at, size, 0, 0, 0));
    DRIVER(cuMemMap(at, size, 0, handle, 0));
    DRIVER(cuMemSetAccess(at, size, &access, 1));
    return reinterpret_cast<unsigned *>(at);
}

// Waits for the parent's number of the file, then for the word that all is done.
static int be_child(int from, int to)
{
    int file, parent = getppid();
    CUmemGenericAllocationHandle handle;
    if (read(from, &file, sizeof file) != sizeof file)
        return 1;
    const int own = (int)syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, parent, 0), file, 0);
    CHECK(cudaFree(0));
    DRIVER(cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    unsigned *shared = map(handle);
    if (write(to, &file, sizeof file) != sizeof file || read(from, &file, sizeof file) != sizeof file)
        return 1;
    const unsigned long long sum = sum_of(shared, 1 << 14);
    return write(to, &sum, sizeof sum) != sizeof sum;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 12;
    int there[2], back[2], file;
    if (pipe(there) || pipe(back))
        return 1;
    const pid_t child = fork();
    if (child == 0)
        return be_child(there[0], back[1]);
    CHECK(cudaFree(0));
    CUmemAllocationProp kind = {};
    CUmemGenericAllocationHandle handle;
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    kind.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    DRIVER(cuMemCreate(&handle, size, &kind, 0));
    unsigned *shared = map(handle), *a, **table;
    CHECK(cudaMalloc(&a, size));
    CHECK(cudaMalloc(&table, size));
    CHECK(cudaMemset(a, 1, size));
    CHECK(cudaMemset(shared, 0, size));
    DRIVER(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    if (write(there[1], &file, sizeof file) != sizeof file || read(back[0], &file, sizeof file) != sizeof file)
        return 1;
    plant<<<1, 1>>>(table, shared);
    unsigned long long seen = 0, sum = 0;
    for (int i = 0; i < rounds; i++) {
        step<<<64, 256>>>(a, 1 << 20, i);
        step<<<64, 256>>>(a, 1 << 10, i);
        count_through<<<64, 256>>>(table, 1 << 14);
        step<<<64, 256>>>(shared + (1 << 14), 1 << 12, i);
        step<<<64, 256>>>(a, 1 << 12, i);
        seen = seen * 7 + sum_of(a, 16);
    }
    if (write(there[1], &file, sizeof file) != sizeof file || read(back[0], &sum, sizeof sum) != sizeof sum)
        return 1;
    waitpid(child, nullptr, 0);
    printf("reached: %llu %llu %llu %llu\n", seen, sum_of(a, 1 << 20), sum_of(shared, 1 << 16), sum);
    return 0;
}
