/* The index of a folder: the ranks of a job in each file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/decimal.h"
#include "base/file.h"
#include "base/progress.h"
#include "image/rank_index.h"
#include "image/trace_data.h"
#include "view/source.h"

static const size_t largest_index = (size_t)1 << 30;
static const uint64_t largest_capture = (uint64_t)1 << 40;

static uint64_t time_of(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

/* Joins a folder, without a slash at its end, and a name. */
static char *path_of(const char *folder, const char *name, struct cw_arena *arena)
{
    size_t size = strlen(folder);
    while (size > 1 && folder[size - 1] == '/')
        size--;
    return cw_arena_printf(arena, "%.*s/%s", (int)size, folder, name);
}

/* ---- reading the index ------------------------------------------------------------------------------------------ */

/* Whether the folder has gained and lost no file since the index. */
static bool is_of_folder(const char *folder, const struct stat *index)
{
    struct stat st;
    return stat(folder, &st) == 0 && time_of(&st) <= time_of(index);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void leave(void *path)
{
    (void)path;
}

/* Whether the entry's file is unchanged. */
static bool is_as_before(const char *path, const struct cw_rank_entry *e)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == e->size && time_of(&st) == e->time_ns;
}

/* Lists the files with the ranks, each once; none if one has changed, as the index is out of date. */
static enum cw_status choose_files(struct cw_file_list *list, const char *folder, const struct cw_rank_index *index,
                                   const char *ranks, struct cw_arena *arena, struct cw_error *err)
{
    void *met = NULL; /* a tree of their paths */
    char **paths = cw_arena_alloc(arena, index->count, sizeof *paths);
    enum cw_status status = paths ? CW_OK : cw_error_nomem(err);
    bool good = true;
    for (size_t i = 0; status == CW_OK && good && i < index->count; i++) {
        const struct cw_rank_entry *e = &index->entries[i];
        if (!cw_rank_list_has(ranks, e->rank))
            continue;
        char *path = path_of(folder, e->name, arena), **found = path ? tsearch(path, &met, by_text) : NULL;
        if (!found)
            status = cw_error_nomem(err);
        else if (*found == path)
            paths[list->count++] = path;
        good = status == CW_OK && is_as_before(path, e);
    }
    tdestroy(met, leave);
    *list = (struct cw_file_list){paths, status == CW_OK && good ? list->count : 0};
    return status;
}

enum cw_status cw_rank_files_find(struct cw_file_list *list, const char *folder, const char *ranks,
                                  struct cw_arena *arena, struct cw_error *err)
{
    struct cw_rank_index index;
    struct cw_bytes text = {0};
    struct stat st;
    char *path = path_of(folder, CW_RANK_INDEX_NAME, arena);
    *list = (struct cw_file_list){0};
    if (!path)
        return cw_error_nomem(err);
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || !is_of_folder(folder, &st) ||
        cw_file_read(&text, path, largest_index, NULL) != CW_OK)
        return CW_OK;
    char *kept = cw_arena_strndup(arena, (const char *)text.data, text.size);
    const size_t size = text.size;
    cw_bytes_free(&text);
    if (!kept || strlen(kept) != size || cw_rank_index_read(&index, kept, size, path, arena, NULL) != CW_OK)
        return CW_OK;
    return choose_files(list, folder, &index, ranks, arena, err);
}

/* ---- making the index ------------------------------------------------------------------------------------------- */

struct growing {
    struct cw_rank_index index; /* entries are on the heap */
    size_t room;
    uint64_t unranked; /* files without any rank */
};

static enum cw_status add(struct growing *g, const struct cw_rank_entry *entry, struct cw_error *err)
{
    struct cw_rank_entry *more = cw_grown(g->index.entries, &g->room, g->index.count, sizeof *more);
    if (!more)
        return cw_error_nomem(err);
    g->index.entries = more;
    g->index.entries[g->index.count++] = *entry;
    return CW_OK;
}

static enum cw_status add_rank(struct growing *g, const char *rank, const struct stat *st, const char *name,
                               struct cw_error *err)
{
    uint32_t number;
    if (!rank || !cw_decimal_read_u32(rank, &number))
        return CW_OK;
    return add(g, &(struct cw_rank_entry){number, (uint64_t)st->st_size, time_of(st), name}, err);
}

