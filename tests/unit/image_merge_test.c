#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/pm_data.h"
#include "image/trace_data.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/chunk_edit.h"
#include "tests/support/image_samples.h"
#include "tests/support/merge_memory.h"

static struct cw_writer sample, short_sample, out;
static struct cw_arena *arena;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&sample);
    cw_writer_init(&short_sample);
    cw_writer_init(&out);
    cw_sample_data(&sample, true);
    cw_sample_data(&short_sample, false);
    err = (struct cw_error)CW_ERROR_INIT;
}

static void tear_down(void)
{
    cw_writer_free(&sample);
    cw_writer_free(&short_sample);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
}

TestSuite(merge, .init = set_up, .fini = tear_down);

static enum cw_status merge(const struct cw_writer *a, const struct cw_writer *b)
{
    const struct cw_merge_input inputs[] = {{"a", a->data, a->size}, {"b", b->data, b->size}};
    return cw_merge_dense(&out, inputs, 2, &err);
}

static struct cw_counter_data read_result(void)
{
    struct cw_counter_data data;
    cr_assert(cw_counter_data_read(&data, out.data, out.size, "merged", arena, NULL) == CW_OK);
    return data;
}

/* The same capture with another letter in the description of its first device. */
static struct cw_writer of_another_device(const struct cw_writer *capture)
{
    struct cw_writer other;
    struct cw_edit_chunk chunk;
    cw_writer_init(&other);
    cw_write_bytes(&other, capture->data, capture->size);
    cr_assert(cw_edit_find(other.data, other.size, 1, &chunk));
    other.data[chunk.offset + 24 + 4 + 4 + 4] ^= 1; /* the first letter of its first attribute */
    cw_edit_fix_checksums(other.data, other.size);
    return other;
}

/* The same capture with an attribute in front of this chunk, for the caller to free. */
static struct cw_writer with_nvtx(const struct cw_writer *capture, size_t chunk, const char *path)
{
    struct cw_writer pairs, edited;
    cw_writer_init(&pairs);
    cw_writer_init(&edited);
    cw_write_u32(&pairs, 1);
    cw_write_string(&pairs, "nvtx");
    cw_write_string(&pairs, path);
    cw_edit_insert(&edited, capture, chunk, "RATT", 1, pairs.data, pairs.size);
    cw_writer_free(&pairs);
    return edited;
}

Test(merge, one_alone_keeps_its_bytes)
{
    const struct cw_merge_input one = {"a", sample.data, sample.size};
    cr_assert(cw_merge_dense(&out, &one, 1, &err) == CW_OK);
    cr_expect(out.size == sample.size && memcmp(out.data, sample.data, out.size) == 0);
}

Test(merge, devices_that_are_alike_stay_one)
{
    cr_assert(merge(&sample, &sample) == CW_OK);
    struct cw_counter_data data = read_result(), before;
    cr_assert(cw_counter_data_read(&before, sample.data, sample.size, "sample", arena, NULL) == CW_OK);
    cr_expect(data.device_count == before.device_count);
    cr_expect(data.range_count == 2 * before.range_count);
    cr_expect(data.dropped == 2 * before.dropped);
    cr_expect(data.complete);
    for (uint32_t i = 0; i < before.range_count; i++)
        cr_expect(data.ranges[i + before.range_count].device == before.ranges[i].device, "range %u", i);
}

Test(merge, another_device_gets_another_number)
{
    struct cw_writer other = of_another_device(&sample);
    cr_assert(merge(&sample, &other) == CW_OK);
    struct cw_counter_data data = read_result();
    cr_assert(data.device_count == 3);
    for (uint32_t d = 1; d < 3; d++)
        cr_expect(data.devices[d - 1].index < data.devices[d].index, "devices are kept by number");
    cr_expect(data.devices[data.ranges[CW_SAMPLE_RANGES].device].index == 1);
    cr_expect(data.devices[data.ranges[0].device].index == 0);
    cw_writer_free(&other);
}

Test(merge, an_incomplete_part_leaves_the_whole_incomplete)
{
    cr_assert(merge(&sample, &short_sample) == CW_OK);
    cr_expect(!read_result().complete);
}

