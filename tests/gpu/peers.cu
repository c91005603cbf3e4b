// peers: two GPUs and their memory: copies without and with access to each other, by runtime and driver, of rows and of
// volumes; a kernel that reads the other's memory; managed memory that both write; an event that the other waits for.
#include <cuda.h>

#include "../../data/captures/workloads/check.cuh"

constexpr int count = 1 << 18;
constexpr size_t size = count * sizeof(float);

__global__ void add(float *to, const float *from, float number)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + number;
}

static void drive(int device, float *to, const float *from, float number, cudaStream_t stream)
{
    CHECK(cudaSetDevice(device));
    add<<<count / 256, 256, 0, stream>>>(to, from, number);
    CHECK(cudaGetLastError());
}

int main()
{
    float *at[2], *managed;
    cudaStream_t streams[2];
    CUcontext contexts[2];
    for (int i = 0; i < 2; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaMalloc(&at[i], size));
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        cuCtxGetCurrent(&contexts[i]);
    }
    CHECK(cudaMallocManaged(&managed, size));
    cudaEvent_t done;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaMemsetAsync(at[0], 0, size, streams[0]));
    drive(0, at[0], at[0], 1, streams[0]);
    CHECK(cudaMemcpyPeerAsync(at[1], 1, at[0], 0, size, streams[0]));
    CHECK(cudaEventRecord(done, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], done, 0));
    drive(1, at[1], at[1], 2, streams[1]);
    CHECK(cudaStreamSynchronize(streams[1]));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaDeviceEnablePeerAccess(1 - i, 0));
    }
    CHECK(cudaMemcpyPeer(at[0], 0, at[1], 1, size));
    CHECK(cudaDeviceSynchronize()); // the host does not wait for a copy between devices, nor do these streams
    cuMemcpyPeerAsync((CUdeviceptr)at[1], contexts[1], (CUdeviceptr)at[0], contexts[0], size / 2, streams[1]);
    CHECK(cudaMemcpyAsync(at[0], at[1], size / 4, cudaMemcpyDefault, streams[1]));
    CHECK(cudaMemcpy2DAsync(at[0], 4096, at[1], 4096, 1024, 64, cudaMemcpyDeviceToDevice, streams[1]));
    cudaMemcpy3DPeerParms volume = {};
    volume.srcDevice = 1, volume.dstDevice = 0;
    volume.srcPtr = make_cudaPitchedPtr(at[1], 1024, 256, 16),
    volume.dstPtr = make_cudaPitchedPtr(at[0], 1024, 256, 16);
    volume.extent = make_cudaExtent(1024, 16, 4);
    CHECK(cudaMemcpy3DPeerAsync(&volume, streams[1]));
    CHECK(cudaStreamSynchronize(streams[1]));
    drive(0, managed, at[1], 3, streams[0]); // reads the other's memory
    CHECK(cudaStreamSynchronize(streams[0]));
    drive(1, managed, managed, 4, streams[1]); // moves it from there, or maps it
    CHECK(cudaStreamSynchronize(streams[1]));
    expect("peers", std::vector<float>(managed, managed + count), [](size_t) { return 10.0f; });
    return passed("peers", "memory of each as the other sees it");
}
