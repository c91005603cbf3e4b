#include <criterion/criterion.h>

#include "image/limit_index.h"
#include "tests/support/alloc_fail.h"

enum { RAWS = 6, DOMAINS = 2, MEMBERS = 12, LIMITS = 4, PLACED = RAWS * DOMAINS };

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % n;
}

static bool is_placed(const struct cw_config_pass *pass, struct cw_placement at)
{
    bool placed = false;
    for (uint32_t k = 0; k < pass->count; k++)
        placed |= pass->placements[k].raw == at.raw && pass->placements[k].domain == at.domain;
    return placed;
}

/* By the definition: different groups of members that are placed. */
static uint32_t count_groups(const struct cw_config_limit *limit, const struct cw_config_pass *pass)
{
    uint32_t taken = 0;
    for (uint32_t m = 0; m < limit->count; m++) {
        bool first = is_placed(pass, limit->members[m]);
        for (uint32_t k = 0; k < m; k++)
            first &= limit->groups[k] != limit->groups[m] || !is_placed(pass, limit->members[k]);
        taken += first;
    }
    return taken;
}

Test(limits, random_passes_take_what_the_definition_says)
{
    static const uint32_t names[] = {0, 7, UINT32_MAX};
    for (int round = 0; round < 200; round++) {
        struct cw_placement members[LIMITS][MEMBERS], placements[PLACED];
        uint32_t groups[LIMITS][MEMBERS];
        struct cw_config_limit limits[LIMITS];
        struct cw_arena *arena = cw_arena_create();
        struct cw_limit_index asked;
        for (uint32_t l = 0; l < LIMITS; l++) {
            limits[l] = (struct cw_config_limit){1 + below(3), below(MEMBERS + 1), members[l], groups[l]};
            for (uint32_t m = 0; m < limits[l].count; m++) {
                members[l][m] = (struct cw_placement){below(RAWS), below(DOMAINS)};
                groups[l][m] = names[below(3)];
            }
        }
        const struct cw_config_image plan = {
            .raw_count = RAWS, .domain_count = DOMAINS, .limit_count = LIMITS, .limits = limits};
        cr_assert(cw_limit_index_make(&asked, &plan, arena));
        for (int p = 0; p < 5; p++) {
            struct cw_config_pass pass = {0, placements};
            uint32_t exceeded = LIMITS;
            for (uint32_t i = 0; i < PLACED; i++)
                if (below(3) == 0)
                    placements[pass.count++] = (struct cw_placement){i % RAWS, i / RAWS};
            for (uint32_t l = LIMITS; l-- > 0;)
                exceeded = count_groups(&limits[l], &pass) > limits[l].max ? l : exceeded;
            cr_expect_eq(cw_limit_index_ask(&asked, &pass), exceeded);
            for (uint32_t l = 0; l < LIMITS; l++)
                cr_expect_eq(asked.taken[l], count_groups(&limits[l], &pass), "round %d", round);
        }
        cw_arena_destroy(arena);
    }
}

static enum cw_status make_limits(struct cw_arena *own, struct cw_error *err)
{
    static const struct cw_placement member = {0, 0};
    static const uint32_t group;
    static const struct cw_config_limit limit = {1, 1, &member, &group};
    const struct cw_config_image plan = {.raw_count = 1, .domain_count = 1, .limit_count = 1, .limits = &limit};
    struct cw_limit_index limits;
    return cw_limit_index_make(&limits, &plan, own) ? CW_OK : cw_error_nomem(err);
}

Test(limits, failing_allocations_are_reported)
{
    cr_expect_gt(cw_alloc_fail_each(make_limits), 0);
}
