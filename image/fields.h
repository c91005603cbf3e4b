/* Fields shared by both formats. Functions that read report through the given reader and do nothing once it has
 * failed. */
#ifndef CW_IMAGE_FIELDS_H
#define CW_IMAGE_FIELDS_H

#include "image/chunk.h"

/* Ways to collect. Plans are for the first two only; the others need none. */
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
/* Content of a capture of each profiler, for people. */
extern const char *const cw_profiler_texts[CW_PROFILER__COUNT];

struct cw_pair {
    const char *key, *value;
};
/* Returns the value of a key, or NULL. For "rank" and "ranks", a value that is no number counts as none. */
const char *cw_pair_find(const struct cw_pair *pairs, uint32_t count, const char *key);
/* Whether a key is "rank" or "ranks". */
bool cw_pair_is_rank(const char *key);
/* Copies pairs into `arena`. NULL when out of memory. */
struct cw_pair *cw_pairs_copy(const struct cw_pair *pairs, uint32_t count, struct cw_arena *arena);

/* Meaning of a base name in the database that made the plan; metricdb/meaning.h defines the hashes. */
struct cw_meaning {
    const char *name;
    uint64_t raws, formula; /* 0: no formula was known */
};

/* Limit on the passes of a plan or a capture. A plan for every counter of a chip has some hundred. */
enum { CW_PASSES_MAX = 4096 };

/* ---- fields ---- */

/* Allocates zeroed room in `arena` for `count` items. NULL when out of memory, and then fails the reader; NULL if the
 * reader had failed before. The caller has checked the count against the data. */
void *cw_field_array(struct cw_reader *in, struct cw_arena *arena, size_t count, size_t size);

/* Reads list<{key: string, value: string}>, each key once and at most CW_PAIRS_MAX, because look-ups search the whole
 * list. Returns the count. */
enum { CW_PAIRS_MAX = 1024 };
uint32_t cw_field_read_pairs(struct cw_reader *in, struct cw_arena *arena, const struct cw_pair **pairs,
                             const char *what);
void cw_field_write_pairs(struct cw_writer *out, const struct cw_pair *pairs, uint32_t count);

/* Reads list<string>; returns the count. */
uint32_t cw_field_read_strings(struct cw_reader *in, struct cw_arena *arena, const char *const **strings,
                               const char *what);
void cw_field_write_strings(struct cw_writer *out, const char *const *strings, uint32_t count);

/* Reads list<string> and checks that no string repeats. */
uint32_t cw_field_read_names(struct cw_reader *in, struct cw_arena *arena, const char *const **names, const char *what);

/* Reads a u32 below `count`, the number of `what`. */
uint32_t cw_field_read_index(struct cw_reader *in, uint32_t count, const char *what);

/* Reads a u8 below `count`; `names` lists the meanings of the numbers for the message. */
uint8_t cw_field_read_enum(struct cw_reader *in, uint8_t count, const char *what, const char *names);
/* Reads a profiler below `count`. */
enum cw_profiler cw_field_read_profiler(struct cw_reader *in, enum cw_profiler count);

/* A key that must not repeat: a name, or a number if `name` is NULL. `pos` is its place in the data. */
struct cw_field_key {
    const char *name;
    uint64_t number;
    size_t pos;
};

/* Allocates room for `count` keys; the caller frees it. NULL when out of memory, and then fails the reader. */
struct cw_field_key *cw_field_keys(struct cw_reader *in, size_t count);

/* Fails at the first key (in reading order) that repeats an earlier one. Reorders `keys`. Sorts, so that hostile
 * input costs no more than any other. */
void cw_field_check_unique(struct cw_reader *in, struct cw_field_key *keys, size_t count, const char *what);

/* ---- the chunk MEAN: meanings of names when the plan was made ---- */

#define CW_CHUNK_MEANINGS CW_CHUNK_TYPE('M', 'E', 'A', 'N')

/* Write and read the payload; reading returns the count. */
void cw_field_write_meanings(struct cw_writer *out, const struct cw_meaning *meanings, uint32_t count);
uint32_t cw_field_read_meanings(struct cw_reader *in, struct cw_arena *arena, const struct cw_meaning **meanings);

#endif
