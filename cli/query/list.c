/* metric-query list: the metrics of a chip, one a line. */
#define _GNU_SOURCE
#include "cli/query/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/unit.h"
#include "metricdb/find.h"
#include "metricdb/term.h"

struct options {
    struct cw_cli_chip chip;
    int type; /* -1 for all */
    uint32_t listed;
    const char *unit, *search;
    char words[512]; /* to search for, with blanks between them */
    bool all;
    enum cw_query_format format;
};

struct list {
    const struct options *o;
    const struct cw_chip *chip;
    struct cw_find find;
    struct cw_found found;
};

static void read_type(void *type, char *text, struct argp_state *state)
{
    for (int i = 0; i < CW_ALL_TYPES_COUNT; i++)
        if (strcmp(text, cw_metric_type_text((enum cw_metric_type)i)) == 0) {
            *(int *)type = i;
            return;
        }
    cw_usage_error(state, "found the type '%s', expected counter, ratio, throughput, formula or fact", text);
}

static void add_word(void *options, char *word, struct argp_state *state)
{
    struct options *o = options;
    const size_t used = strlen(o->words);
    if (strlen(word) + used + 2 > sizeof o->words)
        cw_usage_error(state, "found more than %zu letters to search for", sizeof o->words - 2);
    snprintf(o->words + used, sizeof o->words - used, "%s%s", used ? " " : "", word);
}

static void check_words(void *options, struct argp_state *state)
{
    struct options *o = options;
    if (!*o->words)
        return;
    if (o->search)
        cw_usage_error(state, "found --search '%s' and '%s', expected one of them", o->search, o->words);
    o->search = o->words;
}

static void read_profiler(void *listed, char *text, struct argp_state *state)
{
    const bool pm = strcmp(text, "pm") == 0;
    if (!pm && strcmp(text, "range") != 0)
        cw_usage_error(state, "found the profiler '%s', expected range or pm", text);
    *(uint32_t *)listed = pm ? CW_OF_SAMPLES : CW_OF_RANGES;
}

