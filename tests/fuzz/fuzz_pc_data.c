#include <string.h>

#include "eval/instructions.h"
#include "tests/fuzz/merge_twice.h"
#include "tests/support/chunk_edit.h"

/* What metric-eval does with a capture of instructions: read it, add it up, look for lines, print it. */
static void evaluate(const struct cw_counter_data *data, const struct cw_pc_data *raw, struct cw_arena *arena)
{
    struct cw_instructions all;
    struct cw_records tables[CW_INSTRUCTION_TABLES];
    FILE *nowhere = fopen("/dev/null", "w");
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(cw_instructions_make(&all, data, raw, "fuzz", arena, &err) == CW_OK);
    size_t count = cw_instructions_records(&all, tables);
    for (size_t i = 0; nowhere && i < count; i++) {
        cw_records_csv(&tables[i], nowhere);
        cw_records_json(&tables[i], nowhere);
    }
    if (nowhere) {
        CW_FUZZ_CHECK(cw_instructions_table(&all, 5, nowhere, &err) == CW_OK);
        fclose(nowhere);
    }
}

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
    if (status == CW_OK)
        evaluate(&data, &raw, arena);
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
