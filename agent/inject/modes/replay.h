/* User replay, where the program itself repeats a piece of its work once for each pass (counterworks/annotate.h). */
#ifndef CW_INJECT_REPLAY_H
#define CW_INJECT_REPLAY_H

#include "agent/inject/memory/checkpoint.h"

struct cw_user_replay {
    struct cw_checkpoint memory;
    bool saved;
    uint32_t level;
    uint64_t launches; /* that the filter had counted before this pass */
    uint64_t thread;   /* whose loop is under way; one at a time */
    CUcontext context; /* that it was begun in */
};
extern struct cw_user_replay *const cw_user_replay;

#endif
