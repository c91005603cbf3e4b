#include "eval/compare/timeline_as_ranges.h"

#include <string.h>

#include "eval/timeline/group_parts.h"

static const struct cw_counter no_counters[] = {{.name = ""}};
const struct cw_chip cw_timeline_no_chip = {.name = "", .counter_count = 1, .counters = no_counters};

/* Texts of paths, each an attribute of ranges. NULL when out of memory. */
static const struct cw_pair *make_paths(const struct cw_timeline *t, bool patterns, struct cw_arena *arena)
{
    struct cw_pair *pairs = cw_arena_alloc(arena, t->path_count, sizeof *pairs);
    const char *const *texts = cw_timeline_path_texts(t, patterns, arena);
    for (uint32_t p = 0; pairs && texts && p < t->path_count; p++)
        pairs[p] = (struct cw_pair){"nvtx", texts[p]};
    return texts ? pairs : NULL;
}

/* Names of what is no kernel, each once: those of the last one are looked at first. */
struct copies {
    const struct cw_timeline_gpu *last;
    const char *name;
};

static const char *name_copy(struct copies *c, const struct cw_timeline *t, const struct cw_timeline_gpu *g,
                             struct cw_arena *arena)
{
    const struct cw_timeline_gpu *l = c->last;
    char text[CW_TIMELINE_NAME_SIZE];
    if (!l || l->kind != g->kind || l->name != g->name || l->from != g->from || l->to != g->to)
        c->name = cw_arena_strdup(arena, cw_timeline_name_copy(t, g, text));
    c->last = g;
    return c->name;
}

static struct cw_range range_of(const struct cw_timeline *t, const struct cw_timeline_gpu *g,
                                const struct cw_pair *paths)
{
    const struct cw_timeline_stream *s = &t->streams[g->stream];
    struct cw_range range = {.device = s->device == CW_NO_TRACE_DEVICE ? 0 : s->device,
                             .process = t->trace->processes[s->process].pid,
                             .context = s->context,
                             .stream = s->stream,
                             .start_ns = g->start,
                             .end_ns = g->end};
    if (g->path) {
        range.attribute_count = 1;
        range.attributes = &paths[g->path];
    }
    if (g->kind == CW_TRACE_KERNEL) {
        range.name = t->names[g->name].shown;
        range.kernel = t->names[g->name].text;
    }
    if (g->shape != CW_TIMELINE_NONE) {
        memcpy(range.grid, t->shapes[g->shape].grid, sizeof range.grid);
        memcpy(range.block, t->shapes[g->shape].block, sizeof range.block);
    }
    return range;
}

static void begin(struct cw_counter_data *data, const struct cw_timeline *t, const struct cw_range *ranges,
                  uint32_t count)
{
    static const struct cw_device unknown = {0};
    *data = *t->data;
    data->directory = NULL;
    if (!data->device_count) { /* a range has one */
        data->devices = &unknown;
        data->device_count = 1;
    }
    data->ranges = ranges;
    data->range_count = count;
}

enum cw_status cw_timeline_as_ranges(struct cw_counter_data *data, const struct cw_timeline *t, bool patterns,
                                     const struct cw_timeline_keep *keep, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_range *ranges = cw_arena_alloc(arena, t->gpu_count, sizeof *ranges);
    const struct cw_pair *paths = make_paths(t, patterns, arena);
    struct copies copies = {0};
    uint32_t count = 0;
    if (!ranges || !paths)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < t->gpu_count; i++) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        struct cw_range *range = &ranges[count];
        if (keep && keep->gpu && !keep->gpu[i])
            continue;
        *range = range_of(t, g, paths);
        if (g->kind == CW_TRACE_GRAPH)
            range->name = range->kernel = "(whole CUDA graph)";
        else if (g->kind != CW_TRACE_KERNEL)
            range->name = range->kernel = name_copy(&copies, t, g, arena);
        if (!range->name)
            return cw_error_nomem(err);
        count++;
    }
    begin(data, t, ranges, count);
    return CW_OK;
}

enum cw_status cw_timeline_nvtx_as_ranges(struct cw_counter_data *data, const struct cw_timeline *t,
                                          const struct cw_timeline_keep *keep, struct cw_arena *arena,
                                          struct cw_error *err)
{
    struct cw_range *ranges = cw_arena_alloc(arena, t->range_count, sizeof *ranges);
    const struct cw_pair *paths = make_paths(t, true, arena);
    if (!ranges || !paths)
        return cw_error_nomem(err);
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->range_count; i++) {
        const struct cw_timeline_range *r = &t->ranges[i];
        if (keep && keep->paths && !keep->paths[r->path])
            continue;
        ranges[count++] = (struct cw_range){.name = paths[r->path].value,
                                            .kernel = "",
                                            .process = t->trace->processes[t->threads[r->thread].process].pid,
                                            .start_ns = r->start,
                                            .end_ns = r->end};
    }
    begin(data, t, ranges, count);
    return CW_OK;
}
