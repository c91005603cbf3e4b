#include "report/trace_graphs.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "report/put.h"

/* Most nodes and edges that are read; most graphs of a page, and nodes and edges of a graph. */
enum { MOST_READ = 1 << 20, MOST_GRAPHS = 30, MOST_NODES = 400, MOST_EDGES = 2000 };

struct key { /* a graph, or a node */
    uint64_t number;
    uint32_t process;
};

struct node {
    struct key key, graph;
    const char *type;
    uint32_t name;     /* of its kernel, or the direction of its copy; CW_TIMELINE_NONE: not known */
    uint64_t runs, ns; /* on the GPU */
};

struct edge { /* `to` waits for `from` */
    struct key from, to;
};

struct made { /* an executable graph; its nodes are nodes[first] and on */
    struct key key;
    uint64_t parent, runs, ns;
    size_t first, count;
};

struct list {
    void *items;
    size_t count, room;
};

struct shape { /* of launches of a kernel */
    struct key key;
    uint32_t name;
};

struct graphs {
    const struct cw_timeline *t;
    struct list nodes, edges, made, shapes;
};

static void *add(struct list *l, size_t size)
{
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 256;
        void *items = realloc(l->items, room * size);
        if (!items)
            return NULL;
        l->items = items;
        l->room = room;
    }
    return (char *)l->items + size * l->count++;
}

static struct key key_of(const struct cw_trace_rows *rows, enum cw_trace_field field, uint32_t i)
{
    return (struct key){cw_trace_get(rows, field, i), rows->process};
}

