/* Traces of a simulated program with simulated GPUs. The program may report events (sim.h). Its calls take time on its
 * threads, its work takes time on streams of its GPUs, and both leave rows. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/sim/sim.h"
#include "agent/backend/sim/sim_backend.h"
#include "agent/backend/sim/sim_gpu.h"
#include "agent/backend/sim/sim_process.h"
#include "agent/backend/sim/sim_training.h"
#include "base/file_name.h"
#include "agent/session/signals.h"

/* ---- rows of events --------------------------------------------------------------------------------------------- */

enum { CONTEXT = 1 };
enum fate { RECORDED, UNTIMED, LOST };
#define PUT CW_SIM_PUT
#define V(field, value)                                                                                                \
    {                                                                                                                  \
        CW_FIELD_##field, value                                                                                        \
    }

/* ---- calls ------------------------------------------------------------------------------------------------------ */

struct call {
    uint64_t start, correlation;
};

static struct call begin_call(struct cw_sim_process *p)
{
    cw_sim_wait(p, 700 + cw_sim_draw(p, 900)); /* the program's own work */
    return (struct call){cw_sim_now(p), ++p->correlation};
}

static bool is_call_recorded(const struct cw_sim_process *p, enum cw_trace_kind kind, const char *name)
{
    const char *calls = p->world->options->calls;
    return *name && cw_sim_is_recorded(p, kind) && (!calls || cw_filter_name_is_listed(calls, name));
}

/* The memory of a call: what it allocates, frees, sets, or copies to and from. */
struct memory {
    uint64_t bytes, address, source;
};
static const struct memory no_memory = {CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN};
static const uint64_t host_memory = UINT64_C(0x7e1000000000), device_memory = UINT64_C(0x7f0000000000),
                      event_memory = UINT64_C(0x560000000000);

/* Whether a call has a stream among its parameters, and whether it has an event. */
static bool takes_stream(const char *name)
{
    return strstr(name, "Async") || strstr(name, "Launch") || strstr(name, "EventRecord") || strstr(name, "uStream") ||
           strstr(name, "udaStream");
}

static bool takes_event(const char *name)
{
    return strstr(name, "EventRecord") || strstr(name, "WaitEvent");
}

/* Ends a call that took `ns`; `runtime` is "" if the program calls the driver directly. The driver call inside a
 * runtime call is recorded only if the runtime call is not, or if the list names the driver's calls, as on a real GPU.
 */
static void end_call_of(struct cw_sim_process *p, struct call call, struct memory memory, uint64_t ns,
                        const char *runtime, const char *driver)
{
    const enum cw_trace_kind kind = is_call_recorded(p, CW_TRACE_RUNTIME, runtime) ? CW_TRACE_RUNTIME : CW_TRACE_DRIVER;
    const char *name = kind == CW_TRACE_RUNTIME ? runtime : driver;
    const char *calls = p->world->options->calls;
    cw_sim_wait(p, ns);
    struct cw_sim_value values[] = {
        V(START, call.start),
        V(END, cw_sim_now(p)),
        V(THREAD, cw_sim_thread_id(p)),
        V(RESULT, 0),
        V(NAME, cw_sim_text(p, name)),
        V(CORRELATION, call.correlation),
        V(BYTES, memory.bytes),
        V(ADDRESS, memory.address),
        V(SOURCE_ADDRESS, memory.source),
        V(STREAM, takes_stream(name) ? p->stream : CW_TRACE_UNKNOWN),
        V(EVENT_HANDLE, takes_event(name) ? event_memory + p->event % 8 * 64 : CW_TRACE_UNKNOWN),
        V(PARENT, CW_TRACE_UNKNOWN)};
    enum { COUNT = sizeof values / sizeof *values, NAME = 4, PARENT = COUNT - 1 };
    if (is_call_recorded(p, kind, name))
        cw_sim_put(p, kind, values, COUNT);
    if (kind == CW_TRACE_RUNTIME && calls && is_call_recorded(p, CW_TRACE_DRIVER, driver) &&
        cw_filter_names_driver_call(calls, driver)) {
        values[0].value += ns / 4;
        values[1].value -= ns / 4;
        values[NAME].value = cw_sim_text(p, driver);
        values[PARENT].value = call.correlation;
        cw_sim_put(p, CW_TRACE_DRIVER, values, COUNT);
    }
}

static void end_call(struct cw_sim_process *p, struct call call, uint64_t ns, const char *runtime, const char *driver)
{
    end_call_of(p, call, no_memory, ns, runtime, driver);
}

/* The time that a call takes which waits until `at`. */
static uint64_t time_until(struct call call, uint64_t at)
{
    const uint64_t least = call.start + 1500;
    return (at > least ? at : least) - call.start;
}

