// Runs the cases, compares what the two kernels of each leave, and times them. README.md says how.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "advice.cuh"

#define CHECK(call) check((call), #call)

static void check(cudaError_t status, const char *call)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "advice: %s: %s\n", call, cudaGetErrorString(status));
    exit(2);
}

constexpr int most_launches = 100; // so that sums of floats stay exact

static std::vector<const Case *> &cases()
{
    static std::vector<const Case *> list;
    return list;
}

Case::Case(const char *name, Launch a, Launch b) : name(name), launch{a, b}
{
    cases().push_back(this);
}

__global__ void fill(uint32_t *in, float *numbers)
{
    uint32_t i = thread(), word = mix(i + 1);
    in[i] = word;
    numbers[i] = (float)(word >> 28);
}

__global__ void add_up(const uint32_t *out, uint32_t count, unsigned long long *sum)
{
    unsigned long long mine = 0;
    for (uint32_t i = thread(); i < count; i += threads()) {
        if (out[i])
            mine += mix(out[i] ^ mix(i)) + ((unsigned long long)out[i] << 20);
    }
    atomicAdd(sum, mine);
}

struct Run {
    float us; // of the median launch
    unsigned long long sum;
};

static struct {
    Memory memory;
    unsigned long long *sum;
    std::vector<cudaEvent_t> events;
} device;

static void prepare(int launches)
{
    cudaDeviceProp properties;
    uint32_t *in, *host_in;
    float *numbers;
    Memory &m = device.memory;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaMalloc(&in, words * 4ull));
    CHECK(cudaMalloc(&numbers, words * 4ull));
    CHECK(cudaMalloc(&m.out, words * 4ull));
    CHECK(cudaMalloc(&device.sum, sizeof *device.sum));
    CHECK(cudaMallocHost(&host_in, host_words * 4ull));
    CHECK(cudaMallocHost(&m.host_out, host_words * 4ull));
    fill<<<words / 256, 256>>>(in, numbers);
    CHECK(cudaMemcpy(host_in, in, host_words * 4ull, cudaMemcpyDefault));
    m.in = in;
    m.numbers = numbers;
    m.host_in = host_in;
    m.sms = (uint32_t)properties.multiProcessorCount;
    device.events.resize(2 * (size_t)launches);
    for (cudaEvent_t &event : device.events)
        CHECK(cudaEventCreate(&event));
}

static float median_us()
{
    std::vector<float> us;
    for (size_t k = 0; k < device.events.size(); k += 2) {
        float ms;
        CHECK(cudaEventElapsedTime(&ms, device.events[k], device.events[k + 1]));
        us.push_back(ms * 1000);
    }
    std::sort(us.begin(), us.end());
    return us[us.size() / 2];
}

static Run run(Case::Launch launch)
{
    const Memory &m = device.memory;
    Run result;
    CHECK(cudaMemset(m.out, 0, words * 4ull));
    CHECK(cudaMemset(device.sum, 0, sizeof *device.sum));
    memset(m.host_out, 0, host_words * 4ull);
    for (size_t k = 0; k < device.events.size(); k += 2) {
        CHECK(cudaEventRecord(device.events[k]));
        launch(m);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(device.events[k + 1]));
    }
    CHECK(cudaDeviceSynchronize());
    add_up<<<1024, 256>>>(m.out, words, device.sum);
    add_up<<<64, 256>>>(m.host_out, host_words, device.sum);
    CHECK(cudaMemcpy(&result.sum, device.sum, sizeof result.sum, cudaMemcpyDefault));
    result.us = median_us();
    return result;
}

// Says how kernel `which` ran, and the other one of the case where `both`; false where they leave different words.
static bool run_case(const Case &c, int which, bool both)
{
    Run runs[2] = {};
    bool twins = c.launch[0] && c.launch[1];
    for (int k = 0; k < 2; k++) {
        if (c.launch[k])
            runs[k] = run(c.launch[k]);
    }
    for (int k = 0; k < 2; k++) {
        if (c.launch[k] && (both || k == which))
            printf("%s%c\t%.1f us\t%016llx\n", c.name, 'a' + k, runs[k].us, runs[k].sum);
    }
    if (!twins || runs[0].sum == runs[1].sum)
        return true;
    fprintf(stderr, "advice: %sa and %sb differ\n", c.name, c.name);
    return false;
}

static bool time_case(const Case &c)
{
    Run a = run(c.launch[0]);
    if (!c.launch[1]) {
        printf("%s\t%.1f\t\talone\n", c.name, a.us);
        return true;
    }
    Run b = run(c.launch[1]);
    printf("%s\t%.1f\t%.1f\t%s\n", c.name, a.us, b.us, a.sum == b.sum ? "equal" : "different");
    return a.sum == b.sum;
}

static int list_kernels()
{
    for (const Case *c : cases()) {
        for (int k = 0; k < 2; k++) {
            if (c->launch[k])
                printf("%s%c\n", c->name, 'a' + k);
        }
    }
    return 0;
}

static int usage()
{
    fputs("usage: advice KERNEL [LAUNCHES]   one kernel and its twin, such as k07a\n"
          "       advice --all [LAUNCHES]    all of them\n"
          "       advice --times [LAUNCHES]  a table: case, us of a, us of b, equal or different\n"
          "       advice --list              the names of all kernels\n"
          "20 launches unless said, at most 100\n",
          stderr);
    return 2;
}

// Of all cases, or of the one that has kernel `name`; null where none has.
static int run_cases(const char *name)
{
    bool right = true, found = false, all = strcmp(name, "--all") == 0, times = strcmp(name, "--times") == 0;
    for (const Case *c : cases()) {
        size_t length = strlen(c->name);
        int which = strlen(name) == length + 1 && strncmp(name, c->name, length) == 0 ? name[length] - 'a' : -1;
        if (times)
            right &= time_case(*c);
        else if (all || which == 0 || (which == 1 && c->launch[1]))
            right &= run_case(*c, which, all);
        else
            continue;
        found = true;
    }
    return found ? !right : usage();
}

int main(int argc, char **argv)
{
    int launches = argc == 3 ? atoi(argv[2]) : 20;
    if (argc < 2 || argc > 3 || launches < 1 || launches > most_launches)
        return usage();
    std::sort(cases().begin(), cases().end(),
              [](const Case *x, const Case *y) { return atoi(x->name + 1) < atoi(y->name + 1); });
    if (strcmp(argv[1], "--list") == 0)
        return list_kernels();
    prepare(launches);
    return run_cases(argv[1]);
}