static const struct cw_option option_list[] = {
    {"profiler", 0, "range|pm", "the metrics of range profiling (default), or of PM sampling, which has others as well",
     CW_OPTION_READ(struct options, listed, read_profiler)},
    {"type", 0, "TYPE", "only metrics of this type: counter, ratio, throughput, formula or fact",
     CW_OPTION_READ(struct options, type, read_type)},
    {"unit", 0, "UNIT", "only metrics of this unit, the part of their name before the two underscores (sm)",
     CW_OPTION_TEXT(struct options, unit)},
    {"search", 0, "TEXT", "the same as WORD... in one piece", CW_OPTION_TEXT(struct options, search)},
    {"all-submetrics", 0, NULL,
     "every full name, instead of one for each counter, ratio and throughput; text then has the names only",
     CW_OPTION_FLAG(struct options, all)},
    {"format", 0, "text|csv|json", "the form of the list (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct options, format)},
    {CW_OPTION_GROUP(struct options, chip, cw_cli_chip_options)},
    {CW_OPTION_TAKE(add_word)},
    {CW_OPTION_CHECK(check_words)},
    {0},
};

/* ---- choosing --------------------------------------------------------------------------------------------------- */

/* Samples have no facts. A formula can be sampled if all its counters can. */
static bool is_sampled(const struct list *l, const struct cw_metric *m)
{
    uint32_t count;
    const struct cw_metric *parts = m->type == CW_FORMULA ? cw_metric_parts(l->chip, m, &count) : NULL;
    for (uint32_t i = 0; parts && i < count; i++)
        if (parts[i].type == CW_FACT)
            return false;
    return parts && cw_metric_needs(&(struct cw_needs){.chip = l->chip, .listed = CW_OF_SAMPLES}, m, NULL) == CW_OK;
}

static bool is_listed(const struct list *l, enum cw_metric_type type, uint32_t base)
{
    if (type < CW_METRIC_TYPE_COUNT)
        return cw_chip_lists(l->chip, type, base, l->o->listed);
    return l->o->listed == CW_OF_RANGES || is_sampled(l, &(struct cw_metric){.type = type, .base = base});
}

/* The `wanted` of a search. */
static bool is_wanted(const void *list, enum cw_metric_type type, uint32_t base)
{
    const struct list *l = list;
    return (l->o->type < 0 || l->o->type == (int)type) && is_listed(l, type, base) &&
           (!l->o->unit || (type < CW_METRIC_TYPE_COUNT && cw_query_has_unit(l->chip, type, base, l->o->unit)));
}

static void print_sets(const struct cw_found *found)
{
    for (size_t i = 0; i < found->answer_count; i++)
        for (size_t k = 0; k < found->answers[i].set_count; k++)
            if (!cw_found_set_before(found, i, found->answers[i].sets[k]))
                cw_text_print(stderr, "%s: a set of metrics is about this, too: counterworks plan --set %s\n",
                              program_invocation_short_name, found->answers[i].sets[k]);
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

/* The rest of a full name behind its base name, with a newline. */
struct suffix {
    char text[80];
    size_t length;
};

/* Avoids formatting: the list may have a quarter of a million names. */
static void print_names(const struct list *l)
{
    struct suffix suffixes[CW_ALL_TYPES_COUNT][4 * CW_SUB_COUNTER_COUNT] = {0};
    for (size_t i = 0; i < l->found.count; i++) {
        const struct cw_found_metric *found = &l->found.metrics[i];
        struct suffix *suffix = &suffixes[found->type][found->variant];
        const char *base = cw_metric_base_name(l->chip, (enum cw_metric_type)found->type, found->base);
        if (!suffix->length) {
            char name[CW_METRIC_NAME_MAX];
            const struct cw_metric m = cw_found_metric(l->chip, found);
            cw_metric_name(l->chip, &m, name);
            suffix->length = (size_t)snprintf(suffix->text, sizeof suffix->text, "%s\n", name + strlen(base));
        }
        cw_text_put(stdout, CW_TEXT_LINE, base);
        fwrite_unlocked(suffix->text, 1, suffix->length, stdout);
    }
}

static void print_json(const char *name, const struct cw_metric *m, const char *dimension, const char *description,
                       bool first)
{
    fputs_unlocked(first ? "[\n{\"name\":" : ",\n{\"name\":", stdout);
    cw_query_put(CW_TEXT_JSON, name, ",\"type\":");
    cw_query_put(CW_TEXT_JSON, cw_metric_type_text(m->type), ",\"unit\":");
    cw_query_put(CW_TEXT_JSON, dimension, ",\"description\":");
    cw_query_put(CW_TEXT_JSON, description, "}");
}

static void print_csv(const char *name, const struct cw_metric *m, const char *dimension, const char *description)
{
    cw_query_put(CW_TEXT_CELL, name, ",");
    cw_query_put(CW_TEXT_CELL, cw_metric_type_text(m->type), ",");
    cw_query_put(CW_TEXT_CELL, dimension, ",");
    cw_query_put(CW_TEXT_CELL, description, "\n");
}

/* Puts the description under the name if the terminal has no room beside it. `width`: the longest name. */
static void print_for_people(const char *name, const char *type, const char *unit, const char *text, int width)
{
    enum { BETWEEN = 2 + 10 + 2 + 22 + 2, INDENT = 4 };
    const unsigned column = (unsigned)width + BETWEEN;
    char all[CW_DESCRIPTION_MAX + 256];
    const bool beside = cw_query_has_room(column);
    if (beside)
        cw_text_print(stdout, "%-*s  %-10s  %-22s  ", width, name, type, unit);
    else
        cw_text_print(stdout, "%s\n%*s", name, INDENT, "");
    snprintf(all, sizeof all, "%s%s%s%s%s", beside ? "" : type, beside || !*unit ? "" : ", ", beside ? "" : unit,
             beside ? "" : ": ", text);
    cw_text_put_words(stdout, all, strlen(all), beside ? column : INDENT, cw_text_width(STDOUT_FILENO));
    putc('\n', stdout);
}

static void print_row(const struct list *l, const struct cw_found_metric *found, const char *base_text, int width,
                      bool first)
{
    char name[CW_METRIC_NAME_MAX], dimension[128], variant[256], description[CW_DESCRIPTION_MAX + 256];
    char unit[CW_UNIT_SIZE];
    struct cw_metric m = cw_found_metric(l->chip, found);
    cw_metric_name(l->chip, &m, name);
    cw_metric_dimension(l->chip, &m, dimension, sizeof dimension);
    if (l->o->format == CW_QUERY_TEXT) {
        const char *type = cw_metric_type_text(m.type);
        if (width)
            print_for_people(name, type, cw_unit_or_one(dimension, unit), base_text, width);
        else
            cw_text_print(stdout, "%s\t%s\t%s\t%s\n", name, type, dimension, base_text);
        return;
    }
    if (m.type >= CW_METRIC_TYPE_COUNT)
        cw_describe_metric(l->find.glossary, l->chip, &m, description, sizeof description);
    else
        snprintf(description, sizeof description, "%s %s", base_text, cw_describe_variant(&m, variant, sizeof variant));
    if (l->o->format == CW_QUERY_JSON)
        print_json(name, &m, dimension, description, first);
    else
        print_csv(name, &m, dimension, description);
}

static int first_column(const struct list *l)
{
    int width = 0;
    for (size_t i = 0; isatty(STDOUT_FILENO) && i < l->found.count; i++) {
        char name[CW_METRIC_NAME_MAX];
        struct cw_metric m = cw_found_metric(l->chip, &l->found.metrics[i]);
        int length = (int)cw_text_columns(cw_metric_name(l->chip, &m, name));
        width = length > width ? length : width;
    }
    return width;
}

static void print_rows(const struct list *l)
{
    char text[CW_DESCRIPTION_MAX];
    const char *base_text = "";
    int width = l->o->format == CW_QUERY_TEXT ? first_column(l) : 0;
    if (l->o->format == CW_QUERY_CSV)
        puts("name,type,unit,description");
    for (size_t i = 0; i < l->found.count; i++) {
        const struct cw_found_metric *found = &l->found.metrics[i];
        if (i == 0 || found->type != found[-1].type || found->base != found[-1].base)
            base_text = cw_find_description(&l->find, (enum cw_metric_type)found->type, found->base, text);
        print_row(l, found, base_text, width, i == 0);
    }
    if (l->o->format == CW_QUERY_JSON)
        puts(l->found.count ? "\n]" : "[]");
}

static enum cw_status run(const void *options, struct counterworks_chip *handle, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct options *o = options;
    struct counterworks_error error;
    if (o->search) /* a legacy name of CUPTI counts as a metric; one without an equivalent is no error here */
        counterworks_chip_add_legacy(handle, &o->search, 1, &error);
    struct list l = {.o = o, .chip = handle->chip};
    l.find = (struct cw_find){.chip = l.chip, .text = o->search, .every = o->all, .wanted = is_wanted, .user = &l};
    CW_TRY(cw_chip_check_profiler(l.chip, o->listed == CW_OF_SAMPLES, err));
    const bool names = o->all && o->format == CW_QUERY_TEXT;
    if (!names || o->search)
        CW_TRY(cw_glossary_load(&l.find.glossary, arena, err));
    if (o->unit)
        CW_TRY(cw_query_check_unit(l.chip, o->unit, err));
    const enum cw_status status = cw_find_metrics(&l.found, &l.find, arena, err);
    if (status == CW_OK && !o->chip.quiet)
        print_sets(&l.found);
    if (status == CW_OK && names)
        print_names(&l);
    else if (status == CW_OK || status == CW_ERR_NOTHING)
        print_rows(&l);
    cw_found_free(&l.found);
    return status;
}

int cw_query_list(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "[WORD...]",
        "Lists the metrics of a chip: full name, type, unit of measure and meaning. Words find metrics that answer "
        "them "
        "(register spills), then metrics with all of the words in their name or description, the best match first. "
        "Words with one of ^ $ * + ? ( ) [ ] { } | \\ are a regular expression. Columns are separated by tabs where "
        "the "
        "list is not shown on a terminal.\v"
        "Example:\n  $0 --chip GH100 l2 hit rate",
        NULL, 0};
    struct options options = {.type = -1, .listed = CW_OF_RANGES};
    return cw_cli_run(&usage, argc, argv, &options, &options.chip, run);
}