static int compare(const struct key *a, const struct key *b)
{
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static const char *type_of(const struct graphs *g, const struct cw_trace_rows *rows, uint32_t i)
{
    return cw_trace_text(g->t->trace, rows->process, cw_trace_get(rows, CW_FIELD_TYPE, i));
}

/* The name that a node's row gives it. */
static uint32_t own_name(const struct graphs *g, const struct cw_trace_rows *rows, uint32_t i)
{
    const uint64_t name = cw_trace_get(rows, CW_FIELD_NAME, i);
    return name && name != CW_TRACE_UNKNOWN ? cw_timeline_name(g->t, rows->process, name) : CW_TIMELINE_NONE;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static enum cw_status take_nodes(void *context, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    struct graphs *g = context;
    (void)block;
    for (uint32_t i = 0; i < rows->count && g->nodes.count < MOST_READ; i++) {
        struct node *n = add(&g->nodes, sizeof *n);
        if (!n)
            return cw_error_nomem(err);
        *n = (struct node){.key = key_of(rows, CW_FIELD_GRAPH_NODE, i),
                           .graph = key_of(rows, CW_FIELD_GRAPH, i),
                           .type = type_of(g, rows, i),
                           .name = own_name(g, rows, i)};
    }
    return CW_OK;
}

static enum cw_status take_edges(void *context, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    struct graphs *g = context;
    (void)block;
    for (uint32_t i = 0; i < rows->count && g->edges.count < MOST_READ; i++) {
        struct edge *e = add(&g->edges, sizeof *e);
        if (!e)
            return cw_error_nomem(err);
        *e = (struct edge){.from = key_of(rows, CW_FIELD_DEPENDS_ON, i), .to = key_of(rows, CW_FIELD_GRAPH_NODE, i)};
    }
    return CW_OK;
}

static enum cw_status take_made(void *context, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    struct graphs *g = context;
    (void)block;
    for (uint32_t i = 0; i < rows->count && g->made.count < MOST_READ; i++) {
        if (strcmp(type_of(g, rows, i), "instantiate") != 0)
            continue;
        struct made *m = add(&g->made, sizeof *m);
        if (!m)
            return cw_error_nomem(err);
        *m = (struct made){.key = key_of(rows, CW_FIELD_GRAPH, i), .parent = cw_trace_get(rows, CW_FIELD_PARENT, i)};
    }
    return CW_OK;
}

static int node_by_key(const void *a, const void *b)
{
    return compare(&((const struct node *)a)->key, &((const struct node *)b)->key);
}

static int node_by_graph(const void *left, const void *right)
{
    const struct node *a = left, *b = right;
    const int order = compare(&a->graph, &b->graph);
    return order ? order : compare(&a->key, &b->key);
}

static int edge_by_end(const void *a, const void *b)
{
    return compare(&((const struct edge *)a)->to, &((const struct edge *)b)->to);
}

static int shape_by_key(const void *a, const void *b)
{
    return compare(&((const struct shape *)a)->key, &((const struct shape *)b)->key);
}

static bool sort_shapes(struct graphs *g)
{
    for (uint32_t i = 0; i < g->t->shape_count; i++) {
        struct shape *shape = add(&g->shapes, sizeof *shape);
        if (!shape)
            return false;
        *shape = (struct shape){{g->t->shapes[i].id, g->t->shapes[i].process}, g->t->shapes[i].name};
    }
    if (g->shapes.count)
        qsort(g->shapes.items, g->shapes.count, sizeof(struct shape), shape_by_key);
    return true;
}

/* The name of a kernel, or the direction of a copy. */
static uint32_t name_of(const struct graphs *g, const struct cw_trace_rows *rows, uint32_t i)
{
    const struct shape wanted = {.key = key_of(rows, CW_FIELD_SHAPE, i)};
    const struct shape *shape =
        g->shapes.count ? bsearch(&wanted, g->shapes.items, g->shapes.count, sizeof wanted, shape_by_key) : NULL;
    const uint64_t direction = cw_trace_get(rows, CW_FIELD_DIRECTION, i);
    return shape && shape->name                         ? shape->name
           : direction && direction != CW_TRACE_UNKNOWN ? cw_timeline_name(g->t, rows->process, direction)
                                                        : CW_TIMELINE_NONE;
}

/* Adds the times of kernels, copies and sets to their nodes, which are sorted by number. */
static enum cw_status take_work(void *context, const struct cw_trace_rows *rows, size_t block, struct cw_error *err)
{
    const struct graphs *g = context;
    (void)block;
    (void)err;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct node wanted = {.key = key_of(rows, CW_FIELD_GRAPH_NODE, i)};
        const uint64_t start = cw_trace_get(rows, CW_FIELD_START, i), end = cw_trace_get(rows, CW_FIELD_END, i);
        struct node *n = wanted.key.number == CW_TRACE_UNKNOWN
                             ? NULL
                             : bsearch(&wanted, g->nodes.items, g->nodes.count, sizeof *n, node_by_key);
        if (!n)
            continue;
        const uint32_t name = name_of(g, rows, i); /* of what ran: a node may have got another kernel */
        n->name = name == CW_TIMELINE_NONE ? n->name : name;
        n->runs++;
        n->ns += end > start ? end - start : 0;
    }
    return CW_OK;
}

static enum cw_status read_all(struct graphs *g, struct cw_error *err)
{
    static const enum cw_trace_kind work[] = {CW_TRACE_KERNEL, CW_TRACE_COPY, CW_TRACE_MEMSET};
    enum cw_status status = cw_timeline_each(g->t, CW_TRACE_NODE, take_nodes, g, err);
    if (status != CW_OK || !g->nodes.count)
        return status;
    if (!sort_shapes(g))
        return cw_error_nomem(err);
    qsort(g->nodes.items, g->nodes.count, sizeof(struct node), node_by_key);
    status = cw_timeline_each(g->t, CW_TRACE_EDGE, take_edges, g, err);
    if (status == CW_OK)
        status = cw_timeline_each(g->t, CW_TRACE_GRAPH_MADE, take_made, g, err);
    for (size_t i = 0; i < sizeof work / sizeof *work && status == CW_OK; i++)
        status = cw_timeline_each(g->t, work[i], take_work, g, err);
    qsort(g->nodes.items, g->nodes.count, sizeof(struct node), node_by_graph);
    if (g->edges.count)
        qsort(g->edges.items, g->edges.count, sizeof(struct edge), edge_by_end);
    return status;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* The first node of a graph in the order by graph. */
static size_t first_node(const struct graphs *g, const struct key *graph)
{
    const struct node *nodes = g->nodes.items;
    struct cw_search s = {0, g->nodes.count};
    while (s.low < s.high)
        cw_search_narrow(&s, compare(&nodes[cw_search_middle(&s)].graph, graph) < 0);
    return s.low;
}

static void add_up(const struct graphs *g, struct made *m)
{
    const struct node *nodes = g->nodes.items;
    m->first = first_node(g, &m->key);
    for (size_t i = m->first; i < g->nodes.count && compare(&nodes[i].graph, &m->key) == 0; i++) {
        m->count++;
        m->ns += nodes[i].ns;
        m->runs = nodes[i].runs > m->runs ? nodes[i].runs : m->runs;
    }
}

static int made_by_key(const void *a, const void *b)
{
    return compare(&((const struct made *)a)->key, &((const struct made *)b)->key);
}

/* Keeps one of equal graphs. */
static void keep_distinct(struct list *l)
{
    struct made *made = l->items;
    size_t kept = 0;
    if (l->count)
        qsort(made, l->count, sizeof *made, made_by_key);
    for (size_t i = 0; i < l->count; i++)
        if (!kept || made_by_key(&made[kept - 1], &made[i]) != 0)
            made[kept++] = made[i];
    l->count = kept;
}

static int by_time(const void *left, const void *right)
{
    const struct made *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return compare(&a->key, &b->key);
}

static void put_node(FILE *out, const struct graphs *g, const struct node *n, bool first)
{
    cw_put_text(out, first ? "[" : ",\n[", n->type);
    if (n->name != CW_TIMELINE_NONE) {
        cw_put_text(out, ",", g->t->names[n->name].shown);
        cw_put_short(out, ",", g->t->names[n->name].shown);
    } else
        fputs(",\"\",\"\"", out);
    cw_put_count(out, ",", n->runs);
    cw_put_count(out, ",", n->ns);
    putc(']', out);
}

/* The edges that end at a node, as numbers of the graph's printed nodes. Adds to their number. */
static void put_edges(FILE *out, const struct graphs *g, const struct made *m, size_t shown, size_t to, size_t *put)
{
    const struct node *nodes = (const struct node *)g->nodes.items + m->first;
    const struct edge *edges = g->edges.items;
    struct cw_search s = {0, g->edges.count};
    while (s.low < s.high)
        cw_search_narrow(&s, compare(&edges[cw_search_middle(&s)].to, &nodes[to].key) < 0);
    for (size_t i = s.low; i < g->edges.count && *put < MOST_EDGES && compare(&edges[i].to, &nodes[to].key) == 0; i++) {
        const struct node wanted = {.key = edges[i].from};
        const struct node *from = bsearch(&wanted, nodes, shown, sizeof *nodes, node_by_key);
        if (!from)
            continue;
        cw_put_count(out, (*put)++ ? ",[" : "[", (uint64_t)(from - nodes));
        cw_put_count(out, ",", to);
        putc(']', out);
    }
}

static void put_graph(FILE *out, const struct graphs *g, const struct made *m, bool first)
{
    const size_t shown = m->count < MOST_NODES ? m->count : MOST_NODES;
    cw_put_count(out, first ? "\n{\"graph\":" : ",\n{\"graph\":", m->key.number);
    cw_put_count(out, ",\"process\":", m->key.process);
    if (m->parent != CW_TRACE_UNKNOWN)
        cw_put_count(out, ",\"parent\":", m->parent);
    cw_put_count(out, ",\"runs\":", m->runs);
    cw_put_count(out, ",\"ns\":", m->ns);
    cw_put_count(out, ",\"left\":", m->count - shown);
    fputs(",\"nodes\":[", out);
    for (size_t i = 0; i < shown; i++)
        put_node(out, g, (const struct node *)g->nodes.items + m->first + i, !i);
    fputs("],\"edges\":[", out);
    size_t edges = 0;
    for (size_t i = 0; i < shown; i++)
        put_edges(out, g, m, shown, i, &edges);
    fputs("]}", out);
}

enum cw_status cw_report_graphs_put(FILE *out, const struct cw_timeline *t, struct cw_error *err)
{
    struct graphs g = {.t = t};
    enum cw_status status = read_all(&g, err);
    keep_distinct(&g.made);
    struct made *made = g.made.items;
    size_t with_nodes = 0;
    for (size_t i = 0; status == CW_OK && i < g.made.count; i++) {
        add_up(&g, &made[i]);
        with_nodes += made[i].count > 0;
    }
    if (status == CW_OK && with_nodes) {
        qsort(made, g.made.count, sizeof *made, by_time);
        const size_t shown = with_nodes < MOST_GRAPHS ? with_nodes : MOST_GRAPHS;
        cw_put_count(out, ",\n\"graphs_left\":", with_nodes - shown);
        fputs(",\n\"graphs\":[", out);
        for (size_t i = 0, put = 0; i < g.made.count && put < shown; i++)
            if (made[i].count)
                put_graph(out, &g, &made[i], !put++);
        fputs("]", out);
    }
    free(g.nodes.items);
    free(g.edges.items);
    free(g.made.items);
    free(g.shapes.items);
    return status;
}
