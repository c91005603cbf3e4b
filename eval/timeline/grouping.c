#include "eval/timeline/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/timeline/group_parts.h"

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

static int by_total(const void *left, const void *right)
{
    const struct cw_timeline_group *a = left, *b = right;
    return a->total != b->total ? (a->total < b->total) - (a->total > b->total)
           : a->wall != b->wall ? (a->wall < b->wall) - (a->wall > b->wall)
                                : (a->first > b->first) - (a->first < b->first);
}

enum cw_status cw_timeline_group(struct cw_timeline_groups *groups, enum cw_timeline_by by, const struct cw_timeline *t,
                                 const struct cw_timeline_keep *keep, bool spread, struct cw_arena *arena,
                                 struct cw_error *err)
{
    static const struct cw_timeline_keep all = {0};
    *groups = (struct cw_timeline_groups){.t = t, .by = by};
    keep = keep ? keep : &all;
    const bool good = cw_timeline_by_ranges(by)    ? cw_timeline_group_ranges(groups, keep, arena)
                      : by == CW_TIMELINE_BY_GRAPH ? cw_timeline_group_graphs(groups, keep, arena)
                                                   : cw_timeline_group_items(groups, keep, spread, arena);
    if (good && groups->count)
        qsort(groups->items, groups->count, sizeof *groups->items, by_total);
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

/* "process 4000 rank 0", "process 4000 on node1" */
static size_t name_process(const struct cw_timeline *t, uint32_t process, char text[CW_TIMELINE_NAME_SIZE])
{
    const char *rank = cw_timeline_attribute(t, process, "rank");
    const int used =
        snprintf(text, CW_TIMELINE_NAME_SIZE, "process %" PRIu32 "%s%.16s%s", t->trace->processes[process].pid,
                 rank ? " rank " : "", rank ? rank : "", t->process_marks[process]);
    return (size_t)used;
}

const char *cw_timeline_name_stream(const struct cw_timeline *t, const struct cw_timeline_stream *s,
                                    char text[CW_TIMELINE_NAME_SIZE])
{
    const bool several = t->trace->process_count > 1;
    const char *rank = several ? cw_timeline_attribute(t, s->process, "rank") : NULL;
    char number[32] = "?", before[64] = "", device[32] = "", context[40] = "", process[160] = "";
    if (s->stream != CW_TRACE_UNKNOWN)
        snprintf(number, sizeof number, "%" PRIu64, s->stream);
    if (t->data->device_count > 1 && s->device != CW_NO_TRACE_DEVICE)
        snprintf(device, sizeof device, " device %" PRIu32, t->data->devices[s->device].index);
    if (several)
        snprintf(process, sizeof process, "%sprocess %" PRIu32 "%s%s", rank ? " " : "",
                 t->trace->processes[s->process].pid, t->process_marks[s->process], rank ? "" : " ");
    if (s->shares_number)
        snprintf(context, sizeof context, " of context %" PRIu64, s->context);
    if (rank)
        snprintf(before, sizeof before, "rank %.16s ", rank);
    snprintf(text, CW_TIMELINE_NAME_SIZE, "%sstream %s%s%s%.200s%s%s", rank ? before : process, number, context,
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
        name = cw_timeline_attribute(t, t->streams[g->stream].process, "rank");
        snprintf(text, CW_TIMELINE_NAME_SIZE, "%s%s", name && *name ? "rank " : "(no rank)", name ? name : "");
        return text;
    default:
        return cw_timeline_name_copy(t, g, text);
    }
    return cw_elide(name, text, CW_TIMELINE_NAME_SIZE);
}
