// halo: two processes share a grid, a half each, and exchange its edges over a socket after every step, as ranks of MPI do
// through the host. Each computes all of its steps; the first prints a sum over both halves.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../data/captures/workloads/check.cuh"

constexpr int width = 1024, height = 512, steps = 20;

__global__ void relax(const float *from, float *to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
    if (x > 0 && x < width - 1)
        to[y * width + x] = 0.25f * (from[(y - 1) * width + x] + from[(y + 1) * width + x] + from[y * width + x - 1] +
                                     from[y * width + x + 1]);
}

static void transfer(int socket, void *data, size_t size, bool sends)
{
    for (size_t done = 0; done < size;) {
        char *at = static_cast<char *>(data) + done;
        ssize_t n = sends ? write(socket, at, size - done) : read(socket, at, size - done);
        if (n <= 0)
            exit(2);
        done += n;
    }
}

static double run(int rank, int socket)
{
    size_t size = size_t(width) * (height + 2) * sizeof(float), line = width * sizeof(float);
    float *a, *b, *edge;
    CHECK(cudaMalloc(&a, size));
    CHECK(cudaMalloc(&b, size));
    CHECK(cudaMallocHost(&edge, line));
    std::vector<float> grid(width * (height + 2));
    for (size_t i = 0; i < grid.size(); i++)
        grid[i] = small_int(i + rank);
    CHECK(cudaMemcpy(a, grid.data(), size, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, a, size, cudaMemcpyDeviceToDevice));
    float *inner = a + (rank ? width : height * width), *outer = a + (rank ? 0 : (height + 1) * width);
    for (int k = 0; k < steps; k++) {
        CHECK(cudaMemcpy(edge, inner, line, cudaMemcpyDeviceToHost));
        if (rank == 0)
            transfer(socket, edge, line, true);
        std::vector<float> other(width);
        transfer(socket, other.data(), line, false);
        if (rank == 1)
            transfer(socket, edge, line, true);
        memcpy(edge, other.data(), line);
        CHECK(cudaMemcpyAsync(outer, edge, line, cudaMemcpyHostToDevice));
        relax<<<dim3(width / 256, height), 256>>>(a, b);
        CHECK(cudaMemcpyAsync(a + width, b + width, line * height, cudaMemcpyDeviceToDevice));
    }
    finish();
    CHECK(cudaMemcpy(grid.data(), a, size, cudaMemcpyDeviceToHost));
    double sum = 0;
    for (float v : grid)
        sum += v;
    return sum;
}

int main()
{
    int ends[2], status = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 2;
    pid_t child = fork();
    double sum = run(child == 0, ends[child == 0]), other;
    transfer(ends[child == 0], child == 0 ? &sum : &other, sizeof sum, child == 0);
    if (child == 0)
        return 0;
    waitpid(child, &status, 0);
    printf("halo: %.6f\n", sum + other);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
