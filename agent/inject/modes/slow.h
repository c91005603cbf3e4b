/* A slow kernel of a context that is given host memory. While the program was held up, the kernel may have waited there
 * for the program's next step, up to a time limit of its own. So its next launch goes ahead without a wait: if that
 * takes much less time, the program's step has let it go. */
#ifndef CW_INJECT_SLOW_H
#define CW_INJECT_SLOW_H

#include "agent/inject/driver/inject.h"

/* A kernel that runs for so long is slow. */
#define CW_SLOW_NS UINT64_C(50000000)

struct cw_slow {
    CUfunction kernel; /* rested, but so late that it may have waited for a time limit; or NULL */
    CUlaunchConfig config;
    bool runs;            /* it was launched again, without a wait */
    uint32_t correlation; /* of that launch */
    uint64_t took_ns;     /* while the program was held up */
    uint64_t arguments;   /* a hash of those that are no addresses */
    CUevent events[2];    /* before it and behind it */
};

/* Notes how long a launch that is given host memory took while the program was held up. */
void cw_slow_note(struct cw_slow *slow, CUpti_CallbackId id, const CUpti_CallbackData *call, uint64_t took_ns);
/* Whether a launch is that launch again. */
bool cw_slow_is_again(const struct cw_slow *slow, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Surround the launch again, without a wait. Call the second at the return of every launch. */
void cw_slow_enter(struct cw_slow *slow, CUpti_CallbackId id, const CUpti_CallbackData *call);
void cw_slow_leave(struct cw_slow *slow, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Once it has ended, notes the kernel's habit (kernels.h), and forgets the launch. */
void cw_slow_judge(struct cw_slow *slow);
void cw_slow_forget(struct cw_slow *slow);
/* Call it before code is unloaded. `module` NULL: any module may go. */
void cw_slow_code_goes(struct cw_slow *slow, CUmodule module);

#endif
