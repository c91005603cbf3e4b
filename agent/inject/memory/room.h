/* Whether there is memory to save what a context holds. */
#ifndef CW_INJECT_ROOM_H
#define CW_INJECT_ROOM_H

#include "agent/inject/driver/inject.h"

/* Whether what the current context holds can be saved, nearly all of it on the device itself, and so many bytes
 * besides, so that CUPTI still finds the memory that it needs. */
bool cw_room_to_save(size_t besides);
/* How many bytes of the device a checkpoint is to leave free for that. */
size_t cw_room_kept_free(void);

#endif
