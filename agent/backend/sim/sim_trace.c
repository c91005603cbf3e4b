/* Traces of a simulated program with simulated GPUs. The program may say what it does, as to sim_range.c, a line for
 * each event:
 *
 *     launch KERNEL   untimed KERNEL   lost KERNEL    a kernel; whose times are not collected; that is not recorded
 *     graph KERNELS                                   a CUDA graph of so many kernels
 *     copy DIRECTION BYTES   memset BYTES   sync      HtoD, DtoH, DtoD, PtoP...; a wait for the stream
 *     push NAME   pop   start NAME   end NAME   mark NAME
 *     allocate BYTES   free   wait MICROSECONDS
 *     profiler start|stop   signal                    what windows may depend on
 *     thread NUMBER   stream NUMBER   device NUMBER [PCI]   process NUMBER NAME [RANK]
 *                                                     where later lines happen
 *     flush   crash                                   what was recorded is written; the process is killed
 *
 * A program that says nothing is taken to train a network, in a few processes with a GPU each. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/sim/sim.h"
#include "agent/backend/sim/sim_events.h"
#include "agent/backend/sim/sim_gpu.h"
#include "agent/common/file_name.h"
#include "agent/session/signals.h"

enum { FIRST_PID = 4001, MOST_PROCESSES = 64, COMPUTE = 7, COPIES = 13, REDUCTIONS = 17, LAYERS = 4 };
static const uint64_t wall_start = 1700000000000000000, flush_steps = 64;

struct simulation {
    struct cw_sim_world world;
    struct cw_arena *arena;
    struct cw_program program;
    bool spoken;
    char name[256];   /* of the program */
    uint32_t count;   /* of processes, the last of which was named */
    unsigned toggles; /* that they know of */
    struct cw_sim_process *current, *processes[MOST_PROCESSES];
};

static struct cw_sim_process *begin(struct simulation *s, uint32_t pid, const char *name, const char *rank)
{
    if (s->count == MOST_PROCESSES) {
        cw_error_set(&s->world.trouble, CW_ERR_INPUT, "found more than %d processes of the simulated program",
                     MOST_PROCESSES);
        return NULL;
    }
    s->current = cw_sim_process_begin(&s->world, pid, name, rank, !s->count);
    if (s->current)
        s->processes[s->count++] = s->current;
    return s->current;
}

static void use_device(struct cw_sim_process *p, uint32_t number, uint32_t place)
{
    char pci[32];
    snprintf(pci, sizeof pci, "0000:%02x:00.0", place % 256);
    cw_sim_use_device(p, number, pci);
}

/* ---- a program that says nothing -------------------------------------------------------------------------------- */

static void push(struct cw_sim_process *p, const char *name, uint64_t payload)
{
    cw_sim_range_begin(p, true, "", name, "", payload);
}

static void launch(struct cw_sim_process *p, const char *kernel)
{
    cw_sim_launch(p, kernel, CW_SIM_RECORDED);
}

/* What takes the same kernels forward and backward. */
static void pass_layers(struct cw_sim_process *p, const char *way, const char *const *kernels, uint32_t kernel_count)
{
    push(p, way, CW_TRACE_SIGNED_UNKNOWN);
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        char name[32];
        snprintf(name, sizeof name, "layer %u", (unsigned)layer);
        push(p, name, layer);
        for (uint32_t k = 0; k < kernel_count; k++)
            launch(p, kernels[k]);
        cw_sim_range_end(p, NULL);
    }
    cw_sim_range_end(p, NULL);
}

