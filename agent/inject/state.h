/* The state that several modules of the library use: a part for each of them, described in the module's header. A
 * module knows its own part, by a pointer (cw_gate), and the parts of the layers below. State of a single module is in
 * its file, marked CW_STATE. `forked` in entry.c resets the state in a forked child. */
#ifndef CW_INJECT_STATE_H
#define CW_INJECT_STATE_H

#include "agent/inject/attach.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/say.h"
#include "agent/inject/driver/streams.h"
#include "agent/inject/driver/wire.h"
#include "agent/inject/inside.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/memory_hash.h"
#include "agent/inject/memory/mirror.h"
#include "agent/inject/memory/pinned.h"
#include "agent/inject/memory/proof.h"
#include "agent/inject/memory/record.h"
#include "agent/inject/memory/regions.h"
#include "agent/inject/modes/batches.h"
#include "agent/inject/modes/multiplex.h"
#include "agent/inject/modes/pass_turns.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/modes/sass.h"
#include "agent/inject/modes/trace.h"
#include "agent/inject/ranges/gate.h"
#include "agent/inject/ranges/user_ranges.h"

#define CW_INJECT_PARTS(X)                                                                                             \
    X(struct cw_inject, inject)                                                                                        \
    X(uint64_t, clock_epoch)                                                                                           \
    X(struct cw_descriptor, standard_error)                                                                            \
    X(struct cw_wire, wire)                                                                                            \
    X(struct cw_sent_modules, sent_modules)                                                                            \
    X(struct cw_variables, variables)                                                                                  \
    X(struct cw_in_flight, in_flight)                                                                                  \
    X(struct cw_reach, reach)                                                                                          \
    X(struct cw_checkpoint_library, checkpoint_library)                                                                \
    X(struct cw_regions, regions)                                                                                      \
    X(struct cw_pinned, pinned)                                                                                        \
    X(struct cw_gate, gate)                                                                                            \
    X(struct cw_collections, collections)                                                                              \
    X(struct cw_range_settings, range_settings)                                                                        \
    X(struct cw_batches, batches)                                                                                      \
    X(struct cw_pass_turns, pass_turns)                                                                                \
    X(struct cw_trace_queue, trace_queue)                                                                              \
    X(struct cw_trace_sheets, trace_sheets)                                                                            \
    X(struct cw_trace_buffers, trace_buffers)                                                                          \
    X(struct cw_trace_recording, trace_recording)                                                                      \
    X(struct cw_trace_cupti, trace_cupti)                                                                              \
    X(struct cw_attach, attach)

struct cw_inject_state { /* all zeros when the library is loaded, mutexes and conditions too */
#define X(type, name) type name;
    CW_INJECT_PARTS(X)
#undef X
    struct { /* of entry.c */
        pthread_mutex_t one_at_a_time;
        bool begun;            /* CUPTI's profiler is initialised */
        bool installed;        /* the exit handler is installed */
        atomic_bool late;      /* collected until the program's end: a message reports later launches */
        atomic_bool abandoned; /* the capture has ended, and its running collections were stopped */
        bool subscribed;
        uint64_t timed;           /* number of times between events that the program took while it was measured */
        atomic_bool attached;     /* the agent attached to the running program */
        atomic_bool inside;       /* the capture is a session of the program's own (inside.h): */
        bool spent, had_session;  /* no other can follow; there was one before */
        atomic_bool late_session; /* it began when there had been contexts */
        bool profiling;           /* the program has opened it */
        _Atomic(cw_launched *) on_launch; /* the program's function for each launch, with `user` */
        _Atomic uint32_t telling;         /* number of its running calls */
        void *user;
        uint32_t context_count;
        CUcontext contexts[CW_MOST_CONTEXTS];
        atomic_bool exits;          /* the program exits, and CUPTI ends itself: a leaving agent does nothing more */
        bool forked;                /* this is a forked child of a captured process, without a capture */
        _Atomic bool told;          /* the message about the forked child was printed */
        atomic_bool told_otherwise; /* the message about launches left out was printed */
        _Atomic uint32_t callbacks; /* running callbacks of an attached agent's capture */
        _Atomic bool leaving;       /* the library leaves CUPTI at the end of the next call */
        _Atomic bool left;
    } entry;
};
extern struct cw_inject_state cw_inject_state;

#endif
