/* A way to collect, as the callbacks of CUPTI and user ranges know it. */
#ifndef CW_INJECT_MODE_H
#define CW_INJECT_MODE_H

#include "agent/common/nesting.h"
#include "agent/inject/driver/inject.h"

struct cw_collection;

/* One way to collect (enum cw_mode): what it does with what happens in the program. */
struct cw_inject_mode {
    /* Finds libraries and what is in them, and may be NULL. The lock is not held: whoever waits for the loader must not
     * hold it, for constructors of libraries use ranges and CUDA. Several threads may come here, and find the same. */
    void (*load)(void);
    bool (*setup)(struct cw_reader *in); /* the rest of SETUP, once; false ends the capture */
    void (*context_created)(CUcontext context, uint32_t device);
    void (*context_destroyed)(CUcontext context);
    void (*finish)(void); /* the program ends */
    bool traces;          /* it keeps rows of a trace (trace_rows.h), also of what came before it was known */
    bool under_mps;       /* it works where contexts are made through CUDA's multi-process service, too */
    bool facts;           /* it sends facts of launches, which are learnt before launch_entered */
    /* calls of the driver that launch kernels or graphs; NULL: none of the mode's business, nor are their returns */
    void (*launch_entered)(CUpti_CallbackId id, const CUpti_CallbackData *call);
    /* Takes all calls of driver and runtime that the mode wants, when they begin and when they return, without the lock
     * and on whatever thread: for what must cost next to nothing. NULL: those of the driver come to those below. */
    void (*glance)(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call);
    bool (*wants_runtime)(CUpti_CallbackId id); /* with glance */
    /* the rest may be NULL: the return of a launch, and the other calls of the driver that it wants */
    void (*launch_left)(CUpti_CallbackId id, const CUpti_CallbackData *call);
    bool (*wants)(CUpti_CallbackId id);
    void (*call_entered)(CUpti_CallbackId id, const CUpti_CallbackData *call);
    void (*call_left)(CUpti_CallbackId id, const CUpti_CallbackData *call);
    void (*range_opened)(const struct cw_open_range *range);
    void (*range_closing)(const struct cw_open_range *range);
    void (*abandoned)(void); /* the capture is over, the program is not */
    /* ends what is being collected: others are about to reach the program's memory (reach.h), or a stream to be
     * captured; NULL: it does not matter to this mode */
    bool (*rest)(void); /* false where something goes on that cannot be ended */
    /* ends what is being collected of a context, if it can end at once, because another process waits for the GPU's
     * counters: from a thread of ours; NULL: they are given back only while nothing is collected */
    void (*give_way)(struct cw_collection *c);
    /* What is captured begins or ends here (gate.h), or another period begins: before a launch, or behind a call. NULL:
     * the next launch is soon enough. */
    void (*gate_turned)(bool open);
    void (*period_began)(uint64_t launches); /* of a period */
    /* the code of the program; NULL: not wanted. Where it is loaded, the lock is not held: the driver holds one that
     * calls of ours take as well. */
    void (*module_loaded)(const CUpti_ModuleResourceData *module);
    /* the same, where code is loaded or is about to be unloaded, and in which context */
    void (*module_changed)(CUcontext context, const CUpti_ModuleResourceData *module, bool loaded);
    void (*module_unloading)(CUcontext context);
};

#endif
