#include "eval/ranges/group_nesting.h"

#include <stdlib.h>
#include <string.h>

struct place {
    uint32_t gpu;
    const char *path; /* "outer/inner" */
    size_t size;
    uint32_t launch;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    const int order = memcmp(x->path, y->path, x->size < y->size ? x->size : y->size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static bool lies_within(struct place range, const struct place *places, size_t count)
{
    for (const char *end = strchr(range.path, '/'); end; end = strchr(end + 1, '/')) {
        range.size = (size_t)(end - range.path);
        if (bsearch(&range, places, count, sizeof *places, compare))
            return true;
    }
    return false;
}

bool cw_group_nesting_find(const bool **nested, const struct cw_counter_data *data, const uint32_t *gpu,
                           const bool *taken, struct cw_arena *arena)
{
    const uint32_t launches = cw_launch_count(data);
    uint32_t count = 0;
    bool *found = NULL;
    struct place *places = NULL;
    *nested = NULL;
    for (uint32_t i = 0; i < launches; i++)
        count += taken[i] && !*cw_launch(data, i)->kernel;
    if (!count)
        return true;
    if (!(found = cw_arena_alloc(arena, launches, sizeof *found)) || !(places = malloc(count * sizeof *places)))
        return false;
    for (uint32_t i = 0, k = 0; i < launches; i++) {
        const struct cw_range *range = cw_launch(data, i);
        const char *path = cw_range_attribute(range, "nvtx");
        path = path ? path : range->name;
        if (taken[i] && !*range->kernel)
            places[k++] = (struct place){gpu[range->device], path, strlen(path), i};
    }
    qsort(places, count, sizeof *places, compare);
    for (uint32_t k = 0; k < count; k++)
        if (lies_within(places[k], places, count)) {
            found[places[k].launch] = true;
            *nested = found;
        }
    free(places);
    return true;
}
