/* metric-query legacy: CUPTI's legacy metrics and events as formulas over a chip's metrics. */
#include "cli/query/query.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/unit.h"
#include "json/json_tree.h"
#include "metricdb/legacy.h"

enum { MOST_NAMES = 1024 };

struct options {
    struct cw_cli_chip chip;
    enum cw_query_format format;
    size_t capability; /* CW_LEGACY_CAPABILITIES for all */
    const char *names[MOST_NAMES];
    size_t count;
};

/* Rows to print, in this order. */
struct rows {
    const struct options *o;
    const struct cw_legacy *legacy;
    const struct cw_chip *chip;
    size_t count;
    const struct cw_legacy_name **items;
    FILE *out; /* of text */
};

static void read_capability(void *capability, char *text, struct argp_state *state)
{
    *(size_t *)capability = cw_legacy_capability(text);
    if (*(size_t *)capability == CW_LEGACY_CAPABILITIES)
        cw_usage_error(state, "found the compute capability '%s', expected 1.x, 2.x, 3.x, 5.x, 6.x, 7.0 or 7.2", text);
}

static const struct cw_option option_list[] = {
    {"capability", 0, "X.Y", "names of one compute capability only (3.5, 6.x, 7.2)",
     CW_OPTION_READ(struct options, capability, read_capability)},
    {"format", 0, "text|csv|json", "the form of the list (default: text)", .called = "the format",
     CW_OPTION_CHOICE(struct options, format)},
    {.called = "names", CW_OPTION_LIST(struct options, names, count)},
    {CW_OPTION_GROUP(struct options, chip, cw_cli_chip_options)},
    {0},
};

/* ---- choosing --------------------------------------------------------------------------------------------------- */

static bool has_capability(const struct options *o, const struct cw_legacy_name *n)
{
    return o->capability == CW_LEGACY_CAPABILITIES || n->scope[o->capability] != CW_LEGACY_ABSENT;
}

/* Gives two rows for a name that is both a metric and an event. */
static enum cw_status choose_named(struct rows *rows, const char *name, struct cw_error *err)
{
    const struct cw_legacy_name *any;
    enum cw_status status = cw_legacy_get(&any, rows->legacy, name, err);
    size_t before = rows->count;
    for (int kind = 0; status == CW_OK && kind < CW_LEGACY_KIND_COUNT; kind++) {
        const struct cw_legacy_name *n = cw_legacy_find_kind(rows->legacy, (enum cw_legacy_kind)kind, name);
        if (n && has_capability(rows->o, n))
            rows->items[rows->count++] = n;
    }
    if (status == CW_OK && rows->count == before)
        status = cw_error_set(err, CW_ERR_USAGE, "found %s, which compute capability %s does not have", name,
                              cw_legacy_capability_text(rows->o->capability));
    return status;
}

static enum cw_status choose(struct rows *rows, struct cw_arena *arena, struct cw_error *err)
{
    const struct options *o = rows->o;
    enum cw_status status = CW_OK;
    rows->items = cw_arena_alloc(arena, o->count ? o->count * CW_LEGACY_KIND_COUNT : rows->legacy->count,
                                 sizeof(const struct cw_legacy_name *));
    if (!rows->items)
        return cw_error_nomem(err);
    for (size_t i = 0; i < o->count && status == CW_OK; i++)
        status = choose_named(rows, o->names[i], err);
    for (uint32_t i = 0; !o->count && i < rows->legacy->count; i++)
        if (has_capability(o, &rows->legacy->names[i]))
            rows->items[rows->count++] = &rows->legacy->names[i];
    return status;
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static char *join_closest(const struct cw_legacy_name *n, struct cw_arena *arena)
{
    char *text = cw_arena_strdup(arena, "");
    for (size_t i = 0; text && i < n->closest_count; i++)
        text = cw_arena_printf(arena, "%s%s%s", text, i ? ", " : "", n->closest[i]);
    return text;
}

static char *join_scope(const struct cw_legacy_name *n, struct cw_arena *arena)
{
    char *text = cw_arena_strdup(arena, "");
    for (size_t i = 0; text && i < CW_LEGACY_CAPABILITIES; i++)
        if (n->scope[i] != CW_LEGACY_ABSENT)
            text = cw_arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "", cw_legacy_capability_text(i),
                                   cw_legacy_scope_text(n->scope[i]));
    return text;
}

static void print_line(FILE *out, const char *label, const char *text)
{
    if (text && *text)
        cw_text_print(out, "  %-13s %s\n", label, text);
}

static void print_details(const struct rows *rows, const struct cw_legacy_name *n, const char *scope,
                          const char *closest)
{
    struct cw_error why = CW_ERROR_INIT;
    char unit[CW_UNIT_SIZE];
    bool resolved = cw_legacy_resolve(n, rows->chip, rows->legacy->path, &why) == CW_OK;
    bool same = n->formula && strcmp(n->formula, n->documented) == 0;
    cw_text_print(rows->out, "%s\n", n->name);
    print_line(rows->out, "meaning", n->description);
    print_line(rows->out, "kind", n->kind == CW_LEGACY_METRIC ? "CUPTI metric" : "CUPTI event");
    print_line(rows->out, "scope", scope);
    print_line(rows->out, "formula", n->formula);
    print_line(rows->out, "measured in", n->unit ? cw_unit_or_one(n->unit, unit) : NULL);
    print_line(rows->out, "no formula", n->none);
    print_line(rows->out, "closest", closest);
    print_line(rows->out, "documented", same ? "the same" : n->documented);
    print_line(rows->out, "note", n->note);
    if (!resolved)
        print_line(rows->out, "missing", why.message);
}

