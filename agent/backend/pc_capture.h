/* Shared by both backends for captures of single instructions. */
#ifndef CW_AGENT_PC_CAPTURE_H
#define CW_AGENT_PC_CAPTURE_H

#include "agent/backend/backend.h"
#include "agent/output/collector.h"

/* Makes the schema of a capture without a plan: no counters, no passes. Lists are in `arena`. */
enum cw_status cw_pc_schema(struct cw_schema *schema, const char *chip, const struct cw_pc_options *options,
                            struct cw_arena *arena, struct cw_error *err);
/* Adds the capture's attributes to a device. False when out of memory. */
bool cw_pc_describe(struct cw_device *device, const struct cw_pc_options *options, struct cw_arena *arena);
/* Appends a batch as a chunk made by `write`, and frees it. */
enum cw_status cw_pc_append(struct cw_collector *out, struct cw_writer *payload,
                            void (*write)(const uint8_t *payload, size_t size, struct cw_writer *out),
                            struct cw_error *err);
/* Writes into the file how the program ended, even if it launched nothing; but not after trouble, because samples may
 * be missing. Returns the trouble, or the error of ending. */
enum cw_status cw_pc_end(struct cw_collector *out, const struct cw_program *program, struct cw_error *trouble,
                         struct cw_error *err);
/* Returns cw_program_verdict, or an error if a program that ended well has no sample or record. `others`: samples of
 * kernels without a record. `hindrance`: why it may have none, for the error; NULL: nothing is known. */
enum cw_status cw_pc_verdict(const struct cw_pc_options *options, const struct cw_program *program, uint64_t samples,
                             uint64_t others, const char *hindrance, enum cw_status status, int *exit_status,
                             struct cw_error *err);

#endif
