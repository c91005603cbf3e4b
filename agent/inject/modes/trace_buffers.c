#define _GNU_SOURCE
#include "agent/inject/modes/trace_buffers.h"

#include <stdlib.h>
#include <unistd.h>

#include "agent/inject/modes/trace_records.h"

#define self cw_trace_buffers

/* Returns a used buffer if possible. CUPTI clears each buffer, which takes milliseconds in the program's own threads if
 * the system must find memory for it. */
void CUPTIAPI cw_trace_buffer_requested(uint8_t **buffer, size_t *size, size_t *most)
{
    struct cw_thread here;
    cw_thread_enter(&here);
    pthread_mutex_lock(&self->lock);
    *buffer = self->free_count ? self->pool[--self->free_count] : NULL;
    if (!*buffer && self->made < self->most && (*buffer = aligned_alloc(CW_TRACE_BUFFER_ALIGNMENT, self->bytes)))
        self->made++;
    pthread_mutex_unlock(&self->lock);
    *size = *buffer ? self->bytes : 0;
    *most = 0;
    cw_thread_leave(&here);
}

static void give_back(uint8_t *buffer)
{
    pthread_mutex_lock(&self->lock);
    const bool known = self->free_count < self->made; /* otherwise CUPTI kept it since the last trace */
    if (known)
        self->pool[self->free_count++] = buffer;
    pthread_mutex_unlock(&self->lock);
    if (!known)
        free(buffer);
}

static void count_dropped(CUcontext context, uint32_t stream)
{
    size_t dropped = 0;
    if (cw_inject->api.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped)
        atomic_fetch_add(&cw_trace_sheets->page->dropped, dropped);
}

/* Makes rows of the records. Releases the lock at intervals, because the program's threads need it for their calls. */
static void take_records(uint8_t *buffer, size_t valid)
{
    enum { AT_A_TIME = 32 };
    CUpti_Activity *record = NULL;
    bool more = valid > 0;
    while (more) {
        cw_trace_rows_lock();
        for (int i = 0; i < AT_A_TIME && more; i++) {
            more = cw_inject->api.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS;
            if (more)
                cw_trace_record_take(record);
        }
        cw_trace_rows_unlock();
    }
}

/* Takes a completed buffer, on CUPTI's thread, or on one that flushes and may hold the library's lock; so it takes the
 * rows' lock only. Marks the thread's calls as ours, because a handler of the program must not ask for these locks
 * meanwhile. */
void CUPTIAPI cw_trace_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)size;
    struct cw_thread here;
    cw_thread_enter(&here);
    const bool entered = cw_inject_enter();
    if (!cw_inject->over && cw_inject->process == getpid()) {
        take_records(buffer, valid);
        count_dropped(context, stream);
    }
    if (buffer)
        give_back(buffer);
    if (entered)
        cw_inject_leave();
    cw_thread_leave(&here);
}

void cw_trace_buffers_renew(void)
{
    self->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

void cw_trace_buffers_reset(void)
{
    while (self->free_count)
        free(self->pool[--self->free_count]);
    *self = (struct cw_trace_buffers){0};
}
