#include "cli/common/metric_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/common/cli.h"

enum { LARGEST_LIST = 64 << 20 };

static enum cw_status add(struct cw_metric_list *list, const char *name, size_t length, struct cw_arena *arena,
                          struct cw_error *err)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        const char **grown = realloc(list->names, capacity * sizeof *grown);
        if (!grown)
            return cw_error_nomem(err);
        list->names = grown;
        list->capacity = capacity;
    }
    list->names[list->count] = cw_arena_strndup(arena, name, length);
    return list->names[list->count++] ? CW_OK : cw_error_nomem(err);
}

/* Names in `text`, separated by any of `separators` and by blanks. */
static enum cw_status split(struct cw_metric_list *list, const char *text, const char *separators,
                            struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    while (status == CW_OK) {
        text += strspn(text, separators);
        size_t length = strcspn(text, separators);
        if (!length)
            break;
        status = add(list, text, length, arena, err);
        text += length;
    }
    return status;
}

/* One name a line; blank lines and what follows a # do not count. */
static enum cw_status add_file(struct cw_metric_list *list, const char *path, struct cw_arena *arena,
                               struct cw_error *err)
{
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, path, LARGEST_LIST, err);
    char *line = (char *)file.data;
    while (status == CW_OK && line && *line) {
        size_t length = strcspn(line, "\n");
        char *next = line[length] ? line + length + 1 : NULL;
        line[length] = 0;
        line[strcspn(line, "#")] = 0;
        status = split(list, line, ", \t\r", arena, err);
        line = next;
    }
    cw_bytes_free(&file);
    return status;
}

/* A list that names are added to until one of them fails. */
struct taking {
    struct cw_metric_list *list;
    struct cw_arena *arena;
    enum cw_status status;
    struct cw_error *err;
};

static bool take(void *user, const char *name)
{
    struct taking *t = user;
    t->status = add(t->list, name, strlen(name), t->arena, t->err);
    return t->status == CW_OK;
}

static enum cw_status add_set(struct cw_metric_list *list, const char *set, const struct counterworks_chip *chip,
                              struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_error error;
    struct taking t = {list, arena, CW_OK, err};
    counterworks_set_metrics(chip, set, take, &t, &error);
    return t.status == CW_OK ? cw_cli_take(&error, err) : t.status;
}

enum cw_status cw_metric_list_add_all(struct cw_metric_list *list, const struct counterworks_chip *chip,
                                      struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_error error;
    struct taking t = {list, arena, CW_OK, err};
    counterworks_metric_each(chip, COUNTERWORKS_PLANNED, take, &t, &error);
    return t.status == CW_OK ? cw_cli_take(&error, err) : t.status;
}

enum cw_status cw_metric_list_gather(struct cw_metric_list *list, const struct cw_metric_sources *sources,
                                     const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < sources->count; i++) {
        const char *text = sources->items[i].text;
        enum cw_metric_source kind = sources->items[i].kind;
        status = kind == CW_METRIC_FILE  ? add_file(list, text, arena, err)
                 : kind == CW_METRIC_SET ? add_set(list, text, chip, arena, err)
                                         : split(list, text, ", \t\r\n", arena, err);
    }
    return status;
}

/* ---- command line ----------------------------------------------------------------------------------------------- */

static void add_source(struct cw_metric_sources *sources, enum cw_metric_source kind, const char *text,
                       const struct argp_state *state)
{
    if (sources->count == CW_METRIC_SOURCES_MAX)
        cw_usage_error(state, "found more than %d metric options", CW_METRIC_SOURCES_MAX);
    sources->items[sources->count].kind = kind;
    sources->items[sources->count++].text = text;
}

void cw_metric_sources_add(void *sources, char *names, struct argp_state *state)
{
    add_source(sources, CW_METRIC_NAMES, names, state);
}

static void take_file(void *sources, char *path, struct argp_state *state)
{
    add_source(sources, CW_METRIC_FILE, path, state);
}

static void take_set(void *sources, char *name, struct argp_state *state)
{
    add_source(sources, CW_METRIC_SET, name, state);
}

const struct cw_option cw_metric_sources_options[] = {
    {"metrics", 'm', "A,B,...", "metrics by full name; may be repeated", CW_OPTION_TAKE(cw_metric_sources_add)},
    {"metrics-file", 0, "FILE", "metrics, one a line; # starts a comment", CW_OPTION_TAKE(take_file)},
    {"set", 0, "NAME", "a metric set (metric-query sets lists them), or a set's YAML file", CW_OPTION_TAKE(take_set)},
    {0},
};

void cw_metric_list_free(struct cw_metric_list *list)
{
    free(list->names);
    *list = (struct cw_metric_list){0};
}
