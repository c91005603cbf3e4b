/* libcounterworks-collect: captures of the running process, from inside.
 *
 *     struct counterworks_collect *c;
 *     counterworks_collect_open(&c, COUNTERWORKS_COLLECT_KERNELS, &options, &error);   (before the first CUDA call)
 *     counterworks_collect_start(c);
 *     ... the program's work ...
 *     counterworks_collect_stop(c);
 *     counterworks_collect_close(c, take_notice, NULL, &error);
 *
 * and the capture is in the file of the options, for counterworks_capture_open() and the commands. A session is the
 * command "capture-agent range", pm, pc, sass or trace, for this process instead of one that the command starts: the
 * agent runs beside it as a child, and each option of the command can be given.
 *
 * The library needs libc alone. It finds capture-agent by COUNTERWORKS_AGENT, beside itself, or in PATH, and the agent
 * finds CUPTI as always. Link with -lcounterworks-collect.
 *
 * Functions of an open session do nothing where it is NULL, so that a program can do without one. Functions that may
 * fail return a status of counterworks.h. On failure they fill in the caller's error, unless that is NULL. None
 * prints or ends the program; after a failure of the capture the program runs on without it. All threads may call at
 * the same time, but one alone closes a session, and then none uses it. A process has one session at a time, and any
 * number one after another. A child by fork has none: of its calls only open and close do something, and fail.
 *
 * CUPTI and the agent can do some things only from the start of a process:
 *
 * - Batched replay has to know all memory of the program. Open the session before the first context of CUDA. Later, use
 *   another replay: the default is then multiplex, which repeats nothing.
 * - SASS metrics and PC samples of code that was loaded before the session have no source lines.
 * - A trace has no queue times (--latency), graph launches of the GPU, OpenMP and OpenACC.
 * - Ranges of NVTX count where NVTX_INJECTION64_PATH named libcounterworks_inject.so before the program first used
 * NVTX. Ranges that are pushed by functions of this header always do.
 *
 * A process under capture-agent, or under another profiler (CUDA_INJECTION64_PATH), can open no session. */
#ifndef COUNTERWORKS_COLLECT_H
#define COUNTERWORKS_COLLECT_H

#include <counterworks/counterworks.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- sessions --------------------------------------------------------------------------------------------------- */

struct counterworks_collect;

enum counterworks_collect_kind {
    COUNTERWORKS_COLLECT_KERNELS,      /* the plan's counters, for each launch */
    COUNTERWORKS_COLLECT_RANGES,       /* the same, for each range that is pushed */
    COUNTERWORKS_COLLECT_SAMPLES,      /* counters of the whole GPU at equal intervals, by a plan for pm */
    COUNTERWORKS_COLLECT_PC,           /* samples of the instructions at which warps are */
    COUNTERWORKS_COLLECT_INSTRUCTIONS, /* counts for each instruction (SASS metrics), named by `arguments` */
    COUNTERWORKS_COLLECT_TRACE         /* events with their times */
};

/* A launch of a kernel or a CUDA graph. */
struct counterworks_collect_launch {
    const char *kernel;             /* its name in the program's code; NULL for a graph */
    unsigned int grid[3], block[3]; /* blocks, and threads of a block; zeros for a graph */
    unsigned int shared_bytes;      /* dynamic shared memory of a block */
    const void *context, *stream;   /* CUDA's handles; the stream NULL for the default one */
    bool returned;                  /* CUDA has taken the launch, or refused it: */
    int result;                     /* CUresult of the call, when it has returned */
};
typedef void (*counterworks_collect_launched)(void *user, const struct counterworks_collect_launch *launch);

struct counterworks_collect_options {
    size_t size;
    /* The capture's file, RUN.cwd: its name, and no pattern as for the command, so that % stands for itself. NULL: the
     * capture stays in memory, for counterworks_collect_take(). */
    const char *output;
    const char *plan; /* path of a config image; NULL for kinds without counters */
    /* Of kernels: "batch" (default before the first context), "kernel", "multiplex" (default later) or "user"; of
     * ranges: "multiplex" (default) or "user", for loops of counterworks_collect_pass(). NULL: the default. */
    const char *replay;
    const char *agent;            /* path of capture-agent; NULL: found as above */
    const char *const *arguments; /* further options of the command: "--kernel", "gemm" */
    size_t argument_count;
    bool started; /* as if counterworks_collect_start() was called at once */
    /* Called before and after each launch from open to close, also outside of start and stop, in the thread that
     * launches; NULL: nobody. It may push and pop ranges. It must not use CUDA, nor close the session; close waits
     * for its calls. The launch is valid during the call. */
    counterworks_collect_launched on_launch;
    void *user; /* first argument of on_launch */
};
#define COUNTERWORKS_COLLECT_OPTIONS                                                                                   \
    {                                                                                                                  \
        .size = sizeof(struct counterworks_collect_options)                                                            \
    }

