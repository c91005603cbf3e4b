/* Expands folders and lists on a command line into files. */
#ifndef CW_BASE_FILE_LIST_H
#define CW_BASE_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct cw_file_list {
    char *const *paths;
    size_t count;
    const char *const *left_out; /* a line for each file of a folder that is empty or a dangling link */
    size_t left_out_count;
    const size_t *word_ends; /* [word_count]: the number of files up to the end of each word; NULL: unknown */
    size_t word_count;
};

/* Expands words into paths, in the order of the words, in `arena`:
 *   FOLDER  the files in it (not in its folders) whose names end in `suffix`, in natural order: run.9, run.10;
 *           empty files, such as captures that have just begun, and dangling links are left out
 *   @FILE   the lines of a text file, each a path or a folder; "@-" reads standard input
 *   others  themselves
 * For a file whose name begins with "@", write ./@NAME. CW_ERR_INPUT for a folder or a list without any file, and for a
 * list with a NUL byte in a path. */
enum cw_status cw_file_list_expand(struct cw_file_list *list, char *const *words, size_t count, const char *suffix,
                                   struct cw_arena *arena, struct cw_error *err);
/* Prints to standard error a line for each file that was left out. */
void cw_file_list_tell(const struct cw_file_list *list);
/* Whether a word is a folder or a list. */
bool cw_file_list_is(const char *word);

#endif
