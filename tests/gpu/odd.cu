// Programs that a profiler spoils easily: odd KIND. Prints a sum over all that it computed, which must stay what it is.
//   flag      a kernel waits for a flag that the host sets behind the launch      bigmem   most of the GPU's memory is in use
//   managed   kernels and the host write 4 GB of managed memory in turn           ipc      a child process writes the parent's memory
//   pool      memory comes from a pool and goes back, in four streams             host     functions of the host between kernels
//   grid      cooperative launches                                                nested   kernels that launch kernels
//   reset     the device is reset between its kernels, with a stream and an event
//   workers   a server without CUDA forks 24 workers or a given number, eight at a time; each launches four kernels
//   many      a million launches of an empty kernel; says on stderr by how many KB the process grew over the last 90 %
//   oversubscribed  kernels go through more managed memory than the GPU has left
//   transfers sets and copies of every form stand between kernels, and the host writes anew what they came from
//   remote    a kernel on each of two GPUs writes the other's memory
//   pair      a kernel waits for one that is launched behind it, in another stream
//   late      as gate, by a function that ended at once before
//   gate      a function of the host's waits between kernels for what the program does behind their launches
#include "check.cuh"

#include <atomic>
#include <cooperative_groups.h>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace cg = cooperative_groups;

__global__ void step(unsigned *a, size_t n, unsigned by)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        a[i] = a[i] * 3 + by;
}

__global__ void total(const unsigned *a, size_t n, unsigned long long *sum)
{
    unsigned long long own = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        own += a[i];
    atomicAdd(sum, own);
}

__global__ void nothing() {}

__global__ void wait_for(volatile int *flag, unsigned *a)
{
    while (!*flag)
        ;
    a[0] += 1;
}

__global__ void wait_for_round(volatile int *round, int number, unsigned *a)
{
    while (*round < number)
        ;
    a[0] += number;
}

__global__ void set_round(volatile int *round, int number)
{
    *round = number;
}

__global__ void inner(unsigned *a, int i)
{
    a[i * 32 + threadIdx.x] += i;
}

__global__ void outer(unsigned *a)
{
    if (threadIdx.x < 8)
        inner<<<1, 32>>>(a, threadIdx.x);
}

__global__ void in_turns(unsigned *a, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < 5; round++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            a[i] = a[i] * 3 + round;
        grid.sync();
    }
}

static unsigned *make(size_t n)
{
    unsigned *a;
    CHECK(cudaMalloc(&a, n * sizeof *a));
    CHECK(cudaMemset(a, 1, n * sizeof *a));
    return a;
}

static unsigned long long sum_of(const unsigned *a, size_t n)
{
    unsigned long long *sum, result;
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    total<<<1024, 256>>>(a, n, sum);
    CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(sum));
    return result;
}

static unsigned long long flag()
{
    int *set;
    unsigned *a = make(1024);
    CHECK(cudaHostAlloc(&set, sizeof *set, cudaHostAllocMapped));
    *set = 0;
    wait_for<<<1, 1>>>(set, a);
    usleep(200000);
    *(volatile int *)set = 1;
    CHECK(cudaDeviceSynchronize());
    return sum_of(a, 1024);
}

static unsigned long long pair()
{
    int *round;
    unsigned *a = make(1024);
    cudaStream_t waits, sets;
    CHECK(cudaStreamCreateWithFlags(&waits, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&sets, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&round, sizeof *round));
    CHECK(cudaMemset(round, 0, sizeof *round));
    cudaFuncAttributes loaded; /* a kernel that is loaded only now would wait for the one that waits for it */
    CHECK(cudaFuncGetAttributes(&loaded, set_round));
    CHECK(cudaDeviceSynchronize());
    for (int number = 1; number <= 5; number++) {
        step<<<64, 256, 0, waits>>>(a, 1024, number);
        wait_for_round<<<1, 1, 0, waits>>>(round, number, a);
        set_round<<<1, 1, 0, sets>>>(round, number);
        CHECK(cudaDeviceSynchronize());
    }
    return sum_of(a, 1024);
}

