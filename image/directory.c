#include "image/directory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static bool is_key(const void *directory, uint32_t item, const void *bytes)
{
    const struct cw_launch_bytes *key = &((const struct cw_directory *)directory)->keys[item];
    const struct cw_launch_bytes *b = bytes;
    return key->head_size == b->head_size && key->about_size == b->about_size &&
           memcmp(key->head, b->head, b->head_size) == 0 &&
           (!b->about_size || memcmp(key->about, b->about, b->about_size) == 0);
}

static bool grow_items(struct cw_directory *d)
{
    const size_t room = d->item_room ? 2 * d->item_room : 16;
    struct cw_range *items = realloc(d->items, room * sizeof *items);
    d->items = items ? items : d->items;
    struct cw_launch_bytes *keys = realloc(d->keys, room * sizeof *keys);
    d->keys = keys ? keys : d->keys;
    d->item_room = items && keys ? room : d->item_room;
    return items && keys;
}

static bool add_item(struct cw_directory *d, const struct cw_launch_bytes *b, struct cw_arena *arena)
{
    uint8_t *bytes = cw_arena_alloc(arena, b->head_size + b->about_size, 1);
    if (!bytes || (d->item_count == d->item_room && !grow_items(d)))
        return false;
    memcpy(bytes, b->head, b->head_size);
    if (b->about_size)
        memcpy(bytes + b->head_size, b->about, b->about_size);
    d->keys[d->item_count] = (struct cw_launch_bytes){bytes, bytes + b->head_size, b->head_size, b->about_size};
    d->items[d->item_count++] = (struct cw_range){0};
    return true;
}

enum cw_status cw_directory_find(struct cw_directory *d, const struct cw_launch_bytes *bytes, uint32_t *launch,
                                 bool *found, struct cw_arena *arena, struct cw_error *err)
{
    const uint64_t hash = XXH3_64bits_withSeed(bytes->head, bytes->head_size,
                                               bytes->about_size ? XXH3_64bits(bytes->about, bytes->about_size) : 0);
    *launch = cw_hash_table_add(&d->table, hash, is_key, d, bytes);
    *found = *launch < d->item_count;
    return *found || (*launch != CW_NO_ITEM && add_item(d, bytes, arena)) ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_directory_add(struct cw_directory *d, uint64_t place, uint32_t launch, struct cw_error *err)
{
    if (d->count == d->room) {
        const size_t room = d->room ? 2 * d->room : 16 * CW_DIRECTORY_STEP;
        uint32_t *launches = realloc(d->launches, room * sizeof *launches);
        d->launches = launches ? launches : d->launches;
        uint64_t *places = realloc(d->places, room / CW_DIRECTORY_STEP * sizeof *places);
        d->places = places ? places : d->places;
        if (!launches || !places)
            return cw_error_nomem(err);
        d->room = room;
    }
    if (d->count % CW_DIRECTORY_STEP == 0)
        d->places[d->count / CW_DIRECTORY_STEP] = place;
    d->launches[d->count++] = launch;
    return CW_OK;
}

void cw_directory_finish(struct cw_directory *d)
{
    cw_hash_table_free(&d->table);
    free(d->keys);
    d->keys = NULL;
}

uint32_t cw_launch_count(const struct cw_counter_data *data)
{
    return data->repeats     ? data->repeats->launch_count
           : data->directory ? data->directory->item_count
                             : data->range_count;
}

const struct cw_range *cw_launch(const struct cw_counter_data *data, uint32_t launch)
{
    return data->repeats     ? &data->repeats->launches[launch]
           : data->directory ? &data->directory->items[launch]
                             : &data->ranges[launch];
}

uint32_t cw_launch_number(const struct cw_counter_data *data, uint32_t range)
{
    return data->repeats ? data->repeats->numbers[range] : data->directory ? data->directory->launches[range] : range;
}

const struct cw_range *cw_launch_of(const struct cw_counter_data *data, uint32_t range)
{
    return cw_launch(data, cw_launch_number(data, range));
}

uint64_t cw_ranges_begin(const struct cw_counter_data *data)
{
    uint64_t first = data->repeats ? data->repeats->first_ns : data->directory ? data->directory->first_ns : 0;
    for (uint32_t i = 0; data->ranges && i < data->range_count; i++) {
        const uint64_t start = data->ranges[i].start_ns;
        first = start && (!first || start < first) ? start : first;
    }
    return first;
}

bool cw_fact_is_known(const struct cw_counter_data *data, uint32_t fact)
{
    bool known = data->directory && (data->directory->facts_known >> fact & 1);
    for (uint32_t i = 0; !data->directory && !data->repeats && !known && i < data->range_count; i++)
        known = !isnan(data->facts[(size_t)fact * data->range_count + i]);
    return known;
}
