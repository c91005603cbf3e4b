/* Texts of a trace: those of all processes as one table, and what people read. */
#include <stdlib.h>
#include <string.h>

#include "eval/samples/places.h"
#include "eval/timeline/parts.h"

struct text {
    const char *text;
    uint32_t process, index;
};

static int by_text(const void *left, const void *right)
{
    const struct text *a = left, *b = right;
    return strcmp(a->text, b->text);
}

enum cw_status cw_timeline_join_names(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    const struct cw_trace *trace = t->trace;
    size_t count = 1;
    uint32_t **maps = cw_arena_alloc(w->arena, trace->process_count, sizeof *maps);
    for (uint32_t p = 0; maps && p < trace->process_count; p++) {
        count += trace->processes[p].text_count;
        if (!(maps[p] = cw_arena_alloc(w->arena, trace->processes[p].text_count, sizeof **maps)))
            return cw_error_nomem(w->err);
    }
    struct text *texts = count < CW_TIMELINE_NONE ? calloc(count, sizeof *texts) : NULL;
    if (!maps || !texts) {
        free(texts);
        return cw_error_nomem(w->err);
    }
    texts[0] = (struct text){"", CW_TIMELINE_NONE, 0};
    for (uint32_t p = 0, at = 1; p < trace->process_count; p++)
        for (uint32_t i = 0; i < trace->processes[p].text_count; i++)
            texts[at++] = (struct text){trace->processes[p].texts[i], p, i};
    qsort(texts, count, sizeof *texts, by_text);
    uint32_t different = 1;
    for (size_t i = 1; i < count; i++)
        different += strcmp(texts[i - 1].text, texts[i].text) != 0;
    t->names = cw_arena_alloc(w->arena, different, sizeof *t->names);
    for (size_t i = 0; i < count && t->names; i++) {
        if (!i || strcmp(texts[i - 1].text, texts[i].text) != 0)
            t->names[t->name_count++] = (struct cw_timeline_name){texts[i].text, texts[i].text};
        if (texts[i].process != CW_TIMELINE_NONE)
            maps[texts[i].process][texts[i].index] = t->name_count - 1;
    }
    free(texts);
    t->text_names = (const uint32_t *const *)maps;
    return t->names ? CW_OK : cw_error_nomem(w->err);
}

uint32_t cw_timeline_name(const struct cw_timeline *t, uint32_t process, uint64_t text)
{
    return text < t->trace->processes[process].text_count ? t->text_names[process][text] : 0;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

/* "cudaLaunchKernel" of "cudaLaunchKernel_v7000", which is how CUPTI names calls. */
static const char *without_version(const char *name, struct cw_arena *arena)
{
    const char *version = strrchr(name, '_');
    if (!version || version == name || version[1] != 'v' || !version[2] ||
        version[2 + strspn(version + 2, "0123456789")])
        return name;
    return strlen(version) < 6 ? name : cw_arena_strndup(arena, name, (size_t)(version - name));
}

/* Of calls that differ in their versions alone, which stand beside one another, each keeps its own. */
static void keep_versions(struct cw_timeline *t)
{
    struct cw_timeline_name *last = NULL;
    for (uint32_t i = 0; i < t->name_count; i++) {
        struct cw_timeline_name *name = &t->names[i];
        if (name->shown == name->text)
            continue;
        const size_t length = strlen(name->shown);
        if (last && strncmp(last->text, name->shown, length) == 0 && strncmp(last->text + length, "_v", 2) == 0) {
            last->shown = last->text;
            name->shown = name->text;
        }
        last = name;
    }
}

static enum cw_status show_calls(struct cw_timeline_work *w)
{
    for (uint32_t i = 0; i < w->t->call_count; i++, cw_timeline_step(w->t)) {
        struct cw_timeline_name *name = &w->t->names[w->t->calls[i].name];
        if (name->shown == name->text && !(name->shown = without_version(name->text, w->arena)))
            return cw_error_nomem(w->err);
    }
    keep_versions(w->t);
    return CW_OK;
}

/* Kernels' names come from a file, and what reads them is not ours: see eval/samples/places.h. */
static enum cw_status show_kernels(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    struct cw_place *places = calloc((size_t)t->shape_count + 1, sizeof *places);
    struct cw_place **list = calloc((size_t)t->shape_count + 1, sizeof *list);
    struct cw_places_left left = {0};
    size_t count = 0;
    enum cw_status status = places && list ? CW_OK : cw_error_nomem(w->err);
    for (uint32_t i = 0; i < t->shape_count && status == CW_OK; i++)
        if (strncmp(t->names[t->shapes[i].name].text, "_Z", 2) == 0) {
            places[i].function = t->names[t->shapes[i].name].text;
            list[count++] = &places[i];
        }
    if (status == CW_OK && count)
        status = cw_places_resolve(list, count, NULL, 0, &left, w->arena, w->err);
    for (uint32_t i = 0; i < t->shape_count && status == CW_OK; i++)
        if (places[i].function)
            t->names[t->shapes[i].name].shown = places[i].name;
    t->unnamed = left.names;
    free(places);
    free(list);
    return status;
}

enum cw_status cw_timeline_show_names(struct cw_timeline_work *w)
{
    const enum cw_status status = show_calls(w);
    return status == CW_OK ? show_kernels(w) : status;
}
