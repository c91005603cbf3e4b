// A program for tests/bench/range_floor.py: range_floor WORK [context|device]
// WORK is small (launches of one small kernel) or mix (kernels on two streams, with sets, copies and events between, as a
// training step has them). Does a part of the work to warm up, then prints what the rest took, and a sum of the results.
// With a scope it is the floor: it asks capture-agent, which must have started it, for the plan, and collects it with
// CUPTI alone: as many launches at once, each a range, repeated in each pass, and nothing of their memory put back.
// RANGE_FLOOR_LAUNCHES: how many launches the rest is. Of the floor alone, RANGE_FLOOR_BATCH: how many at once, and
// RANGE_FLOOR_FIT: with counter data that has room for just these; RANGE_FLOOR_COPY: with counter data of each part that
// CUPTI prepares once, and that is copied from then on.
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda.h>

static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "range_floor: %s failed\n", what);
        exit(1);
    }
}

#define NEED_CUDA(call) need((call) == cudaSuccess, #call)
#define NEED_CUPTI(call) need((call) == CUPTI_SUCCESS, #call)
#define PARAMS(type, name)                                                                                             \
    type name = {};                                                                                                    \
    name.structSize = type##_STRUCT_SIZE

static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- the work ----------------------------------------------------------------------------------------------------

enum { SIDE = 256, COUNT = SIDE * SIDE, TILE = 16 };

__global__ void add_one(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void multiply(const float *a, const float *b, float *c)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < SIDE; k += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * SIDE + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * SIDE + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[row * SIDE + column] = sum;
}

__global__ void relu(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = x[i] > 0 ? x[i] : 0;
}

__global__ void normalize(float *x) // each block a row
{
    float *row = x + blockIdx.x * SIDE, sum = 1;
    for (int i = 0; i < SIDE; i++)
        sum += fabsf(row[i]);
    __syncthreads();
    row[threadIdx.x] /= sum;
}

__global__ void update(float *weights, const float *gradient, const float *rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    weights[i] -= *rate * gradient[i];
}

__global__ void add_up(const float *x, unsigned *total)
{
    atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x] > 0.001f);
}

__global__ void gather(float *to, const float *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i * 97 % COUNT];
}

struct work {
    bool mix;
    int launches; // of a step
    float *a, *b, *c, *d, *rate;
    unsigned *total, *host_total; // what is pinned is written by copies alone
    float *host_rate;
    cudaStream_t one, other;
    cudaEvent_t there, back;
};

static work prepare(bool mix)
{
    work w = {mix, mix ? 8 : 1};
    float **all[] = {&w.a, &w.b, &w.c, &w.d};
    std::vector<float> values(COUNT);
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)(i * 31 % 17 - 8) / 8;
    for (float **one : all) {
        NEED_CUDA(cudaMalloc(one, COUNT * sizeof(float)));
        NEED_CUDA(cudaMemcpy(*one, values.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice));
    }
    NEED_CUDA(cudaMalloc(&w.rate, sizeof *w.rate));
    NEED_CUDA(cudaMalloc(&w.total, sizeof *w.total));
    NEED_CUDA(cudaMallocHost(&w.host_total, sizeof *w.host_total));
    NEED_CUDA(cudaMallocHost(&w.host_rate, sizeof *w.host_rate));
    *w.host_total = 0;
    *w.host_rate = 0.001f;
    for (cudaStream_t *stream : {&w.one, &w.other})
        NEED_CUDA(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (cudaEvent_t *event : {&w.there, &w.back})
        NEED_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    NEED_CUDA(cudaDeviceSynchronize());
    return w;
}

