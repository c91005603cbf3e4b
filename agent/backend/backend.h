/* A backend makes captures of a real GPU (cupti) or of a simulated one (sim). The commands use backends only through
 * this interface (command/command.c has the list). */
#ifndef CW_AGENT_BACKEND_H
#define CW_AGENT_BACKEND_H

#include "agent/common/filter.h"
#include "agent/common/message.h"
#include "agent/common/trace_page.h"
#include "agent/common/trace_window.h"
#include "agent/session/program.h"
#include "image/config_image.h"
#include "image/pc_data.h"
#include "image/trace_kinds.h"

/* Options of every capture. */
struct cw_capture_options {
    const struct cw_config_image *plan; /* NULL: a capture of single instructions */
    const char *output;                 /* "-": standard output */
    char *const *argv;                  /* the program and its arguments; for samples NULL: sample the device alone */
    uint64_t sim_seed;
    uint32_t sim_steps, sim_processes; /* size of the training that a program without events stands for */
    const char *sim_lack;              /* a unit whose counters a simulated GPU lacks; NULL: none */
    bool base_clocks;                  /* of a real GPU: lock its clocks to their base */
    bool force;                        /* also replace a file that is no capture */
};

enum { CW_SIM_STEPS = 6, CW_SIM_PROCESSES = 2 }; /* defaults */
#define CW_SIM_TRAINING UINT32_MAX

/* Options for counters of each kernel launch, or of the program's own ranges. */
struct cw_range_options {
    struct cw_capture_options capture;
    const char *keep_native;
    struct cw_filter_options filter;
    enum cw_replay_kind replay;
    struct cw_trace_window_options when; /* when to capture; windows of time and signals do not go with it */
    bool user;                           /* user ranges rather than launches */
    bool for_context, for_device;        /* whose work may count; both: the device's while nothing else uses it */
    uint32_t levels;                     /* of nested user ranges */
    bool whole_graphs;               /* batch: the launch of a CUDA graph is one range; else each of its kernels is */
    bool verbose;                    /* print the costs of batches, and the reasons for their ends */
    uint32_t reserve_mb, on_host_mb; /* where memory is saved, as in message.h */
    uint32_t every;                  /* multiplexing counts one of so many similar launches; 0 or 1: all */
    uint32_t slowdown;    /* limit on multiplexing's cost to the program, in thousandths of a percent; 0: no limit */
    uint32_t sim_kernels; /* launches to pretend; CW_SIM_TRAINING: the launches of training */
    uint32_t sim_drop;    /* number of launches to lose */
    uint32_t sim_loop;    /* number of kernels that take turns, each with similar launches; 0: no two are similar */
};

/* Options for single instructions: PC samples or SASS metrics. */
struct cw_pc_options {
    struct cw_capture_options capture;
    bool sass;    /* SASS metrics; else PC samples */
    bool no_code; /* leave the modules' code out of the file */
    /* Selects kernels and devices. For PC sampling also: a user range during which to sample and, in serialized mode,
     * some of the launches. */
    struct cw_filter_options filter;
    struct cw_trace_window_options when; /* as in cw_range_options */
    uint64_t flush_ns;                   /* longest time before samples are written; counts, unless that takes long */
    /* for PC sampling: */
    enum cw_pc_mode mode;
    uint8_t period;        /* 0: CUPTI's default */
    uint64_t buffer_bytes; /* size of the hardware's buffer, 0: CUPTI's default */
    uint32_t reason_count; /* 0: all */
    const char *const *reasons;
    /* for SASS metrics: */
    uint32_t metric_count;
    const struct cw_sass_metric *metrics;
    /* for the simulated GPU: */
    uint32_t sim_drop; /* percentage of the samples to lose */
};

/* Options for samples of whole GPUs at equal intervals, by a plan of one pass. */
struct cw_pm_options {
    struct cw_capture_options capture;
    uint64_t devices; /* a bit for each GPU to sample; 0: all with the plan's chip */
    uint64_t interval;
    bool cycles;       /* the interval is in cycles of the system clock, else in ns */
    double duration_s; /* 0: until the program ends */
    double window_s;   /* length of a sampling window, which is decoded after it; 0: sample all the time */
    double every_s;    /* least time between the starts of windows; 0: begin the next as soon as one is decoded */
    /* If it names a user range or kernels: one window for each such range or, with kernels, for each launch. */
    struct cw_filter_options filter;
    struct cw_trace_window_options when; /* as in cw_range_options */
    uint64_t buffer_bytes;               /* 0: as much as is likely to be needed */
    bool no_trace;                       /* leave out the program's kernel launches */
    uint32_t sim_samples, sim_drop;      /* samples to simulate, and number of them to lose */
    bool sim_overflow;                   /* the loss is an overflow */
};

