#define _GNU_SOURCE
#include "base/file_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"

enum { LARGEST_LIST = 1 << 28 };

struct growing {
    char **paths; /* malloc memory; the texts belong to the arena */
    size_t count, room;
    const char **left_out; /* the same */
    size_t left_out_count, left_out_room;
    const char *suffix;
    struct cw_arena *arena;
    struct cw_error *err;
};

static enum cw_status add(struct growing *g, const char *path)
{
    if (g->count == g->room) {
        g->room = g->room ? 2 * g->room : 64;
        char **more = reallocarray(g->paths, g->room, sizeof *more);
        if (!more)
            return cw_error_nomem(g->err);
        g->paths = more;
    }
    char *copy = path ? cw_arena_strdup(g->arena, path) : NULL;
    if (!copy)
        return cw_error_nomem(g->err);
    g->paths[g->count++] = copy;
    return CW_OK;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Whether a path leads to anything but a file: folders, and pipes and devices, where a reader could wait for ever. */
static bool is_no_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int as_people_count(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Leaves out a file of a folder that has nothing to read; *left_out says whether it did. */
static enum cw_status leave_out(struct growing *g, const char *path, bool *left_out)
{
    struct stat st;
    const bool is_there = stat(path, &st) == 0;
    const char *why = !is_there && errno == ENOENT ? "found a link to no file" : "found an empty file";
    *left_out = (!is_there && errno == ENOENT) || (is_there && S_ISREG(st.st_mode) && !st.st_size);
    if (!*left_out)
        return CW_OK;
    const char **more = cw_grown(g->left_out, &g->left_out_room, g->left_out_count, sizeof *more);
    if (!more)
        return cw_error_nomem(g->err);
    g->left_out = more;
    more[g->left_out_count] = cw_arena_printf(g->arena, "%s: %s, which is left out", path, why);
    return more[g->left_out_count++] ? CW_OK : cw_error_nomem(g->err);
}

static enum cw_status add_folder(struct growing *g, const char *folder)
{
    const size_t before = g->count, left_out = g->left_out_count, size = strlen(folder);
    enum cw_status status = CW_OK;
    DIR *dir = opendir(folder);
    if (!dir)
        return cw_error_set(g->err, CW_ERR_IO, "%s: cannot open: %s", folder, strerror(errno));
    for (struct dirent *entry; status == CW_OK && (errno = 0, entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || !cw_text_ends_in(entry->d_name, g->suffix))
            continue;
        const char *path =
            cw_arena_printf(g->arena, "%s%s%s", folder, size && folder[size - 1] == '/' ? "" : "/", entry->d_name);
        bool without = false;
        status = path ? leave_out(g, path, &without) : cw_error_nomem(g->err);
        if (status == CW_OK && !without && !is_no_file(path))
            status = add(g, path);
    }
    if (status == CW_OK && errno)
        status = cw_error_set(g->err, CW_ERR_IO, "%s: cannot read: %s", folder, strerror(errno));
    closedir(dir);
    if (status == CW_OK && g->count == before)
        return cw_error_set(g->err, CW_ERR_INPUT,
                            "%s: found no file with a name that ends in %s%s, expected at least one", folder, g->suffix,
                            g->left_out_count > left_out ? " but empty ones and dangling links" : "");
    if (status == CW_OK)
        qsort(g->paths + before, g->count - before, sizeof *g->paths, as_people_count);
    return status;
}

static enum cw_status add_line(struct growing *g, const char *list, const char *line)
{
    if (is_folder(line))
        return add_folder(g, line);
    if (is_no_file(line) && !cw_file_is_standard(line))
        return cw_error_set(g->err, CW_ERR_INPUT, "%s: found the pipe or device %s, expected files and folders", list,
                            line);
    return add(g, line);
}

static enum cw_status add_lines(struct growing *g, const char *list, char *text, size_t size)
{
    const size_t before = g->count;
    if (memchr(text, 0, size))
        return cw_error_set(g->err, CW_ERR_INPUT, "%s: found a NUL byte, expected a path in each line", list);
    for (char *line = text + cw_utf8_mark(text, size), *end; line < text + size; line = end + 1) {
        end = line + strcspn(line, "\n");
        *end = 0;
        if (end > line && end[-1] == '\r')
            end[-1] = 0;
        if (*line)
            CW_TRY(add_line(g, list, line));
    }
    if (g->count == before)
        return cw_error_set(g->err, CW_ERR_INPUT, "%s: found no path, expected one in each line", list);
    return CW_OK;
}

static enum cw_status add_list(struct growing *g, const char *list)
{
    struct cw_bytes text;
    enum cw_status status = cw_file_read(&text, list, LARGEST_LIST, g->err);
    if (status != CW_OK)
        return status;
    status = add_lines(g, list, (char *)text.data, text.size);
    cw_bytes_free(&text);
    return status;
}

bool cw_file_list_is(const char *word)
{
    return *word == '@' || is_folder(word);
}

enum cw_status cw_file_list_expand(struct cw_file_list *list, char *const *words, size_t count, const char *suffix,
                                   struct cw_arena *arena, struct cw_error *err)
{
    struct growing g = {.suffix = suffix, .arena = arena, .err = err};
    enum cw_status status = CW_OK;
    size_t *ends = cw_arena_alloc(arena, count, sizeof *ends);
    if (!ends)
        return cw_error_nomem(err);
    for (size_t i = 0; i < count && status == CW_OK; i++) {
        status = *words[i] == '@'      ? add_list(&g, words[i] + 1)
                 : is_folder(words[i]) ? add_folder(&g, words[i])
                                       : add(&g, words[i]);
        ends[i] = g.count;
    }
    char **paths = status == CW_OK ? cw_arena_alloc(arena, g.count, sizeof *paths) : NULL;
    if (status == CW_OK && !paths)
        status = cw_error_nomem(err);
    const char **left_out = status == CW_OK ? cw_arena_alloc(arena, g.left_out_count, sizeof *left_out) : NULL;
    if (status == CW_OK && !left_out)
        status = cw_error_nomem(err);
    if (status == CW_OK && g.count)
        memcpy(paths, g.paths, g.count * sizeof *paths);
    if (status == CW_OK && g.left_out_count)
        memcpy(left_out, g.left_out, g.left_out_count * sizeof *left_out);
    free(g.paths);
    free(g.left_out);
    *list = status == CW_OK ? (struct cw_file_list){paths, g.count, left_out, g.left_out_count, ends, count}
                            : (struct cw_file_list){0};
    return status;
}

void cw_file_list_tell(const struct cw_file_list *list)
{
    for (size_t i = 0; i < list->left_out_count; i++)
        cw_text_print(stderr, "%s: %s\n", program_invocation_short_name, list->left_out[i]);
}
