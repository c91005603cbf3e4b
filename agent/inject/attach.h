/* Lets agents attach to a program that was started without one. A thread sleeps until an agent comes, and again after
 * it has left. Only traces can begin in this way, because they need no earlier events. */
#ifndef CW_INJECT_ATTACH_H
#define CW_INJECT_ATTACH_H

#include <stdbool.h>

#include "agent/inject/driver/descriptor.h"

/* Begin and end of an attached capture, called on the thread, without the lock. */
struct cw_attach_calls {
    void (*begin)(const char *cupti); /* path of CUPTI; "": search as the loader does */
    bool (*end)(void);                /* false: no other agent may follow */
};

struct cw_attach {
    struct cw_descriptor listener;
    const struct cw_attach_calls *calls;
};
extern struct cw_attach *const cw_attach;

void cw_attach_listen(const struct cw_attach_calls *calls);
/* Call it in a forked child: agents attach to its parent only. */
void cw_attach_leave(void);

#endif
