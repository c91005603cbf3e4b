/* Merges captures in memory. */
#ifndef CW_TESTS_MERGE_MEMORY_H
#define CW_TESTS_MERGE_MEMORY_H

#include "image/merge.h"

struct cw_merge_input {
    const char *name; /* for messages */
    const void *data;
    size_t size;
};

struct cw_merge_memory {
    const struct cw_merge_input *inputs;
    struct cw_writer *out;
};

static inline enum cw_status cw_merge_open(void *memory, size_t i, struct cw_input *input, struct cw_error *err)
{
    const struct cw_merge_input *of = &((struct cw_merge_memory *)memory)->inputs[i];
    (void)err;
    *input = cw_input_of(of->data, of->size, of->name);
    return CW_OK;
}

static inline void cw_merge_close(void *memory, struct cw_input *input)
{
    (void)memory, (void)input;
}

static inline enum cw_status cw_merge_put(void *memory, const void *data, size_t size, struct cw_error *err)
{
    struct cw_writer *out = ((struct cw_merge_memory *)memory)->out;
    cw_write_bytes(out, data, size);
    return out->status == CW_OK ? CW_OK : cw_error_nomem(err);
}

/* Appends to `out`. `files`: how to merge; its other members are set here. */
static inline enum cw_status cw_merge_memory(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                             struct cw_merge_files files, struct cw_error *err)
{
    struct cw_merge_memory memory = {inputs, out};
    files.count = count;
    files.open = cw_merge_open;
    files.close = cw_merge_close;
    files.put = cw_merge_put;
    files.user = &memory;
    return cw_counter_data_merge_files(&files, err);
}

/* Dense; with packed ranges; with packed ranges and without private content. */
static inline enum cw_status cw_merge_dense(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                            struct cw_error *err)
{
    return cw_merge_memory(out, inputs, count, (struct cw_merge_files){0}, err);
}

static inline enum cw_status cw_merge_sparse(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                             struct cw_error *err)
{
    return cw_merge_memory(out, inputs, count, (struct cw_merge_files){.sparse = true}, err);
}

static inline enum cw_status cw_merge_redacted(struct cw_writer *out, const struct cw_merge_input *inputs, size_t count,
                                               struct cw_error *err)
{
    return cw_merge_memory(out, inputs, count, (struct cw_merge_files){.sparse = true, .redact = true}, err);
}

#endif