static unsigned long long bigmem()
{
    size_t unused, all;
    CHECK(cudaMemGetInfo(&unused, &all));
    size_t n = all / 5 * 4 / sizeof(unsigned);
    unsigned *a = make(n);
    for (int i = 0; i < 6; i++)
        step<<<4096, 256>>>(a, n, i);
    for (int i = 0; i < 6; i++)
        step<<<64, 256>>>(a + i * 1000, 1000, i);
    return sum_of(a, n);
}

static unsigned long long managed()
{
    size_t n = (size_t)1 << 30;
    unsigned *a;
    CHECK(cudaMallocManaged(&a, n * sizeof *a));
    for (size_t i = 0; i < n; i += 1024)
        a[i] = i;
    for (int i = 0; i < 3; i++) {
        step<<<2048, 256>>>(a, n, i);
        CHECK(cudaDeviceSynchronize());
        a[5] += i;
    }
    return sum_of(a, n);
}

static unsigned long long ipc()
{
    int there[2], back[2];
    cudaIpcMemHandle_t handle;
    char done = 0;
    if (pipe(there) || pipe(back))
        exit(1);
    if (fork() == 0) {
        void *a;
        if (read(there[0], &handle, sizeof handle) != sizeof handle)
            _exit(1);
        CHECK(cudaIpcOpenMemHandle(&a, handle, cudaIpcMemLazyEnablePeerAccess));
        for (int i = 0; i < 5; i++)
            step<<<64, 256>>>((unsigned *)a, 1 << 20, i);
        CHECK(cudaDeviceSynchronize());
        if (write(back[1], &done, 1) != 1)
            _exit(1);
        exit(0);
    }
    unsigned *a = make(1 << 20);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaIpcGetMemHandle(&handle, a));
    if (write(there[1], &handle, sizeof handle) != sizeof handle || read(back[0], &done, 1) != 1)
        exit(1);
    step<<<64, 256>>>(a, 1 << 20, 7);
    unsigned long long result = sum_of(a, 1 << 20);
    wait(NULL);
    return result;
}

static unsigned long long pool()
{
    cudaStream_t streams[4];
    unsigned long long result = 0;
    for (cudaStream_t &s : streams)
        CHECK(cudaStreamCreate(&s));
    for (int k = 0; k < 40; k++) {
        cudaStream_t s = streams[k % 4];
        unsigned *a, first;
        CHECK(cudaMallocAsync(&a, 1 << 22, s));
        CHECK(cudaMemsetAsync(a, k, 1 << 22, s));
        step<<<64, 256, 0, s>>>(a, 1 << 20, k);
        CHECK(cudaMemcpyAsync(&first, a, sizeof first, cudaMemcpyDeviceToHost, s));
        CHECK(cudaStreamSynchronize(s));
        result += first;
        CHECK(cudaFreeAsync(a, s));
    }
    return result;
}

static void count_up(void *hits)
{
    ++*(int *)hits;
}

static unsigned long long host()
{
    static int hits;
    unsigned *a = make(1 << 20);
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    for (int k = 0; k < 20; k++) {
        step<<<64, 256, 0, s>>>(a, 1 << 20, k);
        CHECK(cudaLaunchHostFunc(s, count_up, &hits));
    }
    CHECK(cudaStreamSynchronize(s));
    return sum_of(a, 1 << 20) + hits * 1000003ull;
}

static std::atomic<int> opened;

static void wait_for_gate(void *number)
{
    while (opened < *(int *)number)
        usleep(100);
}

static unsigned long long gate()
{
    static int numbers[] = {1, 2, 3, 4, 5};
    unsigned *a = make(1 << 20);
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaDeviceSynchronize());
    for (int &number : numbers) {
        step<<<64, 256, 0, s>>>(a, 1 << 20, number);
        CHECK(cudaLaunchHostFunc(s, wait_for_gate, &number));
        step<<<64, 256, 0, s>>>(a, 1 << 20, number);
        usleep(10000);
        opened = number;
        CHECK(cudaStreamSynchronize(s));
    }
    return sum_of(a, 1 << 20);
}

