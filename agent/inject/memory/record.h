/* Records the program's work on the device from some moment on, so that it can be repeated: launches with their
 * arguments and the host memory given to them, memory sets, and copies to and on the device with their bytes. */
#ifndef CW_INJECT_RECORD_H
#define CW_INJECT_RECORD_H

#include "agent/inject/memory/graph_nodes.h"

/* Effect of a driver call on a record. */
enum cw_effect {
    CW_EFFECT_NONE,   /* changes nothing that later kernels read */
    CW_EFFECT_LOAD,   /* loads code: the same, but launches are repeated behind it if it does not take long */
    CW_EFFECT_GRAPH,  /* changes CUDA graphs alone, of which a record has copies */
    CW_EFFECT_READ,   /* changes nothing either, but reads results */
    CW_EFFECT_RECORD, /* can be recorded and repeated */
    CW_EFFECT_WAIT,   /* waits for the whole context; changes nothing, but may be the program's last call */
    CW_EFFECT_END,    /* anything else: earlier work cannot be repeated after it */
};

struct cw_operation;

struct cw_record {
    struct cw_operation *first, **next, *launch; /* launch: the last one */
    /* earlier content of host memory, and bytes copied from there; without an arena while nothing is recorded */
    struct cw_shared shared;
    uint64_t since; /* host allocations until the first call (cw_pinned.count) */
    bool rests;     /* the context has no work when the current call is added */
};

/* Looks up the names of the driver's calls; false if the driver cannot describe a kernel's parameters. */
bool cw_record_init(void);
/* Whether calls of this kind may have an effect. */
bool cw_record_wants(CUpti_CallbackId id);
/* Effect of a call; *at_once: its results are there when it returns. */
enum cw_effect cw_record_effect(CUpti_CallbackId id, const CUpti_CallbackData *call, bool *at_once);

/* Whether a call frees something that may belong to another context than the current one: memory, a stream, code. */
bool cw_record_gives_back(CUpti_CallbackId id);

/* Adds a call before it is made. False if it cannot be repeated: a graph, an unknown argument layout, a copy to memory
 * that the host shares, or too many bytes. A kernel that is given shared memory is refused unless the context `rests`,
 * because running kernels may write that memory; and beside other work if the memory is managed or large. */
bool cw_record_add(struct cw_record *record, CUpti_CallbackId id, const CUpti_CallbackData *call, bool rests);
/* Adds copies of a graph's nodes, which are about to run on `stream` as a graph and are repeated one by one. False,
 * with nothing added, if one of them is given memory that the host shares, or copies from or to the host. */
bool cw_record_add_nodes(struct cw_record *record, const struct cw_graph_node *nodes, CUstream stream);
/* Notes that the driver refused the last launch, as it would again. */
void cw_record_refuse(struct cw_record *record);
/* Whether the last launch is given memory that the host shares. */
bool cw_record_launch_shares(const struct cw_record *record);
/* Calls `each` with the kernel of every launch, in order. */
void cw_record_kernels(const struct cw_record *record, void (*each)(void *user, CUfunction kernel), void *user);
/* The same of launches that are given memory that the host shares. */
void cw_record_given_host(const struct cw_record *record, void (*each)(void *user, CUfunction kernel), void *user);
/* Call it before the program frees host memory. Launches that were given the memory get a copy of it from here on.
 * False if launches may still reach the memory itself: they cannot be repeated once it is freed. */
bool cw_record_free_host(struct cw_record *record, void *memory);
/* Restores shared memory and repeats everything, in order, in the current context. Returns the result of the first
 * driver call that failed. Calls `before` and `after` around each launch unless they are NULL; launches are numbered
 * from 1. */
CUresult cw_record_play(const struct cw_record *record, void (*before)(void *user, uint32_t launch),
                        void (*after)(void *user), void *user);
void cw_record_clear(struct cw_record *record);

#endif
