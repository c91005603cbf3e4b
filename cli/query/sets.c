/* metric-query sets: the metric sets and their metrics. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/query/query.h"
#include "json/json_tree.h"
#include "metricdb/glossary.h"
#include "metricdb/set.h"

struct options {
    struct cw_cli_chip chip; /* needs neither a name nor a file */
    char *const *names;
    size_t count;
    bool as_json;
};

static const struct cw_option option_list[] = {
    {"chip", 'c', "NAME", "take the alternatives of this chip, or of the chip of a product",
     CW_OPTION_TEXT(struct options, chip.name)},
    {"chip-of", 0, "FILE", "take the alternatives of the chip of a capture or a plan",
     CW_OPTION_TEXT(struct options, chip.of)},
    {"format", 0, "text|json", "the form of the list (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct options, as_json)},
    {CW_OPTION_GROUP(struct options, chip.quiet, cw_cli_quiet_options)},
    {CW_OPTION_WORDS(struct options, names, count)},
    {0},
};

struct sets {
    const struct options *o;
    const struct cw_chip *chip; /* NULL: no name given */
    const struct cw_glossary *glossary;
    json_t *list;
    struct cw_arena *arena;
    struct cw_error *err;
};

/* The chip's name for it; "" without a chip. */
static const char *describe(const struct sets *s, const char *name, char text[CW_DESCRIPTION_MAX])
{
    struct cw_metric m;
    *text = 0;
    if (s->chip && name && cw_metric_parse(&m, s->chip, name, NULL) == CW_OK)
        cw_describe_metric(s->glossary, s->chip, &m, text, CW_DESCRIPTION_MAX);
    return text;
}

/* The alternatives to the chosen metric, a line each. */
static void print_others(const struct cw_set_entry *e)
{
    for (size_t i = e->taken ? 0 : 1; i < e->count; i++)
        if (e->names[i] != e->taken)
            cw_text_print(stdout, "\n    else %s", e->names[i]);
}

static void print_entry(const struct sets *s, const struct cw_set_entry *e, int width)
{
    enum { INDENT = 6 };
    const unsigned column = (unsigned)width + 4;
    char text[CW_DESCRIPTION_MAX];
    if (s->chip && e->taken) {
        describe(s, e->taken, text);
        if (cw_query_has_room(column))
            cw_text_print(stdout, "  %-*s  ", width, e->taken);
        else
            cw_text_print(stdout, "  %s\n%*s", e->taken, INDENT, "");
        cw_text_put_words(stdout, text, strlen(text), cw_query_has_room(column) ? column : INDENT,
                          cw_text_width(STDOUT_FILENO));
    } else if (s->chip) {
        cw_text_print(stdout, "  %-*s  %s does not have it", width, e->names[0], s->chip->name);
    } else {
        cw_text_print(stdout, "  %s", e->taken);
    }
    if (!s->chip || !e->taken)
        print_others(e);
    fputc('\n', stdout);
}

static int widest(const struct cw_set *set)
{
    size_t width = 0;
    for (size_t i = 0; i < set->entry_count; i++) {
        const struct cw_set_entry *e = &set->entries[i];
        size_t length = cw_text_columns(e->taken ? e->taken : e->names[0]);
        width = length > width ? length : width;
    }
    return (int)width;
}

static void print_set(const struct sets *s, const struct cw_set *set)
{
    const int width = widest(set);
    cw_text_print(stdout, "%s: %s\n", set->name, set->title);
    for (size_t i = 0; i < set->entry_count; i++)
        print_entry(s, &set->entries[i], width);
    for (size_t i = 0; i < set->section_count; i++)
        cw_text_print(stdout, "%s%s", i ? ", " : "In Nsight Compute: ", set->sections[i]);
    if (set->section_count)
        fputc('\n', stdout);
}

static json_t *entry_json(const struct sets *s, const struct cw_set_entry *e)
{
    char text[CW_DESCRIPTION_MAX];
    json_t *names = json_array();
    for (size_t i = 0; i < e->count; i++)
        cw_json_append(&names, json_string(e->names[i]));
    json_t *object = json_pack("{s:s?, s:o}", "name", e->taken, "alternatives", names);
    if (*describe(s, e->taken, text))
        cw_json_set(&object, "description", json_string(text));
    return object;
}

static void add_json(struct sets *s, const struct cw_set *set, bool whole)
{
    json_t *metrics = json_array();
    for (size_t i = 0; i < set->entry_count && whole; i++)
        cw_json_append(&metrics, entry_json(s, &set->entries[i]));
    json_t *object =
        json_pack("{s:s, s:s, s:I}", "name", set->name, "title", set->title, "count", (json_int_t)set->entry_count);
    if (whole)
        cw_json_set(&object, "metrics", metrics);
    else
        json_decref(metrics);
    cw_json_append(&s->list, object);
}

static void print_title(const struct cw_set *set)
{
    enum { COLUMN = 32 };
    cw_text_print(stdout, "%-18s %3zu metrics  ", set->name, set->entry_count);
    cw_text_put_words(stdout, set->title, strlen(set->title), COLUMN, cw_text_width(STDOUT_FILENO));
    putc('\n', stdout);
}

static enum cw_status one_set(struct sets *s, const char *name, bool whole)
{
    struct cw_set set;
    CW_TRY(cw_set_load(&set, NULL, name, s->chip, s->arena, s->err));
    if (s->o->as_json)
        add_json(s, &set, whole);
    else if (whole)
        print_set(s, &set);
    else
        print_title(&set);
    return CW_OK;
}

static enum cw_status print_all(struct sets *s)
{
    const char *const *names = (const char *const *)s->o->names;
    size_t count = s->o->count;
    bool whole = count > 0;
    enum cw_status status = whole ? CW_OK : cw_set_list(&names, &count, NULL, s->arena, s->err);
    s->list = s->o->as_json ? json_array() : NULL;
    for (size_t i = 0; i < count && status == CW_OK; i++)
        status = one_set(s, names[i], whole);
    if (status == CW_OK && s->o->as_json) {
        status = cw_json_print(s->list, JSON_INDENT(1), stdout, s->err);
        fputc('\n', stdout);
        return status;
    }
    json_decref(s->list);
    return status;
}

static enum cw_status run(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                          struct cw_error *err)
{
    struct sets s = {.o = options, .arena = arena, .err = err};
    enum cw_status status = s.o->chip.name || s.o->chip.of ? cw_cli_chip_open(&chip, &s.o->chip, err) : CW_OK;
    s.chip = chip ? chip->chip : NULL;
    if (status == CW_OK && s.chip)
        status = cw_glossary_load(&s.glossary, arena, err);
    if (status == CW_OK)
        status = print_all(&s);
    counterworks_chip_close(chip);
    return status;
}

int cw_query_sets(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "[NAME...]",
        "Lists the metric sets, for --set of metric-config and metric-eval, or the metrics of the sets that are named. "
        "Of alternatives a chip takes the first that it has.\v"
        "Example:\n  $0\n  $0 speed-of-light --chip GH100"};
    struct options options = {0};
    return cw_cli_run(&usage, argc, argv, &options, NULL, run);
}
