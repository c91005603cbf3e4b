/* metric-query: what can be measured on a chip. */
#include <stdio.h>
#include <stdlib.h>

#include "base/usage.h"
#include "cli/common/cli.h"
#include "cli/query/query.h"
#include "cli/query/subcommand.h"
#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "metricdb/lint.h"
#include "metricdb/set.h"

static error_t no_arguments(int key, char *arg, struct argp_state *state)
{
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    cw_usage_error(state, "found '%s', expected no argument", arg);
    return 0;
}

/* ---- chips and sets --------------------------------------------------------------------------------------------- */

static enum cw_status print_chips(struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_chip_file *files;
    size_t count;
    enum cw_status status = cw_chip_files(&files, &count, NULL, arena, err);
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        const struct cw_chip *chip;
        status = cw_chip_load_file(&chip, files[i].path, arena, err);
        for (uint32_t k = 0; status == CW_OK && k < files[i].name_count; k++)
            cw_text_print(stdout, "%-8s %5u counters %4u ratios %3u throughputs  %s\n", files[i].names[k],
                          chip->counter_count, chip->ratio_count, chip->throughput_count, chip->path);
    }
    return status;
}

static enum cw_status print_sets(struct cw_arena *arena, struct cw_error *err)
{
    const char *const *names;
    size_t count;
    enum cw_status status = cw_set_list(&names, &count, arena, err);
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        struct cw_set set;
        status = cw_set_load(&set, names[i], NULL, arena, err);
        if (status == CW_OK)
            cw_text_print(stdout, "%-18s %3zu metrics  %s\n", set.name, set.metric_count, set.title);
    }
    return status;
}

static int in_arena(enum cw_status (*print)(struct cw_arena *, struct cw_error *))
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? print(arena, &err) : cw_error_nomem(&err);
    cw_arena_destroy(arena);
    return cw_cli_finish(status, &err);
}

static int run_chips(int argc, char **argv)
{
    static const struct argp argp = {NULL,
                                     no_arguments,
                                     "",
                                     "Lists the chips of the database.\v"
                                     "Example:\n  metric-query chips",
                                     NULL,
                                     NULL,
                                     NULL};
    cw_usage_parse(&argp, argc, argv, 0, NULL);
    return in_arena(print_chips);
}

static int run_sets(int argc, char **argv)
{
    static const struct argp argp = {NULL,
                                     no_arguments,
                                     "",
                                     "Lists the metric sets, for --set of metric-config and metric-eval.\v"
                                     "Example:\n  metric-query sets",
                                     NULL,
                                     NULL,
                                     NULL};
    cw_usage_parse(&argp, argc, argv, 0, NULL);
    return in_arena(print_sets);
}

/* ---- lint ------------------------------------------------------------------------------------------------------- */

static void print_finding(void *context, const struct cw_finding *finding)
{
    (void)context;
    cw_text_print(stdout, "%s:%u:%u: %s: %s [%s]\n", finding->source, finding->line, finding->column,
                  finding->level == CW_LINT_ERROR ? "error" : "warning", finding->message, finding->rule);
}

static enum cw_status lint(const struct cw_query_chip *from, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_lint_counts counts = {0};
    const char *path = from->file;
    if (!path) {
        const struct cw_chip *chip;
        enum cw_status status = cw_chip_load(&chip, NULL, from->name, arena, err);
        if (status != CW_OK)
            return status;
        path = chip->path;
    }
    const struct cw_chip *with_formulas;
    enum cw_status status = cw_lint_file(path, print_finding, NULL, &counts, err);
    if (status == CW_OK && from->metrics_db.count)
        status = cw_query_load(&with_formulas, from, arena, err);
    if (status == CW_OK && counts.errors)
        status = cw_error_set(err, CW_ERR_INPUT, "%s: %u error%s, %u warning%s", path, counts.errors,
                              counts.errors == 1 ? "" : "s", counts.warnings, counts.warnings == 1 ? "" : "s");
    return status;
}

static int run_lint(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cw_query_chip_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {NULL,
                                     NULL,
                                     "",
                                     "Checks the database of a chip, the glossary and the metric sets against one "
                                     "another. The exit status is 3 where there are errors.\v"
                                     "Example:\n  metric-query lint --chip GH100",
                                     children,
                                     NULL,
                                     NULL};
    struct cw_query_chip from = {0};
    struct cw_error err = CW_ERROR_INIT;
    cw_usage_parse(&argp, argc, argv, 0, &from);
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? lint(&from, arena, &err) : cw_error_nomem(&err);
    cw_arena_destroy(arena);
    return cw_cli_finish(status, &err);
}

int main(int argc, char **argv)
{
    static const struct cw_subcommand table[] = {
        {"chips", "the chips of the database", run_chips},
        {"list", "the metrics of a chip", cw_query_list},
        {"describe", "all that is known of a metric", cw_query_describe},
        {"units", "the units of a chip", cw_query_units},
        {"compare", "what is different between two chips", cw_query_compare},
        {"legacy", "CUPTI's old metrics and events, as formulas", cw_query_legacy},
        {"sets", "the metric sets", run_sets},
        {"lint", "check a chip's database", run_lint},
        {"compile", "make chip files load faster", cw_query_compile},
        {"complete", "what a word may become, for shells", cw_query_complete},
    };
    cw_cli_init();
    return cw_subcommand_main(argc, argv, table, sizeof table / sizeof *table,
                              "Says what can be measured on a chip. No GPU and no NVIDIA software is needed.",
                              "metric-query list --chip GH100 --search hit_rate");
}
