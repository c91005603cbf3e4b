/* What every writer makes of a capture of any kind.
 *
 * An input is a byte that chooses the writer, one that chooses its rows, and a capture; behind the end of that may
 * stand a second one, of the same program, with which it is joined, and beside which it stands on the page. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/file.h"
#include "eval/advice/advice.h"
#include "eval/compare/compare.h"
#include "eval/output/chrome.h"
#include "eval/output/joined.h"
#include "eval/output/output.h"
#include "eval/output/perfetto.h"
#include "eval/output/pm_lanes.h"
#include "eval/output/pm_range_table.h"
#include "eval/output/prometheus.h"
#include "eval/output/stacks.h"
#include "eval/output/timeline_output.h"
#include "eval/ranges/spread.h"
#include "image/chunk.h"
#include "image/data_chunks.h"
#include "metricdb/rules.h"
#include "report/report.h"
#include "tests/fuzz/chunk_mutate.h"
#include "tests/fuzz/no_child.h"
#include "tests/fuzz/small.h"
#include "tests/support/chunk_edit.h"

enum writer { HDF5, CSV, JSON, TIDY, NDJSON, PRINT, PAGE, LANES, PROMETHEUS, STACKS, WRITERS };
static const char *const writer_names[WRITERS] = {"HDF5",  "CSV",  "JSON",  "tidy CSV",   "NDJSON",
                                                  "print", "page", "lanes", "Prometheus", "stacks"};
enum { CHOICE_SIZE = 2, MOST_METRICS = 12, STEP = 83, MOST_EVENTS = 10000 };

static const struct cw_chip *chip;
static const struct cw_rules *rules;
static struct cw_metric metrics[MOST_METRICS];
static size_t metric_count;
static struct cw_arena *of_rules; /* kept, so that it is not taken for a leak */
static FILE *nowhere;
static char hdf5_file[] = "/dev/shm/fuzz_writers.XXXXXX", hdf5_elsewhere[] = "/tmp/fuzz_writers.XXXXXX";
static char *hdf5_path; /* HDF5 writes to what has a name: in memory where the system has such a folder */
static int hdf5_descriptor;
static uint64_t written[WRITERS], inputs;

static void end(void)
{
    unlink(hdf5_path);
    fprintf(stderr, "of %llu inputs", (unsigned long long)inputs);
    for (int w = 0; w < WRITERS; w++)
        fprintf(stderr, " %s %llu%s", writer_names[w], (unsigned long long)written[w], w + 1 < WRITERS ? "," : "\n");
}

static void set_up(void)
{
    struct cw_error err = CW_ERROR_INIT;
    of_rules = cw_arena_create();
    nowhere = fopen("/dev/null", "w");
    hdf5_path = hdf5_file;
    hdf5_descriptor = mkstemp(hdf5_path);
    if (hdf5_descriptor < 0)
        hdf5_descriptor = mkstemp(hdf5_path = hdf5_elsewhere);
    CW_FUZZ_CHECK(of_rules && nowhere && hdf5_descriptor >= 0);
    chip = cw_fuzz_small_chip();
    CW_FUZZ_CHECK(cw_rules_load(&rules, chip, NULL, NULL, of_rules, &err) == CW_OK);
    uint32_t n = 0;
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++)
            for (uint32_t v = 0; v < cw_metric_variants((enum cw_metric_type)t); v++)
                if (n++ % STEP == 0 && metric_count < MOST_METRICS)
                    metrics[metric_count++] = cw_metric_variant((enum cw_metric_type)t, i, v);
    atexit(end);
}

/* ---- captures --------------------------------------------------------------------------------------------------- */

struct capture {
    struct cw_counter_data data;
    struct cw_trace trace;
    struct cw_timeline timeline; /* of a trace, and of samples that have one */
    struct cw_pc_data raw;
    struct cw_instructions instructions;
    struct cw_result result;
    bool has_timeline;
};

static const struct cw_eval_options options = {1e6, 1e6};

