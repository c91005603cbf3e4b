/* Samples and counters of single instructions, added up over a capture's batches and resolved to source lines. */
#ifndef CW_EVAL_SAMPLES_INSTRUCTIONS_H
#define CW_EVAL_SAMPLES_INSTRUCTIONS_H

#include "eval/samples/places.h"
#include "image/counter_data.h"

/* Equal names of functions are one text, and so are reasons, metrics and levels. Texts lie in the order of strcmp
 * (eval/samples/texts.h). */
struct cw_instructions {
    const struct cw_counter_data *data;
    const char *source; /* the capture's file name, for people */
    size_t pc_count, batch_count, sass_count, value_count, module_count;
    const struct cw_pc_row {
        uint32_t device, process, launch;
        struct cw_place at;
        const char *reason;
        uint64_t samples;
        uint64_t not_issued; /* samples in which the scheduler issued nothing */
    } * pc;                  /* by device, process, launch, function, module, offset, reason */
    const struct cw_sass_row {
        uint32_t device, process;
        struct cw_place at;
        const char *metric, *level;
        uint64_t instances, first; /* its values are values[first] and on, as many as there are instances */
        uint64_t sum, min, max;    /* of them */
        uint64_t *values;          /* the same values */
    } * sass;                      /* by device, process, function, module, offset, metric, level */
    const struct cw_pc_batch_row { /* handed over together */
        uint32_t device, process, period, serialized, buffer_full;
        uint64_t start_ns, end_ns, total, dropped, other;
    } * batches;
    const uint64_t *values; /* of all SASS rows */
    uint64_t total, dropped, other;
    uint32_t full_buffers;
    uint64_t first_ns, last_ns; /* of all batches */
    bool disassembled;          /* instructions have texts, where nvdisasm knew them */
    struct cw_places_left left;
};

/* Everything lives in `arena`. With the path of nvdisasm, instructions have their texts (else NULL). */
enum cw_status cw_instructions_make(struct cw_instructions *out, const struct cw_counter_data *data,
                                    const struct cw_pc_data *raw, const char *source, const char *disassembler,
                                    struct cw_arena *arena, struct cw_error *err);

#endif
