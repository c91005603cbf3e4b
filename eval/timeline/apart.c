#define _GNU_SOURCE
/* What names of processes and streams need so that different ones read differently. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "eval/timeline/parts.h"

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

/* Of processes with one number and rank, those from `first` to `end` of `order`, which are by host. */
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

/* Hosts give one number to several processes; so does one host, to containers, and to processes that follow one
 * another. */
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

/* The first stream of a process and device with a number, or with a name, and 1; NULL when out of memory. */
static uint32_t *first_with(struct cw_keys *keys, uint32_t *first, const struct cw_timeline_stream *s, bool named)
{
    const uint32_t at = cw_keys_add(keys, (struct cw_key){{s->process, s->device, named ? s->name : s->stream, named}});
    return at == CW_NO_KEY ? NULL : &first[at];
}

/* Each context of a process numbers streams for itself, and a program may give several one name. */
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
