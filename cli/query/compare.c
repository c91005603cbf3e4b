/* metric-query compare: differences between two chips. */
#define _GNU_SOURCE
#include "cli/query/query.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
struct options {
    size_t count;
    struct cw_cli_chip chips[2];
    const char *unit;
    bool json;
};

struct compared {
    const struct options *o;
    const struct cw_chip *a, *b;
    uint32_t came, went, changed, same, printed;
};

static struct cw_cli_chip *next_chip(struct options *o, const struct argp_state *state)
{
    if (o->count == 2)
        cw_usage_error(state, "found a third chip, expected two");
    return &o->chips[o->count++];
}

static void take_chip(void *options, char *name, struct argp_state *state)
{
    next_chip(options, state)->name = name;
}

static void take_file(void *options, char *path, struct argp_state *state)
{
    next_chip(options, state)->file = path;
}

static void check_options(void *options, struct argp_state *state)
{
    struct options *o = options;
    o->chips[1].quiet = o->chips[0].quiet;
    if (o->count != 2)
        cw_usage_error(state, "found %zu chips, expected two of --chip or --chip-file", o->count);
}

static const struct cw_option option_list[] = {
    {"chip", 'c', "NAME", "a chip (\"counterworks chips\" lists them); twice", CW_OPTION_TAKE(take_chip)},
    {"chip-file", 0, "FILE", "a chip's YAML file, instead of a --chip", CW_OPTION_TAKE(take_file)},
    {"unit", 0, "UNIT", "only metrics of this unit, the part of their name before the two underscores (sm)",
     CW_OPTION_TEXT(struct options, unit)},
    {CW_OPTION_GROUP(struct options, chips[0].quiet, cw_cli_quiet_options)},
    {"format", 0, "text|json", "the form of the comparison (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct options, json)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

/* ---- differences ------------------------------------------------------------------------------------------------ */

enum { MOST_DIFFERENCES = 16, LONGEST_VALUE = 512 };

struct difference {
    const char *what;
    char from[LONGEST_VALUE], to[LONGEST_VALUE];
};

struct differences {
    size_t count;
    struct difference items[MOST_DIFFERENCES];
};

static void note_texts(struct differences *d, const char *what, const char *from, const char *to)
{
    if (strcmp(from, to) == 0 || d->count == MOST_DIFFERENCES)
        return;
    struct difference *new = &d->items[d->count++];
    new->what = what;
    snprintf(new->from, sizeof new->from, "%s", from);
    snprintf(new->to, sizeof new->to, "%s", to);
}

/* A number that one file does not know is no difference. */
static void note_numbers(struct differences *d, const char *what, double from, double to)
{
    char texts[2][40];
    if (isnan(from) || isnan(to) || from == to)
        return;
    snprintf(texts[0], sizeof texts[0], "%.10g", from);
    snprintf(texts[1], sizeof texts[1], "%.10g", to);
    note_texts(d, what, texts[0], texts[1]);
}

static const char *counter_name(const struct cw_chip *chip, uint32_t counter)
{
    return counter == CW_NONE ? "none" : chip->counters[counter].name;
}

struct named_list {
    const struct cw_chip *chip;
    const struct cw_list *list;
    enum cw_metric_type type; /* CW_METRIC_TYPE_COUNT for raw counters */
};

static const char *item_name(const struct named_list *of, uint32_t i, char *buffer, size_t size)
{
    uint32_t index = of->list->items[i];
    if (of->type < CW_METRIC_TYPE_COUNT)
        return cw_chip_base_name(of->chip, of->type, index);
    snprintf(buffer, size, "0x%016" PRIx64, of->chip->raws[index].id);
    return buffer;
}

static bool has_item(const struct named_list *of, const char *name)
{
    char buffer[32];
    for (uint32_t i = 0; i < of->list->count; i++)
        if (strcmp(item_name(of, i, buffer, sizeof buffer), name) == 0)
            return true;
    return false;
}

/* Lists items that only `of` has, as many as fit. */
static void name_missing(const struct named_list *of, const struct named_list *other, char *text)
{
    size_t used = 0;
    uint32_t left = 0;
    char buffer[32];
    *text = 0;
    for (uint32_t i = 0; i < of->list->count; i++) {
        const char *name = item_name(of, i, buffer, sizeof buffer);
        if (has_item(other, name))
            continue;
        if (used + strlen(name) + 24 > LONGEST_VALUE)
            left++;
        else
            used += (size_t)snprintf(text + used, LONGEST_VALUE - used, "%s%s", used ? " " : "", name);
    }
    if (left)
        snprintf(text + used, LONGEST_VALUE - used, " and %" PRIu32 " more", left);
}

static void note_lists(struct differences *d, const char *what, const struct named_list *a, const struct named_list *b)
{
    char from[LONGEST_VALUE], to[LONGEST_VALUE];
    name_missing(a, b, from);
    name_missing(b, a, to);
    note_texts(d, what, from, to);
}

static void compare_ratios(struct differences *d, const struct cw_chip *a, uint32_t i, const struct cw_chip *b,
                           uint32_t k)
{
    const struct cw_ratio *x = &a->ratios[i], *y = &b->ratios[k];
    note_texts(d, "numerator", counter_name(a, x->numerator), counter_name(b, y->numerator));
    note_texts(d, "denominator", counter_name(a, x->denominator), counter_name(b, y->denominator));
    note_numbers(d, "scale", x->scale, y->scale);
    note_numbers(d, "largest rate", x->max_rate, y->max_rate);
}

static void compare_throughputs(struct differences *d, const struct cw_chip *a, uint32_t i, const struct cw_chip *b,
                                uint32_t k)
{
    const struct cw_throughput *x = &a->throughputs[i], *y = &b->throughputs[k];
    note_lists(d, "counters", &(struct named_list){a, &x->counters, CW_COUNTER},
               &(struct named_list){b, &y->counters, CW_COUNTER});
    note_lists(d, "throughputs", &(struct named_list){a, &x->throughputs, CW_THROUGHPUT},
               &(struct named_list){b, &y->throughputs, CW_THROUGHPUT});
}

static void compare_bases(struct differences *d, const struct cw_chip *a, enum cw_metric_type type, uint32_t i,
                          const struct cw_chip *b, enum cw_metric_type type_b, uint32_t k)
{
    const struct cw_query_base of_a = cw_query_base(a, type, i), of_b = cw_query_base(b, type_b, k);
    d->count = 0;
    note_texts(d, "type", cw_metric_type_text(type), cw_metric_type_text(type_b));
    note_texts(d, "unit", a->units[of_a.unit].name, b->units[of_b.unit].name);
    note_texts(d, "measured in", of_a.dimension, of_b.dimension);
    if (type != type_b)
        return;
    if (type == CW_COUNTER) {
        const struct cw_counter *x = &a->counters[i], *y = &b->counters[k];
        note_numbers(d, "peak", x->peak, y->peak);
        note_texts(d, "active cycles", counter_name(a, x->active), counter_name(b, y->active));
        note_lists(d, "terms", &(struct named_list){a, &x->terms, CW_COUNTER},
                   &(struct named_list){b, &y->terms, CW_COUNTER});
        note_texts(d, "elapsed cycles", counter_name(a, x->elapsed), counter_name(b, y->elapsed));
    } else if (type == CW_RATIO) {
        compare_ratios(d, a, i, b, k);
    } else {
        compare_throughputs(d, a, i, b, k);
    }
    note_lists(d, "raw counters", &(struct named_list){a, of_a.raws, CW_METRIC_TYPE_COUNT},
               &(struct named_list){b, of_b.raws, CW_METRIC_TYPE_COUNT});
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static void print_text(char sign, const char *name, const char *type, const struct differences *d)
{
    cw_text_print(stdout, "%c %s\t%s", sign, name, type);
    for (size_t i = 0; d && i < d->count; i++) {
        const struct difference *x = &d->items[i];
        fputs(i ? "; " : "\t", stdout);
        cw_text_print(stdout, "%s: %s -> %s", x->what, *x->from ? x->from : "nothing", *x->to ? x->to : "nothing");
    }
    putchar('\n');
}

static void print_json(struct compared *c, const char *name, const char *type, const struct differences *d)
{
    fputs(c->printed++ ? ",\n{\"name\":" : "\n{\"name\":", stdout);
    cw_query_put(CW_TEXT_JSON, name, ",\"type\":");
    cw_query_put(CW_TEXT_JSON, type, d ? ",\"changes\":[" : "}");
    for (size_t i = 0; d && i < d->count; i++) {
        fputs(i ? ",{\"what\":" : "{\"what\":", stdout);
        cw_query_put(CW_TEXT_JSON, d->items[i].what, ",\"from\":");
        cw_query_put(CW_TEXT_JSON, d->items[i].from, ",\"to\":");
        cw_query_put(CW_TEXT_JSON, d->items[i].to, "}");
    }
    fputs(d ? "]}" : "", stdout);
}

static void print(struct compared *c, char sign, const char *name, enum cw_metric_type type,
                  const struct differences *d)
{
    if (c->o->json)
        print_json(c, name, cw_metric_type_text(type), d);
    else
        print_text(sign, name, cw_metric_type_text(type), d);
}

/* ---- going through both ----------------------------------------------------------------------------------------- */

static bool wanted(const struct compared *c, const struct cw_chip *chip, enum cw_metric_type type, uint32_t i)
{
    return cw_chip_lists(chip, type, i, CW_OF_RANGES) && (!c->o->unit || cw_query_has_unit(chip, type, i, c->o->unit));
}

/* Lists items that `in` has and `other` lacks. */
static uint32_t print_only(struct compared *c, char sign, const struct cw_chip *in, const struct cw_chip *other)
{
    uint32_t n = 0, index;
    enum cw_metric_type found;
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(in, (enum cw_metric_type)t); i++) {
            const char *name = cw_chip_base_name(in, (enum cw_metric_type)t, i);
            if (!wanted(c, in, (enum cw_metric_type)t, i) || cw_chip_find(other, name, strlen(name), &found, &index))
                continue;
            print(c, sign, name, (enum cw_metric_type)t, NULL);
            n++;
        }
    return n;
}

static void print_changed(struct compared *c)
{
    struct differences d;
    enum cw_metric_type found;
    uint32_t index;
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(c->a, (enum cw_metric_type)t); i++) {
            const char *name = cw_chip_base_name(c->a, (enum cw_metric_type)t, i);
            if (!wanted(c, c->a, (enum cw_metric_type)t, i) || !cw_chip_find(c->b, name, strlen(name), &found, &index))
                continue;
            compare_bases(&d, c->a, (enum cw_metric_type)t, i, c->b, found, index);
            if (d.count)
                print(c, '~', name, (enum cw_metric_type)t, &d);
            c->changed += d.count > 0;
            c->same += !d.count;
        }
}

static void section(struct compared *c, const char *json)
{
    c->printed = 0;
    if (c->o->json)
        fputs(json, stdout);
}

static void print_all(struct compared *c)
{
    if (c->o->json) {
        fputs("{\"from\":", stdout);
        cw_query_put(CW_TEXT_JSON, c->a->name, ",\"to\":");
        cw_query_put(CW_TEXT_JSON, c->b->name, ",");
    }
    section(c, "\"came\":[");
    c->came = print_only(c, '+', c->b, c->a);
    section(c, "],\n\"went\":[");
    c->went = print_only(c, '-', c->a, c->b);
    section(c, "],\n\"changed\":[");
    print_changed(c);
    if (c->o->json)
        cw_text_print(stdout, "],\n\"same\":%" PRIu32 "}\n", c->same);
    else
        cw_text_print(stdout,
                      "# %s to %s: %" PRIu32 " came, %" PRIu32 " went, %" PRIu32 " changed, %" PRIu32 " are the same\n",
                      c->a->name, c->b->name, c->came, c->went, c->changed, c->same);
}

static enum cw_status compare(const struct options *o, const struct cw_chip *a, const struct cw_chip *b,
                              struct cw_error *err)
{
    struct compared c = {.o = o, .a = a, .b = b};
    enum cw_status status = CW_OK;
    if (o->unit && cw_query_check_unit(a, o->unit, NULL) != CW_OK)
        status = cw_query_check_unit(b, o->unit, err);
    if (status == CW_OK)
        print_all(&c);
    return status;
}

static enum cw_status run(const void *options, struct counterworks_chip *handle, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct options *o = options;
    struct counterworks_chip *chips[2] = {NULL};
    (void)handle, (void)arena;
    enum cw_status status = cw_cli_chip_open(&chips[0], &o->chips[0], err);
    if (status == CW_OK)
        status = cw_cli_chip_open(&chips[1], &o->chips[1], err);
    if (status == CW_OK)
        status = compare(o, chips[0]->chip, chips[1]->chip, err);
    counterworks_chip_close(chips[0]);
    counterworks_chip_close(chips[1]);
    return status;
}

int cw_query_compare(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "",
        "Compares the metrics of two chips: + only the second has it, - only the first has it, ~ it changed "
        "(only in the first -> only in the second).\v"
        "Example:\n  $0 --chip GA100 --chip GH100 --unit lts"};
    struct options options = {0};
    return cw_cli_run(&usage, argc, argv, &options, NULL, run);
}