/* The attribute of a process whose kernels ran so (cw_trace_options.serialize). */
#define CW_TRACE_ONE_BY_ONE                                                                                            \
    (struct cw_pair)                                                                                                   \
    {                                                                                                                  \
        "kernels", "one after another"                                                                                 \
    }

/* Options for a trace of events in the program and on its GPUs, which does not change their execution unless it
 * serializes kernels. */
struct cw_trace_options {
    struct cw_capture_options capture;
    uint64_t kinds; /* CW_TRACE_BIT of each; launch_shape, window and account come with the kinds that they describe */
    /* Selects processes and devices. Range, kernels and numbers of launches open windows; within a window everything is
     * traced. */
    struct cw_filter_options filter;
    struct cw_trace_window_options windows;
    const char *calls;       /* driver and runtime calls (cw_filter_name_is_listed); NULL: the calls of interest */
    bool whole_graphs;       /* a CUDA graph launch is one row; else each of its nodes is */
    bool latency;            /* record when launches were queued and submitted */
    bool attributes;         /* record attributes of launches, such as priorities and clusters */
    bool hes;                /* use times from the hardware event system, if the chip has it */
    bool serialize;          /* run kernels one after another, so that the time of each is its own */
    uint32_t attach;         /* attach to this process instead of starting a program; 0: do not */
    uint64_t environment_ns; /* time between rows of the environment */
    uint64_t flush_ns;       /* longest time before records are written; 0: when buffers fill */
    uint64_t buffer_bytes;   /* size of one buffer in the program */
    uint32_t buffer_count;   /* limit on buffers; when all are full, further records are lost and counted */
    struct cw_trace_device_buffers device_buffers;
    bool quiet; /* report only losses, not recorded events */
    /* for the simulated GPU: */
    uint32_t sim_drop, sim_untimed; /* kernels to lose, or to record without times */
    uint32_t sim_drift;             /* drift of the GPUs' clocks, in parts per million */
    bool sim_unfinished;            /* its last process is killed */
};

/* Requirements of a capture on this node. The doctor checks all of them, a capture its own. */
enum cw_need { CW_NEED_RANGE, CW_NEED_PM, CW_NEED_PC, CW_NEED_SASS, CW_NEED_ALL, CW_NEED_TRACE /* without counters */ };
enum { CW_CHIP_NAME_SIZE = 32 };
#define CW_EVERY_DEVICE UINT64_MAX

struct cw_node_needs {
    enum cw_need need;
    bool report;      /* print a line for each answer, failures included: ok, note or FAIL */
    const char *chip; /* chip of the plan, NULL: any */
    uint64_t devices; /* a bit for each GPU to check; CW_EVERY_DEVICE: all suitable ones; 0: the first suitable one */
    char *found_chip; /* NULL, or room of CW_CHIP_NAME_SIZE for the chip of the captures */
    uint64_t *found_devices; /* NULL, or gets a bit for each GPU checked */
    /* SASS metrics that the chip must offer: */
    uint32_t metric_count;
    const struct cw_sass_metric *metrics;
    /* stall reasons that the GPU must know: */
    uint32_t reason_count;
    const char *const *reasons;
    struct cw_node_facts *facts; /* NULL, or collects the facts of each GPU (node_facts.h) */
    bool list;                   /* print the available stall reasons or SASS metrics, depending on `need` */
};

struct cw_backend {
    const char *name;
    const char *missing; /* why this build lacks the backend; the members below are unset then. NULL: it has it */
    bool has_batches;    /* replays launches together (cw_range_options.verbose) */
    bool keeps_native;   /* has data of NVIDIA's to keep (cw_range_options.keep_native) */
    bool sees_launches;  /* sees a program's launches, which --steady and the like wait for */
    /* Each runs the program of the options to its end, and writes the capture to their output. On success *exit_status
     * passes on the program's own. Returns an error before it starts the program, or after the program has ended by
     * itself; then the file holds all complete data, but not how the program ended. CW_ERR_UNSUPPORTED: this build or
     * this node cannot make such captures. Options are borrowed. */
    enum cw_status (*range)(const struct cw_range_options *options, int *exit_status, struct cw_error *err);
    enum cw_status (*pc)(const struct cw_pc_options *options, int *exit_status, struct cw_error *err);
    enum cw_status (*pm)(const struct cw_pm_options *options, int *exit_status, struct cw_error *err);
    enum cw_status (*trace)(const struct cw_trace_options *options, int *exit_status, struct cw_error *err);
    /* Returns CW_OK, or the first obstacle to a capture. */
    enum cw_status (*check)(const struct cw_node_needs *needs, struct cw_error *err);
};

#endif
