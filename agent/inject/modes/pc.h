/* PC sampling of each context. */
#ifndef CW_INJECT_PC_H
#define CW_INJECT_PC_H

#include "agent/common/filter.h"
#include "agent/inject/ranges/mode.h"
#include "image/pc_data.h"

struct cw_sampled { /* a context under PC sampling */
    CUcontext context;
    uint32_t device;
    bool held;        /* CUPTI has the address of `kept` */
    bool running;     /* enabled, and good for samples */
    bool started;     /* taking samples; under CUPTI's control alone where no ranges were named */
    bool given_up;    /* CUPTI handed out no more */
    bool aside;       /* disabled for a launch that may wait */
    uint32_t watched; /* the correlation of such a launch, the first of its kernel; else 0 */
    uint64_t entered; /* launches before that one */
    uint8_t period;
    uint64_t since_ns;
    struct cw_arena *arena; /* of what follows */
    size_t reason_count;
    uint32_t *reason_numbers; /* CUPTI's, in ascending order or not */
    char **reasons;
    /* CUPTI keeps the first for what it has to hand over by itself, when sampling is disabled */
    CUpti_PCSamplingData kept, asked;
};

struct cw_pc {
    /* from SETUP */
    uint64_t flush_ns, buffer_bytes;
    enum cw_pc_mode mode;
    uint8_t period;
    uint32_t wanted_count;
    const char **wanted;
    struct cw_filter_options options;
    struct cw_filter filter;
    size_t chosen_count, chosen_capacity;
    uint32_t *chosen; /* correlations of launches, in ascending order, where only some are wanted */
    uint32_t context_count;
    struct cw_sampled *contexts[CW_MOST_CONTEXTS]; /* CUPTI holds the addresses of their buffers */
    bool late;                                     /* sampling is to start or to stop, and could not yet */
    bool told;                                     /* of launches that are not sampled because they may wait */
    CUcontext left_out[CW_MOST_CONTEXTS];          /* that are not sampled, until one of them launches, which is told */
    uint32_t left_out_count;
};
extern struct cw_pc *const cw_pc;

extern const struct cw_inject_mode cw_inject_pc;

#endif
