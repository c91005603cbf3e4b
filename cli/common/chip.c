#define _GNU_SOURCE
#include "cli/common/chip.h"

#include <errno.h>
#include <stdio.h>

#include "base/progress.h"
#include "base/text.h"
#include "cli/common/cli.h"

static void check_chip(void *chip, struct argp_state *state)
{
    const struct cw_cli_chip *from = chip;
    if (from->node && (from->file || from->of))
        cw_usage_error(state, "found --device-facts with --chip-%s, expected it alone or with --chip",
                       from->file ? "file" : "of");
    if (!from->node && !!from->name + !!from->file + !!from->of != 1)
        cw_usage_error(state, "found %s, expected one: --chip NAME (counterworks chips lists them) or --chip-file FILE",
                       from->name || from->file || from->of ? "several chips" : "no chip");
}

const struct cw_option cw_cli_metrics_db_options[] = {
    {"metrics-db", 0, "FILE", "your own metrics by formula, from a YAML file; may be repeated",
     .called = "files of metrics", CW_OPTION_LIST(struct cw_cli_chip, own, count)},
    {0},
};
const struct cw_option cw_cli_chip_options[] = {
    {"chip", 'c', "NAME", "the chip, or a product with it (\"counterworks chips\" lists them)",
     CW_OPTION_TEXT(struct cw_cli_chip, name)},
    {"chip-file", 0, "FILE", "a chip's YAML file, instead of --chip", CW_OPTION_TEXT(struct cw_cli_chip, file)},
    {"chip-of", 0, "FILE", "the chip of a capture or plan, instead of --chip", CW_OPTION_RARE,
     CW_OPTION_TEXT(struct cw_cli_chip, of)},
    {CW_OPTION_ROWS(cw_cli_metrics_db_options)},
    {CW_OPTION_GROUP(struct cw_cli_chip, quiet, cw_cli_quiet_options)},
    {CW_OPTION_CHECK(check_chip)},
    {0},
};

void cw_cli_tell(void *user, const char *line)
{
    (void)user;
    cw_progress_clear();
    cw_text_print(stderr, "%s: %s\n", program_invocation_short_name, line);
}

enum cw_status cw_cli_chip_open(struct counterworks_chip **chip, const struct cw_cli_chip *from, struct cw_error *err)
{
    struct counterworks_error error;
    if (from->of)
        counterworks_chip_open_of(chip, NULL, from->of, &error);
    else if (from->node)
        counterworks_chip_open_node(chip, NULL, from->node, from->name, &error);
    else if (from->file)
        counterworks_chip_open_file(chip, NULL, from->file, &error);
    else
        counterworks_chip_open(chip, NULL, from->name, &error);
    if (*chip && !from->quiet)
        counterworks_chip_tell(*chip, cw_cli_tell, NULL);
    return cw_cli_take(&error, err);
}

enum cw_status cw_cli_chip_add(struct counterworks_chip *chip, const struct cw_cli_chip *from, struct cw_error *err)
{
    struct counterworks_error error = {.status = COUNTERWORKS_OK};
    for (size_t i = 0; error.status == COUNTERWORKS_OK && i < from->count; i++)
        counterworks_chip_add_metrics(chip, from->own[i], &error);
    return cw_cli_take(&error, err);
}

int cw_cli_run(const struct cw_usage *usage, int argc, char **argv, void *options, const struct cw_cli_chip *from,
               enum cw_status (*run)(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                                     struct cw_error *err))
{
    struct cw_error err = CW_ERROR_INIT;
    struct counterworks_chip *chip = NULL;
    cw_usage_read(usage, argc, argv, options);
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? CW_OK : cw_error_nomem(&err);
    if (status == CW_OK && from)
        status = cw_cli_chip_open(&chip, from, &err);
    if (status == CW_OK && from)
        status = cw_cli_chip_add(chip, from, &err);
    if (status == CW_OK)
        status = run(options, chip, arena, &err);
    counterworks_chip_close(chip);
    cw_arena_destroy(arena);
    return cw_cli_finish(status, &err);
}
