/* A data folder's layout of a page (data/report.yaml), as it stands in the page. */
#include <string.h>

#include "json/json_tree.h"
#include "report/kernels.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_layout layout;
    struct cw_error err = CW_ERROR_INIT;
    const enum cw_status status = cw_layout_parse(&layout, bytes, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == err.code && (status == CW_OK || status == CW_ERR_INPUT));
    CW_FUZZ_CHECK(status == CW_OK ? json_is_object(layout.tree) && layout.count <= size : err.line > 0);
    for (size_t i = 0; status == CW_OK && i < layout.count; i++)
        CW_FUZZ_CHECK(strlen(layout.metrics[i]) <= size);
    if (status == CW_OK) {
        FILE *out = fopen("/dev/null", "w");
        CW_FUZZ_CHECK(out && cw_json_print(layout.tree, JSON_COMPACT, out, NULL) == CW_OK);
        fclose(out);
    }
    cw_arena_destroy(arena);
    return 0;
}
