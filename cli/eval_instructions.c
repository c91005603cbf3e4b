#define _GNU_SOURCE
#include "cli/eval_instructions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/text_output.h"
#include "eval/hdf5.h"
#include "eval/instructions.h"
#include "eval/json.h"

struct content {
    struct cw_result capture; /* data and source alone */
    struct cw_instructions instructions;
    struct cw_records tables[CW_INSTRUCTION_TABLES];
    size_t table_count;
};

/* What took more memory or time than a capture of its size may. */
static void say_left(const char *capture, const struct cw_places_left *left)
{
    if (left->names || left->modules)
        fprintf(stderr,
                "%s: %s: %" PRIu32 " mangled names and the lines of %" PRIu32
                " modules are left out: to read them takes more memory or time than their size allows\n",
                program_invocation_short_name, capture, left->names, left->modules);
}

static enum cw_status load(struct content *c, const struct cw_instruction_outputs *o,
                           const struct cw_counter_data *data, const struct cw_bytes *file, struct cw_pc_data *raw,
                           struct cw_arena *arena, struct cw_error *err)
{
    *c = (struct content){.capture = {.data = data, .source = o->source}};
    enum cw_status status = cw_pc_data_read(raw, file->data, file->size, o->capture, arena, err);
    if (status == CW_OK)
        status = cw_instructions_make(&c->instructions, data, raw, c->capture.source, arena, err);
    if (status == CW_OK)
        c->table_count = cw_instructions_records(&c->instructions, c->tables);
    if (status == CW_OK)
        say_left(o->capture, &c->instructions.left);
    return status;
}

static enum cw_status render_csv(FILE *out, const void *content, struct cw_error *err)
{
    (void)err;
    cw_records_csv(&((const struct content *)content)->tables[0], out);
    return CW_OK;
}

static enum cw_status render_json(FILE *out, const void *content, struct cw_error *err)
{
    const struct content *c = content;
    enum cw_status status = cw_json_put_capture(&c->capture, out, err);
    for (size_t i = 0; i < c->table_count && status == CW_OK; i++) {
        fputs(",\n ", out);
        cw_records_json(&c->tables[i], out);
    }
    fputs("}\n", out);
    return status;
}

enum cw_status cw_eval_instructions(const struct cw_instruction_outputs *o, const struct cw_counter_data *data,
                                    const struct cw_bytes *file, struct cw_arena *arena, struct cw_error *err)
{
    struct content c;
    struct cw_pc_data raw;
    enum cw_status status = load(&c, o, data, file, &raw, arena, err);
    if (status == CW_OK && o->hdf5)
        status = cw_hdf5_write_records(&c.capture, data->schema.profiler == CW_PROFILER_SASS ? "sass" : "pc", c.tables,
                                       c.table_count, o->hdf5, err);
    if (status == CW_OK && o->csv)
        status = cw_text_output(o->csv, render_csv, &c, err);
    if (status == CW_OK && o->json)
        status = cw_text_output(o->json, render_json, &c, err);
    bool taken = (o->csv && strcmp(o->csv, "-") == 0) || (o->json && strcmp(o->json, "-") == 0);
    if (status == CW_OK && !taken)
        status = cw_instructions_table(&c.instructions, o->top, stdout, err);
    return status;
}

enum cw_status cw_show_instructions(const struct cw_instruction_outputs *o, const struct cw_counter_data *data,
                                    const struct cw_bytes *file, struct cw_arena *arena, struct cw_error *err)
{
    struct content c;
    struct cw_pc_data raw;
    enum cw_status status = load(&c, o, data, file, &raw, arena, err);
    if (status != CW_OK)
        return status;
    cw_text_print(stdout, "modules:   %" PRIu32 "\n", raw.module_count);
    for (uint32_t i = 0; i < raw.module_count; i++)
        cw_text_print(stdout, "  %016" PRIx64 ": %zu bytes of code\n", raw.modules[i].crc, raw.modules[i].size);
    if (data->schema.profiler == CW_PROFILER_PC)
        cw_text_print(stdout, "samples:   %" PRIu64 " in %zu records\n", c.instructions.total, c.tables[0].count);
    for (size_t i = data->schema.profiler == CW_PROFILER_PC; i < c.table_count; i++)
        cw_text_print(stdout, "%s: %*s%zu\n", c.tables[i].name, (int)(9 - strlen(c.tables[i].name)), "",
                      c.tables[i].count);
    return CW_OK;
}
