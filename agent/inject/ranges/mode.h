/* Ways to collect, as callbacks for events of CUPTI and user ranges. */
#ifndef CW_INJECT_MODE_H
#define CW_INJECT_MODE_H

#include "agent/common/nesting.h"
#include "agent/inject/driver/inject.h"

struct cw_collection;

/* A way to collect (enum cw_mode): its reactions to events in the program. */
struct cw_inject_mode {
    /* Finds libraries and their functions; may be NULL. Called without the lock, because constructors of libraries use
     * ranges and CUDA while the loader holds its own lock. Several threads may call it, with the same result. */
    void (*load)(void);
    bool (*setup)(struct cw_reader *in); /* reads the rest of SETUP, once; false ends the capture */
    void (*context_created)(CUcontext context, uint32_t device);
    void (*context_destroyed)(CUcontext context);
    void (*finish)(void); /* the program ends */
    void (*flush)(void);  /* sends what was collected so far; NULL: so does `rest`, or it is a trace */
    bool traces;          /* keeps rows of a trace (trace_rows.h), also from before the setup */
    bool under_mps;       /* also works with contexts made through CUDA's multi-process service */
    bool facts;           /* sends facts of launches, which are learnt before launch_entered */
    /* driver calls that launch kernels or graphs; NULL: the mode ignores launches and their returns */
    void (*launch_entered)(CUpti_CallbackId id, const CUpti_CallbackData *call);
    /* Takes all wanted calls of driver and runtime, at their beginning and return, without the lock and on any thread:
     * for modes that must cost almost nothing. NULL: driver calls go to the functions below. */
    void (*glance)(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call);
    bool (*wants_runtime)(CUpti_CallbackId id); /* with glance */
    /* the rest may be NULL: return of a launch, and other wanted driver calls */
    void (*launch_left)(CUpti_CallbackId id, const CUpti_CallbackData *call);
    bool (*wants)(CUpti_CallbackId id);
    void (*call_entered)(CUpti_CallbackId id, const CUpti_CallbackData *call);
    void (*call_left)(CUpti_CallbackId id, const CUpti_CallbackData *call);
    void (*range_opened)(const struct cw_open_range *range);
    void (*range_closing)(const struct cw_open_range *range);
    void (*abandoned)(void); /* the capture is over, the program runs on */
    /* Forgets the setup, once all contexts are forgotten. False if CUPTI goes on collecting; then, as without this
     * function, no other capture can follow. */
    bool (*reset)(void);
    /* Ends the current collection, because others are about to reach the program's memory (reach.h), or because a
     * stream's capture is about to begin. NULL: the mode need not. */
    bool (*rest)(void); /* false if something cannot be ended */
    /* Ends the collection of a context if that is possible at once, because another process waits for the GPU's
     * counters. Called on one of our threads. NULL: the counters are given back only while nothing is collected */
    void (*give_way)(struct cw_collection *c);
    /* The captured time begins or ends here (gate.h), or another period begins: before a launch, or behind a call.
     * NULL: the next launch is soon enough. */
    void (*gate_turned)(bool open);
    void (*period_began)(uint64_t launches); /* of a period */
    /* Code of the program was loaded; NULL: not wanted. Called without the lock, because the driver holds a lock of its
     * own that our calls take as well. */
    void (*module_loaded)(const CUpti_ModuleResourceData *module);
    /* The same for code that was loaded or is about to be unloaded, with its context. */
    void (*module_changed)(CUcontext context, const CUpti_ModuleResourceData *module, bool loaded);
    void (*module_unloading)(CUcontext context);
    /* The program builds a CUDA graph; called without the lock, as module_loaded. A mode enables these callbacks of
     * CUPTI itself. */
    void (*graph_changed)(CUpti_CallbackId id, const CUpti_GraphData *data);
};

#endif
