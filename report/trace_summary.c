#define _GNU_SOURCE
#include "report/trace_summary.h"

#include <stdlib.h>
#include <string.h>

#include "eval/output/timeline_page.h"
#include "report/put.h"

enum { MOST_DEVICES = 64, MOST_ROWS = 30 };

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

static enum cw_status put_list(FILE *out, const struct cw_timeline *t, enum cw_timeline_by by, struct cw_arena *arena,
                               struct cw_error *err)
{
    struct cw_timeline_groups groups;
    const enum cw_status status = cw_timeline_group(&groups, by, t, NULL, arena, err);
    if (status != CW_OK)
        return status;
    fprintf(out, ",\n\"%s\":{\"total\":", cw_timeline_by_names[by]);
    cw_put_number(out, "", groups.total);
    cw_put_count(out, ",\"count\":", groups.count);
    fputs(",\"rows\":[", out);
    for (uint32_t i = 0; i < groups.count && i < MOST_ROWS; i++) {
        const struct cw_timeline_group *g = &groups.items[i];
        char name[CW_TIMELINE_NAME_SIZE];
        cw_put_text(out, i ? ",\n{\"name\":" : "\n{\"name\":", cw_timeline_group_name(&groups, i, name));
        if (by == CW_TIMELINE_BY_KERNEL)
            cw_put_short(out, ",\"short\":", name);
        cw_put_count(out, ",\"count\":", g->count);
        cw_put_number(out, ",\"total\":", g->total);
        cw_put_number(out, ",\"least\":", g->least);
        cw_put_number(out, ",\"greatest\":", g->greatest);
        cw_put_number(out, ",\"bytes\":", g->bytes);
        cw_put_number(out, ",\"own\":", g->own);
        cw_put_count(out, ",\"failed\":", g->failed);
        fputs("}", out);
    }
    fputs("]}", out);
    return CW_OK;
}

/* A table as the terminal has it; the context of a page is whether it is the first. */
static void put_table(const struct cw_text_page *p, const char *title, struct cw_text_lines *l)
{
    bool *first = p->context;
    struct cw_text_line *line = &l->one;
    cw_put_text(p->out, *first ? "\n{\"title\":" : ",\n{\"title\":", title);
    *first = false;
    for (size_t k = 0; k < l->count; k++)
        cw_put_text(p->out, k ? "," : ",\"columns\":[", l->columns[k]);
    cw_put_text(p->out, ",", l->name);
    fputs("],\"rows\":[", p->out);
    for (uint32_t i = 0; i < l->rows && i < MOST_ROWS; i++) {
        l->fill(l, i, line);
        fputs(i ? ",\n[" : "\n[", p->out);
        for (size_t k = 0; k < l->count; k++)
            cw_put_text(p->out, k ? "," : "", line->cells[k]);
        cw_put_text(p->out, ",", line->name);
        putc(']', p->out);
    }
    cw_put_count(p->out, "],\"left\":", l->rows > MOST_ROWS ? l->rows - MOST_ROWS : 0);
    putc('}', p->out);
}

/* What the terminal says behind its lists, in the same words. */
static enum cw_status put_tables(FILE *out, const struct cw_timeline *t, const struct cw_timeline_usage *usage,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct cw_timeline_extra extra;
    const struct cw_timeline_output output = {.t = t, .usage = usage, .extra = &extra, .wide = true};
    bool first = true;
    const struct cw_text_page page = {.o = &output, .t = t, .out = out, .put = put_table, .context = &first};
    const enum cw_status status = cw_timeline_find_extra(&extra, t, arena, err);
    fputs(",\n\"tables\":[", out);
    if (status == CW_OK)
        cw_text_put_extra(&page);
    fputs("]", out);
    return status;
}

enum cw_status cw_trace_summary_put(FILE *out, const struct cw_timeline *t, struct cw_arena *arena,
                                    struct cw_error *err)
{
    static const enum cw_timeline_by lists[] = {CW_TIMELINE_BY_KERNEL, CW_TIMELINE_BY_COPY, CW_TIMELINE_BY_NVTX,
                                                CW_TIMELINE_BY_CALL};
    struct cw_timeline_usage usage;
    enum cw_status status = cw_timeline_use(&usage, t, NULL, 0, arena, err);
    if (status != CW_OK)
        return status;
    fputs(",\n\"summary\":", out);
    put_usage(out, t, &usage);
    status = put_loss(out, t, err);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == CW_OK; i++)
        status = put_list(out, t, lists[i], arena, err);
    if (status == CW_OK)
        status = put_tables(out, t, &usage, arena, err);
    fputs("}", out);
    return status;
}
