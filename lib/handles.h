/* The handles of libcounterworks. Each owns an arena with all its memory. */
#ifndef CW_LIB_HANDLES_H
#define CW_LIB_HANDLES_H

#include <pthread.h>

#include "base/bytes.h"
#include "host/plan.h"
#include "view/handles.h"
#include "view/notices.h"

struct counterworks {
    struct cw_arena *arena;
    const char *folder; /* NULL: the default folder */
    size_t chip_count;
    struct cw_lib_name {
        const char *name, *path;
    } * chips; /* by name */
};

struct counterworks_plan {
    struct cw_arena *arena;
    struct cw_lib_share *chip;
    struct cw_plan plan;
    struct cw_plan_options options; /* with which the plan was made in the end */
    struct cw_writer native;        /* NVIDIA's config image, in the plan's image */
};

/* Makes a handle of `size` zero bytes, which begins with its arena. NULL when out of memory. */
void *cw_lib_handle(size_t size);
/* Ends a handle from cw_lib_handle(). */
void cw_lib_drop(void *handle);
/* A chip's arena, for its handle and plans that outlive the handle. cw_lib_share_make makes one with a user, NULL when
 * out of memory; cw_lib_join adds a user; cw_lib_leave drops one, and the last destroys the arena. It takes NULL. */
struct cw_lib_share *cw_lib_share_make(struct cw_arena *arena);
struct cw_lib_share *cw_lib_join(struct cw_lib_share *share);
void cw_lib_leave(struct cw_lib_share *share);

/* Surrounds every call that reads or prints numbers, so that they have a decimal point in every locale. */
struct cw_lib_call {
    struct cw_error err;
    void *before; /* the thread's locale */
};
struct cw_lib_call cw_lib_enter(void);
/* Ends the call, and copies its error to *error. `error` may be NULL. */
enum counterworks_status cw_lib_finish(const struct cw_lib_call *call, enum cw_status status,
                                       struct counterworks_error *error);

/* Protects HDF5, which serves one thread at a time. */
extern pthread_mutex_t cw_lib_hdf5;

/* Copies as much of a struct as the caller's has room for. The caller's begins with its size. */
void cw_lib_give(void *to, size_t size, const void *from, size_t all);

/* Sends a line to the chip's listener, and frees the line. */
void cw_lib_tell(const struct counterworks_chip *chip, struct cw_writer *line);

/* Sends the notices of a call to the chip's listener. */
void cw_lib_tell_notices(const struct counterworks_chip *chip, const struct cw_notices *notices);
/* The part of the glossary that a chip has read. cw_lib_words_make makes it empty, in the chip's arena, and returns
 * NULL when out of memory; cw_lib_words_free takes NULL. */
struct cw_lib_words *cw_lib_words_make(struct cw_arena *arena);
void cw_lib_words_free(struct cw_lib_words *words);

/* Adds the notices behind *told to the caller's list. NULL `to`: does nothing. */
void cw_lib_notices_give(struct counterworks_notices *to, const struct cw_notices *from, const struct cw_notice **told);
/* Returns the list inside the handle, or NULL. */
struct cw_notices *cw_lib_notices(struct counterworks_notices *notices);

#endif
