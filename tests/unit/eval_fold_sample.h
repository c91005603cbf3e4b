/* Launches of the tiny chip that are multiplexed, for the tests of what is made of them. */
#ifndef CW_TESTS_EVAL_FOLD_SAMPLE_H
#define CW_TESTS_EVAL_FOLD_SAMPLE_H

#include "tests/unit/eval_sample.h"

#include "eval/ranges/groups.h"

enum { MOST = 40000 };
static struct cw_groups groups;
static struct cw_range ranges[MOST];
static double rollups[CW_ROLLUP_COUNT][SAMPLE_COUNTERS * MOST], durations[MOST][SAMPLE_PASSES];
static uint8_t forms[SAMPLE_COUNTERS * MOST];
static const struct cw_pair multiplexed[] = {{"replay", "multiplex"}, {"rank", "1"}};

static double value_at(int counter, uint32_t i)
{
    return 1000 * (counter + 1) + i % 7;
}

/* So many launches, which are those of `kinds` kernels in turn; all of their columns. */
static void make_launches(uint32_t count, uint32_t kinds)
{
    static char names[64][24];
    data.range_count = count;
    data.ranges = ranges;
    data.forms = forms;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        data.rollups[r] = rollups[r];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i % kinds], sizeof names[0], "kernel_%u", i % kinds);
        ranges[i] = sample_ranges[0];
        ranges[i].name = ranges[i].kernel = names[i % kinds];
        ranges[i].start_ns = i;
        durations[i][0] = durations[i][1] = 500 + i % 3;
        ranges[i].durations = durations[i];
        for (int c = 0; c < SAMPLE_COUNTERS; c++) {
            forms[(size_t)c * count + i] = CW_FORM_ROLLUPS;
            for (int r = 0; r < CW_ROLLUP_COUNT; r++)
                rollups[r][(size_t)c * count + i] = value_at(c, i) / (r + 1);
        }
    }
}

static void forget(int counter, uint32_t range)
{
    forms[(size_t)counter * data.range_count + range] = CW_FORM_NOT_COLLECTED;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        rollups[r][(size_t)counter * data.range_count + range] = NAN;
}

/* Passes take turns over the launches of each kernel: the first has all but the bytes, the second the bytes alone. */
static void multiplex(uint32_t kinds)
{
    for (uint32_t i = 0; i < data.range_count; i++) {
        const bool second = i / kinds % SAMPLE_PASSES;
        ranges[i].attributes = multiplexed;
        ranges[i].attribute_count = 2;
        durations[i][!second] = NAN;
        for (int c = 0; c < SAMPLE_COUNTERS; c++)
            if ((c == BYTES) != second)
                forget(c, i);
    }
}

static void group(enum cw_group_by by, const bool *keep)
{
    cr_assert(cw_groups_make(&groups, by, &data, chip, keep, arena, &err) == CW_OK, "%s", err.message);
}

#endif
