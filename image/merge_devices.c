#define _GNU_SOURCE
#include "image/merge_devices.h"

#include <search.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "image/fields.h"

struct joined {
    uint32_t number; /* in the result */
    struct cw_merge_device of;
};

struct cw_likeness cw_likeness_of(const void *data, size_t size)
{
    const XXH128_hash_t hash = XXH3_128bits(data, size);
    return (struct cw_likeness){hash.low64, hash.high64, size};
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int cw_likeness_compare(const struct cw_likeness *a, const struct cw_likeness *b)
{
    int order = compare(a->high, b->high);
    order = order ? order : compare(a->low, b->low);
    return order ? order : compare(a->size, b->size);
}

enum cw_status cw_merge_device_read(struct cw_merge_device *device, const struct cw_reader *file,
                                    const struct cw_chunk *chunk)
{
    struct cw_arena *arena = cw_arena_create();
    const struct cw_pair *pairs;
    struct cw_reader in;
    if (!arena)
        return cw_error_nomem(file->err);
    cw_chunk_open(file, chunk, &in);
    *device = (struct cw_merge_device){.own = cw_read_u32(&in)};
    const uint32_t count = cw_field_read_pairs(&in, arena, &pairs, "attributes");
    const char *place = in.status == CW_OK ? cw_pair_find(pairs, count, "pci") : NULL;
    device->placed = place && *place;
    if (in.status == CW_OK)
        device->description = cw_likeness_of(chunk->payload + 4, chunk->size - 4);
    cw_arena_destroy(arena);
    return in.status;
}

static int by_number(const void *left, const void *right)
{
    const struct joined *a = left, *b = right;
    return compare(a->number, b->number);
}

/* Devices with equal descriptions are one device; without an address their numbers must be equal, too. */
static int by_likeness(const void *left, const void *right)
{
    const struct joined *a = left, *b = right;
    int order = cw_likeness_compare(&a->of.description, &b->of.description);
    return order || a->of.placed ? order : compare(a->of.own, b->of.own);
}

enum cw_status cw_merge_devices_map(struct cw_merge_devices *d, const struct cw_merge_device *device, bool apart,
                                    uint32_t *number, bool *is_new)
{
    struct joined joined = {device->own, *device};
    void *const *alike = device->description.size && !apart ? tfind(&joined, &d->by_likeness, by_likeness) : NULL;
    *is_new = !alike;
    if (alike) {
        *number = ((const struct joined *)*alike)->number;
        return CW_OK;
    }
    while (tfind(&joined, &d->by_number, by_number))
        joined.number = d->next++;
    *number = joined.number;
    d->arena = d->arena ? d->arena : cw_arena_create();
    struct joined *kept = d->arena ? cw_arena_alloc(d->arena, 1, sizeof *kept) : NULL;
    if (!kept)
        return CW_ERR_NOMEM;
    *kept = joined;
    if (!tsearch(kept, &d->by_number, by_number) ||
        (device->description.size && !tsearch(kept, &d->by_likeness, by_likeness)))
        return CW_ERR_NOMEM;
    return CW_OK;
}

static void leave(void *node)
{
    (void)node;
}

void cw_merge_devices_free(struct cw_merge_devices *d)
{
    tdestroy(d->by_likeness, leave);
    tdestroy(d->by_number, leave);
    cw_arena_destroy(d->arena);
    *d = (struct cw_merge_devices){0};
}
