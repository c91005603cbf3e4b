/* Index of a folder: which file has which rank of a job, so that a command reads some ranks of many thousands without
 * the others. It is a text and can be made again at any time:
 *
 *     counterworks index 1
 *     RANK SIZE TIME NAME         a line for each rank of each file, by rank
 *
 * SIZE and TIME (of the last change, ns since 1970) identify the file that was indexed: if they differ, the file has
 * changed. */
#ifndef CW_IMAGE_RANK_INDEX_H
#define CW_IMAGE_RANK_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define CW_RANK_INDEX_NAME "run.cwi"
#define CW_RANK_INDEX_HEAD "counterworks index 1\n"

struct cw_rank_index {
    struct cw_rank_entry {
        uint32_t rank;
        uint64_t size, time_ns;
        const char *name; /* file name in the folder */
    } * entries;
    size_t count;
};

/* Parses the text, which is followed by a NUL byte. Changes `text`: names stay in it. CW_ERR_INPUT with the line. */
enum cw_status cw_rank_index_read(struct cw_rank_index *index, char *text, size_t size, const char *source,
                                  struct cw_arena *arena, struct cw_error *err);
/* Sorts the entries and appends them as text. Names must have no end of line. */
void cw_rank_index_write(struct cw_rank_index *index, struct cw_writer *out);

/* Whether a text is a list of ranks such as "0-7,12", and whether a rank is in it. */
bool cw_rank_list_is(const char *list);
bool cw_rank_list_has(const char *list, uint64_t rank);

#endif
