/* A driver with graphs and memory but without a GPU, behind the function pointers of the injection library. */
#ifndef CW_TEST_FAKE_DRIVER_H
#define CW_TEST_FAKE_DRIVER_H

#include "agent/inject/driver/inject.h"

enum { FAKE_MOST = 16 };

struct fake_graph;

struct fake_node {
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS kernel; /* its function is the number of its parameters, each of a word */
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS set;
    struct fake_graph *child;
    bool updatable; /* by kernels */
};

struct fake_graph {
    size_t count;
    struct fake_node nodes[FAKE_MOST];
    size_t edge_count;
    size_t edges[FAKE_MOST][2]; /* from a node to one that waits for it */
};

/* Memory that the driver knows. */
struct fake_memory {
    void *start;
    size_t size;
    CUmemorytype type;
    bool managed;
    int device;
};
extern struct fake_memory fake_memory[FAKE_MOST];

/* Bytes of the device: in all, and not in use. */
extern size_t fake_total, fake_unused;

/* CUPTI's numbers of the context's own stream and of a thread's own; others have their handle and this. Contexts have
 * their handle and 1000. */
enum { FAKE_OWN_STREAM = 7, FAKE_THREAD_STREAM = 8, FAKE_STREAMS = 100, FAKE_CONTEXTS = 1000 };

/* The context that all memory belongs to, or NULL. */
extern CUcontext fake_owner;

/* A stream that is being captured, or NULL. */
extern CUstream fake_captured;

/* Calls of the driver that CUPTI has a name for, up to one without; NULL: none. */
struct fake_name {
    CUpti_CallbackId id;
    const char *name;
};
extern const struct fake_name *fake_names;

/* Begins with a state of its own, in which the driver is this one. */
void fake_driver(void);

/* Nodes of a graph. The parameters must outlive it. */
struct fake_node *fake_kernel(struct fake_graph *graph, void **parameters, size_t count);
struct fake_node *fake_copy(struct fake_graph *graph, void *to, size_t size);
struct fake_node *fake_other(struct fake_graph *graph, CUgraphNodeType type);

/* What CUPTI would say of these calls, when they begin and when they have returned with this result. */
void fake_call(void (*follow)(CUpti_CallbackId id, const CUpti_CallbackData *call), CUpti_CallbackId id,
               const void *params, CUresult result);

#endif
