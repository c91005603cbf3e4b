/* A range profiler without a GPU, which insists on what CUPTI does, and the rest that parts of the injection library
 * need: saved memory, messages to the agent. The device's memory is one number. */
#ifndef CW_TEST_FAKE_PROFILER_H
#define CW_TEST_FAKE_PROFILER_H

#include "agent/common/effort.h"
#include "agent/common/filter.h"
#include "agent/common/trace_window.h"
#include "agent/inject/ranges/mode.h"
#include "tests/support/fake_driver.h"

enum { FAKE_PARTS = 2, FAKE_PASSES = 3, FAKE_MOST_SENT = 4096 }; /* the most; of parts that take turns, more */

#define FAKE_CONTEXTS_OF_SECOND_DEVICE ((CUcontext)0x100)

struct fake_profiler {
    uint32_t parts, passes; /* of the plan; passes of each part */
    int objects;            /* enabled so far */
    int missing;            /* passes of the plan that it does not know of */
    int running;            /* objects */
    int open;               /* ranges, of one object each */
    int pushed;             /* ranges */
    CUcontext current;
    uint64_t thread;            /* the calling one's number; 0: 1 */
    uint64_t now_ns;            /* a wait takes a second */
    void (*meanwhile)(void);    /* what another thread does while one waits, once */
    void (*beside)(void);       /* the same while one waits for a context to come to rest */
    void (*paused)(void);       /* and while one pauses, once */
    bool let_go;                /* the lock is */
    bool slow;                  /* a millisecond passes at each look at the clock */
    uint64_t start_ns, stop_ns; /* what a start and a stop take */
    uint32_t starts;            /* so far */
    bool in_turn;               /* parts of one pass take turns */
    bool busy;                  /* no context comes to rest */
    CUcontext busy_one;         /* nor does this one */
    bool no_thread;             /* can be had to watch a replay */
    int restored;               /* times that memory was put back */
    void (*late)(void *);       /* what ends a replay that does not; NULL while none is watched */
    void *late_user;
    bool was_late;
    uint32_t version;
    CUpti_ProfilerRange range;
    uint8_t scope;                     /* of the config image */
    bool once;                         /* it is the one for what is counted once, in any of its passes */
    int enabled;                       /* profilers */
    bool alone;                        /* nothing else uses the device */
    const char *taken;                 /* why the counters are not to be had, or NULL */
    bool wanted;                       /* another process waits for them */
    void (*give_way)(const char *pci); /* what the library does then */
    int given, refusals;               /* given: back; refusals: of starts that are left, because the GPU is busy */
    uint32_t device, saved;            /* memory */
    char failure[200];
    /* what the agent was told */
    uint32_t sent_count, sent_parts, skipped;
    uint32_t others;     /* messages that are not of ranges */
    uint8_t other[1024]; /* the last of them, as much as there is room for */
    size_t other_size;
    void (*hear)(enum cw_message_type type, const struct cw_writer *message); /* all of those; NULL: nobody does */
    struct cw_launch sent[FAKE_MOST_SENT];
    uint32_t part_of[FAKE_MOST_SENT]; /* the parts of those */
    char why[200];
    uint32_t batches; /* and what ended the last, and what it took */
    char ended[80];
    uint64_t spent_ns[CW_EFFORT__COUNT];
};
extern struct fake_profiler fake_profiler;

/* Begins anew, also fake_driver(). The setup of a plan of `parts` parts of `passes` passes each follows in `setup`, for
 * the caller to free; NULL: not wanted. */
void fake_profiler_begin(struct cw_writer *setup, uint32_t parts, uint32_t passes);
/* When the capture is to collect, of which fake_ask says what is in fake_when. */
extern struct cw_trace_window_options fake_when;
extern unsigned fake_patches; /* a bit for each part of what is counted once: CUPTI patches code for it */
void fake_ask_when(struct cw_writer *setup);
/* The program calls cudaProfilerStart, or cudaProfilerStop. */
void fake_profile(const struct cw_inject_mode *mode, bool starts);
/* What the capture asks of a mode of ranges, behind the plan. `filter` NULL: all launches. */
void fake_ask(struct cw_writer *setup, enum cw_replay_kind replay, bool user, const struct cw_filter_options *filter);
/* Gives a mode its setup, and frees it. */
void fake_setup(const struct cw_inject_mode *mode, struct cw_writer *setup);
/* The program begins to capture a stream or ends it, as the library and its mode are told. */
void fake_capture(const struct cw_inject_mode *mode, CUcontext context, CUstream stream, bool begins);
/* The name of launched kernels, at first "step". */
extern const char *fake_symbol;
/* A launch, as the library and its mode are told. */
void fake_launch_begins(const struct cw_inject_mode *mode, CUpti_CallbackId id, const void *params, CUcontext context,
                        uint32_t number);
void fake_launch_ends(const struct cw_inject_mode *mode, CUpti_CallbackId id, const void *params, CUcontext context,
                      uint32_t number, CUresult result);
/* Memory comes to be shared with other processes. */
void fake_share_memory(const struct cw_inject_mode *mode);
void fake_profiler_end(void);

#endif
