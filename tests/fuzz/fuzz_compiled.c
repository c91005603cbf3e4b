/* A compiled chip with a payload that was changed, behind a header that holds. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "metricdb/chip_write.h"
#include "metricdb/compiled.h"
#include "metricdb/metric.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/small_chip.h"

enum { HEADER = 48, SIZE_AT = 32, CHECKSUM_AT = 40 };

static struct cw_writer valid;
static uint8_t hash[16];

static void make_valid(void)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chip;
    cw_writer_init(&valid);
    CW_FUZZ_CHECK(cw_chip_parse(&chip, cw_small_chip, strlen(cw_small_chip), "small", arena, NULL) == CW_OK);
    CW_FUZZ_CHECK(cw_compiled_write(chip, &valid, NULL) == CW_OK);
    memcpy(hash, chip->hash, sizeof hash);
    cw_arena_destroy(arena);
}

/* Applies the input to a valid file: a byte says how much is cut off, then two bytes of offset and one of value for
 * each change. So a corpus outlives changes of the layout. */
static size_t edit(uint8_t *file, const uint8_t *data, size_t size)
{
    size_t cut = size ? data[0] : 0, left = valid.size - (cut < valid.size - HEADER ? cut : 0);
    memcpy(file, valid.data, left);
    for (size_t i = 1; i + 3 <= size; i += 3)
        file[HEADER + (data[i] | (size_t)data[i + 1] << 8) % (left - HEADER)] = data[i + 2];
    cw_store_u64(file + SIZE_AT, left - HEADER);
    cw_store_u64(file + CHECKSUM_AT, XXH3_64bits(file + HEADER, left - HEADER));
    return left;
}

static void ignore(void *context, uint32_t counter)
{
    CW_FUZZ_CHECK(counter < ((const struct cw_chip *)context)->counter_count);
}

/* Everything that a chip refers to is there. */
static void use(const struct cw_chip *chip)
{
    static const char *const source[] = {NULL};
    struct cw_writer text;
    cw_writer_init(&text);
    cw_chip_write(chip, source, &text);
    cw_writer_free(&text);
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++) {
            enum cw_metric_type type;
            uint32_t index;
            const char *name = cw_chip_base_name(chip, (enum cw_metric_type)t, i);
            struct cw_metric m = cw_metric_variant((enum cw_metric_type)t, i, 0);
            cw_chip_find(chip, name, strlen(name), &type, &index);
            cw_metric_counters(chip, &m, ignore, (void *)(uintptr_t)chip, NULL);
        }
    for (uint32_t i = 0; i < chip->limit_count; i++)
        for (uint32_t k = 0; k < chip->limits[i].count; k++)
            CW_FUZZ_CHECK(chip->limits[i].members[k] < chip->placement_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!valid.size)
        make_valid();
    uint8_t *file = malloc(valid.size);
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chip;
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(file && arena);
    size_t left = edit(file, data, size);
    enum cw_status status = cw_compiled_read(&chip, file, left, hash, "fuzz", arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || (status == CW_ERR_INPUT && err.has_offset));
    CW_FUZZ_CHECK(size > 1 || status == CW_OK || left < valid.size);
    if (status == CW_OK)
        use(chip);
    cw_arena_destroy(arena);
    free(file);
    return 0;
}
