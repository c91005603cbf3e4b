/* Writes captures and a plan in which every text that may be any is TEXT: named_images FOLDER TEXT MODULE
 *
 * range.cwd, planned.cwd (which asks for a metric TEXT), chip.cwd (of a chip TEXT), pm.cwd, pc.cwd, sass.cwd,
 * trace.cwd, plan.cwc and pm.cwc. Those that can be evaluated are of the chip TINY and have sm__cycles_active and
 * sm__inst_executed. MODULE is the ELF image whose functions the instructions of pc.cwd and sass.cwd are of. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "image/chunk.h"
#include "image/config_image.h"
#include "image/counter_data.h"
#include "image/pc_data.h"
#include "tests/support/add_rows.h"

enum { COUNTERS = 3 };

struct job {
    const char *folder, *text;
    struct cw_bytes module;
    struct cw_arena *arena;
    struct cw_error err;
};

static enum cw_status save(struct job *j, const char *name, struct cw_writer *out)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", j->folder, name);
    enum cw_status status =
        out->status == CW_OK ? cw_file_write(path, out->data, out->size, &j->err) : cw_error_nomem(&j->err);
    cw_writer_free(out);
    return status;
}

/* ---- plans and captures of counters ----------------------------------------------------------------------------- */

static struct cw_config_image plan_of(const struct job *j, enum cw_profiler profiler)
{
    static struct cw_pair parameters[2];
    static struct cw_config_domain domains[1];
    static const uint64_t raws[] = {0x11, 0x22};
    static const struct cw_placement placements[] = {{0, 0}, {1, 0}};
    static const struct cw_config_pass passes[] = {{2, placements}};
    static const uint32_t first[] = {0}, second[] = {1}, both[] = {0, 1};
    static struct cw_config_counter counters[COUNTERS];
    static const char *metrics[1];
    static struct cw_meaning meanings[1];
    parameters[0] = (struct cw_pair){j->text, j->text};
    domains[0] = (struct cw_config_domain){1, j->text};
    counters[0] = (struct cw_config_counter){"sm__cycles_active", 4, 1, 1, first};
    counters[1] = (struct cw_config_counter){"sm__inst_executed", 4, 4, 1, second};
    counters[2] = (struct cw_config_counter){j->text, 4, 1, 2, both};
    metrics[0] = "sm__inst_executed.sum";
    meanings[0] = (struct cw_meaning){j->text, 1, 1};
    return (struct cw_config_image){.chip = "TINY",
                                    .producer = j->text,
                                    .profiler = profiler,
                                    .parameter_count = 1,
                                    .domain_count = 1,
                                    .raw_count = 2,
                                    .pass_count = 1,
                                    .counter_count = COUNTERS,
                                    .metric_count = 1,
                                    .meaning_count = 1,
                                    .parameters = parameters,
                                    .domains = domains,
                                    .raws = raws,
                                    .passes = passes,
                                    .counters = counters,
                                    .metrics = metrics,
                                    .meanings = meanings};
}

static struct cw_device device_of(const struct job *j)
{
    static const struct cw_device_facts facts[COUNTERS] = {{4, {4, 1, 1, 1}}, {4, {16, 4, 4, 4}}, {4, {4, 1, 1, 1}}};
    static struct cw_pair attributes[4];
    attributes[0] = (struct cw_pair){"name", j->text};
    attributes[1] = (struct cw_pair){j->text, j->text};
    attributes[2] = (struct cw_pair){"sampling_interval", j->text};
    attributes[3] = (struct cw_pair){"simulated", "yes"};
    return (struct cw_device){0, 4, attributes, facts};
}

static void write_ranges(const struct job *j, const struct cw_schema *schema, struct cw_writer *out)
{
    static const double durations[] = {1000};
    static const struct cw_value values[COUNTERS] = {{CW_FORM_ROLLUPS, {400, 100, 100, 100}, 0, NULL},
                                                     {CW_FORM_ROLLUPS, {800, 200, 200, 200}, 0, NULL},
                                                     {CW_FORM_ROLLUPS, {4, 1, 1, 1}, 0, NULL}};
    const struct cw_pair attributes[] = {{"nvtx", j->text}, {"rank", j->text}, {j->text, j->text}};
    struct cw_range range = {.name = j->text,
                             .kernel = j->text,
                             .process = 7,
                             .grid = {1, 1, 1},
                             .block = {32, 1, 1},
                             .start_ns = 1000,
                             .end_ns = 2000,
                             .durations = durations,
                             .attribute_count = 3,
                             .attributes = attributes};
    cw_counter_data_write_range(schema, &range, values, out);
    range.name = "";
    cw_counter_data_write_range(schema, &range, values, out);
}

