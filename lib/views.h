/* Views as handles of libcounterworks, and how the functions that open them begin and end. */
#ifndef CW_LIB_VIEWS_H
#define CW_LIB_VIEWS_H

#include <pthread.h>

#include "lib/handles.h"
#include "view/compare.h"

/* A struct counterworks_view of the library is the beginning of one of these. */
struct cw_lib_view {
    struct counterworks_view view; /* first, as it begins with the arena */
    pthread_mutex_t lock;          /* rows and texts are made in memory of the view */
    struct counterworks_request request;
    struct cw_notices notices;
    const struct cw_notice *told; /* the last that a caller has */
    struct cw_error err;          /* of rows that are read later as well */
    struct cw_view_input in;
    struct counterworks_capture *own; /* a capture that the view has opened, or NULL */
    struct cw_view_job *job;          /* or NULL */
    size_t table_count;
    struct cw_lib_table *tables; /* lib/view.c */
};

/* A call that opens a view. */
struct cw_lib_making {
    struct cw_lib_call call;
    struct cw_lib_view *made;
    enum cw_status status; /* CW_OK: the view may be made from made->in */
};
/* Copies and checks the request, NULL for an empty one; `capture` NULL: the caller sets it later. */
struct cw_lib_making cw_lib_view_begin(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                       const struct counterworks_request *request);
/* Hands the view over, or ends it. */
enum counterworks_status cw_lib_view_finish(struct counterworks_view **view, struct cw_lib_making *making,
                                            struct counterworks_notices *notices, struct counterworks_error *error);
/* CW_ERR_USAGE where a capture has metrics and there is no chip. */
enum cw_status cw_lib_need_chip(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                struct cw_error *err);

/* Copies the texts into an arena. False when out of memory. */
bool cw_lib_copy_names(struct counterworks_names *names, struct cw_arena *arena);

/* The capture for functions of view/. It is whole, or the caller's thread has it alone: loading changes nothing that
 * another thread reads. */
struct counterworks_capture *cw_lib_capture(const struct counterworks_capture *capture);

#endif
