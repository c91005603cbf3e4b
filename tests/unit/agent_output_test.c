/* Ranges of a capture, and what is known of their devices meanwhile. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/output/range_output.h"
#include "agent/output/file_devices.h"
#include "base/file.h"
#include "tests/support/image_samples.h"

static char path[] = "/tmp/output.XXXXXX";
static struct cw_arena *arena;
static struct cw_schema schema;
static struct cw_range_output output;
static struct cw_device_facts facts[CW_SAMPLE_COUNTERS];
static struct cw_pair about[] = {{"pci", "0000:0a:00.0"}};
static struct cw_device device = {.index = 0, .attribute_count = 1, .attributes = about, .facts = facts};
static struct cw_error err;

static void set_up(void)
{
    struct cw_config_image plan = cw_sample_plan();
    arena = cw_arena_create();
    int fd = mkstemp(path);
    cr_assert(arena && fd >= 0 && cw_schema_of_plan(&schema, &plan, arena) == CW_OK);
    close(fd);
    cr_assert_eq(cw_range_output_open(&output, path, false, &schema, 1, 1, &err), CW_OK);
    cw_range_output_begin(&output);
}

static void tear_down(void)
{
    cw_range_output_close(&output);
    cw_arena_destroy(arena);
    unlink(path);
}

TestSuite(output, .init = set_up, .fini = tear_down);

/* A range of a part of the plan, which counted one counter. */
static void add(uint32_t counter)
{
    struct cw_value values[16];
    double durations[16];
    for (uint32_t i = 0; i < 16; i++) {
        values[i] = (struct cw_value){.form = CW_FORM_NOT_COLLECTED};
        durations[i] = NAN;
    }
    cr_assert(cw_schema_columns(&schema) <= 16 && schema.pass_count <= 16);
    const struct cw_range_source source = {1, "program", &device};
    const struct cw_range range = {.name = "step", .kernel = "step", .durations = durations};
    memset(facts, 0, sizeof facts);
    facts[counter] = (struct cw_device_facts){counter + 1, {1, 2, 3, 4}};
    cr_assert_eq(cw_range_output_add(&output, &source, &range, values, &err), CW_OK, "%s", err.message);
}

static void expect(uint32_t ranges, uint32_t known)
{
    struct cw_bytes file;
    struct cw_counter_data data;
    cr_assert_eq(cw_file_read(&file, path, 1 << 20, &err), CW_OK);
    cr_assert_eq(cw_counter_data_read(&data, file.data, file.size, path, arena, &err), CW_OK, "%s", err.message);
    cr_expect_eq(data.range_count, ranges);
    cr_assert_eq(data.device_count, 1);
    for (uint32_t i = 0; i < CW_SAMPLE_COUNTERS; i++) {
        cr_expect_eq(data.devices[0].facts[i].instances, i < known ? i + 1 : 0, "%u", i);
        cr_expect_eq(data.devices[0].facts[i].peak[3], i < known ? 4 : 0);
    }
    cw_bytes_free(&file);
}

/* Where passes take turns, each brings what is known of its own counters. */
Test(output, what_later_ranges_tell_of_a_device_is_kept)
{
    add(0);
    expect(1, 1);
    add(0);
    add(1);
    expect(3, 2);
    const struct cw_program program = {.over = true};
    cr_assert_eq(cw_range_output_end(&output, &program, &err), CW_OK);
    expect(3, 2);
}

/* ---- steady states ---------------------------------------------------------------------------------------------- */

static void report(const struct cw_steady_report *r)
{
    const struct cw_range_source source = {1, "program", &device};
    cr_assert_eq(cw_range_output_steady(&output, &source, r, &err), CW_OK, "%s", err.message);
}

static void expect_attribute(const char *key, const char *value)
{
    struct cw_bytes file;
    struct cw_counter_data data;
    cr_assert_eq(cw_file_read(&file, path, 1 << 20, &err), CW_OK);
    cr_assert_eq(cw_counter_data_read(&data, file.data, file.size, path, arena, &err), CW_OK, "%s", err.message);
    cr_assert_eq(data.device_count, 1);
    const char *found = cw_device_attribute(&data.devices[0], key);
    cr_expect(value ? found && strcmp(found, value) == 0 : !found, "%s: %s", key, found ? found : "none");
    cw_bytes_free(&file);
}

