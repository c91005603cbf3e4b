#define _GNU_SOURCE
#include "report/trace_summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "eval/output/timeline_page.h"
#include "report/put.h"

enum { MOST_DEVICES = 64, LIST_ROWS = 30, MOST_ROWS = 1000, SHORT_COLUMNS = 64 };

static void put_causes(FILE *out, const struct cw_device_usage *d)
{
    fputs(",\"causes\":[", out);
    for (int c = 0; c < CW_IDLE__COUNT; c++) {
        cw_put_number(out, c ? ",[" : "[", d->causes[c]);
        cw_put_count(out, ",", d->cause_gaps[c]);
        fputs("]", out);
    }
    fputs("]", out);
}

static void put_gaps(FILE *out, const struct cw_timeline *t, const struct cw_device_usage *d)
{
    fputs(",\"gaps\":[", out);
    for (uint32_t i = 0; i < d->largest_count; i++) {
        const struct cw_idle_gap *gap = &d->largest[i];
        int mostly = 0;
        for (int c = 1; c < CW_IDLE__COUNT; c++)
            mostly = gap->causes[c] > gap->causes[mostly] ? c : mostly;
        cw_put_count(out, i ? ",{\"start\":" : "{\"start\":", gap->start - t->start);
        cw_put_count(out, ",\"length\":", gap->end - gap->start);
        cw_put_count(out, ",\"cause\":", (uint64_t)mostly);
        fputs("}", out);
    }
    fputs("]", out);
}

static void put_device(FILE *out, const struct cw_timeline *t, const struct cw_device_usage *d)
{
    if (d->device == CW_NO_TRACE_DEVICE)
        fputs("{\"device\":null", out);
    else
        cw_put_count(out, "{\"device\":", t->data->devices[d->device].index);
    const char *name =
        d->device == CW_NO_TRACE_DEVICE ? NULL : cw_device_attribute(&t->data->devices[d->device], "name");
    cw_put_text(out, ",\"name\":", name ? name : "");
    cw_put_number(out, ",\"traced\":", d->traced);
    cw_put_number(out, ",\"busy\":", d->busy);
    cw_put_number(out, ",\"idle\":", d->idle);
    cw_put_count(out, ",\"gap_count\":", d->gaps);
    for (int w = 0; w < CW_WORK__COUNT; w++) {
        cw_put_number(out, w ? "," : ",\"work\":[", d->work[w]);
        cw_put_number(out, ",", d->alone[w]);
    }
    fputs("]", out);
    put_causes(out, d);
    put_gaps(out, t, d);
    fputs("}", out);
}

static void put_usage(FILE *out, const struct cw_timeline *t, const struct cw_timeline_usage *u)
{
    fputs("{\"causes\":[", out);
    for (int c = 0; c < CW_IDLE__COUNT; c++)
        cw_put_text(out, c ? ",\n" : "\n", cw_timeline_cause_texts[c]);
    fputs("],\n\"devices\":[", out);
    for (uint32_t i = 0; i < u->device_count && i < MOST_DEVICES; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_device(out, t, &u->devices[i]);
    }
    fputs("]", out);
}

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

static void put_cell(FILE *out, const char *before, const struct cw_text_cell *cell)
{
    fputs(before, out);
    cw_put_text(out, "[", cell->text);
    cw_put_number(out, ",", cell->value);
    putc(']', out);
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
    cw_put_text(p->out, *first ? "\n{\"title\":" : ",\n{\"title\":", title);
    *first = false;
    for (size_t k = 0; k < l->count; k++)
        cw_put_text(p->out, k ? "," : ",\"columns\":[", l->columns[k]);
    cw_put_text(p->out, ",", l->name);
    fputs("],\"rows\":[", p->out);
    for (uint32_t i = 0; i < l->rows; i++) {
        cw_text_fill(l, i, name);
        fputs(i ? ",\n[" : "\n[", p->out);
        for (size_t k = 0; k < l->count; k++)
            put_cell(p->out, k ? "," : "", &l->one.cells[k]);
        cw_put_text(p->out, ",[", name);
        if (l->room)
            cw_put_text(p->out, ",", l->one.name);
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
        status = cw_timeline_rows_make(&list, t, CW_TIMELINE_BY_KERNEL, NULL, LIST_ROWS, arena, err);
    if (status != CW_OK)
        return status;
    fputs(",\n\"summary\":", out);
    put_usage(out, t, &sections.usage);
    status = put_loss(out, t, err);
    fputs(",\n\"lists\":[", out);
    if (list.count)
        cw_text_put_main_list(&page);
    cw_text_put_sections(&page);
    fputs("]}", out);
    return status;
}
