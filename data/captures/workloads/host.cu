// host: kernels that read and write pinned host memory in place, without copies: host to device, device to host, and
// host to host.
// Meant to move system-memory sectors of the L2 (lts, sysmem aperture), PCIe reads and writes, and their long stalls.
#include "check.cuh"

constexpr int count = 1 << 18;
constexpr int threads = 256;

__global__ void affine(const int *in, int *out, int factor, int offset)
{
    int i = blockIdx.x * threads + threadIdx.x;
    out[i] = in[i] * factor + offset;
}

// Pinned host memory, with the device's address of it.
struct Pinned {
    Pinned()
    {
        CHECK(cudaHostAlloc(&host, count * sizeof(int), cudaHostAllocMapped));
        CHECK(cudaHostGetDevicePointer(&device, host, 0));
    }
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
    ~Pinned() { cudaFreeHost(host); }
    std::vector<int> values() const { return std::vector<int>(host, host + count); }

    int *host = nullptr, *device = nullptr;
};

int main()
{
    Pinned source, from_device, from_host;
    for (int i = 0; i < count; i++) {
        source.host[i] = i;
        from_device.host[i] = from_host.host[i] = -1;
    }
    Buffer<int> on_device(count);

    affine<<<count / threads, threads>>>(source.device, on_device.get(), 3, 1);
    affine<<<count / threads, threads>>>(on_device.get(), from_device.device, 2, 5);
    affine<<<count / threads, threads>>>(source.device, from_host.device, 7, 2);
    finish();

    expect("host: to device", on_device.download(), [](size_t i) { return i * 3 + 1; });
    expect("host: from device", from_device.values(), [](size_t i) { return (i * 3 + 1) * 2 + 5; });
    expect("host: to host", from_host.values(), [](size_t i) { return i * 7 + 2; });
    return passed("host", "262144 ints of pinned memory, read and written in place");
}
