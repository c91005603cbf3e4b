/* make_trace FILE [NAME=NUMBER...]: a trace of a program that never ran, of any size, the same for the same numbers. It
 * trains a network: each process has a GPU, a thread that goes forward and one that goes backward, a stream that
 * computes, one that copies, and with several processes one that communicates. What is random is so by `seed`.
 *
 * It writes blocks as an agent does, and takes the same memory for every size. For tests and benchmarks of readers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/counter_data.h"
#include "tests/support/add_rows.h"

enum { FLUSH_AT = 1 << 20, MOST_PROCESSES = 64, LAYERS = 12, KERNELS_A_LAYER = 8, SHAPES = 12 };

/* ---- what is asked for ------------------------------------------------------------------------------------------ */

static struct number {
    const char *name;
    uint64_t value;
} numbers[] = {
    {"launches", 10000},               /* kernels at least, of all processes */
    {"processes", 1},                  /* ranks, each with a GPU of its own */
    {"seed", 1},         {"calls", 1}, /* 0: no calls of runtime and driver */
    {"nvtx", 1},                       /* 0: no ranges */
    {"graphs", 0},                     /* every so many steps runs as a CUDA graph; 0 none */
    {"dropped", 0},                    /* so many kernels are lost of 1000 */
    {"untimed", 0},                    /* so many kernels have no times of 1000 */
    {"cut", 0},                        /* 1: the file ends without its end */
};
enum { LAUNCHES, PROCESSES, SEED, CALLS, NVTX, GRAPHS, DROPPED, UNTIMED, CUT, NUMBER_COUNT };

static uint64_t want(int number)
{
    return numbers[number].value;
}

static void read_numbers(int count, char **words)
{
    for (int i = 0; i < count; i++) {
        const size_t length = strcspn(words[i], "=");
        int n = 0;
        while (n < NUMBER_COUNT &&
               (strlen(numbers[n].name) != length || strncmp(numbers[n].name, words[i], length) != 0))
            n++;
        if (n == NUMBER_COUNT || !words[i][length]) {
            fprintf(stderr, "make_trace: found '%s', expected NAME=NUMBER with one of", words[i]);
            for (n = 0; n < NUMBER_COUNT; n++)
                fprintf(stderr, " %s", numbers[n].name);
            fputs("\n", stderr);
            exit(2);
        }
        numbers[n].value = strtoull(words[i] + length + 1, NULL, 10);
    }
    if (want(PROCESSES) < 1 || want(PROCESSES) > MOST_PROCESSES) {
        fprintf(stderr, "make_trace: found %llu processes, expected 1 to %d\n", (unsigned long long)want(PROCESSES),
                MOST_PROCESSES);
        exit(2);
    }
}

static uint64_t random_state;

/* Less than `most`. */
static uint64_t roll(uint64_t most)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % most;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

