/* metric-query list: the metrics of a chip, one a line. */
#define _GNU_SOURCE
#include "cli/query/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/query/search.h"
#include "metricdb/answers.h"
#include "metricdb/formula.h"
#include "metricdb/glossary.h"
#include "metricdb/term.h"

enum { MOST_VARIANTS = 4 * CW_SUB_COUNTER_COUNT };

struct options {
    struct cw_cli_chip chip;
    int type; /* -1 for all */
    uint32_t listed;
    const char *unit, *search;
    char words[512]; /* to search for, with blanks between them */
    bool all;
    enum cw_query_format format;
};

/* A metric to print. */
struct row {
    uint32_t base, score, order; /* score: 0 without a search; order: of the database */
    uint16_t length;             /* of the full name: among equal matches, the shortest name comes first */
    uint8_t type, variant;       /* see cw_metric_variant; unused if `usual` is set */
    bool usual;                  /* the usual metric of its base name */
};

/* The rest of a full name behind its base name, with a newline, and the search's score in it and its description. */
struct suffix {
    char text[80];
    size_t length;
    struct cw_search_score score;
};

struct list {
    const struct options *o;
    const struct cw_chip *chip;
    const struct cw_glossary *glossary; /* NULL without descriptions */
    struct cw_search search;
    const struct cw_answer *answers; /* to the whole search; printed first */
    size_t answer_count;
    struct row *rows;
    size_t count, capacity;
    struct suffix suffixes[CW_ALL_TYPES_COUNT][MOST_VARIANTS]; /* with --all-submetrics */
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

static struct cw_metric metric_of(const struct list *l, const struct row *row)
{
    enum cw_metric_type type = (enum cw_metric_type)row->type;
    return row->usual ? cw_metric_usual(l->chip, type, row->base) : cw_metric_variant(type, row->base, row->variant);
}

static bool add_row(struct list *l, struct row row)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 4096;
        struct row *grown = realloc(l->rows, capacity * sizeof *grown);
        if (!grown)
            return false;
        l->rows = grown;
        l->capacity = capacity;
    }
    row.order = (uint32_t)l->count;
    l->rows[l->count++] = row;
    return true;
}

static void list_suffixes(struct list *l, enum cw_metric_type type)
{
    bool any = type < CW_METRIC_TYPE_COUNT && cw_chip_base_count(l->chip, type);
    size_t base = any ? strlen(cw_chip_base_name(l->chip, type, 0)) : 0;
    for (uint32_t v = 0; v < cw_metric_variants(type); v++) {
        char name[CW_METRIC_NAME_MAX] = "", text[256];
        struct suffix *suffix = &l->suffixes[type][v];
        struct cw_metric m = cw_metric_variant(type, 0, v);
        if (any) {
            cw_metric_name(l->chip, &m, name);
            if (!l->search.regular) /* an anchor refers to the whole name */
                cw_search_name(&l->search, name + base, &suffix->score);
            cw_search_description(&l->search, cw_describe_variant(&m, text, sizeof text), &suffix->score);
        }
        suffix->length = (size_t)snprintf(suffix->text, sizeof suffix->text, "%s\n", name + base);
    }
}

/* Whether an answer has printed the metric already. */
static bool is_answer(const struct list *l, const struct cw_metric *metric)
{
    for (size_t i = 0; i < l->answer_count; i++)
        for (size_t k = 0; k < l->answers[i].metric_count; k++)
            if (memcmp(&l->answers[i].metrics[k], metric, sizeof *metric) == 0)
                return true;
    return false;
}

/* Puts the n-th answer before everything that its words find, behind the exact name alone. */
static bool add_answer(struct list *l, const struct cw_metric *m, uint32_t n)
{
    struct row row = {.base = m->base, .score = UINT32_MAX - 1 - n, .type = (uint8_t)m->type};
    struct cw_metric at = cw_metric_variant(m->type, m->base, 0);
    while (memcmp(&at, m, sizeof at) != 0)
        at = cw_metric_variant(m->type, m->base, ++row.variant);
    return add_row(l, row);
}

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

static bool is_wanted(const struct list *l, const struct cw_metric *m)
{
    return (l->o->type < 0 || l->o->type == (int)m->type) && is_listed(l, m->type, m->base) &&
           (!l->o->unit ||
            (m->type < CW_METRIC_TYPE_COUNT && cw_query_has_unit(l->chip, m->type, m->base, l->o->unit)));
}

