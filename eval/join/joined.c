#define _GNU_SOURCE
/* The launches of both runs, as eval/join/join.h takes them. */
#include "eval/join/joined.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/search.h"
#include "base/shorten.h"
#include "eval/labels.h"

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static bool is_graph(const char *kernel)
{
    return strncmp(kernel, "graph", 5) == 0 && (!kernel[5] || strncmp(kernel + 5, " (", 2) == 0);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* A place is a rank, or a process by the order of appearance, with a device of it, counted from 0 by number: each run
 * has other numbers of processes and devices. */
struct place {
    uint32_t process, device, index; /* index: of the launch */
    uint32_t number;                 /* of the process among all with launches */
};

enum { DEVICE_BITS = 6 }; /* of a place; a process has few devices */

static int in_place_order(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = by_number(x->process, y->process);
    order = order ? order : by_number(x->device, y->device);
    return order ? order : by_number(x->index, y->index);
}

static int by_index(const void *a, const void *b)
{
    return by_number(((const struct place *)a)->index, ((const struct place *)b)->index);
}

/* Gives each launch its place; ranks[i]: of launch i, NULL if processes go by their order. False when out of memory. */
static bool number_places(struct cw_join_launch *launches, struct place *places, uint32_t count, const uint32_t *ranks)
{
    struct place *firsts = calloc((size_t)count + 1, sizeof *firsts); /* [process]: its first launch */
    uint32_t processes = 0, device = 0;
    if (!firsts)
        return false;
    qsort(places, count, sizeof *places, in_place_order);
    for (uint32_t i = 0; i < count; i++) {
        const struct place *p = &places[i];
        const bool again = i && places[i - 1].process == p->process;
        device = !again ? 0 : device + (places[i - 1].device != p->device);
        if (!again) {
            firsts[processes] = (struct place){.index = UINT32_MAX, .number = processes};
            processes++;
        }
        struct place *first = &firsts[processes - 1];
        first->index = p->index < first->index ? p->index : first->index;
        launches[p->index].place = device & ((1u << DEVICE_BITS) - 1);
        places[i].number = processes - 1;
    }
    qsort(firsts, processes, sizeof *firsts, by_index);
    for (uint32_t k = 0; k < processes; k++)
        firsts[firsts[k].number].device = k;
    for (uint32_t i = 0; i < count; i++)
        launches[places[i].index].place |= (ranks ? ranks[places[i].index] : firsts[places[i].number].device)
                                           << DEVICE_BITS;
    free(firsts);
    return true;
}

static bool read_rank(const char *text, uint32_t *rank)
{
    return text && cw_decimal_read_u32(text, rank);
}

/* ---- the traced run ---------------------------------------------------------------------------------------------- */

struct joining {
    struct cw_joined *joined;
    struct cw_arena *arena;
    struct entry {
        uint32_t process, correlation, event;
        uint64_t start;
    } * entries; /* kernels and graphs */
    struct cw_joined_launch *launches;
    struct cw_join_launch *traced, *counted;
    const char *const *paths; /* [path of the timeline] */
    bool graphs_counted;      /* the number of kernels in each graph is known */
    bool spelled;             /* names of kernels are of two profilers */
};

/* The name that both runs have for a kernel. NULL when out of memory. */
static const char *name_of(const struct joining *j, const char *kernel, const char *readable)
{
    char text[CW_SHORT_SIZE];
    return j->spelled && *kernel ? cw_arena_strdup(j->arena, cw_shorten_to_spelling(readable, text)) : kernel;
}

static const struct cw_timeline_stream *stream_of(const struct cw_timeline *t, uint32_t event)
{
    return &t->streams[t->gpu[event].stream];
}

static int in_launch_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = by_number(x->process, y->process);
    order = order ? order : by_number(x->correlation, y->correlation);
    order = order ? order : by_number(x->start, y->start);
    return order ? order : by_number(x->event, y->event);
}

static bool find_paths(struct joining *j)
{
    j->paths = cw_timeline_path_texts(j->joined->timeline, false, j->arena);
    return j->paths;
}

/* Lists kernels, and graphs that the trace has as one item. */
static bool list_events(struct joining *j, uint32_t *count)
{
    const struct cw_timeline *t = j->joined->timeline;
    *count = 0;
    j->entries = malloc(((size_t)t->gpu_count + 1) * sizeof *j->entries);
    for (uint32_t i = 0; j->entries && i < t->gpu_count; i++) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        if (g->kind == CW_TRACE_KERNEL || (g->kind == CW_TRACE_GRAPH && j->joined->of_graphs))
            j->entries[(*count)++] = (struct entry){stream_of(t, i)->process, g->correlation, i, g->start};
    }
    if (j->entries)
        qsort(j->entries, *count, sizeof *j->entries, in_launch_order);
    return j->entries;
}