Test(merge, attributes_of_ranges_stay_with_them)
{
    struct cw_writer about = with_nvtx(&sample, 3, "outer/inner"); /* before the second range */
    cr_assert(merge(&about, &sample) == CW_OK);
    struct cw_counter_data data = read_result();
    cr_expect(data.ranges[0].attribute_count == 0);
    cr_assert(data.ranges[1].attribute_count == 1);
    cr_expect(strcmp(cw_range_attribute(&data.ranges[1], "nvtx"), "outer/inner") == 0);
    cr_expect(cw_range_attribute(&data.ranges[1], "other") == NULL);
    cr_expect(data.ranges[2].attribute_count == 0);
    cw_writer_free(&about);
}

Test(merge, two_devices_of_one_input_stay_two)
{
    struct cw_writer twins, described;
    struct cw_edit_chunk first, second;
    cw_writer_init(&twins);
    cw_writer_init(&described);
    cr_assert(cw_edit_find(sample.data, sample.size, 1, &first) && cw_edit_find(sample.data, sample.size, 4, &second));
    cw_write_bytes(&described, sample.data + second.offset + 24, 4); /* the second's number, the first's description */
    cw_write_bytes(&described, sample.data + first.offset + 24 + 4, first.size - 4);
    cw_edit_replace(&twins, &sample, 4, described.data, described.size);
    cr_assert(merge(&twins, &twins) == CW_OK);
    struct cw_counter_data data = read_result();
    cr_expect(data.device_count == 2);
    cr_expect(data.ranges[2].device == 1 && data.ranges[CW_SAMPLE_RANGES].device == 0);
    cr_expect(data.ranges[CW_SAMPLE_RANGES + 2].device == 1);
    cw_writer_free(&twins);
    cw_writer_free(&described);
}

/* The second launch of the sample is of device 3, which a capture that died early had not described. */
Test(merge, samples_clocks_and_launches_go_with_a_device_for_each_input)
{
    struct cw_writer pm;
    cw_writer_init(&pm);
    cw_sample_pm(&pm, 2, true);
    cr_assert(merge(&pm, &pm) == CW_OK, "%s", err.message);
    struct cw_counter_data data = read_result(), before;
    cr_assert(cw_counter_data_read(&before, pm.data, pm.size, "sample", arena, NULL) == CW_OK);
    const struct cw_pm_data *all = &data.pm, *one = &before.pm;
    cr_assert(data.device_count == 2 && before.device_count == 1);
    cr_expect(data.devices[0].index == 0 && data.devices[1].index == 1);
    cr_expect(data.complete && data.dropped == 2 * before.dropped && all->lost == 2 * one->lost);
    cr_assert(all->block_count == 2 * one->block_count && all->sample_count == 2 * one->sample_count);
    cr_assert(all->clock_count == 2 * one->clock_count && all->launch_count == 4 && one->launch_count == 2);
    for (uint32_t b = 0; b < all->block_count; b++)
        cr_expect(all->blocks[b].device == b / one->block_count, "block %u", b);
    for (uint32_t k = 0; k < all->clock_count; k++)
        cr_expect(all->clocks[k].device == k / one->clock_count, "clock %u", k);
    static const uint32_t devices[] = {0, 3, 1, 2};
    for (uint32_t l = 0; l < 4; l++) {
        cr_expect(all->launches[l].device == devices[l], "launch %u of device %u", l, all->launches[l].device);
        cr_expect_str_eq(all->names[all->launches[l].name], one->names[one->launches[l % 2].name]);
        cr_expect(all->launches[l].start_ns == one->launches[l % 2].start_ns, "launch %u", l);
    }
    for (uint32_t i = 0; i < all->sample_count; i++)
        cr_expect(all->start_ns[i] == one->start_ns[i % one->sample_count], "sample %u", i);
    cw_writer_free(&pm);
}

static void check_instructions(enum cw_profiler profiler)
{
    struct cw_writer capture;
    struct cw_pc_data data;
    cw_writer_init(&capture);
    cw_sample_pc_data(&capture, profiler, NULL, 0);
    cr_assert(merge(&capture, &capture) == CW_OK);
    cr_assert(cw_pc_data_read(&data, out.data, out.size, "merged", arena, NULL) == CW_OK);
    uint32_t count = data.pc_count + data.sass_count;
    cr_expect(data.module_count == 1); /* the same code, once */
    cr_assert(count == (profiler == CW_PROFILER_PC ? 4 : 2));
    for (uint32_t b = 0; b < count; b++) {
        uint32_t device = profiler == CW_PROFILER_PC ? data.pc[b].device : data.sass[b].device;
        cr_expect(device == (b < count / 2 ? 4294967295 : 0), "batch %u of device %u", b, device);
    }
    const struct cw_counter_data merged = read_result();
    cr_assert(merged.device_count == 2);
    for (uint32_t i = 0; i < 2 && profiler == CW_PROFILER_SASS; i++)
        cr_expect_str_eq(cw_device_attribute(&merged.devices[i], "launches_not_counted"), "3 of CUDA graphs");
    cw_writer_free(&capture);
}

