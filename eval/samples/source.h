/* Source text of lines that a capture names, where the files are found here. Both the names and the files are not
 * trusted: a file is read where it is a regular one of at most 4 MB, and at most 64 of them. */
#ifndef CW_EVAL_SAMPLES_SOURCE_H
#define CW_EVAL_SAMPLES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cw_source_file {
    const char *name;
    char *text; /* NULL: not found */
    uint32_t line_count;
    uint32_t *lines; /* where each begins; the last is the end of the text */
};

enum { CW_SOURCE_FILES_MAX = 64 };

struct cw_source {
    const char *const *folders; /* where else files are looked for */
    size_t folder_count;
    bool inside; /* only there: the text is for others, who are to see no other file */
    size_t file_count;
    struct cw_source_file files[CW_SOURCE_FILES_MAX];
};

/* A line without the blanks around it, which ends where *length says and lives as long as the source, or NULL. A file
 * is the one of that name or, of "/a/b/c.cu" and each folder F, F/a/b/c.cu, F/b/c.cu or F/c.cu. `name` has to live as
 * long as the source. */
const char *cw_source_line(struct cw_source *source, const char *name, uint32_t line, size_t *length);
/* The same with the blanks; NULL only where there is no such line. */
const char *cw_source_whole_line(struct cw_source *source, const char *name, uint32_t line, size_t *length);
/* Releases what was read. */
void cw_source_finish(struct cw_source *source);

#endif