static struct cw_join_launch describe_event(const struct joining *j, uint32_t event, uint32_t kernels)
{
    const struct cw_timeline *t = j->joined->timeline;
    const struct cw_timeline_gpu *g = &t->gpu[event];
    struct cw_join_launch launch = {.path = j->paths[cw_timeline_own_path(g)]};
    if (kernels || g->kind == CW_TRACE_GRAPH) {
        launch.kernel = j->graphs_counted ? cw_arena_printf(j->arena, "graph (%" PRIu32 " kernel%s)", kernels,
                                                            kernels == 1 ? "" : "s")
                                          : "graph";
        return launch;
    }
    launch.kernel = *t->names[g->name].text ? name_of(j, t->names[g->name].text, t->names[g->name].shown) : "(unknown)";
    if (g->shape != CW_TIMELINE_NONE) {
        memcpy(launch.grid, t->shapes[g->shape].grid, sizeof launch.grid);
        memcpy(launch.block, t->shapes[g->shape].block, sizeof launch.block);
    }
    return launch;
}

static double latency_of(const struct cw_timeline *t, const struct cw_timeline_gpu *g)
{
    const struct cw_timeline_call *call = g->call != CW_TIMELINE_NONE ? &t->calls[g->call] : NULL;
    return call && call->start && g->start >= call->start ? (double)(g->start - call->start) : NAN;
}

/* Makes launch k of the trace from the entries from `i` on; returns where the next one begins. */
static uint32_t take_launch(struct joining *j, uint32_t k, uint32_t i, uint32_t count)
{
    const struct cw_timeline *t = j->joined->timeline;
    const struct entry *first = &j->entries[i];
    const struct cw_timeline_gpu *g = &t->gpu[first->event];
    const bool nodes = j->joined->of_graphs && g->kind == CW_TRACE_KERNEL && g->in_graph;
    uint64_t end = g->end;
    uint32_t next = i + 1;
    while (nodes && next < count && j->entries[next].process == first->process &&
           j->entries[next].correlation == first->correlation) {
        const uint64_t other = t->gpu[j->entries[next++].event].end;
        end = other > end ? other : end;
    }
    j->launches[k] = (struct cw_joined_launch){.event = first->event,
                                               .process = first->process,
                                               .stream = g->stream,
                                               .ns = (double)(end - g->start),
                                               .gap = NAN,
                                               .latency = latency_of(t, g)};
    j->traced[k] = describe_event(j, first->event, nodes ? next - i : 0);
    return next;
}

static bool take_traced(struct joining *j)
{
    struct cw_joined *joined = j->joined;
    uint32_t count;
    if (!find_paths(j) || !list_events(j, &count))
        return false;
    joined->launches = j->launches = cw_arena_alloc(j->arena, count, sizeof *j->launches);
    joined->traced.launches = j->traced = cw_arena_alloc(j->arena, count, sizeof *j->traced);
    if (!j->launches || !j->traced)
        return false;
    j->graphs_counted = true;
    for (uint32_t i = 0; i < count; i++)
        j->graphs_counted = j->graphs_counted && joined->timeline->gpu[j->entries[i].event].kind == CW_TRACE_KERNEL;
    for (uint32_t i = 0; i < count; joined->count++) {
        i = take_launch(j, joined->count, i, count);
        if (!j->traced[joined->count].kernel)
            return false;
    }
    joined->traced.count = joined->count;
    return true;
}

/* ---- NVTX ranges, if user ranges were counted -------------------------------------------------------------------- */

/* Launches by their call: of each thread, in the order of time, with the sum of all before. */
struct launched {
    uint32_t thread, event;
    uint64_t time;
    double before; /* ns of all launches before this one */
};

static int in_call_order(const void *a, const void *b)
{
    const struct launched *x = a, *y = b;
    int order = by_number(x->thread, y->thread);
    order = order ? order : by_number(x->time, y->time);
    return order ? order : by_number(x->event, y->event);
}

/* Lists the launches of kernels, and one more as the end; NULL when out of memory. For ranges that may have launches
 * from other threads, processes take the place of threads. */
