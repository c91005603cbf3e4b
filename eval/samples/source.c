#define _GNU_SOURCE
#include "eval/samples/source.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_FILE = 4 << 20 };

enum cw_status cw_source_check(const struct cw_source *source, struct cw_error *err)
{
    struct stat about;
    for (size_t i = 0; i < source->folder_count; i++)
        if (stat(source->folders[i], &about) != 0 || !S_ISDIR(about.st_mode))
            return cw_error_set(err, CW_ERR_IO, "%s: found no folder of that name", source->folders[i]);
    return CW_OK;
}

/* The text of a regular file, with blanks for NUL bytes; NULL for anything else. Does not wait for a pipe. */
static char *read_text(const char *path)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char *text = NULL;
    size_t size = 0;
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= LARGEST_FILE)
        text = malloc((size_t)about.st_size + 1);
    for (ssize_t got = 1; text && got > 0 && size<(size_t)about.st_size; size += got> 0 ? (size_t)got : 0)
        got = read(fd, text + size, (size_t)about.st_size - size);
    for (size_t i = 0; text && i < size; i++)
        text[i] = text[i] ? text[i] : ' ';
    if (text)
        text[size] = 0;
    if (fd >= 0)
        close(fd);
    return text;
}

/* "..", which could lead out of the folder. */
static bool leads_up(const char *path)
{
    for (const char *at = strstr(path, ".."); at; at = strstr(at + 1, ".."))
        if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
            return true;
    return false;
}

static char *find_text(const struct cw_source *source, const char *name)
{
    char path[PATH_MAX];
    char *text = source->inside ? NULL : read_text(name);
    for (size_t i = 0; !text && i < source->folder_count; i++)
        for (const char *rest = name; !text && rest; rest = strchr(rest, '/')) {
            rest += strspn(rest, "/");
            if (!leads_up(rest) && snprintf(path, sizeof path, "%s/%s", source->folders[i], rest) < (int)sizeof path)
                text = read_text(path);
        }
    return text;
}

/* Finds where each line begins. */
static bool note_lines(struct cw_source_file *file)
{
    uint32_t count = 1;
    for (const char *at = file->text; (at = strchr(at, '\n')); at++)
        count++;
    file->lines = malloc(((size_t)count + 1) * sizeof *file->lines);
    if (!file->lines)
        return false;
    file->line_count = count;
    file->lines[0] = 0;
    uint32_t k = 1;
    for (const char *at = file->text; (at = strchr(at, '\n')); at++)
        file->lines[k++] = (uint32_t)(at + 1 - file->text);
    file->lines[k] = (uint32_t)strlen(file->text) + 1;
    return true;
}

static struct cw_source_file *find_file(struct cw_source *source, const char *name)
{
    for (size_t i = 0; i < source->file_count; i++)
        if (strcmp(source->files[i].name, name) == 0)
            return &source->files[i];
    if (source->file_count == CW_SOURCE_FILES_MAX)
        return NULL;
    struct cw_source_file *file = &source->files[source->file_count++];
    *file = (struct cw_source_file){.name = name, .text = find_text(source, name)};
    if (file->text && !note_lines(file)) {
        free(file->text);
        file->text = NULL;
    }
    return file;
}

const char *cw_source_whole_line(struct cw_source *source, const char *name, uint32_t line, size_t *length)
{
    const struct cw_source_file *file = *name && line ? find_file(source, name) : NULL;
    if (!file || !file->text || line > file->line_count)
        return NULL;
    *length = file->lines[line] - file->lines[line - 1] - 1;
    return file->text + file->lines[line - 1];
}

const char *cw_source_line(struct cw_source *source, const char *name, uint32_t line, size_t *length)
{
    const char *text = cw_source_whole_line(source, name, line, length);
    if (!text)
        return NULL;
    const size_t blanks = strspn(text, " \t");
    text += blanks < *length ? blanks : *length;
    *length -= blanks < *length ? blanks : *length;
    while (*length && strchr(" \t\r", text[*length - 1]))
        --*length;
    return *length ? text : NULL;
}

void cw_source_finish(struct cw_source *source)
{
    for (size_t i = 0; i < source->file_count; i++) {
        free(source->files[i].text);
        free(source->files[i].lines);
    }
    source->file_count = 0;
}
