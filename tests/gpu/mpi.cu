/* mpi: ranks of MPI relax a grid that they share in two dimensions, as a solver in CUDA Fortran does, but in C: each
 * packs its edges by kernels, exchanges them with its neighbours through the host, and all agree on how much has
 * changed. The first prints that, and a sum over all. Edges of the grid stay as they are. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>

enum { N = 512, PITCH = N + 2, STEPS = 20, THREADS = 128, SIDES = 4 };

static void check(cudaError_t error, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "mpi.cu:%d: %s\n", line, cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 2);
}
#define CHECK(call) check(call, __LINE__)

/* Rows come first among the sides: above, below, left, right; `halo` is 1 for what lies outside. */
__device__ int place(int side, int i, int halo)
{
    int far = side & 1 ? N + halo : 1 - halo;
    return side < 2 ? far * PITCH + i + 1 : (i + 1) * PITCH + far;
}

__global__ void pack(const double *grid, double *edges)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int side = 0; side < SIDES && i < N; side++)
        edges[side * N + i] = grid[place(side, i, 0)];
}

__global__ void unpack(double *grid, const double *edges)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int side = 0; side < SIDES && i < N; side++)
        grid[place(side, i, 1)] = edges[side * N + i];
}

__global__ void relax(const double *from, double *to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y + 1, at = y * PITCH + x;
    to[at] = 0.25 * (from[at - 1] + from[at + 1] + from[at - PITCH] + from[at + PITCH]);
}

/* One block, so that the order of what is added is always the same. */
__global__ void measure(const double *a, const double *b, double *sums)
{
    __shared__ double changes[THREADS], totals[THREADS];
    double change = 0, total = 0;
    for (int i = threadIdx.x; i < N * N; i += THREADS) {
        int at = (i / N + 1) * PITCH + i % N + 1;
        change += (a[at] - b[at]) * (a[at] - b[at]);
        total += a[at];
    }
    changes[threadIdx.x] = change;
    totals[threadIdx.x] = total;
    __syncthreads();
    if (threadIdx.x)
        return;
    sums[0] = sums[1] = 0;
    for (int i = 0; i < THREADS; i++) {
        sums[0] += changes[i];
        sums[1] += totals[i];
    }
}

struct part {
    MPI_Comm ranks;
    int neighbours[SIDES];
    double *grids[2], *edges, *sums;     /* on the GPU */
    double *sent, *received, *host_sums; /* of the host, pinned */
};

static void begin(struct part *p, int count)
{
    int sides[2] = {0, 0}, rings[2] = {0, 0}, rank;
    size_t size = (size_t)PITCH * PITCH * sizeof(double), edges = SIDES * N * sizeof(double);
    MPI_Dims_create(count, 2, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, rings, 0, &p->ranks);
    MPI_Cart_shift(p->ranks, 0, 1, &p->neighbours[0], &p->neighbours[1]);
    MPI_Cart_shift(p->ranks, 1, 1, &p->neighbours[2], &p->neighbours[3]);
    MPI_Comm_rank(p->ranks, &rank);
    CHECK(cudaMalloc((void **)&p->grids[0], size));
    CHECK(cudaMalloc((void **)&p->grids[1], size));
    CHECK(cudaMalloc((void **)&p->edges, edges));
    CHECK(cudaMalloc((void **)&p->sums, 2 * sizeof(double)));
    CHECK(cudaMallocHost((void **)&p->sent, edges));
    CHECK(cudaMallocHost((void **)&p->received, edges));
    CHECK(cudaMallocHost((void **)&p->host_sums, 2 * sizeof(double)));
    double *values = (double *)malloc(size);
    for (int i = 0; i < PITCH * PITCH; i++)
        values[i] = (i * 7 + rank * 13) % 32;
    for (int k = 0; k < 2; k++)
        CHECK(cudaMemcpy(p->grids[k], values, size, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(p->edges, values, edges, cudaMemcpyHostToDevice));
    free(values);
}

static void exchange(struct part *p, double *grid)
{
    size_t size = SIDES * N * sizeof(double);
    MPI_Request requests[2 * SIDES];
    pack<<<N / THREADS, THREADS>>>(grid, p->edges);
    CHECK(cudaMemcpy(p->sent, p->edges, size, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIDES * N; i++) /* where there is no neighbour */
        p->received[i] = 1;
    for (int side = 0; side < SIDES; side++) {
        MPI_Irecv(p->received + side * N, N, MPI_DOUBLE, p->neighbours[side], side ^ 1, p->ranks, &requests[side]);
        MPI_Isend(p->sent + side * N, N, MPI_DOUBLE, p->neighbours[side], side, p->ranks, &requests[SIDES + side]);
    }
    MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
    CHECK(cudaMemcpy(p->edges, p->received, size, cudaMemcpyHostToDevice));
    unpack<<<N / THREADS, THREADS>>>(grid, p->edges);
}

int main(int argc, char **argv)
{
    struct part p;
    int count, rank;
    double sums[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    begin(&p, count);
    for (int step = 0; step < STEPS; step++) {
        double *from = p.grids[step & 1], *to = p.grids[~step & 1];
        exchange(&p, from);
        relax<<<dim3(N / THREADS, N), THREADS>>>(from, to);
        measure<<<1, THREADS>>>(to, from, p.sums);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(p.host_sums, p.sums, sizeof sums, cudaMemcpyDeviceToHost));
        MPI_Allreduce(p.host_sums, sums, 2, MPI_DOUBLE, MPI_SUM, p.ranks);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("mpi: %d ranks, changed by %.6e, %.6e in all\n", count, sums[0], sums[1]);
    MPI_Finalize();
    return 0;
}
