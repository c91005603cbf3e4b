#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/progress.h"
#include "base/text.h"
#include "cli/common/cli.h"
#include "cli/eval/run.h"

const char *cw_eval_option_of_ranges(const struct cw_eval_request *o)
{
    const char *of_ranges = cw_eval_ranges_option(&o->ranges);
    return of_ranges         ? of_ranges
           : o->check        ? "--check"
           : o->native       ? "--native"
           : o->grouped      ? "--by"
           : o->filter_count ? "--filter"
           : o->sort         ? "--sort"
                             : NULL;
}

enum cw_status cw_eval_expand(struct cw_eval_run *r)
{
    const struct cw_eval_request *o = r->o;
    char *const *words = o->words ? o->words : (char *const *)&o->capture;
    const size_t count = o->words ? o->word_count : 1;
    enum cw_status status = CW_OK;
    if (!r->files.count && o->ranges.ranks && count == 1 && **words != '@' && cw_file_list_is(*words))
        status = cw_eval_find_ranks(&r->files, *words, o->ranges.ranks, r->arena, r->err);
    if (status != CW_OK || r->files.count)
        return status;
    status = cw_file_list_expand(&r->files, words, count, CW_EVAL_SUFFIX, r->arena, r->err);
    cw_file_list_tell(&r->files);
    return status;
}

const char *cw_eval_name_files(const struct cw_eval_run *r)
{
    const char *first = r->files.paths[0], *word = r->o->capture;
    size_t size = strlen(word);
    while (size > 1 && word[size - 1] == '/')
        size--;
    if (r->files.count == 1)
        return first;
    return cw_file_list_is(word) && (!r->o->words || r->o->word_count == 1)
               ? cw_arena_printf(r->arena, "%.*s", (int)size, word)
               : cw_arena_printf(r->arena, "%s and %zu more", first, r->files.count - 1);
}

const char *cw_eval_word(const struct cw_eval_run *r)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    const char *word = r->o->capture, *folder = *word == '-' && word[1] ? "./" : "";
    if (r->o->words && r->o->word_count > 1)
        return "FILES";
    if (!word[strspn(word, plain)])
        return *folder ? cw_arena_printf(r->arena, "%s%s", folder, word) : word;
    char *quoted = cw_arena_alloc(r->arena, 4 * strlen(word) + sizeof "./''", 1), *end;
    if (!quoted)
        return NULL;
    end = stpcpy(stpcpy(quoted, folder), "'");
    for (; *word; word++)
        if (*word == '\'')
            end = stpcpy(end, "'\\''");
        else
            *end++ = *word;
    strcpy(end, "'");
    return quoted;
}

struct identity {
    dev_t device;
    ino_t number;
    const char *path;
};

static int by_identity(const void *left, const void *right)
{
    const struct identity *a = left, *b = right;
    return a->device != b->device ? (a->device > b->device) - (a->device < b->device)
                                  : (a->number > b->number) - (a->number < b->number);
}

/* Says that a file counts twice. */
static enum cw_status tell_same(const struct cw_eval_run *r)
{
    struct identity *files = calloc(r->files.count + 1, sizeof *files);
    size_t count = 0;
    struct stat st;
    if (!files)
        return cw_error_nomem(r->err);
    for (size_t i = 0; i < r->files.count && !r->o->quiet; i++)
        if (stat(r->files.paths[i], &st) == 0 && S_ISREG(st.st_mode))
            files[count++] = (struct identity){st.st_dev, st.st_ino, r->files.paths[i]};
    qsort(files, count, sizeof *files, by_identity);
    for (size_t i = 1; i < count; i++)
        if (by_identity(&files[i - 1], &files[i]) == 0)
            cw_text_print(stderr,
                          "metric-eval: %s: found the same file more than once: all in it is counted as often\n",
                          files[i].path);
    free(files);
    return CW_OK;
}

static enum cw_status open_files(struct cw_eval_run *r)
{
    enum cw_status status = cw_eval_expand(r);
    if (status != CW_OK)
        return status;
    const bool by_number = r->o->ranges.ranges || r->o->check || r->o->native; /* of all in the file */
    if (r->files.count == 1)
        return cw_lib_open_ranks(&r->capture, r->files.paths[0], by_number ? NULL : r->o->ranges.ranks, r->err);
    const char *name = cw_eval_name_files(r);
    return name ? cw_lib_open_joined(&r->capture, (const char *const *)r->files.paths, r->files.count, name, r->err)
                : cw_error_nomem(r->err);
}

static bool by_block(const struct cw_eval_request *o)
{
    return o->by_block && !o->check && !o->native;
}

enum cw_status cw_eval_need_ranges(const struct cw_eval_run *r, const char *why, const char *what)
{
    if (r->info.profiler == COUNTERWORKS_RANGES)
        return CW_OK;
    return cw_error_set(r->err, CW_ERR_USAGE, "%s: found %s, expected a capture of ranges%s%s", r->files.paths[0],
                        cw_profiler_texts[r->capture->data.schema.profiler], why, what);
}

