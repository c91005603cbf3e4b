/* Finds out which launches can reach memory that others reach, too: other devices, other processes or network cards.
 * Such a launch cannot be repeated, and memory that others may write must not be restored. Signs are the calls that
 * make memory reachable, and the kernel names of collectives.
 *
 * A launch reaches such memory through an address: in its parameters, in a variable of its code, or in memory that
 * it is given (a table). This follows the addresses as the program hands them out.
 *
 * Collectives of other processes write such memory beside any launch of this one. They write nothing else, so a launch
 * that cannot reach it may be repeated beside them. */
#ifndef CW_INJECT_REACH_H
#define CW_INJECT_REACH_H

#include "agent/inject/driver/inject.h"

#define CW_WHY_REACHED "work that ran when other devices or processes gained access to its memory"

enum { CW_REACH_MOST_RANGES = 65536, CW_REACH_TENSOR_MAPS = 1024 /* a power of two */ };

enum cw_reach_range_kind {
    CW_REACH_MAPPED,   /* memory of the process, mapped by a handle that it may export */
    CW_REACH_VARIABLE, /* a variable of the program's code */
    CW_REACH_TABLE,    /* holds an address of memory that others reach */
    CW_REACH_SHARED,   /* memory of the process that other processes or network cards reach */
    CW_REACH_FOREIGN,  /* memory of another process */
    CW_REACH_HANDLE,   /* no memory: handles from `begin` to before `end` are of memory that others reach */
};

struct cw_reach_range { /* from `begin` to before `end` */
    uint64_t begin, end, handle;
    enum cw_reach_range_kind kind;
};

struct cw_reach {
    uint8_t kinds[CUPTI_DRIVER_TRACE_CBID_SIZE]; /* by driver call */
    char why[160];                               /* the first sign */
    char why_all[160];                           /* "", or the sign since which any launch may reach others' memory */
    bool reached;
    bool several;     /* the program uses several devices */
    bool variable;    /* one of the code's held such an address before devices could reach each other's memory */
    bool peers;       /* they may reach each other's memory */
    bool collectives; /* a kernel of several devices was launched */
    uint32_t changes; /* number of signs so far that gave or took access */
    struct cw_reach_range *ranges;
    size_t count, room;
    uint64_t low, high; /* bounds of all tables, shared and foreign memory */
    bool encoded;       /* there is a tensor map: */
    struct {
        uint64_t mark, address; /* mark: of its bytes, which hide the address */
    } maps[CW_REACH_TENSOR_MAPS];
};
extern struct cw_reach *const cw_reach;

/* Looks up the names of the driver's calls. */
void cw_reach_init(void);
/* Whether a driver call may make memory reachable, or hand out its address. */
bool cw_reach_follows(CUpti_CallbackId id);
/* Follows a call or launch, before it is made and after its return. True before the first sign, and before each sign
 * that gives others access to more memory: the caller then ends all collections and calls cw_reach_begin. */
bool cw_reach_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Marks memory as reachable from here on. Work that began since the collections ended must not be repeated. */
void cw_reach_begin(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Call it when the program begins to use a second device: addresses of one may come to the other from here on. */
void cw_reach_several_devices(void);
/* Any launch counts as reaching others' memory from here on, because of `why`. Call it between two calls of rest(). */
void cw_reach_everything(const char *why);

/* The reason why a launch must not be repeated, as a range's attribute; NULL if it may be. cw_reach_why is for modes
 * that cannot tell launches apart. Other modes ask cw_reach_why_all about all launches, and cw_reach_why_launch about
 * one. */
const char *cw_reach_why(void);
const char *cw_reach_why_all(void);
const char *cw_reach_why_launch(CUpti_CallbackId id, const CUpti_CallbackData *call); /* ignores graphs */
/* The same of a kernel of this name that is not launched by a call, while memory is reachable. */
const char *cw_reach_why_kernel(const struct cw_driver_launch *launch, const char *name);
/* Whether a kernel is of a collective, by its name: it waits for kernels of other devices. */
bool cw_reach_by_name(const char *kernel);
/* Whether other processes may write the memory that they reach at any time, so that its hash proves nothing. */
bool cw_reach_is_written(void);
/* Whether an address is of another device, or of memory that other processes or network cards reach. */
bool cw_reach_has(uint64_t address);
/* Whether a copy or set, before it is made, is to or from another device or process. */
bool cw_reach_crosses(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* cw_reach_beyond: whether other processes or network cards reach memory of this process. cw_reach_next: the first
 * shared or foreign range after `range` (NULL: of all); NULL behind the last. Nobody may save or restore such
 * ranges. */
bool cw_reach_beyond(void);
const struct cw_reach_range *cw_reach_next(const struct cw_reach_range *range);
/* Call it when a context is destroyed: its memory is gone, and other memory may get the addresses. */
void cw_reach_forget(void);

#endif