static enum cw_status read_capture(struct capture *c, const uint8_t *bytes, size_t size, struct cw_arena *arena,
                                   struct cw_error *err)
{
    *c = (struct capture){0};
    enum cw_status status = cw_counter_data_read(&c->data, bytes, size, "fuzz", arena, err);
    if (status != CW_OK)
        return status;
    const enum cw_profiler profiler = c->data.schema.profiler;
    if (profiler == CW_PROFILER_PC || profiler == CW_PROFILER_SASS) {
        status = cw_pc_data_read(&c->raw, bytes, size, "fuzz", arena, err);
        return status == CW_OK ? cw_instructions_make(&c->instructions, &c->data, &c->raw, "fuzz", NULL, arena, err)
                               : status;
    }
    if (profiler != CW_PROFILER_TRACE) {
        c->result = (struct cw_result){.chip = chip,
                                       .data = &c->data,
                                       .source = "fuzz",
                                       .metrics = metrics,
                                       .metric_count = (uint32_t)metric_count,
                                       .streamed = profiler == CW_PROFILER_PM};
        CW_FUZZ_CHECK(cw_result_make(&c->result, &options, arena, err) == CW_OK);
    }
    if (profiler == CW_PROFILER_RANGE)
        return CW_OK;
    status = cw_trace_read(&c->trace, c->data.devices, c->data.device_count, bytes, size, "fuzz", arena, err);
    if (status == CW_OK) {
        c->has_timeline = true;
        status = cw_timeline_load(&c->timeline, &c->trace, &c->data, size, arena, err);
    }
    return status;
}

/* ---- writers ---------------------------------------------------------------------------------------------------- */

struct job {
    bool all;
    enum writer writer;
    unsigned view;
    struct capture *a, *b; /* b: NULL where there is one capture */
    struct cw_arena *arena;
};

static bool wants(const struct job *j, enum writer writer)
{
    const bool wanted = j->all || j->writer == writer;
    written[writer] += wanted;
    return wanted;
}

/* A row may turn out to be damaged while it is written. */
static bool is_written(enum cw_status status, const struct cw_error *err)
{
    const bool good = status == CW_OK || (status == CW_ERR_INPUT && err->code == status);
    if (!good)
        fprintf(stderr, "%s\n", err->message);
    return good;
}

static void put_json(cw_file_render *render, const void *what)
{
    struct cw_error err = CW_ERROR_INIT;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CW_FUZZ_CHECK(out);
    const enum cw_status status = render(out, what, &err);
    CW_FUZZ_CHECK(is_written(status, &err) && fclose(out) == 0);
    json_error_t wrong = {0}; /* numbers may be greater than this reader's integers */
    json_t *tree = status == CW_OK ? json_loadb(text, size, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &wrong) : NULL;
    if (status == CW_OK && !tree)
        fprintf(stderr, "%s\n", wrong.text);
    CW_FUZZ_CHECK(status != CW_OK || tree);
    json_decref(tree);
    free(text);
}

static void put(const struct job *j, const struct cw_output *output)
{
    static const struct cw_terminal_style style = {.width = 80, .bold = true, .top = 5};
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_new_file file = {
        .path = hdf5_path, .target = hdf5_path, .temporary = hdf5_path, .fd = hdf5_descriptor};
    if (wants(j, HDF5))
        CW_FUZZ_CHECK(is_written(cw_hdf5_make(output, &file, &err), &err));
    if (wants(j, CSV))
        CW_FUZZ_CHECK(is_written(cw_csv_write(nowhere, output, &err), &err));
    if (wants(j, JSON))
        put_json(cw_json_write, output);
    if (wants(j, TIDY))
        CW_FUZZ_CHECK(is_written(cw_csv_write_tidy(nowhere, output, &err), &err));
    if (wants(j, NDJSON))
        CW_FUZZ_CHECK(is_written(cw_ndjson_write(nowhere, output, &err), &err));
    if (output->print && wants(j, PRINT))
        CW_FUZZ_CHECK(is_written(output->print(output, &style, nowhere, &err), &err));
}