enum cw_status cw_eval_load_capture(struct cw_eval_run *r)
{
    cw_progress_begin(r->o->quiet, false, "reading %s", r->o->capture);
    enum cw_status status = open_files(r);
    if (status == CW_OK && !by_block(r->o) && !r->o->heads_alone)
        status = cw_lib_load(r->capture, r->err);
    cw_progress_end();
    if (status != CW_OK)
        return status;
    counterworks_capture_describe(r->capture, &r->info);
    if (r->files.count > 1 && r->capture->data.schema.profiler != CW_PROFILER_TRACE) /* processes of traces tell */
        status = tell_same(r);
    const char *option = cw_eval_option_of_ranges(r->o);
    if (status == CW_OK && r->info.profiler == COUNTERWORKS_SAMPLES && option &&
        !(r->o->grouped && strcmp(option, "--by") == 0) && strcmp(option, "--native") != 0)
        status = cw_eval_need_ranges(r, " for ", option);
    return status;
}

void cw_eval_tell_incomplete(const struct cw_eval_run *r)
{
    cw_lib_tell_incomplete(r->capture, &(struct counterworks_chip){.tell = r->o->quiet ? NULL : cw_cli_tell});
}

enum cw_status cw_eval_load_chip(struct cw_eval_run *r)
{
    struct cw_cli_chip from = r->o->chip;
    from.name = r->info.chip;
    enum cw_status status = cw_cli_chip_open(&r->chip, &from, r->err);
    if (status == CW_OK && r->o->quiet)
        counterworks_chip_tell(r->chip, NULL, NULL);
    if (status == CW_OK)
        status = cw_lib_begin(&r->result, r->capture, r->chip, r->arena, r->err); /* is it of this chip? */
    return status == CW_OK ? cw_cli_chip_add(r->chip, &from, r->err) : status;
}

enum cw_status cw_eval_add_legacy(struct cw_eval_run *r, const char *const *names, size_t count)
{
    struct counterworks_error error;
    counterworks_chip_add_legacy(r->chip, names, count, &error);
    return cw_cli_take(&error, r->err);
}

enum cw_status cw_eval_names(struct cw_eval_run *r, const char *const *names, size_t count)
{
    const struct cw_counter_data *groups = r->groups ? &r->groups->data : NULL;
    enum cw_status status = cw_eval_add_legacy(r, names, count);
    if (status != CW_OK)
        return status;
    cw_progress_begin(r->o->quiet, false, "evaluating %s", r->o->capture);
    status = cw_lib_evaluate(&r->result, r->capture, groups, r->chip, names, count, &r->o->eval, r->arena, r->err);
    cw_progress_end();
    return status;
}

enum cw_status cw_eval_named(struct cw_eval_run *r)
{
    struct cw_metric_list list = {0};
    enum cw_status status = cw_metric_list_gather(&list, &r->o->sources, r->chip, r->arena, r->err);
    if (status == CW_OK && !list.count)
        status = cw_error_set(r->err, CW_ERR_USAGE, "found no metric in what was asked for, expected at least one");
    if (status == CW_OK)
        status = cw_eval_names(r, list.names, list.count);
    cw_metric_list_free(&list);
    return status;
}

/* The number of ranges times that of the metrics that a capture names grows with the square of its size; where people
 * name the metrics, it grows with what they want. */
static enum cw_status check_values(const struct cw_eval_run *r)
{
    const uint64_t metrics = r->info.metric_count, rows = r->groups ? r->groups->count : r->info.row_count;
    const uint64_t most = 8 * ((uint64_t)r->capture->file.size + 1000000);
    if (metrics * rows <= most)
        return CW_OK;
    return cw_error_set(r->err, CW_ERR_INPUT,
                        "%s: found %" PRIu64 " metrics of %" PRIu64 " %s in the plan, expected at most %" PRIu64
                        " values in a file of this size: name metrics by -m, --set or --all",
                        r->o->capture, metrics, rows, r->info.profiler == COUNTERWORKS_SAMPLES ? "samples" : "ranges",
                        most);
}

static enum cw_status check_planned(const struct cw_eval_run *r)
{
    if (!r->info.metric_count)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: the capture names no metrics: give -m, --set or --all",
                            r->o->capture);
    return check_values(r);
}

enum cw_status cw_eval_planned(struct cw_eval_run *r)
{
    const enum cw_status status = check_planned(r);
    return status == CW_OK ? cw_eval_names(r, r->info.metrics, r->info.metric_count) : status;
}

struct names {
    struct cw_eval_run *r;
    const char **list;
    size_t count, room;
};

static bool take_unplanned(void *names, const char *name)
{
    struct names *n = names;
    if (cw_lib_has_name(n->r->info.metrics, n->r->info.metric_count, name))
        return true;
    const char *copy = n->count < n->room ? cw_arena_strdup(n->r->arena, name) : NULL;
    if (copy)
        n->list[n->count++] = copy;
    return copy;
}

