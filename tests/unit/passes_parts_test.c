#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "passes/parts.h"
#include "tests/support/alloc_fail.h"

/* Raw counters are named by letters, counters by those that they need, passes by those that they collect. */
enum { MOST = 16, LETTERS = 26 };

static struct cw_arena *arena;
static struct cw_error err;
static struct cw_parts parts;
static struct cw_config_image plan;
static struct cw_parts_rules rules;
static struct cw_config_counter counters[MOST];
static struct cw_config_pass passes[MOST];
static struct cw_placement placements[MOST][MOST];
static uint32_t raws[MOST][MOST];
static uint64_t ids[LETTERS];
static const struct cw_config_domain domain = {1, "d"};
static const uint8_t native[] = {1};

static void set_up(void)
{
    arena = cw_arena_create();
    err = (struct cw_error)CW_ERROR_INIT;
    rules = (struct cw_parts_rules){0};
    for (uint32_t i = 0; i < LETTERS; i++)
        ids[i] = i + 1;
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(parts, .init = set_up, .fini = tear_down);

/* Both lists end with NULL. */
static void make_plan(const char *const *needs, const char *const *holds)
{
    uint32_t c = 0, p = 0;
    for (; needs[c]; c++) {
        counters[c] = (struct cw_config_counter){.name = needs[c], .raws = raws[c]};
        for (const char *at = needs[c]; *at && *at != '-'; at++)
            raws[c][counters[c].raw_count++] = (uint32_t)(*at - 'a');
    }
    for (; holds[p]; p++) {
        passes[p] = (struct cw_config_pass){.placements = placements[p]};
        for (const char *at = holds[p]; *at; at++)
            placements[p][passes[p].count++] = (struct cw_placement){(uint32_t)(*at - 'a'), 0};
    }
    plan = (struct cw_config_image){.chip = "X",
                                    .producer = "test",
                                    .domain_count = 1,
                                    .domains = &domain,
                                    .raw_count = LETTERS,
                                    .raws = ids,
                                    .pass_count = p,
                                    .passes = passes,
                                    .counter_count = c,
                                    .counters = counters,
                                    .native = native,
                                    .native_size = 1};
}
#define NEEDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define HOLDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* "0:ab 2:c | 1:ac": for each part its passes with what they collect; then what its columns are, in brackets: a counter
 * with the pass that it is whole in, or with all that it is mixed of. */
static const char *picture(enum cw_parting how)
{
    static char text[1000];
    const struct cw_schema *s = &parts.schema;
    size_t n = 0;
    rules.how = how;
    cr_assert(cw_parts_make(&parts, &plan, &rules, arena, &err) == CW_OK, "%s", err.message);
#define PUT(...) n += (size_t)snprintf(text + n, sizeof text - n, __VA_ARGS__)
    *text = 0;
    for (uint32_t i = 0; i < parts.count; i++) {
        const struct cw_part *part = &parts.items[i];
        PUT("%s", i ? " | " : "");
        for (uint32_t p = 0; p < part->plan.pass_count; p++) {
            PUT("%u:", part->passes[p]);
            for (uint32_t k = 0; k < part->plan.passes[p].count; k++)
                PUT("%c", 'a' + (char)part->plan.passes[p].placements[k].raw);
            PUT(" ");
        }
        PUT("[");
        for (uint32_t c = 0; c < part->plan.counter_count; c++) {
            uint32_t column = part->columns[c], counter = cw_schema_column_counter(s, column);
            cr_expect_str_eq(part->plan.counters[c].name, s->counters[counter].name);
            PUT("%s%s", c ? " " : "", part->plan.counters[c].name);
            if (column >= s->counter_count) {
                PUT("%u", s->repeats[column - s->counter_count].pass);
                continue;
            }
            PUT("%s", s->counters[counter].whole ? "" : "~");
            for (uint32_t k = 0; k < s->counters[counter].pass_count; k++)
                PUT("%u", s->counters[counter].passes[k]);
        }
        PUT("]");
    }
    return text;
}

Test(parts, a_plan_without_repetition_stays_one)
{
    make_plan(NEEDS("a", "b", "ab"), HOLDS("a", "b"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:a 1:b [a0 b1 ab~01]");
    cr_expect(parts.items[0].plan.native == native, "the image made for it serves");
    cr_expect(parts.schema.repeat_count == 0);
    cr_expect_str_eq(picture(CW_PARTS_ONE), "0:a 1:b [a0 b1 ab~01]");
    cr_expect(parts.items[0].plan.native == native);
}

Test(parts, passes_that_share_a_raw_counter_go_apart)
{
    make_plan(NEEDS("a", "b", "c", "d"), HOLDS("ab", "ac", "d"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:ab 2:d [a0 b0 d2] | 1:ac [c1 a1]");
    cr_expect(parts.schema.repeat_count == 1 && !parts.items[0].plan.native && !parts.items[1].plan.native);
    make_plan(NEEDS("a", "b", "c", "d"), HOLDS("ab", "bc", "cd", "da"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:ab 2:cd [a0 b0 d2 c2] | 1:bc 3:da [c1 a3 b1 d3]");
}

Test(parts, a_counter_of_several_raw_counters_is_whole_where_all_are)
{
    make_plan(NEEDS("ab", "a", "c"), HOLDS("a", "ab", "cb"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:a 2:c [a0 c2] | 1:ab [ab1 a1]");
}

Test(parts, what_a_counter_is_spread_over_stays_together)
{
    make_plan(NEEDS("abc", "d", "e"), HOLDS("ad", "de", "be", "c"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:da 2:eb 3:c [abc~023 d0 e2] | 1:de [e1 d1]");
    make_plan(NEEDS("ab", "d"), HOLDS("ad", "bd"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:da 2:b [ab~02 d0] | 1:d [d1]");
    cr_expect(parts.added == 1 && parts.schema.pass_count == 3, "in a pass of its own, for d stands in both");
    make_plan(NEEDS("ab", "x", "y", "z"), HOLDS("ax", "yz", "by"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:xa 2:yb [ab~02 x0 y2] | 1:yz [y1 z1]", "though 1 would fit with 0 too");
    cr_expect_eq(parts.added, 0);
}

/* Hardware that takes `most` raw counters a pass. */
static enum cw_status takes(void *most, const struct cw_config_image *image, const struct cw_config_pass *pass,
                            bool *answer, struct cw_error *error)
{
    (void)image;
    (void)error;
    *answer = pass->count <= *(uint32_t *)most;
    return CW_OK;
}

Test(parts, spread_raw_counters_go_where_there_is_room)
{
    uint32_t most = 3;
    rules.fits = takes;
    rules.user = &most;
    make_plan(NEEDS("ab", "d", "e"), HOLDS("ade", "bd", "d"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:dea 3:b [ab~03 d0 e0] | 1:d [d1] | 2:d [d2]");
    make_plan(NEEDS("ab", "d"), HOLDS("ad", "bd", "d")); /* which makes it whole */
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:dab [ab0 d0] | 1:d [d1] | 2:d [d2]");
    most = 2; /* nor does a pass get back more than there is room for */
    make_plan(NEEDS("ab", "ac", "d", "e"), HOLDS("dc", "ad", "eb", "e"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "1:da 2:eb [ab~12 e2 d1] | 0:da 3:ec [ac~03 d0 e3]");
}

Test(parts, counters_without_raw_counters_are_in_the_first)
{
    make_plan(NEEDS("-none", "a"), HOLDS("a", "a"));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "0:a [-none01 a0] | 1:a [a1]");
    make_plan(NEEDS("-none"), HOLDS(NULL));
    cr_expect_str_eq(picture(CW_PARTS_FEW), "[-none~]");
}

Test(parts, passes_of_application_replay)
{
    make_plan(NEEDS("a", "b", "ac"), HOLDS("a", "ab", "c"));
    cr_expect_str_eq(picture(CW_PARTS_PASSES), "0:a [a0] | 1:ab [b1 a1]");
    cr_expect(!parts.schema.counters[2].whole);
    make_plan(NEEDS("a", "b"), HOLDS("a", "b"));
    cr_expect_str_eq(picture(CW_PARTS_PASSES), "0:a [a0] | 1:b [b1]", "though they could go together");
}

Test(parts, one_part_keeps_counters_whole_where_it_can)
{
    make_plan(NEEDS("a", "b", "ac"), HOLDS("ab", "ac", "b"));
    cr_expect_str_eq(picture(CW_PARTS_ONE), "0:b 1:ac [a1 b0 ac1]");
    cr_expect(parts.schema.pass_count == 2 && parts.plan.pass_count == 2 && parts.schema.repeat_count == 0);
    make_plan(NEEDS("a", "ab"), HOLDS("a", "ab", "b"));
    cr_expect_str_eq(picture(CW_PARTS_ONE), "0:ab [a0 ab0]", "the greater counter chooses first");
    make_plan(NEEDS("ab", "c"), HOLDS("ab", "ac"));
    cr_expect_str_eq(picture(CW_PARTS_ONE), "0:ab 1:c [ab0 c1]");
    cr_expect(!parts.plan.native, "the image has a copy more in a pass");
}

Test(parts, one_part_collects_copies_where_their_domain_is_used_anyway)
{
    static const struct cw_config_domain domains[] = {{1, "d"}, {2, "e"}, {3, "f"}};
    make_plan(NEEDS("a", "b", "x"), HOLDS("ax", "bx"));
    plan.domains = domains;
    plan.domain_count = 2;
    placements[0][1].domain = placements[1][0].domain = placements[1][1].domain = 1;
    cr_expect_str_eq(picture(CW_PARTS_ONE), "0:a 1:bx [a0 b1 x1]");
    make_plan(NEEDS("a", "xyz"), HOLDS("axyz", "xyz"));
    plan.domains = domains;
    plan.domain_count = 3;
    placements[0][0].domain = 2;
    placements[0][2].domain = placements[0][3].domain = 1;
    cr_expect_str_eq(picture(CW_PARTS_ONE), "0:a 1:xyz [a0 xyz1]", "one domain more rather than two");
}

/* "2 ab: a in 0 ab in 1": the number of a pass, what it collects by itself, and the columns that it fills; of each. */
static const char *picture_of_singles(void)
{
    static char text[400];
    struct cw_part *list;
    uint32_t count;
    size_t n = 0;
    cr_assert(cw_parts_single_passes(&list, &count, &parts, arena, &err) == CW_OK, "%s", err.message);
    text[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_part *one = &list[i];
        cr_expect_eq(one->plan.pass_count, 1);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u ", i ? "; " : "", one->passes[0]);
        for (uint32_t k = 0; k < one->plan.passes[0].count; k++)
            text[n++] = (char)('a' + one->plan.passes[0].placements[k].raw);
        text[n++] = ':';
        text[n] = 0;
        for (uint32_t c = 0; c < one->plan.counter_count; c++)
            n += (size_t)snprintf(text + n, sizeof text - n, " %s in %u", one->plan.counters[c].name, one->columns[c]);
    }
    return text;
}

Test(parts, single_passes_have_the_counters_that_they_hold_whole_and_the_fullest_is_first)
{
    make_plan(NEEDS("a", "ab", "ac", "c", "-"), HOLDS("c", "ab", "a"));
    picture(CW_PARTS_FEW);
    cr_expect_str_eq(picture_of_singles(), "1 ab: a in 0 ab in 1 - in 4; 0 c: c in 3 - in 4; 2 a: - in 4 a in 5");
    make_plan(NEEDS("a", "b", "ab"), HOLDS("a", "b"));
    picture(CW_PARTS_FEW);
    cr_expect_str_eq(picture_of_singles(), "0 a: a in 0; 1 b: b in 1");
    make_plan(NEEDS("a", "b"), HOLDS("a", "ab"));
    picture(CW_PARTS_FEW);
    cr_expect_str_eq(picture_of_singles(), "1 ab: b in 1 a in 2; 0 a: a in 0");
    make_plan(NEEDS("ab"), HOLDS("a", "b"));
    picture(CW_PARTS_FEW);
    cr_expect_str_eq(picture_of_singles(), "0 a:", "there is one at least");
    make_plan(NEEDS("-"), HOLDS(NULL));
    picture(CW_PARTS_FEW);
    cr_expect_str_eq(picture_of_singles(), "");
}

/* Empty passes behind those of the plan, up to the most. */
static void fill_passes(void)
{
    static struct cw_config_pass many[CW_PASSES_MAX];
    memset(many, 0, sizeof many);
    memcpy(many, passes, plan.pass_count * sizeof *passes);
    plan.passes = many;
    plan.pass_count = CW_PASSES_MAX;
}

Test(parts, too_many_passes_are_refused)
{
    static const char refused[] = "found a plan of 4097 passes, expected at most 4096";
    uint32_t most = 2, added;
    make_plan(NEEDS("a"), HOLDS("a"));
    plan.pass_count = CW_PASSES_MAX + 1;
    cr_expect(cw_parts_make(&parts, &plan, &rules, arena, &err) == CW_ERR_UNSUPPORTED);
    cr_expect_str_eq(err.message, refused);
    make_plan(NEEDS("ab", "d"), HOLDS("ad", "bd")); /* wants one more for what it is spread over */
    fill_passes();
    cr_expect(cw_parts_make(&parts, &plan, &rules, arena, &err) == CW_ERR_UNSUPPORTED);
    cr_expect_str_eq(err.message, refused);
    cr_expect(cw_parts_complete(&plan, takes, &most, &added, arena, &err) == CW_ERR_UNSUPPORTED);
    cr_expect_str_eq(err.message, refused);
    cr_expect(added == 0 && plan.pass_count == CW_PASSES_MAX);
}

/* Of random plans: no raw counter is averaged where no counter is spread, each counter has every pass that holds it,
 * and a part is asked for nothing that its passes lack. */
Test(parts, random_plans)
{
    uint32_t seed = 7;
#define RANDOM(n) ((seed = seed * 1664525 + 1013904223) >> 16) % (n)
    for (int round = 0; round < 500; round++) {
        char need[8][6] = {""}, hold[6][12] = {""};
        const char *needs[9] = {NULL}, *holds[7] = {NULL};
        uint32_t count = 1 + RANDOM(7), pass_count = 1 + RANDOM(5), all = 0;
        for (uint32_t c = 0; c < count; c++) {
            for (uint32_t r = 0, n = 1 + (RANDOM(4) == 0) * 2; r < n; r++)
                need[c][r] = (char)('a' + RANDOM(6));
            needs[c] = need[c];
        }
        for (uint32_t p = 0; p < pass_count; p++) {
            for (uint32_t r = 0, n = 0; r < 6; r++)
                if (RANDOM(3) == 0)
                    hold[p][n++] = (char)('a' + r);
            holds[p] = hold[p];
        }
        make_plan(needs, holds);
        cr_assert(cw_parts_make(&parts, &plan, &(struct cw_parts_rules){.how = (enum cw_parting)(RANDOM(3))}, arena,
                                &err) == CW_OK);
        for (uint32_t i = 0; i < parts.count; i++) {
            const struct cw_part *part = &parts.items[i];
            all += part->plan.counter_count;
            for (uint32_t c = 0; c < part->plan.counter_count; c++) {
                uint32_t held = 0;
                const struct cw_config_counter *counter = &part->plan.counters[c];
                for (uint32_t r = 0; r < counter->raw_count; r++) {
                    uint32_t times = 0;
                    for (uint32_t p = 0; p < part->plan.pass_count; p++)
                        for (uint32_t k = 0; k < part->plan.passes[p].count; k++)
                            times += part->plan.passes[p].placements[k].raw == counter->raws[r];
                    held += times > 0;
                    cr_expect(times == 1, "round %d: collected %u times", round, times);
                }
                cr_expect(held == counter->raw_count);
            }
        }
        cr_expect(all <= cw_schema_columns(&parts.schema));
    }
}

Test(parts, every_failing_allocation_is_reported)
{
    make_plan(NEEDS("abc", "d", "e", "ad"), HOLDS("ad", "de", "be", "c"));
    for (int how = CW_PARTS_FEW; how <= CW_PARTS_ONE; how++) {
        bool done = false;
        for (long n = 0; n < 200 && !done; n++) {
            struct cw_arena *own = cw_arena_create();
            err = (struct cw_error)CW_ERROR_INIT;
            cw_alloc_fail_after(n);
            enum cw_status status =
                cw_parts_make(&parts, &plan, &(struct cw_parts_rules){.how = (enum cw_parting)how}, own, &err);
            bool failed = cw_alloc_failed();
            cw_alloc_fail_after(-1);
            cw_arena_destroy(own);
            cr_expect(status == (failed ? CW_ERR_NOMEM : CW_OK), "allocation %ld", n);
            done = !failed;
        }
        cr_expect(done);
    }
}

Test(parts, passes_are_added_for_counters_that_are_spread)
{
    uint32_t most = 2, added;
    make_plan(NEEDS("a", "b", "ac"), HOLDS("a", "ab", "c"));
    cr_assert(cw_parts_complete(&plan, takes, &most, &added, arena, &err) == CW_OK);
    cr_expect(added == 1 && plan.pass_count == 4 && plan.passes[3].count == 2 && !plan.native);
    cr_expect_str_eq(picture(CW_PARTS_PASSES), "0:a [a0] | 1:ab [b1 a1] | 3:ac [ac3 a3]");
    make_plan(NEEDS("a", "b", "ac"), HOLDS("a", "ab", "c"));
    most = 1; /* no pass can hold it */
    cr_assert(cw_parts_complete(&plan, takes, &most, &added, arena, &err) == CW_OK);
    cr_expect(added == 0 && plan.pass_count == 3);
    make_plan(NEEDS("aab"), HOLDS("a", "b"));
    most = 3;
    cr_assert(cw_parts_complete(&plan, takes, &most, &added, arena, &err) == CW_OK);
    cr_expect(added == 1 && plan.passes[2].count == 2, "what a counter names twice is collected once");
}

/* An added pass collects a raw counter where the plan does. */
Test(parts, added_passes_keep_domains)
{
    static const struct cw_config_domain domains[] = {{1, "d"}, {2, "e"}, {3, "f"}};
    uint32_t most = 4, added;
    make_plan(NEEDS("x", "abc", "d"), HOLDS("ax", "bd", "cd"));
    plan.domains = domains, plan.domain_count = 3;
    placements[0][0].domain = 2, placements[1][0].domain = 1;
    cr_assert(cw_parts_complete(&plan, takes, &most, &added, arena, &err) == CW_OK);
    cr_assert(added == 1 && plan.pass_count == 4 && plan.passes[3].count == 3);
    static const uint32_t wanted[] = {2, 1, 0};
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(plan.passes[3].placements[i].raw == i && plan.passes[3].placements[i].domain == wanted[i]);
}

/* Further counters go into the added passes as long as there is room, and what stands there is asked for once. */
Test(parts, added_passes_are_filled)
{
    static const char *const letters[] = {"abcd", "befa", "gh"};
    uint32_t most = 6, added;
    make_plan(NEEDS("ab", "cd", "be", "fa", "gh"), HOLDS("ac", "bd", "eg", "fh"));
    cr_assert(cw_parts_complete(&plan, takes, &most, &added, arena, &err) == CW_OK);
    cr_assert(added == 2 && plan.pass_count == 6 && plan.passes[4].count == 6 && plan.passes[5].count == 2);
    for (uint32_t i = 0; i < 6; i++)
        cr_expect(plan.passes[4].placements[i].raw == (uint32_t)("abcdef"[i] - 'a'));
    cr_expect(plan.passes[5].placements[0].raw == 'g' - 'a' && plan.passes[5].placements[1].raw == 'h' - 'a');
    make_plan(NEEDS("ab", "cd", "be", "fa", "gh"), HOLDS("ac", "bd", "eg", "fh"));
    most = 4;
    cr_assert(cw_parts_complete(&plan, takes, &most, &added, arena, &err) == CW_OK);
    cr_assert(added == 3);
    for (uint32_t p = 0; p < 3; p++) {
        cr_expect_eq(plan.passes[4 + p].count, strlen(letters[p]));
        for (uint32_t i = 0; i < plan.passes[4 + p].count; i++)
            cr_expect(plan.passes[4 + p].placements[i].raw == (uint32_t)(letters[p][i] - 'a'), "%u, %u", p, i);
    }
}

/* The greater counter chooses first, then those in their order. */
Test(parts, one_part_lets_counters_choose_in_order)
{
    make_plan(NEEDS("a", "b"), HOLDS("ab", "a", "b"));
    cr_expect_str_eq(picture(CW_PARTS_ONE), "0:ab [a0 b0]");
    make_plan(NEEDS("ab", "bc", "d"), HOLDS("ab", "bc", "d"));
    cr_expect_str_eq(picture(CW_PARTS_ONE), "0:ab 1:c 2:d [ab0 bc~01 d2]", "the first has the common one");
    make_plan(NEEDS("bc", "ab", "d"), HOLDS("ab", "bc", "d"));
    cr_expect_str_eq(picture(CW_PARTS_ONE), "0:a 1:bc 2:d [bc1 ab~01 d2]");
}
