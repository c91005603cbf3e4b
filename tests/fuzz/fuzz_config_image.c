#include <string.h>

#include "image/config_image.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/chunk_edit.h"

/* An image that was read writes to bytes that read and write again to themselves. */
static void check_round_trip(const struct cw_config_image *image)
{
    struct cw_writer once, twice;
    cw_writer_init(&once);
    cw_writer_init(&twice);
    struct cw_arena *arena = cw_arena_create();
    struct cw_config_image again;
    cw_config_image_write(image, &once);
    CW_FUZZ_CHECK(cw_config_image_read(&again, once.data, once.size, "again", arena, NULL) == CW_OK);
    cw_config_image_write(&again, &twice);
    CW_FUZZ_CHECK(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
    cw_arena_destroy(arena);
    cw_writer_free(&once);
    cw_writer_free(&twice);
}

static void parse(const uint8_t *data, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_config_image image;
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = cw_config_image_read(&image, data, size, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    CW_FUZZ_CHECK(status == err.code);
    CW_FUZZ_CHECK(!err.has_offset || err.offset <= size);
    if (status == CW_OK)
        check_round_trip(&image);
    cw_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    uint8_t *fixed = malloc(size ? size : 1);
    if (!fixed)
        return 0;
    memcpy(fixed, data, size);
    cw_edit_fix_checksums(fixed, size);
    parse(fixed, size);
    free(fixed);
    return 0;
}
