/* Traces of a simulated program with simulated GPUs. The program may report events (sim.h). */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/sim/sim.h"
#include "agent/backend/sim/sim_backend.h"
#include "agent/backend/sim/sim_events.h"
#include "agent/backend/sim/sim_gpu.h"
#include "agent/backend/sim/sim_training.h"
#include "agent/common/file_name.h"
#include "agent/session/signals.h"

enum { FIRST_PID = 4001, MOST_PROCESSES = 64 };
static const uint64_t wall_start = 1700000000000000000;

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
    char nodes[64], domain[64], category[64];
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

static void take_allocation(struct cw_sim_process *p, const char *rest)
{
    char how[8] = "";
    uint64_t bytes = 0;
    (void)!sscanf(rest, "%" SCNu64 " %7s", &bytes, how);
    cw_sim_allocate(p, bytes, strcmp(how, "async") == 0);
}

/* Takes events about work on a GPU and about memory. False for any other event. */
static bool take_work(const struct simulation *s, struct cw_sim_process *p, const char *line)
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
        cw_sim_launch_graph(p, s->nodes, (uint32_t)(number_in(rest) % 4096));
    else if (IS("copy"))
        take_copy(p, rest);
    else if (IS("memset"))
        cw_sim_memset(p, number_in(rest));
    else if (IS("sync"))
        cw_sim_synchronize(p);
    else if (IS("allocate"))
        take_allocation(p, rest);
    else if (IS("free"))
        cw_sim_free(p);
    else if (IS("odds"))
        cw_sim_odds_and_ends(p);
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
        cw_sim_wait_for_stream(p, (uint32_t)number_in(rest));
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
    cw_sim_range_begin(s->current, push, s->domain, name, s->category, s->payload);
    *s->domain = *s->category = 0;
    s->payload = CW_TRACE_SIGNED_UNKNOWN;
}

static void mark(struct simulation *s, const char *name)
{
    cw_sim_mark(s->current, name, s->value);
    s->value = 0;
}

static bool take_range(struct simulation *s, const char *line)
{
    struct cw_sim_process *p = s->current;
    const char *rest;
    if (IS("push"))
        begin_range(s, true, rest);
    else if (IS("pop"))
        cw_sim_range_end(p, NULL);
    else if (IS("start"))
        begin_range(s, false, rest);
    else if (IS("end"))
        cw_sim_range_end(p, rest);
    else if (IS("mark"))
        mark(s, rest);
    else if (IS("profiler"))
        cw_sim_profiler(p, strcmp(rest, "start") == 0);
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
