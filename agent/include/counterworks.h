/* User ranges and user replay for programs under capture-agent. Header only; nothing happens without the agent.
 *
 *     cw_range_push("solve");
 *     ...
 *     cw_range_pop();
 *
 *     struct cw_replay step = {"step"};      under --replay user the body runs once for each pass of the plan, device
 *     while (cw_range_pass(&step)) {         memory being put back in between; otherwise it runs once. Host memory is
 *         ...                                not put back. The first CUDA call must have been made before the loop.
 *     }
 *
 * For C and C++. Needs dlopen (-ldl before glibc 2.34). */
#ifndef COUNTERWORKS_H
#define COUNTERWORKS_H

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>

struct cw_replay {
    const char *name;
    int pass; /* 0 before the loop; the loop's own */
};

/* The agent's library in this program, which CUDA loads as well. */
static inline void *cw_range_library(void)
{
    static void *library;
    static int tried;
    if (!tried) {
        /* not in a program that has the rights of another user */
        const char *path =
            !getauxval(AT_SECURE) && getenv("COUNTERWORKS_SOCKET") ? getenv("CUDA_INJECTION64_PATH") : NULL;
        library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        tried = 1;
    }
    return library;
}

static inline void cw_range_push(const char *name)
{
    int (*push)(const char *) = NULL;
    if (cw_range_library())
        *(void **)&push = dlsym(cw_range_library(), "counterworks_range_push");
    if (push)
        push(name);
}

static inline void cw_range_pop(void)
{
    int (*pop)(void) = NULL;
    if (cw_range_library())
        *(void **)&pop = dlsym(cw_range_library(), "counterworks_range_pop");
    if (pop)
        pop();
}

/* 1 while the body is to run (again). */
static inline int cw_range_pass(struct cw_replay *replay)
{
    int (*pass)(const char *, int) = NULL;
    if (cw_range_library())
        *(void **)&pass = dlsym(cw_range_library(), "counterworks_range_pass");
    return pass ? pass(replay->name, replay->pass++) : replay->pass++ == 0;
}

#endif
