#include "cli/common/metric_list.h"

#include <string.h>

#include "base/file.h"
#include "base/utf8.h"
#include "cli/common/cli.h"

enum { LARGEST_LIST = 64 << 20 };

enum cw_status cw_cli_keep_inputs(const char *output, const struct cw_cli_chip *chip,
                                  const struct cw_metric_sources *sources, struct cw_error *err)
{
    CW_TRY(cw_file_keep(output, chip->file, "chip's file", err));
    CW_TRY(cw_file_keep(output, chip->node, "node's facts", err));
    for (size_t i = 0; i < chip->count; i++)
        CW_TRY(cw_file_keep(output, chip->own[i], "metrics", err));
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i].kind == CW_METRIC_FILE)
            CW_TRY(cw_file_keep(output, sources->items[i].text, "list of metrics", err));
    return CW_OK;
}

/* A list that grows by names, until one of them fails. */
struct adding {
    struct counterworks_names *list;
    struct cw_arena *arena;
    struct cw_error *err;
    enum cw_status status;
    const char **names; /* the list's, with room for more */
    size_t room;
};

static void add(struct adding *a, const char *name, size_t length)
{
    struct counterworks_names *list = a->list;
    const char *own = cw_arena_strndup(a->arena, name, length);
    if (list->count >= a->room) {
        a->room = 2 * list->count + 64;
        a->names = cw_arena_alloc(a->arena, a->room, sizeof *a->names);
        if (a->names && list->count)
            memcpy(a->names, list->names, list->count * sizeof *a->names);
    }
    if (own && a->names) {
        a->names[list->count++] = own;
        list->names = a->names;
    } else {
        a->status = cw_error_nomem(a->err);
    }
}

static bool take(void *adding, const char *name)
{
    struct adding *a = adding;
    add(a, name, strlen(name));
    return a->status == CW_OK;
}

/* Takes the names in `text`, with commas or blanks between them. */
static void split(struct adding *a, const char *text)
{
    static const char separators[] = ", \t\r\n";
    for (size_t length; a->status == CW_OK && *(text += strspn(text, separators)); text += length)
        add(a, text, length = strcspn(text, separators));
}

/* Takes the metrics of sets, with commas between the sets. */
static void add_sets(struct adding *a, const char *names, const struct counterworks_chip *chip,
                     struct counterworks_error *error)
{
    for (const char *at = names; a->status == CW_OK && error->status == COUNTERWORKS_OK && at; at = strchr(at, ',')) {
        at += *at == ',' && at != names;
        char *name = cw_arena_strndup(a->arena, at, strcspn(at, ","));
        if (name)
            counterworks_set_metrics(chip, name, take, a, error);
        else
            a->status = cw_error_nomem(a->err);
    }
}

/* Takes the names in a file; # begins a comment. */
static void add_file(struct adding *a, const char *path)
{
    struct cw_bytes file;
    a->status = cw_file_read(&file, path, LARGEST_LIST, a->err);
    char *text = (char *)file.data;
    if (text && memchr(text, 0, file.size))
        a->status = cw_error_set(a->err, CW_ERR_INPUT, "%s: found a NUL byte, expected names of metrics", path);
    for (char *comment = text; comment && (comment = strchr(comment, '#'));)
        memset(comment, ' ', strcspn(comment, "\n"));
    if (a->status == CW_OK && text)
        split(a, text + cw_utf8_mark(text, file.size));
    cw_bytes_free(&file);
}

enum cw_status cw_metric_list_add_all(struct counterworks_names *list, const struct counterworks_chip *chip,
                                      struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_error error;
    struct adding a = {.list = list, .arena = arena, .err = err};
    counterworks_metric_each(chip, COUNTERWORKS_PLANNED, take, &a, &error);
    return a.status == CW_OK ? cw_cli_take(&error, err) : a.status;
}

enum cw_status cw_metric_list_add_advice(struct counterworks_names *list, const struct counterworks_chip *chip,
                                         const char *rules, struct cw_arena *arena, struct cw_error *err)
{
    struct counterworks_error error;
    struct adding a = {.list = list, .arena = arena, .err = err};
    counterworks_advice_metrics(chip, rules, take, &a, &error);
    return a.status == CW_OK ? cw_cli_take(&error, err) : a.status;
}

enum cw_status cw_metric_list_gather(struct counterworks_names *list, const struct cw_metric_sources *sources,
                                     const struct counterworks_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    struct adding a = {.list = list, .arena = arena, .err = err};
    for (size_t i = 0; a.status == CW_OK && i < sources->count; i++) {
        struct counterworks_error error = {.status = COUNTERWORKS_OK};
        if (sources->items[i].kind == CW_METRIC_FILE)
            add_file(&a, sources->items[i].text);
        else if (sources->items[i].kind == CW_METRIC_SET)
            add_sets(&a, sources->items[i].text, chip, &error);
        else
            split(&a, sources->items[i].text);
        if (a.status == CW_OK)
            a.status = cw_cli_take(&error, err);
    }
    return a.status;
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
    {"set", 0, "A,B,...",
     "metric sets (\"counterworks sets\" lists them), sections of Nsight Compute, or a set's YAML file; may be "
     "repeated",
     CW_OPTION_TAKE(take_set)},
    {0},
};