Test(merge, pc_samples_go_with_a_device_for_each_input)
{
    check_instructions(CW_PROFILER_PC);
}

Test(merge, sass_metrics_go_with_a_device_for_each_input)
{
    check_instructions(CW_PROFILER_SASS);
}

/* Readers take such a file as well. */
Test(merge, what_was_not_counted_of_a_device_without_description_is_left_out)
{
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_SASS};
    struct cw_writer capture;
    cw_writer_init(&capture);
    cw_chunk_write_header(&capture, &cw_counter_data_kind);
    cw_schema_write(&schema, &capture);
    cw_uncounted_chunk_write(&(struct cw_uncounted){.device = 3, .example = "", .graphs = 1}, &capture);
    cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, &capture);
    cr_assert(merge(&capture, &capture) == CW_OK, "%s", err.message);
    cr_expect_eq(read_result().device_count, 0);
    cw_writer_free(&capture);
}

Test(merge, captures_of_another_profiler_are_refused)
{
    struct cw_writer pm;
    cw_writer_init(&pm);
    cw_sample_pm(&pm, 2, true);
    cr_expect(merge(&sample, &pm) == CW_ERR_USAGE);
    cr_expect(strcmp(err.message, "b: found PM samples, expected ranges as in a") == 0, "%s", err.message);
    cw_writer_free(&pm);
}

/* Processes may number one device differently: its address says that it is one. */
Test(merge, a_device_with_an_address_stays_one_whatever_its_number)
{
    struct cw_writer description[2], numbered[2];
    struct cw_edit_chunk first;
    cr_assert(cw_edit_find(sample.data, sample.size, 1, &first));
    size_t pairs = 4; /* behind the number: how many attributes */
    for (uint32_t k = 0; k < 2; k++) {
        cw_writer_init(&description[k]);
        cw_writer_init(&numbered[k]);
        cw_write_u32(&description[k], k ? 7 : 0);
        cw_write_u32(&description[k], 5);
        cw_write_string(&description[k], "pci");
        cw_write_string(&description[k], "0000:0a:00.0");
        cw_write_bytes(&description[k], sample.data + first.offset + 24 + pairs + 4, first.size - pairs - 4);
        cw_edit_replace(&numbered[k], &short_sample, 1, description[k].data, description[k].size);
    }
    /* of the other only the device: its ranges are of number 0 */
    cr_assert(cw_edit_find(numbered[1].data, numbered[1].size, 2, &first));
    numbered[1].size = first.offset;
    cr_assert(merge(&numbered[0], &numbered[1]) == CW_OK, "%s", err.message);
    struct cw_counter_data data = read_result();
    cr_expect(data.device_count == 2 && data.devices[0].index == 0);
    for (uint32_t k = 0; k < 2; k++) {
        cw_writer_free(&description[k]);
        cw_writer_free(&numbered[k]);
    }
}

Test(merge, samples_of_a_device_that_is_not_described_are_refused)
{
    struct cw_writer capture;
    struct cw_edit_chunk batch;
    cw_writer_init(&capture);
    cw_sample_pc_data(&capture, CW_PROFILER_PC, NULL, 0);
    cr_assert(cw_edit_find(capture.data, capture.size, 3, &batch));
    capture.data[batch.offset + 24] ^= 0x40;
    cw_edit_fix_checksums(capture.data, capture.size);
    cr_expect(merge(&capture, &capture) == CW_ERR_INPUT);
    cr_expect(strstr(err.message, "expected one with a DEVC chunk") != NULL, "%s", err.message);
    cw_writer_free(&capture);
}

/* What a capture that died said of a range that it did not write is not said of the next input's. */
Test(merge, attributes_without_a_range_are_left_out)
{
    struct cw_writer died = with_nvtx(&short_sample, CW_SAMPLE_DATA_CHUNKS - 1, "died here");
    cr_assert(merge(&died, &sample) == CW_OK);
    struct cw_counter_data data = read_result();
    cr_assert(data.range_count == 2 * CW_SAMPLE_RANGES);
    for (uint32_t i = 0; i < data.range_count; i++)
        cr_expect(data.ranges[i].attribute_count == 0, "range %u", i);
    cw_writer_free(&died);
}

