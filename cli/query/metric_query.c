/* metric-query: metrics of a chip, and their meaning. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/query/query.h"
#include "metricdb/chip_files.h"
#include "metricdb/lint.h"

/* ---- chips and sets --------------------------------------------------------------------------------------------- */

static uint32_t listed(const struct cw_chip *chip, enum cw_metric_type type, enum cw_listed in)
{
    return cw_chip_listed_count(chip, type, in);
}

/* Products by chip. */
struct products {
    const struct cw_chip_products *list;
    size_t count;
};

static const struct cw_chip_products *products_of(const struct products *all, const char *chip)
{
    static const struct cw_chip_products none;
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].chip, chip) == 0)
            return &all->list[i];
    return &none;
}

static void print_chip(const char *name, const struct cw_chip *chip, const struct cw_chip_products *products)
{
    enum { COLUMN = 53 };
    char text[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < products->count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", products->names[i]);
    cw_text_print(stdout, "%-8s %5u counters %4u ratios %3u throughputs%s", name,
                  listed(chip, CW_COUNTER, CW_OF_RANGES), listed(chip, CW_RATIO, CW_OF_RANGES),
                  listed(chip, CW_THROUGHPUT, CW_OF_RANGES), used ? "  " : "");
    cw_text_put_words(stdout, text, strlen(text), COLUMN, cw_text_width(STDOUT_FILENO));
    putc('\n', stdout);
}

static void print_chip_json(const char *name, const struct cw_chip *chip, const struct cw_chip_products *products,
                            bool first)
{
    fputs(first ? "[\n{\"name\":" : ",\n{\"name\":", stdout);
    cw_query_put(CW_TEXT_JSON, name, ",\"counters\":");
    cw_text_print(stdout, "%u,\"ratios\":%u,\"throughputs\":%u,\"pm\":{", listed(chip, CW_COUNTER, CW_OF_RANGES),
                  listed(chip, CW_RATIO, CW_OF_RANGES), listed(chip, CW_THROUGHPUT, CW_OF_RANGES));
    cw_text_print(
        stdout, "\"counters\":%u,\"ratios\":%u,\"throughputs\":%u},\"file\":", listed(chip, CW_COUNTER, CW_OF_SAMPLES),
        listed(chip, CW_RATIO, CW_OF_SAMPLES), listed(chip, CW_THROUGHPUT, CW_OF_SAMPLES));
    cw_query_put(CW_TEXT_JSON, chip->path, ",\"products\":[");
    for (size_t i = 0; i < products->count; i++)
        cw_query_put(CW_TEXT_JSON, products->names[i], i + 1 < products->count ? "," : "");
    fputs("]}", stdout);
}

/* Chips of one file have the same facts, so the file is opened once. */
static enum counterworks_status print_chips(const struct counterworks *data, const struct products *products,
                                            bool as_json, struct counterworks_error *error)
{
    struct counterworks_chip *chip = NULL;
    enum counterworks_status status = COUNTERWORKS_OK;
    for (size_t i = 0; i < data->chip_count && status == COUNTERWORKS_OK; i++) {
        const struct cw_lib_name *name = &data->chips[i];
        if (!chip || name->path != name[-1].path) {
            counterworks_chip_close(chip);
            status = counterworks_chip_open(&chip, data, name->name, error);
        }
        if (chip && as_json)
            print_chip_json(name->name, chip->chip, products_of(products, name->name), i == 0);
        else if (chip)
            print_chip(name->name, chip->chip, products_of(products, name->name));
    }
    counterworks_chip_close(chip);
    if (as_json)
        puts(data->chip_count ? "\n]" : "[]");
    return status;
}

struct chips_options {
    bool as_json, quiet; /* quiet has no effect: there is only data */
};

static enum cw_status chips(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                            struct cw_error *err)
{
    const struct chips_options *o = options;
    struct counterworks *data;
    struct counterworks_error error;
    struct products products;
    (void)chip;
    CW_TRY(cw_chip_products(&products.list, &products.count, NULL, arena, err));
    if (counterworks_open(&data, NULL, &error) == COUNTERWORKS_OK)
        print_chips(data, &products, o->as_json, &error);
    counterworks_close(data);
    return cw_cli_take(&error, err);
}

int cw_query_chips(int argc, char **argv)
{
    static const struct cw_option option_list[] = {
        {"format", 0, "text|json", "the form of the list (default: text)", .called = "the format",
         CW_OPTION_CHOICE(struct chips_options, as_json)},
        {CW_OPTION_GROUP(struct chips_options, quiet, cw_cli_quiet_options)},
        {0},
    };
    static const struct cw_usage usage = {option_list, "",
                                          "Lists the chips of the database, and products with them.\vExample:\n  $0"};
    return cw_cli_run(&usage, argc, argv, &(struct chips_options){0}, NULL, chips);
}

/* ---- lint ------------------------------------------------------------------------------------------------------- */

/* Counts it by level, too. */
static void print_finding(void *counts, const struct cw_finding *finding)
{
    ((unsigned *)counts)[finding->level]++;
    cw_text_print(stdout, "%s:%u:%u: %s: %s [%s]\n", finding->source, finding->line, finding->column,
                  finding->level == CW_LINT_ERROR ? "error" : "warning", finding->message, finding->rule);
}

/* Checks a file even if it cannot be opened as a chip. */
static enum cw_status lint(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                           struct cw_error *err)
{
    const struct cw_cli_chip *from = options;
    unsigned counts[] = {[CW_LINT_WARNING] = 0, [CW_LINT_ERROR] = 0};
    (void)arena;
    enum cw_status status = from->file ? CW_OK : cw_cli_chip_open(&chip, from, err);
    const char *path = from->file ? from->file : chip ? chip->chip->path : NULL;
    if (status == CW_OK)
        status = cw_lint_file(path, print_finding, counts, err);
    if (status == CW_OK && from->file && from->count)
        status = cw_cli_chip_open(&chip, from, err);
    if (status == CW_OK && chip)
        status = cw_cli_chip_add(chip, from, err);
    const unsigned errors = counts[CW_LINT_ERROR], warnings = counts[CW_LINT_WARNING];
    if (status == CW_OK && errors)
        status = cw_error_set(err, CW_ERR_INPUT, "%s: %u error%s, %u warning%s", path, errors, errors == 1 ? "" : "s",
                              warnings, warnings == 1 ? "" : "s");
    counterworks_chip_close(chip);
    return status;
}

int cw_query_lint(int argc, char **argv)
{
    static const struct cw_usage usage = {
        cw_cli_chip_options, "",
        "Checks the database of a chip, the glossary and the metric sets against one another. The exit "
        "status is 3 where there are errors.\v"
        "Example:\n  $0 --chip GH100"};
    struct cw_cli_chip from = {0};
    return cw_cli_run(&usage, argc, argv, &from, NULL, lint);
}

int cw_query_main(int argc, char **argv)
{
    static const struct cw_usage_command table[] = {
        {.name = "chips", .summary = "the chips of the database", .run = cw_query_chips},
        {.name = "list", .summary = "the metrics of a chip, or some by words", .run = cw_query_list},
        {.name = "describe", .summary = "the meaning and the parts of a metric", .run = cw_query_describe},
        {.name = "units", .summary = "the units of a chip", .run = cw_query_units},
        {.name = "compare", .summary = "the differences between two chips", .run = cw_query_compare},
        {.name = "legacy", .summary = "CUPTI's old metrics and events, as formulas", .run = cw_query_legacy},
        {.name = "sets", .summary = "the metric sets, and the metrics in them", .run = cw_query_sets},
        {.name = "lint", .summary = "check a chip's database", .run = cw_query_lint},
        {.name = "compile", .summary = "make chip files load faster", .run = cw_query_compile},
        {.name = "complete", .summary = "the possible ends of a word, for shells", .run = cw_query_complete},
    };
    cw_cli_init();
    int code = cw_usage_run(argc, argv, table, sizeof table / sizeof *table,
                            "Lists and describes the metrics of a chip. Needs no GPU and no NVIDIA software.",
                            "metric-query list --chip GH100 l2 hit rate");
    return code ? code : cw_cli_finish(CW_OK, NULL);
}
