/* What a kernel module of the GPU brings beside its code: ELF, as CUDA loads it. */
#ifndef CW_AGENT_CUBIN_H
#define CW_AGENT_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

struct cw_cubin_variables {
    bool any;     /* in the device's memory, that kernels may write */
    bool managed; /* the host may write some, too, without a call */
};

/* Objects of CUDA's C++ libraries that take a byte and have no value are none. Of what is no whole ELF file of 64 bits
 * there are none. */
struct cw_cubin_variables cw_cubin_variables(const void *cubin, size_t size);

#endif
