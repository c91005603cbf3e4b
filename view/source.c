#define _GNU_SOURCE
#include "view/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/progress.h"
#include "base/search.h"
#include "base/text.h"
#include "base/utf8.h"
#include "foreign/foreign.h"
#include "image/config_image.h"
#include "image/merge.h"
#include "image/rank_index.h"

static const size_t largest_capture = (size_t)1 << 40;

/* Opens the data, only of the ranks if that works: with launches of these ranks, and without a chunk that describes
 * their device among others. Else opens all of it. */
static enum cw_status open_data(struct counterworks_capture *made, const char *ranks, struct cw_error *err)
{
    const char *kept = ranks ? cw_arena_strdup(made->arena, ranks) : NULL;
    if (ranks && !kept)
        return cw_error_nomem(err);
    if (ranks && cw_counter_data_open_ranks(&made->data, &made->file, kept, made->arena, NULL) == CW_OK &&
        made->data.range_count)
        return CW_OK;
    return cw_counter_data_open(&made->data, &made->file, made->arena, err);
}

/* Opens a capture, or a file of another profiler as one; close the input in any case. */
static enum cw_status open_capture(struct cw_input *input, const char *path, struct cw_notices *notices,
                                   struct cw_error *err)
{
    char notice[CW_FOREIGN_NOTICE_SIZE];
    CW_TRY(cw_input_open(input, path, largest_capture, err));
    CW_TRY(cw_foreign_convert(input, notice, err));
    if (*notice)
        cw_notice(notices, "%s: %s", path, notice);
    return CW_OK;
}

static enum cw_status read_capture(struct counterworks_capture *made, const char *name, const char *ranks,
                                   struct cw_error *err)
{
    const char *slash = strrchr(name, '/');
    char *source = cw_arena_strdup(made->arena, slash ? slash + 1 : name);
    made->name = made->file.name = cw_arena_strdup(made->arena, name);
    if (!source || !made->name)
        return cw_error_nomem(err);
    cw_utf8_force(source, strlen(source));
    made->source = source;
    made->asked = made->first = made->word = made->name;
    return open_data(made, ranks, err);
}

struct counterworks_capture *cw_source_create(void)
{
    struct counterworks_capture *made = calloc(1, sizeof *made);
    if (made && !(made->arena = cw_arena_create())) {
        free(made);
        return NULL;
    }
    return made;
}

void cw_source_close(struct counterworks_capture *capture)
{
    if (!capture)
        return;
    cw_input_close(&capture->file);
    cw_arena_destroy(capture->arena);
    free(capture);
}

static enum cw_status finish(struct counterworks_capture **capture, struct counterworks_capture *made,
                             enum cw_status status)
{
    if (status != CW_OK)
        cw_source_close(made);
    *capture = status == CW_OK ? made : NULL;
    return status;
}

