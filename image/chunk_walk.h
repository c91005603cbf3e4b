/* Walks over the chunks of an input, one after another. */
#ifndef CW_IMAGE_CHUNK_WALK_H
#define CW_IMAGE_CHUNK_WALK_H

#include "base/input.h"
#include "image/chunk.h"

/* Gaps in the order of the file, none touching another. Initialise with zeros; free `items`. */
struct cw_chunk_gaps {
    /* A gap: damaged bytes that belong to no whole chunk, up to the next whole chunk or the end of the file. */
    struct cw_chunk_gap {
        uint64_t from, to;
        uint32_t type; /* the type in the head if the gap is one chunk; else 0 */
    } * items;
    size_t count, room;
    uint64_t *dropped; /* places of pack records that are left out, too; free it */
    size_t dropped_count, dropped_room;
    const char *ranks; /* keep pack records of these ranks only (image/rank_index.h); NULL: keep all */
    uint64_t tried;    /* bytes of chunks that were examined and not whole; the limit is 4 times the file's size */
};
/* Adds a gap that lies behind the others, or begins among them: the gaps are joined then. Fails with CW_ERR_NOMEM
 * only. */
enum cw_status cw_chunk_gaps_add(struct cw_chunk_gaps *gaps, const struct cw_chunk_gap *gap, struct cw_error *err);
/* Adds a pack record behind the dropped ones. Fails with CW_ERR_NOMEM only. */
enum cw_status cw_chunk_gaps_drop(struct cw_chunk_gaps *gaps, uint64_t place, struct cw_error *err);

/* A walk over an input. The payload of a chunk is valid until the next step. Instead of a PACK chunk, the walk returns
 * the chunks packed in it. */
struct cw_chunk_walk {
    struct cw_window window;
    uint64_t pos;         /* behind the last chunk read from the file */
    struct cw_pack *pack; /* that chunk, if it is a pack; or NULL */
    uint32_t skip;        /* records to skip in the next chunk, if it is a pack */
    struct cw_error *err;
    struct cw_chunk_gaps *mends;      /* search for damage, skip it and add it here; NULL: damage is an error */
    const struct cw_chunk_gaps *gaps; /* known gaps to skip; or NULL */
};
/* Begins at `pos`; 0: checks the file header and begins behind it. End the walk also after a failure. */
enum cw_status cw_chunk_walk_begin(struct cw_chunk_walk *walk, const struct cw_input *input,
                                   const struct cw_chunk_kind *kind, uint64_t pos, struct cw_error *err);
/* Returns the next chunk as cw_chunk_next does. A file that ends inside a chunk is truncated if no whole chunk
 * follows. */
enum cw_status cw_chunk_walk_next(struct cw_chunk_walk *walk, struct cw_chunk *chunk, bool *found, bool *truncated);
/* Goes back to the place of an earlier chunk, which comes next. */
void cw_chunk_walk_seek(struct cw_chunk_walk *walk, uint64_t place);
void cw_chunk_walk_end(struct cw_chunk_walk *walk);
/* Returns a reader without bytes, for messages about offsets of the input. */
struct cw_reader cw_chunk_walk_reader(const struct cw_chunk_walk *walk);

#endif