/* A regular expression, or a full name, is no question. */
static enum cw_status find_answers(struct list *l, bool *whole, struct cw_arena *arena, struct cw_error *err)
{
    *whole = false;
    if (l->search.regular || l->search.whole || l->o->all)
        return CW_OK;
    return cw_answers_find(&l->answers, &l->answer_count, whole, l->o->search, NULL, l->chip, arena, err);
}

static enum cw_status begin_search(struct list *l, struct cw_arena *arena, struct cw_error *err)
{
    bool small[CW_SEARCH_WORDS] = {false};
    enum cw_status status = cw_search_init(&l->search, l->o->search, err);
    if (status != CW_OK || l->search.regular)
        return status;
    status = cw_answers_small(small, l->search.words, l->search.count, NULL, arena, err);
    cw_search_forget(&l->search, small);
    cw_search_understand(&l->search, l->glossary);
    return status;
}

/* `score` is the value of the words in the base name and its description. */
static bool add_found(struct list *l, struct row row, struct cw_search_score score)
{
    char name[CW_METRIC_NAME_MAX];
    struct cw_metric m = metric_of(l, &row);
    if (l->o->all)
        cw_search_raise(&l->search, &l->suffixes[row.type][row.variant].score, &score);
    if (!l->o->all || l->search.whole)
        cw_search_name(&l->search, cw_metric_name(l->chip, &m, name), &score);
    row.score = is_answer(l, &m) ? 0 : cw_search_total(&l->search, &score);
    if (row.score && strcasecmp(cw_metric_name(l->chip, &m, name), l->o->search) == 0)
        row.score = UINT32_MAX;
    if (row.score && !l->search.regular)
        row.length = (uint16_t)strlen(cw_metric_name(l->chip, &m, name));
    return !row.score || add_row(l, row);
}

static const char *describe_base(const struct list *l, enum cw_metric_type type, uint32_t base, char *text)
{
    const char *remark = cw_metric_remark(l->chip, type, base);
    return !remark   ? cw_describe(l->glossary, l->chip, type, base, text, CW_DESCRIPTION_MAX)
           : *remark ? remark
                     : l->chip->formulas->items[base].text;
}

static bool choose_base(struct list *l, enum cw_metric_type type, uint32_t base)
{
    char text[CW_DESCRIPTION_MAX];
    struct cw_search_score score = {{0}};
    uint32_t variants = l->o->all ? cw_metric_variants(type) : 1;
    bool ok = true;
    if (l->o->search) {
        cw_search_description(&l->search, describe_base(l, type, base, text), &score);
        cw_search_name(&l->search, cw_metric_base_name(l->chip, type, base), &score);
    }
    for (uint32_t v = 0; ok && v < variants; v++) {
        struct row row = {.base = base,
                          .type = (uint8_t)type,
                          .variant = (uint8_t)v,
                          .usual = !l->o->all && type < CW_METRIC_TYPE_COUNT};
        ok = l->o->search ? add_found(l, row, score) : add_row(l, row);
    }
    return ok;
}

