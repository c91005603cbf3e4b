/* Finds the variables of a GPU kernel module, an ELF file as CUDA loads it. */
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

#endif
