/* metric-query list: the metrics of a chip, one a line. */
#include "cli/query.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/cli.h"
#include "host/base/suggest.h"
#include "metricdb/formula.h"
#include "metricdb/glossary.h"

enum { KEY_TYPE = 256, KEY_UNIT, KEY_SEARCH, KEY_ALL, KEY_FORMAT };

struct options {
    struct cw_query_chip chip;
    int type; /* -1 for all */
    const char *unit, *search;
    bool all;
    enum cw_query_format format;
};

struct list {
    const struct options *o;
    const struct cw_chip *chip;
    const struct cw_glossary *glossary;
    regex_t pattern;
    bool aligned;
    int width; /* of the first column, where columns are aligned */
    size_t printed;
};

static int parse_type(const char *text, struct argp_state *state)
{
    for (int i = 0; i <= CW_FORMULA; i++)
        if (strcmp(text, cw_metric_type_text((enum cw_metric_type)i)) == 0)
            return i;
    argp_error(state, "found the type '%s', expected counter, ratio, throughput or formula", text);
    return -1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->chip;
        return 0;
    case KEY_TYPE:
        o->type = parse_type(arg, state);
        return 0;
    case KEY_UNIT:
        o->unit = arg;
        return 0;
    case KEY_SEARCH:
        o->search = arg;
        return 0;
    case KEY_ALL:
        o->all = true;
        return 0;
    case KEY_FORMAT:
        o->format = cw_query_format(arg, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "found '%s', expected only options", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"type", KEY_TYPE, "TYPE", 0, "counter, ratio, throughput or formula only", 0},
    {"unit", KEY_UNIT, "UNIT", 0, "metrics of one unit only, as in its name before the two underscores (sm)", 0},
    {"search", KEY_SEARCH, "REGEX", 0, "names that match an extended regular expression only, in any case", 0},
    {"all-submetrics", KEY_ALL, 0, 0,
     "every full name, not one for each counter, ratio and throughput; as text, names alone", 0},
    {"format", KEY_FORMAT, "text|csv|json", 0, "the form of the list (default: text)", 0},
    {0},
};

/* ---- which metrics ---------------------------------------------------------------------------------------------- */

/* A unit goes by its name in metrics (gcc__) and by the chip's (gpc), which may group several. */
static bool has_unit(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base, const char *unit)
{
    const char *name = cw_chip_base_name(chip, type, base), *dot = strrchr(name, '.');
    uint32_t index = type == CW_COUNTER ? chip->counters[base].unit
                     : type == CW_RATIO ? chip->ratios[base].unit
                                        : chip->throughputs[base].unit;
    size_t length = strlen(unit);
    name = dot ? dot + 1 : name;
    return strcmp(chip->units[index].name, unit) == 0 ||
           (strncmp(name, unit, length) == 0 && strncmp(name + length, "__", 2) == 0);
}