Test(merge, empty_attributes_are_damaged)
{
    struct cw_writer edited;
    cw_writer_init(&edited);
    cw_edit_insert(&edited, &sample, 4, "RATT", 1, NULL, 0);
    cr_expect_eq(merge(&sample, &edited), CW_ERR_INPUT);
    cr_expect(strstr(err.message, "found 0 bytes, expected 4 more"), "%s", err.message);
    cw_writer_free(&edited);
}

/* Nobody has read them. */
Test(merge, samples_in_a_capture_of_another_profiler_are_left_out)
{
    static const char *const types[] = {"PCSM", "SASS"};
    for (int i = 0; i < 2; i++) {
        struct cw_writer edited;
        cw_writer_init(&edited);
        out.size = 0;
        cw_edit_insert(&edited, &sample, 4, types[i], 1, "xx", 2);
        cr_assert(merge(&edited, &edited) == CW_OK, "%s", err.message);
        cr_expect_null(memmem(out.data, out.size, types[i], 4));
        cr_expect_eq(read_result().range_count, 2 * CW_SAMPLE_RANGES);
        cw_writer_free(&edited);
    }
}

Test(merge, an_input_with_a_damaged_schema_is_refused)
{
    struct cw_writer damaged;
    cw_writer_init(&damaged);
    cw_write_bytes(&damaged, sample.data, sample.size);
    damaged.data[60] ^= 1;
    cr_expect(merge(&sample, &damaged) == CW_ERR_INPUT);
    cw_writer_free(&damaged);
}

static void expect_failing_allocations(const struct cw_writer *a, const struct cw_writer *b)
{
    bool failed = true;
    for (long n = 0; n < 5000 && failed; n++) { /* under sanitizers each block of an arena is one */
        cw_writer_free(&out);
        cw_writer_init(&out);
        cw_alloc_fail_after(n);
        enum cw_status status = merge(a, b);
        failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cr_expect(status == (failed ? CW_ERR_NOMEM : CW_OK), "allocation %ld", n);
    }
    cr_expect(!failed);
}

Test(merge, every_failing_allocation_is_reported)
{
    expect_failing_allocations(&sample, &sample);
}

/* One process on a device, which it calls 0, with one kernel of this start. */
static void write_process(struct cw_writer *to, uint32_t pid, uint64_t start, uint32_t device)
{
    static const char *const texts[] = {"gemm"};
    const struct cw_trace_device devices[] = {{0, device}};
    const struct cw_trace_process process = {.pid = pid, .device_count = 1, .devices = devices};
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX], one = 1;
    for (uint32_t f = 0; f < cw_trace_kinds[CW_TRACE_KERNEL].field_count; f++)
        columns[f] = cw_trace_kinds[CW_TRACE_KERNEL].fields[f] == CW_FIELD_START ? &start : &one;
    cw_trace_write_process(0, &process, to);
    cw_trace_write_texts(0, 1, texts, 1, to);
    cw_trace_write_rows(0, CW_TRACE_KERNEL, 1, columns, false, to);
}

/* A trace of a process on the device 4; `lists` of kinds. */
static void write_trace(struct cw_writer *to, uint32_t pid, uint64_t start, int lists)
{
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_TRACE};
    const struct cw_device device = {.index = 4};
    cw_writer_init(to);
    cw_schema_write_header(&schema, to);
    cw_schema_write(&schema, to);
    for (int i = 0; i < lists; i++)
        cw_trace_write_kinds(to);
    cw_counter_data_write_device(&schema, &device, to);
    write_process(to, pid, start, 4);
    cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, to);
}