/* Opens a session, which takes some seconds for counters. COUNTERWORKS_UNSUPPORTED for anything that this node, or this
 * moment, cannot do; COUNTERWORKS_USAGE for a wrong option. */
enum counterworks_status counterworks_collect_open(struct counterworks_collect **session,
                                                   enum counterworks_collect_kind kind,
                                                   const struct counterworks_collect_options *options,
                                                   struct counterworks_error *error);

/* Collect from here on, and nothing from there on; both for all threads. Samples wait until the GPU has done the work
 * before. Loops of user replay are collected in any case. */
void counterworks_collect_start(struct counterworks_collect *session);
void counterworks_collect_stop(struct counterworks_collect *session);

/* Writes what was collected so far to the file of `output`, and ends a batch or range for that. The program can read
 * the file while the session goes on: as many complete rows as there are. */
void counterworks_collect_flush(struct counterworks_collect *session);

/* Ends the session and completes the file: a process that ends without it leaves an incomplete capture, with all data
 * that was whole. `tell` gets each line that the agent prints, as of work that could not be
 * collected; NULL: nobody. After a failure the file has all complete data. COUNTERWORKS_INPUT if nothing was launched
 * or pushed that could be collected. */
enum counterworks_status counterworks_collect_close(struct counterworks_collect *session,
                                                    void (*tell)(void *user, const char *line), void *user,
                                                    struct counterworks_error *error);

/* Ends a session without output as close does, and gives the capture's bytes, for counterworks_capture_read(). Free
 * them with free(). After a failure they are all complete data, or NULL. */
enum counterworks_status counterworks_collect_take(struct counterworks_collect *session, void **capture, size_t *size,
                                                   void (*tell)(void *user, const char *line), void *user,
                                                   struct counterworks_error *error);

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

/* Opens a range inside the current one of this thread, and closes the last opened. Names are copied. */
void counterworks_collect_push(struct counterworks_collect *session, const char *name);
void counterworks_collect_pop(struct counterworks_collect *session);

/* User replay: the program repeats a piece of its work until each pass of the plan is there, as a range of this name.
 * The library restores device memory between passes; host memory is yours.
 *
 *     int pass = 0;
 *     while (counterworks_collect_pass(c, "step", &pass))
 *         step();
 *
 * Let the work be the same each time, and leave the loop only at its end. One thread at a time. Without user replay, or
 * a session, the body runs once. */
bool counterworks_collect_pass(struct counterworks_collect *session, const char *name, int *pass);

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/* The content of the current context's device memory and pinned memory at one moment. A program puts it back any number
 * of times, and so runs several kernels, or one with several inputs, on the same memory. Memory that was allocated
 * later stays as it is. No session is needed. The functions wait for all work of the
 * context; no other thread may begin some meanwhile.
 *
 * NVIDIA's checkpoint library saves and restores. It comes with CUPTI, which is found by CW_CUPTI or in CUDA's usual
 * folders. Do not use it for memory that other processes or GPUs reach. */
struct counterworks_checkpoint;

#define COUNTERWORKS_CHECKPOINT_ALL ((size_t)-1)

struct counterworks_checkpoint_options {
    size_t size;
    size_t reserve_device; /* MiB of device memory that stay free; COUNTERWORKS_CHECKPOINT_ALL: save nothing there */
    size_t reserve_host;   /* the same of the host's memory. What fits on neither goes to a temporary file */
    /* Each restore puts back only the memory that the first one found changed. For loops that restore at the same point
     * of the same work. */
    bool same_changes;
};
#define COUNTERWORKS_CHECKPOINT_OPTIONS                                                                                \
    {                                                                                                                  \
        .size = sizeof(struct counterworks_checkpoint_options)                                                         \
    }

/* Saves into *checkpoint: NULL makes a new one, whose options (NULL: all memory may be used) hold for good. After a
 * failure *checkpoint is as before, but content that was saved before may be gone. COUNTERWORKS_UNSUPPORTED without a
 * GPU, a current context or the library, or after failed work; COUNTERWORKS_NOMEM if the content fits nowhere. */
enum counterworks_status counterworks_checkpoint_save(struct counterworks_checkpoint **checkpoint,
                                                      const struct counterworks_checkpoint_options *options,
                                                      struct counterworks_error *error);
/* Puts the content back. After a failure memory may have content of both moments. */
enum counterworks_status counterworks_checkpoint_restore(struct counterworks_checkpoint *checkpoint,
                                                         struct counterworks_error *error);
/* Frees it, before its context ends. NULL: does nothing. */
void counterworks_checkpoint_free(struct counterworks_checkpoint *checkpoint);

/* ---- without a GPU ---------------------------------------------------------------------------------------------- */

/* A session with the arguments "--backend", "sim" (or COUNTERWORKS_BACKEND=sim) needs neither GPU nor CUDA: launches
 * are then the ones that the program pretends by events such as "launch gemm" or "sync", for tests of its own. Does
 * nothing with a real GPU, or without a session. */
void counterworks_collect_pretend(const char *event);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
