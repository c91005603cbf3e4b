/* User replay: the program itself repeats a part of its work once for each pass (counterworks/annotate.h). */
#ifndef CW_INJECT_REPLAY_H
#define CW_INJECT_REPLAY_H

#include "agent/inject/memory/checkpoint.h"

struct cw_user_replay {
    struct cw_checkpoint memory;
    bool saved;
    uint32_t level;
    uint64_t launches; /* launches counted by the filter before this pass */
    uint64_t thread;   /* thread of the current loop; one at a time */
    CUcontext context; /* context of the loop's beginning */
};
extern struct cw_user_replay *const cw_user_replay;

#endif
