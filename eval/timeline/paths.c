/* Paths of NVTX ranges as texts. A trace has each name once, and each path may have hundreds of them: a path is written
 * from the sums of its names, without looking at what is left out (base/elide.h). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "eval/timeline/group_parts.h"
#include "eval/timeline/parts.h"

enum { DEEPEST = 512 }; /* as deep as paths are */

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* "step *" of "step 12"; the name itself where it has no numbers. NULL when out of memory. */
static const char *make_pattern(const char *name, struct cw_arena *arena)
{
    static const char digits[] = "0123456789";
    if (!name[strcspn(name, digits)])
        return name;
    char *pattern = cw_arena_alloc(arena, strlen(name) + 1, 1), *to = pattern;
    while (pattern && *name) {
        const size_t number = strspn(name, digits);
        *to++ = number ? '*' : *name;
        name += number ? number : 1;
    }
    return pattern;
}

static bool make_part(struct cw_timeline_part *part, const char *name, struct cw_arena *arena)
{
    if (part->pattern)
        return true;
    part->pattern = make_pattern(name, arena);
    part->sum = cw_text_sum(name, strlen(name));
    if (part->pattern)
        part->pattern_sum = part->pattern == name ? part->sum : cw_text_sum(part->pattern, strlen(part->pattern));
    return part->pattern;
}

enum cw_status cw_timeline_measure_paths(struct cw_timeline_work *w, size_t file_size)
{
    /* of the texts of all paths: a multiple of the file, as all that a reader takes (tests/fuzz/README.md) */
    enum { FREE = 16 << 20, TIMES = 32, LEAST = 160 };
    struct cw_timeline *t = w->t;
    struct cw_timeline_part *parts = cw_arena_alloc(w->arena, t->name_count, sizeof *parts);
    size_t *lengths = calloc((size_t)t->path_count + 1, sizeof *lengths), total = 0;
    bool good = parts && lengths;
    for (uint32_t p = 1; good && p < t->path_count; p++) {
        const struct cw_timeline_path *path = &t->paths[p];
        good = make_part(&parts[path->name], t->names[path->name].text, w->arena) &&
               make_part(&parts[path->domain], t->names[path->domain].text, w->arena);
        lengths[p] = lengths[path->parent] + parts[path->name].sum.length + parts[path->domain].sum.length + 2;
        total += lengths[p] < CW_TIMELINE_NAME_SIZE ? lengths[p] : CW_TIMELINE_NAME_SIZE;
    }
    free(lengths);
    t->parts = parts;
    t->path_size = total / TIMES > FREE / TIMES + file_size ? LEAST : CW_TIMELINE_NAME_SIZE;
    return good ? CW_OK : cw_error_nomem(w->err);
}

/* ---- paths ------------------------------------------------------------------------------------------------------ */

/* The paths that a path is within, and itself, the outermost first. */
static uint32_t list_path(const struct cw_timeline *t, uint32_t path, uint32_t list[DEEPEST])
{
    const uint32_t count = t->paths[path].depth < DEEPEST ? t->paths[path].depth : DEEPEST;
    for (uint32_t i = count; i-- > 0; path = t->paths[path].parent)
        list[i] = path;
    return count;
}

enum stars { EVERYWHERE, NOWHERE, WHERE_MIXED };

struct path {
    const struct cw_timeline *t;
    enum stars stars;
    const bool *mixed; /* by path */
    uint32_t count, list[DEEPEST];
};

static bool has_stars(const struct path *p, uint32_t i)
{
    return p->stars == EVERYWHERE || (p->stars == WHERE_MIXED && p->mixed[p->list[i]]);
}

static struct cw_text_sum sum_up(const struct path *p)
{
    const struct cw_text_sum slash = cw_text_sum("/", 1), at = cw_text_sum("@", 1);
    struct cw_text_sum sum = cw_text_sum("", 0);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cw_timeline_path *path = &p->t->paths[p->list[i]];
        const struct cw_timeline_part *name = &p->t->parts[path->name];
        if (i)
            sum = cw_text_sum_join(sum, slash);
        if (path->domain)
            sum = cw_text_sum_join(cw_text_sum_join(sum, p->t->parts[path->domain].sum), at);
        sum = cw_text_sum_join(sum, has_stars(p, i) ? name->pattern_sum : name->sum);
    }
    return sum;
}

static const char *put_path(struct path *p, uint32_t path, char text[CW_TIMELINE_NAME_SIZE])
{
    const struct cw_timeline *t = p->t;
    struct cw_elided out;
    p->count = list_path(t, path, p->list);
    cw_elided_begin(&out, sum_up(p), text, t->path_size);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cw_timeline_path *of = &t->paths[p->list[i]];
        const struct cw_timeline_part *name = &t->parts[of->name];
        if (i)
            cw_elided_add(&out, "/", 1);
        if (of->domain) {
            cw_elided_add(&out, t->names[of->domain].text, t->parts[of->domain].sum.length);
            cw_elided_add(&out, "@", 1);
        }
        if (has_stars(p, i))
            cw_elided_add(&out, name->pattern, name->pattern_sum.length);
        else
            cw_elided_add(&out, t->names[of->name].text, name->sum.length);
    }
    return cw_elided_end(&out);
}

const char *cw_timeline_path_text(const struct cw_timeline *t, uint32_t path, char text[CW_TIMELINE_NAME_SIZE])
{
    return put_path(&(struct path){.t = t, .stars = NOWHERE}, path, text);
}

const char *const *cw_timeline_path_texts(const struct cw_timeline *t, bool patterns, struct cw_arena *arena)
{
    const char **texts = cw_arena_alloc(arena, t->path_count, sizeof *texts);
    struct path path = {.t = t, .stars = patterns ? EVERYWHERE : NOWHERE};
    char text[CW_TIMELINE_NAME_SIZE];
    for (uint32_t p = 0; texts && p < t->path_count; p++)
        if (!(texts[p] = cw_arena_strdup(arena, put_path(&path, p, text))))
            return NULL;
    return texts;
}

const char *cw_timeline_name_ranges(const struct cw_timeline_groups *groups, uint32_t group,
                                    char text[CW_TIMELINE_NAME_SIZE])
{
    if (!groups->items[group].first)
        return strcpy(text, "(no range)");
    struct path path = {.t = groups->t, .stars = WHERE_MIXED, .mixed = groups->mixed};
    return put_path(&path, groups->items[group].first, text);
}

const char *cw_timeline_group_slowest(const struct cw_timeline_groups *groups, uint32_t group,
                                      char text[CW_TIMELINE_NAME_SIZE])
{
    const struct cw_timeline *t = groups->t;
    const uint32_t slowest = groups->items[group].slowest;
    uint32_t list[DEEPEST];
    const uint32_t count = slowest == CW_TIMELINE_NONE ? 0 : list_path(t, t->ranges[slowest].path, list);
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        for (const char *name = t->names[t->paths[list[i]].name].text; groups->mixed[list[i]] && *name;) {
            size_t digits = 0;
            while (isdigit((unsigned char)name[digits]))
                digits++;
            if (digits && used && used + 1 < CW_TIMELINE_NAME_SIZE)
                text[used++] = '/';
            for (size_t k = 0; k < digits && used + 1 < CW_TIMELINE_NAME_SIZE; k++)
                text[used++] = name[k];
            name += digits ? digits : 1;
        }
    text[used] = 0;
    return text;
}