// The same function ends at once, until it waits for what the program does behind the next launch.
static unsigned long long late()
{
    static int numbers[] = {0, 0, 0, 0, 1, 0, 2};
    unsigned *a = make(1 << 20);
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaDeviceSynchronize());
    opened = 0;
    for (int &number : numbers) {
        step<<<64, 256, 0, s>>>(a, 1 << 20, number);
        CHECK(cudaLaunchHostFunc(s, wait_for_gate, &number));
        step<<<64, 256, 0, s>>>(a, 1 << 20, number + 1);
        usleep(10000);
        if (number)
            opened = number;
    }
    CHECK(cudaStreamSynchronize(s));
    return sum_of(a, 1 << 20);
}

static unsigned long long grid()
{
    int n = 1 << 20;
    unsigned *a = make(n);
    void *arguments[] = {&a, &n};
    for (int i = 0; i < 4; i++)
        CHECK(cudaLaunchCooperativeKernel((void *)in_turns, dim3(128), dim3(256), arguments, 0, 0));
    return sum_of(a, n);
}

static unsigned long long nested()
{
    unsigned *a = make(1024);
    for (int i = 0; i < 5; i++)
        outer<<<1, 32>>>(a);
    CHECK(cudaDeviceSynchronize());
    return sum_of(a, 1024);
}

static unsigned long long reset()
{
    unsigned long long result = 0;
    for (int round = 0; round < 3; round++) {
        cudaStream_t stream;
        cudaEvent_t event;
        CHECK(cudaStreamCreate(&stream));
        CHECK(cudaEventCreate(&event));
        unsigned *a = make(1 << 16);
        step<<<64, 256, 0, stream>>>(a, 1 << 16, round);
        CHECK(cudaEventRecord(event, stream));
        CHECK(cudaDeviceSynchronize());
        result = result * 31 + sum_of(a, 1 << 16);
        CHECK(cudaDeviceReset());
    }
    return result;
}

static unsigned long long work(int number)
{
    unsigned *a = make(1 << 16);
    for (int k = 0; k < 3; k++)
        step<<<64, 256>>>(a, 1 << 16, number + k);
    return sum_of(a, 1 << 16);
}

static unsigned long long workers(int count)
{
    int ends[2], running = 0;
    unsigned long long result = 0, one;
    if (pipe(ends) != 0)
        exit(1);
    for (int i = 0; i < count || running > 0;) {
        if (i < count && running < 8) {
            pid_t child = fork();
            if (child < 0)
                exit(1);
            if (child == 0) {
                one = work(i);
                exit(write(ends[1], &one, sizeof one) == sizeof one ? 0 : 1);
            }
            i++, running++;
            continue;
        }
        int status;
        if (wait(&status) < 0 || status != 0) {
            fprintf(stderr, "odd: a worker ended with the status %d\n", status);
            exit(1);
        }
        running--;
        if (read(ends[0], &one, sizeof one) != sizeof one)
            exit(1);
        result += one; // in any order
    }
    return result;
}

static long resident_kb()
{
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &resident) != 2)
        exit(1);
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static unsigned long long many(int count)
{
    long before = 0;
    for (int i = 0; i < count; i++) {
        if (i == count / 10)
            before = resident_kb();
        nothing<<<1, 32>>>();
    }
    CHECK(cudaDeviceSynchronize());
    fprintf(stderr, "grew by %ld KB\n", resident_kb() - before);
    return count;
}

static unsigned long long oversubscribed()
{
    size_t left, all, size = 6ull << 30, held = 0;
    std::vector<void *> ballast;
    CHECK(cudaMemGetInfo(&left, &all));
    for (void *piece; left - held > (4ull << 30) && cudaMalloc(&piece, 1ull << 30) == cudaSuccess; held += 1ull << 30)
        ballast.push_back(piece);
    cudaGetLastError();
    unsigned *a;
    CHECK(cudaMallocManaged(&a, size));
    memset(a, 1, size / 8);
    for (int k = 0; k < 3; k++)
        step<<<256, 256>>>(a, size / sizeof *a, k);
    CHECK(cudaDeviceSynchronize());
    a[0] += 1;
    return sum_of(a, size / sizeof *a);
}

