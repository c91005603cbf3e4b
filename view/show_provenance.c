/* View of what a capture holds about its machine and program. */
#include <inttypes.h>

#include "base/text.h"
#include "eval/output/terminal.h"
#include "image/provenance.h"
#include "json/json_tree.h"
#include "view/compare.h"
#include "view/metrics.h"

struct shown {
    const char *source;
    const struct cw_provenance_fact *facts;
    uint32_t count;
};

static const char *const cares[] = {
    [CW_TEXT_KEPT] = "kept", [CW_TEXT_WITHOUT_PATHS] = "no paths", [CW_TEXT_PRIVATE] = "left out"};

enum { MOST_VALUES = 4, COLUMNS = 100, OTHERS = 55, ROOM = 400 };

/* "3: a, b, c" in the room of its column. */
static const char *list_values(const struct cw_provenance_fact *fact, size_t width, char shown[CW_SHORT_SIZE])
{
    char text[ROOM];
    size_t at = 0;
    if (fact->value_count > 1)
        at = cw_text_format(text, sizeof text, "%" PRIu32 ": ", fact->value_count);
    for (uint32_t i = 0; i < fact->value_count && i < MOST_VALUES && at < sizeof text - 1; i++)
        at += cw_text_format(text + at, sizeof text - at, "%s%s", i ? ", " : "", fact->values[i]);
    if (fact->value_count > MOST_VALUES)
        cw_text_format(text + at, sizeof text - at, ", ...");
    return cw_terminal_cut(text, width, shown);
}

static void print_facts(const struct shown *of, enum cw_text_care care, size_t width, FILE *out)
{
    char type[5], shown[CW_SHORT_SIZE];
    for (uint32_t i = 0; i < of->count; i++)
        if (of->facts[i].care == care)
            cw_text_print(out, "%-5s  %-36s  %-*s  %s\n", cw_chunk_type_text(of->facts[i].chunk, type),
                          of->facts[i].name, (int)width, list_values(&of->facts[i], width, shown), cares[care]);
}

static enum cw_status print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    const struct shown *shown = output->result;
    const size_t width = (style->width > COLUMNS ? style->width : COLUMNS) - OTHERS;
    (void)err;
    cw_text_print(out, "%-5s  %-36s  %-*s  %s\n", "chunk", "fact", (int)width, "values", "--redact");
    for (int care = CW_TEXT_PRIVATE; care >= CW_TEXT_KEPT; care--)
        print_facts(shown, (enum cw_text_care)care, width, out);
    fputs("No capture has its program's arguments, environment or user, nor memory but names and payloads of NVTX and "
          "values of memset.\n",
          out);
    return CW_OK;
}

static enum cw_status write_json(FILE *out, const void *content, struct cw_error *err)
{
    const struct shown *shown = content;
    json_t *facts = json_array();
    char type[5];
    for (uint32_t i = 0; i < shown->count; i++) {
        const struct cw_provenance_fact *fact = &shown->facts[i];
        json_t *values = json_array();
        for (uint32_t v = 0; v < fact->value_count; v++)
            cw_json_append(&values, json_string(fact->values[v]));
        cw_json_append(&facts, json_pack("{s:s, s:s, s:s, s:o}", "chunk", cw_chunk_type_text(fact->chunk, type), "fact",
                                         fact->name, "redacted", cares[fact->care], "values", values));
    }
    json_t *tree = json_pack("{s:s, s:o}", "source", shown->source, "provenance", facts);
    const enum cw_status status = cw_json_print(tree, JSON_INDENT(1), out, err);
    fputc('\n', out);
    return status;
}

/* ---- the table: a row for each value ------------------------------------------------------------------------------
 */

struct row {
    const char *chunk, *fact, *value, *redacted;
};

static const struct cw_output_column columns[] = {{"fact", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct row, fact)},
                                                  {"chunk", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct row, chunk)},
                                                  {"value", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct row, value)},
                                                  {"redacted", CW_CELL_TEXT, CW_TO_FILES,
                                                   offsetof(struct row, redacted),
                                                   .long_name = "by merge --redact: kept, no paths, or left out"}};

static enum cw_status add_table(struct cw_output *output, const struct shown *of, struct cw_arena *arena,
                                struct cw_error *err)
{
    char type[5];
    size_t count = 0;
    for (uint32_t i = 0; i < of->count; i++)
        count += of->facts[i].value_count;
    struct row *list = cw_arena_alloc(arena, count, sizeof *list);
    bool good = list;
    count = 0;
    for (uint32_t i = 0; i < of->count && good; i++) {
        const struct cw_provenance_fact *fact = &of->facts[i];
        const char *chunk = cw_arena_strdup(arena, cw_chunk_type_text(fact->chunk, type));
        good = chunk;
        for (uint32_t v = 0; v < fact->value_count; v++)
            list[count++] = (struct row){chunk, fact->name, fact->values[v], cares[fact->care]};
    }
    output->tables[output->table_count++] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(columns), .name = "facts",        .group = "fact", .record_size = sizeof *list,
        .row_count = count,         .row = cw_output_array, .content = list};
    return good ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_view_provenance(struct counterworks_view *view, const struct cw_view_input *in)
{
    struct shown *shown = cw_arena_alloc(in->arena, 1, sizeof *shown);
    *view = (struct counterworks_view){.arena = in->arena};
    if (!shown)
        return cw_error_nomem(in->err);
    shown->source = in->capture->source;
    cw_tell_incomplete(in->capture, in->notices);
    view->output.print = print;
    view->output.result = view->content = shown;
    view->output.data = &in->capture->data;
    view->output.source = in->capture->source;
    view->renders[CW_VIEW_JSON] = write_json;
    CW_TRY(cw_provenance_read(&shown->facts, &shown->count, &in->capture->data, in->arena, in->err));
    return add_table(&view->output, shown, in->arena, in->err);
}
