/* Records that are packed together, as they come together. */
#ifndef CW_IMAGE_PACK_BLOCK_H
#define CW_IMAGE_PACK_BLOCK_H

#include "base/hash_table.h"
#include "image/pack.h"
#include "image/schema.h"

struct cw_pack_record {
    size_t first; /* its numbers */
    uint32_t group, occurrence;
};

/* Records whose fields are of the same kinds, and launches of one kernel and shape. */
struct cw_pack_alike {
    size_t layout, layout_size; /* in `layouts`: for each chunk its head, then a byte for the kind of each field */
    size_t key_size;            /* of what stands behind it there, which groups alike have alike */
    uint32_t field_count, rows, occurrences;
};

/* Begins as zeros, but for the schema that chunks are of, which is borrowed; to be freed. */
struct cw_pack_block {
    const struct cw_schema *schema;
    uint64_t *numbers;          /* of all records: f64 as their bits, texts as their number */
    size_t number_count, dense; /* bytes of its chunks */
    struct cw_pack_record *records;
    struct cw_pack_alike *groups;
    uint32_t record_count, text_count;
    size_t group_count;
    uint32_t process; /* of the last launch */
    struct cw_writer layouts, texts;
    bool failed; /* out of memory */
    /* for adding: */
    size_t number_room, record_room, group_room, count_count, count_room, text_room;
    struct cw_pack_count *counts;
    size_t *text_at; /* in `texts` */
    struct cw_hash_table by_layout, by_text, by_process;
    struct cw_writer layout, key; /* of the record that comes together */
    size_t first;                 /* its numbers */
    uint32_t fields, device, own_process;
};

/* Adds the record of these chunks, which are whole. False where they are not what they should be: nothing was added. */
bool cw_pack_block_add(struct cw_pack_block *block, const struct cw_writer *chunks);
/* Appends the chunk PACK of all records, there being some. False when out of memory. */
bool cw_pack_block_write(const struct cw_pack_block *block, struct cw_writer *out);
/* Leaves no record. */
void cw_pack_block_empty(struct cw_pack_block *block);
void cw_pack_block_free(struct cw_pack_block *block);

#endif
