#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/output/lanes.h"

/* A format that says in text what it is told. */
static FILE *said;
static char *text;
static size_t size;
static struct cw_arena *arena;
static struct cw_lanes *lanes;
static uint64_t crowded;
static uint64_t last_time;

static void start(void *state, uint64_t origin)
{
    (void)state;
    last_time = origin;
}

static void lane(void *state, uint32_t number, const struct cw_lane *of)
{
    (void)state;
    fprintf(said, "lane %u %s; ", number, of->name);
}

static void at(uint64_t time)
{
    cr_assert(time >= last_time, "%" PRIu64 " behind %" PRIu64, time, last_time);
    last_time = time;
}

static void begin(void *state, const struct cw_lane_event *e)
{
    (void)state;
    at(e->time);
    fprintf(said, "%" PRIu64 "(%u ", e->time, e->lane);
}

static void end(void *state, uint32_t number, uint64_t time)
{
    (void)state;
    at(time);
    fprintf(said, "%u)%" PRIu64 " ", number, time);
}

static void instant(void *state, const struct cw_lane_event *e)
{
    (void)state;
    at(e->time);
    fprintf(said, "%" PRIu64 "!%u ", e->time, e->lane);
}

static void count(void *state, uint32_t number, uint64_t time, double value)
{
    (void)state;
    at(time);
    fprintf(said, "%" PRIu64 "=%g@%u ", time, value, number);
}

static bool full(const void *state)
{
    return state && size > 1000;
}

static const struct cw_lane_format format = {start, lane, begin, end, instant, count, full};

/* Events of one lane, from and to. */
struct spans {
    uint32_t lane;
    const uint64_t (*at)[2];
};

static uint64_t time_of(const void *context, uint32_t i)
{
    return ((const struct spans *)context)->at[i][0];
}

static void event_of(void *context, uint32_t i, struct cw_lane_event *e)
{
    const struct spans *s = context;
    *e = (struct cw_lane_event){.lane = s->lane, .time = s->at[i][0], .end = s->at[i][1], .value = (double)i};
}

static void set_up(void)
{
    arena = cw_arena_create();
    lanes = cw_lanes_create(arena);
    said = open_memstream(&text, &size);
}

static void tear_down(void)
{
    cw_lanes_free(lanes);
    cw_arena_destroy(arena);
    fclose(said);
    free(text);
}

TestSuite(lanes, .init = set_up, .fini = tear_down);

static void add(struct spans *s, enum cw_lane_kind kind, bool flat, uint32_t count_of)
{
    s->lane = cw_lanes_add(lanes, &(struct cw_lane){.kind = kind, .flat = flat, .parent = CW_NO_LANE, .name = "a"});
    cw_lanes_source(lanes, count_of, s, time_of, event_of);
}

static void expect(const char *expected)
{
    cr_assert(cw_lanes_write(lanes, &format, NULL, &crowded, NULL) == CW_OK);
    fflush(said);
    cr_assert_str_eq(text, expected);
}

/* What is in another one ends before it, also at one time; what follows at once is not in it. */
Test(lanes, events_nest)
{
    static const uint64_t spans[][2] = {{10, 50}, {10, 30}, {10, 10}, {30, 50}, {50, 50}, {50, 60}};
    struct spans s = {.at = spans};
    add(&s, CW_LANE_EVENTS, false, 6);
    expect("lane 0 a; 10(0 10(0 10(0 0)10 0)30 30(0 0)50 0)50 50(0 0)50 50(0 0)60 ");
}

/* What overlaps and does not nest goes beside it, and comes back when there is room. */
Test(lanes, events_that_overlap_are_beside)
{
    static const uint64_t spans[][2] = {{10, 50}, {20, 60}, {30, 55}, {60, 70}};
    struct spans s = {.at = spans};
    add(&s, CW_LANE_EVENTS, false, 4);
    expect("lane 0 a; 10(0 lane 1 a; 20(1 30(1 0)50 1)55 1)60 60(0 0)70 ");
    cr_assert(crowded == 0);
}

/* Of a stream no event is in another. */
Test(lanes, flat_lanes_have_no_nests)
{
    static const uint64_t spans[][2] = {{10, 50}, {20, 40}, {50, 60}};
    struct spans s = {.at = spans};
    add(&s, CW_LANE_EVENTS, true, 3);
    expect("lane 0 a; 10(0 lane 1 a; 20(1 1)40 0)50 50(0 0)60 ");
}

Test(lanes, an_end_before_the_start_is_the_start)
{
    static const uint64_t spans[][2] = {{10, 5}};
    struct spans s = {.at = spans};
    add(&s, CW_LANE_EVENTS, false, 1);
    expect("lane 0 a; 10(0 0)10 ");
}

Test(lanes, sources_are_merged_by_time)
{
    static const uint64_t one[][2] = {{10, 20}, {30, 40}}, two[][2] = {{10, 15}, {20, 35}},
                          values[][2] = {{0, 0}, {31, 0}};
    struct spans s = {.at = one}, t = {.at = two}, c = {.at = values};
    add(&s, CW_LANE_EVENTS, false, 2);
    add(&t, CW_LANE_EVENTS, false, 2);
    add(&c, CW_LANE_COUNTER, false, 2);
    expect("lane 0 a; lane 1 a; lane 2 a; 0=0@2 10(0 10(1 1)15 0)20 20(1 30(0 31=1@2 1)35 0)40 ");
}

/* What a viewer cannot draw any more is a mark, and counted: too much at once, and too deep. */
Test(lanes, crowds_are_marks)
{
    enum { MANY = 1000 };
    static uint64_t across[MANY][2], deep[MANY][2];
    struct spans s = {.at = across}, t = {.at = deep};
    for (uint64_t i = 0; i < MANY; i++) {
        across[i][0] = deep[i][0] = i;
        across[i][1] = MANY + i;
        deep[i][1] = 3 * MANY - i;
    }
    add(&s, CW_LANE_EVENTS, false, MANY);
    add(&t, CW_LANE_EVENTS, false, MANY);
    cr_assert(cw_lanes_write(lanes, &format, NULL, &crowded, NULL) == CW_OK);
    /* the second one has three beside it, each as deep as it may be */
    cr_assert(crowded == MANY - CW_LANES_BESIDE, "%" PRIu64, crowded);
    cr_assert(cw_lanes_count(lanes) == CW_LANES_BESIDE + 4);
}

Test(lanes, a_format_that_is_full_ends_it)
{
    static const uint64_t spans[][2] = {{10, 20}, {30, 40}};
    struct spans s = {.at = spans};
    size = 0;
    add(&s, CW_LANE_EVENTS, false, 2);
    fprintf(said, "%2000s", "");
    fflush(said);
    cr_assert(cw_lanes_write(lanes, &format, lanes, &crowded, NULL) == CW_OK);
    fflush(said);
    cr_assert_null(strchr(text, '('));
}