Test(merge, processes_of_traces_stay_apart)
{
    struct cw_writer first, second;
    struct cw_trace trace;
    struct cw_trace_buffer buffer = {0};
    write_trace(&first, 70, 1000, 1);
    write_trace(&second, 71, 2000, 2); /* another list of kinds, whose numbers go on */
    cr_assert(merge(&first, &second) == CW_OK, "%s", err.message);
    struct cw_counter_data data = read_result();
    cr_expect(data.complete && data.device_count == 1 && data.devices[0].index == 4);
    cr_assert(cw_trace_read(&trace, data.devices, data.device_count, out.data, out.size, "merged", arena, &err) ==
                  CW_OK,
              "%s", err.message);
    cr_assert(trace.process_count == 2 && trace.block_count == 2 && trace.kind_count == CW_TRACE_KIND__COUNT);
    for (uint32_t i = 0; i < 2; i++) {
        struct cw_trace_rows rows;
        cr_assert(cw_trace_read_rows(&rows, &trace, i, &buffer, &err) == CW_OK);
        cr_expect(rows.process == i && trace.processes[i].pid == 70 + i);
        cr_expect(trace.kinds[rows.kind].kind == CW_TRACE_KERNEL);
        cr_expect(cw_trace_get(&rows, CW_FIELD_START, 0) == 1000 * (i + 1));
        cr_expect(strcmp(cw_trace_text(&trace, i, 1), "gemm") == 0);
        cr_expect(cw_trace_device(&trace, i, 0) == 0);
    }
    cw_trace_buffer_free(&buffer);
    cw_writer_free(&first);
    cw_writer_free(&second);
}

Test(merge, rows_beside_samples_stay_with_them)
{
    struct cw_writer pm;
    struct cw_trace trace;
    cw_writer_init(&pm);
    cw_sample_pm(&pm, 2, false);
    cw_trace_write_kinds(&pm);
    write_process(&pm, 70, 1000, 0);
    cw_counter_data_write_end(0, 4, CW_END_EXITED, 0, &pm);
    cr_assert(merge(&pm, &pm) == CW_OK, "%s", err.message);
    const struct cw_counter_data data = read_result();
    cr_expect(data.complete && data.pm.sample_count == 8 && data.device_count == 2);
    cr_assert(cw_trace_read(&trace, data.devices, data.device_count, out.data, out.size, "merged", arena, &err) ==
                  CW_OK,
              "%s", err.message);
    cr_assert(trace.process_count == 2 && trace.block_count == 2);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect(trace.processes[i].pid == 70 && cw_trace_device(&trace, i, 0) == i);
        cr_expect_str_eq(cw_trace_text(&trace, i, 1), "gemm");
    }
    cw_writer_free(&pm);
}

/* The lists of the file before are gone by then. */
Test(merge, rows_beside_samples_are_read_before_they_are_taken)
{
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX], one = 1;
    for (int rows = 0; rows < 2; rows++) {
        struct cw_writer pm;
        cw_writer_init(&pm);
        cw_sample_pm(&pm, 2, false);
        cw_trace_write_kinds(&pm);
        for (uint32_t f = 0; f < cw_trace_kinds[CW_TRACE_KERNEL].field_count; f++)
            columns[f] = &one;
        if (rows)
            cw_trace_write_rows(0, CW_TRACE_KERNEL, 1, columns, false, &pm);
        cw_counter_data_write_end(0, 4, CW_END_EXITED, 0, &pm);
        cr_expect_eq(merge(&pm, &pm), rows ? CW_ERR_INPUT : CW_OK);
        cr_expect(!rows || strstr(err.message, "found rows of process 0, expected one of 0 before"), "%s", err.message);
        cw_writer_free(&pm);
    }
}

Test(merge, failing_allocations_of_traces_are_reported)
{
    struct cw_writer first, second;
    write_trace(&first, 70, 1000, 1);
    write_trace(&second, 71, 2000, 2);
    expect_failing_allocations(&first, &second);
    cw_writer_free(&first);
    cw_writer_free(&second);
}

/* Says what differs: of ranges and samples the plan, of instructions the metrics; whether one has further passes. */
Test(merge, what_differs_is_told)
{
    static const enum cw_profiler profilers[] = {CW_PROFILER_RANGE, CW_PROFILER_PM, CW_PROFILER_PC, CW_PROFILER_SASS};
    for (size_t i = 0; i < sizeof profilers / sizeof *profilers; i++) {
        struct cw_schema schema = {.chip = "X", .producer = "test", .profiler = profilers[i]};
        struct cw_writer files[2];
        for (int k = 0; k < 2; k++) {
            schema.chip = k ? "Y" : "X";
            cw_writer_init(&files[k]);
            cw_schema_write_header(&schema, &files[k]);
            cw_schema_write(&schema, &files[k]);
        }
        err = (struct cw_error)CW_ERROR_INIT;
        cr_expect(merge(&files[0], &files[1]) == CW_ERR_USAGE);
        cr_expect_str_eq(err.message,
                         i < 2 ? "b: found a capture of another plan than a, expected the same: its chip is Y, not X"
                               : "b: found a capture of other metrics than a, expected the same: its chip is Y, not X");
        cw_writer_free(&files[0]);
        cw_writer_free(&files[1]);
    }
    struct cw_writer repeats;
    cw_writer_init(&repeats);
    cw_sample_repeats(&repeats);
    for (int first = 0; first < 2; first++) {
        err = (struct cw_error)CW_ERROR_INIT;
        cr_expect(merge(first ? &repeats : &sample, first ? &sample : &repeats) == CW_ERR_USAGE);
        cr_expect(strstr(err.message, "its counters lie in other passes"), "%s", err.message);
    }
    cw_writer_free(&repeats);
}

