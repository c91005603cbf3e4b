/* What the handles of libcounterworks are. Each has all that it gives in an arena of its own. */
#ifndef CW_LIB_HANDLES_H
#define CW_LIB_HANDLES_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "eval/result.h"
#include "host/plan.h"
#include "view/handles.h"
#include "view/notices.h"

struct counterworks {
    struct cw_arena *arena;
    const char *folder; /* NULL: where the data is by default */
    size_t chip_count;
    struct cw_lib_name {
        const char *name, *path;
    } * chips; /* by name */
};

/* What plans still have of a chip that was closed: its arena. */
struct cw_lib_share {
    atomic_uint users;
    struct cw_arena *arena;
};

struct counterworks_plan {
    struct cw_arena *arena;
    struct cw_lib_share *chip;
    struct cw_plan plan;
    struct cw_plan_options options; /* that it was made with in the end */
    struct cw_writer native;        /* of NVIDIA's library, in the plan's image */
};

/* A handle of `size` bytes, all zero, which begins with its arena. NULL when out of memory. */
void *cw_lib_handle(size_t size);
/* Ends a handle that cw_lib_handle() has made. */
void cw_lib_drop(void *handle);
/* One user less; the last destroys the arena. NULL is allowed. */
void cw_lib_leave(struct cw_lib_share *share);

/* Around every call that reads or prints numbers: they have a decimal point, whatever the program's locale says. */
struct cw_lib_call {
    struct cw_error err;
    void *before; /* the thread's locale_t */
};
struct cw_lib_call cw_lib_enter(void);
/* Ends the call and hands over what was found out: *error is NULL or the caller's. */
enum counterworks_status cw_lib_finish(const struct cw_lib_call *call, enum cw_status status,
                                       struct counterworks_error *error);

/* Held by whoever uses HDF5, which takes one thread at a time. */
extern pthread_mutex_t cw_lib_hdf5;

/* Gives a caller's struct, which begins with its size, as much of another as it has room for. */
void cw_lib_give(void *to, size_t size, const void *from, size_t all);

/* Tells the chip's listener a line, and frees it. */
void cw_lib_tell(const struct counterworks_chip *chip, struct cw_writer *line);

/* Tells the chip's listener the notices of a call. */
void cw_lib_tell_notices(const struct counterworks_chip *chip, const struct cw_notices *notices);
/* Gives a caller's list the notices behind *told. NULL `to`: nobody listens. */
void cw_lib_notices_give(struct counterworks_notices *to, const struct cw_notices *from, const struct cw_notice **told);
/* The list that a call adds to, or NULL. */
struct cw_notices *cw_lib_notices(struct counterworks_notices *notices);

/* NULL: the usual ones. */
struct cw_eval_options cw_lib_spans(const struct counterworks_evaluate_options *options);

#endif