static struct launched *list_launched(const struct cw_timeline *t, bool pushed, uint32_t *count)
{
    struct launched *list = malloc(((size_t)t->gpu_count + 1) * sizeof *list);
    double sum = 0;
    *count = 0;
    for (uint32_t i = 0; list && i < t->gpu_count; i++) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        if (g->call != CW_TIMELINE_NONE && (g->kind == CW_TRACE_KERNEL || g->kind == CW_TRACE_GRAPH))
            list[(*count)++] = (struct launched){pushed ? t->calls[g->call].thread : stream_of(t, i)->process, i,
                                                 t->calls[g->call].start, 0};
    }
    if (!list)
        return NULL;
    qsort(list, *count, sizeof *list, in_call_order);
    for (uint32_t i = 0; i < *count; i++) {
        list[i].before = sum;
        sum += (double)(t->gpu[list[i].event].end - t->gpu[list[i].event].start);
    }
    list[*count] = (struct launched){UINT32_MAX, 0, UINT64_MAX, sum};
    return list;
}

/* The first launch of a thread at or after a time, or the entry behind its last. */
static uint32_t find_launched(const struct launched *list, uint32_t count, uint32_t thread, uint64_t time)
{
    struct cw_search s = {0, count};
    while (s.low < s.high) {
        const struct launched *l = &list[cw_search_middle(&s)];
        cw_search_narrow(&s, l->thread < thread || (l->thread == thread && l->time < time));
    }
    return (uint32_t)s.low;
}

/* Takes the pushed ranges, or the started ones, which are of a process. False when out of memory. */
static bool take_ranges_of(struct joining *j, bool pushed)
{
    struct cw_joined *joined = j->joined;
    const struct cw_timeline *t = joined->timeline;
    uint32_t count;
    struct launched *list = list_launched(t, pushed, &count);
    for (uint32_t i = 0; list && i < t->range_count; i++) {
        const struct cw_timeline_range *r = &t->ranges[i];
        const uint32_t process = t->threads[r->thread].process;
        if (r->pushed != pushed)
            continue;
        const uint32_t first = find_launched(list, count, pushed ? r->thread : process, r->start);
        const uint32_t end = find_launched(list, count, pushed ? r->thread : process, r->end);
        j->launches[joined->count] =
            (struct cw_joined_launch){.event = i,
                                      .process = process,
                                      .stream = end > first ? t->gpu[list[first].event].stream : CW_TIMELINE_NONE,
                                      .ns = end > first ? list[end].before - list[first].before : 0,
                                      .gap = NAN,
                                      .latency = NAN};
        j->traced[joined->count++] = (struct cw_join_launch){.kernel = j->paths[r->path], .path = ""};
    }
    const bool enough = list;
    free(list);
    return enough;
}

static bool take_ranges(struct joining *j)
{
    struct cw_joined *joined = j->joined;
    const uint32_t count = joined->timeline->range_count;
    joined->launches = j->launches = cw_arena_alloc(j->arena, count, sizeof *j->launches);
    joined->traced.launches = j->traced = cw_arena_alloc(j->arena, count, sizeof *j->traced);
    const bool enough =
        find_paths(j) && j->launches && j->traced && take_ranges_of(j, true) && take_ranges_of(j, false);
    joined->traced.count = joined->count;
    return enough;
}

/* ---- idle times before launches ---------------------------------------------------------------------------------- */

struct moment {
    uint64_t start, end;
    uint32_t device, event;
};

static int in_time_order(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    int order = by_number(x->device, y->device);
    order = order ? order : by_number(x->start, y->start);
    return order ? order : by_number(x->event, y->event);
}

/* The start of the window around a time: nothing before it was seen. */
static uint64_t window_start(const struct cw_timeline *t, uint64_t time, uint32_t *window)
{
    while (*window + 1 < t->window_count && t->windows[*window + 1].start <= time)
        ++*window;
    return *window < t->window_count && t->windows[*window].start <= time ? t->windows[*window].start : 0;
}

