/* Views that describe a capture. */
#include <inttypes.h>

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

static enum cw_status write_json(FILE *out, const void *show, struct cw_error *err)
{
    const struct show *of = show;
    if (of->wrong.code != CW_OK) {
        *err = of->wrong;
        return err->code;
    }
    json_t *tree = cw_capture_manifest(&of->capture->data, of->capture->source);
    if (has_instructions(of))
        cw_json_set(&tree, "instructions", about_instructions(of));
    if (is_trace(of))
        cw_json_set(&tree, "trace", cw_timeline_manifest(&of->timeline));
    const enum cw_status status = cw_json_print(tree, JSON_INDENT(1), out, err);
    fputc('\n', out);
    return status;
}

static void free_show(void *owned)
{
    cw_timeline_free(&((struct show *)owned)->timeline);
}

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
        cw_view_load_instructions(&of->instructions, &of->raw, in->capture, in->notices, in->arena, &of->wrong);
    view->output.print = print;
    view->output.result = view->content = of;
    view->renders[CW_VIEW_JSON] = write_json;
    return CW_OK;
}
