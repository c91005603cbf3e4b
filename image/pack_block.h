/* Collects the records of one pack. */
#ifndef CW_IMAGE_PACK_BLOCK_H
#define CW_IMAGE_PACK_BLOCK_H

#include "image/schema.h"

/* Contents of a block. */
struct cw_pack_filled {
    uint32_t records;
    size_t numbers;   /* of all records */
    size_t dense;     /* bytes of its chunks */
    uint32_t process; /* process of the last launch */
    bool failed;      /* out of memory */
};

/* Creates an empty block for chunks of the schema, which is borrowed. NULL when out of memory. */
struct cw_pack_block *cw_pack_block_create(const struct cw_schema *schema);
struct cw_pack_filled cw_pack_block_filled(const struct cw_pack_block *block);
/* Adds a record of these whole chunks. Returns false, and adds nothing, if they are not well formed. */
bool cw_pack_block_add(struct cw_pack_block *block, const struct cw_writer *chunks);
/* Appends a PACK chunk of all records; there must be at least one. False when out of memory. */
bool cw_pack_block_write(const struct cw_pack_block *block, struct cw_writer *out);
/* Removes all records. */
void cw_pack_block_empty(struct cw_pack_block *block);
void cw_pack_block_destroy(struct cw_pack_block *block);

#endif
