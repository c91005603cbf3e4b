/* Views that describe a capture. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "eval/output/capture.h"
#include "eval/output/timeline_output.h"
#include "json/json_tree.h"
#include "view/compare.h"
#include "view/instructions.h"
#include "view/metrics.h"
#include "view/timeline.h"

struct show {
    struct counterworks_capture *capture;
    struct cw_timeline timeline;
    struct cw_instructions instructions;
    struct cw_pc_data raw;
    json_t *tree;          /* of the facts; NULL where rows cannot be read */
    struct cw_error wrong; /* of reading rows; printed behind the rest */
};

static bool is_trace(const struct show *of)
{
    return of->capture->data.schema.profiler == CW_PROFILER_TRACE;
}

static bool has_instructions(const struct show *of)
{
    const enum cw_profiler profiler = of->capture->data.schema.profiler;
    return profiler == CW_PROFILER_PC || profiler == CW_PROFILER_SASS;
}

static void print_instructions(const struct show *of, FILE *out)
{
    const struct cw_instructions *in = &of->instructions;
    cw_text_print(out, "modules:   %" PRIu32 "\n", of->raw.module_count);
    for (uint32_t i = 0; i < of->raw.module_count; i++)
        cw_text_print(out, "  %016" PRIx64 ": %zu bytes of code\n", of->raw.modules[i].crc, of->raw.modules[i].size);
    if (of->capture->data.schema.profiler == CW_PROFILER_PC)
        cw_text_print(out, "samples:   %" PRIu64 " in %zu records\nbatches:   %zu\n", in->total, in->pc_count,
                      in->batch_count);
    else
        cw_text_print(out, "records:   %zu\nvalues:    %zu\n", in->sass_count, in->value_count);
}

static enum cw_status print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    const struct show *of = output->result;
    (void)style;
    cw_capture_show(&of->capture->data, of->capture->asked, out);
    if (of->wrong.code != CW_OK) {
        *err = of->wrong;
        return err->code;
    }
    if (has_instructions(of))
        print_instructions(of, out);
    return is_trace(of) ? cw_timeline_show(&of->timeline, out, err) : CW_OK;
}

static json_t *about_instructions(const struct show *of)
{
    const struct cw_instructions *in = &of->instructions;
    json_t *modules = json_array();
    for (uint32_t i = 0; i < of->raw.module_count; i++) {
        char crc[17];
        snprintf(crc, sizeof crc, "%016" PRIx64, of->raw.modules[i].crc);
        cw_json_append(&modules, json_pack("{s:s, s:I}", "crc", crc, "bytes", (json_int_t)of->raw.modules[i].size));
    }
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "modules", modules, "samples", (json_int_t)in->total, "records",
                     (json_int_t)in->pc_count, "batches", (json_int_t)in->batch_count, "sass_records",
                     (json_int_t)in->sass_count, "sass_values", (json_int_t)in->value_count);
}

static json_t *make_tree(const struct show *of)
{
    json_t *tree = cw_capture_manifest(&of->capture->data, of->capture->source);
    if (has_instructions(of))
        cw_json_set(&tree, "instructions", about_instructions(of));
    if (is_trace(of))
        cw_json_set(&tree, "trace", cw_timeline_manifest(&of->timeline));
    return tree;
}

static enum cw_status write_json(FILE *out, const void *show, struct cw_error *err)
{
    const struct show *of = show;
    if (of->wrong.code != CW_OK) {
        *err = of->wrong;
        return err->code;
    }
    const enum cw_status status = cw_json_print(json_incref(of->tree), JSON_INDENT(1), out, err);
    fputc('\n', out);
    return status;
}

static void free_show(void *owned)
{
    struct show *of = owned;
    cw_timeline_free(&of->timeline);
    json_decref(of->tree);
}

/* ---- the table: each fact by its path in the tree ---------------------------------------------------------------- */

struct fact {
    const char *name, *value;
};

static const struct cw_output_column columns[] = {
    {"fact", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct fact, name), .long_name = "its path, as in devices.0.name"},
    {"value", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct fact, value)}};

