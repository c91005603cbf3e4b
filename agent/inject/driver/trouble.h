/* Reports CUPTI's own state: its errors in the background, and its warnings. */
#ifndef CW_INJECT_TROUBLE_H
#define CW_INJECT_TROUBLE_H

#include <stdatomic.h>

#include "agent/inject/driver/inject.h"

/* Asks CUPTI for such reports. A CUPTI without them reports nothing. */
void cw_troubles_subscribe(void);
/* Takes a report: prints the first of a kind, counts the rest. A fatal error ends the capture, because CUPTI does
 * nothing more. Called on any thread, also within our own calls, so it takes no lock. */
void cw_troubles_take(CUpti_CallbackId id, const CUpti_StateData *data);
/* Prints the number of unreported ones when the program ends. */
void cw_troubles_tell_rest(void);

#endif
