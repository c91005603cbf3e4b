/* Sets of files that are named like one. */
#ifndef CW_BASE_FILE_LIST_H
#define CW_BASE_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct cw_file_list {
    char *const *paths;
    size_t count;
    const char *const *left_out; /* a line for each file of a folder that has nothing to read, or is a dangling link */
    size_t left_out_count;
};

/* What words stand for, in their order, in `arena`:
 *   FOLDER  the files in it (not those of folders in it) whose names end in `suffix`, as people count: run.9, run.10;
 *           those that are empty, as captures that have just begun, and dangling links are left out
 *   @FILE   the lines of a text file, of which each is a path or folder; "@-" reads standard input
 *   others  themselves
 * A file whose name begins with "@" is ./@NAME. CW_ERR_INPUT for a folder or list without any file, and for a list
 * with a path that is no path (a NUL byte). */
enum cw_status cw_file_list_expand(struct cw_file_list *list, char *const *words, size_t count, const char *suffix,
                                   struct cw_arena *arena, struct cw_error *err);
/* Prints what was left out to standard error, a line each. */
void cw_file_list_tell(const struct cw_file_list *list);
/* Whether a word is a folder or a list. */
bool cw_file_list_is(const char *word);

#endif
