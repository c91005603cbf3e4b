#define _GNU_SOURCE
#include "agent/common/nesting.h"

#include <stdlib.h>
#include <string.h>

/* ---- ranges beyond the room -------------------------------------------------------------------------------------- */

static uint32_t find_beyond(const struct cw_beyond *b, uint64_t thread, uint64_t domain)
{
    uint32_t i = 0;
    while (i < b->count && (b->of[i].thread != thread || b->of[i].domain != domain))
        i++;
    return i;
}

void cw_beyond_push(struct cw_beyond *b, uint64_t thread, uint64_t domain)
{
    const uint32_t i = find_beyond(b, thread, domain);
    if (i == CW_MOST_BEYOND)
        return;
    if (i == b->count) {
        b->of[b->count].thread = thread;
        b->of[b->count].domain = domain;
        b->of[b->count++].depth = 0;
    }
    b->of[i].depth++;
}

bool cw_beyond_pop(struct cw_beyond *b, uint64_t thread, uint64_t domain)
{
    const uint32_t i = find_beyond(b, thread, domain);
    if (i == b->count)
        return false;
    if (!--b->of[i].depth)
        b->of[i] = b->of[--b->count];
    return true;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

void cw_nesting_finish(struct cw_nesting *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        free(n->open[i].name);
    n->count = n->pushed.count = 0;
}

/* The lowest level that no open range has. */
static uint32_t free_level(const struct cw_nesting *n)
{
    uint64_t used[CW_MOST_OPEN_RANGES / 64 + 1] = {1}; /* a bit for each level; level 0 means none */
    uint32_t level = 1;
    for (uint32_t i = 0; i < n->count; i++)
        used[n->open[i].level / 64] |= UINT64_C(1) << n->open[i].level % 64;
    while (used[level / 64] >> level % 64 & 1)
        level++;
    return level;
}

/* Warns about the first range of each kind that is not followed. */
static void warn(struct cw_nesting *n, bool full)
{
    _Static_assert(CW_MOST_OPEN_RANGES == 4096, "the warning says so");
    uint64_t *lost = full ? &n->beyond : &n->forgotten;
    if ((*lost)++ == 0)
        n->warning = full ? "found more than 4096 ranges open at a time; further ones are not followed"
                          : "found no memory for the name of a range; such ranges are not followed";
}

const struct cw_open_range *cw_nesting_open(struct cw_nesting *n, uint64_t thread, uint64_t domain, bool process_wide,
                                            bool wanted, const char *name)
{
    bool full = n->count == CW_MOST_OPEN_RANGES;
    char *copy = full ? NULL : strdup(name);
    n->warning = NULL;
    if (!copy) {
        warn(n, full);
        if (!process_wide)
            cw_beyond_push(&n->pushed, thread, domain);
        return NULL;
    }
    uint32_t level = wanted ? free_level(n) : 0;
    n->open[n->count] = (struct cw_open_range){.id = ++n->ids,
                                               .thread = thread,
                                               .domain = domain,
                                               .process_wide = process_wide,
                                               .wanted = wanted,
                                               .level = level,
                                               .name = copy};
    return &n->open[n->count++];
}

const char *cw_nesting_warning(const struct cw_nesting *n)
{
    return n->warning;
}

bool cw_nesting_pop_unknown(struct cw_nesting *n, uint64_t thread, uint64_t domain)
{
    return cw_beyond_pop(&n->pushed, thread, domain);
}

const struct cw_open_range *cw_nesting_innermost(const struct cw_nesting *n, uint64_t thread, uint64_t domain)
{
    for (uint32_t i = n->count; i-- > 0;)
        if (!n->open[i].process_wide && n->open[i].thread == thread && n->open[i].domain == domain)
            return &n->open[i];
    return NULL;
}

uint32_t cw_nesting_depth(const struct cw_nesting *n, uint64_t thread, uint64_t domain)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < n->count; i++)
        depth += !n->open[i].process_wide && n->open[i].thread == thread && n->open[i].domain == domain;
    return depth;
}

void cw_nesting_close(struct cw_nesting *n, uint64_t id)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->open[i].id == id) {
            free(n->open[i].name);
            memmove(&n->open[i], &n->open[i + 1], (--n->count - i) * sizeof *n->open);
            return;
        }
}

const struct cw_open_range *cw_nesting_at_level(const struct cw_nesting *n, uint32_t level)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->open[i].level == level)
            return &n->open[i];
    return NULL;
}

void cw_nesting_review(struct cw_nesting *n, bool (*wanted)(const void *user, const char *name), const void *user)
{
    for (uint32_t i = 0; i < n->count; i++)
        n->open[i].level = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        n->open[i].wanted = wanted(user, n->open[i].name);
        n->open[i].level = n->open[i].wanted ? free_level(n) : 0;
    }
}

static bool concerns(const struct cw_open_range *range, uint64_t thread)
{
    return range->process_wide || range->thread == thread;
}

void cw_nesting_path(const struct cw_nesting *n, uint64_t thread, uint64_t id, struct cw_writer *path)
{
    bool any = false;
    for (uint32_t i = 0; i < n->count && (!id || n->open[i].id <= id); i++)
        if (concerns(&n->open[i], thread)) {
            cw_write_format(path, "%s%s", any ? "/" : "", n->open[i].name);
            any = true;
        }
}

bool cw_nesting_wanted(const struct cw_nesting *n, uint64_t thread)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->open[i].wanted && concerns(&n->open[i], thread))
            return true;
    return false;
}