static enum cw_status open_file(struct counterworks_capture **capture, const char *path, const char *ranks,
                                struct cw_notices *notices, struct cw_error *err)
{
    struct counterworks_capture *made = cw_source_create();
    enum cw_status status = made ? open_capture(&made->file, path, notices, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = read_capture(made, path, ranks, err);
    return finish(capture, made, status);
}

enum cw_status cw_source_read(struct counterworks_capture **capture, const void *data, size_t size, const char *name,
                              struct cw_error *err)
{
    struct counterworks_capture *made = cw_source_create();
    if (made)
        made->file = cw_input_of(data, size, name);
    return finish(capture, made, made ? read_capture(made, name, NULL, err) : cw_error_nomem(err));
}

enum cw_status cw_source_chip(const char **name, const char *path, struct cw_arena *arena, struct cw_error *err)
{
    enum { HEAD = sizeof CW_FILE_HEAD_PLAN - 1 };
    struct cw_input file;
    struct cw_config_image plan;
    struct cw_counter_data data;
    char head[HEAD] = "";
    enum cw_status status = open_capture(&file, path, NULL, err);
    if (status == CW_OK)
        status = cw_input_read(&file, 0, file.size < HEAD ? (size_t)file.size : HEAD, head, err);
    const bool planned = status == CW_OK && memcmp(head, CW_FILE_HEAD_PLAN, HEAD) == 0;
    if (planned)
        status = cw_input_load(&file, err);
    if (status == CW_OK)
        status = planned ? cw_config_image_read(&plan, file.bytes, (size_t)file.size, path, arena, err)
                         : cw_counter_data_open(&data, &file, arena, err);
    *name = status == CW_OK ? cw_arena_strdup(arena, planned ? plan.chip : data.schema.chip) : NULL;
    cw_input_close(&file);
    return status == CW_OK && !*name ? cw_error_nomem(err) : status;
}

enum cw_status cw_source_load(struct counterworks_capture *capture, struct cw_error *err)
{
    return cw_counter_data_load(&capture->data, capture->arena, err);
}

/* ---- several as one --------------------------------------------------------------------------------------------- */

struct joining {
    const char *const *paths;
    size_t count, opened;     /* opened: counts each file once a round; the last one writes */
    struct cw_input standard; /* standard input, which can be read once */
    FILE *out;
    const char *output;
    bool redact;                            /* see struct cw_merge_files */
    struct cw_merge_incomplete *incomplete; /* the same */
    struct cw_job_ranks *job;               /* the same */
    struct cw_rank_origins *origins;        /* the same */
    struct cw_spool spool;                  /* replaces `out` for a capture in memory */
    struct cw_notices *notices;             /* gets lines about files of other profilers; may be NULL */
};

static enum cw_status open_input(void *joining, size_t i, struct cw_input *input, struct cw_error *err)
{
    struct joining *j = joining;
    const bool standard = cw_file_is_standard(j->paths[i]);
    enum cw_status status = CW_OK;
    cw_progress_at(j->opened++ < j->count * (j->redact ? 2 : 1) ? 0 : i, j->count);
    *input = j->standard;
    if (!standard || !input->name)
        status = open_capture(input, j->paths[i], j->opened > j->count ? NULL : j->notices, err);
    if (standard && status == CW_OK)
        j->standard = *input;
    if (status != CW_OK)
        cw_input_close(input);
    return status;
}

static void close_input(void *joining, struct cw_input *input)
{
    if (cw_file_is_standard(input->name))
        ((struct joining *)joining)->standard = *input; /* may have been loaded meanwhile */
    else
        cw_input_close(input);
}

static enum cw_status put_output(void *joining, const void *data, size_t size, struct cw_error *err)
{
    const struct joining *j = joining;
    if (fwrite(data, 1, size, j->out) == size && fflush(j->out) == 0)
        return CW_OK;
    return cw_error_set(err, CW_ERR_IO, "%s: cannot write: %s", j->output, strerror(errno));
}

/* A cw_file_render of a struct joining. */
static enum cw_status join(FILE *out, const void *joining, struct cw_error *err)
{
    struct joining j = *(const struct joining *)joining;
    const struct cw_merge_files files = {.count = j.count,
                                         .open = open_input,
                                         .close = close_input,
                                         .put = put_output,
                                         .user = &j,
                                         .sparse = true,
                                         .redact = j.redact,
                                         .incomplete = j.incomplete,
                                         .job = j.job,
                                         .origins = j.origins};
    j.out = out;
    enum cw_status status = cw_counter_data_merge_files(&files, err);
    cw_input_close(&j.standard);
    return status;
}

static enum cw_status keep_all(const char *output, const char *const *paths, size_t count, struct cw_error *err)
{
    for (size_t i = 0; i < count; i++)
        CW_TRY(cw_file_keep(output, paths[i], "capture", err));
    return CW_OK;
}

enum cw_status cw_source_merge(const char *output, const char *const *paths, size_t count, struct cw_error *err)
{
    CW_TRY(keep_all(output, paths, count, err));
    const struct joining joining = {.paths = paths, .count = count, .output = output};
    return cw_file_print(output, join, &joining, err);
}

static void tell_incomplete(const char *output, const char *part, size_t more, struct cw_notices *notices)
{
    if (more)
        cw_notice(notices, "%s: the capture is incomplete, as are %s and %zu more", output, part, more);
    else
        cw_notice(notices, "%s: the capture is incomplete, as %s is", output, part);
}

enum cw_status cw_source_merge_files(const char *output, const struct cw_file_list *files, bool redact,
                                     struct cw_notices *notices, struct cw_error *err)
{
    struct cw_job_ranks job = {0};
    struct cw_rank_origins origins = {.arena = cw_arena_create()};
    char missing[CW_JOB_RANKS_TEXT];
    struct cw_merge_incomplete incomplete = {0};
    const struct joining joining = {.paths = (const char *const *)files->paths,
                                    .count = files->count,
                                    .output = output,
                                    .redact = redact,
                                    .incomplete = &incomplete,
                                    .job = &job,
                                    .origins = &origins,
                                    .notices = notices};
    enum cw_status status = origins.arena ? keep_all(output, joining.paths, joining.count, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_file_print(output, join, &joining, err);
    if (status == CW_OK && incomplete.count)
        tell_incomplete(output, joining.paths[incomplete.first], incomplete.count - 1, notices);
    cw_job_ranks_sort(&job);
    if (status == CW_OK && *cw_job_ranks_text(&job, missing))
        cw_notice(notices, "%s: %s", output, missing);
    if (status == CW_OK)
        cw_source_tell_ranks(&origins, notices);
    cw_job_ranks_free(&job);
    cw_arena_destroy(origins.arena);
    return status;
}

static enum cw_status put_joined(void *joining, const void *data, size_t size, struct cw_error *err)
{
    return cw_spool_put(&((struct joining *)joining)->spool, data, size, err);
}

/* Takes each word of the list for a run. `ends`: of the files, see struct cw_merge_files; becomes those of the runs. */
static void take_runs(struct counterworks_capture *made, const struct cw_file_list *list, uint32_t *ends)
{
    for (size_t run = 0; run < list->word_count; run++) /* a word has a file at least */
        ends[run] = ends[list->word_ends[run] - 1];
    made->run_count = list->word_count;
    made->run_ends = ends;
}

static enum cw_status join_files(struct counterworks_capture **capture, const struct cw_file_list *list,
                                 const char *name, struct cw_rank_origins *origins, struct cw_notices *notices,
                                 struct cw_error *err)
{
    struct counterworks_capture *made = cw_source_create();
    struct joining j = {.paths = (const char *const *)list->paths, .count = list->count, .notices = notices};
    uint32_t *ends = made ? cw_arena_alloc(made->arena, list->count, sizeof *ends) : NULL;
    const struct cw_merge_files files = {.count = list->count,
                                         .open = open_input,
                                         .close = close_input,
                                         .put = put_joined,
                                         .user = &j,
                                         .origins = origins,
                                         .ends = ends};
    if (!ends) {
        cw_error_nomem(err);
        return finish(capture, made, CW_ERR_NOMEM);
    }
    enum cw_status status = cw_counter_data_merge_files(&files, err);
    cw_input_close(&j.standard);
    if (status == CW_OK) {
        take_runs(made, list, ends);
        made->file = cw_spool_finish(&j.spool, name);
        status = read_capture(made, name, NULL, err);
    } else {
        cw_spool_free(&j.spool);
    }
    return finish(capture, made, status);
}

enum cw_status cw_source_join(struct counterworks_capture **capture, const char *const *paths, size_t count,
                              const char *name, struct cw_error *err)
{
    const struct cw_file_list list = {.paths = (char *const *)paths, .count = count};
    return count == 1 ? open_file(capture, *paths, NULL, NULL, err) : join_files(capture, &list, name, NULL, NULL, err);
}

void cw_source_tell_ranks(struct cw_rank_origins *origins, struct cw_notices *notices)
{
    enum { MOST = 3 };
    struct cw_rank_twice twice;
    size_t count = 0;
    for (size_t at = 0; notices && cw_rank_origins_next(origins, &at, &twice);) {
        struct cw_writer line;
        if (++count > MOST)
            continue;
        cw_writer_init(&line);
        cw_write_format(&line, "rank %" PRIu32 " is in %zu files of different processes:", twice.rank, twice.count);
        for (size_t i = 0; i < twice.count && i < CW_RANK_TWICE_FILES; i++)
            cw_write_format(&line, "%s %s", i ? "," : "", twice.files[i]);
        if (twice.count > CW_RANK_TWICE_FILES)
            cw_write_format(&line, " and %zu more", twice.count - CW_RANK_TWICE_FILES);
        cw_write_format(&line, "; it counts each time");
        cw_notice_take(notices, &line);
    }
    if (count > MOST)
        cw_notice(notices, "%zu more rank%s in several files", count - MOST, count - MOST == 1 ? " is" : "s are");
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

enum cw_status cw_source_expand(struct cw_file_list *files, const struct cw_source_files *of,
                                struct cw_notices *notices, struct cw_arena *arena, struct cw_error *err)
{
    char *const *words = (char *const *)of->words;
    enum cw_status status = CW_OK;
    *files = (struct cw_file_list){0};
    if (of->ranks && of->count == 1 && **words != '@' && cw_file_list_is(*words))
        status = cw_rank_files_find(files, *words, of->ranks, arena, err);
    if (status == CW_OK && !files->count)
        status = cw_file_list_expand(files, words, of->count, CW_SOURCE_SUFFIX, arena, err);
    for (size_t i = 0; status == CW_OK && i < files->left_out_count; i++)
        cw_notice(notices, "%s", files->left_out[i]);
    return status;
}

const char *cw_source_name(const struct cw_file_list *files, const struct cw_source_files *of, struct cw_arena *arena)
{
    const char *first = files->paths[0], *word = *of->words;
    size_t size = strlen(word);
    while (size > 1 && word[size - 1] == '/')
        size--;
    if (files->count == 1)
        return first;
    return cw_file_list_is(word) && of->count == 1 ? cw_arena_printf(arena, "%.*s", (int)size, word)
                                                   : cw_arena_printf(arena, "%s and %zu more", first, files->count - 1);
}

/* NULL when out of memory. */
static const char *quote(const char *word, struct cw_arena *arena)
{
    char *quoted = cw_text_quote(word);
    const char *made = quoted ? cw_arena_printf(arena, "%s%s", *word == '-' && word[1] ? "./" : "", quoted) : NULL;
    free(quoted);
    return made;
}

int cw_opened_file_compare(const void *left, const void *right)
{
    const struct cw_opened_file *a = left, *b = right;
    return a->device != b->device ? (a->device > b->device) - (a->device < b->device)
                                  : (a->number > b->number) - (a->number < b->number);
}

static enum cw_status list_files(struct counterworks_capture *capture, const struct cw_file_list *list,
                                 struct cw_error *err)
{
    struct stat st;
    capture->files = cw_arena_alloc(capture->arena, list->count, sizeof *capture->files);
    if (!capture->files)
        return cw_error_nomem(err);
    for (size_t i = 0; i < list->count; i++) {
        const bool standard = cw_file_is_standard(list->paths[i]);
        if ((standard ? fstat(STDIN_FILENO, &st) : stat(list->paths[i], &st)) != 0 || !S_ISREG(st.st_mode))
            continue;
        const char *path = cw_arena_strdup(capture->arena, list->paths[i]);
        if (!path)
            return cw_error_nomem(err);
        capture->files[capture->file_count++] = (struct cw_opened_file){st.st_dev, st.st_ino, path};
    }
    qsort(capture->files, capture->file_count, sizeof *capture->files, cw_opened_file_compare);
    return CW_OK;
}

static void tell_same(const struct counterworks_capture *capture, struct cw_notices *notices)
{
    for (size_t i = 1; i < capture->file_count; i++)
        if (cw_opened_file_compare(&capture->files[i - 1], &capture->files[i]) == 0)
            cw_notice(notices, "%s: found the same file more than once: it counts each time", capture->files[i].path);
}

static enum cw_status open_files(struct counterworks_capture **capture, const struct cw_file_list *files,
                                 const struct cw_source_files *of, struct cw_notices *notices, struct cw_arena *arena,
                                 struct cw_error *err)
{
    const char *name = cw_source_name(files, of, arena);
    if (files->count == 1)
        return open_file(capture, files->paths[0], of->numbered ? NULL : of->ranks, notices, err);
    return name ? join_files(capture, files, name, of->origins, notices, err) : cw_error_nomem(err);
}

enum cw_status cw_source_open(struct counterworks_capture **capture, const struct cw_source_files *of,
                              struct cw_notices *notices, struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_file_list files = of->found ? *of->found : (struct cw_file_list){0};
    *capture = NULL;
    enum cw_status status = arena ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK && !of->found)
        status = cw_source_expand(&files, of, notices, arena, err);
    if (status == CW_OK)
        status = open_files(capture, &files, of, notices, arena, err);
    if (status == CW_OK && files.count == 1 && of->origins) /* as a part of a job */
        status = cw_rank_origins_add(of->origins, &(*capture)->data, files.paths[0], err);
    if (status == CW_OK)
        status = list_files(*capture, &files, err);
    /* copies in traces are found by process */
    if (status == CW_OK && (*capture)->data.schema.profiler != CW_PROFILER_TRACE)
        tell_same(*capture, notices);
    if (status == CW_OK) {
        (*capture)->word = of->count > 1 ? "FILES" : quote(*of->words, (*capture)->arena);
        (*capture)->asked = cw_arena_strdup((*capture)->arena, *of->words);
        (*capture)->first = cw_arena_strdup((*capture)->arena, files.paths[0]);
        status = (*capture)->word && (*capture)->asked && (*capture)->first ? CW_OK : cw_error_nomem(err);
    }
    cw_arena_destroy(arena);
    return finish(capture, *capture, status);
}
