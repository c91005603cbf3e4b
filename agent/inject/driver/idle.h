/* Waits with a time limit. The driver's and CUPTI's own waits never end if a kernel waits for something that never
 * comes. So our own threads make these waits, or end them. */
#ifndef CW_INJECT_IDLE_H
#define CW_INJECT_IDLE_H

#include <time.h>

#include "agent/inject/driver/inject.h"

/* Waits for a context's work without limit; false if the context is no longer usable. */
bool cw_idle_synchronize(CUcontext context);
/* Waits for at most `patience_ns` until a context has no work left; other threads run meanwhile. False if it still
 * works, if it is no longer usable, and while a stream is being captured, because a wait would spoil the capture. */
bool cw_idle_wait(CUcontext context, uint64_t patience_ns);
/* The same at the beginning of the first capture, which counts as active but is not yet in the driver. */
bool cw_idle_wait_before_capture(CUcontext context, uint64_t patience_ns);
/* The same with the lock held all the time, so that no other thread goes on. */
bool cw_idle_wait_alone(CUcontext context, uint64_t patience_ns);
/* The same for a short wait, after which a longer one is no waste. The caller knows that no capture is under way. */
bool cw_idle_soon(CUcontext context, uint64_t patience_ns);
/* Call it before a capture begins: waits until none of our threads waits for a context. True if that took time and
 * other threads went on. */
bool cw_idle_before_capture(void);
/* Call it when a context is destroyed: another may get its address. */
void cw_idle_forget(CUcontext context);

/* Whether there is a thread for watches: */
bool cw_idle_can_watch(void);
/* Calls `late` from one of our threads, without the lock, unless cw_idle_watch_end() comes within the limit. One watch
 * at a time. False if there is no thread. */
bool cw_idle_watch(uint64_t limit_ns, void (*late)(void *user), void *user);
/* Ends the watch. Returns whether it was late; `late` has returned then. */
bool cw_idle_watch_end(void);

#endif
