// spmv: sparse matrix times vector (CSR) with rows of very different lengths, by a thread a row and by a warp a row.
// Meant to move gathers: many sectors per request, L1 and L2 hit rates, divergent loops, and stalls on the long
// scoreboard; the two kernels give the same result with very different coalescing.
#include "check.cuh"

constexpr int rows = 1 << 14;
constexpr int threads = 128;

__global__ void by_thread(const int *start, const int *column, const float *value, const float *x, float *y)
{
    int row = blockIdx.x * threads + threadIdx.x;
    float sum = 0;
    for (int k = start[row]; k < start[row + 1]; k++)
        sum += value[k] * x[column[k]];
    y[row] = sum;
}

__global__ void by_warp(const int *start, const int *column, const float *value, const float *x, float *y)
{
    int row = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32)
        sum += value[k] * x[column[k]];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        y[row] = sum;
}

// Most rows are short, one in 64 is long.
int row_length(size_t row)
{
    uint32_t random = mix(uint32_t(row));
    return random % 64 == 0 ? 200 + int(random >> 8) % 100 : int(random >> 8) % 24;
}

int main()
{
    std::vector<int> start(rows + 1);
    for (int row = 0; row < rows; row++)
        start[row + 1] = start[row] + row_length(row);
    size_t entries = start[rows];
    auto column = fill<int>(entries, [](size_t i) { return mix(uint32_t(i) + 12345) % rows; });
    auto value = fill<float>(entries, small_int);
    auto x = fill<float>(rows, [](size_t i) { return small_int(i + 777); });
    std::vector<float> want(rows);
    for (int row = 0; row < rows; row++)
        for (int k = start[row]; k < start[row + 1]; k++)
            want[row] += value[k] * x[column[k]];

    Buffer<int> device_start(start), device_column(column);
    Buffer<float> device_value(value), device_x(x), y_by_thread(rows), y_by_warp(rows);
    by_thread<<<rows / threads, threads>>>(device_start.get(), device_column.get(), device_value.get(),
                                           device_x.get(), y_by_thread.get());
    by_warp<<<rows / (threads / 32), threads>>>(device_start.get(), device_column.get(), device_value.get(),
                                                device_x.get(), y_by_warp.get());
    finish();

    expect("spmv: by thread", y_by_thread.download(), [&](size_t i) { return want[i]; });
    expect("spmv: by warp", y_by_warp.download(), [&](size_t i) { return want[i]; });
    return passed("spmv", "16384 rows by thread and by warp");
}
