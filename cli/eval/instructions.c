#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "cli/eval/run.h"

/* What took more memory or time than a capture of its size may. */
static void say_left(const char *capture, const struct cw_places_left *left)
{
    if (left->names || left->modules)
        fprintf(stderr,
                "%s: %s: %" PRIu32 " mangled names and the lines of %" PRIu32
                " modules are left out: to read them takes more memory or time than their size allows\n",
                program_invocation_short_name, capture, left->names, left->modules);
}

enum cw_status cw_eval_load_instructions(struct cw_eval_run *r, struct cw_instructions *in, struct cw_pc_data *raw)
{
    const char *capture = r->o->capture;
    const struct cw_input *file = &r->capture->file;
    enum cw_status status = cw_input_load(&r->capture->file, r->err);
    if (status == CW_OK)
        status = cw_pc_data_read(raw, file->bytes, (size_t)file->size, capture, r->arena, r->err);
    if (status == CW_OK)
        status = cw_instructions_make(in, &r->capture->data, raw, r->capture->source, r->arena, r->err);
    if (status == CW_OK)
        say_left(capture, &in->left);
    return status;
}

enum cw_status cw_eval_instructions(struct cw_eval_run *r)
{
    struct cw_instructions in;
    struct cw_pc_data raw;
    struct cw_output output;
    enum cw_status status = cw_eval_load_instructions(r, &in, &raw);
    if (status != CW_OK)
        return status;
    cw_output_instructions(&output, &in);
    return cw_eval_write(r, &output);
}

static json_t *about_json(const struct cw_instructions *in, const struct cw_pc_data *raw)
{
    json_t *modules = json_array();
    for (uint32_t i = 0; i < raw->module_count; i++) {
        char crc[17];
        snprintf(crc, sizeof crc, "%016" PRIx64, raw->modules[i].crc);
        cw_json_append(&modules, json_pack("{s:s, s:I}", "crc", crc, "bytes", (json_int_t)raw->modules[i].size));
    }
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "modules", modules, "samples", (json_int_t)in->total, "records",
                     (json_int_t)in->pc_count, "batches", (json_int_t)in->batch_count, "sass_records",
                     (json_int_t)in->sass_count, "sass_values", (json_int_t)in->value_count);
}

enum cw_status cw_show_instructions(struct cw_eval_run *r, json_t **tree)
{
    struct cw_instructions in;
    struct cw_pc_data raw;
    enum cw_status status = cw_eval_load_instructions(r, &in, &raw);
    if (status != CW_OK)
        return status;
    if (tree) {
        cw_json_set(tree, "instructions", about_json(&in, &raw));
        return CW_OK;
    }
    cw_text_print(stdout, "modules:   %" PRIu32 "\n", raw.module_count);
    for (uint32_t i = 0; i < raw.module_count; i++)
        cw_text_print(stdout, "  %016" PRIx64 ": %zu bytes of code\n", raw.modules[i].crc, raw.modules[i].size);
    if (r->info.profiler == COUNTERWORKS_PC_SAMPLES)
        cw_text_print(stdout, "samples:   %" PRIu64 " in %zu records\nbatches:   %zu\n", in.total, in.pc_count,
                      in.batch_count);
    else
        cw_text_print(stdout, "records:   %zu\nvalues:    %zu\n", in.sass_count, in.value_count);
    return CW_OK;
}
