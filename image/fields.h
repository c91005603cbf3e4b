/* What both formats have. Functions that read report through the reader they are given and do nothing once it has
 * failed. */
#ifndef CW_IMAGE_FIELDS_H
#define CW_IMAGE_FIELDS_H

#include "image/chunk.h"

/* A plan is for one of the first two; the others collect without one. */
enum cw_profiler {
    CW_PROFILER_RANGE = 0,
    CW_PROFILER_PM = 1,
    CW_PROFILER_PC = 2,
    CW_PROFILER_SASS = 3,
    CW_PROFILER_TRACE = 4,
    CW_PROFILER__COUNT,
    CW_PROFILER__PLANNED = CW_PROFILER_PM + 1
};
/* "range", "pm", "pc", "sass", "trace". */
extern const char *const cw_profiler_names[CW_PROFILER__COUNT];
/* What a capture of each holds, for people. */
extern const char *const cw_profiler_texts[CW_PROFILER__COUNT];

struct cw_pair {
    const char *key, *value;
};
/* The value of a key, or NULL. A rank that is no number is none, and neither is a number of ranks ("rank", "ranks"). */
const char *cw_pair_find(const struct cw_pair *pairs, uint32_t count, const char *key);
/* Whether a key is one of these two. */
bool cw_pair_is_rank(const char *key);
/* NULL when out of memory. */
struct cw_pair *cw_pairs_copy(const struct cw_pair *pairs, uint32_t count, struct cw_arena *arena);

/* What a base name stood for in the database that the plan was made with; metricdb/meaning.h says what is hashed. */
struct cw_meaning {
    const char *name;
    uint64_t raws, formula; /* 0: no formula was known */
};

/* Passes of a plan and of a capture. A plan for every counter of a chip has some hundred. */
enum { CW_PASSES_MAX = 4096 };

/* ---- fields ---- */

/* Zeroed room in `arena` for `count` items. NULL, with the reader failed, when out of memory; NULL if it had failed
 * before. The caller has checked the count against the data. */
void *cw_field_array(struct cw_reader *in, struct cw_arena *arena, size_t count, size_t size);

/* list<{key: string, value: string}>, each key once and at most CW_PAIRS_MAX: what has pairs looks through all of them
 * for one. Returns the count. */
enum { CW_PAIRS_MAX = 1024 };
uint32_t cw_field_read_pairs(struct cw_reader *in, struct cw_arena *arena, const struct cw_pair **pairs,
                             const char *what);
void cw_field_write_pairs(struct cw_writer *out, const struct cw_pair *pairs, uint32_t count);

/* list<string>; returns the count. */
uint32_t cw_field_read_strings(struct cw_reader *in, struct cw_arena *arena, const char *const **strings,
                               const char *what);
void cw_field_write_strings(struct cw_writer *out, const char *const *strings, uint32_t count);

/* The same, each once. */
uint32_t cw_field_read_names(struct cw_reader *in, struct cw_arena *arena, const char *const **names, const char *what);

/* A u32 below `count`, which is how many `what` there are. */
uint32_t cw_field_read_index(struct cw_reader *in, uint32_t count, const char *what);

/* A u8 below `count`; `names` says what the numbers mean, for the message. */
uint8_t cw_field_read_enum(struct cw_reader *in, uint8_t count, const char *what, const char *names);
/* A profiler below `count`. */
enum cw_profiler cw_field_read_profiler(struct cw_reader *in, enum cw_profiler count);

/* Something that may occur once: a name, or a number where `name` is NULL. `pos` is where it was read. */
struct cw_field_key {
    const char *name;
    uint64_t number;
    size_t pos;
};

/* Room for `count` keys, for the caller to free. NULL, with the reader failed, when out of memory. */
struct cw_field_key *cw_field_keys(struct cw_reader *in, size_t count);

/* Fails at the first key (in reading order) that repeats an earlier one. Reorders `keys`. Sorts, so that hostile
 * input costs no more than any other. */
void cw_field_check_unique(struct cw_reader *in, struct cw_field_key *keys, size_t count, const char *what);

/* ---- the chunk MEAN: what names stood for when they were planned ---- */

#define CW_CHUNK_MEANINGS CW_CHUNK_TYPE('M', 'E', 'A', 'N')

/* The payload; reading returns the count. */
void cw_field_write_meanings(struct cw_writer *out, const struct cw_meaning *meanings, uint32_t count);
uint32_t cw_field_read_meanings(struct cw_reader *in, struct cw_arena *arena, const struct cw_meaning **meanings);

#endif
