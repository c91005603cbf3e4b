/* Marks the parts of a program for capture-agent: user ranges, loops for user replay, and numbers for calls.
 *
 *     cw_range_push("solve");
 *     ...
 *     cw_range_pop();
 *
 *     struct cw_replay step = {"step", 0};
 *     while (cw_range_pass(&step)) {
 *         ...
 *     }
 *
 * For C and C++. A program needs nothing but this header, which uses dlopen (-ldl before glibc 2.34). Without the agent
 * the functions do nothing, and the body of a loop runs once. */
#ifndef COUNTERWORKS_ANNOTATE_H
#define COUNTERWORKS_ANNOTATE_H

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>

/* A loop for user replay. The caller keeps the name until the loop has ended. */
struct cw_replay {
    const char *name; /* name of the range */
    int pass;         /* initialise with 0; cw_range_pass counts it up */
};

/* Returns the agent's library in this program, which CUDA loads as well. */
static inline void *cw_range_library(void)
{
    static void *library;
    static int tried;
    if (!tried) {
        /* not in a program that runs with another user's rights */
        const char *path =
            !getauxval(AT_SECURE) && getenv("COUNTERWORKS_SOCKET") ? getenv("CUDA_INJECTION64_PATH") : NULL;
        library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        tried = 1;
    }
    return library;
}

/* Opens a range inside this thread's current range. Copies the name. */
static inline void cw_range_push(const char *name)
{
    int (*push)(const char *) = NULL;
    if (cw_range_library())
        *(void **)&push = dlsym(cw_range_library(), "counterworks_range_push");
    if (push)
        push(name);
}

/* Closes the range that this thread opened last. */
static inline void cw_range_pop(void)
{
    int (*pop)(void) = NULL;
    if (cw_range_library())
        *(void **)&pop = dlsym(cw_range_library(), "counterworks_range_pop");
    if (pop)
        pop();
}

/* Attaches a number to all CUDA calls that this thread makes until cw_correlate_pop(). A trace stores it with them
 * (kind external_correlation). */
static inline void cw_correlate_push(unsigned long long number)
{
    void (*push)(unsigned long long) = NULL;
    if (cw_range_library())
        *(void **)&push = dlsym(cw_range_library(), "counterworks_correlate_push");
    if (push)
        push(number);
}

static inline void cw_correlate_pop(void)
{
    void (*pop)(void) = NULL;
    if (cw_range_library())
        *(void **)&pop = dlsym(cw_range_library(), "counterworks_correlate_pop");
    if (pop)
        pop();
}

/* Returns 1 while the body is to run (again). Under --replay user it runs once for each pass of the plan, and the agent
 * restores device memory between passes; otherwise it runs once. Host memory is not restored. Make a first CUDA call
 * before the loop. */
static inline int cw_range_pass(struct cw_replay *replay)
{
    int (*pass)(const char *, int) = NULL;
    if (cw_range_library())
        *(void **)&pass = dlsym(cw_range_library(), "counterworks_range_pass");
    return pass ? pass(replay->name, replay->pass++) : replay->pass++ == 0;
}

#endif