static void put_stacks(const struct cw_stacks_output *stacks)
{
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(cw_folded_write(nowhere, stacks, &err) == CW_OK);
    put_json(cw_speedscope_write, stacks);
}

/* Whose values all writers but those of tables need at once. */
static void evaluate_all(struct capture *c, struct cw_arena *arena)
{
    struct cw_error err = CW_ERROR_INIT;
    c->result.streamed = false;
    CW_FUZZ_CHECK(cw_result_make(&c->result, &options, arena, &err) == CW_OK);
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

static void put_groups(const struct job *j, enum cw_group_by by)
{
    static const struct cw_sections none = {0};
    const struct cw_counter_data *data = &j->a->data;
    struct cw_groups groups;
    struct cw_output output;
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(cw_groups_make(&groups, by, data, chip, NULL, j->arena, &err) == CW_OK);
    struct cw_result result = {chip, &groups.data, "fuzz", metrics, (uint32_t)metric_count};
    uint32_t *order = cw_arena_alloc(j->arena, groups.count, sizeof *order);
    uint32_t *numbers = cw_arena_alloc(j->arena, groups.count, sizeof *numbers);
    CW_FUZZ_CHECK(order && numbers && cw_result_make(&result, &options, j->arena, &err) == CW_OK);
    for (uint32_t i = 0; i < groups.count; i++) {
        order[i] = i;
        numbers[i] = groups.items[i].ranges[0];
    }
    if (groups.folds.kinds)
        CW_FUZZ_CHECK(cw_spread_find(&result, &groups, data, j->arena, &err) == CW_OK);
    const struct cw_output_rows rows = {.data = data,
                                        .groups = &groups,
                                        .rows = order,
                                        .count = groups.count,
                                        .result = &result,
                                        .sections = &none,
                                        .words = "fuzz",
                                        .wide = j->view & 64};
    if (by == CW_BY_FOLD || by == CW_BY_RANGE) {
        result.numbers = numbers;
        CW_FUZZ_CHECK(cw_output_ranges(&output, &result, NULL, j->arena, &err) == CW_OK);
        output.data = data;
    } else {
        CW_FUZZ_CHECK(cw_output_groups(&output, &rows, NULL, j->arena, &err) == CW_OK);
    }
    put(j, &output);
    if (by == CW_BY_RANGE && wants(j, STACKS))
        put_stacks(&(struct cw_stacks_output){.source = "fuzz", .ranges = &groups});
}

static void put_ranges(const struct job *j)
{
    struct cw_output output;
    struct cw_error err = CW_ERROR_INIT;
    const unsigned by = j->view % (CW_BY__COUNT + 1);
    if (by < CW_BY__COUNT) {
        put_groups(j, (enum cw_group_by)by);
    } else {
        CW_FUZZ_CHECK(cw_output_ranges(&output, &j->a->result, NULL, j->arena, &err) == CW_OK);
        put(j, &output);
    }
    if (wants(j, PROMETHEUS)) {
        struct cw_side side;
        CW_FUZZ_CHECK(cw_side_make(&side, &j->a->result, CW_BY_KERNEL, &options, j->arena, &err) == CW_OK);
        const enum cw_status status = cw_prometheus_write(nowhere, &side, &err);
        CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_USAGE); /* two names that it spells alike */
    }
}

/* ---- traces ----------------------------------------------------------------------------------------------------- */

static enum cw_status write_lanes(const struct job *j, const struct cw_lane_format *format, void *state,
                                  struct cw_error *err)
{
    uint64_t crowded;
    return j->a->data.schema.profiler == CW_PROFILER_PM
               ? cw_pm_write_lanes(&j->a->result, &j->a->timeline, format, state, &crowded, j->arena, err)
               : cw_timeline_write_lanes(&j->a->timeline, NULL, NULL, format, state, &crowded, j->arena, err);
}

