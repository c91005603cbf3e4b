#include <string.h>

#include "metricdb/set.h"
#include "tests/fuzz/small.h"

/* What is taken of a set is usable, each once; without a chip the first of each entry is. */
static void check_set(const struct cw_set *set, const struct cw_chip *chip)
{
    CW_FUZZ_CHECK(set->name && set->title && set->metric_count > 0);
    CW_FUZZ_CHECK(set->metric_count + set->missing_count == set->entry_count);
    for (size_t i = 0; i < set->entry_count; i++) {
        const struct cw_set_entry *e = &set->entries[i];
        CW_FUZZ_CHECK(e->count > 0 && (chip || e->taken == e->names[0]));
    }
    for (size_t i = 0; i < set->metric_count; i++) {
        CW_FUZZ_CHECK(!chip || cw_set_usable(chip, set->listed, set->metrics[i], NULL));
        for (size_t k = 0; k < i && k < 100; k++)
            CW_FUZZ_CHECK(strcmp(set->metrics[i], set->metrics[k]) != 0);
    }
    for (size_t i = 0; i < set->missing_count; i++)
        CW_FUZZ_CHECK(set->missing[i].name && !cw_set_usable(chip, set->listed, set->missing[i].name, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_chip *chips[2] = {NULL, cw_fuzz_small_chip()};
    for (int i = 0; i < 2; i++) {
        struct cw_set set;
        struct cw_error err = CW_ERROR_INIT;
        const enum cw_status status = cw_set_parse(&set, data, size, "fuzz", chips[i], arena, &err);
        CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT || (chips[i] && status == CW_ERR_UNSUPPORTED));
        CW_FUZZ_CHECK(status == err.code && (status == CW_OK || err.line > 0));
        if (status == CW_OK)
            check_set(&set, chips[i]);
    }
    cw_arena_destroy(arena);
    return 0;
}