enum cw_status cw_eval_planned_and_launch(struct cw_eval_run *r)
{
    enum { MOST = 64 };
    const size_t planned = r->info.metric_count;
    struct names names = {r, cw_arena_alloc(r->arena, planned + MOST, sizeof *names.list), planned, planned + MOST};
    struct counterworks_error none; /* a data folder without the set */
    const enum cw_status status = !names.list             ? cw_error_nomem(r->err)
                                  : planned || !r->o->all ? check_planned(r)
                                                          : CW_OK;
    if (status != CW_OK)
        return status;
    if (planned)
        memcpy(names.list, r->info.metrics, planned * sizeof *names.list);
    counterworks_set_metrics(r->chip, "launch", take_unplanned, &names, &none);
    return cw_eval_names(r, names.list, names.count);
}

enum cw_status cw_eval_wanted(struct cw_eval_run *r)
{
    return r->o->all ? cw_eval_names(r, NULL, 0) : r->o->sources.count ? cw_eval_named(r) : cw_eval_planned(r);
}

/* ---- several captures ------------------------------------------------------------------------------------------- */

int cw_eval_split_sides(struct cw_eval_sides *sides, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            sides->b = argv + i + 1;
            sides->b_count = (size_t)(argc - i - 1);
            argv[i] = NULL;
            return i;
        }
    return argc;
}

bool cw_eval_has_sides(struct cw_eval_sides *sides)
{
    const size_t all = sides->a_count + sides->b_count;
    char *const *first = sides->a_count ? sides->a : sides->b;
    if (all == 2 && !(sides->a_count && sides->b_count)) /* "--" alone ends the options */
        *sides = (struct cw_eval_sides){first, first + 1, 1, 1};
    return sides->a_count && sides->b_count;
}

enum cw_status cw_eval_open_any(struct cw_eval_run *run, struct cw_eval_request *request, char *const *paths,
                                size_t count, struct cw_arena *arena, struct cw_error *err)
{
    request->capture = paths[0];
    request->words = paths;
    request->word_count = count;
    *run = (struct cw_eval_run){.o = request, .arena = arena, .err = err, .info.size = sizeof run->info};
    return cw_eval_load_capture(run);
}

enum cw_status cw_eval_open_ranges(struct cw_eval_run *run)
{
    const enum cw_status status = cw_eval_need_ranges(run, "", "");
    if (status == CW_OK)
        cw_eval_tell_incomplete(run);
    return status == CW_OK ? cw_eval_load_chip(run) : status;
}

enum cw_status cw_eval_open(struct cw_eval_run *run, struct cw_eval_request *request, char *const *paths, size_t count,
                            struct cw_arena *arena, struct cw_error *err)
{
    const enum cw_status status = cw_eval_open_any(run, request, paths, count, arena, err);
    return status == CW_OK ? cw_eval_open_ranges(run) : status;
}

void cw_eval_close(struct cw_eval_run *run)
{
    counterworks_chip_close(run->chip);
    counterworks_capture_close(run->capture);
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = *(const char *const *const *)a, *const *y = *(const char *const *const *)b;
    const int order = strcmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

/* The names, each once, where it came first. NULL when out of memory. */
static const char **each_once(const char *const *names, size_t *count, struct cw_arena *arena)
{
    const char *const **sorted = cw_arena_alloc(arena, *count, sizeof *sorted);
    bool *again = cw_arena_alloc(arena, *count, sizeof *again);
    const char **once = cw_arena_alloc(arena, *count, sizeof *once);
    size_t left = 0;
    if (!sorted || !again || !once)
        return NULL;
    for (size_t i = 0; i < *count; i++)
        sorted[i] = &names[i];
    if (*count)
        qsort(sorted, *count, sizeof *sorted, by_name);
    for (size_t i = 1; i < *count; i++)
        again[sorted[i] - names] = strcmp(*sorted[i - 1], *sorted[i]) == 0;
    for (size_t i = 0; i < *count; i++)
        if (!again[i])
            once[left++] = names[i];
    *count = left;
    return once;
}

enum cw_status cw_eval_select_names(struct cw_eval_run *r, const char *const *names, size_t count)
{
    const char **once = each_once(names, &count, r->arena);
    enum cw_status status = once ? cw_eval_add_legacy(r, once, count) : cw_error_nomem(r->err);
    return status == CW_OK ? cw_lib_select(&r->result, r->capture, r->chip, once, count, r->arena, r->err) : status;
}

enum cw_status cw_eval_select(struct cw_eval_run *r)
{
    struct cw_metric_list list = {0};
    enum cw_status status;
    if (r->o->all)
        return cw_lib_select(&r->result, r->capture, r->chip, NULL, 0, r->arena, r->err);
    if (!r->o->sources.count) {
        status = check_values(r);
        return status == CW_OK ? cw_eval_select_names(r, r->info.metrics, r->info.metric_count) : status;
    }
    status = cw_metric_list_gather(&list, &r->o->sources, r->chip, r->arena, r->err);
    if (status == CW_OK)
        status = cw_eval_select_names(r, list.names, list.count);
    cw_metric_list_free(&list);
    return status;
}
