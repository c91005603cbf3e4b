/* Launches that a capture holds once, and the places of its ranges. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "image/directory.h"
#include "image/range_view.h"

/* More ranges than a view takes at a time, of launches that differ in a name, a process or an attribute. */
enum { RANGES = 5000, NAMES = 2, PROCESSES = 3, STEPS = 7, LAUNCHES = NAMES * PROCESSES * STEPS };

static const char *const steps[STEPS] = {NULL, "", "1", "2", "10", "11", "01"};
static struct cw_writer file;
static struct cw_arena *arena;
static struct cw_counter_data data;
static struct cw_error err;

static uint32_t launch_of(uint32_t range)
{
    return range < LAUNCHES ? range : range * 389 % 997 % LAUNCHES;
}

static uint32_t step_of(uint32_t launch)
{
    return launch / NAMES / PROCESSES;
}

static void write_range(const struct cw_schema *schema, uint32_t i)
{
    const uint32_t launch = launch_of(i), step = step_of(launch);
    const struct cw_pair pair = {"step", steps[step]};
    const struct cw_range range = {.name = launch % NAMES ? "ab" : "a",
                                   .kernel = launch % NAMES ? "" : "b",
                                   .process = launch / NAMES % PROCESSES,
                                   .start_ns = 1000 + i,
                                   .end_ns = 2000 + i,
                                   .attribute_count = steps[step] != NULL,
                                   .attributes = &pair};
    cw_counter_data_write_range(schema, &range, NULL, &file);
}

static void set_up(void)
{
    static const struct cw_schema schema = {.chip = "X", .producer = "test"};
    arena = cw_arena_create();
    cw_writer_init(&file);
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    cw_counter_data_write_device(&schema, &(struct cw_device){0}, &file);
    for (uint32_t i = 0; i < RANGES; i++)
        write_range(&schema, i);
    cw_counter_data_write_end(RANGES, 0, CW_END_EXITED, 0, &file);
    const struct cw_input input = cw_input_of(file.data, file.size, "x.cwd");
    struct cw_input *kept = cw_arena_alloc(arena, 1, sizeof *kept);
    *kept = input;
    cr_assert(cw_counter_data_open(&data, kept, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(data.range_count == RANGES && data.complete);
}

static void tear_down(void)
{
    cw_writer_free(&file);
    cw_arena_destroy(arena);
}

TestSuite(directory, .init = set_up, .fini = tear_down);

static void expect_range(const struct cw_range *found, uint32_t i)
{
    const uint32_t launch = launch_of(i);
    const char *step = cw_range_attribute(found, "step"), *wanted = steps[step_of(launch)];
    cr_expect_str_eq(found->name, launch % NAMES ? "ab" : "a");
    cr_expect(found->process == launch / NAMES % PROCESSES, "range %u", i);
    cr_expect(step && wanted ? strcmp(step, wanted) == 0 : step == wanted, "range %u", i);
}

Test(directory, has_each_launch_once)
{
    cr_assert_eq(cw_launch_count(&data), LAUNCHES);
    for (uint32_t i = 0; i < RANGES; i++) {
        cr_assert_eq(cw_launch_number(&data, i), launch_of(i), "range %u", i);
        expect_range(cw_launch_of(&data, i), i);
    }
    cr_expect_eq(cw_ranges_begin(&data), 1000);
}

Test(directory, ranges_are_found_in_any_order)
{
    struct cw_range_view view;
    cr_assert(cw_range_view_init(&view, &data, arena, &err) == CW_OK);
    cr_assert(view.room > 1 && view.room < RANGES);
    for (uint32_t k = 0; k < RANGES; k++) {
        const uint32_t i = k * 2389 % RANGES;
        cr_assert(cw_range_view_load(&view, 0, &i, 1) == CW_OK, "%s", err.message);
        cr_assert(view.ranges[0].start_ns == 1000 + i && view.ranges[0].end_ns == 2000 + i, "range %u", i);
    }
    for (uint32_t from = 0; from < 40; from++) /* near one another, back and forth */
        for (uint32_t to = 0; to < 40; to++) {
            cr_assert(cw_range_view_load(&view, 0, (const uint32_t[]){from, to}, 2) == CW_OK, "%s", err.message);
            cr_assert(view.ranges[0].start_ns == 1000 + from && view.ranges[1].start_ns == 1000 + to);
        }
    cw_range_view_free(&view);
}

Test(directory, all_ranges_are_loaded_piece_by_piece)
{
    cr_assert(cw_counter_data_load(&data, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(data.range_count == RANGES && !data.directory && cw_launch_count(&data) == RANGES);
    for (uint32_t i = 0; i < RANGES; i++) {
        cr_assert_eq(data.ranges[i].start_ns, 1000 + i);
        expect_range(&data.ranges[i], i);
    }
}
