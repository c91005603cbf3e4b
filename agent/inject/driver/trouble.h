/* What CUPTI tells of itself: errors of its own in the background, and warnings. */
#ifndef CW_INJECT_TROUBLE_H
#define CW_INJECT_TROUBLE_H

#include <stdatomic.h>

#include "agent/inject/driver/inject.h"

enum { CW_MOST_TROUBLES = 16 }; /* kinds that are told one by one */

struct cw_troubles {
    atomic_int kinds[CW_MOST_TROUBLES]; /* the callback's number and CUPTI's result; 0: none yet */
    atomic_uint more;                   /* that were not told */
};
extern struct cw_troubles *const cw_troubles;

/* Asks CUPTI to tell. One that does not know of it tells nothing. */
void cw_troubles_subscribe(void);
/* CUPTI tells: the first of a kind is said in a line, the rest is counted. After a fatal error CUPTI does nothing more,
 * so the capture is over. It comes on any thread, also within calls of ours: nothing here takes the lock. */
void cw_troubles_take(CUpti_CallbackId id, const CUpti_StateData *data);
/* Says how many more there were, when the program ends. */
void cw_troubles_tell_rest(void);

#endif