static enum cw_status check_unit(const struct cw_chip *chip, const char *unit, struct cw_error *err)
{
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++)
            if (has_unit(chip, (enum cw_metric_type)t, i, unit))
                return CW_OK;
    struct cw_suggest near;
    char text[256], all[512] = "";
    cw_suggest_init(&near, unit);
    size_t used = 0;
    for (uint32_t i = 0; i < chip->unit_count; i++) {
        cw_suggest_offer(&near, chip->units[i].name);
        if (used < sizeof all)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", chip->units[i].name);
    }
    return cw_error_set(err, CW_ERR_USAGE, "found the unit '%.60s', expected one of %s%s", unit, all,
                        cw_suggest_text(&near, text, sizeof text));
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static enum cw_status print_json(const char *name, const struct cw_metric *m, const char *dimension,
                                 const char *description, bool first)
{
    json_t *row = json_pack("{s:s, s:s, s:s, s:s}", "name", name, "type", cw_metric_type_text(m->type), "unit",
                            dimension, "description", description);
    if (!row)
        return CW_ERR_NOMEM;
    fputs(first ? "[\n" : ",\n", stdout);
    json_dumpf(row, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(row);
    return CW_OK;
}

static enum cw_status print_row(struct list *l, const char *name, const struct cw_metric *m, const char *base_text)
{
    char dimension[128], description[CW_DESCRIPTION_MAX + 256], variant[256];
    bool first = !l->printed++;
    if (l->o->all && l->o->format == CW_QUERY_TEXT) {
        puts(name);
        return CW_OK;
    }
    cw_metric_dimension(l->chip, m, dimension, sizeof dimension);
    if (m->type == CW_FORMULA)
        cw_describe_metric(l->glossary, l->chip, m, description, sizeof description);
    else
        snprintf(description, sizeof description, "%s %s", base_text, cw_describe_variant(m, variant, sizeof variant));
    switch (l->o->format) {
    case CW_QUERY_JSON:
        return print_json(name, m, dimension, description, first);
    case CW_QUERY_CSV:
        cw_query_print_csv(name, ",");
        cw_query_print_csv(cw_metric_type_text(m->type), ",");
        cw_query_print_csv(dimension, ",");
        cw_query_print_csv(description, "\n");
        return CW_OK;
    default:
        if (l->aligned)
            printf("%-*s  %-10s  %-22s  %s\n", l->width, name, cw_metric_type_text(m->type), dimension, base_text);
        else
            printf("%s\t%s\t%s\t%s\n", name, cw_metric_type_text(m->type), dimension, base_text);
        return CW_OK;
    }
}

static enum cw_status visit_base(struct list *l, enum cw_metric_type type, uint32_t base, bool measure)
{
    char name[CW_METRIC_NAME_MAX], text[CW_DESCRIPTION_MAX] = "";
    uint32_t variants = l->o->all ? cw_metric_variants(type) : 1;
    enum cw_status status = CW_OK;
    for (uint32_t v = 0; v < variants && status == CW_OK; v++) {
        struct cw_metric m = l->o->all ? cw_metric_variant(type, base, v) : cw_query_usual(l->chip, type, base);
        cw_metric_name(l->chip, &m, name);
        if (l->o->search && regexec(&l->pattern, name, 0, NULL, 0) != 0)
            continue;
        if (measure) {
            int length = (int)strlen(name);
            l->width = length > l->width ? length : l->width;
            continue;
        }
        if (!*text && !(l->o->all && l->o->format == CW_QUERY_TEXT))
            cw_describe(l->glossary, l->chip, type, base, text, sizeof text);
        status = print_row(l, name, &m, text);
    }
    return status;
}

static enum cw_status visit_formula(struct list *l, uint32_t index, bool measure)
{
    const struct cw_formula *f = &l->chip->formulas->items[index];
    const struct cw_metric m = {.type = CW_FORMULA, .base = index};
    if (l->o->search && regexec(&l->pattern, f->name, 0, NULL, 0) != 0)
        return CW_OK;
    if (!measure)
        return print_row(l, f->name, &m, *f->description ? f->description : f->text);
    int length = (int)strlen(f->name);
    l->width = length > l->width ? length : l->width;
    return CW_OK;
}

static enum cw_status visit(struct list *l, bool measure, struct cw_error *err)
{
    const struct cw_formulas *formulas = l->chip->formulas;
    bool formulas_too = formulas && !l->o->unit && (l->o->type < 0 || l->o->type == CW_FORMULA);
    enum cw_status status = CW_OK;
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++) {
        enum cw_metric_type type = (enum cw_metric_type)t;
        if (l->o->type >= 0 && l->o->type != t)
            continue;
        for (uint32_t i = 0; status == CW_OK && i < cw_chip_base_count(l->chip, type); i++)
            if (!l->o->unit || has_unit(l->chip, type, i, l->o->unit))
                status = visit_base(l, type, i, measure);
    }
    for (uint32_t i = 0; status == CW_OK && formulas_too && i < formulas->count; i++)
        status = visit_formula(l, i, measure);
    return status == CW_OK ? status : cw_error_nomem(err);
}

static enum cw_status print_list(struct list *l, struct cw_error *err)
{
    l->aligned = l->o->format == CW_QUERY_TEXT && !l->o->all && isatty(STDOUT_FILENO);
    if (l->aligned)
        visit(l, true, err);
    if (l->o->format == CW_QUERY_CSV)
        puts("name,type,unit,description");
    enum cw_status status = visit(l, false, err);
    if (l->o->format == CW_QUERY_JSON)
        puts(l->printed ? "\n]" : "[]");
    return status;
}

static enum cw_status run(const struct options *o, struct cw_arena *arena, struct cw_error *err)
{
    struct list l = {.o = o};
    enum cw_status status = cw_query_load(&l.chip, &o->chip, arena, err);
    if (status == CW_OK)
        status = cw_glossary_load(&l.glossary, arena, err);
    if (status == CW_OK && o->unit)
        status = check_unit(l.chip, o->unit, err);
    if (status != CW_OK)
        return status;
    int bad = o->search ? regcomp(&l.pattern, o->search, REG_EXTENDED | REG_ICASE | REG_NOSUB) : 0;
    if (bad) {
        char why[128];
        regerror(bad, &l.pattern, why, sizeof why);
        return cw_error_set(err, CW_ERR_USAGE, "found the regular expression '%.100s': %s", o->search, why);
    }
    status = print_list(&l, err);
    if (o->search)
        regfree(&l.pattern);
    return status;
}

int cw_query_list(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cw_query_chip_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {option_list,
                                     parse,
                                     "",
                                     "Lists the metrics of a chip: full name, type, unit of measure and meaning. "
                                     "Columns are separated by tabs where "
                                     "the list is not shown on a terminal.\v"
                                     "Example:\n  metric-query list --chip GH100 --unit lts --search hit_rate",
                                     children,
                                     NULL,
                                     NULL};
    struct options options = {.type = -1};
    struct cw_error err = CW_ERROR_INIT;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? run(&options, arena, &err) : cw_error_nomem(&err);
    cw_arena_destroy(arena);
    return cw_query_finish(status, &err);
}