/* ---- devices of chunks ------------------------------------------------------------------------------------------ */

Test(merge, windows_and_clocks_go_with_a_device_for_each_input)
{
    static const struct cw_gpu_clock readings[] = {{1000, 1980, 2619, 0}, {2000, 1200, 2619, 4}};
    const struct cw_pm_window windows[] = {{0, 1000, 4000}, {0, 6000, 7000}};
    struct cw_writer pm;
    cw_writer_init(&pm);
    cw_sample_pm(&pm, 2, false);
    for (int i = 0; i < 2; i++)
        cw_pm_write_window(&windows[i], &pm);
    cw_gpu_clocks_write(&(struct cw_gpu_clocks){0, 2, readings}, &pm);
    cw_counter_data_write_end(0, 4, CW_END_EXITED, 0, &pm);
    cr_assert(merge(&pm, &pm) == CW_OK, "%s", err.message);
    const struct cw_counter_data data = read_result();
    cr_assert(data.pm.window_count == 4 && data.clocks_count == 2 && data.device_count == 2);
    for (uint32_t i = 0; i < 4; i++) {
        const struct cw_pm_window *w = &data.pm.windows[i], *first = &data.pm.windows[i % 2];
        cr_expect(w->device == i / 2 && w->start_ns == first->start_ns && w->end_ns == first->end_ns, "%u", i);
    }
    for (uint32_t i = 0; i < 2; i++)
        cr_expect(data.clocks[i].device == i && data.clocks[i].count == 2 && data.clocks[i].readings[1].limits == 4);
    cw_writer_free(&pm);
}

/* A trace of a process on the devices 4, 5 and 4 again, which are named so. */
static void write_pair(struct cw_writer *to, const char *first, const char *second, const struct cw_pair *of_process,
                       uint32_t pairs)
{
    static const struct cw_trace_device own[] = {{0, 4}, {1, 5}, {2, 4}};
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = CW_PROFILER_TRACE};
    const struct cw_pair names[] = {{"name", first}, {"name", second}};
    const struct cw_trace_process process = {
        .pid = 70, .attribute_count = pairs, .attributes = of_process, .device_count = 3, .devices = own};
    cw_writer_init(to);
    cw_schema_write_header(&schema, to);
    cw_schema_write(&schema, to);
    cw_trace_write_kinds(to);
    for (uint32_t i = 0; i < 2; i++)
        cw_counter_data_write_device(
            &schema, &(struct cw_device){.index = 4 + i, .attribute_count = 1, .attributes = &names[i]}, to);
    cw_trace_write_process(0, &process, to);
    cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, to);
}

Test(merge, devices_of_a_process_are_its_own)
{
    static const struct cw_pair pairs[] = {{"program", "train"}, {"host", "node"}};
    static const char *const wanted[][3] = {{"a", "b", "a"}, {"c", "d", "c"}};
    struct cw_writer first, second;
    struct cw_trace trace;
    write_pair(&first, "a", "b", pairs, 2);
    write_pair(&second, "c", "d", pairs, 2);
    cr_assert(merge(&first, &second) == CW_OK, "%s", err.message);
    const struct cw_counter_data data = read_result();
    cr_assert(cw_trace_read(&trace, data.devices, data.device_count, out.data, out.size, "m", arena, &err) == CW_OK);
    cr_assert(data.device_count == 4 && trace.process_count == 2);
    for (uint32_t p = 0; p < 2; p++) {
        cr_expect_str_eq(cw_trace_attribute(&trace.processes[p], "host"), "node");
        for (uint32_t d = 0; d < 3; d++) {
            const uint32_t device = cw_trace_device(&trace, p, d);
            cr_expect_str_eq(cw_device_attribute(&data.devices[device], "name"), wanted[p][d], "%u %u", p, d);
        }
    }
    cw_writer_free(&first);
    cw_writer_free(&second);
}

