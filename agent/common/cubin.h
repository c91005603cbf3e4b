/* Finds the variables of a GPU kernel module, an ELF file as CUDA loads it, and functions that launch work themselves.
 */
#ifndef CW_AGENT_CUBIN_H
#define CW_AGENT_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

struct cw_cubin_variables {
    bool whole;     /* the module could be read: what follows is all that it has */
    bool any;       /* has variables in device memory that kernels may write */
    bool managed;   /* some of them can also be written by the host, without a call */
    bool symmetric; /* has the state of NVSHMEM, by which its kernels reach other devices */
    bool
        allocates; /* its kernels call functions of the device's runtime, which may allocate memory or launch kernels */
};

/* Calls `see` (if it is not NULL) with the name of each variable that kernels may write. Ignores strings, and objects
 * of CUDA's C++ libraries that take one byte and have no value. A file that is not a whole 64-bit ELF has no variables.
 */
struct cw_cubin_variables cw_cubin_variables(const void *cubin, size_t size, void (*see)(void *user, const char *name),
                                             void *user);

/* Calls `see` with the name of each function from which calls lead to a launch by the GPU: of a kernel, or of a graph.
 * Follows the module's own list of calls, and function addresses that a function takes. Without such a list these are
 * all functions of a module that can launch. Does not see calls by addresses in data. False when out of memory, and
 * if a name or the list of sections could not be read. */
bool cw_cubin_launchers(const void *cubin, size_t size, void (*see)(void *user, const char *name), void *user);

#endif
