// A stream with a window of access: its half megabyte may stay in the L2 cache.
#include <cstdio>

__global__ void add_one(float *x)
{
    x[threadIdx.x] += 1;
}

int main()
{
    float *x;
    cudaStream_t stream;
    cudaStreamAttrValue value = {};
    cudaMalloc(&x, 1 << 20);
    cudaStreamCreate(&stream);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20);
    value.accessPolicyWindow.base_ptr = x;
    value.accessPolicyWindow.num_bytes = 1 << 19;
    value.accessPolicyWindow.hitRatio = 0.5;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
    add_one<<<1, 32, 0, stream>>>(x);
    add_one<<<1, 32>>>(x);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
