/* Buffers that CUPTI fills with activity records, a bounded number of them, and the way from there to rows. */
#ifndef CW_INJECT_TRACE_BUFFERS_H
#define CW_INJECT_TRACE_BUFFERS_H

#include "agent/inject/modes/trace_rows.h"

enum { CW_TRACE_MOST_BUFFERS = 1024 };

struct cw_trace_buffers {
    uint64_t bytes; /* of each */
    uint32_t most;
    pthread_mutex_t lock; /* of what follows */
    uint8_t *pool[CW_TRACE_MOST_BUFFERS];
    uint32_t free_count, made; /* in the pool, and in all */
};
extern struct cw_trace_buffers *const cw_trace_buffers;

/* What cuptiActivityRegisterCallbacks is given. */
void CUPTIAPI cw_trace_buffer_requested(uint8_t **buffer, size_t *size, size_t *most);
void CUPTIAPI cw_trace_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* In a child that was forked, which has none of the threads that may hold the lock. */
void cw_trace_buffers_renew(void);
/* Once CUPTI has given all back. */
void cw_trace_buffers_reset(void);

#endif
