/* What ran, added up by what it has in common, and how that is named (eval/timeline_groups.h). */
#define _GNU_SOURCE

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "eval/keys.h"
#include "eval/labels.h"
#include "eval/timeline_group_parts.h"

const char *const cw_timeline_by_names[CW_TIMELINE_BY__COUNT] = {
    "kernel", "family", "nvtx", "stream", "device", "process", "rank", "copy", "call", "nvtx-each", "graph"};

bool cw_timeline_communicates(const char *kernel)
{
    static const char *const beginnings[] = {"nccl", "nvshmem", "void nccl", "void nvshmem"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(kernel, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* ---- what belongs together -------------------------------------------------------------------------------------- */

struct grouping {
    struct cw_timeline_groups *groups;
    const uint32_t *family_of, *rank_of; /* by name, and by process: numbers of their own */
    struct cw_keys keys;
};

/* Families of the names that kernels have. */
static bool find_families(struct grouping *g, struct cw_arena *arena)
{
    const struct cw_timeline *t = g->groups->t;
    char text[CW_SHORT_SIZE];
    const char **families = cw_arena_alloc(arena, t->name_count, sizeof *families);
    struct cw_label *labels = calloc((size_t)t->name_count + 1, sizeof *labels);
    bool good = families && labels;
    for (uint32_t i = 0; good && i < t->name_count; i++)
        labels[i] = (struct cw_label){"", i};
    for (uint32_t i = 0; good && i < t->gpu_count; i++) {
        const uint32_t name = t->gpu[i].name;
        if (families[name] || t->gpu[i].kind != CW_TRACE_KERNEL)
            continue;
        families[name] = cw_arena_strdup(arena, cw_shorten_to_family(t->names[name].shown, text));
        good = families[name];
        labels[name].text = good ? families[name] : "";
    }
    g->groups->families = families;
    g->family_of = good ? cw_label_number(labels, t->name_count, arena) : NULL;
    free(labels);
    return g->family_of;
}

static const char *rank_of(const struct cw_timeline *t, uint32_t process)
{
    const char *rank = cw_timeline_attribute(t, process, "rank");
    return rank ? rank : "";
}

static bool find_ranks(struct grouping *g, struct cw_arena *arena)
{
    const struct cw_timeline *t = g->groups->t;
    const uint32_t count = t->trace->process_count;
    struct cw_label *labels = calloc((size_t)count + 1, sizeof *labels);
    for (uint32_t i = 0; labels && i < count; i++)
        labels[i] = (struct cw_label){rank_of(t, i), i};
    g->rank_of = labels ? cw_label_number(labels, count, arena) : NULL;
    free(labels);
    return g->rank_of;
}

static bool is_kernel(const struct cw_timeline_gpu *g)
{
    return g->kind == CW_TRACE_KERNEL || g->kind == CW_TRACE_GRAPH;
}

/* What all items of a group have in common. False for what is in none. */
static bool find_key(const struct grouping *g, uint32_t item, struct cw_key *key)
{
    const struct cw_timeline *t = g->groups->t;
    *key = (struct cw_key){{0}};
    if (g->groups->by == CW_TIMELINE_BY_CALL) {
        key->part[0] = t->calls[item].name;
        return true;
    }
    const struct cw_timeline_gpu *gpu = &t->gpu[item];
    const struct cw_timeline_stream *s = &t->streams[gpu->stream];
    switch (g->groups->by) {
    case CW_TIMELINE_BY_KERNEL:
        *key = (struct cw_key){{gpu->kind, gpu->name}};
        return is_kernel(gpu);
    case CW_TIMELINE_BY_FAMILY:
        *key = (struct cw_key){{gpu->kind, g->family_of[gpu->name]}};
        return is_kernel(gpu);
    case CW_TIMELINE_BY_COPY:
        *key = (struct cw_key){{gpu->kind, gpu->name, gpu->from, gpu->to}};
        return !is_kernel(gpu);
    case CW_TIMELINE_BY_STREAM:
        key->part[0] = gpu->stream;
        return true;
    case CW_TIMELINE_BY_DEVICE:
        key->part[0] = s->device;
        return true;
    case CW_TIMELINE_BY_PROCESS:
        key->part[0] = s->process;
        return true;
    default:
        key->part[0] = g->rank_of[s->process];
        return true;
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

static struct cw_timeline_group *find_group(struct grouping *g, uint32_t item, struct cw_timeline_group **groups,
                                            uint32_t *room)
{
    struct cw_key key;
    if (!find_key(g, item, &key))
        return NULL;
    const uint32_t before = g->keys.count, at = cw_keys_add(&g->keys, key);
    if (at == CW_NO_KEY)
        return NULL;
    if (at == *room) {
        struct cw_timeline_group *grown = realloc(*groups, (2 * (size_t)*room + 16) * sizeof *grown);
        if (!grown)
            return NULL;
        *groups = grown;
        *room = 2 * *room + 16;
    }
    if (at == before)
        (*groups)[at] = (struct cw_timeline_group){.first = item, .least = -1};
    return &(*groups)[at];
}

void cw_timeline_group_add(struct cw_timeline_groups *all, struct cw_timeline_group *group, uint32_t item)
{
    const struct cw_timeline *t = all->t;
    const bool call = all->by == CW_TIMELINE_BY_CALL;
    const double time =
        call ? (double)(t->calls[item].end - t->calls[item].start) : (double)(t->gpu[item].end - t->gpu[item].start);
    group->count++;
    group->total += time;
    group->least = group->least < 0 || time < group->least ? time : group->least;
    group->greatest = time > group->greatest ? time : group->greatest;
    if (call)
        group->failed += t->calls[item].result != 0;
    else if (t->gpu[item].bytes != CW_TRACE_UNKNOWN)
        group->bytes += (double)t->gpu[item].bytes;
    group->other_thread += !call && t->gpu[item].other_thread;
    all->other_thread += !call && t->gpu[item].other_thread;
    all->total += time;
    all->item_count++;
}

static int by_total(const void *left, const void *right)
{
    const struct cw_timeline_group *a = left, *b = right;
    return a->total != b->total ? (a->total < b->total) - (a->total > b->total)
           : a->wall != b->wall ? (a->wall < b->wall) - (a->wall > b->wall)
                                : (a->first > b->first) - (a->first < b->first);
}

static bool add_up(struct grouping *g, const struct cw_timeline_keep *of, struct cw_arena *arena)
{
    struct cw_timeline_groups *all = g->groups;
    struct cw_timeline_group *groups = NULL;
    const bool *keep = all->by == CW_TIMELINE_BY_CALL ? of->calls : of->gpu;
    const uint32_t count = all->by == CW_TIMELINE_BY_CALL ? all->t->call_count : all->t->gpu_count;
    uint32_t room = 0;
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) {
        struct cw_key none;
        if (keep && !keep[i])
            continue;
        struct cw_timeline_group *group = find_group(g, i, &groups, &room);
        if (group)
            cw_timeline_group_add(all, group, i);
        else
            good = !find_key(g, i, &none);
    }
    all->count = g->keys.count;
    all->items = good ? cw_arena_alloc(arena, all->count, sizeof *all->items) : NULL;
    if (all->items && all->count)
        memcpy(all->items, groups, all->count * sizeof *groups);
    free(groups);
    return all->items;
}

enum cw_status cw_timeline_group(struct cw_timeline_groups *groups, enum cw_timeline_by by, const struct cw_timeline *t,
                                 const struct cw_timeline_keep *keep, struct cw_arena *arena, struct cw_error *err)
{
    static const struct cw_timeline_keep all = {0};
    struct grouping g = {.groups = groups};
    *groups = (struct cw_timeline_groups){.t = t, .by = by};
    keep = keep ? keep : &all;
    bool good = by == CW_TIMELINE_BY_FAMILY ? find_families(&g, arena)
                : by == CW_TIMELINE_BY_RANK ? find_ranks(&g, arena)
                                            : true;
    good = good && (cw_timeline_by_ranges(by)    ? cw_timeline_group_ranges(groups, keep, arena)
                    : by == CW_TIMELINE_BY_GRAPH ? cw_timeline_group_graphs(groups, keep, arena)
                                                 : add_up(&g, keep, arena));
    if (good && groups->count)
        qsort(groups->items, groups->count, sizeof *groups->items, by_total);
    cw_keys_free(&g.keys);
    return good ? CW_OK : cw_error_nomem(err);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static void name_device(const struct cw_timeline *t, uint32_t device, char text[CW_TIMELINE_NAME_SIZE])
{
    if (device == CW_NO_TRACE_DEVICE) {
        strcpy(text, "(no device)");
        return;
    }
    const struct cw_device *d = &t->data->devices[device];
    const char *name = cw_device_attribute(d, "name");
    snprintf(text, CW_TIMELINE_NAME_SIZE, "device %" PRIu32 "%s%s", d->index, name ? " " : "", name ? name : "");
}

/* "process 4000 rank 0" */
static size_t name_process(const struct cw_timeline *t, uint32_t process, char text[CW_TIMELINE_NAME_SIZE])
{
    const char *rank = cw_timeline_attribute(t, process, "rank");
    const int used = snprintf(text, CW_TIMELINE_NAME_SIZE, "process %" PRIu32 "%s%.16s",
                              t->trace->processes[process].pid, rank ? " rank " : "", rank ? rank : "");
    return (size_t)used;
}

const char *cw_timeline_name_stream(const struct cw_timeline *t, const struct cw_timeline_stream *s,
                                    char text[CW_TIMELINE_NAME_SIZE])
{
    const bool several = t->trace->process_count > 1;
    const char *rank = several ? cw_timeline_attribute(t, s->process, "rank") : NULL;
    char number[32] = "?", before[64] = "", device[32] = "", process[32] = "";
    if (s->stream != CW_TRACE_UNKNOWN)
        snprintf(number, sizeof number, "%" PRIu64, s->stream);
    if (t->data->device_count > 1 && s->device != CW_NO_TRACE_DEVICE)
        snprintf(device, sizeof device, " device %" PRIu32, t->data->devices[s->device].index);
    if (several)
        snprintf(process, sizeof process, "%sprocess %" PRIu32 "%s", rank ? " " : "",
                 t->trace->processes[s->process].pid, rank ? "" : " ");
    if (rank)
        snprintf(before, sizeof before, "rank %.16s ", rank);
    snprintf(text, CW_TIMELINE_NAME_SIZE, "%sstream %s%s%.200s%s%s", rank ? before : process, number,
             s->name ? " " : "", t->names[s->name].text, device, rank ? process : "");
    return text;
}

/* "process 70 graph 2" */
static void name_graph(const struct cw_timeline *t, const struct cw_timeline_group *group,
                       char text[CW_TIMELINE_NAME_SIZE])
{
    const struct cw_timeline_gpu *g = &t->gpu[group->first];
    char number[32] = "that is not known";
    int used = 0;
    if (t->trace->process_count > 1)
        used += (int)name_process(t, t->streams[g->stream].process, text), used += snprintf(text + used, 2, " ");
    if (group->graph != CW_TRACE_UNKNOWN)
        snprintf(number, sizeof number, "%" PRIu64, group->graph);
    snprintf(text + used, CW_TIMELINE_NAME_SIZE - (size_t)used, "graph %s", number);
}

/* "HtoD from pageable to device", "memset of device" */
const char *cw_timeline_name_copy(const struct cw_timeline *t, const struct cw_timeline_gpu *g,
                                  char text[CW_TIMELINE_NAME_SIZE])
{
    const char *name = t->names[g->name].text, *from = t->names[g->from].text, *to = t->names[g->to].text;
    if (g->kind == CW_TRACE_MEMSET)
        snprintf(text, CW_TIMELINE_NAME_SIZE, "memset%s%.100s", *name ? " of " : "", name);
    else
        snprintf(text, CW_TIMELINE_NAME_SIZE, "%.100s%s%.100s%s%.100s", *name ? name : "copy", *from ? " from " : "",
                 from, *to ? " to " : "", to);
    return text;
}

const char *cw_timeline_group_name(const struct cw_timeline_groups *groups, uint32_t group,
                                   char text[CW_TIMELINE_NAME_SIZE])
{
    const struct cw_timeline *t = groups->t;
    const uint32_t first = groups->items[group].first;
    const bool of_gpu = groups->by != CW_TIMELINE_BY_CALL && !cw_timeline_by_ranges(groups->by);
    const struct cw_timeline_gpu *g = of_gpu ? &t->gpu[first] : NULL;
    const char *name = "";
    switch (groups->by) {
    case CW_TIMELINE_BY_CALL:
        name = t->names[t->calls[first].name].shown;
        break;
    case CW_TIMELINE_BY_KERNEL:
        name = g->kind == CW_TRACE_GRAPH ? "(whole CUDA graphs)" : g->name ? t->names[g->name].shown : "(no name)";
        break;
    case CW_TIMELINE_BY_FAMILY:
        name = g->kind == CW_TRACE_GRAPH ? "(whole CUDA graphs)" : groups->families[g->name];
        break;
    case CW_TIMELINE_BY_NVTX:
    case CW_TIMELINE_BY_NVTX_EACH:
        return cw_timeline_name_ranges(groups, group, text);
    case CW_TIMELINE_BY_STREAM:
        return cw_timeline_name_stream(t, &t->streams[g->stream], text);
    case CW_TIMELINE_BY_DEVICE:
        name_device(t, t->streams[g->stream].device, text);
        return text;
    case CW_TIMELINE_BY_PROCESS:
        name_process(t, t->streams[g->stream].process, text);
        return text;
    case CW_TIMELINE_BY_GRAPH:
        name_graph(t, &groups->items[group], text);
        return text;
    case CW_TIMELINE_BY_RANK:
        name = rank_of(t, t->streams[g->stream].process);
        snprintf(text, CW_TIMELINE_NAME_SIZE, *name ? "rank %s" : "(no rank)%s", name);
        return text;
    default:
        return cw_timeline_name_copy(t, g, text);
    }
    snprintf(text, CW_TIMELINE_NAME_SIZE, "%s", name);
    return text;
}
