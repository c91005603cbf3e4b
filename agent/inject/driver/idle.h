/* Waits that end. The driver's and CUPTI's own waits do not where a kernel waits for something that never comes, so
 * threads of ours make them, or end them. */
#ifndef CW_INJECT_IDLE_H
#define CW_INJECT_IDLE_H

#include "agent/inject/driver/inject.h"

/* Waits until a context has nothing left to do, at most so long; other threads go on meanwhile. False where it still
 * works, where it is no longer usable, and while a stream is being captured, which a wait would spoil. */
bool cw_idle_wait(CUcontext context, uint64_t patience_ns);
/* Before a capture begins: until no thread of ours waits for a context. True where that took a while, and other threads
 * went on. */
bool cw_idle_before_capture(void);
/* A context goes: another may get its address. */
void cw_idle_forget(CUcontext context);

/* Calls `late` from a thread of ours, without the lock, if cw_idle_watch_end() does not come within the limit. One at a
 * time. False where no thread can be had. */
bool cw_idle_watch(uint64_t limit_ns, void (*late)(void *user), void *user);
/* Whether it was late; `late` has returned then. */
bool cw_idle_watch_end(void);

#endif
