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
    bool running;     /* enabled and able to sample */
    bool started;     /* sampling now; without ranges CUPTI alone controls this */
    bool given_up;    /* CUPTI delivers no more */
    bool aside;       /* disabled for a launch that may wait */
    uint32_t watched; /* correlation of such a launch, the first of its kernel; else 0 */
    uint64_t entered; /* number of launches before that one */
    uint8_t period;
    uint64_t since_ns;
    struct cw_arena *arena; /* for the members below */
    size_t reason_count;
    uint32_t *reason_numbers; /* CUPTI's numbers, possibly not ascending */
    char **reasons;
    /* CUPTI uses `kept` for samples that it hands over when sampling is disabled */
    CUpti_PCSamplingData kept, asked;
};

struct cw_pc {
    /* from SETUP: */
    uint64_t flush_ns, buffer_bytes;
    enum cw_pc_mode mode;
    uint8_t period;
    uint32_t wanted_count;
    const char **wanted;
    struct cw_filter_options options;
    struct cw_filter filter;
    size_t chosen_count, chosen_capacity;
    uint32_t *chosen; /* correlations of launches, ascending, if only some are wanted */
    uint32_t context_count;
    struct cw_sampled *contexts[CW_MOST_CONTEXTS]; /* CUPTI holds the addresses of their buffers */
    bool late;                                     /* sampling is to start or stop, and could not yet */
    bool told;                                     /* the message about unsampled launches that may wait was printed */
    CUcontext left_out[CW_MOST_CONTEXTS]; /* contexts that are not sampled; a message follows when one launches */
    uint32_t left_out_count;
};
extern struct cw_pc *const cw_pc;

extern const struct cw_inject_mode cw_inject_pc;

#endif