/* ---- what a merge tells ----------------------------------------------------------------------------------------- */

static struct cw_job_ranks job;
static struct cw_rank_origins origins;

/* Expects rank 1 of 4 in two inputs, and says what they lack. */
static void expect_ranks(const struct cw_writer *a, const struct cw_writer *b, bool wanted)
{
    const struct cw_merge_input inputs[] = {{"a", a->data, a->size}, {"b", b->data, b->size}};
    struct cw_rank_twice twice;
    char text[CW_JOB_RANKS_TEXT];
    size_t at = 0;
    struct cw_merge_incomplete incomplete = {7, 7};
    uint32_t ends[2] = {0};
    origins.arena = arena;
    const struct cw_merge_files how = {.incomplete = &incomplete, .job = &job, .origins = &origins, .ends = ends};
    cr_assert(cw_merge_memory(&out, inputs, 2, how, &err) == CW_OK, "%s", err.message);
    cr_expect(ends[0] && ends[1] == 2 * ends[0], "%u, %u", ends[0], ends[1]);
    cr_expect(incomplete.count == wanted && incomplete.first == wanted); /* the second one is cut */
    cr_expect(cw_job_ranks_sort(&job) == 1);
    cr_expect_str_eq(cw_job_ranks_text(&job, text), "ranks 0 and 2-3 of 4 are missing");
    cr_assert(cw_rank_origins_next(&origins, &at, &twice) && twice.rank == 1 && twice.count == 2);
    cr_expect(strcmp(twice.files[0], "a") == 0 && strcmp(twice.files[1], "b") == 0);
    cr_expect(!cw_rank_origins_next(&origins, &at, &twice));
    cw_job_ranks_free(&job);
    origins = (struct cw_rank_origins){0};
}

/* A capture of one launch, by this process of rank 1. */
static struct cw_writer of_rank(uint32_t process, bool complete)
{
    static const struct cw_pair rank[] = {{"rank", "1"}, {"ranks", "4"}};
    static const struct cw_schema schema = {.chip = "X", .producer = "test"};
    const struct cw_range range = {
        .name = "a", .kernel = "a", .process = process, .attribute_count = 2, .attributes = rank};
    struct cw_writer to;
    cw_writer_init(&to);
    cw_schema_write_header(&schema, &to);
    cw_schema_write(&schema, &to);
    cw_counter_data_write_device(&schema, &(struct cw_device){0}, &to);
    cw_counter_data_write_range(&schema, &range, NULL, &to);
    if (complete)
        cw_counter_data_write_end(1, 0, CW_END_EXITED, 0, &to);
    return to;
}

Test(merge, ranks_of_launches_are_told)
{
    for (int complete = 0; complete < 2; complete++) {
        struct cw_writer first = of_rank(7, true), second = of_rank(8, complete);
        expect_ranks(&first, &second, !complete);
        cw_writer_free(&first);
        cw_writer_free(&second);
    }
}

Test(merge, ranks_of_processes_are_told)
{
    static const struct cw_pair pairs[][3] = {{{"rank", "1"}, {"ranks", "4"}, {"host", "x"}},
                                              {{"rank", "1"}, {"ranks", "4"}, {"host", "y"}}};
    struct cw_writer first, second;
    write_pair(&first, "a", "b", pairs[0], 3);
    write_pair(&second, "a", "b", pairs[1], 3);
    expect_ranks(&first, &second, false);
    cw_writer_free(&first);
    cw_writer_free(&second);
}

Test(merge, nothing_is_refused)
{
    cr_expect(cw_merge_dense(&out, NULL, 0, &err) == CW_ERR_USAGE);
    cr_expect_str_eq(err.message, "found no capture to merge, expected one at least");
}

