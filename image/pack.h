/* Packs many similar chunks into one PACK chunk, which has their common parts once. See docs/formats.md, "Packed
 * chunks", for the bytes. */
#ifndef CW_IMAGE_PACK_H
#define CW_IMAGE_PACK_H

#include "image/chunk.h"

#define CW_CHUNK_PACK CW_CHUNK_TYPE('P', 'A', 'C', 'K')

enum cw_pack_kind { CW_PACK_U8, CW_PACK_U32, CW_PACK_U64, CW_PACK_F64, CW_PACK_TEXT, CW_PACK__KINDS };
enum cw_pack_form {
    CW_PACK_EQUAL,   /* one number for all rows */
    CW_PACK_ABOVE,   /* the least number, and for each row its distance from it, in some bits */
    CW_PACK_BESIDE,  /* the same for the difference to the field before */
    CW_PACK_INDICES, /* the distinct numbers, and for each row an index in some bits */
    CW_PACK_FOLLOWS, /* the f64 of an earlier field, times a number, divided by a number */
    CW_PACK__FORMS,
    CW_PACK_WHOLE = 16 /* added if each f64 is a whole number, and stored as such */
};
enum {
    CW_PACK_RECORDS_MAX = 1 << 16,
    CW_PACK_TIMES_MAX = 128,       /* limit on unpacked bytes for each byte of the payload */
    CW_PACK_RECORD_TIMES_MAX = 16, /* the same limit for one record */
    CW_PACK_MAJOR = 2,             /* version of a file with packs */
};
/* Limit on the factors of CW_PACK_FOLLOWS. */
#define CW_PACK_FACTOR_MAX ((uint64_t)1 << 53)

/* Whether a pack may hold chunks of this type. */
bool cw_pack_may_hold(uint32_t type);
/* Number of bits for numbers up to `most`. */
unsigned cw_pack_width(uint64_t most);
/* `value` * `times` / `by`, on doubles given as their bits. */
uint64_t cw_pack_follow(uint64_t value, uint64_t times, uint64_t by);

/* ---- reading ---- */

struct cw_pack_group;

/* A pack being read. Initialise with zeros and free. */
struct cw_pack {
    struct cw_arena *arena; /* holds all else; NULL: no pack is open */
    uint64_t offset;        /* offset of the chunk in the file */
    const uint8_t *data;    /* a copy of the payload */
    size_t size;
    const struct cw_pack_text {
        const uint8_t *data; /* as in a payload, with its length in front */
        size_t size;
    } * texts;
    uint32_t text_count, group_count, record_count;
    const struct cw_pack_group *groups;
    const uint32_t *of, *row; /* for each record its group, and its row in the group */
    uint32_t record, part;    /* next record and part */
    bool *wanted;             /* by text: it is a wanted rank; NULL: all are wanted */
    uint64_t *numbers;        /* numbers of the record's fields */
    struct cw_writer chunks;  /* chunks of the record, without heads */
    size_t *ends;             /* ends of its parts in `chunks` */
};
/* Opens a PACK chunk and checks all of it, except for text numbers. The chunk's payload may be freed afterwards.
 * `ranks` is a list as in image/rank_index.h, or NULL. If the pack cannot hold any of these ranks, it is skipped and
 * has no record. */
enum cw_status cw_pack_open(struct cw_pack *pack, const struct cw_chunk *chunk, const char *ranks,
                            const struct cw_reader *file);
/* Whether the next record has one of these ranks, or none. */
bool cw_pack_is_wanted(const struct cw_pack *pack);
/* Place of the next record. */
uint64_t cw_pack_place(const struct cw_pack *pack);
/* Whether there are further chunks. */
bool cw_pack_has_more(const struct cw_pack *pack);
/* Returns the next chunk. Its payload is valid until the first chunk of the next record, its offset is the pack's, and
 * its place includes the record number. */
enum cw_status cw_pack_next(struct cw_pack *pack, struct cw_chunk *chunk, const struct cw_reader *file);
void cw_pack_free(struct cw_pack *pack);

#endif
