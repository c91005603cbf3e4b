/* Knows the device memory that the program's kernels may write: its allocations, and variables of the modules whose
 * kernels it launches. Says so where it may not know all. */
#ifndef CW_INJECT_REGIONS_H
#define CW_INJECT_REGIONS_H

#include "agent/inject/driver/inject.h"

enum { CW_MOST_MET = 4096 }; /* a power of two; beyond it functions and modules are met again */

struct cw_regions {
    struct cw_region {
        CUdeviceptr at;
        size_t size;
    } * items; /* by address, without overlaps */
    uint32_t count, room;
    struct cw_region *own; /* memory of this library, in no order */
    uint32_t own_count, own_room;
    uint64_t changes;   /* how often `items` changed */
    bool beyond;        /* there is memory that is not in `items`, for good */
    atomic_bool unsure; /* some may be gone with their module or context */
    atomic_bool unmet;  /* forget the two tables below: code was unloaded, and other code may get its handles */
    CUfunction functions[CW_MOST_MET]; /* that were met */
    CUmodule owners[CW_MOST_MET];      /* the modules of these */
    CUmodule modules[CW_MOST_MET];     /* whose variables are in `items` */
};
extern struct cw_regions *const cw_regions;

bool cw_regions_follows(CUpti_CallbackId id);
/* Takes note of a driver call, before it and after it. */
void cw_regions_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Allocate and free device memory for this library itself, which is in no region. */
CUresult cw_regions_allocate(CUdeviceptr *at, size_t size);
void cw_regions_release(CUdeviceptr at);
/* Whether a call allocates device memory, *size bytes, or asks how much there is (*size is SIZE_MAX). */
bool cw_regions_takes(CUpti_CallbackId id, const void *params, size_t *size);
/* Adds the variables of a function's module, before the function runs. NULL: a graph, whose functions were met. */
void cw_regions_meet(CUfunction function);
/* Whether a function's module has variables, or may have. */
bool cw_regions_has_variables(CUfunction function);
/* Whether an address is in a region. */
bool cw_regions_have(CUdeviceptr address);
/* Notes an address that work is given. Returns false once, if it is memory of the device in no region, unless it is
 * this library's, or others reach it (reach.h). */
bool cw_regions_know(CUdeviceptr address);
/* The module of a function that was met lately; else NULL. */
CUmodule cw_regions_module(CUfunction function);
/* Call it before the program unloads a module: forgets its functions. */
void cw_regions_forget_module(CUmodule module);
/* Call it when code is unloaded or a context ends. The functions of all modules are forgotten unless the other call has
 * come first. Needs no lock. */
void cw_regions_forget_code(bool forgotten);
/* Drops regions that are gone. False if kernels may write other memory, too. */
bool cw_regions_are_all(void);
/* Which context's kernels may write a region: the current one's, another one's of the same device, or those of another
 * device or process. NEIGHBOUR, too, if others reach a part of it. */
enum cw_region_owner { CW_REGION_OWN, CW_REGION_NEIGHBOUR, CW_REGION_ELSEWHERE };
enum cw_region_owner cw_region_owner(const struct cw_region *region, CUcontext current);

#endif