/* Adds the ranks of a trace; each process has its own. */
static enum cw_status add_processes(struct growing *g, struct cw_input *input, const struct cw_counter_data *data,
                                    const struct stat *st, const char *name, struct cw_arena *arena,
                                    struct cw_error *err)
{
    struct cw_trace trace = {0};
    enum cw_status status = cw_trace_open(&trace, data->devices, data->device_count, input, name, arena, err);
    for (uint32_t p = 0; status == CW_OK && p < trace.process_count; p++)
        status = add_rank(g, cw_trace_attribute(&trace.processes[p], "rank"), st, name, err);
    return status;
}

static int by_rank(const void *a, const void *b)
{
    const struct cw_rank_entry *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Drops repeated ranks among the entries of one file, from `first` on. */
static void drop_repeats(struct growing *g, size_t first)
{
    struct cw_rank_entry *entries = g->index.entries;
    const size_t count = g->index.count;
    if (count > first)
        qsort(entries + first, count - first, sizeof *entries, by_rank);
    g->index.count = first;
    for (size_t i = first; i < count; i++)
        if (i == first || entries[i].rank != entries[g->index.count - 1].rank)
            entries[g->index.count++] = entries[i];
}

/* Adds the ranks of a file; each launch has its own. */
static enum cw_status add_file(struct growing *g, const char *path, const char *name, struct cw_error *err)
{
    struct cw_counter_data data;
    struct cw_input input;
    struct stat st = {0};
    struct cw_arena *arena = cw_arena_create();
    const size_t before = g->index.count;
    enum cw_status status = arena ? cw_input_open(&input, path, largest_capture, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = fstat(input.fd, &st) == 0 ? cw_counter_data_open(&data, &input, arena, err)
                                           : cw_error_set(err, CW_ERR_IO, "%s: cannot look at it", path);
    for (uint32_t i = 0; status == CW_OK && i < cw_launch_count(&data); i++)
        status = add_rank(g, cw_range_attribute(cw_launch(&data, i), "rank"), &st, name, err);
    if (status == CW_OK && data.schema.profiler == CW_PROFILER_TRACE)
        status = add_processes(g, &input, &data, &st, name, arena, err);
    drop_repeats(g, before);
    g->unranked += g->index.count == before;
    if (arena)
        cw_input_close(&input);
    cw_arena_destroy(arena);
    return status;
}

static enum cw_status write_index(struct growing *g, const char *path, struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_rank_index_write(&g->index, &out);
    enum cw_status status = out.status == CW_OK ? cw_file_write(path, out.data, out.size, err) : cw_error_nomem(err);
    cw_writer_free(&out);
    if (status == CW_OK) /* makes it later than its folder, which has just got it */
        utimensat(AT_FDCWD, path, NULL, 0);
    return status;
}

enum cw_status cw_rank_files_index(const char *folder, bool force, struct cw_notices *notices, struct cw_arena *arena,
                                   struct cw_error *err)
{
    static const struct cw_file_kind kind = {"an index", false, {CW_RANK_INDEX_HEAD}};
    struct cw_file_list files = {0};
    struct growing g = {0};
    char *path = path_of(folder, CW_RANK_INDEX_NAME, arena);
    enum cw_status status = path ? cw_file_may_replace(path, &kind, force, err) : cw_error_nomem(err);
    if (status == CW_OK && !cw_file_list_is(folder))
        status = cw_error_set(err, CW_ERR_IO, "%s: found no folder of that name", folder);
    if (status == CW_OK)
        status = cw_file_list_expand(&files, (char *const *)&folder, 1, CW_SOURCE_SUFFIX, arena, err);
    for (size_t i = 0; status == CW_OK && i < files.left_out_count; i++)
        cw_notice(notices, "%s", files.left_out[i]);
    for (size_t i = 0; status == CW_OK && i < files.count; i++) {
        const char *name = strrchr(files.paths[i], '/') + 1;
        cw_progress_at(i, files.count);
        if (strchr(name, '\n'))
            status = cw_error_set(err, CW_ERR_INPUT, "%s: found an end of line in the name of a file, expected none",
                                  files.paths[i]);
        else
            status = add_file(&g, files.paths[i], name, err);
    }
    if (status == CW_OK)
        status = write_index(&g, path, err);
    if (status == CW_OK && g.unranked)
        cw_notice(notices, "%s: %" PRIu64 " of the files have no rank", folder, g.unranked);
    free(g.index.entries);
    return status;
}