/* [item on a GPU]: ns in which nothing ran on its device before it. NULL when out of memory. */
static double *find_gaps(const struct cw_timeline *t)
{
    struct moment *moments = malloc(((size_t)t->gpu_count + 1) * sizeof *moments);
    double *gaps = malloc(((size_t)t->gpu_count + 1) * sizeof *gaps);
    uint64_t busy = 0;
    uint32_t window = 0;
    for (uint32_t i = 0; moments && i < t->gpu_count; i++)
        moments[i] = (struct moment){t->gpu[i].start, t->gpu[i].end, stream_of(t, i)->device, i};
    if (moments && gaps)
        qsort(moments, t->gpu_count, sizeof *moments, in_time_order);
    for (uint32_t i = 0; moments && gaps && i < t->gpu_count; i++) {
        const struct moment *m = &moments[i];
        if (!i || m[-1].device != m->device)
            busy = window = 0;
        const uint64_t seen = window_start(t, m->start, &window), since = busy > seen ? busy : seen;
        gaps[m->event] = !since ? NAN : m->start > since ? (double)(m->start - since) : 0;
        busy = m->end > busy ? m->end : busy;
    }
    free(moments);
    if (!moments) {
        free(gaps);
        return NULL;
    }
    return gaps;
}

static bool take_gaps(struct joining *j)
{
    double *gaps = find_gaps(j->joined->timeline);
    for (uint32_t i = 0; gaps && i < j->joined->count; i++)
        j->launches[i].gap = gaps[j->launches[i].event];
    const bool enough = gaps;
    free(gaps);
    return enough;
}

/* ---- the counted run --------------------------------------------------------------------------------------------- */

static bool take_counted(struct joining *j)
{
    const struct cw_counter_data *data = j->joined->data;
    j->joined->counted.count = data->range_count;
    j->joined->counted.launches = j->counted = cw_arena_alloc(j->arena, data->range_count, sizeof *j->counted);
    for (uint32_t i = 0; j->counted && i < data->range_count; i++) {
        const struct cw_range *range = cw_launch_of(data, i);
        const char *path = cw_range_attribute(range, "nvtx");
        struct cw_join_launch *launch = &j->counted[i];
        *launch = (struct cw_join_launch){.kernel = name_of(j, range->kernel, range->name), .path = path ? path : ""};
        if (!launch->kernel)
            return false;
        memcpy(launch->grid, range->grid, sizeof launch->grid);
        memcpy(launch->block, range->block, sizeof launch->block);
        if (is_graph(range->kernel) && !j->graphs_counted)
            launch->kernel = "graph";
        if (is_graph(range->kernel)) {
            memset(launch->grid, 0, sizeof launch->grid);
            memset(launch->block, 0, sizeof launch->block);
        }
        if (!*range->kernel) /* every kernel has a name */
            *launch = (struct cw_join_launch){.kernel = !j->joined->of_ranges ? ""
                                                        : path                ? path
                                                                              : range->name,
                                              .path = ""};
    }
    return j->counted;
}

/* Ranks count if every launch of both runs has one. */
static bool take_places(struct joining *j)
{
    const struct cw_joined *joined = j->joined;
    const struct cw_timeline *t = joined->timeline;
    const uint32_t most = joined->count > joined->counted.count ? joined->count : joined->counted.count;
    struct place *places = malloc(((size_t)most + 1) * sizeof *places);
    uint32_t *traced = malloc(((size_t)joined->count + 1) * sizeof *traced);
    uint32_t *counted = malloc(((size_t)joined->counted.count + 1) * sizeof *counted);
    bool good = places && traced && counted, ranked = true;
    for (uint32_t i = 0; good && i < joined->count; i++) { /* launches of a process follow one another */
        const uint32_t process = joined->launches[i].process;
        if (i && joined->launches[i - 1].process == process)
            traced[i] = traced[i - 1];
        else
            ranked = read_rank(cw_timeline_attribute(t, process, "rank"), &traced[i]) && ranked;
    }
    for (uint32_t i = 0; good && i < joined->counted.count; i++)
        ranked = read_rank(cw_range_attribute(cw_launch_of(joined->data, i), "rank"), &counted[i]) && ranked;
    for (uint32_t i = 0; good && i < joined->count; i++) {
        const struct cw_joined_launch *l = &joined->launches[i];
        places[i] = (struct place){l->process, joined->of_ranges ? 0 : t->streams[l->stream].device, i, 0};
    }
    good = good && number_places(j->traced, places, joined->count, ranked ? traced : NULL);
    for (uint32_t i = 0; good && i < joined->counted.count; i++) {
        const struct cw_range *range = cw_launch_of(joined->data, i);
        places[i] = (struct place){range->process, joined->of_ranges ? 0 : range->device, i, 0};
    }
    good = good && number_places(j->counted, places, joined->counted.count, ranked ? counted : NULL);
    free(places);
    free(traced);
    free(counted);
    return good;
}

