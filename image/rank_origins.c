#include "image/rank_origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

struct cw_rank_origin {
    uint32_t rank, ranks; /* ranks: of the job, 0 unknown */
    uint32_t file, process;
    const char *host, *path;
};

/* ---- adding ----------------------------------------------------------------------------------------------------- */

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_process(const void *left, const void *right)
{
    const struct cw_rank_origin *a = left, *b = right;
    const int process = compare(a->process, b->process);
    return process ? process : strcmp(a->host, b->host);
}

static int by_rank(const void *left, const void *right)
{
    const struct cw_rank_origin *a = left, *b = right;
    const int rank = compare(a->rank, b->rank), ranks = compare(a->ranks, b->ranks), file = compare(a->file, b->file);
    return rank ? rank : ranks ? ranks : file ? file : by_process(a, b);
}

/* Sorts, and removes duplicates. */
static void sort(struct cw_rank_origins *o)
{
    size_t kept = 0;
    if (o->count)
        qsort(o->items, o->count, sizeof *o->items, by_rank);
    for (size_t i = 0; i < o->count; i++)
        if (!kept || by_rank(&o->items[kept - 1], &o->items[i]) != 0)
            o->items[kept++] = o->items[i];
    o->count = kept;
}

static bool grow(struct cw_rank_origins *o)
{
    sort(o);
    if (o->room && o->count < o->room / 2)
        return true;
    const size_t room = o->room ? 2 * o->room : 64;
    struct cw_rank_origin *more = cw_arena_alloc(o->arena, room, sizeof *more);
    if (!more)
        return false;
    if (o->count)
        memcpy(more, o->items, o->count * sizeof *more);
    o->items = more;
    o->room = room;
    return true;
}

/* Adds a process of the last file. Consecutive launches mostly are of one process, so it compares with the last one. */
static enum cw_status add(struct cw_rank_origins *o, struct cw_rank_origin *item, const char *rank, const char *ranks,
                          struct cw_error *err)
{
    const struct cw_rank_origin *last = o->count ? &o->items[o->count - 1] : NULL;
    if (!rank || !cw_decimal_read_u32(rank, &item->rank))
        return CW_OK;
    if (!ranks || !cw_decimal_read_u32(ranks, &item->ranks))
        item->ranks = 0;
    if (item->ranks == 1 || (last && by_rank(last, item) == 0)) /* each job of a sweep has a rank 0 */
        return CW_OK;
    if (o->count == o->room && !grow(o))
        return cw_error_nomem(err);
    o->items[o->count++] = *item;
    return CW_OK;
}

enum cw_status cw_rank_origins_add(struct cw_rank_origins *o, const struct cw_counter_data *data, const char *path,
                                   struct cw_error *err)
{
    const char **hosts = cw_arena_alloc(o->arena, data->device_count + (size_t)1, sizeof *hosts);
    struct cw_rank_origin item = {.file = o->files++, .path = cw_arena_strdup(o->arena, path)};
    if (!hosts || !item.path)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < data->device_count; i++) {
        const char *host = cw_device_attribute(&data->devices[i], "host");
        if (!(hosts[i] = cw_arena_strdup(o->arena, host ? host : "")))
            return cw_error_nomem(err);
    }
    for (uint32_t i = 0; i < cw_launch_count(data); i++) {
        const struct cw_range *launch = cw_launch(data, i);
        item.process = launch->process;
        item.host = launch->device < data->device_count ? hosts[launch->device] : "";
        CW_TRY(add(o, &item, cw_range_attribute(launch, "rank"), cw_range_attribute(launch, "ranks"), err));
    }
    return CW_OK;
}

enum cw_status cw_rank_origins_add_trace(struct cw_rank_origins *o, const struct cw_trace *trace, const char *path,
                                         struct cw_error *err)
{
    struct cw_rank_origin item = {.file = o->files++, .path = cw_arena_strdup(o->arena, path)};
    if (!item.path)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < trace->process_count; i++) {
        const struct cw_trace_process *p = &trace->processes[i];
        const char *host = cw_trace_attribute(p, "host");
        item.process = p->pid;
        if (!(item.host = cw_arena_strdup(o->arena, host ? host : "")))
            return cw_error_nomem(err);
        CW_TRY(add(o, &item, cw_trace_attribute(p, "rank"), cw_trace_attribute(p, "ranks"), err));
    }
    return CW_OK;
}

/* ---- finding ---------------------------------------------------------------------------------------------------- */

static size_t end_of_file(const struct cw_rank_origins *o, size_t first, size_t end)
{
    size_t i = first;
    while (i < end && o->items[i].file == o->items[first].file)
        i++;
    return i;
}

/* Takes the first file of items first to end - 1, and the other files without a process of it. */
static void find_files(const struct cw_rank_origins *o, size_t first, size_t end, struct cw_rank_twice *found)
{
    const struct cw_rank_origin *items = o->items;
    const size_t own = end_of_file(o, first, end) - first;
    *found = (struct cw_rank_twice){items[first].rank, 1, {items[first].path}};
    for (size_t at = first + own, next; at < end; at = next) {
        bool common = false;
        next = end_of_file(o, at, end);
        for (size_t i = at; i < next && !common; i++)
            common = bsearch(&items[i], &items[first], own, sizeof *items, by_process);
        if (!common && found->count < CW_RANK_TWICE_FILES)
            found->files[found->count] = items[at].path;
        found->count += !common;
    }
}

bool cw_rank_origins_next(struct cw_rank_origins *o, size_t *at, struct cw_rank_twice *found)
{
    bool twice = false;
    if (!*at)
        sort(o);
    for (size_t end; !twice && *at < o->count; *at = end) {
        const struct cw_rank_origin *first = &o->items[*at];
        for (end = *at; end < o->count && o->items[end].rank == first->rank && o->items[end].ranks == first->ranks;)
            end++;
        find_files(o, *at, end, found);
        twice = found->count > 1;
    }
    return twice;
}