static int by_score(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool add_answers(struct list *l)
{
    uint32_t n = 0;
    bool ok = true;
    for (size_t i = 0; i < l->answer_count; i++)
        for (size_t k = 0; ok && k < l->answers[i].metric_count; k++)
            if (is_wanted(l, &l->answers[i].metrics[k]))
                ok = add_answer(l, &l->answers[i].metrics[k], n++);
    return ok;
}

static bool told_before(const struct list *l, size_t answer, const char *set)
{
    bool told = false;
    for (size_t i = 0; i < answer; i++)
        for (size_t k = 0; k < l->answers[i].set_count; k++)
            told = told || strcmp(l->answers[i].sets[k], set) == 0;
    return told;
}

/* Prints sets that answer the search, or, without any result, the reason. */
static enum cw_status tell_answers(const struct list *l, struct cw_arena *arena, struct cw_error *err)
{
    bool told = false;
    for (size_t i = 0; i < l->answer_count; i++) {
        const struct cw_answer *a = &l->answers[i];
        for (size_t k = 0; k < a->set_count; k++)
            if (!l->o->chip.quiet && !told_before(l, i, a->sets[k]))
                cw_text_print(stderr, "%s: a set of metrics is about this, too: metric-config --set %s\n",
                              program_invocation_short_name, a->sets[k]);
        if (a->says && !l->count)
            cw_error_set(err, CW_ERR_NOTHING, "%s", a->says);
        told = told || a->set_count;
    }
    if (l->count || told || !l->o->search)
        return CW_OK;
    if (err->code == CW_OK && !cw_search_unknown(&l->search, false, l->chip, l->glossary, arena, err))
        cw_error_set(err, CW_ERR_NOTHING, "no metric of %s has %s", l->chip->name,
                     l->search.regular ? "a match of the regular expression" : "all these words");
    return err->code;
}

static enum cw_status choose(struct list *l, struct cw_arena *arena, struct cw_error *err)
{
    bool ok = true, whole = false;
    CW_TRY(l->o->search ? find_answers(l, &whole, arena, err) : CW_OK);
    size_t partial = whole ? 0 : l->answer_count; /* answers from sets need no metric */
    l->answer_count -= partial;
    for (int t = 0; t < CW_ALL_TYPES_COUNT; t++) {
        enum cw_metric_type type = (enum cw_metric_type)t;
        list_suffixes(l, type);
        if ((l->o->type >= 0 && l->o->type != t) || (type >= CW_METRIC_TYPE_COUNT && l->o->unit))
            continue;
        for (uint32_t i = 0; ok && i < cw_metric_base_count(l->chip, type); i++)
            if (is_listed(l, type, i) && (!l->o->unit || cw_query_has_unit(l->chip, type, i, l->o->unit)))
                ok = choose_base(l, type, i);
    }
    if (!l->count && partial && !cw_search_unknown(&l->search, true, l->chip, l->glossary, arena, err))
        l->answer_count += partial;
    if (!ok || !add_answers(l))
        return cw_error_nomem(err);
    if (l->o->search && l->count)
        qsort(l->rows, l->count, sizeof *l->rows, by_score);
    return CW_OK;
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

/* Avoids formatting: the list may have a quarter of a million names. */
static void print_names(const struct list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct row *row = &l->rows[i];
        const struct suffix *suffix = &l->suffixes[row->type][row->variant];
        const char *base = cw_metric_base_name(l->chip, (enum cw_metric_type)row->type, row->base);
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

static void print_row(const struct list *l, const struct row *row, const char *base_text, int width, bool first)
{
    char name[CW_METRIC_NAME_MAX], dimension[128], variant[256], description[CW_DESCRIPTION_MAX + 256];
    struct cw_metric m = metric_of(l, row);
    cw_metric_name(l->chip, &m, name);
    cw_metric_dimension(l->chip, &m, dimension, sizeof dimension);
    if (l->o->format == CW_QUERY_TEXT) {
        const char *type = cw_metric_type_text(m.type);
        if (width)
            print_for_people(name, type, dimension, base_text, width);
        else
            cw_text_print(stdout, "%s\t%s\t%s\t%s\n", name, type, dimension, base_text);
        return;
    }
    if (m.type >= CW_METRIC_TYPE_COUNT)
        cw_describe_metric(l->glossary, l->chip, &m, description, sizeof description);
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
    for (size_t i = 0; isatty(STDOUT_FILENO) && i < l->count; i++) {
        char name[CW_METRIC_NAME_MAX];
        struct cw_metric m = metric_of(l, &l->rows[i]);
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
    for (size_t i = 0; i < l->count; i++) {
        const struct row *row = &l->rows[i];
        if (i == 0 || row->type != row[-1].type || row->base != row[-1].base)
            base_text = describe_base(l, (enum cw_metric_type)row->type, row->base, text);
        print_row(l, row, base_text, width, i == 0);
    }
    if (l->o->format == CW_QUERY_JSON)
        puts(l->count ? "\n]" : "[]");
}

static enum cw_status run(const void *options, struct counterworks_chip *handle, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct options *o = options;
    struct counterworks_error error;
    if (o->search) /* a legacy name of CUPTI counts as a metric; one without an equivalent is no error here */
        counterworks_chip_add_legacy(handle, &o->search, 1, &error);
    struct list l = {.o = o, .chip = handle->chip};
    bool names = o->all && o->format == CW_QUERY_TEXT;
    enum cw_status status = CW_OK;
    if (!(names && !o->search))
        status = cw_glossary_load(&l.glossary, arena, err);
    if (status == CW_OK && o->unit)
        status = cw_query_check_unit(l.chip, o->unit, err);
    if (status == CW_OK && o->search)
        status = begin_search(&l, arena, err);
    if (status != CW_OK)
        return status;
    status = choose(&l, arena, err);
    enum cw_status found = status == CW_OK ? tell_answers(&l, arena, err) : status;
    if (status == CW_OK && names)
        print_names(&l);
    else if (status == CW_OK)
        print_rows(&l);
    if (o->search)
        cw_search_finish(&l.search);
    free(l.rows);
    return found;
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
