/* Captures as they are opened: one file, or several as one. */
#ifndef CW_VIEW_SOURCE_H
#define CW_VIEW_SOURCE_H

#include "image/job_ranks.h"
#include "view/handles.h"
#include "view/notices.h"

/* How files of captures in a folder end. */
#define CW_SOURCE_SUFFIX ".cwd"

/* Files that are opened as one capture. */
struct cw_source_files {
    const char *const *words; /* files, folders and @lists (base/file_list.h) */
    size_t count;
    const char *ranks; /* only launches of these ranks are wanted (image/rank_index.h); NULL: all. Others may be left
                          out where that is faster, and ranges are numbered without them */
    bool numbered;     /* ranges keep their numbers in the file */
    const struct cw_file_list
        *found; /* the files, or some of them, where the words were expanded; NULL: they were not */
};

/* Finds the files that words stand for, in `arena`; those alone that a folder's index has for the ranks, where it has
 * one. `notices` has what a folder holds that is left out. */
enum cw_status cw_source_expand(struct cw_file_list *files, const struct cw_source_files *of,
                                struct cw_notices *notices, struct cw_arena *arena, struct cw_error *err);
/* The name of files together: the one file, their folder or list, or "a.cwd and 2 more". NULL when out of memory. */
const char *cw_source_name(const struct cw_file_list *files, const struct cw_source_files *of, struct cw_arena *arena);
/* Opens them; ranges and samples stay in the files (image/counter_data.h) until cw_source_load. A file that is named
 * twice counts twice, which `notices` has. */
enum cw_status cw_source_open(struct counterworks_capture **capture, const struct cw_source_files *of,
                              struct cw_notices *notices, struct cw_error *err);
/* Opens files, which can be merged, as one capture of that name. */
enum cw_status cw_source_join(struct counterworks_capture **capture, const char *const *paths, size_t count,
                              const char *name, struct cw_error *err);
/* Finds the chip that a capture or a plan (.cwc) is of. */
enum cw_status cw_source_chip(const char **name, const char *path, struct cw_arena *arena, struct cw_error *err);
/* Opens bytes in memory, which must outlive the capture. */
enum cw_status cw_source_read(struct counterworks_capture **capture, const void *data, size_t size, const char *name,
                              struct cw_error *err);
/* Makes a capture without a file; NULL when out of memory. */
struct counterworks_capture *cw_source_create(void);
/* NULL is allowed. */
void cw_source_close(struct counterworks_capture *capture);
/* Brings ranges and samples into memory, for work on all of them at once; once is enough. */
enum cw_status cw_source_load(struct counterworks_capture *capture, struct cw_error *err);

/* Joins captures into a file. *incomplete: whether one of them lacks its end, and so the result; `job`: which ranks of
 * a job they have. Both may be NULL. */
enum cw_status cw_source_merge(const char *output, const char *const *paths, size_t count, bool *incomplete,
                               struct cw_job_ranks *job, struct cw_error *err);

/* The same of files that words were expanded to. `notices` has what the capture lacks: its end, and ranks of a job. */
enum cw_status cw_source_merge_files(const char *output, const struct cw_file_list *files, struct cw_notices *notices,
                                     struct cw_error *err);

/* The files of a folder that have some of the ranks, by its index; none where the index is missing, or older than the
 * folder or its files. */
enum cw_status cw_rank_files_find(struct cw_file_list *list, const char *folder, const char *ranks,
                                  struct cw_arena *arena, struct cw_error *err);
/* Writes a folder's index. */
enum cw_status cw_rank_files_index(const char *folder, bool force, struct cw_notices *notices, struct cw_arena *arena,
                                   struct cw_error *err);

#endif
