/* Captures about single instructions: PC samples and SASS metrics. */
#ifndef CW_AGENT_PC_CAPTURE_H
#define CW_AGENT_PC_CAPTURE_H

#include "agent/output/collector.h"
#include "agent/session/program.h"
#include "image/pc_data.h"

struct cw_pc_options {
    const char *output;
    char *const *argv; /* the program and its arguments */
    bool sass;         /* SASS metrics; else PC samples */
    bool no_code;      /* leave the modules' code out of the file */
    uint64_t devices;  /* a bit for each device number; 0: all */
    /* PC sampling */
    uint64_t flush_ns;
    const char *range; /* sample only while a user range is open whose name matches; NULL: all the time */
    enum cw_pc_mode mode;
    uint8_t period;        /* 0: CUPTI's own */
    uint64_t buffer_bytes; /* the hardware's buffer, 0: CUPTI's own size */
    uint32_t reason_count; /* 0: all */
    const char *const *reasons;
    /* SASS metrics */
    uint32_t metric_count;
    const struct cw_sass_metric *metrics;
    /* the simulated GPU */
    uint64_t sim_seed;
    uint32_t sim_drop; /* percent of the samples */
};

/* As the captures of backend.h. */
enum cw_status cw_cupti_pc_capture(const struct cw_pc_options *options, int *exit_status, struct cw_error *err);
enum cw_status cw_sim_pc_capture(const struct cw_pc_options *options, int *exit_status, struct cw_error *err);

/* The schema of a capture without a plan: no counters, no passes. Lists are in `arena`. */
enum cw_status cw_pc_schema(struct cw_schema *schema, const char *chip, const struct cw_pc_options *options,
                            struct cw_arena *arena, struct cw_error *err);
struct cw_uncounted { /* kernels that were launched and have no records */
    uint32_t count;
    const char *example;
    bool until_graph; /* counting ended where the program began to make a CUDA graph */
};
/* Adds what the capture says of its devices; `uncounted` may be NULL. False when out of memory. */
bool cw_pc_describe(struct cw_device *device, const struct cw_pc_options *options, const struct cw_uncounted *uncounted,
                    struct cw_arena *arena);
/* Appends a batch and frees it; `write` makes a chunk of it. */
enum cw_status cw_pc_append(struct cw_collector *out, struct cw_writer *payload,
                            void (*write)(const uint8_t *payload, size_t size, struct cw_writer *out),
                            struct cw_error *err);
/* cw_program_verdict, and a program that ended well but without a sample or record is an error. `full`: the hardware's
 * buffer was, and samples were lost. */
enum cw_status cw_pc_verdict(const struct cw_pc_options *options, const struct cw_program *program, uint64_t samples,
                             bool full, enum cw_status status, int *exit_status, struct cw_error *err);

#endif