static void write_samples(const struct job *j, const struct cw_schema *schema, struct cw_writer *out)
{
    static const uint64_t start[] = {1000, 2000}, end[] = {2000, 3000};
    static const double sums[2 * COUNTERS] = {400, 400, 800, 800, 4, 4}, zeros[2 * COUNTERS];
    static const uint8_t forms[] = {CW_COLUMN_SUMS, CW_COLUMN_SUMS, CW_COLUMN_SUMS};
    static const struct cw_kernel_launch launches[] = {{.name = 0, .start_ns = 1100, .end_ns = 1200}};
    const struct cw_block block = {0, 2, 1, true, start, end, {sums, zeros, zeros, zeros}, forms};
    cw_pm_write_block(schema, &block, out);
    cw_pm_write_launches(7, 1, &j->text, 1, launches, 1, out);
}

/* A capture that asks for `metric` on `chip`. */
static enum cw_status save_capture(struct job *j, const char *name, enum cw_profiler profiler, const char *chip,
                                   const char *metric)
{
    struct cw_config_image image = plan_of(j, profiler);
    struct cw_device device = device_of(j);
    struct cw_schema schema;
    struct cw_writer out;
    image.chip = chip;
    image.metrics = &metric;
    cw_writer_init(&out);
    cw_config_image_prefix(&image, &out);
    enum cw_status status = cw_schema_of_plan(&schema, &image, j->arena);
    if (status != CW_OK)
        return cw_error_nomem(&j->err);
    cw_counter_data_write_device(&schema, &device, &out);
    if (profiler == CW_PROFILER_PM)
        write_samples(j, &schema, &out);
    else
        write_ranges(j, &schema, &out);
    cw_counter_data_write_end(profiler == CW_PROFILER_PM ? 0 : 2, 1, CW_END_EXITED, 0, &out);
    return save(j, name, &out);
}

static enum cw_status save_plan(struct job *j, const char *name, enum cw_profiler profiler)
{
    struct cw_config_image image = plan_of(j, profiler);
    struct cw_writer out;
    cw_writer_init(&out);
    cw_config_image_write(&image, &out);
    return save(j, name, &out);
}

/* ---- captures of instructions ----------------------------------------------------------------------------------- */

static void write_pc(const struct job *j, struct cw_writer *payload)
{
    static const struct cw_stall stalls[] = {{0, 5}};
    const struct cw_pc_record records[] = {{{1, 0x10, "_Z5firstPf", 0}, 0, 1, stalls},
                                           {{1, 0x20, j->text, 0}, 0, 1, stalls}};
    const struct cw_pc_batch batch = {.process = 7,
                                      .period = 5,
                                      .total = 10,
                                      .reason_count = 1,
                                      .record_count = 2,
                                      .reasons = &j->text,
                                      .records = records};
    cw_pc_batch_write(&batch, payload);
}

static void write_sass(const struct job *j, struct cw_writer *payload)
{
    static const uint64_t value[] = {9};
    static const uint64_t *const values[] = {value};
    static const uint32_t counts[] = {1};
    const struct cw_sass_metric metric = {j->text, CW_SASS_GPU};
    const struct cw_sass_record records[] = {{{1, 0x10, "_Z5firstPf", 0}, counts, values},
                                             {{1, 0x20, j->text, 0}, counts, values}};
    const struct cw_sass_batch batch = {
        .process = 7, .metric_count = 1, .record_count = 2, .metrics = &metric, .records = records};
    cw_sass_batch_write(&batch, payload);
}

static enum cw_status save_instructions(struct job *j, const char *name, enum cw_profiler profiler)
{
    const struct cw_schema schema = {.chip = j->text, .producer = j->text, .profiler = profiler};
    const struct cw_device device = device_of(j);
    const struct cw_module module = {1, j->module.data, j->module.size};
    struct cw_writer out, payload;
    cw_writer_init(&out);
    cw_writer_init(&payload);
    cw_chunk_write_header(&out, &cw_counter_data_kind);
    cw_schema_write(&schema, &out);
    cw_counter_data_write_device(&schema, &device, &out);
    cw_module_write(&module, &out);
    (profiler == CW_PROFILER_SASS ? write_sass : write_pc)(j, &payload);
    (profiler == CW_PROFILER_SASS ? cw_sass_chunk_write : cw_pc_chunk_write)(payload.data, payload.size, &out);
    if (profiler == CW_PROFILER_SASS)
        cw_uncounted_chunk_write(&(struct cw_uncounted){.process = 7, .kernels = 1, .example = j->text}, &out);
    cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, &out);
    cw_writer_free(&payload);
    return save(j, name, &out);
}

