#define _GNU_SOURCE
#include "eval/ranges/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cw_fold_is_cold(const struct cw_range *range)
{
    const char *cold = cw_range_is_multiplexed(range) ? cw_range_attribute(range, "cold") : NULL;
    return cold && strcmp(cold, "yes") == 0;
}

bool cw_fold_has(const struct cw_counter_data *data)
{
    for (uint32_t i = 0; i < cw_launch_count(data); i++)
        if (cw_range_is_multiplexed(cw_launch(data, i)))
            return true;
    return false;
}

/* ---- kernels and shapes ----------------------------------------------------------------------------------------- */

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static const char *subject(const struct cw_range *range)
{
    return range->kernel[0] ? range->kernel : range->name;
}

int cw_range_compare_kernels(const struct cw_range *a, const struct cw_range *b, bool shape)
{
    int order = strcmp(subject(a), subject(b));
    for (int i = 0; i < 3 && !order && shape; i++) {
        order = by_number(a->grid[i], b->grid[i]);
        order = order ? order : by_number(a->block[i], b->block[i]);
    }
    return order;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

typedef int compare_devices(const struct cw_counter_data *data, uint32_t a, uint32_t b);

struct device_order {
    const struct cw_counter_data *data;
    compare_devices *compare;
};

static int in_device_order(const void *a, const void *b, void *order)
{
    const struct device_order *o = order;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const int found = o->compare(o->data, i, k);
    return found ? found : by_number(i, k);
}

/* For each device, the first one that compares equal. A device without the attribute `key` is like no other. */
static uint32_t *find_alike(const struct cw_counter_data *data, const char *key, compare_devices *compare,
                            struct cw_arena *arena)
{
    struct device_order order = {data, compare};
    uint32_t *first = cw_arena_alloc(arena, data->device_count, sizeof *first);
    uint32_t *keyed = cw_arena_alloc(arena, data->device_count, sizeof *keyed), count = 0;
    if (!first || !keyed)
        return NULL;
    for (uint32_t i = 0; i < data->device_count; i++) {
        first[i] = i;
        if (cw_device_attribute(&data->devices[i], key))
            keyed[count++] = i;
    }
    qsort_r(keyed, count, sizeof *keyed, in_device_order, &order);
    for (uint32_t i = 1; i < count; i++)
        if (compare(data, keyed[i - 1], keyed[i]) == 0)
            first[keyed[i]] = first[keyed[i - 1]];
    return first;
}

/* By name and facts. */
static int compare_models(const struct cw_counter_data *data, uint32_t a, uint32_t b)
{
    const struct cw_device *x = &data->devices[a], *y = &data->devices[b];
    const int order = strcmp(cw_device_attribute(x, "name"), cw_device_attribute(y, "name"));
    return order ? order : memcmp(x->facts, y->facts, data->schema.counter_count * sizeof *x->facts);
}

uint32_t *cw_device_models(const struct cw_counter_data *data, struct cw_arena *arena)
{
    return find_alike(data, "name", compare_models, arena);
}

static int compare_places(const struct cw_counter_data *data, uint32_t a, uint32_t b)
{
    const struct cw_device *x = &data->devices[a], *y = &data->devices[b];
    const char *host = cw_device_attribute(x, "host"), *other = cw_device_attribute(y, "host");
    const int order = strcmp(cw_device_attribute(x, "pci"), cw_device_attribute(y, "pci"));
    return order ? order : strcmp(host ? host : "", other ? other : "");
}

uint32_t *cw_device_gpus(const struct cw_counter_data *data, uint32_t *gpu_count, struct cw_arena *arena)
{
    uint32_t *gpu = find_alike(data, "pci", compare_places, arena);
    *gpu_count = 0;
    for (uint32_t i = 0; gpu && i < data->device_count; i++)
        *gpu_count += gpu[i] == i;
    return gpu;
}

/* ---- numbered names --------------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes the next character of a name, '0' for a whole number. */
static char take(const char **name)
{
    const char first = **name;
    if (first)
        ++*name;
    while (is_digit(first) && is_digit(**name))
        ++*name;
    return is_digit(first) ? '0' : first;
}

int cw_fold_compare_names(const char *a, const char *b)
{
    for (;;) {
        const unsigned char x = (unsigned char)take(&a), y = (unsigned char)take(&b);
        if (x != y || !x)
            return (x > y) - (x < y);
    }
}

const char *cw_fold_name(const char *name, struct cw_arena *arena)
{
    char *text = cw_arena_strdup(arena, name);
    size_t length = 0;
    for (char c; text && *name; text[length++] = c == '0' ? '*' : c)
        c = take(&name);
    if (text)
        text[length] = 0;
    return text;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------ */

struct sorting {
    const struct cw_counter_data *data;
    const uint32_t *model;
};

struct entry {
    uint64_t hash;
    uint32_t launch;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_kind(const struct sorting *s, const struct cw_range *range)
{
    uint64_t hash = s->model[range->device];
    for (const char *text = subject(range); *text;)
        hash = (hash ^ (unsigned char)(*range->kernel ? *text++ : take(&text))) * 0x100000001b3u;
    for (int i = 0; i < 3; i++)
        hash = mix(mix(hash, range->grid[i]), range->block[i]);
    return hash;
}

static int compare(const struct sorting *s, uint32_t i, uint32_t k)
{
    const struct cw_range *a = cw_launch(s->data, i), *b = cw_launch(s->data, k);
    const uint32_t x = s->model[a->device], y = s->model[b->device];
    if (x != y)
        return by_number(x, y);
    if (!*a->kernel != !*b->kernel)
        return *a->kernel ? 1 : -1;
    return *a->kernel ? cw_range_compare_kernels(a, b, true) : cw_fold_compare_names(a->name, b->name);
}

static int by_hash(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->hash != y->hash ? by_number(x->hash, y->hash) : by_number(x->launch, y->launch);
}

static int by_kind(const void *a, const void *b, void *sorting)
{
    const struct entry *x = a, *y = b;
    const int order = compare(sorting, x->launch, y->launch);
    return order ? order : by_number(x->launch, y->launch);
}

/* Numbers entries of one hash, which are nearly always of one kind. */
static void number(struct cw_folds *folds, uint32_t *kinds, struct sorting *s, struct entry *entries, uint32_t count)
{
    bool alike = true;
    for (uint32_t i = 1; i < count && alike; i++)
        alike = compare(s, entries[0].launch, entries[i].launch) == 0;
    if (!alike)
        qsort_r(entries, count, sizeof *entries, by_kind, s);
    for (uint32_t i = 0; i < count; i++) {
        folds->count += i == 0 || (!alike && compare(s, entries[i - 1].launch, entries[i].launch) != 0);
        kinds[entries[i].launch] = folds->count - 1;
    }
}

enum cw_status cw_folds_make(struct cw_folds *folds, const struct cw_counter_data *data, const uint32_t *model,
                             struct cw_arena *arena, struct cw_error *err)
{
    struct sorting s = {data, model};
    const uint32_t launches = cw_launch_count(data);
    uint32_t count = 0;
    *folds = (struct cw_folds){0};
    if (!cw_fold_has(data))
        return CW_OK;
    struct entry *entries = malloc(launches * sizeof *entries);
    uint32_t *kinds = cw_arena_alloc(arena, launches, sizeof *kinds);
    folds->kinds = kinds;
    for (uint32_t i = 0; entries && kinds && i < launches; i++) {
        kinds[i] = CW_WHOLE;
        if (cw_range_is_multiplexed(cw_launch(data, i)))
            entries[count++] = (struct entry){hash_kind(&s, cw_launch(data, i)), i};
    }
    if (count)
        qsort(entries, count, sizeof *entries, by_hash);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && entries[end].hash == entries[i].hash;)
            end++;
        number(folds, kinds, &s, entries + i, end - i);
    }
    const bool enough = entries && kinds;
    free(entries);
    return enough ? CW_OK : cw_error_nomem(err);
}

uint32_t cw_fold_kind(const struct cw_folds *folds, const struct cw_counter_data *data, uint32_t range)
{
    return folds->kinds ? folds->kinds[cw_launch_number(data, range)] : CW_WHOLE;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

bool cw_folds_estimate(const struct cw_folds *folds, const struct cw_counter_data *data, double *durations)
{
    struct {
        double sum;
        uint32_t timed;
    } *kinds = calloc((size_t)folds->count + 1, sizeof *kinds);
    for (uint32_t i = 0; kinds && i < data->range_count; i++) {
        const uint32_t kind = cw_fold_kind(folds, data, i);
        if (kind != CW_WHOLE && !isnan(durations[i])) {
            kinds[kind].sum += durations[i];
            kinds[kind].timed++;
        }
    }
    for (uint32_t i = 0; kinds && i < data->range_count; i++) {
        const uint32_t kind = cw_fold_kind(folds, data, i);
        if (kind != CW_WHOLE && isnan(durations[i]))
            durations[i] = kinds[kind].timed ? kinds[kind].sum / kinds[kind].timed : NAN;
    }
    const bool enough = kinds;
    free(kinds);
    return enough;
}

/* ---- user ranges within others ---------------------------------------------------------------------------------- */

struct place {
    uint32_t number;  /* the caller's */
    const char *path; /* "outer/inner" */
    size_t size;
    uint32_t launch;
};

static int in_path_order(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    const int order = memcmp(x->path, y->path, x->size < y->size ? x->size : y->size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static bool lies_within(struct place range, const struct place *places, size_t count)
{
    for (const char *end = strchr(range.path, '/'); end; end = strchr(end + 1, '/')) {
        range.size = (size_t)(end - range.path);
        if (bsearch(&range, places, count, sizeof *places, in_path_order))
            return true;
    }
    return false;
}

bool cw_ranges_find_nested(const bool **nested, const struct cw_counter_data *data, const uint32_t *place,
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
            places[k++] = (struct place){place[i], path, strlen(path), i};
    }
    qsort(places, count, sizeof *places, in_path_order);
    for (uint32_t k = 0; k < count; k++)
        if (lies_within(places[k], places, count)) {
            found[places[k].launch] = true;
            *nested = found;
        }
    free(places);
    return true;
}
