#include <string.h>

#include "tests/fuzz/merge_twice.h"
#include "tests/support/chunk_edit.h"

static void parse(const uint8_t *bytes, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_counter_data data;
    struct cw_pc_data raw;
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = cw_counter_data_read(&data, bytes, size, "fuzz", arena, &err);
    if (status == CW_OK)
        status = cw_pc_data_read(&raw, bytes, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    CW_FUZZ_CHECK(status == err.code);
    if (status == CW_OK)
        cw_fuzz_merge_twice(&data, bytes, size);
    cw_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    parse(bytes, size);
    uint8_t *fixed = malloc(size ? size : 1);
    if (!fixed)
        return 0;
    memcpy(fixed, bytes, size);
    cw_edit_fix_checksums(fixed, size);
    parse(fixed, size);
    free(fixed);
    return 0;
}