enum text {
    NONE,
    GEMM,
    GEMM_SMALL,
    SOFTMAX,
    NORM,
    ADD,
    DROPOUT,
    LOSS,
    ADAM,
    NCCL,
    LAUNCH,
    LAUNCH_EX,
    COPY_ASYNC,
    COPY_SYNC,
    MEMSET_ASYNC,
    STREAM_SYNC,
    MALLOC,
    GRAPH_LAUNCH,
    HOST_TO_DEVICE,
    DEVICE_TO_HOST,
    PAGEABLE,
    PINNED,
    DEVICE,
    PUSH,
    START,
    STEP,
    FORWARD,
    BACKWARD,
    OPTIMIZER,
    DATA,
    EPOCH,
    NCCL_DOMAIN,
    ALL_REDUCE,
    CHECKPOINT,
    STREAM,
    THREAD,
    AUTOGRAD,
    NCCL_STREAM,
    MODULE_LOADING,
    LAZY_LOADING,
    BUFFER_FLUSH,
    ALLOCATE,
    FREE,
    REGULAR,
    KIND_KERNEL,
    KIND_RUNTIME,
    KIND_DRIVER,
    KIND_NVTX,
    KIND_PCIE,
    NOTE_HELD,
    LAYER_0
};
static const char *const texts[] = {
    [NONE] = "",
    [GEMM] = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
    [GEMM_SMALL] = "ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nn",
    [SOFTMAX] = "_Z20softmax_warp_forwardIfffLi10ELb0ELb0EEvPT0_PKT_iiiPKbib",
    [NORM] = "_Z28vectorized_layer_norm_kernelIffEviT0_PKT_S3_S3_PS0_S4_PS1_",
    [ADD] = "_Z29vectorized_elementwise_kernelILi4E15CUDAFunctor_addIfEEviT0_",
    [DROPOUT] = "_Z20fused_dropout_kernelIffjLi1ELi4EEvPKT_PS0_PhfT1_",
    [LOSS] = "_Z21nll_loss_forward_kernIfEvPKT_PKlPS0_i",
    [ADAM] = "_Z25multi_tensor_apply_kernelI20FusedAdamMathFunctorEviT_",
    [NCCL] = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    [LAUNCH] = "cudaLaunchKernel_v7000",
    [LAUNCH_EX] = "cuLaunchKernelEx",
    [COPY_ASYNC] = "cudaMemcpyAsync_v3020",
    [COPY_SYNC] = "cudaMemcpy_v3020",
    [MEMSET_ASYNC] = "cudaMemsetAsync_v3020",
    [STREAM_SYNC] = "cudaStreamSynchronize_v3020",
    [MALLOC] = "cudaMalloc_v3020",
    [GRAPH_LAUNCH] = "cudaGraphLaunch_v10000",
    [HOST_TO_DEVICE] = "HtoD",
    [DEVICE_TO_HOST] = "DtoH",
    [PAGEABLE] = "pageable",
    [PINNED] = "pinned",
    [DEVICE] = "device",
    [PUSH] = "push",
    [START] = "start",
    [STEP] = "step",
    [FORWARD] = "forward",
    [BACKWARD] = "backward",
    [OPTIMIZER] = "optimizer",
    [DATA] = "load batch",
    [EPOCH] = "epoch",
    [NCCL_DOMAIN] = "NCCL",
    [ALL_REDUCE] = "ncclAllReduce",
    [CHECKPOINT] = "checkpoint",
    [STREAM] = "stream",
    [THREAD] = "thread",
    [AUTOGRAD] = "autograd",
    [NCCL_STREAM] = "collectives",
    [MODULE_LOADING] = "module_loading",
    [LAZY_LOADING] = "lazy_function_loading",
    [BUFFER_FLUSH] = "cupti_buffer_flush",
    [ALLOCATE] = "allocate",
    [FREE] = "free",
    [REGULAR] = "regular",
    [KIND_KERNEL] = "kernel",
    [KIND_RUNTIME] = "runtime",
    [KIND_DRIVER] = "driver",
    [KIND_NVTX] = "nvtx_range",
    [KIND_PCIE] = "link",
    [NOTE_HELD] = "found NVLink counters held by another program, expected none",
};
static const struct shape {
    enum text name;
    uint32_t grid, grid_y, block, registers, shared;
    uint32_t ns; /* that it runs, about */
} shapes[SHAPES] = {
    {GEMM, 96, 8, 256, 234, 66560, 52000}, {GEMM_SMALL, 24, 12, 128, 168, 49152, 9000},
    {GEMM, 32, 8, 256, 234, 66560, 31000}, {SOFTMAX, 1536, 1, 128, 32, 0, 11000},
    {NORM, 4096, 1, 128, 40, 24, 7200},    {ADD, 3072, 1, 128, 24, 0, 5600},
    {ADD, 192, 1, 128, 24, 0, 1800},       {DROPOUT, 640, 1, 256, 30, 0, 6100},
    {LOSS, 1, 1, 32, 28, 0, 4100},         {ADAM, 320, 1, 512, 56, 0, 61000},
    {NCCL, 24, 1, 544, 96, 82240, 420000}, {GEMM, 128, 16, 256, 255, 98304, 118000},
};

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static FILE *file;
static struct cw_writer out;
static struct cw_add_rows rows = {.out = &out};

static void flush(void)
{
    if (out.status != CW_OK || fwrite(out.data, 1, out.size, file) != out.size) {
        fprintf(stderr, "make_trace: cannot write\n");
        exit(3);
    }
    out.size = 0;
}

#define F(id) CW_FIELD_##id
#define ADD(process, kind, ...)                                                                                        \
    do {                                                                                                               \
        CW_ADD_ROW(&rows, process, kind, __VA_ARGS__);                                                                 \
        if (out.size >= FLUSH_AT)                                                                                      \
            flush();                                                                                                   \
    } while (0)

/* ---- a process -------------------------------------------------------------------------------------------------- */

