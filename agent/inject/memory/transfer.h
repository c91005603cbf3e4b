/* Sets and copies of memory that a program asks for, kept so that they can be done again. */
#ifndef CW_INJECT_TRANSFER_H
#define CW_INJECT_TRANSFER_H

#include "agent/inject/memory/shared.h"

struct cw_transfer {
    enum { CW_TRANSFER_SET, CW_TRANSFER_COPY, CW_TRANSFER_BOX } kind;
    CUdeviceptr to, from; /* from: of a copy on the device */
    const void *bytes;    /* of a copy from the host */
    unsigned value, width;
    size_t count;             /* of values of `width`, or of bytes */
    size_t rows, pitch;       /* of a set; no rows: it is of one piece */
    const CUDA_MEMCPY3D *box; /* a copy of several rows */
    CUstream stream;
};

/* Whether a call of the driver is one. */
bool cw_transfer_is(CUpti_CallbackId id);
/* Whether this one only brings memory to the host; *at_once: it is there when the call returns. */
bool cw_transfer_reads(CUpti_CallbackId id, const void *params, bool *at_once);
/* The memory of the host's that it reads or writes, from `begin` to before `end`, or more; none where both are 0. */
struct cw_host_bytes {
    uintptr_t begin, end;
};
struct cw_host_bytes cw_transfer_host(CUpti_CallbackId id, const void *params);
/* False for one that cannot be done again: to or from memory that the host shares, or an array, or of too many bytes
 * of the host's. What is kept lives in the arena of `shared`. */
bool cw_transfer_keep(struct cw_transfer *transfer, struct cw_shared *shared, CUpti_CallbackId id, const void *params);
/* In the current context. */
CUresult cw_transfer_do(const struct cw_transfer *transfer);

#endif
