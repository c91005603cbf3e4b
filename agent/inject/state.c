#include "agent/inject/state.h"

struct cw_inject_state cw_inject_state;
_Thread_local struct cw_own_calls cw_own_calls;

struct cw_inject *const cw_inject = &cw_inject_state.inject;
struct cw_clock *const cw_clock = &cw_inject_state.clock;
struct cw_descriptor *const cw_standard_error = &cw_inject_state.standard_error;
struct cw_wire *const cw_wire = &cw_inject_state.wire;
struct cw_sent_modules *const cw_sent_modules = &cw_inject_state.sent_modules;
struct cw_nvml *const cw_nvml = &cw_inject_state.nvml;
struct cw_in_flight *const cw_in_flight = &cw_inject_state.in_flight;
struct cw_stream_captures *const cw_stream_captures = &cw_inject_state.stream_captures;
struct cw_idle *const cw_idle = &cw_inject_state.idle;
struct cw_reach *const cw_reach = &cw_inject_state.reach;
struct cw_checkpoint_library *const cw_checkpoint_library = &cw_inject_state.checkpoint_library;
struct cw_kernels *const cw_kernels = &cw_inject_state.kernels;
struct cw_effects *const cw_effects = &cw_inject_state.effects;
struct cw_graphs *const cw_graphs = &cw_inject_state.graphs;
struct cw_user_ranges *const cw_user_ranges = &cw_inject_state.user_ranges;
struct cw_collections *const cw_collections = &cw_inject_state.collections;
struct cw_range_settings *const cw_range_settings = &cw_inject_state.range_settings;
struct cw_batches *const cw_batches = &cw_inject_state.batches;
struct cw_user_replay *const cw_user_replay = &cw_inject_state.user_replay;
struct cw_pc *const cw_pc = &cw_inject_state.pc;
struct cw_sass *const cw_sass = &cw_inject_state.sass;
struct cw_trace *const cw_trace = &cw_inject_state.trace;
struct cw_nvtx_names *const cw_nvtx_names = &cw_inject_state.nvtx_names;
