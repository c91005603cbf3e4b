#include "agent/backend/sim/sim_training.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "agent/session/signals.h"

enum { FIRST_PID = 4001, COMPUTE = 7, COPIES = 13, REDUCTIONS = 17, LAYERS = 4, FLUSH_STEPS = 64 };

const char *const cw_sim_forward_kernels[] = {"_Z11gemm_bf16_nPf", "_Z9layernormPf", "_Z7softmaxPf"};
static const char *const backward_kernels[] = {"_Z11gemm_bf16_tPf", "_Z18layernorm_backwardPf"};
enum { BACKWARD_KERNELS = sizeof backward_kernels / sizeof *backward_kernels };

__attribute__((format(printf, 2, 3))) static void say(const struct cw_sim_training *t, const char *format, ...)
{
    char line[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    t->take(t->user, line);
}

/* Runs the kernels of the layers, in one direction. */
static void pass_layers(const struct cw_sim_training *t, const char *way, const char *const *kernels, uint32_t count)
{
    say(t, "push %s", way);
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        say(t, "payload %" PRIu32, layer);
        say(t, "push layer %" PRIu32, layer);
        for (uint32_t k = 0; k < count; k++)
            say(t, "launch %s", kernels[k]);
        say(t, "pop");
    }
    say(t, "pop");
}

/* Sums up the gradients of all processes while later layers still run. */
static void reduce(const struct cw_sim_training *t)
{
    say(t, "stream %d", REDUCTIONS);
    say(t, "after %d", COMPUTE);
    say(t, "domain NCCL collective");
    say(t, "payload %d", 25 << 20);
    say(t, "push ncclAllReduce");
    say(t, "launch ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
    say(t, "pop");
    say(t, "stream %d", COMPUTE);
}

static void step(const struct cw_sim_training *t, uint32_t number)
{
    say(t, "payload %" PRIu32, number);
    say(t, "push step");
    say(t, "stream %d", COPIES);
    say(t, "copy HtoD %d", 4 << 20); /* the next batch, at the same time */
    say(t, "stream %d", COMPUTE);
    if (number % 8 == 0)
        say(t, "allocate %d async", 8 << 20);
    pass_layers(t, "forward", cw_sim_forward_kernels, CW_SIM_FORWARD_KERNELS);
    say(t, "thread 1");
    pass_layers(t, "backward", backward_kernels, BACKWARD_KERNELS);
    reduce(t);
    say(t, "thread 0");
    say(t, "payload -1"); /* no layer */
    say(t, "push optimizer");
    say(t, "after %d", REDUCTIONS);
    say(t, "nodes adam");
    say(t, "graph 8");
    say(t, "memset %d", 25 << 20);
    say(t, "pop");
    say(t, "copy DtoH 4");
    say(t, "sync");
    say(t, "value %.17g", 2.0 / (1 + (double)number));
    say(t, "mark loss");
    say(t, "after %d", COPIES);
    say(t, "pop");
    say(t, "wait 120");
}

static void begin(const struct cw_sim_training *t, uint32_t process)
{
    if (t->processes > 1)
        say(t, "process %" PRIu32 " - %" PRIu32 " %" PRIu32, FIRST_PID + 100 * process, process, t->processes);
    else
        say(t, "process %d -", FIRST_PID);
    say(t, "device 0 0000:%02" PRIx32 ":00.0", process % 2); /* a simulated node has two GPUs */
    if (process % 2 == 0) {
        say(t, "device 1 0000:01:00.0");
        say(t, "copy PtoP %d", 16 << 20);
        say(t, "device 0 0000:00:00.0");
    }
    say(t, "start training");
    say(t, "allocate %d", 512 << 20);
    say(t, "odds");
    say(t, "profiler start");
}

static bool goes_on(const struct cw_sim_training *t)
{
    return t->trouble->code == CW_OK && !cw_signals_end_alone();
}

void cw_sim_train(const struct cw_sim_training *t)
{
    for (uint32_t p = 0; p < t->processes && t->trouble->code == CW_OK; p++) {
        const bool unfinished = t->unfinished && p + 1 == t->processes;
        begin(t, p);
        for (uint32_t n = 0; n < t->steps && goes_on(t); n++) {
            if (unfinished && n == t->steps / 2)
                say(t, "flush");
            step(t, n);
            if (n % FLUSH_STEPS == FLUSH_STEPS - 1)
                say(t, "flush");
        }
        say(t, "profiler stop");
        if (!unfinished)
            say(t, "end training");
        say(t, "free");
        say(t, unfinished ? "crash" : "exit");
    }
}