static unsigned long long remote()
{
    unsigned *own[2];
    unsigned long long result = 0;
    for (int gpu = 0; gpu < 2; gpu++) {
        CHECK(cudaSetDevice(gpu));
        CHECK(cudaDeviceEnablePeerAccess(1 - gpu, 0));
        own[gpu] = make(1 << 20);
        CHECK(cudaDeviceSynchronize());
    }
    for (int k = 0; k < 8; k++) {
        CHECK(cudaSetDevice(k % 2));
        step<<<64, 256>>>(own[1 - k % 2], 1 << 20, k);
        step<<<64, 256>>>(own[1 - k % 2], 1 << 20, k + 1);
        CHECK(cudaDeviceSynchronize());
    }
    for (int gpu = 0; gpu < 2; gpu++) {
        CHECK(cudaSetDevice(gpu));
        result = result * 31 + sum_of(own[gpu], 1 << 20);
    }
    return result;
}

// From the host: the source is written anew as soon as the program may.
static void copy_in(unsigned *to, unsigned *host, int round)
{
    for (int i = 0; i < 256; i++)
        host[i] = i * round;
    CHECK(cudaMemcpyAsync(to, host, 64, cudaMemcpyDefault));
    CHECK(cudaMemcpy2DAsync(to + 64, 128, host + 32, 64, 32, 4, cudaMemcpyHostToDevice));
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(host, 64, 64, 2);
    box.dstPtr = make_cudaPitchedPtr(to + 1024, 128, 128, 4);
    box.extent = make_cudaExtent(32, 2, 3);
    box.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3DAsync(&box));
    CHECK(cudaDeviceSynchronize());
    memset(host, 255, 256 * sizeof *host);
}

static unsigned long long transfers()
{
    const size_t n = 1 << 16;
    unsigned *a = make(n), *b = make(n), pageable[256], *pinned, back[64];
    unsigned long long result = 0;
    CHECK(cudaMallocHost(&pinned, 256 * sizeof *pinned));
    for (int round = 1; round < 20; round++) {
        step<<<64, 256>>>(a, n, round);
        CHECK(cudaMemsetAsync(b, round, 100));
        CHECK(cudaMemset2DAsync(b + 512, 256, round, 64, 5));
        copy_in(b + 2048, pageable, round);
        copy_in(b + 8192, pinned, round);
        step<<<64, 256>>>(b, n, round);
        CHECK(cudaMemcpyAsync(a + 100, b, 4000, cudaMemcpyDefault));
        CHECK(cudaMemcpy2DAsync(a + 4096, 512, b + 2048, 256, 128, 8, cudaMemcpyDeviceToDevice));
        cudaMemcpy3DParms box = {};
        box.srcPtr = make_cudaPitchedPtr(b, 256, 256, 8);
        box.dstPtr = make_cudaPitchedPtr(a + 16384, 512, 512, 8);
        box.dstPos = make_cudaPos(32, 1, 1);
        box.extent = make_cudaExtent(64, 4, 3);
        box.kind = cudaMemcpyDeviceToDevice;
        CHECK(cudaMemcpy3DAsync(&box));
        CHECK(cudaMemcpy2D(back, 32, a + 4096, 512, 32, 8, cudaMemcpyDeviceToHost));
        for (unsigned word : back)
            result = result * 31 + word;
    }
    return result * 31 + sum_of(a, n) * 7 + sum_of(b, n);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        unsigned long long (*run)();
    } kinds[] = {{"flag", flag}, {"pair", pair}, {"bigmem", bigmem}, {"managed", managed}, {"ipc", ipc},       {"pool", pool},
                 {"host", host}, {"gate", gate}, {"late", late}, {"grid", grid},     {"nested", nested},   {"remote", remote},
                 {"oversubscribed", oversubscribed}, {"transfers", transfers}, {"reset", reset}};
    const char *kind = argc > 1 ? argv[1] : "";
    if (strcmp(kind, "many") == 0) {
        printf("odd: many %llu\n", many(argc > 2 ? atoi(argv[2]) : 1000000));
        return 0;
    }
    if (strcmp(kind, "workers") == 0) {
        printf("odd: workers %llu\n", workers(argc > 2 ? atoi(argv[2]) : 24));
        return 0;
    }
    for (const auto &k : kinds)
        if (strcmp(kind, k.name) == 0) {
            printf("odd: %s %llu\n", k.name, k.run());
            return 0;
        }
    fprintf(stderr, "odd: found the kind '%s', which is not known\n", kind);
    return 2;
}
