/* Directory of a capture: the place and the launch of each range. It takes some bytes a range and holds each launch
 * once, so that the capture may be larger than memory. */
#ifndef CW_IMAGE_DIRECTORY_H
#define CW_IMAGE_DIRECTORY_H

#include "base/hash_table.h"
#include "image/chunk_walk.h"
#include "image/counter_data.h"

enum { CW_DIRECTORY_STEP = 16 };

struct cw_directory {
    uint64_t *places;       /* first chunk of the ranges 0, CW_DIRECTORY_STEP, ... */
    uint32_t *launches;     /* [range]: index into items */
    struct cw_range *items; /* launches: ranges without times, durations and facts */
    uint32_t count, item_count;
    uint64_t first_ns;         /* start of the first range; 0: no range has one */
    uint64_t facts_known;      /* a bit for each fact of the schema that any range has */
    struct cw_chunk_gaps gaps; /* damage, and the ranges lost with it */
    /* for adding: */
    size_t room, item_room;
    struct cw_launch_bytes { /* of a launch: the head of its RNGE, and its RATT */
        const uint8_t *head, *about;
        size_t head_size, about_size;
    } * keys;                   /* of items */
    struct cw_hash_table table; /* index of items */
};

/* Finds the launch with these bytes. *found false: the launch is new, the last of `items`, and the
 * caller fills it in. Fails with CW_ERR_NOMEM only. */
enum cw_status cw_directory_find(struct cw_directory *directory, const struct cw_launch_bytes *bytes, uint32_t *launch,
                                 bool *found, struct cw_arena *arena, struct cw_error *err);
/* Adds a range of that launch. Fails with CW_ERR_NOMEM only. */
enum cw_status cw_directory_add(struct cw_directory *directory, uint64_t place, uint32_t launch, struct cw_error *err);
/* Frees the memory that only adding needs. */
void cw_directory_finish(struct cw_directory *directory);

#endif
