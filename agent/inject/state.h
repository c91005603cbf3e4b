/* All that the library keeps in its process, a part for each of its modules, whose header says what is in it. A module
 * knows its own part, by a pointer (cw_idle, cw_pc), and those of the layers below. What a child that was forked
 * begins anew is in one place as well: `forked` in entry.c. */
#ifndef CW_INJECT_STATE_H
#define CW_INJECT_STATE_H

#include "agent/inject/attach.h"
#include "agent/inject/driver/alone.h"
#include "agent/inject/driver/counters.h"
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/kernel_facts.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/say.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/driver/streams.h"
#include "agent/inject/driver/stuck.h"
#include "agent/inject/driver/trouble.h"
#include "agent/inject/driver/wire.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/graph.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/mirror.h"
#include "agent/inject/memory/pinned.h"
#include "agent/inject/memory/record.h"
#include "agent/inject/memory/regions.h"
#include "agent/inject/modes/batches.h"
#include "agent/inject/modes/multiplex.h"
#include "agent/inject/modes/pass_turns.h"
#include "agent/inject/modes/pc.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/modes/replay.h"
#include "agent/inject/modes/sass.h"
#include "agent/inject/modes/launches.h"
#include "agent/inject/modes/trace.h"
#include "agent/inject/nvtx.h"
#include "agent/inject/ranges/gate.h"
#include "agent/inject/ranges/user_ranges.h"

#define CW_INJECT_PARTS(X)                                                                                             \
    X(struct cw_inject, inject)                                                                                        \
    X(struct cw_clock, clock)                                                                                          \
    X(struct cw_descriptor, standard_error)                                                                            \
    X(struct cw_wire, wire)                                                                                            \
    X(struct cw_sent_modules, sent_modules)                                                                            \
    X(struct cw_variables, variables)                                                                                  \
    X(struct cw_troubles, troubles)                                                                                    \
    X(struct cw_nvml, nvml)                                                                                            \
    X(struct cw_counters, counters)                                                                                    \
    X(struct cw_in_flight, in_flight)                                                                                  \
    X(struct cw_kernel_facts, kernel_facts)                                                                            \
    X(struct cw_stream_captures, stream_captures)                                                                      \
    X(struct cw_streams, streams)                                                                                      \
    X(struct cw_stuck, stuck)                                                                                          \
    X(struct cw_idle, idle)                                                                                            \
    X(struct cw_reach, reach)                                                                                          \
    X(struct cw_checkpoint_library, checkpoint_library)                                                                \
    X(struct cw_mirrors, mirrors)                                                                                      \
    X(struct cw_regions, regions)                                                                                      \
    X(struct cw_kernels, kernels)                                                                                      \
    X(struct cw_pinned, pinned)                                                                                        \
    X(struct cw_effects, effects)                                                                                      \
    X(struct cw_graphs, graphs)                                                                                        \
    X(struct cw_user_ranges, user_ranges)                                                                              \
    X(struct cw_gate, gate)                                                                                            \
    X(struct cw_collections, collections)                                                                              \
    X(struct cw_range_settings, range_settings)                                                                        \
    X(struct cw_batches, batches)                                                                                      \
    X(struct cw_pass_turns, pass_turns)                                                                                \
    X(struct cw_multiplex, multiplex)                                                                                  \
    X(struct cw_user_replay, user_replay)                                                                              \
    X(struct cw_pc, pc)                                                                                                \
    X(struct cw_sass, sass)                                                                                            \
    X(struct cw_launches, launches)                                                                                    \
    X(struct cw_trace_queue, trace_queue)                                                                              \
    X(struct cw_trace_sheets, trace_sheets)                                                                            \
    X(struct cw_trace_accounts, trace_accounts)                                                                        \
    X(struct cw_trace_buffers, trace_buffers)                                                                          \
    X(struct cw_trace_recording, trace_recording)                                                                      \
    X(struct cw_trace_cupti, trace_cupti)                                                                              \
    X(struct cw_trace_calls, trace_calls)                                                                              \
    X(struct cw_trace_ranges, trace_ranges)                                                                            \
    X(struct cw_trace_early, trace_early)                                                                              \
    X(struct cw_openmp, openmp)                                                                                        \
    X(struct cw_tracing, tracing)                                                                                      \
    X(struct cw_nvtx_names, nvtx_names)                                                                                \
    X(struct cw_attach, attach)

struct cw_inject_state { /* all zeros when the library is loaded, mutexes and conditions too */
#define X(type, name) type name;
    CW_INJECT_PARTS(X)
#undef X
    struct { /* of entry.c */
        pthread_mutex_t one_at_a_time;
        bool begun;            /* CUPTI's profiler */
        bool installed;        /* what is to happen at exit */
        atomic_bool late;      /* it was collected until the program's end: launches behind that are told of */
        atomic_bool abandoned; /* what was armed when the capture ended has been stopped */
        bool subscribed;
        uint64_t timed;             /* how often the program took a time while it was measured */
        atomic_bool attached;       /* the agent has come to the program */
        atomic_bool exits;          /* CUPTI takes itself down: an agent that leaves has nothing more to do there */
        bool forked;                /* this is a child of a captured process, which has no part in the capture */
        _Atomic bool told;          /* that it is */
        atomic_bool told_otherwise; /* that some launches are left out */
        _Atomic uint32_t callbacks; /* of an attached agent's capture, that are under way */
        _Atomic bool leaving;       /* CUPTI is to be left, at the end of a call */
        _Atomic bool left;
    } entry;
};
extern struct cw_inject_state cw_inject_state;

#endif
