#include "eval/compare/timeline_as_ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/keys.h"
#include "eval/labels.h"
#include "eval/timeline/groups.h"

static const struct cw_counter no_counters[] = {{.name = ""}};
const struct cw_chip cw_timeline_no_chip = {.name = "", .counter_count = 1, .counters = no_counters};

/* The ranges to be made, and their launches. */
struct making {
    const struct cw_timeline *t;
    struct cw_arena *arena;
    const struct cw_pair *paths; /* [path]: an attribute */
    const uint32_t *same_path;   /* [path]: a number, the same for the same text */
    struct cw_keys keys;         /* the launches */
    struct cw_range *launches;   /* [key] */
    size_t launch_room;
    struct cw_repeats *repeats;
    uint32_t *numbers, count;
    double *durations;
    uint64_t first_ns;
};

/* Finds the texts of paths, and numbers equal ones alike. */
static bool make_paths(struct making *m, bool patterns)
{
    const struct cw_timeline *t = m->t;
    struct cw_pair *pairs = cw_arena_alloc(m->arena, t->path_count, sizeof *pairs);
    const char *const *texts = cw_timeline_path_texts(t, patterns, m->arena);
    for (uint32_t p = 0; pairs && texts && p < t->path_count; p++)
        pairs[p] = (struct cw_pair){"nvtx", texts[p]};
    m->paths = pairs;
    m->same_path = cw_labels_number(texts, t->path_count, m->arena);
    return m->paths && m->same_path;
}

/* `count` ranges at most. False when out of memory. */
static bool begin(struct making *m, bool patterns, uint32_t count)
{
    struct cw_large *large = m->t->large;
    m->repeats = cw_arena_alloc(m->arena, 1, sizeof *m->repeats);
    m->numbers = cw_large_alloc(large, count, sizeof *m->numbers);
    m->durations = cw_large_alloc(large, count, sizeof *m->durations);
    return m->repeats && m->numbers && m->durations && make_paths(m, patterns);
}

/* Adds a range. *launch: the launch to be filled in, if the range is its first; else NULL. */
static bool add_range(struct making *m, const struct cw_key *key, uint64_t start, uint64_t end,
                      struct cw_range **launch)
{
    const bool one_pass = m->t->data->schema.pass_count <= 1;
    const uint32_t before = m->keys.count, number = cw_keys_add(&m->keys, *key);
    *launch = NULL;
    if (number == CW_NO_KEY)
        return false;
    if (number == before) {
        struct cw_range *grown = cw_grown(m->launches, &m->launch_room, before, sizeof *grown);
        if (!grown)
            return false;
        m->launches = grown;
        *launch = &grown[number];
    }
    m->first_ns = !m->first_ns || start < m->first_ns ? start : m->first_ns;
    m->numbers[m->count] = number;
    m->durations[m->count++] = one_pass && end >= start ? (double)(end - start) : NAN;
    return true;
}

/* `good`: false when out of memory. */
static enum cw_status finish(struct making *m, bool good, struct cw_counter_data *data, struct cw_error *err)
{
    static const struct cw_device unknown = {0};
    const struct cw_timeline *t = m->t;
    struct cw_range *launches = good ? cw_arena_alloc(m->arena, m->keys.count, sizeof *launches) : NULL;
    if (launches) {
        if (m->keys.count)
            memcpy(launches, m->launches, m->keys.count * sizeof *launches);
        *m->repeats = (struct cw_repeats){m->keys.count, launches, m->numbers, m->durations, m->first_ns, t->large};
        *data = *t->data;
        data->directory = NULL;
        data->repeats = m->repeats;
        data->ranges = NULL; /* a trace in memory has none, but a list of them */
        data->forms = NULL;
        data->facts = NULL;
        memset(data->rollups, 0, sizeof data->rollups);
        data->range_count = m->count;
        if (!data->device_count) { /* a range has one */
            data->devices = &unknown;
            data->device_count = 1;
        }
    }
    cw_keys_free(&m->keys);
    free(m->launches);
    cw_large_let_go(t->large);
    return launches ? CW_OK : cw_error_nomem(err);
}