static bool are_lanes(enum cw_status status)
{
    return status == CW_OK || status == CW_ERR_UNSUPPORTED || status == CW_ERR_INPUT;
}

static void put_perfetto(const struct job *j)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_perfetto *perfetto = cw_perfetto_create(nowhere);
    CW_FUZZ_CHECK(perfetto);
    const enum cw_status status = write_lanes(j, &cw_perfetto_format, perfetto, &err);
    CW_FUZZ_CHECK(are_lanes(status) && (status != CW_OK || cw_perfetto_is_whole(perfetto)));
    cw_perfetto_free(perfetto);
}

static enum cw_status render_chrome(FILE *out, const void *job, struct cw_error *err)
{
    struct cw_chrome *chrome = cw_chrome_create(out, &((const struct job *)job)->a->timeline);
    CW_FUZZ_CHECK(chrome);
    enum cw_status status = write_lanes(job, &cw_chrome_format, chrome, err);
    CW_FUZZ_CHECK(are_lanes(status));
    if (status == CW_OK)
        CW_FUZZ_CHECK(cw_chrome_finish(chrome) == CW_OK);
    else
        status = cw_error_set(err, CW_ERR_INPUT, "no lanes"); /* which is no JSON */
    err->code = status;
    cw_chrome_free(chrome);
    return status;
}

static void put_lanes(const struct job *j)
{
    const struct cw_timeline *t = &j->a->timeline;
    if (!wants(j, LANES))
        return;
    put_perfetto(j);
    if ((uint64_t)t->gpu_count + t->call_count + t->wait_count + t->range_count + t->mark_count <= MOST_EVENTS)
        put_json(render_chrome, j);
}

static void put_trace(const struct job *j)
{
    static const struct cw_terminal_style style = {.width = 80, .bold = true};
    const struct cw_timeline *t = &j->a->timeline;
    const unsigned by = j->view % (CW_TIMELINE_BY__COUNT + 2);
    const uint64_t kinds =
        j->all ? UINT64_MAX : UINT64_C(0x1111111111111111) << (j->view >> 4) % 4; /* some at a time */
    struct cw_timeline_tables *tables = NULL;
    struct cw_timeline_rows rows;
    struct cw_timeline_sections sections;
    struct cw_output output = {.data = t->data, .source = "fuzz"};
    struct cw_error err = CW_ERROR_INIT;
    CW_FUZZ_CHECK(cw_timeline_rows_make(&rows, t, by < CW_TIMELINE_BY__COUNT ? by : 0, NULL, true, 0, j->arena, &err) ==
                  CW_OK);
    if (by < CW_TIMELINE_BY__COUNT)
        CW_FUZZ_CHECK(cw_timeline_rows_table(&output, &rows, j->arena, &err) == CW_OK);
    else
        CW_FUZZ_CHECK(is_written(cw_timeline_tables_make(&tables, &output, t, NULL, kinds, j->arena, &err), &err));
    if (err.code == CW_OK)
        put(j, &output);
    cw_timeline_tables_free(tables);
    put_lanes(j);
    err = (struct cw_error)CW_ERROR_INIT;
    if (wants(j, PRINT) && cw_timeline_sections_make(&sections, t, NULL, 0, j->arena, &err) == CW_OK) {
        const struct cw_timeline_output people = {
            .t = t, .source = "fuzz", .words = "fuzz", .list = &rows, .sections = &sections, .wide = j->view & 64};
        cw_timeline_print(&people, &style, nowhere);
    }
    CW_FUZZ_CHECK(err.code == CW_OK || err.code == CW_ERR_INPUT);
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

static void put_samples(const struct job *j)
{
    struct cw_pm_ranges ranges;
    struct cw_output output;
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = CW_OK;
    if (j->view % 2) {
        evaluate_all(j->a, j->arena);
        status = cw_pm_ranges_make(&ranges, &j->a->result, &j->a->timeline, j->arena, &err);
        CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_USAGE);
    }
    if (status == CW_OK) {
        CW_FUZZ_CHECK((j->view % 2
                           ? cw_output_pm_ranges(&output, &j->a->result, &ranges, ranges.count, NULL, j->arena, &err)
                           : cw_output_samples(&output, &j->a->result, NULL, j->arena, &err)) == CW_OK);
        put(j, &output);
    }
    evaluate_all(j->a, j->arena);
    put_lanes(j);
}

