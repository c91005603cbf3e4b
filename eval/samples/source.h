/* Source text of lines that a capture names, from files on this machine. Names and files are not trusted: only regular
 * files of at most 4 MB are read, and at most 64 of them. */
#ifndef CW_EVAL_SAMPLES_SOURCE_H
#define CW_EVAL_SAMPLES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { CW_SOURCE_FILES_MAX = 64 };

struct cw_source {
    const char *const *folders; /* further places to look for files */
    size_t folder_count;
    bool inside; /* look there only: the text is for others, who must see no other file */
    size_t file_count;
    struct cw_source_file {
        const char *name;
        char *text; /* NULL: not found */
        uint32_t line_count;
        uint32_t *lines; /* begin of each; the last is the end of the text */
    } files[CW_SOURCE_FILES_MAX];
};

/* An error if one of the folders is none. */
enum cw_status cw_source_check(const struct cw_source *source, struct cw_error *err);
/* A line of *length bytes without the blanks around it, or NULL. It lives as long as the source, and so must `name`.
 * The file is the one of this name or, for "/a/b/c.cu" and each folder F, F/a/b/c.cu, F/b/c.cu or F/c.cu. */
const char *cw_source_line(struct cw_source *source, const char *name, uint32_t line, size_t *length);
/* The same with the blanks; NULL only without such a line. */
const char *cw_source_whole_line(struct cw_source *source, const char *name, uint32_t line, size_t *length);
/* Frees all files. */
void cw_source_finish(struct cw_source *source);

#endif
