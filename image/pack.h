/* Many chunks that are much alike in one, PACK: what they have in common stands once. See docs/formats.md, "Packed
 * chunks", for the bytes. */
#ifndef CW_IMAGE_PACK_H
#define CW_IMAGE_PACK_H

#include "image/chunk.h"

#define CW_CHUNK_PACK CW_CHUNK_TYPE('P', 'A', 'C', 'K')

enum cw_pack_kind { CW_PACK_U8, CW_PACK_U32, CW_PACK_U64, CW_PACK_F64, CW_PACK_TEXT, CW_PACK__KINDS };
enum cw_pack_form {
    CW_PACK_EQUAL,   /* all have the number */
    CW_PACK_ABOVE,   /* the least, and in some bits how much more each is */
    CW_PACK_BESIDE,  /* the same of how much more each is than the field before */
    CW_PACK_INDICES, /* the different numbers, and in some bits which each is */
    CW_PACK_FOLLOWS, /* the f64 of an earlier field, times a number, by a number */
    CW_PACK__FORMS,
    CW_PACK_WHOLE = 16 /* is added where an f64 is a whole number, and given as that */
};
enum {
    CW_PACK_RECORDS_MAX = 1 << 16,
    CW_PACK_TIMES_MAX = 128,       /* bytes of chunks for each byte of the payload */
    CW_PACK_RECORD_TIMES_MAX = 16, /* of one record */
    CW_PACK_MAJOR = 2,             /* version of a file that has any */
};
/* What an f64 is multiplied with, or divided by. */
#define CW_PACK_FACTOR_MAX ((uint64_t)1 << 53)

/* Types of chunks that may stand in one. */
bool cw_pack_may_hold(uint32_t type);
/* Bits for numbers up to `most`. */
unsigned cw_pack_width(uint64_t most);
/* `value`, times `times`, by `by`: of f64 as their bits. */
uint64_t cw_pack_follow(uint64_t value, uint64_t times, uint64_t by);

/* ---- reading ---- */

struct cw_pack_group;

/* One that is read. Begins as zeros; to be freed. */
struct cw_pack {
    struct cw_arena *arena; /* of all else; NULL: none is open */
    uint64_t offset;        /* of the chunk in the file */
    const uint8_t *data;    /* a copy of the payload */
    size_t size;
    const struct cw_pack_text {
        const uint8_t *data; /* as in a payload, with its length before it */
        size_t size;
    } * texts;
    uint32_t text_count, group_count, record_count;
    const struct cw_pack_group *groups;
    const uint32_t *of, *row; /* of each record: its group, and which of that it is */
    uint32_t record, part;    /* the next one */
    bool *wanted;             /* by text: whether it is a rank that is wanted; NULL: all are */
    uint64_t *numbers;        /* of the record's fields */
    struct cw_writer chunks;  /* the record's, without heads */
    size_t *ends;             /* of its parts in `chunks` */
};
/* Takes a chunk of that type, all of which is checked but for numbers of texts. Its payload may go. `ranks` may be NULL:
 * a list as image/rank_index.h has it. Where nothing can be of one of these, the pack is not looked at and has no
 * record. */
enum cw_status cw_pack_open(struct cw_pack *pack, const struct cw_chunk *chunk, const char *ranks,
                            const struct cw_reader *file);
/* Whether the next record is of one of these ranks, or of none. */
bool cw_pack_is_wanted(const struct cw_pack *pack);
/* Where the next record is. */
uint64_t cw_pack_place(const struct cw_pack *pack);
/* Whether chunks are left. */
bool cw_pack_has_more(const struct cw_pack *pack);
/* The next chunk. Its payload stays until that of another record is asked for, its offset is that of the pack, and its
 * place says which record it is of. */
enum cw_status cw_pack_next(struct cw_pack *pack, struct cw_chunk *chunk, const struct cw_reader *file);
void cw_pack_free(struct cw_pack *pack);

#endif