static void put_instructions(const struct job *j)
{
    struct cw_output output;
    cw_output_instructions(&output, &j->a->instructions);
    put(j, &output);
    if (j->a->data.schema.profiler == CW_PROFILER_PC && wants(j, STACKS))
        put_stacks(&(struct cw_stacks_output){.source = "fuzz", .samples = &j->a->instructions});
}

/* ---- two captures ----------------------------------------------------------------------------------------------- */

/* A trace with ranges. */
static void put_joined(const struct job *j, struct capture *trace, struct capture *ranges)
{
    static const struct cw_sections none = {0};
    static const enum cw_group_by ways[] = {CW_BY_KERNEL, CW_BY_FAMILY, CW_BY_NVTX,
                                            CW_BY_DEVICE, CW_BY_RANK,   CW_BY_STREAM};
    struct cw_error err = CW_ERROR_INIT;
    struct cw_joined joined;
    struct cw_joined_rows made;
    struct cw_joined_output of = {0};
    struct cw_output output, each;
    if (!ranges->data.range_count)
        return;
    CW_FUZZ_CHECK(cw_joined_make(&joined, &trace->timeline, &ranges->data, chip, j->arena, &err) == CW_OK);
    CW_FUZZ_CHECK(cw_joined_rows_make(&made, &joined, ways[j->view % (sizeof ways / sizeof *ways)], 1000, j->arena,
                                      &err) == CW_OK);
    CW_FUZZ_CHECK(cw_joined_output_make(&of, &joined, &made, j->arena, &err) == CW_OK);
    of.trace = "fuzz";
    struct cw_result result = {chip, &made.groups.data, "fuzz", metrics, (uint32_t)metric_count};
    uint32_t *order = cw_arena_alloc(j->arena, made.groups.count, sizeof *order);
    CW_FUZZ_CHECK(order && cw_result_make(&result, &options, j->arena, &err) == CW_OK);
    for (uint32_t i = 0; i < made.groups.count; i++)
        order[i] = i;
    const struct cw_output_rows rows = {.data = &ranges->data,
                                        .groups = &made.groups,
                                        .rows = order,
                                        .count = made.groups.count,
                                        .result = &result,
                                        .asked = (uint32_t)metric_count,
                                        .sections = &none,
                                        .words = "fuzz",
                                        .joined = &of,
                                        .wide = j->view & 64};
    if (j->view & 32) {
        CW_FUZZ_CHECK(cw_output_joined_launches(&output, &rows, &ranges->result, NULL, j->arena, &err) == CW_OK);
        CW_FUZZ_CHECK(cw_joined_add_tables(&output, &rows, false, j->arena, &err) == CW_OK);
        struct job text = *j; /* launches are rows of CSV and JSON */
        text.writer = text.writer == HDF5 ? CSV : text.writer;
        text.all = false;
        put(&text, &output);
        return;
    }
    CW_FUZZ_CHECK(cw_output_groups(&output, &rows, NULL, j->arena, &err) == CW_OK);
    CW_FUZZ_CHECK(cw_output_ranges(&each, &ranges->result, NULL, j->arena, &err) == CW_OK);
    output.tables[output.table_count++] = each.tables[0];
    CW_FUZZ_CHECK(cw_joined_add_tables(&output, &rows, true, j->arena, &err) == CW_OK);
    put(j, &output);
}

