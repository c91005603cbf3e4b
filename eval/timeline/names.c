#define _GNU_SOURCE
/* The texts of all processes as one table, and names for people. */
#include <inttypes.h>
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

/* ---- for people -------------------------------------------------------------------------------------------------- */

/* "cudaLaunchKernel" of "cudaLaunchKernel_v7000", which is how CUPTI names calls. */
static const char *without_version(const char *name, struct cw_arena *arena)
{
    const char *version = strrchr(name, '_');
    if (!version || version == name || version[1] != 'v' || !version[2] ||
        version[2 + strspn(version + 2, "0123456789")])
        return name;
    return strlen(version) < 6 ? name : cw_arena_strndup(arena, name, (size_t)(version - name));
}

/* Restores the versions of calls that differ in nothing else; such calls stand side by side. */
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

/* Kernels' names come from a file, and a library reads them: see eval/samples/places.h. */
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
        status = cw_places_resolve(list, count, NULL, 0, NULL, &left, w->arena, w->err);
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

/* ---- telling apart ----------------------------------------------------------------------------------------------- */

static const char *attribute(const struct cw_timeline *t, uint32_t process, const char *key)
{
    const char *value = cw_timeline_attribute(t, process, key);
    return value ? value : "";
}

static int compare_numbers(const struct cw_timeline *t, uint32_t a, uint32_t b)
{
    const uint32_t x = t->trace->processes[a].pid, y = t->trace->processes[b].pid;
    return x != y ? (x > y) - (x < y) : strcmp(attribute(t, a, "rank"), attribute(t, b, "rank"));
}

static int compare_hosts(const struct cw_timeline *t, uint32_t a, uint32_t b)
{
    return strcmp(attribute(t, a, "host"), attribute(t, b, "host"));
}

static int in_order(const void *left, const void *right, void *timeline)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int number = compare_numbers(timeline, a, b), host = compare_hosts(timeline, a, b);
    return number ? number : host ? host : (a > b) - (a < b);
}

/* Marks processes with one number and rank: `first` to `end` of `order`, which are by host. */
static bool mark_processes(struct cw_timeline_work *w, const uint32_t *order, uint32_t first, uint32_t end,
                           const char **marks)
{
    const struct cw_timeline *t = w->t;
    const bool hosts = compare_hosts(t, order[first], order[end - 1]) != 0;
    for (uint32_t i = first, nth = 1; i < end; i++) {
        const bool before = i > first && compare_hosts(t, order[i - 1], order[i]) == 0;
        const bool behind = i + 1 < end && compare_hosts(t, order[i], order[i + 1]) == 0;
        const char *host = hosts ? attribute(t, order[i], "host") : "";
        nth = before ? nth + 1 : 1;
        marks[order[i]] = before || behind
                              ? cw_arena_printf(w->arena, "%s%.64s #%" PRIu32, *host ? " on " : "", host, nth)
                              : cw_arena_printf(w->arena, "%s%.64s", *host ? " on " : "", host);
        if (!marks[order[i]])
            return false;
    }
    return true;
}

/* Processes of several hosts may share a number, and so may processes of one host, in containers or one after another.
 */
static bool tell_processes(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    const uint32_t count = t->trace->process_count;
    const char **marks = cw_arena_alloc(w->arena, count, sizeof *marks);
    uint32_t *order = calloc((size_t)count + 1, sizeof *order);
    bool good = marks && order;
    for (uint32_t i = 0; good && i < count; i++)
        order[i] = i;
    if (good)
        qsort_r(order, count, sizeof *order, in_order, t);
    for (uint32_t first = 0, end; good && first < count; first = end) {
        for (end = first + 1; end < count && compare_numbers(t, order[first], order[end]) == 0;)
            end++;
        marks[order[first]] = "";
        good = end == first + 1 || mark_processes(w, order, first, end, marks);
    }
    free(order);
    t->process_marks = marks;
    return good;
}

/* The slot for the first stream (its index + 1) of a process and device with a number or name; NULL when out of memory.
 */
static uint32_t *first_with(struct cw_keys *keys, uint32_t *first, const struct cw_timeline_stream *s, bool named)
{
    const uint32_t at = cw_keys_add(keys, (struct cw_key){{s->process, s->device, named ? s->name : s->stream, named}});
    return at == CW_NO_KEY ? NULL : &first[at];
}

/* Each context of a process numbers its streams from the start, and a program may give several one name. */
static bool tell_streams(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    struct cw_keys keys = {0};
    uint32_t *first = calloc(2 * (size_t)t->stream_count + 1, sizeof *first);
    bool good = first;
    for (uint32_t i = 0; good && i < t->stream_count; i++) {
        struct cw_timeline_stream *s = &t->streams[i];
        uint32_t *number = first_with(&keys, first, s, false),
                 *name = s->name ? first_with(&keys, first, s, true) : NULL;
        good = number && (name || !s->name);
        if (good && *number)
            s->shares_number = t->streams[*number - 1].shares_number = true;
        if (good && name && *name)
            s->shares_name = t->streams[*name - 1].shares_name = true;
        if (good)
            *number = *number ? *number : i + 1;
        if (good && name)
            *name = *name ? *name : i + 1;
    }
    cw_keys_free(&keys);
    free(first);
    return good;
}

enum cw_status cw_timeline_tell_apart(struct cw_timeline_work *w)
{
    return tell_processes(w) && tell_streams(w) ? CW_OK : cw_error_nomem(w->err);
}