/* More periods come behind the last range. */
Test(output, what_is_found_of_periods_is_filled_in)
{
    struct cw_steady_report r = {.period = {true, 1700000000000000000, 90, 20, 3, 0, 60000000, 150, 150000000}};
    output.steady = true;
    report(&r);
    add(0);
    expect_attribute("steady", "found");
    expect_attribute("steady_periods", "00000000000000000003");
    r.count = 2;
    r.period.count = 9;
    r.period.periods_ns = 180000000;
    r.period.all_ns = 240000000;
    report(&r);
    const struct cw_program program = {.over = true};
    cr_assert_eq(cw_range_output_end(&output, &program, &err), CW_OK);
    expect(1, 1);
    expect_attribute("steady_begin_ns", "01700000000000000000");
    expect_attribute("steady_period_ns", "00000000000020000000");
    expect_attribute("steady_period_launches", "00000000000000000020");
    expect_attribute("steady_periods", "00000000000000000009");
    expect_attribute("steady_captured", "00000000000000000002");
    expect_attribute("steady_share", "0.750000");
}

/* Whatever a process says, what stands behind it in the file stays. */
Test(output, senseless_reports_do_no_harm)
{
    const uint64_t most = UINT64_MAX;
    const struct cw_steady_report r = {0, true, most, {true, most, most, most, most, most, most, most, 1}};
    output.steady = true;
    add(0);
    report(&r);
    add(1);
    expect(2, 2);
    expect_attribute("steady_share", "1.000000");
    expect_attribute("steady_periods", "18446744073709551615");
}

Test(output, without_being_asked_nothing_is_said_of_periods)
{
    const struct cw_steady_report r = {.period = {.found = true}};
    report(&r);
    add(0);
    expect_attribute("steady", NULL);
}

/* The same of files that are no captures of ranges: devices that others are told apart from by their numbers. */
Test(output, devices_are_told_of_periods_by_number)
{
    struct cw_steady_devices devices = {0};
    struct cw_collector collector, *out = &collector;
    const struct cw_steady_report r = {.count = 2, .period = {.found = true, .count = 5}};
    struct cw_pair attribute = {"pci", "0000:0b:00.0"};
    struct cw_device other = {.index = 1, .attribute_count = 1, .attributes = &attribute, .facts = facts};
    cw_range_output_close(&output); /* it has the file */
    output = (struct cw_range_output){0};
    cr_assert_eq(cw_collector_open(out, path, false, &schema, &err), CW_OK);
    cr_assert_eq(cw_steady_devices_add(&devices, out, &device, NULL, arena, &err), CW_OK);
    cr_assert_eq(cw_steady_devices_add(&devices, out, &other, NULL, arena, &err), CW_OK);
    attribute.value = "gone"; /* as a process's are, when that ends */
    cr_assert_eq(cw_steady_devices_tell(&devices, out, 1, &r, &err), CW_OK);
    cr_assert_eq(cw_steady_devices_tell(&devices, out, 7, &r, &err), CW_OK);
    struct cw_bytes file;
    struct cw_counter_data data;
    cr_assert_eq(cw_file_read(&file, path, 1 << 20, &err), CW_OK);
    cr_assert_eq(cw_counter_data_read(&data, file.data, file.size, path, arena, &err), CW_OK, "%s", err.message);
    cr_assert_eq(data.device_count, 2);
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "steady_periods"), "00000000000000000000");
    cr_expect_str_eq(cw_device_attribute(&data.devices[1], "steady_periods"), "00000000000000000005");
    cr_expect_str_eq(cw_device_attribute(&data.devices[1], "pci"), "0000:0b:00.0");
    cw_bytes_free(&file);
    cw_collector_close(out);
}
