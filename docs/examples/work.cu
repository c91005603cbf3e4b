// The work of the examples on a GPU: nvcc -c work.cu
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

extern "C" {
#include "work.h"
}

enum { N = 1 << 20, BLOCK = 256, STEPS = 4, ROUNDS = 64 };
static float *x, *y;

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

__global__ void fill(float *to, int n, float value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = value + (float)(i % 7);
}

__global__ void scale(float *to, int n, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = to[i] * by + 1;
}

__global__ void mix(float *to, const float *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; i < n && k < ROUNDS; k++)
        sum += from[(i + k * 1021) % n] * 0.01f;
    if (i < n)
        to[i] = to[i] * 0.5f + sum;
}

void work_begin(void)
{
    check(cudaMalloc(&x, N * sizeof *x));
    check(cudaMalloc(&y, N * sizeof *y));
    fill<<<N / BLOCK, BLOCK>>>(x, N, 1);
    fill<<<N / BLOCK, BLOCK>>>(y, N, 2);
    check(cudaDeviceSynchronize());
}

void work_scale(void)
{
    scale<<<N / BLOCK, BLOCK>>>(x, N, 0.99f);
    check(cudaGetLastError());
}

void work_mix(void)
{
    mix<<<N / BLOCK, BLOCK>>>(y, x, N);
    check(cudaGetLastError());
}

void work_step(void)
{
    for (int i = 0; i < STEPS; i++) {
        work_scale();
        work_mix();
    }
    check(cudaDeviceSynchronize());
}

double work_end(void)
{
    float *all = (float *)std::malloc(N * sizeof *all);
    double sum = 0;
    check(cudaMemcpy(all, y, N * sizeof *all, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        sum += all[i];
    std::free(all);
    check(cudaFree(x));
    check(cudaFree(y));
    return sum;
}

void work_print(const char *name, double result)
{
    std::printf("%s %.17g\n", name, result);
}
