#include <stdlib.h>
#include <string.h>

#include "image/rank_index.h"
#include "tests/fuzz/fuzz.h"

/* What reads is written as a text that reads and writes to itself. */
static void check_round_trip(struct cw_rank_index *index, struct cw_arena *arena)
{
    struct cw_writer text[2];
    for (int i = 0; i < 2; i++) {
        cw_writer_init(&text[i]);
        cw_rank_index_write(index, &text[i]);
        char *copy = cw_arena_strndup(arena, (const char *)text[i].data, text[i].size);
        CW_FUZZ_CHECK(copy && cw_rank_index_read(index, copy, text[i].size, "again", arena, NULL) == CW_OK);
    }
    CW_FUZZ_CHECK(text[0].size == text[1].size && memcmp(text[0].data, text[1].data, text[0].size) == 0);
    cw_writer_free(&text[0]);
    cw_writer_free(&text[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_rank_index index;
    struct cw_error err = CW_ERROR_INIT;
    char *text = cw_arena_alloc(arena, size + 1, 1);
    if (size)
        memcpy(text, data, size);
    const bool is_list = cw_rank_list_is(text);
    CW_FUZZ_CHECK(!is_list || !cw_rank_list_has(text, UINT64_MAX) || strlen(text) > 18);
    enum cw_status status = cw_rank_index_read(&index, text, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK((status == CW_OK || status == CW_ERR_INPUT) && status == err.code);
    for (size_t i = 0; status == CW_OK && i < index.count; i++)
        CW_FUZZ_CHECK(!strchr(index.entries[i].name, '/') && *index.entries[i].name &&
                      (!i || index.entries[i - 1].rank <= index.entries[i].rank));
    if (status == CW_OK)
        check_round_trip(&index, arena);
    cw_arena_destroy(arena);
    return 0;
}
