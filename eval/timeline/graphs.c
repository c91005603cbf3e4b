/* What ran in CUDA graphs, added up by graph. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "eval/keys.h"
#include "eval/timeline/group_parts.h"

/* An item that ran in a graph. */
struct node {
    uint32_t item;
    uint64_t graph, number; /* CW_TRACE_UNKNOWN: not known; of a whole graph it has no number */
};

/* A launch of a graph. */
struct launch {
    uint32_t group;
    uint64_t start, end; /* of all that ran */
};

struct graphs {
    struct cw_timeline_groups *all;
    uint32_t node_count;
    struct node *nodes;
    struct cw_keys keys, launches, numbers; /* process and graph; group and correlation; group and node */
    struct cw_timeline_group *groups;
    struct launch *launched;
};

static int by_row(const void *left, const void *right, void *timeline)
{
    const struct cw_timeline *t = timeline;
    const struct cw_timeline_gpu *a = &t->gpu[((const struct node *)left)->item],
                                 *b = &t->gpu[((const struct node *)right)->item];
    return a->block != b->block ? (a->block > b->block) - (a->block < b->block) : (a->row > b->row) - (a->row < b->row);
}

/* The numbers of graphs and nodes are in the rows alone. */
static bool read_numbers(struct graphs *g)
{
    const struct cw_timeline *t = g->all->t;
    struct cw_trace_buffer buffer = {0};
    struct cw_trace_rows rows = {0};
    bool good = true;
    qsort_r(g->nodes, g->node_count, sizeof *g->nodes, by_row, (void *)(uintptr_t)t);
    for (uint32_t i = 0; good && i < g->node_count; i++) {
        const struct cw_timeline_gpu *gpu = &t->gpu[g->nodes[i].item];
        if (!i || t->gpu[g->nodes[i - 1].item].block != gpu->block) /* it was read before: this lacks memory alone */
            good = cw_trace_read_rows(&rows, t->trace, gpu->block, &buffer, NULL) == CW_OK;
        if (!good)
            break;
        g->nodes[i].graph = cw_trace_get(&rows, CW_FIELD_GRAPH, gpu->row);
        g->nodes[i].number =
            gpu->kind == CW_TRACE_GRAPH ? CW_TRACE_UNKNOWN : cw_trace_get(&rows, CW_FIELD_GRAPH_NODE, gpu->row);
    }
    cw_trace_buffer_free(&buffer);
    return good;
}

static bool list_nodes(struct graphs *g, const bool *keep)
{
    const struct cw_timeline *t = g->all->t;
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t))
        count += (t->gpu[i].in_graph || t->gpu[i].kind == CW_TRACE_GRAPH) && (!keep || keep[i]);
    g->nodes = cw_large_alloc(t->large, (size_t)count + 1, sizeof *g->nodes);
    g->groups = cw_large_alloc(t->large, (size_t)count + 1, sizeof *g->groups);
    g->launched = cw_large_alloc(t->large, (size_t)count + 1, sizeof *g->launched);
    for (uint32_t i = 0; g->nodes && i < t->gpu_count; i++, cw_timeline_step(t))
        if ((t->gpu[i].in_graph || t->gpu[i].kind == CW_TRACE_GRAPH) && (!keep || keep[i]))
            g->nodes[g->node_count++] = (struct node){.item = i};
    return g->nodes && g->groups && g->launched && read_numbers(g);
}

static bool add_launch(struct graphs *g, uint32_t group, const struct cw_timeline_gpu *gpu)
{
    if (gpu->correlation == CW_TIMELINE_NONE)
        return true;
    const uint32_t before = g->launches.count;
    const uint32_t at = cw_keys_add(&g->launches, (struct cw_key){{group, gpu->correlation, 0, 0}});
    if (at == CW_NO_KEY)
        return false;
    struct launch *launch = &g->launched[at];
    if (at == before) {
        *launch = (struct launch){group, gpu->start, gpu->end};
        g->groups[group].ranges++;
    }
    launch->start = gpu->start < launch->start ? gpu->start : launch->start;
    launch->end = gpu->end > launch->end ? gpu->end : launch->end;
    return true;
}

static bool add_node(struct graphs *g, const struct node *node)
{
    const struct cw_timeline *t = g->all->t;
    const struct cw_timeline_gpu *gpu = &t->gpu[node->item];
    const uint32_t before = g->keys.count;
    const uint32_t at = cw_keys_add(&g->keys, (struct cw_key){{t->streams[gpu->stream].process, node->graph, 0, 0}});
    if (at == CW_NO_KEY)
        return false;
    struct cw_timeline_group *group = &g->groups[at];
    if (at == before)
        *group = (struct cw_timeline_group){.first = node->item,
                                            .least = -1,
                                            .middle = NAN,
                                            .deviation = NAN,
                                            .slowest = CW_TIMELINE_NONE,
                                            .graph = node->graph};
    else if (gpu->end - gpu->start > t->gpu[group->first].end - t->gpu[group->first].start)
        group->first = node->item;
    cw_timeline_group_add(g->all, group, node->item);
    if (node->number != CW_TRACE_UNKNOWN) {
        const uint32_t numbers = g->numbers.count;
        if (cw_keys_add(&g->numbers, (struct cw_key){{at, node->number, 0, 0}}) == CW_NO_KEY)
            return false;
        group->nodes += g->numbers.count - numbers;
    }
    return add_launch(g, at, gpu);
}

static int by_length(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    const uint64_t x = a->end - a->start, y = b->end - b->start;
    return a->group != b->group ? (a->group > b->group) - (a->group < b->group) : (x > y) - (x < y);
}

static void add_walls(struct graphs *g)
{
    uint32_t first = 0;
    qsort(g->launched, g->launches.count, sizeof *g->launched, by_length);
    for (uint32_t k = 0; k < g->keys.count; k++) {
        struct cw_timeline_group *group = &g->groups[k];
        const uint32_t count = (uint32_t)group->ranges;
        const struct launch *own = g->launched + first;
        for (uint32_t i = 0; i < count; i++)
            group->wall += (double)(own[i].end - own[i].start);
        if (count) {
            const struct launch *a = &own[(count - 1) / 2], *b = &own[count / 2];
            group->median = ((double)(a->end - a->start) + (double)(b->end - b->start)) / 2;
            group->fastest = (double)(own[0].end - own[0].start);
            group->longest = (double)(own[count - 1].end - own[count - 1].start);
        }
        first += count;
    }
}

bool cw_timeline_group_graphs(struct cw_timeline_groups *all, const struct cw_timeline_keep *keep,
                              struct cw_arena *arena)
{
    struct graphs g = {.all = all};
    bool good = list_nodes(&g, keep->gpu);
    for (uint32_t i = 0; good && i < g.node_count; i++, cw_timeline_step(all->t))
        good = add_node(&g, &g.nodes[i]);
    if (good)
        add_walls(&g);
    all->items = good ? cw_arena_alloc(arena, g.keys.count, sizeof *all->items) : NULL;
    for (uint32_t i = 0; all->items && i < g.keys.count; i++)
        all->items[all->count++] = g.groups[i];
    cw_keys_free(&g.keys);
    cw_keys_free(&g.launches);
    cw_keys_free(&g.numbers);
    cw_large_free(all->t->large, g.nodes);
    cw_large_free(all->t->large, g.groups);
    cw_large_free(all->t->large, g.launched);
    return all->items;
}
