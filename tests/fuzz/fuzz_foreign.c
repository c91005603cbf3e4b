/* Files of other profilers: what is made of one is a capture that reads. */
#include <string.h>

#include "foreign/foreign.h"
#include "image/trace_data.h"
#include "image/counter_data.h"
#include "tests/fuzz/fuzz.h"

static void read_rows(const struct cw_counter_data *data, const struct cw_input *input, struct cw_arena *arena)
{
    struct cw_trace trace;
    struct cw_trace_rows rows;
    struct cw_trace_buffer buffer = {0};
    CW_FUZZ_CHECK(cw_trace_open(&trace, data->devices, data->device_count, input, "fuzz", arena, NULL) == CW_OK);
    for (size_t i = 0; i < trace.block_count; i++)
        CW_FUZZ_CHECK(cw_trace_read_rows(&rows, &trace, i, &buffer, NULL) == CW_OK);
    cw_trace_buffer_free(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_input input = cw_input_of(bytes, size, "fuzz");
    struct cw_counter_data data;
    struct cw_error err = CW_ERROR_INIT;
    char notice[CW_FOREIGN_NOTICE_SIZE];
    const enum cw_foreign kind = cw_foreign_kind(bytes, size);
    const enum cw_status status = cw_foreign_convert(&input, notice, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT || status == CW_ERR_UNSUPPORTED);
    CW_FUZZ_CHECK(status == err.code);
    if (status == CW_OK && kind != CW_FOREIGN_NONE && size >= 8) {
        CW_FUZZ_CHECK(cw_counter_data_open(&data, &input, arena, &err) == CW_OK);
        CW_FUZZ_CHECK(!data.damage.places);
        if (data.schema.profiler == CW_PROFILER_TRACE)
            read_rows(&data, &input, arena);
    }
    cw_input_close(&input);
    cw_arena_destroy(arena);
    return 0;
}
