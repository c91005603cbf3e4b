// What a module brings beside code: variables that the GPU, or the host as well, may write, and some that nobody does.
__device__ int counter;
__device__ int initialised[4] = {1, 2, 3, 4};
__managed__ int shared_with_host;
__constant__ int settings[3];

__global__ void count(int *to)
{
    atomicAdd(&counter, 1);
    *to = initialised[*to & 3] + settings[1] + shared_with_host++;
}
