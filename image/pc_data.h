/* Chunks of counter data about single instructions: PC samples, SASS metrics, and the code that both point into. See
 * docs/formats.md for the bytes.
 *
 * A batch comes from one process for one device at one time; batches of a capture add up. */
#ifndef CW_IMAGE_PC_DATA_H
#define CW_IMAGE_PC_DATA_H

#include "base/bytes.h"

struct cw_module { /* the code of a CUDA module, an ELF image */
    uint64_t crc;  /* identifies the module in samples */
    const uint8_t *code;
    size_t size;
};

struct cw_instruction {
    uint64_t module;      /* crc */
    uint64_t pc;          /* bytes from the start of the function */
    const char *function; /* mangled, as the driver has it */
    uint32_t symbol;      /* the function's index in the module's symbol table */
};

enum cw_pc_mode { CW_PC_CONTINUOUS, CW_PC_SERIALIZED, CW_PC_MODE__COUNT };

struct cw_pc_batch {
    uint32_t device, process;
    uint64_t start_ns, end_ns;
    enum cw_pc_mode mode;
    uint8_t period;                 /* one sample every 2^period cycles; 0 unknown */
    bool buffer_full;               /* the hardware's buffer was full: later samples are lost uncounted */
    uint64_t total, dropped, other; /* samples: all, dropped by the hardware, and outside the program's kernels */
    uint32_t reason_count, record_count;
    const char *const *reasons;
    const struct cw_pc_record {
        struct cw_instruction at;
        uint32_t launch; /* number of the kernel launch in its process, only in serialized mode; 0 unknown */
        uint32_t stall_count;
        const struct cw_stall {
            uint32_t reason; /* index into the batch's reasons */
            uint32_t samples;
        } * stalls;
    } * records;
};

enum cw_sass_level { CW_SASS_GPU, CW_SASS_SM, CW_SASS_SMSP, CW_SASS_LEVEL__COUNT };

struct cw_sass_metric {
    const char *name;
    enum cw_sass_level level;
};

struct cw_sass_batch {
    uint32_t device, process;
    uint64_t start_ns, end_ns;
    uint64_t dropped; /* records */
    uint32_t metric_count, record_count;
    const struct cw_sass_metric *metrics;
    const struct cw_sass_record {
        struct cw_instruction at;
        const uint32_t *counts;        /* number of values for each metric of the batch */
        const uint64_t *const *values; /* [metric][instance] */
    } * records;
};

struct cw_uncounted { /* work that SASS metrics did not count since the chunk before */
    uint32_t device, process;
    uint32_t kernels;    /* launched, without records */
    const char *example; /* the name of one, "" for none */
    /* Launches: of CUDA graphs, of kernels that launch others or work across GPUs, of kernels that were not patched. */
    uint64_t graphs, launchers, others;
};

struct cw_pc_data {
    uint32_t module_count, pc_count, sass_count;
    const struct cw_module *modules;
    const struct cw_pc_batch *pc;
    const struct cw_sass_batch *sass;
};

/* Collects these chunks from a counter data file that cw_counter_data_read has accepted. Lists and strings live in
 * `arena`, the code of modules stays in `bytes`. */
enum cw_status cw_pc_data_read(struct cw_pc_data *data, const void *bytes, size_t size, const char *source,
                               struct cw_arena *arena, struct cw_error *err);

/* Write whole chunks. */
void cw_module_write(const struct cw_module *module, struct cw_writer *out);
void cw_pc_chunk_write(const uint8_t *payload, size_t size, struct cw_writer *out);
void cw_sass_chunk_write(const uint8_t *payload, size_t size, struct cw_writer *out);
void cw_uncounted_chunk_write(const struct cw_uncounted *uncounted, struct cw_writer *out);

/* Write and read payloads alone. Reading does not check that every byte was read. */
void cw_pc_batch_write(const struct cw_pc_batch *batch, struct cw_writer *out);
void cw_pc_batch_read(struct cw_pc_batch *batch, struct cw_reader *in, struct cw_arena *arena);
void cw_sass_batch_write(const struct cw_sass_batch *batch, struct cw_writer *out);
void cw_sass_batch_read(struct cw_sass_batch *batch, struct cw_reader *in, struct cw_arena *arena);
void cw_uncounted_write(const struct cw_uncounted *uncounted, struct cw_writer *out);
void cw_uncounted_read(struct cw_uncounted *uncounted, struct cw_reader *in, struct cw_arena *arena);

bool cw_uncounted_any(const struct cw_uncounted *uncounted);
/* Adds `more` to `sum`. */
void cw_uncounted_add(struct cw_uncounted *sum, const struct cw_uncounted *more);
/* Describes the launches, "" for none. NULL when out of memory. */
const char *cw_uncounted_launches(const struct cw_uncounted *uncounted, struct cw_arena *arena);

/* Whether `wanted` is the full, the short or the legacy name of the stall reason `name`: "long_scoreboard" and
 * "MEMORY_DEPENDENCY" match "smsp__pcsamp_warps_issue_stalled_long_scoreboard" and its twin "..._not_issued". */
bool cw_stall_reason_is(const char *name, const char *wanted);
/* Whether the reason is such a twin, which counts some of another reason's samples again. */
bool cw_stall_reason_is_twin(const char *name);
/* Name of the reason, or of its twin's, in CUPTI's activity API: "CUPTI_ACTIVITY_PC_SAMPLING_STALL_MEMORY_DEPENDENCY".
 * Several reasons may have one name there, and some have none: NULL. */
#define CW_STALL_LEGACY "CUPTI_ACTIVITY_PC_SAMPLING_STALL_"
const char *cw_stall_reason_legacy(const char *name);
/* Gives the reasons of all batches these names, and twins with their ending. Reasons without one keep theirs. False
 * when out of memory. */
bool cw_pc_data_use_legacy_reasons(struct cw_pc_data *data, struct cw_arena *arena);

/* "gpu", "sm", "smsp". */
extern const char *const cw_sass_level_names[CW_SASS_LEVEL__COUNT];

#endif
