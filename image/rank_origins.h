/* Finds ranks of a parallel job that several files have from different processes, as after a second run into the same
 * folder: their launches add up. */
#ifndef CW_IMAGE_RANK_ORIGINS_H
#define CW_IMAGE_RANK_ORIGINS_H

#include "image/counter_data.h"
#include "image/trace_data.h"

struct cw_rank_origin;

/* Initialise as {.arena = ...}; it keeps about 50 bytes for each rank of each file. */
struct cw_rank_origins {
    struct cw_arena *arena;
    struct cw_rank_origin *items; /* image/rank_origins.c */
    size_t count, room;
    uint32_t files;
};

/* Add the ranks of a file with their processes: of all launches, or of a trace. Fail with CW_ERR_NOMEM only. */
enum cw_status cw_rank_origins_add(struct cw_rank_origins *origins, const struct cw_counter_data *data,
                                   const char *path, struct cw_error *err);
enum cw_status cw_rank_origins_add_trace(struct cw_rank_origins *origins, const struct cw_trace *trace,
                                         const char *path, struct cw_error *err);

/* Finds the next rank of one job, known by its number of ranks, that several files have without a common process, from
 * *at on, which begins as 0. False if there are no more. */
enum { CW_RANK_TWICE_FILES = 3 };
struct cw_rank_twice {
    uint32_t rank;
    size_t count;                           /* files */
    const char *files[CW_RANK_TWICE_FILES]; /* the first of them */
};
bool cw_rank_origins_next(struct cw_rank_origins *origins, size_t *at, struct cw_rank_twice *found);

#endif
