/* A data folder's sections (data/sections.yaml). */
#include "eval/sections.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_sections sections;
    struct cw_error err = CW_ERROR_INIT;
    const enum cw_status status = cw_sections_parse(&sections, bytes, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == err.code && (status == CW_OK || status == CW_ERR_INPUT));
    if (status == CW_OK)
        CW_FUZZ_CHECK(cw_sections_find(&sections, "smsp__warps_issue_stalled_wait.sum") <= sections.count);
    cw_arena_destroy(arena);
    return 0;
}