/* ---- GPUs ------------------------------------------------------------------------------------------------------- */

/* Ranges of one launch differ only in times, contexts and streams. */
static struct cw_key key_of(const struct making *m, const struct cw_timeline_gpu *g, bool by_path)
{
    const struct cw_timeline_stream *s = &m->t->streams[g->stream];
    return (struct cw_key){{(uint64_t)s->process << 32 | s->device, (uint64_t)g->kind << 32 | g->name,
                            g->kind == CW_TRACE_KERNEL ? g->shape : (uint64_t)g->from << 32 | g->to,
                            by_path ? m->same_path[g->path] : 0}};
}

/* False when out of memory. */
static bool fill_launch(const struct making *m, struct cw_range *range, const struct cw_timeline_gpu *g)
{
    const struct cw_timeline *t = m->t;
    const struct cw_timeline_stream *s = &t->streams[g->stream];
    char text[CW_TIMELINE_NAME_SIZE];
    *range = (struct cw_range){.device = s->device == CW_NO_TRACE_DEVICE ? 0 : s->device,
                               .process = t->trace->processes[s->process].pid,
                               .context = s->context,
                               .stream = s->stream,
                               .start_ns = g->start,
                               .end_ns = g->end};
    if (g->path) {
        range->attribute_count = 1;
        range->attributes = &m->paths[g->path];
    }
    if (g->kind == CW_TRACE_KERNEL) {
        range->name = t->names[g->name].shown;
        range->kernel = t->names[g->name].text;
    } else if (g->kind == CW_TRACE_GRAPH) {
        range->name = range->kernel = "(whole CUDA graph)";
    } else {
        range->name = range->kernel = cw_arena_strdup(m->arena, cw_timeline_name_copy(t, g, text));
    }
    if (g->shape != CW_TIMELINE_NONE) {
        memcpy(range->grid, t->shapes[g->shape].grid, sizeof range->grid);
        memcpy(range->block, t->shapes[g->shape].block, sizeof range->block);
    }
    return range->name;
}

enum cw_status cw_timeline_as_ranges(struct cw_counter_data *data, const struct cw_timeline *t, bool patterns,
                                     const struct cw_timeline_keep *keep, struct cw_arena *arena, struct cw_error *err)
{
    struct making m = {.t = t, .arena = arena};
    bool good = begin(&m, patterns, t->gpu_count);
    for (uint32_t i = 0; good && i < t->gpu_count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        struct cw_range *launch;
        if (keep && keep->gpu && !keep->gpu[i])
            continue;
        const struct cw_key key = key_of(&m, g, patterns);
        good = add_range(&m, &key, g->start, g->end, &launch) && (!launch || fill_launch(&m, launch, g));
    }
    return finish(&m, good, data, err);
}

/* ---- NVTX ------------------------------------------------------------------------------------------------------- */

enum cw_status cw_timeline_nvtx_as_ranges(struct cw_counter_data *data, const struct cw_timeline *t,
                                          const struct cw_timeline_keep *keep, struct cw_arena *arena,
                                          struct cw_error *err)
{
    struct making m = {.t = t, .arena = arena};
    bool good = begin(&m, true, t->range_count);
    for (uint32_t i = 0; good && i < t->range_count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_range *r = &t->ranges[i];
        const uint32_t process = t->threads[r->thread].process;
        const struct cw_key key = {{process, m.same_path[r->path], 0, 0}};
        struct cw_range *launch;
        if (keep && keep->paths && !keep->paths[r->path])
            continue;
        good = add_range(&m, &key, r->start, r->end, &launch);
        if (launch)
            *launch = (struct cw_range){.name = m.paths[r->path].value,
                                        .kernel = "",
                                        .process = t->trace->processes[process].pid,
                                        .start_ns = r->start,
                                        .end_ns = r->end};
    }
    return finish(&m, good, data, err);
}