/* The gradients of all processes are added up while later layers are still at it. */
static void reduce(struct cw_sim_process *p)
{
    cw_sim_use_stream(p, REDUCTIONS);
    cw_sim_wait_for_stream(p, COMPUTE);
    cw_sim_range_begin(p, true, "NCCL", "ncclAllReduce", "collective", 25 << 20);
    launch(p, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
    cw_sim_range_end(p, NULL);
    cw_sim_use_stream(p, COMPUTE);
}

static void step(struct cw_sim_process *p, uint32_t number)
{
    static const char *const forward[] = {"_Z11gemm_bf16_nPf", "_Z9layernormPf", "_Z7softmaxPf"};
    static const char *const backward[] = {"_Z11gemm_bf16_tPf", "_Z18layernorm_backwardPf"};
    push(p, "step", number);
    cw_sim_use_stream(p, COPIES);
    cw_sim_copy(p, "HtoD", 4 << 20, true); /* the next batch, meanwhile */
    cw_sim_use_stream(p, COMPUTE);
    if (number % 8 == 0)
        cw_sim_allocate(p, 8 << 20, true);
    pass_layers(p, "forward", forward, sizeof forward / sizeof *forward);
    cw_sim_use_thread(p, 1);
    pass_layers(p, "backward", backward, sizeof backward / sizeof *backward);
    reduce(p);
    cw_sim_use_thread(p, 0);
    push(p, "optimizer", (uint64_t)-1); /* of no layer */
    cw_sim_wait_for_stream(p, REDUCTIONS);
    cw_sim_launch_graph(p, "adam", 8);
    cw_sim_memset(p, 25 << 20);
    cw_sim_range_end(p, NULL);
    cw_sim_copy(p, "DtoH", 4, true);
    cw_sim_synchronize(p);
    cw_sim_mark(p, "loss", 2.0 / (1 + number));
    cw_sim_wait_for_stream(p, COPIES);
    cw_sim_range_end(p, NULL);
    cw_sim_wait(p, 120000);
}

static void begin_training(struct cw_sim_process *p, uint32_t place)
{
    use_device(p, 0, place);
    if (place == 0) {
        use_device(p, 1, 1);
        cw_sim_copy(p, "PtoP", 16 << 20, true);
        use_device(p, 0, 0);
    }
    cw_sim_range_begin(p, false, "", "training", "", CW_TRACE_SIGNED_UNKNOWN);
    cw_sim_allocate(p, 512 << 20, false);
    cw_sim_odds_and_ends(p);
    cw_sim_profiler(p, true);
}

/* Each process has a GPU of its own, which is its number 0; there are two in a node of this kind. */
static void train(struct simulation *s)
{
    const struct cw_trace_options *o = s->world.options;
    for (uint32_t i = 0; i < o->sim_processes && s->world.trouble.code == CW_OK; i++) {
        char rank[16] = "";
        if (o->sim_processes > 1)
            snprintf(rank, sizeof rank, "%u", (unsigned)i);
        struct cw_sim_process *p = begin(s, FIRST_PID + 100 * i, s->name, rank);
        const bool unfinished = o->sim_unfinished && i + 1 == o->sim_processes;
        if (!p)
            return;
        begin_training(p, i % 2);
        for (uint32_t n = 0; n < o->sim_steps && s->world.trouble.code == CW_OK && !cw_signals_end_alone(); n++) {
            if (unfinished && n == o->sim_steps / 2)
                cw_sim_flush(p);
            step(p, n);
            if (n % flush_steps == flush_steps - 1)
                cw_sim_flush(p);
        }
        cw_sim_profiler(p, false);
        if (!unfinished)
            cw_sim_range_end(p, "training");
        cw_sim_free(p);
        cw_sim_process_end(p, unfinished);
    }
}

/* ---- one that says what it does --------------------------------------------------------------------------------- */

/* A number behind a word; what is none is 0. */
static uint64_t number_in(const char *text)
{
    return strtoull(text, NULL, 10);
}

static void take_process(struct simulation *s, const char *line, const char *rest)
{
    uint32_t pid = 0;
    char name[256] = "", rank[64] = "";
    if (sscanf(rest, "%" SCNu32 " %255s %63s", &pid, name, rank) < 2) {
        cw_error_set(&s->world.trouble, CW_ERR_INPUT, "found the event '%.100s', expected process NUMBER NAME [RANK]",
                     line);
        return;
    }
    for (uint32_t i = 0; i < s->count; i++)
        if (s->processes[i]->pid == pid && !s->processes[i]->ended) {
            s->current = s->processes[i];
            return;
        }
    begin(s, pid, name, rank);
}

static void take_copy(struct cw_sim_process *p, const char *rest)
{
    char direction[8] = "";
    uint64_t bytes = 0;
    (void)!sscanf(rest, "%7s %" SCNu64, direction, &bytes);
    cw_sim_copy(p, direction, bytes, true);
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

/* What is done on a GPU, and with memory. False for another event. */
static bool take_work(struct cw_sim_process *p, const char *line)
{
    const char *rest;
#define IS(word) (rest = cw_sim_event(line, word))
    if (IS("launch"))
        cw_sim_launch(p, rest, CW_SIM_RECORDED);
    else if (IS("untimed"))
        cw_sim_launch(p, rest, CW_SIM_UNTIMED);
    else if (IS("lost"))
        cw_sim_launch(p, rest, CW_SIM_LOST);
    else if (IS("graph"))
        cw_sim_launch_graph(p, "node", (uint32_t)(number_in(rest) % 4096));
    else if (IS("copy"))
        take_copy(p, rest);
    else if (IS("memset"))
        cw_sim_memset(p, number_in(rest));
    else if (IS("sync"))
        cw_sim_synchronize(p);
    else if (IS("allocate"))
        cw_sim_allocate(p, number_in(rest), false);
    else if (IS("free"))
        cw_sim_free(p);
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
    else if (IS("device"))
        take_device(p, rest);
    else if (IS("wait"))
        cw_sim_wait(p, number_in(rest) % 1000000000 * 1000);
    else if (IS("flush"))
        cw_sim_flush(p);
    else if (IS("crash"))
        cw_sim_process_end(p, true);
    else
        return false;
    return true;
}

static bool take_range(struct cw_sim_process *p, const char *line)
{
    const char *rest;
    if (IS("push"))
        push(p, rest, CW_TRACE_SIGNED_UNKNOWN);
    else if (IS("pop"))
        cw_sim_range_end(p, NULL);
    else if (IS("start"))
        cw_sim_range_begin(p, false, "", rest, "", CW_TRACE_SIGNED_UNKNOWN);
    else if (IS("end"))
        cw_sim_range_end(p, rest);
    else if (IS("mark"))
        cw_sim_mark(p, rest, 0);
    else if (IS("profiler"))
        cw_sim_profiler(p, strcmp(rest, "start") == 0);
    else if (IS("signal"))
        cw_trace_window_signal(&p->window);
    else
        return false;
    return true;
#undef IS
}

/* Signals that came to the agent open and close the windows of all processes. */
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
    if (s->world.trouble.code != CW_OK) /* after the first failure the program only runs to its end */
        return;
    if (rest) {
        take_process(s, line, rest);
        return;
    }
    if (!s->current)
        begin(s, FIRST_PID, s->name, cw_rank() ? cw_rank() : "");
    struct cw_sim_process *p = s->current;
    if (p && !p->device_count && !cw_sim_event(line, "device"))
        use_device(p, 0, 0);
    if (p && !p->ended && !take_work(p, line) && !take_place(p, line) && !take_range(p, line))
        cw_error_set(&s->world.trouble, CW_ERR_INPUT,
                     "found the event '%.100s', expected launch, copy, memset, graph, sync, push, pop or another that "
                     "sim_trace.c lists",
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
        train(s);
    const bool killed = s->program.how == CW_END_SIGNALLED;
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
    s->world.start_ns = wall_start;
    s->world.lose = options->sim_drop;
    s->world.untimed = options->sim_untimed;
    s->world.program_key = options->capture.sim_seed ^ cw_sim_text_key(argv0);
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