static void step(const work &w)
{
    const dim3 tiles(SIDE / TILE, SIDE / TILE), tile(TILE, TILE);
    if (!w.mix) {
        add_one<<<64, 256, 0, w.one>>>(w.a);
        return;
    }
    cudaMemsetAsync(w.total, 0, sizeof *w.total, w.one);
    multiply<<<tiles, tile, 0, w.one>>>(w.a, w.b, w.c);
    relu<<<SIDE, SIDE, 0, w.one>>>(w.c);
    multiply<<<tiles, tile, 0, w.one>>>(w.c, w.b, w.d);
    normalize<<<SIDE, SIDE, 0, w.one>>>(w.d);
    cudaEventRecord(w.there, w.one);
    cudaStreamWaitEvent(w.other, w.there, 0);
    cudaMemcpyAsync(w.rate, w.host_rate, sizeof *w.rate, cudaMemcpyHostToDevice, w.other);
    cudaMemcpyAsync(w.c, w.d, COUNT * sizeof(float), cudaMemcpyDeviceToDevice, w.other);
    update<<<SIDE, SIDE, 0, w.other>>>(w.b, w.c, w.rate);
    normalize<<<SIDE, SIDE, 0, w.other>>>(w.c);
    cudaEventRecord(w.back, w.other);
    add_up<<<SIDE, SIDE, 0, w.one>>>(w.d, w.total);
    cudaStreamWaitEvent(w.one, w.back, 0);
    gather<<<SIDE, SIDE, 0, w.one>>>(w.a, w.c);
    cudaMemcpyAsync(w.host_total, w.total, sizeof *w.host_total, cudaMemcpyDeviceToHost, w.one);
    cudaStreamSynchronize(w.one);
}

static void steps(const work &w, int launches)
{
    for (int i = 0; i < launches; i += w.launches)
        step(w);
}

static double sum(const work &w)
{
    std::vector<float> values(COUNT);
    double all = *w.host_total;
    NEED_CUDA(cudaDeviceSynchronize());
    NEED_CUDA(cudaMemcpy(values.data(), w.a, COUNT * sizeof(float), cudaMemcpyDeviceToHost));
    for (float value : values)
        all += value;
    return all;
}

// What is launched between two of these is replayed together: memory that is given back ends a batch.
static double end_batch(void **memory)
{
    NEED_CUDA(cudaDeviceSynchronize());
    if (*memory)
        NEED_CUDA(cudaFree(*memory));
    double then = now();
    NEED_CUDA(cudaMalloc(memory, 1 << 20));
    return then;
}

// ---- what capture-agent wants (agent/common/message.h) -----------------------------------------------------------

struct part {
    std::vector<std::string> metrics;
    uint32_t passes;
};

struct plan {
    uint32_t at_once;
    std::vector<part> parts;
    std::vector<uint8_t> configs[2]; // for the context, for the device
    uint32_t passes;
};

static void put(std::vector<uint8_t> &out, const void *bytes, size_t size)
{
    out.insert(out.end(), (const uint8_t *)bytes, (const uint8_t *)bytes + size);
}

static void put_number(std::vector<uint8_t> &out, uint32_t number)
{
    put(out, &number, sizeof number);
}

static void put_text(std::vector<uint8_t> &out, const char *text)
{
    put_number(out, (uint32_t)strlen(text));
    put(out, text, strlen(text));
}

static void take(int agent, void *to, size_t size)
{
    for (size_t got = 0; got < size;) {
        ssize_t n = read(agent, (char *)to + got, size - got);
        need(n > 0, "reading from capture-agent");
        got += (size_t)n;
    }
}

static uint32_t take_number(int agent)
{
    uint32_t number;
    take(agent, &number, sizeof number);
    return number;
}

static int connect_to_agent()
{
    const char *path = getenv("COUNTERWORKS_SOCKET");
    sockaddr_un address = {AF_UNIX};
    need(path && strlen(path) < sizeof address.sun_path, "finding capture-agent");
    strcpy(address.sun_path, path);
    int agent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(connect(agent, (sockaddr *)&address, sizeof address) == 0, "connecting to capture-agent");
    return agent;
}

static void say_hello(int agent)
{
    char pci[32];
    std::vector<uint8_t> hello, head;
    PARAMS(CUpti_Device_GetChipName_Params, chip);
    NEED_CUPTI(cuptiDeviceGetChipName(&chip));
    need(cuDeviceGetPCIBusId(pci, sizeof pci, 0) == CUDA_SUCCESS, "cuDeviceGetPCIBusId");
    put_number(hello, (uint32_t)getpid());
    put_text(hello, "range_floor");
    put_number(hello, 0);
    put_number(hello, 2);
    for (const char *text : {"chip", chip.pChipName, "pci", (const char *)pci})
        put_text(hello, text);
    const uint64_t size = hello.size();
    put_number(head, 1);
    put(head, &size, sizeof size);
    head.insert(head.end(), hello.begin(), hello.end());
    need(write(agent, head.data(), head.size()) == (ssize_t)head.size(), "writing to capture-agent");
}