static void end_call_at(struct cw_sim_process *p, struct call call, uint64_t at, const char *runtime,
                        const char *driver)
{
    end_call(p, call, time_until(call, at), runtime, driver);
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

/* Runs work of `ns` that reaches the stream at `at` or later; returns its start. */
static uint64_t run_on_stream(struct cw_sim_process *p, uint64_t at, uint64_t ns)
{
    struct cw_sim_stream *s = cw_sim_find_stream(p, p->stream);
    const uint64_t start = at > s->busy_ns + 600 ? at : s->busy_ns + 600;
    s->busy_ns = start + ns;
    return start;
}

static uint64_t kernel_ns(struct cw_sim_process *p, const char *kernel)
{
    const uint64_t mean = cw_sim_kernel_ns(kernel);
    return mean + cw_sim_draw(p, mean / 16);
}

/* Returns the shape of a kernel, and writes it before the kernel's first recorded launch. */
static uint64_t shape_of(struct cw_sim_process *p, const char *kernel)
{
    struct cw_sim_text *name = cw_sim_find_text(p, kernel);
    double facts[CW_FACT__COUNT];
    if (!name || name->shape || !cw_sim_is_recorded(p, CW_TRACE_KERNEL))
        return name ? name->shape : 0;
    cw_sim_launch_facts(kernel, facts);
    name->shape = ++p->shape_count;
    const uint64_t key = cw_sim_kernel_key(p->world->program_key, kernel);
    const bool cluster = key % 5 == 0;
    const struct cw_sim_value values[] = {V(ID, name->shape),
                                          V(NAME, name->number),
                                          V(GRID_X, cw_sim_grid(key)),
                                          V(GRID_Y, 1),
                                          V(GRID_Z, 1),
                                          V(BLOCK_X, 128),
                                          V(BLOCK_Y, 1),
                                          V(BLOCK_Z, 1),
                                          V(CLUSTER_X, cluster ? 2 : 0),
                                          V(CLUSTER_Y, cluster ? 1 : 0),
                                          V(CLUSTER_Z, cluster ? 1 : 0),
                                          V(REGISTERS, (uint64_t)facts[CW_FACT_REGISTERS]),
                                          V(STATIC_SHARED, (uint64_t)facts[CW_FACT_SHARED_STATIC]),
                                          V(DYNAMIC_SHARED, (uint64_t)facts[CW_FACT_SHARED_DYNAMIC]),
                                          V(SHARED, 65536),
                                          V(LOCAL_PER_THREAD, (uint64_t)facts[CW_FACT_LOCAL]),
                                          V(LOCAL_TOTAL, 69206016),
                                          V(CACHE_REQUESTED, cw_sim_text(p, "none")),
                                          V(CACHE_EXECUTED, cw_sim_text(p, "none")),
                                          V(LAUNCH, cw_sim_text(p, "regular"))};
    p->counts[CW_TRACE_SHAPE].recorded++;
    cw_sim_add(p, CW_TRACE_SHAPE, values, sizeof values / sizeof *values);
    return name->shape;
}

/* Decides the fate of a kernel. The first few are never lost, so that there is data before the gap. */
static enum fate fate_of(struct cw_sim_process *p, enum fate fate)
{
    const bool chosen = p->counts[CW_TRACE_KERNEL].launched >= 5 && fate == RECORDED;
    if (chosen && p->world->lose) {
        p->world->lose--;
        return LOST;
    }
    if (chosen && p->world->untimed) {
        p->world->untimed--;
        return UNTIMED;
    }
    return fate;
}

struct of_graph {
    uint64_t graph, node;
};

/* Runs a kernel of a call, or of a graph launch. */
static void run_kernel(struct cw_sim_process *p, const char *kernel, struct call call, enum fate fate,
                       struct of_graph of)
{
    const uint64_t ns = kernel_ns(p, kernel), latency = 2600 + cw_sim_draw(p, 2500);
    const uint64_t start = run_on_stream(p, cw_sim_now(p) + latency, ns);
    const bool late = p->world->options->latency;
    if (!cw_sim_is_recorded(p, CW_TRACE_KERNEL) || !cw_sim_is_device_wanted(p))
        return;
    struct cw_sim_count *count = &p->counts[CW_TRACE_KERNEL];
    fate = fate_of(p, fate);
    count->launched++;
    count->dropped += fate == LOST;
    count->untimed += fate == UNTIMED;
    if (fate == LOST)
        return;
    count->recorded++;
    const bool timed = fate == RECORDED;
    const struct cw_sim_value values[] = {V(START, timed ? cw_sim_on_gpu(p, start) : 0),
                                          V(END, timed ? cw_sim_on_gpu(p, start + ns) : 0),
                                          V(DEVICE, p->device),
                                          V(CONTEXT, CONTEXT + p->device),
                                          V(STREAM, p->stream),
                                          V(CORRELATION, call.correlation),
                                          V(SHAPE, shape_of(p, kernel)),
                                          V(QUEUED, late && timed ? call.start + 900 : 0),
                                          V(SUBMITTED, late && timed ? cw_sim_now(p) + 400 : 0),
                                          V(GRAPH, of.graph ? of.graph : CW_TRACE_UNKNOWN),
                                          V(GRAPH_NODE, of.graph ? of.node : CW_TRACE_UNKNOWN),
                                          V(CHANNEL, 8 + p->stream % 8),
                                          V(CHANNEL_TYPE, cw_sim_text(p, "compute")),
                                          V(DEVICE_LAUNCHED, 0)};
    cw_sim_add(p, CW_TRACE_KERNEL, values, sizeof values / sizeof *values);
}

/* Loads a kernel at its first launch. */
static uint64_t load_kernel(struct cw_sim_process *p, const char *kernel, struct call call)
{
    struct cw_sim_text *name = cw_sim_find_text(p, kernel);
    if (!name || name->shape)
        return 0;
    const uint64_t ns = 40000 + cw_sim_draw(p, 60000);
    PUT(p, OVERHEAD, V(START, call.start + 500), V(END, call.start + ns),
        V(TYPE, cw_sim_text(p, "lazy_function_loading")), V(THREAD, cw_sim_thread_id(p)),
        V(CORRELATION, call.correlation));
    return ns;
}

static void launch(struct cw_sim_process *p, const char *kernel, enum fate fate)
{
    cw_trace_window_launch(&p->window, kernel);
    cw_sim_look(p);
    const struct call call = begin_call(p);
    const uint64_t ns = 2400 + cw_sim_draw(p, 1800) + load_kernel(p, kernel, call);
    if (strncmp(kernel, "nccl", strlen("nccl")) == 0) /* NCCL does not use the runtime */
        end_call(p, call, ns, "", "cuLaunchKernelEx");
    else
        end_call(p, call, ns, "cudaLaunchKernel_v7000", "cuLaunchKernel");
    run_kernel(p, kernel, call, fate, (struct of_graph){0});
    cw_trace_window_launched(&p->window);
    cw_sim_look(p);
}

/* Launches a graph of `kernels` kernels, which take turns under the name. */
static void launch_graph(struct cw_sim_process *p, const char *kernel, uint32_t kernels)
{
    const struct call call = begin_call(p);
    const struct cw_sim_stream *stream = cw_sim_find_stream(p, p->stream);
    const uint64_t graph = ++p->graph;
    uint64_t start = stream->busy_ns;
    end_call(p, call, 6000 + cw_sim_draw(p, 3000), "cudaGraphLaunch_v10000", "cuGraphLaunch");
    start = (start > cw_sim_now(p) ? start : cw_sim_now(p)) + 3200;
    for (uint32_t node = 0; node < kernels; node++) {
        char name[CW_SIM_NODE_SIZE];
        cw_sim_node_kernel(kernel, node, name);
        if (p->world->options->whole_graphs)
            run_on_stream(p, start, kernel_ns(p, name));
        else
            run_kernel(p, name, call, RECORDED, (struct of_graph){graph, 1 + node});
    }
    if (p->world->options->whole_graphs && cw_sim_is_device_wanted(p))
        PUT(p, GRAPH, V(START, cw_sim_on_gpu(p, start)), V(END, cw_sim_on_gpu(p, stream->busy_ns)),
            V(DEVICE, p->device), V(CONTEXT, CONTEXT + p->device), V(STREAM, p->stream),
            V(CORRELATION, call.correlation), V(GRAPH, graph));
}

/* Builds a graph, and its executable, whose nodes are others; destroys both. */
static void build_graph(struct cw_sim_process *p, uint64_t at)
{
    static const char *const types[] = {"memset", "kernel", "copy"}, *const made[] = {"create", "instantiate"};
    static const char *const ended[] = {"destroy", "destroy_executable"};
    enum { FIRST = 800, NODES = 3 };
    for (uint64_t i = 0; i < 2; i++, at += 10) {
        const uint64_t graph = FIRST + i, node = graph << 32;
        PUT(p, GRAPH_MADE, V(TIME, at), V(TYPE, cw_sim_text(p, made[i])), V(GRAPH, graph),
            V(PARENT, i ? FIRST : CW_TRACE_UNKNOWN));
        for (uint64_t n = 0; n < NODES; n++)
            PUT(p, NODE, V(TIME, at + n + 1), V(TYPE, cw_sim_text(p, types[n])), V(GRAPH, graph),
                V(GRAPH_NODE, node + n), V(NAME, n == 1 ? cw_sim_text(p, cw_sim_forward_kernels[0]) : 0));
        for (uint64_t n = 1; n < NODES; n++)
            PUT(p, EDGE, V(TIME, at + NODES + n), V(GRAPH, graph), V(GRAPH_NODE, node + n),
                V(DEPENDS_ON, node + n - 1));
    }
    for (uint64_t i = 0; i < 2; i++)
        PUT(p, GRAPH_MADE, V(TIME, at + i), V(TYPE, cw_sim_text(p, ended[i])), V(GRAPH, FIRST + i));
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Kinds of memory, and bytes transferred per microsecond. */
static const struct {
    const char *direction, *source, *target;
    uint64_t rate;
} copies[] = {{"HtoD", "pinned", "device", 25000},   {"DtoH", "device", "pageable", 21000},
              {"DtoD", "device", "device", 1300000}, {"PtoP", "device", "device", 320000},
              {"HtoH", "pageable", "pinned", 12000}, {"HtoA", "pinned", "array", 22000},
              {"AtoH", "array", "pinned", 20000},    {"AtoA", "array", "array", 900000},
              {"AtoD", "array", "device", 900000},   {"DtoA", "device", "array", 900000}};

/* `direction`: HtoD and the like. */
static void copy(struct cw_sim_process *p, const char *direction, uint64_t bytes, bool async)
{
    size_t c = 0;
    while (c + 1 < sizeof copies / sizeof *copies && strcmp(copies[c].direction, direction) != 0)
        c++;
    const struct call call = begin_call(p);
    const uint64_t ns = 1100 + bytes / copies[c].rate * 1000 + bytes % copies[c].rate * 1000 / copies[c].rate;
    uint64_t *engine = &p->engines[p->device % CW_SIM_DEVICES][copies[c].direction[0] != 'H'];
    const uint64_t at = call.start + 3500, start = run_on_stream(p, at > *engine ? at : *engine, ns);
    *engine = start + ns;
    const struct memory memory = {bytes, direction[3] == 'H' ? host_memory : device_memory,
                                  direction[0] == 'H' ? host_memory : device_memory};
    if (async)
        end_call_of(p, call, memory, 2600 + cw_sim_draw(p, 1000), "cudaMemcpyAsync_v3020", "cuMemcpyAsync");
    else
        end_call_of(p, call, memory, time_until(call, start + ns + 1500), "cudaMemcpy_v3020", "cuMemcpy");
    const bool peer = strcmp(direction, "PtoP") == 0;
    if (cw_sim_is_device_wanted(p))
        PUT(p, COPY, V(START, cw_sim_on_gpu(p, start)), V(END, cw_sim_on_gpu(p, start + ns)), V(DEVICE, p->device),
            V(CONTEXT, CONTEXT + p->device), V(STREAM, p->stream), V(CORRELATION, call.correlation), V(BYTES, bytes),
            V(COUNT, 1), V(DIRECTION, cw_sim_text(p, copies[c].direction)), V(SOURCE, cw_sim_text(p, copies[c].source)),
            V(TARGET, cw_sim_text(p, copies[c].target)), V(SOURCE_DEVICE, peer ? p->device : CW_TRACE_UNKNOWN),
            V(TARGET_DEVICE, peer ? 1 - p->device % 2 : CW_TRACE_UNKNOWN),
            V(SOURCE_CONTEXT, peer ? CONTEXT + p->device : CW_TRACE_UNKNOWN),
            V(TARGET_CONTEXT, peer ? CONTEXT + 1 - p->device % 2 : CW_TRACE_UNKNOWN), V(ASYNC, async), V(CHANNEL, 2),
            V(CHANNEL_TYPE, cw_sim_text(p, "async_memcpy")), V(DEVICE_LAUNCHED, 0));
}

static void set_memory(struct cw_sim_process *p, uint64_t bytes)
{
    const struct call call = begin_call(p);
    const uint64_t ns = 900 + bytes / 2000, start = run_on_stream(p, call.start + 4200, ns);
    end_call_of(p, call, (struct memory){bytes, device_memory, CW_TRACE_UNKNOWN}, 2300 + cw_sim_draw(p, 800),
                "cudaMemsetAsync_v3020", "cuMemsetD8Async");
    if (cw_sim_is_device_wanted(p))
        PUT(p, MEMSET, V(START, cw_sim_on_gpu(p, start)), V(END, cw_sim_on_gpu(p, start + ns)), V(DEVICE, p->device),
            V(CONTEXT, CONTEXT + p->device), V(STREAM, p->stream), V(CORRELATION, call.correlation), V(BYTES, bytes),
            V(VALUE, 0), V(MEMORY, cw_sim_text(p, "device")), V(ASYNC, 1), V(CHANNEL, 8 + p->stream % 8),
            V(CHANNEL_TYPE, cw_sim_text(p, "compute")), V(DEVICE_LAUNCHED, 0));
}

static void put_allocation(struct cw_sim_process *p, const char *type, uint64_t address, uint64_t bytes, bool async,
                           uint64_t correlation)
{
    if (cw_sim_is_device_wanted(p))
        PUT(p, ALLOCATION, V(TIME, cw_sim_now(p)), V(TYPE, cw_sim_text(p, type)), V(MEMORY, cw_sim_text(p, "device")),
            V(ADDRESS, address), V(BYTES, bytes), V(DEVICE, p->device), V(CONTEXT, CONTEXT + p->device),
            V(STREAM, async ? p->stream : CW_TRACE_UNKNOWN), V(CORRELATION, correlation), V(ASYNC, async),
            V(POOL, async ? 0x7000 : CW_TRACE_UNKNOWN), V(POOL_BYTES, async ? 64 << 20 : CW_TRACE_UNKNOWN),
            V(POOL_USED, async ? p->allocated : CW_TRACE_UNKNOWN), V(CALLER, cw_sim_text(p, "libtorch_cuda.so")),
            V(POOL_TYPE, async ? cw_sim_text(p, "local") : 0), V(POOL_THRESHOLD, async ? 0 : CW_TRACE_UNKNOWN));
}

static void allocate(struct cw_sim_process *p, uint64_t bytes, bool async)
{
    const struct call call = begin_call(p);
    p->address = p->address ? p->address + p->allocation : device_memory;
    end_call_of(p, call, (struct memory){bytes, p->address, CW_TRACE_UNKNOWN},
                async ? 1800 : 90000 + cw_sim_draw(p, 30000), async ? "cudaMallocAsync_v11020" : "cudaMalloc_v3020",
                async ? "cuMemAllocAsync" : "cuMemAlloc_v2");
    p->allocation = bytes;
    p->allocated += bytes;
    put_allocation(p, "allocate", p->address, bytes, async, call.correlation);
}

static void free_memory(struct cw_sim_process *p)
{
    const struct call call = begin_call(p);
    end_call_of(p, call, (struct memory){CW_TRACE_UNKNOWN, p->address, CW_TRACE_UNKNOWN}, 60000 + cw_sim_draw(p, 20000),
                "cudaFree_v3020", "cuMemFree_v2");
    put_allocation(p, "free", p->address, p->allocation, false, call.correlation);
    p->allocated -= p->allocation < p->allocated ? p->allocation : p->allocated;
}

/* ---- waits ------------------------------------------------------------------------------------------------------ */

/* Waits for the stream. */
static void synchronize(struct cw_sim_process *p)
{
    const struct call call = begin_call(p);
    const uint64_t until = cw_sim_find_stream(p, p->stream)->busy_ns;
    end_call_at(p, call, until + 2000, "cudaStreamSynchronize_v3020", "cuStreamSynchronize");
    PUT(p, SYNC, V(START, call.start + 300), V(END, cw_sim_now(p) - 200), V(TYPE, cw_sim_text(p, "stream")),
        V(CONTEXT, CONTEXT + p->device), V(STREAM, p->stream), V(CORRELATION, call.correlation), V(RESULT, 0));
}

/* Makes the stream wait for the current work of another one. */
static void wait_for_stream(struct cw_sim_process *p, uint32_t number)
{
    const uint64_t there = cw_sim_find_stream(p, number)->busy_ns;
    const bool events = p->world->options->kinds & CW_TRACE_BIT(CW_TRACE_EVENT); /* or CUPTI does not report them */
    struct cw_sim_stream *here = cw_sim_find_stream(p, p->stream);
    const struct call record = begin_call(p);
    end_call(p, record, 1200 + cw_sim_draw(p, 300), "cudaEventRecord_v3020", "cuEventRecord");
    PUT(p, EVENT, V(ID, ++p->event), V(DEVICE, p->device), V(CONTEXT, CONTEXT + p->device), V(STREAM, number),
        V(CORRELATION, record.correlation), V(EVENT, 1 + p->event % 8),
        V(DEVICE_TIME, cw_sim_on_gpu(p, there > cw_sim_now(p) ? there : cw_sim_now(p))));
    const struct call wait = begin_call(p);
    end_call(p, wait, 1100 + cw_sim_draw(p, 300), "cudaStreamWaitEvent_v3020", "cuStreamWaitEvent");
    PUT(p, SYNC, V(START, wait.start + 200), V(END, cw_sim_now(p) - 200), V(TYPE, cw_sim_text(p, "stream_wait_event")),
        V(CONTEXT, CONTEXT + p->device), V(STREAM, p->stream), V(CORRELATION, wait.correlation),
        V(EVENT, events ? 1 + p->event % 8 : CW_TRACE_UNKNOWN), V(ID, events ? p->event : CW_TRACE_UNKNOWN),
        V(RESULT, 0));
    here->busy_ns = there > here->busy_ns ? there : here->busy_ns;
}

static void switch_profiler(struct cw_sim_process *p, bool start)
{
    const struct call call = begin_call(p);
    cw_trace_window_profiler(&p->window, start);
    end_call(p, call, 2000, start ? "cudaProfilerStart_v4000" : "cudaProfilerStop_v4000", "");
}

/* ---- user ranges ------------------------------------------------------------------------------------------------ */

/* Whether the filter takes a range by its name, which has the domain before it as for a real GPU. */
static bool is_wanted(struct cw_sim_process *p, const char *domain, const char *name)
{
    char *full = cw_sim_range_name(domain, name);
    const bool wanted = full && cw_filter_range(&p->filter, full);
    if (!full)
        cw_error_nomem(&p->world->trouble);
    free(full);
    return wanted;
}

/* Begins an NVTX range; domain and category "" for none, payload CW_TRACE_SIGNED_UNKNOWN for none. */
static void open_range(struct cw_sim_process *p, bool push, const char *domain, const char *name, const char *category,
                       uint64_t payload)
{
    const bool wanted = is_wanted(p, domain, name);
    cw_sim_wait(p, 200);
    if (wanted)
        cw_trace_window_range(&p->window, true);
    cw_sim_look(p);
    if (p->range_count < CW_SIM_OPEN_RANGES)
        p->ranges[p->range_count++] = (struct cw_sim_range){.pushed = push,
                                                            .wanted = wanted,
                                                            .thread = p->thread,
                                                            .start_ns = cw_sim_now(p),
                                                            .domain = cw_sim_text(p, domain),
                                                            .name = cw_sim_text(p, name),
                                                            .category = cw_sim_text(p, category),
                                                            .color = 0xff000000 | cw_sim_text_key(name) % 0xffffff,
                                                            .payload = payload};
}

/* Ends the range started under this name; NULL: the innermost one that this thread pushed. */
static void close_range(struct cw_sim_process *p, const char *started)
{
    const uint64_t wanted = started ? cw_sim_text(p, started) : 0;
    uint32_t i = p->range_count;
    while (i > 0 && (started ? p->ranges[i - 1].pushed || p->ranges[i - 1].name != wanted
                             : !p->ranges[i - 1].pushed || p->ranges[i - 1].thread != p->thread))
        i--;
    if (!i)
        return;
    cw_sim_wait(p, 200);
    cw_sim_put_range(p, &p->ranges[i - 1], cw_sim_now(p));
    if (p->ranges[i - 1].wanted)
        cw_trace_window_range(&p->window, false);
    memmove(&p->ranges[i - 1], &p->ranges[i], (p->range_count - i) * sizeof *p->ranges);
    p->range_count--;
    cw_sim_look(p);
}

static void put_mark(struct cw_sim_process *p, const char *name, double payload)
{
    uint64_t bits;
    memcpy(&bits, &payload, sizeof bits);
    cw_sim_wait(p, 150);
    PUT(p, NVTX_MARK, V(TIME, cw_sim_now(p)), V(THREAD, cw_sim_thread_id(p)), V(NAME, cw_sim_text(p, name)),
        V(COLOR, 0xffff8800), V(REAL_PAYLOAD, bits));
}

/* ---- rare rows ------------------------------------------------------------------------------------------------- */

/* Rows about the device and its memory. */
static void odds_of_memory(struct cw_sim_process *p, uint64_t at)
{
    PUT(p, LINK, V(TYPE, cw_sim_text(p, "nvlink")), V(SOURCE, cw_sim_text(p, "GPU 0")),
        V(TARGET, cw_sim_text(p, "GPU 1")), V(COUNT, 2), V(BANDWIDTH, 26562500), V(SOURCE_PORTS, cw_sim_text(p, "0,1")),
        V(TARGET_PORTS, cw_sim_text(p, "0,1")));
    PUT(p, LINK, V(TYPE, cw_sim_text(p, "pcie")), V(SOURCE, cw_sim_text(p, "CPU")), V(TARGET, cw_sim_text(p, "GPU 0")),
        V(COUNT, 1), V(PCIE_GENERATION, 5), V(PCIE_WIDTH, 16), V(BANDWIDTH, 63015385));
    PUT(p, POOL, V(TIME, at), V(TYPE, cw_sim_text(p, "create")), V(POOL, 0x7000), V(POOL_BYTES, 64 << 20),
        V(POOL_USED, 0), V(POOL_THRESHOLD, 0), V(DEVICE, p->device), V(CORRELATION, p->correlation));
    PUT(p, UNIFIED, V(START, at + 2000), V(END, at + 19000), V(TYPE, cw_sim_text(p, "bytes_htod")), V(VALUE, 2 << 20),
        V(ADDRESS, UINT64_C(0x7e0000000000)), V(TARGET_DEVICE, p->device), V(CAUSE, cw_sim_text(p, "prefetch")));
    PUT(p, UNIFIED, V(START, at + 21000), V(END, at + 21500), V(TYPE, cw_sim_text(p, "gpu_page_faults")), V(VALUE, 12),
        V(ADDRESS, UINT64_C(0x7e0000200000)), V(SOURCE_DEVICE, p->device), V(CAUSE, cw_sim_text(p, "read")));
    PUT(p, DECOMPRESS, V(START, at + 22000), V(END, at + 24000), V(DEVICE, p->device), V(CONTEXT, CONTEXT + p->device),
        V(STREAM, p->stream), V(CORRELATION, p->correlation), V(COUNT, 1), V(BYTES, 1 << 20), V(CHANNEL, 3),
        V(CHANNEL_TYPE, cw_sim_text(p, "decompression")));
}

/* Rows about code and its loading. */
static void odds_of_code(struct cw_sim_process *p, uint64_t at)
{
    PUT(p, MODULE, V(TIME, at), V(TYPE, cw_sim_text(p, "load")), V(ID, 1), V(CONTEXT, CONTEXT + p->device),
        V(BYTES, 184320));
    PUT(p, JIT, V(START, at + 1000), V(END, at + 901000), V(TYPE, cw_sim_text(p, "ptx_compile")),
        V(THREAD, cw_sim_thread_id(p)), V(DEVICE, p->device), V(CORRELATION, p->correlation),
        V(FILE, cw_sim_text(p, "/home/user/.nv/ComputeCache/0/1")));
    PUT(p, OVERHEAD, V(START, at + 1000), V(END, at + 901000), V(TYPE, cw_sim_text(p, "driver_compiler")),
        V(THREAD, cw_sim_thread_id(p)));
    PUT(p, INTERNAL, V(START, at + 902000), V(END, at + 903000), V(THREAD, cw_sim_thread_id(p)),
        V(CORRELATION, ++p->correlation), V(NAME, cw_sim_text(p, "a launch of the driver's own")), V(RESULT, 0));
    PUT(p, EXTERNAL, V(CORRELATION, p->correlation), V(TYPE, cw_sim_text(p, "custom0")), V(ID, 42));
    build_graph(p, at + 905000);
    if (p->world->options->whole_graphs) /* CUPTI does not record it together with nodes */
        PUT(p, DEVICE_GRAPH, V(START, at + 910000), V(END, at + 918000), V(DEVICE, p->device),
            V(CONTEXT, CONTEXT + p->device), V(GRAPH, 900), V(PARENT, 901), V(TYPE, cw_sim_text(p, "fire_and_forget")));
    PUT(p, OPENACC, V(START, at + 920000), V(END, at + 930000), V(TYPE, cw_sim_text(p, "compute_construct")),
        V(THREAD, cw_sim_thread_id(p)), V(DEVICE, p->device), V(CONTEXT, CONTEXT + p->device));
    PUT(p, OPENACC, V(START, at + 922000), V(END, at + 925000), V(TYPE, cw_sim_text(p, "enqueue_launch")),
        V(THREAD, cw_sim_thread_id(p)), V(NAME, cw_sim_text(p, "saxpy")), V(DEVICE, p->device),
        V(CONTEXT, CONTEXT + p->device));
    PUT(p, OPENMP, V(START, at + 931000), V(END, at + 940000), V(TYPE, cw_sim_text(p, "parallel")),
        V(THREAD, cw_sim_thread_id(p)), V(COUNT, 4));
}

/* Adds a row of each kind that such a program has rarely or once. */
static void add_odds(struct cw_sim_process *p)
{
    const uint64_t at = cw_sim_now(p);
    static const char *const threads[] = {"main", "autograd"};
    for (uint32_t t = 0; t < 2; t++)
        PUT(p, NAME, V(TIME, at), V(TYPE, cw_sim_text(p, "thread")), V(ID, p->pid + t),
            V(NAME, cw_sim_text(p, threads[t])));
    PUT(p, NAME, V(TIME, at), V(TYPE, cw_sim_text(p, "stream")), V(ID, p->stream), V(CONTEXT, CONTEXT + p->device),
        V(NAME, cw_sim_text(p, "compute")));
    odds_of_memory(p, at);
    odds_of_code(p, at);
    cw_sim_wait(p, 945000);
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

enum { FIRST_PID = 4001, MOST_PROCESSES = 64 };

struct simulation {
    struct cw_sim_world world;
    struct cw_arena *arena;
    struct cw_program program;
    bool spoken;
    char name[256];   /* of the program */
    uint32_t count;   /* number of processes; the last one was named last */
    unsigned toggles; /* number of toggles that they know of */
    struct cw_sim_process *current, *processes[MOST_PROCESSES];
    /* for the next event: */
    char nodes[64], domain[CW_SIM_DOMAIN_SIZE], category[64];
    uint64_t payload;
    double value;
};

static struct cw_sim_process *begin(struct simulation *s, uint32_t pid, const char *name,
                                    const struct cw_pair in_job[2])
{
    if (s->count == MOST_PROCESSES) {
        cw_error_set(&s->world.trouble, CW_ERR_INPUT, "found more than %d processes of the simulated program",
                     MOST_PROCESSES);
        return NULL;
    }
    s->current = cw_sim_process_begin(&s->world, pid, name, in_job, !s->count);
    if (s->current)
        s->processes[s->count++] = s->current;
    return s->current;
}

/* Begins the program's own process, with the rank of this process. */
static void begin_own(struct simulation *s, uint32_t pid)
{
    begin(s, pid, s->name, (const struct cw_pair[]){{"rank", cw_rank()}, {"ranks", cw_rank_count()}});
}

static void use_device(struct cw_sim_process *p, uint32_t number, uint32_t place)
{
    char pci[32];
    snprintf(pci, sizeof pci, "0000:%02x:00.0", place % 256);
    cw_sim_use_device(p, number, pci);
}

/* ---- events of the program -------------------------------------------------------------------------------------- */

/* Reads the number behind a word; 0 if it is none. */
static uint64_t number_in(const char *text)
{
    return strtoull(text, NULL, 10);
}

static void take_process(struct simulation *s, const char *line, const char *rest)
{
    uint32_t pid = 0;
    char name[256] = "", rank[64] = "", ranks[64] = "";
    if (sscanf(rest, "%" SCNu32 " %255s %63s %63s", &pid, name, rank, ranks) < 2) {
        cw_error_set(&s->world.trouble, CW_ERR_INPUT,
                     "found the event '%.100s', expected process NUMBER NAME [RANK [RANKS]]", line);
        return;
    }
    for (uint32_t i = 0; i < s->count; i++)
        if (s->processes[i]->pid == pid && !s->processes[i]->ended) {
            s->current = s->processes[i];
            return;
        }
    const bool own = strcmp(name, "-") == 0;
    const struct cw_pair in_job[] = {{"rank", *rank ? rank : NULL}, {"ranks", *ranks ? ranks : NULL}};
    if (own && !*rank)
        begin_own(s, pid);
    else
        begin(s, pid, own ? s->name : name, in_job);
}

static void take_copy(struct cw_sim_process *p, const char *rest)
{
    char direction[8] = "";
    uint64_t bytes = 0;
    (void)!sscanf(rest, "%7s %" SCNu64, direction, &bytes);
    copy(p, direction, bytes, true);
}

static void take_device(struct cw_sim_process *p, const char *rest)
{
    unsigned number = 0;
    char pci[32] = "";
    (void)!sscanf(rest, "%u %31s", &number, pci);
    if (*pci)
        cw_sim_use_device(p, number % 64, pci);
    else
        use_device(p, number % 64, number % 64);
}

static void take_allocation(struct cw_sim_process *p, const char *rest)
{
    char how[8] = "";
    uint64_t bytes = 0;
    (void)!sscanf(rest, "%" SCNu64 " %7s", &bytes, how);
    allocate(p, bytes, strcmp(how, "async") == 0);
}

/* Takes events about work on a GPU and about memory. False for any other event. */
static bool take_work(const struct simulation *s, struct cw_sim_process *p, const char *line)
{
    const char *rest;
#define IS(word) (rest = cw_sim_event(line, word))
    if (IS("launch"))
        launch(p, rest, RECORDED);
    else if (IS("untimed"))
        launch(p, rest, UNTIMED);
    else if (IS("lost"))
        launch(p, rest, LOST);
    else if (IS("graph"))
        launch_graph(p, s->nodes, (uint32_t)(number_in(rest) % 4096));
    else if (IS("copy"))
        take_copy(p, rest);
    else if (IS("memset"))
        set_memory(p, number_in(rest));
    else if (IS("sync"))
        synchronize(p);
    else if (IS("allocate"))
        take_allocation(p, rest);
    else if (IS("free"))
        free_memory(p);
    else if (IS("odds"))
        add_odds(p);
    else
        return false;
    return true;
}

static bool take_place(struct cw_sim_process *p, const char *line)
{
    const char *rest;
    if (IS("thread"))
        cw_sim_use_thread(p, (uint32_t)number_in(rest));
    else if (IS("stream"))
        cw_sim_use_stream(p, (uint32_t)number_in(rest));
    else if (IS("after"))
        wait_for_stream(p, (uint32_t)number_in(rest));
    else if (IS("device"))
        take_device(p, rest);
    else if (IS("wait"))
        cw_sim_wait(p, number_in(rest) % 1000000000 * 1000);
    else if (IS("flush"))
        cw_sim_flush(p);
    else if (IS("crash") || IS("exit"))
        cw_sim_process_end(p, *line == 'c');
    else
        return false;
    return true;
}

/* Begins a range, and clears the attributes given for it. */
static void begin_range(struct simulation *s, bool push, const char *name)
{
    open_range(s->current, push, s->domain, name, s->category, s->payload);
    *s->domain = *s->category = 0;
    s->payload = CW_TRACE_SIGNED_UNKNOWN;
}

static void mark(struct simulation *s, const char *name)
{
    put_mark(s->current, name, s->value);
    s->value = 0;
}

static bool take_range(struct simulation *s, const char *line)
{
    struct cw_sim_process *p = s->current;
    const char *rest;
    if (IS("push"))
        begin_range(s, true, rest);
    else if (IS("pop"))
        close_range(p, NULL);
    else if (IS("start"))
        begin_range(s, false, rest);
    else if (IS("end"))
        close_range(p, rest);
    else if (IS("mark"))
        mark(s, rest);
    else if (IS("profiler"))
        switch_profiler(p, strcmp(rest, "start") == 0);
    else if (IS("signal"))
        cw_trace_window_signal(&p->window);
    else
        return false;
    return true;
}

/* Takes attributes of the next range, mark or graph. */
static bool take_next(struct simulation *s, const char *line)
{
    const char *rest;
    if (IS("domain"))
        (void)!sscanf(rest, "%63s %63s", s->domain, s->category);
    else if (IS("payload"))
        s->payload = number_in(rest);
    else if (IS("value"))
        s->value = strtod(rest, NULL);
    else if (IS("nodes"))
        snprintf(s->nodes, sizeof s->nodes, "%s", rest);
    else
        return false;
    return true;
#undef IS
}

/* Passes signals that the agent received on to the windows of all processes. */
static void take_signals(struct simulation *s)
{
    for (; s->toggles != cw_signals_user2(); s->toggles++)
        for (uint32_t i = 0; i < s->count; i++) {
            cw_trace_window_signal(&s->processes[i]->window);
            if (!s->processes[i]->ended)
                cw_sim_look(s->processes[i]);
        }
}

static void take_line(void *user, const char *line)
{
    struct simulation *s = user;
    s->spoken = true;
    take_signals(s);
    const char *rest = cw_sim_event(line, "process");
    if (s->world.trouble.code != CW_OK) /* after the first error the program only runs to its end */
        return;
    if (rest) {
        take_process(s, line, rest);
        return;
    }
    if (!s->current)
        begin_own(s, FIRST_PID);
    struct cw_sim_process *p = s->current;
    if (p && !p->device_count && !cw_sim_event(line, "device"))
        use_device(p, 0, 0);
    if (p && !p->ended && !take_work(s, p, line) && !take_place(p, line) && !take_range(s, line) && !take_next(s, line))
        cw_error_set(&s->world.trouble, CW_ERR_INPUT,
                     "found the event '%.100s', expected launch, copy, memset, graph, sync, push, pop or another that "
                     "sim.h lists",
                     line);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status run(struct simulation *s, int *exit_status, struct cw_error *err)
{
    const struct cw_trace_options *o = s->world.options;
    enum cw_status status = cw_trace_capture_open(&s->world.out, o, "GH100", s->arena, err);
    if (status == CW_OK)
        status = cw_sim_program_run(&s->program, o->capture.argv, 0, take_line, s, err);
    if (status != CW_OK)
        return status;
    if (!s->spoken)
        cw_sim_train(&(struct cw_sim_training){.steps = o->capture.sim_steps,
                                               .processes = o->capture.sim_processes,
                                               .unfinished = o->sim_unfinished,
                                               .take = take_line,
                                               .user = s,
                                               .trouble = &s->world.trouble});
    const bool killed = s->program.how == CW_END_SIGNALLED || s->program.how == CW_END_UNKNOWN;
    for (uint32_t i = 0; i < s->count; i++)
        cw_sim_process_end(s->processes[i], killed && i == 0);
    s->world.out.clocks = cw_sim_clocks();
    return cw_trace_capture_end(&s->world.out, o, &s->program, &s->world.trouble, exit_status, err);
}

enum cw_status cw_sim_trace(const struct cw_trace_options *options, int *exit_status, struct cw_error *err)
{
    if (options->attach)
        return cw_error_set(err, CW_ERR_USAGE, "found --attach with the simulated GPU, expected a program");
    struct simulation *s = calloc(1, sizeof *s);
    if (!s)
        return cw_error_nomem(err);
    const char *argv0 = options->capture.argv[0], *slash = strrchr(argv0, '/');
    s->world.options = options;
    s->world.start_ns = CW_SIM_START_NS;
    s->world.lose = options->sim_drop;
    s->world.untimed = options->sim_untimed;
    s->world.program_key = cw_sim_program_key(&options->capture);
    s->payload = CW_TRACE_SIGNED_UNKNOWN;
    snprintf(s->nodes, sizeof s->nodes, "node");
    snprintf(s->name, sizeof s->name, "%s", slash ? slash + 1 : argv0);
    s->arena = cw_arena_create();
    enum cw_status status = s->arena ? run(s, exit_status, err) : cw_error_nomem(err);
    for (uint32_t i = 0; i < s->count; i++)
        cw_sim_process_free(s->processes[i]);
    cw_trace_output_close(&s->world.out);
    cw_arena_destroy(s->arena);
    free(s);
    return status;
}