/* The end of the first that did not end well; drops add up. */
Test(merge, the_end_is_that_of_the_first_that_did_not_end_well)
{
    struct end {
        enum cw_capture_end how;
        uint32_t code;
    };
    static const struct end well = {CW_END_EXITED, 0}, status = {CW_END_EXITED, 3}, killed = {CW_END_SIGNALLED, 9},
                            unknown = {CW_END_SIGNALLED, 0}, none = {CW_END_NO_PROGRAM, 0};
    const struct {
        struct end ends[3], wanted;
    } cases[] = {
        {{well, well, well}, well},         {{none, none, none}, none},       {{none, none, well}, well},
        {{well, status, killed}, status},   {{well, killed, status}, killed}, {{none, none, killed}, killed},
        {{unknown, status, well}, unknown}, {{well, well, status}, status},
    };
    static const struct cw_schema schema = {.chip = "X", .producer = "test"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct cw_writer files[3];
        struct cw_merge_input inputs[3];
        for (uint32_t i = 0; i < 3; i++) {
            cw_writer_init(&files[i]);
            cw_schema_write_header(&schema, &files[i]);
            cw_schema_write(&schema, &files[i]);
            cw_counter_data_write_end(0, 10 + i, cases[c].ends[i].how, cases[c].ends[i].code, &files[i]);
            inputs[i] = (struct cw_merge_input){"x", files[i].data, files[i].size};
        }
        out.size = 0;
        cr_assert(cw_merge_dense(&out, inputs, 3, &err) == CW_OK, "%s", err.message);
        const struct cw_counter_data data = read_result();
        cr_expect(data.how == cases[c].wanted.how && data.code == cases[c].wanted.code && data.dropped == 33,
                  "case %zu: %d %u", c, data.how, data.code);
        for (int i = 0; i < 3; i++)
            cw_writer_free(&files[i]);
    }
}

/* ---- files that fail -------------------------------------------------------------------------------------------- */

struct failing {
    char path[2][32];
    long left; /* openings until one fails, or gives a file that is cut */
    bool opens;
    int open;
};

static enum cw_status open_failing(void *user, size_t i, struct cw_input *input, struct cw_error *why)
{
    struct failing *f = user;
    if (!f->left && !f->opens)
        return cw_error_set(why, CW_ERR_IO, "no such file");
    cr_assert(cw_input_open(input, f->path[i], SIZE_MAX, why) == CW_OK);
    if (!f->left--)
        cr_assert(truncate(f->path[i], 100) == 0);
    f->open++;
    return CW_OK;
}

static void close_failing(void *user, struct cw_input *input)
{
    ((struct failing *)user)->open--;
    cw_input_close(input);
}

static enum cw_status put_nowhere(void *user, const void *data, size_t size, struct cw_error *why)
{
    (void)user, (void)data, (void)size, (void)why;
    return CW_OK;
}

/* Two captures, each opened twice, and the first once more to say how the second differs. */
Test(merge, files_that_cannot_be_read_are_told)
{
    struct cw_writer other, schema;
    struct cw_edit_chunk first;
    cw_writer_init(&other);
    cw_writer_init(&schema);
    cr_assert(cw_edit_find(sample.data, sample.size, 0, &first));
    cw_write_bytes(&schema, sample.data + first.offset + 24, first.size);
    schema.data[schema.size - 1] ^= 1; /* of a metric's name */
    cw_edit_replace(&other, &sample, 0, schema.data, schema.size);
    for (int opens = 0; opens < 2; opens++)
        for (long n = 0; n <= 5; n++) {
            struct failing failing = {{"/tmp/cw_merge_XXXXXX", "/tmp/cw_merge_XXXXXX"}, n, opens, 0};
            const struct cw_merge_files files = {
                .count = 2, .open = open_failing, .close = close_failing, .put = put_nowhere, .user = &failing};
            for (int i = 0; i < 2; i++) {
                const struct cw_writer *of = i ? &other : &sample;
                const int fd = mkstemp(failing.path[i]);
                cr_assert(fd >= 0 && write(fd, of->data, of->size) == (ssize_t)of->size && close(fd) == 0);
            }
            err = (struct cw_error)CW_ERROR_INIT;
            const enum cw_status status = cw_counter_data_merge_files(&files, &err);
            cr_expect(status == (n < 5 ? CW_ERR_IO : CW_ERR_USAGE), "opening %ld: %d %s", n, status, err.message);
            cr_expect(strstr(err.message, n == 5  ? "expected the same"
                                          : opens ? "found 100 bytes, expected the "
                                                  : "no such file"),
                      "opening %ld: %s", n, err.message);
            cr_expect(failing.open == 0);
            for (int i = 0; i < 2; i++)
                unlink(failing.path[i]);
        }
    cw_writer_free(&other);
    cw_writer_free(&schema);
}
