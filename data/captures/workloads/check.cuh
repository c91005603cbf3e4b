// check.cuh: what every workload shares: CUDA error checks, device buffers, repeatable input, checks of results.
// Exit status of a workload: 0 all right, 1 a wrong result, 2 a CUDA error; either prints one line on stderr.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(...) check_cuda((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

inline void check_cuda(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    exit(2);
}

// After the launches: were they accepted, and did they run to their end?
inline void finish()
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

// A number that looks random, the same for the same index on every machine, on the host and on the device.
__host__ __device__ constexpr uint32_t mix(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

// An integer in [-8, 7]: exact in every type down to half and int8, and so are long sums of products of them in FP32.
inline int small_int(size_t index)
{
    return int(mix(uint32_t(index)) & 15) - 8;
}

template <typename T, typename Value> std::vector<T> fill(size_t count, Value value)
{
    std::vector<T> out(count);
    for (size_t i = 0; i < count; i++)
        out[i] = T(value(i));
    return out;
}

// The product of two n by n matrices of small integers, row by row.
template <typename A, typename B> std::vector<float> reference_product(const A &a, const B &b, size_t n)
{
    std::vector<float> c(n * n);
    for (size_t row = 0; row < n; row++)
        for (size_t k = 0; k < n; k++)
            for (size_t col = 0; col < n; col++)
                c[row * n + col] += float(a[row * n + k]) * float(b[k * n + col]);
    return c;
}

// Device memory that is zeroed or filled from the host, and freed with its owner.
template <typename T> class Buffer {
public:
    explicit Buffer(size_t count) : count_(count)
    {
        CHECK(cudaMalloc(&data_, count * sizeof(T)));
        CHECK(cudaMemset(data_, 0, count * sizeof(T)));
    }

    explicit Buffer(const std::vector<T> &host) : Buffer(host.size())
    {
        CHECK(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }

    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { cudaFree(data_); }

    T *get() const { return data_; }

    std::vector<T> download() const
    {
        std::vector<T> host(count_);
        CHECK(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

private:
    T *data_ = nullptr;
    size_t count_;
};

// Ends the program with status 1 unless every got[i] is want(i), within a tolerance that is relative above 1.
template <typename Array, typename Want>
void expect(const char *what, const Array &got, Want want, double tolerance = 0)
{
    for (size_t i = 0; i < got.size(); i++) {
        double found = double(got[i]), expected = double(want(i));
        if (std::fabs(found - expected) <= tolerance * std::fmax(1.0, std::fabs(expected)))
            continue;
        fprintf(stderr, "%s: wrong at %zu: found %.17g, expected %.17g\n", what, i, found, expected);
        exit(1);
    }
}

inline int passed(const char *workload, const char *what)
{
    printf("%s: %s: right\n", workload, what);
    return 0;
}
