/* Opens captures: one file, or several as one. */
#ifndef CW_VIEW_SOURCE_H
#define CW_VIEW_SOURCE_H

#include "image/job_ranks.h"
#include "image/rank_origins.h"
#include "view/handles.h"
#include "view/notices.h"

/* The suffix of captures in a folder. */
#define CW_SOURCE_SUFFIX ".cwd"

/* Files to open as one capture. */
struct cw_source_files {
    const char *const *words; /* files, folders and @lists (base/file_list.h) */
    size_t count;
    const char *ranks; /* read only launches of these ranks (image/rank_index.h) where that is faster; ranges are then
                          numbered without the others. NULL: all */
    bool numbered;     /* ranges keep their numbers in the file */
    const struct cw_file_list *found; /* files of the words, or some of them; NULL: not expanded yet */
    struct cw_rank_origins *origins;  /* gets the ranks of each file; NULL: unwanted, as for several runs */
};

/* Expands the words to files, in `arena`: only files with the ranks, if a folder has an index of ranks. `notices` gets
 * files of a folder that are left out. */
enum cw_status cw_source_expand(struct cw_file_list *files, const struct cw_source_files *of,
                                struct cw_notices *notices, struct cw_arena *arena, struct cw_error *err);
/* Returns a name for all files: the one file, their folder or list, or "a.cwd and 2 more". NULL when out of memory. */
const char *cw_source_name(const struct cw_file_list *files, const struct cw_source_files *of, struct cw_arena *arena);
/* Opens the files; ranges and samples stay in them (image/counter_data.h) until cw_source_load. A file that is named
 * twice counts twice, and becomes a notice; so do rows of other profilers that are left out or of no known process. */
enum cw_status cw_source_open(struct counterworks_capture **capture, const struct cw_source_files *of,
                              struct cw_notices *notices, struct cw_error *err);
/* Orders files of captures (struct cw_opened_file), for qsort; 0 for one file, under whatever names. */
int cw_opened_file_compare(const void *left, const void *right);
/* Adds a notice for each of the first ranks that are in several files. NULL `notices`: does nothing. */
void cw_source_tell_ranks(struct cw_rank_origins *origins, struct cw_notices *notices);
/* Opens files as one capture of that name. They must be of one plan, as for a merge. */
enum cw_status cw_source_join(struct counterworks_capture **capture, const char *const *paths, size_t count,
                              const char *name, struct cw_error *err);
/* Finds the chip of a capture or a plan (.cwc). */
enum cw_status cw_source_chip(const char **name, const char *path, struct cw_arena *arena, struct cw_error *err);
/* Opens bytes in memory, which must outlive the capture. */
enum cw_status cw_source_read(struct counterworks_capture **capture, const void *data, size_t size, const char *name,
                              struct cw_error *err);
/* Makes a capture without a file; NULL when out of memory. */
struct counterworks_capture *cw_source_create(void);
/* NULL is allowed. */
void cw_source_close(struct counterworks_capture *capture);
/* Loads ranges and samples into memory. Further calls do nothing. */
enum cw_status cw_source_load(struct counterworks_capture *capture, struct cw_error *err);

/* Joins captures into a file. */
enum cw_status cw_source_merge(const char *output, const char *const *paths, size_t count, struct cw_error *err);

/* Joins expanded files into a file. `redact`: without private content (image/redact.h). `notices` gets a missing end,
 * missing ranks of the job, and lines about files of other profilers. */
enum cw_status cw_source_merge_files(const char *output, const struct cw_file_list *files, bool redact,
                                     struct cw_notices *notices, struct cw_error *err);

/* Lists the files of a folder with some of the ranks, by its index; none if the index is missing, or older than the
 * folder or one of its files. */
enum cw_status cw_rank_files_find(struct cw_file_list *list, const char *folder, const char *ranks,
                                  struct cw_arena *arena, struct cw_error *err);
/* Writes a folder's index. */
enum cw_status cw_rank_files_index(const char *folder, bool force, struct cw_notices *notices, struct cw_arena *arena,
                                   struct cw_error *err);

#endif