struct facts {
    struct cw_writer path;
    struct fact *list;
    size_t count, room;
    struct cw_arena *arena;
    bool nomem;
};

static const char *text_of(const json_t *value, char text[32])
{
    if (json_is_real(value))
        snprintf(text, 32, "%.17g", json_real_value(value));
    else if (json_is_integer(value))
        snprintf(text, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return json_is_string(value)    ? json_string_value(value)
           : json_is_boolean(value) ? (json_is_true(value) ? "true" : "false")
           : json_is_null(value)    ? ""
                                    : text;
}

static void add_fact(struct facts *f, const json_t *value)
{
    char text[32] = "";
    if (f->count == f->room) {
        const size_t room = f->room ? 2 * f->room : 64;
        struct fact *grown = cw_arena_alloc(f->arena, room, sizeof *grown);
        if (grown && f->count)
            memcpy(grown, f->list, f->count * sizeof *grown);
        f->list = grown ? grown : f->list;
        f->room = grown ? room : f->room;
        f->nomem = f->nomem || !grown;
    }
    cw_write_u8(&f->path, 0);
    if (f->nomem || f->path.status != CW_OK)
        return;
    f->path.size--;
    struct fact *fact = &f->list[f->count++];
    fact->name = cw_arena_strdup(f->arena, (const char *)f->path.data);
    fact->value = cw_arena_strdup(f->arena, text_of(value, text));
    f->nomem = !fact->name || !fact->value;
}

static void add_facts(struct facts *f, json_t *tree)
{
    const size_t length = f->path.size;
    const char *key;
    json_t *value;
    size_t i;
    if (!json_is_object(tree) && !json_is_array(tree)) {
        add_fact(f, tree);
        return;
    }
    json_object_foreach(tree, key, value)
    {
        cw_write_format(&f->path, "%s%s", length ? "." : "", key);
        add_facts(f, value);
        f->path.size = length;
    }
    json_array_foreach(tree, i, value)
    {
        cw_write_format(&f->path, "%s%zu", length ? "." : "", i);
        add_facts(f, value);
        f->path.size = length;
    }
}

static enum cw_status add_table(struct cw_output *output, json_t *tree, struct cw_arena *arena, struct cw_error *err)
{
    struct facts f = {.arena = arena};
    cw_writer_init(&f.path);
    if (tree)
        add_facts(&f, tree);
    const bool good = tree && !f.nomem && f.path.status == CW_OK;
    cw_writer_free(&f.path);
    output->tables[output->table_count++] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(columns), .name = "facts",        .group = "fact",  .record_size = sizeof *f.list,
        .row_count = f.count,       .row = cw_output_array, .content = f.list};
    return good ? CW_OK : cw_error_nomem(err);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

enum cw_status cw_view_show(struct counterworks_view *view, const struct cw_view_input *in)
{
    struct show *of = cw_arena_alloc(in->arena, 1, sizeof *of);
    *view = (struct counterworks_view){.arena = in->arena, .free = of ? free_show : NULL, .owned = of};
    if (!of)
        return cw_error_nomem(in->err);
    struct cw_view_input rows = *in;
    rows.err = &of->wrong;
    of->capture = in->capture;
    cw_tell_incomplete(in->capture, in->notices);
    if (is_trace(of))
        cw_view_timeline(&of->timeline, &rows);
    if (has_instructions(of))
        cw_view_load_instructions(&of->instructions, &of->raw, NULL, in->capture, in->notices, in->arena, &of->wrong);
    view->output.print = print;
    view->output.result = view->content = of;
    view->output.data = &in->capture->data;
    view->output.source = in->capture->source;
    view->renders[CW_VIEW_JSON] = write_json;
    if (of->wrong.code == CW_OK) {
        of->tree = make_tree(of);
        return add_table(&view->output, of->tree, in->arena, in->err);
    }
    view->renders[CW_VIEW_CSV] = view->renders[CW_VIEW_NDJSON] = view->renders[CW_VIEW_HDF5] =
        write_json; /* the error */
    return CW_OK;
}
