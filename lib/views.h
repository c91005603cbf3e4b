/* Views as handles of libcounterworks, and the begin and end of functions that open them. */
#ifndef CW_LIB_VIEWS_H
#define CW_LIB_VIEWS_H

#include <pthread.h>

#include "lib/handles.h"
#include "view/compare.h"

/* Every struct counterworks_view of the library begins one of these. */
struct cw_lib_view {
    struct counterworks_view view; /* first member, as a handle begins with its arena */
    pthread_mutex_t lock;          /* reading makes rows and texts in the view's memory */
    struct counterworks_request request;
    struct cw_notices notices;
    const struct cw_notice *told; /* the last notice that the caller got */
    struct cw_error err;          /* also of rows that are read later */
    struct cw_view_input in;
    struct counterworks_capture *own; /* a capture that the view opened, or NULL */
    struct cw_view_job *job;          /* or NULL */
    size_t table_count;
    struct cw_lib_table *tables; /* lib/view.c */
};

/* A call that opens a view. */
struct cw_lib_making {
    struct cw_lib_call call;
    struct cw_lib_view *made;
    enum cw_status status; /* CW_OK: make the view from made->in */
};
/* Copies and checks the request; NULL is an empty one. `capture` NULL: the caller sets it later. */
struct cw_lib_making cw_lib_view_begin(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                       const struct counterworks_request *request);
/* Hands over a successful view; frees a failed one. */
enum counterworks_status cw_lib_view_finish(struct counterworks_view **view, struct cw_lib_making *making,
                                            struct counterworks_notices *notices, struct counterworks_error *error);
/* CW_ERR_USAGE for a capture with metrics without a chip. */
enum cw_status cw_lib_need_chip(const struct counterworks_capture *capture, const struct counterworks_chip *chip,
                                struct cw_error *err);

/* Copies the texts into an arena. False when out of memory. */
bool cw_lib_copy_names(struct counterworks_names *names, struct cw_arena *arena);

/* Drops const for functions of view/. A loaded capture no longer changes; a streamed one belongs to one thread. */
struct counterworks_capture *cw_lib_capture(const struct counterworks_capture *capture);

#endif
