/* Collects the records of one pack. */
#ifndef CW_IMAGE_PACK_BLOCK_H
#define CW_IMAGE_PACK_BLOCK_H

#include "base/hash_table.h"
#include "image/pack.h"
#include "image/schema.h"

struct cw_pack_record {
    size_t first; /* index of its first number */
    uint32_t group, occurrence;
};

/* A group of records with fields of the same kinds, and for ranges of one kernel and shape. */
struct cw_pack_alike {
    size_t layout, layout_size; /* in `layouts`: for each chunk its head, then a byte for the kind of each field */
    size_t key_size;            /* size of the key behind the layout; groups with equal keys are the same */
    uint32_t field_count, rows, occurrences;
};

/* Initialise with zeros and the schema of the chunks, which is borrowed; free it. */
struct cw_pack_block {
    const struct cw_schema *schema;
    uint64_t *numbers;          /* numbers of all records: f64 as their bits, texts as their index */
    size_t number_count, dense; /* dense: bytes of its chunks */
    struct cw_pack_record *records;
    struct cw_pack_alike *groups;
    uint32_t record_count, text_count;
    size_t group_count;
    uint32_t process; /* process of the last launch */
    struct cw_writer layouts, texts;
    bool failed; /* out of memory */
    /* for adding: */
    size_t number_room, record_room, group_room, count_count, count_room, text_room;
    struct cw_pack_count *counts;
    size_t *text_at; /* places in `texts` */
    struct cw_hash_table by_layout, by_text, by_process;
    struct cw_writer layout, key; /* of the record being built */
    size_t first;                 /* index of its first number */
    uint32_t fields, device, own_process;
};

/* Adds a record of these whole chunks. Returns false, and adds nothing, if they are not well formed. */
bool cw_pack_block_add(struct cw_pack_block *block, const struct cw_writer *chunks);
/* Appends a PACK chunk of all records; there must be at least one. False when out of memory. */
bool cw_pack_block_write(const struct cw_pack_block *block, struct cw_writer *out);
/* Removes all records. */
void cw_pack_block_empty(struct cw_pack_block *block);
void cw_pack_block_free(struct cw_pack_block *block);

#endif
