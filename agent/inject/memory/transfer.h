/* Keeps a program's memory sets and copies, so that they can be repeated. */
#ifndef CW_INJECT_TRANSFER_H
#define CW_INJECT_TRANSFER_H

#include "agent/inject/memory/shared.h"

struct cw_transfer {
    enum { CW_TRANSFER_SET, CW_TRANSFER_COPY, CW_TRANSFER_BOX } kind;
    CUdeviceptr to, from; /* from: source of a copy on the device */
    const void *bytes;    /* source of a copy from the host */
    unsigned value, width;
    size_t count;             /* values of `width`, or bytes */
    size_t rows, pitch;       /* for a set; rows 0: one piece */
    const CUDA_MEMCPY3D *box; /* a copy of several rows */
    CUstream stream;
};

/* Whether a driver call is a set or a copy. */
bool cw_transfer_is(CUpti_CallbackId id);
/* Whether the call only copies memory to the host; *at_once: it is there when the call returns. */
bool cw_transfer_reads(CUpti_CallbackId id, const void *params, bool *at_once);
/* Whether the call sets memory of the host that CUDA allocated or registered. */
bool cw_transfer_sets_host(CUpti_CallbackId id, const void *params);
/* The host memory that a call reads or writes, from `begin` to before `end`, or more; none if both are 0. */
struct cw_host_bytes {
    uintptr_t begin, end;
};
struct cw_host_bytes cw_transfer_host(CUpti_CallbackId id, const void *params);
/* The device whose memory a copy between host and device reads or writes, as the driver numbers it; -1 if unknown. */
int cw_transfer_device(CUpti_CallbackId id, const void *params);
/* Keeps a transfer in the arena of `shared`. False if it cannot be repeated: to or from memory that the host shares, or
 * an array, or with too many bytes of the host. */
bool cw_transfer_keep(struct cw_transfer *transfer, struct cw_shared *shared, CUpti_CallbackId id, const void *params);
/* Keeps a node of a graph, a set or a box. False if it is not on the device alone. */
bool cw_transfer_keep_node(struct cw_transfer *transfer, struct cw_shared *shared, const struct cw_transfer *node);
/* The device memory that a transfer begins to write at, or an address near it in the same allocation. */
CUdeviceptr cw_transfer_target(const struct cw_transfer *transfer);
/* Repeats a transfer in the current context. */
CUresult cw_transfer_do(const struct cw_transfer *transfer);

#endif