/* ---- whether launches can be numbered ---------------------------------------------------------------------------- */

static const char *why_unnumbered(const struct cw_joined *joined, bool paths)
{
    const struct cw_timeline *t = joined->timeline;
    for (uint32_t i = 0; i < t->account_count; i++) {
        const struct cw_timeline_account *a = &t->accounts[i];
        if (strcmp(a->kind, cw_trace_kinds[CW_TRACE_KERNEL].name) == 0 && a->dropped && a->dropped != CW_TRACE_UNKNOWN)
            return "the trace lost kernels";
    }
    if (t->untimed[CW_TRACE_KERNEL])
        return "the trace has kernels without times";
    if (t->window_count)
        return "the program was traced in windows";
    for (uint32_t i = 0; i < joined->data->device_count; i++) {
        const char *filter = cw_device_attribute(&joined->data->devices[i], "filter");
        if (filter && strstr(filter, "--launch-skip"))
            return "launches were skipped before the counted ones";
        if (filter && strstr(filter, "--range") && !paths)
            return "launches were counted in some NVTX ranges, which the trace does not have";
    }
    return NULL;
}

enum cw_status cw_joined_make(struct cw_joined *joined, const struct cw_timeline *timeline,
                              const struct cw_counter_data *data, const struct cw_chip *chip, struct cw_arena *arena,
                              struct cw_error *err)
{
    struct joining j = {.joined = joined, .arena = arena, .spelled = !cw_labels_alike(timeline->data, data)};
    *joined = (struct cw_joined){.timeline = timeline, .data = data};
    joined->of_ranges = data->range_count;
    for (uint32_t i = 0; i < cw_launch_count(data); i++) {
        joined->of_graphs = joined->of_graphs || is_graph(cw_launch(data, i)->kernel);
        joined->of_ranges = joined->of_ranges && !*cw_launch(data, i)->kernel;
    }
    const bool enough =
        (joined->of_ranges ? take_ranges(&j) : take_traced(&j) && take_gaps(&j)) && take_counted(&j) && take_places(&j);
    free(j.entries);
    for (uint32_t i = 0; !joined->of_ranges && i < joined->count; i++)
        joined->whole += joined->launches[i].ns;
    for (uint32_t i = 0; joined->of_ranges && i < timeline->gpu_count; i++)
        if (timeline->gpu[i].kind == CW_TRACE_KERNEL || timeline->gpu[i].kind == CW_TRACE_GRAPH)
            joined->whole += (double)(timeline->gpu[i].end - timeline->gpu[i].start);
    enum cw_status status = enough ? CW_OK : cw_error_nomem(err);
    joined->unnumbered = why_unnumbered(joined, timeline->path_count > 1);
    joined->counted.unnumbered = joined->unnumbered != NULL;
    if (status == CW_OK)
        status = cw_join_match(&joined->join, &joined->traced, &joined->counted, arena, err);
    return status == CW_OK ? cw_groups_measure(&joined->each, data, chip, arena, err) : status;
}

/* ---- PC samples -------------------------------------------------------------------------------------------------- */

/* Launches of the trace by kernel. */
struct kernel {
    const char *function;
    double ns;
};

struct sampling {
    const struct cw_pc_row **rows; /* by function, line and reason */
    size_t row_count;
    struct kernel *kernels; /* by function, each once */
    size_t kernel_count;
    struct cw_joined_line *lines;
    size_t line_count;
};

static int by_function(const void *a, const void *b)
{
    return strcmp(((const struct kernel *)a)->function, ((const struct kernel *)b)->function);
}

static int by_line(const void *a, const void *b)
{
    const struct cw_pc_row *x = *(const struct cw_pc_row *const *)a, *y = *(const struct cw_pc_row *const *)b;
    int order = strcmp(x->at.function, y->at.function);
    order = order ? order : strcmp(x->at.file, y->at.file);
    order = order ? order : (x->at.line > y->at.line) - (x->at.line < y->at.line);
    return order ? order : strcmp(x->reason, y->reason);
}

