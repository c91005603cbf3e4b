/* What captures of single instructions share, whatever the backend. */
#ifndef CW_AGENT_PC_CAPTURE_H
#define CW_AGENT_PC_CAPTURE_H

#include "agent/backend/backend.h"
#include "agent/output/collector.h"

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
/* Says in the file how the program ended, also where it launched nothing; but not after trouble, for samples may be
 * lacking. Returns the trouble, that of ending too. */
enum cw_status cw_pc_end(struct cw_collector *out, const struct cw_program *program, struct cw_error *trouble,
                         struct cw_error *err);
/* cw_program_verdict, and a program that ended well but without a sample or record is an error. `full`: the hardware's
 * buffer was, and samples were lost. */
enum cw_status cw_pc_verdict(const struct cw_pc_options *options, const struct cw_program *program, uint64_t samples,
                             bool full, enum cw_status status, int *exit_status, struct cw_error *err);

#endif
