/* For targets whose input is a capture: what reads is merged with itself. */
#ifndef CW_TESTS_FUZZ_MERGE_TWICE_H
#define CW_TESTS_FUZZ_MERGE_TWICE_H

#include <string.h>

#include "image/pc_data.h"
#include "image/pm_data.h"
#include "image/provenance.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/merge_memory.h"
#include "tests/support/unpack.h"

/* Packed, the result holds the same bytes, and what is packed is packed again to the same. */
static inline void cw_fuzz_pack(const struct cw_merge_input inputs[2], const struct cw_writer *merged)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_writer packed, unpacked, again;
    size_t packs;
    cw_writer_init(&packed);
    cw_writer_init(&unpacked);
    cw_writer_init(&again);
    CW_FUZZ_CHECK(cw_merge_sparse(&packed, inputs, 2, &err) == CW_OK && packed.size <= merged->size);
    CW_FUZZ_CHECK(cw_unpack(&unpacked, packed.data, packed.size, &packs));
    CW_FUZZ_CHECK(unpacked.size == merged->size && memcmp(unpacked.data, merged->data, merged->size) == 0);
    const struct cw_merge_input one = {"packed", packed.data, packed.size};
    CW_FUZZ_CHECK(cw_merge_sparse(&again, &one, 1, &err) == CW_OK);
    CW_FUZZ_CHECK(again.size == packed.size && memcmp(again.data, packed.data, packed.size) == 0);
    cw_writer_free(&packed);
    cw_writer_free(&unpacked);
    cw_writer_free(&again);
}

/* Redacted, the result reads, has no code, and is redacted again to the same. */
static inline void cw_fuzz_redact(const struct cw_merge_input inputs[2], const struct cw_counter_data *merged)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_error err = CW_ERROR_INIT;
    struct cw_counter_data data;
    struct cw_pc_data instructions;
    const struct cw_provenance_fact *facts;
    uint32_t count;
    struct cw_writer redacted, again;
    cw_writer_init(&redacted);
    cw_writer_init(&again);
    CW_FUZZ_CHECK(cw_merge_redacted(&redacted, inputs, 2, &err) == CW_OK);
    const struct cw_input input = cw_input_of(redacted.data, redacted.size, "redacted");
    CW_FUZZ_CHECK(cw_counter_data_open(&data, &input, arena, &err) == CW_OK);
    CW_FUZZ_CHECK(data.range_count == merged->range_count && data.pm.sample_count == merged->pm.sample_count);
    CW_FUZZ_CHECK(cw_pc_data_read(&instructions, redacted.data, redacted.size, "redacted", arena, &err) == CW_OK);
    CW_FUZZ_CHECK(instructions.module_count == 0);
    CW_FUZZ_CHECK(cw_provenance_read(&facts, &count, &data, arena, &err) == CW_OK);
    const struct cw_merge_input one = {"redacted", redacted.data, redacted.size};
    CW_FUZZ_CHECK(cw_merge_redacted(&again, &one, 1, &err) == CW_OK && again.size == redacted.size);
    cw_writer_free(&redacted);
    cw_writer_free(&again);
    cw_arena_destroy(arena);
}

/* `data` is what was read of the bytes. Twice as much is in the result, which can be merged with the input again. */
static inline void cw_fuzz_merge_twice(const struct cw_counter_data *data, const uint8_t *bytes, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data merged;
    struct cw_pc_data one, both;
    struct cw_error err = CW_ERROR_INIT;
    struct cw_writer out, again;
    struct cw_merge_input inputs[] = {{"first", bytes, size}, {"second", bytes, size}};
    cw_writer_init(&out);
    cw_writer_init(&again);
    enum cw_status status = cw_merge_dense(&out, inputs, 2, &err);
    CW_FUZZ_CHECK(status == err.code && (status == CW_OK || status == CW_ERR_INPUT));
    if (status == CW_OK) { /* not where a batch does not read, or is of a device that nobody describes */
        CW_FUZZ_CHECK(cw_counter_data_read(&merged, out.data, out.size, "merged", arena, &err) == CW_OK);
        CW_FUZZ_CHECK(cw_pc_data_read(&one, bytes, size, "input", arena, &err) == CW_OK);
        CW_FUZZ_CHECK(cw_pc_data_read(&both, out.data, out.size, "merged", arena, &err) == CW_OK);
        CW_FUZZ_CHECK(merged.range_count == 2 * data->range_count && merged.complete == data->complete);
        CW_FUZZ_CHECK(merged.pm.sample_count == 2 * data->pm.sample_count);
        CW_FUZZ_CHECK(merged.pm.launch_count == 2 * data->pm.launch_count);
        if (data->schema.profiler == CW_PROFILER_PC || data->schema.profiler == CW_PROFILER_SASS) /* others have none */
            CW_FUZZ_CHECK(both.pc_count == 2 * one.pc_count && both.sass_count == 2 * one.sass_count);
        CW_FUZZ_CHECK(both.module_count <= one.module_count);
        cw_fuzz_pack(inputs, &out);
        cw_fuzz_redact(inputs, &merged);
        inputs[0] = (struct cw_merge_input){"merged", out.data, out.size};
        CW_FUZZ_CHECK(cw_merge_dense(&again, inputs, 2, &err) == CW_OK);
    }
    cw_writer_free(&out);
    cw_writer_free(&again);
    cw_arena_destroy(arena);
}

#endif
