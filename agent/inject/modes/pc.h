/* PC sampling of each context. */
#ifndef CW_INJECT_PC_H
#define CW_INJECT_PC_H

#include "agent/common/filter.h"
#include "agent/inject/ranges/mode.h"
#include "image/pc_data.h"

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
