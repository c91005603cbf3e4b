// Kernels of one block in four streams, which run side by side unless something holds them up. Prints what CUDA says.
#include <cstdio>

__global__ void spin(long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles)
        ;
}

int main()
{
    cudaStream_t streams[4];
    for (auto &stream : streams)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int round = 0; round < 6; round++)
        for (auto stream : streams)
            spin<<<1, 32, 0, stream>>>(400000);
    std::printf("streams %d\n", (int)cudaDeviceSynchronize());
}
