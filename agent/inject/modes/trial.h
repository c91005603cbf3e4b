/* A launch that is given memory of the host's: its kernel may wait there for what the host does next, so it runs by
 * itself first, and all passes come behind it. */
#ifndef CW_INJECT_TRIAL_H
#define CW_INJECT_TRIAL_H

#include "agent/inject/modes/batches.h"

/* A recorded launch is about to run by itself; why not, or NULL. */
const char *cw_trial_begin(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                           const CUpti_CallbackData *call);
/* It has returned: replays it and sends its range, or counts it as skipped. */
void cw_trial_end(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call);

#endif
