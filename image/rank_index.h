/* Which file of a folder has which rank of a job, so that some ranks of many thousands are read without the others. It is
 * a text, which can be made again at any time:
 *
 *     counterworks index 1
 *     RANK SIZE TIME NAME        a line for each rank of each file, by rank
 *
 * SIZE and TIME (of the last change, ns since 1970) are those of the file when it was looked at: one that has others is
 * another file. */
#ifndef CW_IMAGE_RANK_INDEX_H
#define CW_IMAGE_RANK_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define CW_RANK_INDEX_NAME "run.cwi"
#define CW_RANK_INDEX_HEAD "counterworks index 1\n"

struct cw_rank_entry {
    uint32_t rank;
    uint64_t size, time_ns;
    const char *name; /* in the folder */
};
struct cw_rank_index {
    struct cw_rank_entry *entries;
    size_t count;
};

/* Reads what was written; `text` is followed by a NUL byte, and changed: names stay in it. CW_ERR_INPUT, by line. */
enum cw_status cw_rank_index_read(struct cw_rank_index *index, char *text, size_t size, const char *source,
                                  struct cw_arena *arena, struct cw_error *err);
/* Sorts the entries, and appends them as a text. Names have no end of line. */
void cw_rank_index_write(struct cw_rank_index *index, struct cw_writer *out);

/* "0-7,12": whether it is such a list, and whether a rank is in it. */
bool cw_rank_list_is(const char *list);
bool cw_rank_list_has(const char *list, uint64_t rank);

#endif