/* Sums the time of each kernel, of any shape. Sums of shapes come first, as there are fewer shapes than launches. */
static bool sum_kernels(struct sampling *s, const struct cw_joined *j)
{
    const uint32_t shapes = j->join.shape_count;
    struct kernel *of = s->kernels = calloc((size_t)shapes + 1, sizeof *of);
    size_t count = 0, once = 0;
    for (uint32_t i = 0; of && i < j->count; i++) {
        of[j->join.a.shape[i]].function = j->traced.launches[i].kernel;
        of[j->join.a.shape[i]].ns += j->launches[i].ns;
    }
    for (uint32_t k = 0; of && k < shapes; k++)
        if (of[k].function)
            of[count++] = of[k];
    if (of)
        qsort(of, count, sizeof *of, by_function);
    for (size_t k = 0; of && k < count; k++) {
        if (once && strcmp(of[once - 1].function, of[k].function) == 0)
            of[once - 1].ns += of[k].ns;
        else
            of[once++] = of[k];
    }
    s->kernel_count = once;
    return of;
}

/* Keeps a line among the hottest of a kernel, whose lines begin at `first`. */
static void keep_line(struct sampling *s, size_t first, const struct cw_joined_line *line)
{
    size_t at = s->line_count;
    if (!line->samples)
        return;
    while (at > first && s->lines[at - 1].samples < line->samples)
        at--;
    if (at - first == CW_JOINED_LINES)
        return;
    if (s->line_count - first < CW_JOINED_LINES)
        s->line_count++;
    memmove(&s->lines[at + 1], &s->lines[at], (s->line_count - at - 1) * sizeof *line);
    s->lines[at] = *line;
}

/* Takes the rows of one function, `from` to `to`. */
static void take_function(struct sampling *s, size_t from, size_t to, double ns)
{
    const size_t first = s->line_count;
    const struct cw_place *at = &s->rows[from]->at;
    struct cw_joined_line line = {.function = at->function};
    uint64_t all = 0, reason = 0, most = 0;
    for (size_t i = from; i < to; i++) {
        const struct cw_pc_row *row = s->rows[i];
        const struct cw_pc_row *before = i > from ? s->rows[i - 1] : NULL;
        const bool again = before && before->at.line == row->at.line && strcmp(before->at.file, row->at.file) == 0;
        if (!again) {
            keep_line(s, first, &line);
            line = (struct cw_joined_line){at->function, at->name,    ns,           0, 0, 0,
                                           row->at.file, row->reason, row->at.line, 0};
            most = 0;
        }
        reason = again && strcmp(before->reason, row->reason) == 0 ? reason + row->samples : row->samples;
        if (reason > most) {
            most = reason;
            line.reason = row->reason;
        }
        line.samples += row->samples;
        all += row->samples;
    }
    keep_line(s, first, &line);
    for (size_t k = first; k < s->line_count; k++) {
        s->lines[k].all = all;
        s->lines[k].rank = (uint32_t)(k - first);
        s->lines[k].share = (double)s->lines[k].samples / (double)all;
    }
}

static int longest_kernel_first(const void *a, const void *b)
{
    const struct cw_joined_line *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    const int order = strcmp(x->function, y->function);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

enum cw_status cw_joined_samples_make(struct cw_joined_samples *out, const struct cw_joined *joined,
                                      const struct cw_instructions *samples, struct cw_arena *arena,
                                      struct cw_error *err)
{
    struct sampling s = {.rows = malloc((samples->pc_count + 1) * sizeof *s.rows),
                         .lines = cw_arena_alloc(arena, samples->pc_count + 1, sizeof *s.lines)};
    const bool enough = sum_kernels(&s, joined) && s.rows && s.lines;
    *out = (struct cw_joined_samples){0};
    for (size_t i = 0; enough && i < samples->pc_count; i++)
        if (!cw_stall_reason_is_twin(samples->pc[i].reason)) {
            s.rows[s.row_count++] = &samples->pc[i];
            out->samples += samples->pc[i].samples;
        }
    if (enough)
        qsort(s.rows, s.row_count, sizeof *s.rows, by_line);
    for (size_t i = 0, end; enough && i < s.row_count; i = end) {
        const struct kernel wanted = {.function = s.rows[i]->at.function};
        const struct kernel *k = bsearch(&wanted, s.kernels, s.kernel_count, sizeof wanted, by_function);
        for (end = i; end < s.row_count && strcmp(s.rows[end]->at.function, wanted.function) == 0; end++)
            out->elsewhere += k ? 0 : s.rows[end]->samples;
        if (k)
            take_function(&s, i, end, k->ns);
    }
    if (enough)
        qsort(s.lines, s.line_count, sizeof *s.lines, longest_kernel_first);
    out->lines = s.lines;
    out->count = s.line_count;
    free(s.rows);
    free(s.kernels);
    return enough ? CW_OK : cw_error_nomem(err);
}