static void print_csv_row(const struct cw_legacy_name *n, const char *scope, const char *closest)
{
    const char *const cells[] = {n->name,
                                 cw_legacy_kind_text(n->kind),
                                 n->unit ? n->unit : "",
                                 n->formula ? n->formula : "",
                                 n->none ? n->none : "",
                                 closest,
                                 scope,
                                 n->documented,
                                 n->note,
                                 n->description};
    size_t count = sizeof cells / sizeof *cells;
    for (size_t i = 0; i < count; i++)
        cw_query_put(CW_TEXT_CELL, cells[i], i + 1 == count ? "\n" : ",");
}

static json_t *json_of_scope(const struct cw_legacy_name *n)
{
    json_t *scope = json_object();
    for (size_t i = 0; i < CW_LEGACY_CAPABILITIES; i++)
        if (n->scope[i] != CW_LEGACY_ABSENT)
            cw_json_set(&scope, cw_legacy_capability_text(i), json_string(cw_legacy_scope_text(n->scope[i])));
    return scope;
}

static json_t *json_of_closest(const struct cw_legacy_name *n)
{
    json_t *closest = json_array();
    for (size_t i = 0; i < n->closest_count; i++)
        cw_json_append(&closest, json_string(n->closest[i]));
    return closest;
}

/* Prints a description on a line of its own, as metric-query list does. */
static enum cw_status print_json_row(const struct cw_legacy_name *n, bool first, struct cw_error *err)
{
    json_t *row =
        json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:o, s:o, s:s?, s:s?, s:s}", "name", n->name, "kind",
                  cw_legacy_kind_text(n->kind), "unit", n->unit, "formula", n->formula, "none", n->none, "closest",
                  json_of_closest(n), "scope", json_of_scope(n), "documented", *n->documented ? n->documented : NULL,
                  "note", *n->note ? n->note : NULL, "description", n->description);
    fputs(first ? "[\n" : ",\n", stdout);
    return cw_json_print(row, JSON_COMPACT | JSON_PRESERVE_ORDER, stdout, err);
}

static void print_text_row(FILE *out, const struct cw_legacy_name *n, const char *closest, int width)
{
    const char *after = *closest ? "; closest: " : "";
    if (width)
        cw_text_print(out, "%-*s  %-6s  ", width, n->name, cw_legacy_kind_text(n->kind));
    else
        cw_text_print(out, "%s\t%s\t", n->name, cw_legacy_kind_text(n->kind));
    if (n->formula)
        cw_text_print(out, "%s\n", n->formula);
    else
        cw_text_print(out, "none: %s%s%s\n", n->none, after, closest);
}

static int first_column(const struct rows *rows)
{
    size_t width = 0;
    for (size_t i = 0; isatty(STDOUT_FILENO) && i < rows->count; i++) {
        size_t columns = cw_text_columns(rows->items[i]->name);
        width = columns > width ? columns : width;
    }
    return (int)width;
}

static enum cw_status print_rows(const struct rows *rows, struct cw_arena *arena, struct cw_error *err)
{
    enum cw_query_format format = rows->o->format;
    enum cw_status status = CW_OK;
    int width = first_column(rows);
    if (format == CW_QUERY_CSV)
        puts("name,kind,unit,formula,none,closest,scope,documented,note,description");
    for (size_t i = 0; i < rows->count && status == CW_OK; i++) {
        const struct cw_legacy_name *n = rows->items[i];
        const char *closest = join_closest(n, arena), *scope = join_scope(n, arena);
        if (!closest || !scope)
            return cw_error_nomem(err);
        if (format == CW_QUERY_JSON)
            status = print_json_row(n, i == 0, err);
        else if (format == CW_QUERY_CSV)
            print_csv_row(n, scope, closest);
        else if (rows->o->count) {
            print_details(rows, n, scope, closest);
            if (i + 1 < rows->count)
                putc('\n', rows->out);
        } else
            print_text_row(rows->out, n, closest, width);
    }
    if (format == CW_QUERY_JSON && status == CW_OK)
        puts(rows->count ? "\n]" : "[]");
    return status;
}

static enum cw_status run(const void *options, struct counterworks_chip *handle, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct options *o = options;
    struct rows rows = {.o = o, .chip = handle->chip};
    struct cw_text_wrap wrap;
    CW_TRY(cw_legacy_load(&rows.legacy, NULL, rows.chip, arena, err));
    CW_TRY(choose(&rows, arena, err));
    if (o->format != CW_QUERY_TEXT)
        return print_rows(&rows, arena, err);
    rows.out = cw_text_wrap_begin(&wrap, stdout);
    const enum cw_status status = print_rows(&rows, arena, err);
    cw_text_wrap_end(&wrap);
    return status;
}

int cw_query_legacy(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "[NAME...]",
        "Lists the metrics and events of CUPTI (compute capability 1.x to 7.2) with the formula for their value on "
        "this chip, or the closest metrics. Describes the given names in full.\v"
        "Example:\n  $0 --chip GH100 achieved_occupancy gld_efficiency"};
    static struct options options = {.capability = CW_LEGACY_CAPABILITIES};
    return cw_cli_run(&usage, argc, argv, &options, &options.chip, run);
}