static plan ask_agent()
{
    plan p = {};
    int agent = connect_to_agent(); // stays open: the agent waits for what comes
    say_hello(agent);
    need(take_number(agent) == 2, "being accepted by capture-agent");
    for (int skipped = 0; skipped < 3; skipped++) // the size, and the mode
        take_number(agent);
    p.at_once = take_number(agent);
    p.parts.resize(take_number(agent));
    for (part &one : p.parts) {
        one.metrics.resize(take_number(agent));
        for (std::string &name : one.metrics) {
            name.resize(take_number(agent));
            take(agent, &name[0], name.size());
        }
        one.passes = take_number(agent);
        p.passes += one.passes;
    }
    for (std::vector<uint8_t> &config : p.configs) {
        config.resize(take_number(agent));
        take(agent, config.data(), config.size());
    }
    return p;
}

// ---- CUPTI alone -------------------------------------------------------------------------------------------------

enum { CHOOSE, PREPARE, SETUP, START, LAUNCH, STOP, DECODE, PHASES };
static const char *const phases[PHASES] = {"choose", "prepare", "setup", "start", "launch", "stop", "decode"};

struct profiler {
    CUpti_RangeProfiler_Object *object;
    const plan *what;
    const std::vector<uint8_t> *config;
    std::vector<std::vector<uint8_t>> images, prepared; // of each part; prepared: empty where it is to be done again
    int batch;
    bool fit, copies;
    double seconds[PHASES], since;
};

static void spend(profiler &p, int phase)
{
    double then = now();
    p.seconds[phase] += then - p.since;
    p.since = then;
}

static size_t choose(profiler &p, const part &one, size_t ranges)
{
    std::vector<const char *> names;
    for (const std::string &name : one.metrics)
        names.push_back(name.c_str());
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = p.object;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = size.maxNumRangeTreeNodes = ranges;
    NEED_CUPTI(cuptiRangeProfilerGetCounterDataSize(&size));
    return size.counterDataSize;
}

static void open(profiler &p)
{
    CUcontext context;
    PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    need(cuCtxGetCurrent(&context) == CUDA_SUCCESS, "cuCtxGetCurrent");
    enable.ctx = context;
    NEED_CUPTI(cuptiRangeProfilerEnable(&enable));
    p.object = enable.pRangeProfilerObject;
    for (const part &one : p.what->parts)
        p.images.emplace_back(choose(p, one, p.what->at_once));
}

// The size of the part's counter data, which is ready for the first range.
static size_t prepare_image(profiler &p, size_t number, int launches)
{
    std::vector<uint8_t> &image = p.images[number];
    size_t size = image.size();
    if (p.copies && !p.prepared[number].empty()) {
        memcpy(image.data(), p.prepared[number].data(), size);
        spend(p, PREPARE);
        return size;
    }
    if (p.fit || p.what->parts.size() > 1)
        size = choose(p, p.what->parts[number], p.fit ? (size_t)launches : p.what->at_once);
    spend(p, CHOOSE);
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init);
    init.pRangeProfilerObject = p.object;
    init.counterDataSize = size;
    init.pCounterData = image.data();
    NEED_CUPTI(cuptiRangeProfilerCounterDataImageInitialize(&init));
    if (p.copies)
        p.prepared[number] = image;
    spend(p, PREPARE);
    return size;
}

static void configure(profiler &p, size_t number, uint32_t pass, int launches)
{
    std::vector<uint8_t> &image = p.images[number];
    const size_t size = prepare_image(p, number, launches);
    PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
    config.pRangeProfilerObject = p.object;
    config.configSize = p.config->size();
    config.pConfig = p.config->data();
    config.counterDataImageSize = size;
    config.pCounterDataImage = image.data();
    config.range = CUPTI_AutoRange;
    config.replayMode = CUPTI_UserReplay;
    config.maxRangesPerPass = p.what->at_once;
    config.numNestingLevels = config.minNestingLevel = config.targetNestingLevel = 1;
    config.passIndex = pass;
    NEED_CUPTI(cuptiRangeProfilerSetConfig(&config));
}

static void run_pass(profiler &p, const work &w, int launches)
{
    PARAMS(CUpti_RangeProfiler_Start_Params, start);
    PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    start.pRangeProfilerObject = stop.pRangeProfilerObject = p.object;
    NEED_CUPTI(cuptiRangeProfilerStart(&start));
    spend(p, START);
    steps(w, launches);
    NEED_CUDA(cudaDeviceSynchronize());
    spend(p, LAUNCH);
    NEED_CUPTI(cuptiRangeProfilerStop(&stop));
    spend(p, STOP);
}

