#define _GNU_SOURCE
#include "report/trace_summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "eval/output/timeline_page.h"
#include "report/put.h"

enum { LIST_ROWS = 30, MOST_ROWS = 1000, SHORT_COLUMNS = 64 };

/* The sentences that the terminal has, one behind the other. */
static enum cw_status put_loss(FILE *out, const struct cw_timeline *t, struct cw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *told = open_memstream(&text, &size);
    if (told)
        cw_timeline_put_loss(t, told);
    const bool good = told && fclose(told) == 0 && text;
    for (char *end = good ? strchr(text, '\n') : NULL; end; end = strchr(end, '\n'))
        *end = end[1] ? ' ' : 0;
    if (good)
        cw_put_text(out, ",\n\"lost\":", text);
    free(text);
    return good ? CW_OK : cw_error_nomem(err);
}

/* A table as the terminal has it: cells are a text and a number to sort by, names of functions two, the whole and the
 * short one. The context of a page is whether it is the first. */
static void put_table(const struct cw_text_page *p, const char *title, struct cw_text_lines *l)
{
    bool *first = p->context;
    char name[CW_SHORT_SIZE];
    l->page = p;
    if (l->rows > MOST_ROWS) {
        snprintf(l->left, sizeof l->left, "and %" PRIu32 " more", l->rows - MOST_ROWS);
        l->rows = MOST_ROWS;
    }
    l->room = l->names == CW_NAMES_FUNCTIONS ? SHORT_COLUMNS : 0;
    cw_text_find_alike(l);
    cw_put_text(p->out, *first ? "\n{\"title\":" : ",\n{\"title\":", title ? title : "");
    *first = false;
    for (size_t k = 0; k < l->count; k++)
        cw_put_text(p->out, k ? "," : ",\"columns\":[", l->columns[k]);
    cw_put_text(p->out, ",", l->name);
    fputs("],\"rows\":[", p->out);
    for (uint32_t i = 0; i < l->rows; i++) {
        cw_text_fill(l, i, name);
        fputs(i ? ",\n[" : "\n[", p->out);
        for (size_t k = 0; k < l->count; k++) {
            cw_put_text(p->out, k ? ",[" : "[", l->cells[k]);
            cw_put_number(p->out, ",", l->values[k]);
            putc(']', p->out);
        }
        cw_put_text(p->out, ",[", name);
        if (l->room)
            cw_put_text(p->out, ",", l->text);
        fputs("]]", p->out);
    }
    cw_put_text(p->out, "],\"left\":", l->left);
    cw_put_text(p->out, ",\"note\":", l->note);
    putc('}', p->out);
    free(l->alike);
    l->alike = NULL;
}

enum cw_status cw_trace_summary_put(FILE *out, const struct cw_timeline *t, struct cw_arena *arena,
                                    struct cw_error *err)
{
    struct cw_timeline_sections sections;
    struct cw_timeline_rows list;
    const struct cw_timeline_output output = {.t = t, .list = &list, .sections = &sections, .wide = true};
    bool first = true;
    const struct cw_text_page page = {.o = &output, .t = t, .out = out, .put = put_table, .context = &first};
    enum cw_status status = cw_timeline_sections_make(&sections, t, NULL, NULL, 0, LIST_ROWS, arena, err);
    if (status == CW_OK)
        status = cw_timeline_rows_make(&list, t, CW_TIMELINE_BY_KERNEL, NULL, false, LIST_ROWS, arena, err);
    if (status != CW_OK)
        return status;
    fputs(",\n\"summary\":{\"usage\":[", out);
    if (sections.usage.device_count) {
        cw_text_put_devices(&page);
        cw_text_put_idle(&page);
        cw_text_put_gaps(&page);
    }
    fputs("]", out);
    status = put_loss(out, t, err);
    fputs(",\n\"lists\":[", out);
    first = true;
    if (list.count)
        cw_text_put_main_list(&page);
    cw_text_put_sections(&page);
    fputs("]}", out);
    return status;
}
