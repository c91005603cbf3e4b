/* The small chip (tests/support/small_chip.h) for targets that need one beside their input. */
#ifndef CW_TESTS_FUZZ_SMALL_H
#define CW_TESTS_FUZZ_SMALL_H

#include <string.h>

#include "metricdb/chip_load.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/small_chip.h"

/* The chip, parsed by the first call only: parsing it for each input took most of the time of three targets. */
static inline const struct cw_chip *cw_fuzz_small_chip(void)
{
    static const struct cw_chip *chip;
    static struct cw_arena *arena; /* kept, so that it is not taken for a leak */
    if (!arena) {
        arena = cw_arena_create();
        CW_FUZZ_CHECK(cw_chip_parse(&chip, cw_small_chip, strlen(cw_small_chip), "tiny", arena, NULL) == CW_OK);
    }
    return chip;
}

#endif