// All launches are in it; where it was copied, something was counted, too.
static void check_image(profiler &p, size_t number, int launches)
{
    const std::vector<uint8_t> &image = p.images[number];
    PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = image.data();
    info.counterDataImageSize = image.size();
    NEED_CUPTI(cuptiRangeProfilerGetCounterDataInfo(&info));
    need(info.numTotalRanges == (size_t)launches, "a range for each launch");
    size_t changed = 0;
    for (size_t i = 0; p.copies && i < image.size(); i++)
        changed += image[i] != p.prepared[number][i];
    need(!p.copies || changed > (size_t)launches, "counting in a copy of prepared counter data");
    p.since = now();
}

// Launches that fit in at once, in all passes.
static void collect(profiler &p, const work &w, int launches)
{
    uint32_t pass = 0;
    p.since = now();
    for (size_t number = 0; number < p.what->parts.size(); number++) {
        configure(p, number, pass, launches);
        spend(p, SETUP);
        for (uint32_t i = 0; i < p.what->parts[number].passes; i++, pass++)
            run_pass(p, w, launches);
        PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
        decode.pRangeProfilerObject = p.object;
        NEED_CUPTI(cuptiRangeProfilerDecodeData(&decode));
        need(decode.numOfRangeDropped == 0, "keeping all ranges");
        spend(p, DECODE);
        check_image(p, number, launches);
    }
}

static void collect_all(profiler &p, const work &w, int launches)
{
    int most = p.batch / w.launches * w.launches;
    for (int at = 0; at < launches; at += most)
        collect(p, w, launches - at < most ? launches - at : most);
}

static int floor_of(const work &w, bool device, int warm, int launches)
{
    const plan what = ask_agent();
    profiler p = {};
    p.what = &what;
    p.config = &what.configs[device];
    const char *batch = getenv("RANGE_FLOOR_BATCH");
    p.batch = batch ? atoi(batch) : (int)what.at_once;
    p.fit = getenv("RANGE_FLOOR_FIT");
    p.copies = getenv("RANGE_FLOOR_COPY");
    p.prepared.resize(what.parts.size());
    need(!p.fit || !p.copies, "one of RANGE_FLOOR_FIT and RANGE_FLOOR_COPY");
    need(!p.config->empty(), "finding a plan for this scope");
    need(p.batch >= w.launches && p.batch <= (int)what.at_once, "fitting a batch in");
    open(p);
    collect_all(p, w, warm);
    memset(p.seconds, 0, sizeof p.seconds);
    double began = now();
    collect_all(p, w, launches);
    printf("loop %.6f launches %d passes %u parts %zu room %u", now() - began, launches, what.passes, what.parts.size(),
           what.at_once);
    for (int i = 0; i < PHASES; i++)
        printf(" %s %.6f", phases[i], p.seconds[i]);
    putchar('\n');
    return 0;
}

int main(int count, char **arguments)
{
    const char *name = count > 1 ? arguments[1] : "", *scope = count > 2 ? arguments[2] : "";
    const char *more = getenv("RANGE_FLOOR_LAUNCHES");
    const int launches = more ? atoi(more) : 600, warm = 304;
    bool mix = strcmp(name, "mix") == 0, floor = *scope;
    if (launches <= 0 || launches % 8 || (!mix && strcmp(name, "small") != 0) ||
        (floor && strcmp(scope, "context") != 0 && strcmp(scope, "device") != 0)) {
        fprintf(stderr, "usage: range_floor small|mix [context|device]\n");
        return 2;
    }
    if (floor)
        unsetenv("CUDA_INJECTION64_PATH"); // the agent's library stays out of it
    need(cuInit(0) == CUDA_SUCCESS, "cuInit");
    NEED_CUDA(cudaFree(0));
    if (floor) {
        PARAMS(CUpti_Profiler_Initialize_Params, init);
        NEED_CUPTI(cuptiProfilerInitialize(&init));
    }
    const work w = prepare(mix);
    if (floor)
        return floor_of(w, strcmp(scope, "device") == 0, warm, launches);
    void *memory = NULL;
    end_batch(&memory);
    steps(w, warm);
    double began = end_batch(&memory);
    steps(w, launches);
    printf("loop %.6f launches %d", end_batch(&memory) - began, launches);
    printf(" sum %.9g\n", sum(w));
    return 0;
}
