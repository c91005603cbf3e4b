/* A program that was started by no agent: it waits for one that attaches, in a thread that sleeps, and again when that
 * has left. Only traces can be begun so: they need nothing that was seen before. */
#ifndef CW_INJECT_ATTACH_H
#define CW_INJECT_ATTACH_H

#include <stdbool.h>

#include "agent/inject/driver/descriptor.h"

/* What an attached agent begins and ends, both on the thread, without the lock. */
struct cw_attach_calls {
    void (*begin)(const char *cupti); /* where CUPTI is; "": where the loader finds it */
    bool (*end)(void);                /* false: no other may follow */
};

struct cw_attach {
    struct cw_descriptor listener;
    const struct cw_attach_calls *calls;
};
extern struct cw_attach *const cw_attach;

void cw_attach_listen(const struct cw_attach_calls *calls);
/* In a child that was forked: agents come to its parent alone. */
void cw_attach_leave(void);

#endif
