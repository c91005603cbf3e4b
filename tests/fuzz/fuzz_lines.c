#include <string.h>

#include "base/arena.h"
#include "eval/samples/lines.h"
#include "tests/fuzz/fuzz.h"

static void read_all(enum cw_lines_of of, const uint8_t *bytes, size_t size)
{
    static const char *const functions[] = {"_Z5firstPf", "_Z6secondPfPKf", ""};
    struct cw_arena *arena = cw_arena_create();
    const struct cw_lines *lines;
    enum cw_status status = cw_lines_read(&lines, of, bytes, size, arena);
    CW_FUZZ_CHECK(status == CW_OK || (status == CW_ERR_UNSUPPORTED && !lines));
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (uint64_t pc = 0; pc < 0x200; pc += 16) {
            struct cw_line found;
            if (cw_lines_find(lines, functions[f], pc, &found))
                CW_FUZZ_CHECK(found.line && found.number < cw_lines_file_count(lines) &&
                              strlen(found.file) <= 2 * size);
        }
    for (uint32_t line = 0; line <= cw_lines_text_count(lines) + 1; line++)
        CW_FUZZ_CHECK(strlen(cw_lines_text(lines, line)) <= size);
    cw_arena_destroy(arena);
}

/* The code of a module comes from the capture's file as it is. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    read_all(CW_LINES_SOURCE, bytes, size);
    read_all(CW_LINES_PTX, bytes, size);
    return 0;
}
