// Two functions for the test of line tables: nvcc -arch=sm_90 -lineinfo -cubin -o lines.cubin lines.cu
__global__ void first(float *x)
{
    x[threadIdx.x] *= 2.0f;
}

__global__ void second(float *x, const float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++)
        x[i] += y[i + k];
}
