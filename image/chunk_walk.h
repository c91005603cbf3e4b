/* The chunks of an input, one after another. */
#ifndef CW_IMAGE_CHUNK_WALK_H
#define CW_IMAGE_CHUNK_WALK_H

#include "base/input.h"
#include "image/chunk.h"

/* Damage: bytes that belong to no whole chunk, up to the next one or the end of the file. */
struct cw_chunk_gap {
    uint64_t from, to;
    uint32_t type; /* of the one chunk that it is, by its head; else 0 */
};
/* In the order of the file, none touching another. Begins as zeros; `items` is to be freed. */
struct cw_chunk_gaps {
    struct cw_chunk_gap *items;
    size_t count, room;
    uint64_t *dropped; /* places of records of packs that are left out, too; to be freed */
    size_t dropped_count, dropped_room;
    const char *ranks; /* of records of packs, those of other ranks are left out, too (image/rank_index.h); NULL: none */
    uint64_t tried; /* bytes of chunks that were looked at and were not whole: no more than 4 for each of the file */
};
/* Adds one that lies behind the others, or begins among them: then it is one with those. CW_ERR_NOMEM alone. */
enum cw_status cw_chunk_gaps_add(struct cw_chunk_gaps *gaps, const struct cw_chunk_gap *gap, struct cw_error *err);
/* Adds the record of a pack behind those that are dropped. CW_ERR_NOMEM alone. */
enum cw_status cw_chunk_gaps_drop(struct cw_chunk_gaps *gaps, uint64_t place, struct cw_error *err);

/* A chunk's payload stays until the next step. Instead of a chunk PACK come those that it holds. */
struct cw_chunk_walk {
    struct cw_window window;
    uint64_t pos;         /* behind the last chunk of the file that was read */
    struct cw_pack *pack; /* which that was, where it is one; or NULL */
    uint32_t skip;        /* records of the next chunk, where that is one */
    struct cw_error *err;
    struct cw_chunk_gaps *mends;      /* damage is looked for, left out, and added to these; NULL: it is an error */
    const struct cw_chunk_gaps *gaps; /* those that are known are left out; or NULL */
};
/* From `pos` on; 0: checks the header of the file first, and begins behind it. To be ended, also after a failure. */
enum cw_status cw_chunk_walk_begin(struct cw_chunk_walk *walk, const struct cw_input *input,
                                   const struct cw_chunk_kind *kind, uint64_t pos, struct cw_error *err);
/* As cw_chunk_next. A file that ends inside a chunk is truncated where no whole chunk follows. */
enum cw_status cw_chunk_walk_next(struct cw_chunk_walk *walk, struct cw_chunk *chunk, bool *found, bool *truncated);
/* Goes to a place of a chunk before, which comes next. */
void cw_chunk_walk_seek(struct cw_chunk_walk *walk, uint64_t place);
void cw_chunk_walk_end(struct cw_chunk_walk *walk);
/* A reader without bytes, for messages about offsets of the input. */
struct cw_reader cw_chunk_walk_reader(const struct cw_chunk_walk *walk);

#endif