/* ---- traces ----------------------------------------------------------------------------------------------------- */

/* A row of each kind, whose texts are the text; memory is allocated, which is the second. */
static void write_rows(struct cw_add_rows *rows)
{
    for (enum cw_trace_kind kind = 0; kind < CW_TRACE_KIND__COUNT; kind++) {
        const struct cw_trace_kind_info *info = &cw_trace_kinds[kind];
        struct cw_add_value values[CW_TRACE_KIND_FIELDS_MAX];
        for (uint32_t f = 0; f < info->field_count; f++) {
            const enum cw_trace_field field = info->fields[f];
            const enum cw_trace_type type = cw_trace_fields[field].type;
            const uint64_t time = field == CW_FIELD_END ? 3000 : 2000;
            const uint64_t text = kind == CW_TRACE_ALLOCATION && field == CW_FIELD_TYPE ? 2 : 1;
            values[f] = (struct cw_add_value){field, type == CW_TRACE_TIME ? time : type == CW_TRACE_DEVICE ? 0 : text};
        }
        cw_add_row(rows, 0, kind, values, info->field_count);
    }
}

static enum cw_status save_trace(struct job *j, const char *name)
{
    const struct cw_schema schema = {.chip = "TINY", .producer = j->text, .profiler = CW_PROFILER_TRACE};
    const struct cw_device device = device_of(j);
    const struct cw_pair attributes[] = {
        {"program", j->text}, {"host", j->text}, {"rank", j->text}, {j->text, j->text}};
    const char *const texts[] = {j->text, "allocate"};
    const struct cw_trace_device own = {0, 0};
    const struct cw_trace_process process = {
        .pid = 7, .attribute_count = 4, .attributes = attributes, .device_count = 1, .devices = &own};
    struct cw_writer out;
    struct cw_add_rows rows = {.out = &out};
    cw_writer_init(&out);
    cw_chunk_write_header(&out, &cw_counter_data_kind);
    cw_schema_write(&schema, &out);
    cw_trace_write_kinds(&out);
    cw_counter_data_write_device(&schema, &device, &out);
    cw_trace_write_process(0, &process, &out);
    cw_trace_write_texts(0, 1, texts, 2, &out);
    write_rows(&rows);
    cw_add_rows_flush(&rows, 0);
    cw_add_rows_free(&rows);
    cw_counter_data_write_end(0, 0, CW_END_EXITED, 0, &out);
    return save(j, name, &out);
}

static enum cw_status save_all(struct job *j)
{
    static const char metric[] = "sm__inst_executed.sum";
    enum cw_status status = save_capture(j, "range.cwd", CW_PROFILER_RANGE, "TINY", metric);
    if (status == CW_OK)
        status = save_capture(j, "planned.cwd", CW_PROFILER_RANGE, "TINY", j->text);
    if (status == CW_OK)
        status = save_capture(j, "chip.cwd", CW_PROFILER_RANGE, j->text, metric);
    if (status == CW_OK)
        status = save_capture(j, "pm.cwd", CW_PROFILER_PM, "TINY", metric);
    if (status == CW_OK)
        status = save_plan(j, "plan.cwc", CW_PROFILER_RANGE);
    if (status == CW_OK)
        status = save_plan(j, "pm.cwc", CW_PROFILER_PM);
    if (status == CW_OK)
        status = save_instructions(j, "pc.cwd", CW_PROFILER_PC);
    if (status == CW_OK)
        status = save_trace(j, "trace.cwd");
    return status == CW_OK ? save_instructions(j, "sass.cwd", CW_PROFILER_SASS) : status;
}

int main(int argc, char **argv)
{
    char text[1200];
    if (argc != 4) {
        fprintf(stderr, "usage: named_images FOLDER TEXT MODULE\n");
        return CW_ERR_USAGE;
    }
    struct job j = {.folder = argv[1], .text = argv[2], .arena = cw_arena_create(), .err = CW_ERROR_INIT};
    enum cw_status status = j.arena ? cw_file_read(&j.module, argv[3], 1 << 20, &j.err) : cw_error_nomem(&j.err);
    if (status == CW_OK)
        status = save_all(&j);
    if (status != CW_OK)
        fprintf(stderr, "named_images: %s\n", cw_error_format(&j.err, text, sizeof text));
    cw_bytes_free(&j.module);
    cw_arena_destroy(j.arena);
    return status;
}
