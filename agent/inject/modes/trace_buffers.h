/* Buffers that CUPTI fills with activity records, in limited number, and their conversion into rows. */
#ifndef CW_INJECT_TRACE_BUFFERS_H
#define CW_INJECT_TRACE_BUFFERS_H

#include "agent/inject/modes/trace_rows.h"

enum { CW_TRACE_MOST_BUFFERS = 1024, CW_TRACE_BUFFER_MOST_BYTES = 64 << 20, CW_TRACE_BUFFER_ALIGNMENT = 4096 };

struct cw_trace_buffers {
    uint64_t bytes; /* size of each, a multiple of the alignment */
    uint32_t most;
    pthread_mutex_t lock; /* protects the members below */
    uint8_t *pool[CW_TRACE_MOST_BUFFERS];
    uint32_t free_count, made; /* in the pool, and in all */
};
extern struct cw_trace_buffers *const cw_trace_buffers;

/* Callbacks for cuptiActivityRegisterCallbacks. */
void CUPTIAPI cw_trace_buffer_requested(uint8_t **buffer, size_t *size, size_t *most);
void CUPTIAPI cw_trace_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Call it in a forked child, which has none of the threads that may hold the lock. */
void cw_trace_buffers_renew(void);
/* Call it when CUPTI has returned all buffers. */
void cw_trace_buffers_reset(void);

#endif