enum { MAIN, BACK, THREADS };
enum { COMPUTE = 7, COPIES = 13, COLLECTIVES = 20 };
enum { LATENCY = 2400 }; /* ns from a launch to its start on an idle GPU */

struct process {
    uint32_t index, step;
    uint64_t now[THREADS];                 /* what each thread has come to */
    uint64_t compute, copies, collectives; /* until when each stream is busy */
    uint64_t correlation, launched, of_graphs, dropped, untimed, calls, ranges, used, sampled;
    uint64_t opened[4];
};

static uint64_t thread_id(const struct process *p, int thread)
{
    return 4000 + 100 * (uint64_t)p->index + (uint64_t)thread;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A call that takes so long; returns its correlation. */
static uint64_t call(struct process *p, int thread, enum text name, uint64_t ns)
{
    const uint64_t start = p->now[thread];
    p->now[thread] += ns;
    p->correlation++;
    p->calls++;
    if (want(CALLS))
        ADD(p->index, RUNTIME, {F(START), start}, {F(END), p->now[thread]}, {F(THREAD), thread_id(p, thread)},
            {F(CORRELATION), p->correlation}, {F(NAME), name}, {F(RESULT), 0});
    return p->correlation;
}

static uint64_t *stream_end(struct process *p, uint64_t stream)
{
    return stream == COMPUTE ? &p->compute : stream == COPIES ? &p->copies : &p->collectives;
}

static void put_kernel(struct process *p, uint32_t shape, uint64_t stream, uint64_t correlation, uint64_t graph,
                       uint64_t ready)
{
    uint64_t *end = stream_end(p, stream);
    const uint64_t start = later(*end + 900, ready);
    const bool untimed = want(UNTIMED) && roll(1000) < want(UNTIMED);
    *end = start + shapes[shape].ns * (900 + roll(250)) / 1000;
    p->launched++;
    if (want(DROPPED) && roll(1000) < want(DROPPED)) {
        p->dropped++;
        return;
    }
    p->untimed += untimed;
    p->of_graphs += graph != 0;
    ADD(p->index, KERNEL, {F(START), untimed ? 0 : start}, {F(END), untimed ? 0 : *end}, {F(DEVICE), p->index},
        {F(CONTEXT), 1}, {F(STREAM), stream}, {F(CORRELATION), correlation}, {F(SHAPE), shape + 1},
        {F(GRAPH), graph ? graph : CW_TRACE_UNKNOWN}, {F(GRAPH_NODE), graph ? p->launched : CW_TRACE_UNKNOWN});
}

static void launch(struct process *p, int thread, uint32_t shape, uint64_t stream)
{
    const uint64_t correlation = call(p, thread, LAUNCH, 2800 + roll(1500));
    put_kernel(p, shape, stream, correlation, 0, p->now[thread] + LATENCY - 1500);
    p->now[thread] += 1500 + roll(3000); /* the framework's own work */
}

static void synchronize(struct process *p, int thread, uint64_t stream)
{
    const uint64_t start = p->now[thread], until = later(*stream_end(p, stream) + 1800, start + 1200);
    const uint64_t correlation = call(p, thread, STREAM_SYNC, until - start);
    ADD(p->index, SYNC, {F(START), start + 300}, {F(END), until - 200}, {F(TYPE), STREAM}, {F(CONTEXT), 1},
        {F(STREAM), stream}, {F(CORRELATION), correlation}, {F(RESULT), 0});
}

static void copy(struct process *p, int thread, bool to_device, bool pinned, uint64_t bytes)
{
    const uint64_t stream = to_device && pinned ? COPIES : COMPUTE;
    const uint64_t begun = p->now[thread], correlation = call(p, thread, pinned ? COPY_ASYNC : COPY_SYNC, 4200);
    uint64_t *end = stream_end(p, stream);
    const uint64_t start = later(*end + 1000, later(begun, p->now[thread] - 1000));
    *end = start + 1300 + bytes / (pinned ? 24 : 6);
    ADD(p->index, COPY, {F(START), start}, {F(END), *end}, {F(DEVICE), p->index}, {F(CONTEXT), 1}, {F(STREAM), stream},
        {F(CORRELATION), correlation}, {F(BYTES), bytes}, {F(COUNT), 1},
        {F(DIRECTION), to_device ? HOST_TO_DEVICE : DEVICE_TO_HOST},
        {F(SOURCE), !to_device ? DEVICE
                    : pinned   ? PINNED
                               : PAGEABLE},
        {F(TARGET), to_device ? DEVICE
                    : pinned  ? PINNED
                              : PAGEABLE},
        {F(ASYNC), pinned});
}

static void push(struct process *p, int thread, int level)
{
    p->opened[level] = p->now[thread];
}

static void pop(struct process *p, int thread, int level, enum text name)
{
    p->ranges++;
    if (want(NVTX))
        ADD(p->index, NVTX_RANGE, {F(START), p->opened[level]}, {F(END), p->now[thread]},
            {F(THREAD), thread_id(p, thread)}, {F(END_THREAD), thread_id(p, thread)}, {F(TYPE), PUSH}, {F(NAME), name},
            {F(COLOR), 0xff3070b0u + 997u * (uint64_t)name});
    p->now[thread] += 200;
}

static void allocate(struct process *p, int thread, uint64_t bytes)
{
    const uint64_t correlation = call(p, thread, MALLOC, 180000 + roll(90000));
    p->used += bytes;
    ADD(p->index, ALLOCATION, {F(TIME), p->now[thread]}, {F(TYPE), ALLOCATE}, {F(MEMORY), DEVICE},
        {F(ADDRESS), UINT64_C(0x7f0000000000) + p->used}, {F(BYTES), bytes}, {F(DEVICE), p->index}, {F(CONTEXT), 1},
        {F(CORRELATION), correlation});
}

static void overhead(struct process *p, int thread, enum text type, uint64_t ns)
{
    ADD(p->index, OVERHEAD, {F(START), p->now[thread]}, {F(END), p->now[thread] + ns}, {F(TYPE), type},
        {F(THREAD), thread_id(p, thread)});
    p->now[thread] += ns;
}

static void sample(struct process *p)
{
    enum { EVERY = 20000000 };
    for (; p->sampled < p->now[MAIN]; p->sampled += EVERY)
        ADD(p->index, ENVIRONMENT, {F(TIME), p->sampled}, {F(DEVICE), p->index}, {F(SM_CLOCK), 1980 - 15 * roll(18)},
            {F(MEMORY_CLOCK), 2619}, {F(THROTTLE), 0}, {F(TEMPERATURE), 41 + roll(9)},
            {F(POWER), 310000 + roll(190000)}, {F(POWER_LIMIT), 700000}, {F(PCIE_GENERATION), 5}, {F(PCIE_WIDTH), 16});
}

/* ---- training --------------------------------------------------------------------------------------------------- */

static void layer(struct process *p, int thread, uint32_t number)
{
    static const uint32_t order[KERNELS_A_LAYER] = {4, 0, 1, 3, 7, 1, 2, 5};
    push(p, thread, 2);
    for (int k = 0; k < KERNELS_A_LAYER; k++)
        launch(p, thread, order[k], COMPUTE);
    pop(p, thread, 2, (enum text)(LAYER_0 + (int)number));
}

static void forward(struct process *p)
{
    push(p, MAIN, 1);
    if (want(GRAPHS) && p->step % want(GRAPHS) == want(GRAPHS) - 1) {
        const uint64_t correlation = call(p, MAIN, GRAPH_LAUNCH, 26000);
        for (uint32_t i = 0; i < LAYERS * KERNELS_A_LAYER; i++)
            put_kernel(p, i % 8, COMPUTE, correlation, 3, p->now[MAIN] + LATENCY);
    } else {
        for (uint32_t i = 0; i < LAYERS; i++)
            layer(p, MAIN, i);
    }
    launch(p, MAIN, 8, COMPUTE);
    pop(p, MAIN, 1, FORWARD);
}

static void all_reduce(struct process *p, int thread)
{
    const uint64_t start = p->now[thread], correlation = call(p, thread, LAUNCH_EX, 5200);
    put_kernel(p, 10, COLLECTIVES, correlation, 0, later(p->compute, p->now[thread] + LATENCY));
    p->ranges++;
    if (want(NVTX))
        ADD(p->index, NVTX_RANGE, {F(START), start - 300}, {F(END), p->now[thread] + 100},
            {F(THREAD), thread_id(p, thread)}, {F(END_THREAD), thread_id(p, thread)}, {F(TYPE), PUSH},
            {F(DOMAIN), NCCL_DOMAIN}, {F(NAME), ALL_REDUCE});
    p->now[thread] += 400;
}

static void backward(struct process *p)
{
    p->now[BACK] = later(p->now[BACK], p->now[MAIN] + 9000);
    push(p, BACK, 1);
    for (uint32_t i = LAYERS; i-- > 0;) {
        layer(p, BACK, i);
        launch(p, BACK, 11, COMPUTE);
        if (want(PROCESSES) > 1 && i % 4 == 0)
            all_reduce(p, BACK);
    }
    pop(p, BACK, 1, BACKWARD);
    p->now[MAIN] = later(p->now[MAIN], p->now[BACK] + 7000);
}

static void step(struct process *p)
{
    push(p, MAIN, 0);
    push(p, MAIN, 1);
    p->now[MAIN] += 350000 + roll(500000); /* the batch is made */
    copy(p, MAIN, true, p->step % 2, 3 << 20);
    p->compute = later(p->compute, p->copies);
    pop(p, MAIN, 1, DATA);
    const uint64_t cleared = call(p, MAIN, MEMSET_ASYNC, 2600);
    const uint64_t start = later(p->compute + 900, p->now[MAIN] + LATENCY);
    p->compute = start + 2100;
    ADD(p->index, MEMSET, {F(START), start}, {F(END), p->compute}, {F(DEVICE), p->index}, {F(CONTEXT), 1},
        {F(STREAM), COMPUTE}, {F(CORRELATION), cleared}, {F(BYTES), 8 << 20}, {F(VALUE), 0}, {F(MEMORY), DEVICE},
        {F(ASYNC), 1});
    if (p->step < 3)
        allocate(p, MAIN, (512u >> p->step) << 20);
    forward(p);
    backward(p);
    p->compute = later(p->compute, p->collectives);
    push(p, MAIN, 1);
    for (int i = 0; i < 4; i++)
        launch(p, MAIN, 9, COMPUTE);
    pop(p, MAIN, 1, OPTIMIZER);
    copy(p, MAIN, false, false, 4);
    synchronize(p, MAIN, COMPUTE);
    if (p->step % 50 == 49) {
        ADD(p->index, NVTX_MARK, {F(TIME), p->now[MAIN]}, {F(THREAD), thread_id(p, MAIN)}, {F(NAME), CHECKPOINT});
        overhead(p, MAIN, BUFFER_FLUSH, 90000);
    }
    pop(p, MAIN, 0, STEP);
    sample(p);
    p->step++;
}

static void begin(struct process *p, uint64_t now)
{
    p->now[MAIN] = p->now[BACK] = p->sampled = now + 1000000 * (uint64_t)p->index;
    p->compute = p->copies = p->collectives = p->now[MAIN];
    for (uint32_t s = 0; s < SHAPES; s++)
        ADD(p->index, SHAPE, {F(ID), s + 1}, {F(NAME), shapes[s].name}, {F(GRID_X), shapes[s].grid},
            {F(GRID_Y), shapes[s].grid_y}, {F(GRID_Z), 1}, {F(BLOCK_X), shapes[s].block}, {F(BLOCK_Y), 1},
            {F(BLOCK_Z), 1}, {F(CLUSTER_X), 1}, {F(CLUSTER_Y), 1}, {F(CLUSTER_Z), 1},
            {F(REGISTERS), shapes[s].registers}, {F(STATIC_SHARED), 0}, {F(DYNAMIC_SHARED), shapes[s].shared},
            {F(LOCAL_PER_THREAD), 0}, {F(LAUNCH), REGULAR});
    ADD(p->index, CONTEXT, {F(CONTEXT), 1}, {F(DEVICE), p->index}, {F(NULL_STREAM), COMPUTE});
    ADD(p->index, STREAM, {F(STREAM), COPIES}, {F(CONTEXT), 1}, {F(PRIORITY), 0});
    ADD(p->index, NAME, {F(TIME), now}, {F(TYPE), THREAD}, {F(ID), thread_id(p, BACK)}, {F(NAME), AUTOGRAD});
    ADD(p->index, NAME, {F(TIME), now}, {F(TYPE), STREAM}, {F(ID), COLLECTIVES}, {F(CONTEXT), 1},
        {F(NAME), NCCL_STREAM});
    overhead(p, MAIN, MODULE_LOADING, 2300000);
    allocate(p, MAIN, UINT64_C(3) << 30);
    overhead(p, MAIN, LAZY_LOADING, 640000);
}

static void account(const struct process *p, enum text kind, uint64_t launched, uint64_t recorded, uint64_t dropped,
                    uint64_t untimed, enum text note)
{
    ADD(p->index, ACCOUNT, {F(TIME), p->now[MAIN]}, {F(TYPE), kind}, {F(LAUNCHED), launched}, {F(RECORDED), recorded},
        {F(DROPPED), dropped}, {F(UNTIMED), untimed}, {F(NOTE), note});
}

static void end(struct process *p, uint64_t begun)
{
    if (want(NVTX)) /* it was still open */
        ADD(p->index, NVTX_RANGE, {F(START), begun + 500}, {F(END), 0}, {F(THREAD), thread_id(p, MAIN)},
            {F(TYPE), START}, {F(NAME), EPOCH});
    /* the books are of launches: those of a graph's nodes nobody made */
    account(p, KIND_KERNEL, p->launched - p->of_graphs, p->launched - p->of_graphs - p->dropped, p->dropped, p->untimed,
            NONE);
    if (want(CALLS))
        account(p, KIND_RUNTIME, p->calls, p->calls, 0, 0, NONE);
    if (want(NVTX))
        account(p, KIND_NVTX, p->ranges + 1, p->ranges + 1, 0, 0, NONE);
    account(p, KIND_PCIE, CW_TRACE_UNKNOWN, 0, 0, 0, NOTE_HELD);
    cw_add_rows_flush(&rows, p->index);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static void write_process(uint32_t index)
{
    char rank[16];
    char layers[LAYERS][16];
    const char *list[LAYER_0 + LAYERS];
    const struct cw_pair attributes[] = {{"program", "train.py"}, {"host", "node-1"}, {"rank", rank}};
    const struct cw_trace_device device = {index, index};
    const struct cw_trace_process process = {.pid = 4000 + 100 * index,
                                             .attribute_count = want(PROCESSES) > 1 ? 3 : 2,
                                             .attributes = attributes,
                                             .device_count = 1,
                                             .devices = &device};
    snprintf(rank, sizeof rank, "%u", index);
    for (int i = 0; i < LAYER_0; i++)
        list[i] = texts[i];
    for (int i = 0; i < LAYERS; i++) {
        snprintf(layers[i], sizeof layers[i], "layer %d", i);
        list[LAYER_0 + i] = layers[i];
    }
    cw_trace_write_process(index, &process, &out);
    cw_trace_write_texts(index, 1, list + 1, LAYER_0 + LAYERS - 1, &out);
}

static void write_head(void)
{
    static const struct cw_schema schema = {.chip = "GH100", .producer = "make_trace", .profiler = CW_PROFILER_TRACE};
    static const struct cw_pair attributes[] = {{"name", "NVIDIA H100 80GB HBM3"}, {"simulated", "yes"}};
    cw_schema_write_header(&schema, &out);
    cw_schema_write(&schema, &out);
    cw_trace_write_kinds(&out);
    for (uint32_t i = 0; i < want(PROCESSES); i++) {
        const struct cw_device device = {.index = i, .attribute_count = 2, .attributes = attributes};
        cw_counter_data_write_device(&schema, &device, &out);
    }
    for (uint32_t i = 0; i < want(PROCESSES); i++)
        write_process(i);
    flush();
}

int main(int argc, char **argv)
{
    static struct process processes[MOST_PROCESSES];
    const uint64_t begun = UINT64_C(1760000000) * 1000000000;
    uint64_t launched = 0;
    if (argc < 2) {
        fputs("usage: make_trace FILE [NAME=NUMBER...]\n", stderr);
        return 2;
    }
    read_numbers(argc - 2, argv + 2);
    random_state = 0x9e3779b97f4a7c15u ^ want(SEED);
    file = fopen(argv[1], "wb");
    if (!file) {
        perror(argv[1]);
        return 3;
    }
    cw_writer_init(&out);
    write_head();
    for (uint32_t i = 0; i < want(PROCESSES); i++) {
        processes[i].index = i;
        begin(&processes[i], begun);
    }
    while (launched < want(LAUNCHES)) {
        launched = 0;
        for (uint32_t i = 0; i < want(PROCESSES); i++) {
            step(&processes[i]);
            launched += processes[i].launched;
        }
    }
    for (uint32_t i = 0; i < want(PROCESSES); i++)
        end(&processes[i], begun);
    if (!want(CUT))
        cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, &out);
    flush();
    cw_writer_free(&out);
    cw_add_rows_free(&rows);
    return fclose(file) == 0 ? 0 : 3;
}
