#define _GNU_SOURCE
#include "cli/common/metric_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/usage.h"
#include "metricdb/formula.h"
#include "metricdb/set.h"
#include "metricdb/term.h"

enum { LARGEST_LIST = 64 << 20, KEY_FILE = 512, KEY_SET };

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

/* One line for what the chip cannot give, which is no error: sets are made for many chips. */
static void say_missing(const struct cw_set *set, const struct cw_chip *chip)
{
    cw_text_print(stderr, "%s: the set %s: %s cannot give %zu of its %zu metrics:", program_invocation_short_name,
                  set->name, chip->name, set->missing_count, set->missing_count + set->metric_count);
    for (size_t i = 0; i < set->missing_count; i++)
        cw_text_print(stderr, "%s %s", i ? "," : "", set->missing[i].name);
    fputc('\n', stderr);
}

static enum cw_status add_set(struct cw_metric_list *list, const char *set_name, const struct cw_chip *chip,
                              struct cw_arena *arena, struct cw_error *err)
{
    struct cw_set set;
    enum cw_status status = cw_set_load(&set, set_name, chip, arena, err);
    if (status == CW_OK && set.missing_count)
        say_missing(&set, chip);
    for (size_t i = 0; status == CW_OK && i < set.metric_count; i++)
        status = add(list, set.metrics[i], strlen(set.metrics[i]), arena, err);
    return status;
}

enum cw_status cw_metric_list_gather(struct cw_metric_list *list, const struct cw_metric_sources *sources,
                                     const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < sources->count; i++) {
        const char *text = sources->items[i].text;
        status = sources->items[i].key == KEY_FILE  ? add_file(list, text, arena, err)
                 : sources->items[i].key == KEY_SET ? add_set(list, text, chip, arena, err)
                                                    : split(list, text, ", \t\r\n", arena, err);
    }
    return status;
}

/* ---- every metric ----------------------------------------------------------------------------------------------- */

enum { MOST_TOLD = 3 };

struct all {
    struct cw_metric_list *list;
    const struct cw_chip *chip;
    struct cw_arena *arena;
    struct cw_error *err;
    bool *collected; /* which raw counters some pass can hold */
    bool placed;     /* each raw counter of the metric looked at is among them */
    size_t left_out; /* and the names of the first of them */
    char names[MOST_TOLD][CW_METRIC_NAME_MAX];
};

static void see_placement(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    struct all *a = context;
    const struct cw_list *raws = &a->chip->counters[counter].raws;
    for (uint32_t i = 0; i < raws->count; i++)
        a->placed = a->placed && a->collected[raws->items[i]];
}

/* A raw counter needs a placement that no limit bans. */
static enum cw_status find_collected(struct all *a)
{
    const struct cw_chip *chip = a->chip;
    bool *banned = cw_arena_alloc(a->arena, chip->placement_count, sizeof *banned);
    a->collected = cw_arena_alloc(a->arena, chip->raw_count, sizeof *a->collected);
    if (!banned || !a->collected)
        return cw_error_nomem(a->err);
    for (uint32_t i = 0; i < chip->limit_count; i++)
        for (uint32_t k = 0; chip->limits[i].max == 0 && k < chip->limits[i].count; k++)
            banned[chip->limits[i].members[k]] = true;
    for (uint32_t p = 0; p < chip->placement_count; p++)
        a->collected[chip->placements[p].raw] |= !banned[p];
    return CW_OK;
}

static enum cw_status add_metric(struct all *a, struct cw_metric m)
{
    char name[CW_METRIC_NAME_MAX];
    a->placed = true;
    cw_metric_name(a->chip, &m, name);
    enum cw_status status =
        cw_metric_needs(&(struct cw_needs){.chip = a->chip, .add = see_placement, .context = a}, &m, NULL);
    if (status == CW_ERR_NOMEM)
        return cw_error_nomem(a->err);
    if (status == CW_OK && a->placed)
        return add(a->list, name, strlen(name), a->arena, a->err);
    if (a->left_out++ < MOST_TOLD)
        memcpy(a->names[a->left_out - 1], name, sizeof name);
    return CW_OK;
}

static enum cw_status add_base(struct all *a, enum cw_metric_type type, uint32_t base)
{
    const struct cw_metric peak = {.type = type, .base = base, .sub = CW_SUB_PEAK};
    enum cw_status status = add_metric(a, cw_metric_usual(a->chip, type, base));
    bool derived = type == CW_COUNTER && a->chip->counters[base].terms.count;
    return status == CW_OK && derived ? add_metric(a, peak) : status;
}

enum cw_status cw_metric_list_add_all(struct cw_metric_list *list, const struct cw_chip *chip, struct cw_arena *arena,
                                      struct cw_error *err)
{
    struct all a = {.list = list, .chip = chip, .arena = arena, .err = err};
    enum cw_status status = find_collected(&a);
    for (enum cw_metric_type type = CW_COUNTER; type < CW_METRIC_TYPE_COUNT; type++)
        for (uint32_t i = 0; status == CW_OK && i < cw_chip_base_count(chip, type); i++)
            status = add_base(&a, type, i);
    for (uint32_t i = 0; chip->formulas && status == CW_OK && i < chip->formulas->count; i++)
        status = add_metric(&a, (struct cw_metric){.type = CW_FORMULA, .base = i});
    if (status != CW_OK || !a.left_out)
        return status;
    cw_text_print(stderr,
                  "%s: left out %zu of the metrics of %s, for which no formula is known or which nothing collects:",
                  program_invocation_short_name, a.left_out, chip->name);
    for (size_t i = 0; i < a.left_out && i < MOST_TOLD; i++)
        cw_text_print(stderr, "%s %s", i ? "," : "", a.names[i]);
    fputs(a.left_out > MOST_TOLD ? ", ...\n" : "\n", stderr);
    return CW_OK;
}

/* ---- command line ----------------------------------------------------------------------------------------------- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cw_metric_sources *sources = state->input;
    if (key != 'm' && key != KEY_FILE && key != KEY_SET)
        return ARGP_ERR_UNKNOWN;
    if (sources->count == CW_METRIC_SOURCES_MAX)
        cw_usage_error(state, "found more than %d metric options", CW_METRIC_SOURCES_MAX);
    sources->items[sources->count].key = key;
    sources->items[sources->count++].text = arg;
    return 0;
}

static const struct argp_option options[] = {
    {"metrics", 'm', "A,B,...", 0, "metrics by full name; may be repeated", 0},
    {"metrics-file", KEY_FILE, "FILE", 0, "metrics, one a line; # starts a comment", 0},
    {"set", KEY_SET, "NAME", 0, "a metric set (metric-query sets lists them), or a set's YAML file", 0},
    {0},
};

const struct argp cw_metric_sources_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

void cw_metric_list_free(struct cw_metric_list *list)
{
    free(list->names);
    *list = (struct cw_metric_list){0};
}