/* Samples within the launches of a trace of another run. */
static void put_joined_samples(const struct job *j, struct capture *trace, struct capture *samples)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_pm_ranges kernels;
    struct cw_output output;
    evaluate_all(samples, j->arena);
    const enum cw_status status = cw_pm_kernels_make(&kernels, &samples->result, &trace->timeline, j->arena, &err);
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_USAGE);
    if (status != CW_OK)
        return;
    CW_FUZZ_CHECK(cw_output_pm_ranges(&output, &samples->result, &kernels, kernels.count, "fuzz", j->arena, &err) ==
                  CW_OK);
    put(j, &output);
}

static void put_both(const struct job *j)
{
    struct capture *a = j->a, *b = j->b;
    if (b->data.schema.profiler == CW_PROFILER_TRACE) {
        a = j->b;
        b = j->a;
    }
    if (a->data.schema.profiler != CW_PROFILER_TRACE)
        return;
    if (b->data.schema.profiler == CW_PROFILER_RANGE)
        put_joined(j, a, b);
    else if (b->data.schema.profiler == CW_PROFILER_PM && b->data.pm.launch_count)
        put_joined_samples(j, a, b);
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

static void show(struct cw_report *report, struct cw_report_capture *to, struct capture *c, struct cw_arena *arena)
{
    const enum cw_profiler profiler = c->data.schema.profiler;
    *to = (struct cw_report_capture){.source = "fuzz", .data = &c->data};
    if (profiler == CW_PROFILER_RANGE) {
        bool *keep = cw_arena_alloc(arena, c->data.range_count, sizeof *keep);
        CW_FUZZ_CHECK(keep);
        memset(keep, 1, c->data.range_count);
        to->chip = rules->chip;
        to->keep = keep;
        report->ranges = report->ranges ? report->ranges : to;
        report->rules = rules;
    } else if (profiler == CW_PROFILER_PM) {
        to->chip = chip;
        evaluate_all(c, arena);
        to->samples = &c->result;
    } else if (profiler == CW_PROFILER_TRACE) {
        to->timeline = &c->timeline;
    } else {
        to->instructions = &c->instructions;
    }
}

static void put_page(const struct job *j)
{
    struct cw_report_capture captures[2];
    struct cw_report report = {.captures = captures, .capture_count = 1, .arena = j->arena};
    struct cw_error err = CW_ERROR_INIT;
    const bool both_ranges =
        j->b && j->a->data.schema.profiler == CW_PROFILER_RANGE && j->b->data.schema.profiler == CW_PROFILER_RANGE;
    if (!wants(j, PAGE))
        return;
    show(&report, &captures[0], j->a, j->arena);
    if (j->b)
        show(&report, &captures[1], j->b, j->arena);
    report.baseline = both_ranges ? &captures[1] : NULL;
    report.capture_count += j->b && !both_ranges;
    const enum cw_status status = cw_report_write(nowhere, &report, &err);
    CW_FUZZ_CHECK(is_written(status, &err) || status == CW_ERR_UNSUPPORTED);
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

/* Where the first capture ends: with the chunk ENDC. */
static size_t end_of_first(const uint8_t *bytes, size_t size)
{
    struct cw_edit_chunk c;
    for (size_t i = 0; cw_edit_find(bytes, size, i, &c); i++)
        if (c.type == CW_CHUNK_END)
            return c.offset + CW_CHUNK_HEADER_SIZE + c.size;
    return size;
}

static void put_capture(const struct job *j)
{
    if (j->b && j->view & 128)
        put_both(j);
    else if (j->a->data.schema.profiler == CW_PROFILER_RANGE)
        put_ranges(j);
    else if (j->a->data.schema.profiler == CW_PROFILER_PM)
        put_samples(j);
    else if (j->a->data.schema.profiler == CW_PROFILER_TRACE)
        put_trace(j);
    else
        put_instructions(j);
    put_page(j);
}

/* Whether the captures can be read; then the writer that is chosen writes them, unless `read_alone`. */
static bool take(const uint8_t *input, size_t input_size, bool read_alone)
{
    enum { ANSWER = 64 };
    const uint8_t *bytes = input + CHOICE_SIZE;
    const size_t size = input_size - CHOICE_SIZE, first = end_of_first(bytes, size);
    struct capture a, b = {0};
    struct job j = {.all = input[0] == UINT8_MAX,
                    .writer = input[0] % WRITERS,
                    .view = input[1],
                    .a = &a,
                    .arena = cw_arena_create()};
    struct cw_error err = CW_ERROR_INIT;
    cw_fuzz_answer_size = size < ANSWER ? size : ANSWER;
    cw_fuzz_answer = bytes + size - cw_fuzz_answer_size;
    CW_FUZZ_CHECK(j.arena);
    enum cw_status status = read_capture(&a, bytes, first, j.arena, &err);
    if (status == CW_OK && first < size) {
        status = read_capture(&b, bytes + first, size - first, j.arena, &err);
        j.b = status == CW_OK ? &b : NULL;
    }
    CW_FUZZ_CHECK(status == CW_OK || status == CW_ERR_INPUT);
    if (status == CW_OK && !read_alone)
        put_capture(&j);
    cw_timeline_free(&a.timeline);
    cw_timeline_free(&b.timeline);
    cw_arena_destroy(j.arena);
    return status == CW_OK;
}

/* What libFuzzer finds new inputs by; not there without it. */
extern uint8_t __start___sancov_cntrs[] __attribute__((weak)), __stop___sancov_cntrs[] __attribute__((weak));

/* A capture that is refused is nothing to go on from, whatever new code has refused it: other targets look for that. */
static void forget_coverage(void)
{
    if (__start___sancov_cntrs)
        memset(__start___sancov_cntrs, 0, (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!chip)
        set_up();
    if (size <= CHOICE_SIZE)
        return 0;
    inputs++;
    if (!take(bytes, size, false))
        forget_coverage();
    return 0;
}

/* ---- new inputs ------------------------------------------------------------------------------------------------- */

/* libFuzzer's own changes, which know what comparisons have seen; without libFuzzer there are none. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));

/* Takes one of the captures out, changes it and puts it back. */
static size_t change_capture(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static uint8_t part[1 << 20];
    const size_t first = CHOICE_SIZE + end_of_first(data + CHOICE_SIZE, size - CHOICE_SIZE);
    const bool second = first < size && seed & 1;
    const size_t start = second ? first : CHOICE_SIZE, end = second ? size : first,
                 part_room = end - start + room - size;
    if (part_room > sizeof part)
        return size;
    memcpy(part, data + start, end - start);
    const size_t made = cw_chunk_mutate(part, end - start, part_room, seed, LLVMFuzzerMutate);
    memmove(data + start + made, data + end, size - end);
    memcpy(data + start, part, made);
    return size - (end - start) + made;
}

/* Of what is changed at random most is refused before a writer sees it: such a capture is changed in another way, and
 * given to the target after a few such attempts. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    enum { ATTEMPTS = 6, MOST = 1 << 16 };
    static uint8_t before[MOST];
    const size_t before_size = size;
    if (!chip)
        set_up();
    if (size <= CHOICE_SIZE || size > MOST)
        return size;
    memcpy(before, data, size);
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        memcpy(data, before, before_size);
        data[0] = (uint8_t)(seed % WRITERS);
        data[1] = (uint8_t)(seed >> 8);
        size = change_capture(data, before_size, room, seed / WRITERS + attempt * 0x9e3779b1);
        if (size > CHOICE_SIZE && take(data, size, true))
            break;
    }
    return size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t room, unsigned seed)
{
    if (a_size <= CHOICE_SIZE || b_size <= CHOICE_SIZE || a_size > room)
        return 0;
    memcpy(out, a, a_size);
    const size_t size = CHOICE_SIZE + cw_chunk_cross(out + CHOICE_SIZE, a_size - CHOICE_SIZE, room - CHOICE_SIZE,
                                                     b + CHOICE_SIZE, b_size - CHOICE_SIZE, seed);
    return take(out, size, true) ? size : 0;
}
