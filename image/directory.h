/* Where the ranges of a capture are, and which launch each is of, so that the capture may be larger than memory: some
 * bytes a range, and each launch once. */
#ifndef CW_IMAGE_DIRECTORY_H
#define CW_IMAGE_DIRECTORY_H

#include "base/hash_table.h"
#include "image/chunk_walk.h"
#include "image/counter_data.h"

enum { CW_DIRECTORY_STEP = 16 };

struct cw_directory {
    uint64_t *places;   /* of the first chunk of the ranges 0, CW_DIRECTORY_STEP, ... */
    uint32_t *launches; /* [range]: index into items */
    struct cw_range *items; /* without times, durations and facts */
    uint32_t count, item_count;
    uint64_t first_ns;    /* when the first range began; 0: none says */
    uint64_t facts_known; /* a bit for each fact of the schema that a range says */
    struct cw_chunk_gaps gaps; /* damage, and ranges that are lost by it */
    /* for adding: */
    size_t room, item_room;
    struct cw_launch_key *keys; /* of items */
    struct cw_hash_table table; /* of items */
};

/* Which launch this is: of the bytes in `head` and `about`. *found: it was there before; else it is new, the last of
 * `items`, and to be filled in. CW_ERR_NOMEM alone. */
struct cw_launch_bytes {
    const uint8_t *head, *about;
    size_t head_size, about_size;
};
enum cw_status cw_directory_find(struct cw_directory *directory, const struct cw_launch_bytes *bytes, uint32_t *launch,
                                 bool *found, struct cw_arena *arena, struct cw_error *err);
/* Adds a range of that launch. CW_ERR_NOMEM alone. */
enum cw_status cw_directory_add(struct cw_directory *directory, uint64_t place, uint32_t launch, struct cw_error *err);
/* Frees what adding alone needs. */
void cw_directory_finish(struct cw_directory *directory);

#endif
