/* Lets agents attach to a program that was started without one. A thread sleeps until an agent comes, and again after
 * it has left. Only traces can begin in this way, because they need no earlier events. */
#ifndef CW_INJECT_ATTACH_H
#define CW_INJECT_ATTACH_H

#include <stdbool.h>

#include "agent/inject/driver/descriptor.h"

struct cw_attach {
    struct cw_descriptor listener;
    void (*begin)(const char *cupti);
    bool (*end)(void);
};
extern struct cw_attach *const cw_attach;

/* Listens. Begin and end of an attached capture are called on the thread, without the lock. `cupti`: path of CUPTI; "":
 * search as the loader does. `end` returns false where no other agent may follow. */
void cw_attach_listen(void (*begin)(const char *cupti), bool (*end)(void));
/* Waits while the program has not initialised CUDA, before which no device is known. False if the agent leaves first. */
bool cw_attach_wait_for_cuda(void);
/* Call it in a forked child: agents attach to its parent only. */
void cw_attach_leave(void);

#endif
