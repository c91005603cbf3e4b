#define _GNU_SOURCE
#include "cli/common/chip.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "base/usage.h"
#include "cli/common/cli.h"

enum { KEY_METRICS_DB = 768, KEY_CHIP_FILE };

static error_t parse_metrics_db(int key, char *arg, struct argp_state *state)
{
    struct cw_cli_chip *chip = state->input;
    if (key != KEY_METRICS_DB)
        return ARGP_ERR_UNKNOWN;
    if (chip->count == CW_CLI_METRICS_DB_MAX)
        cw_usage_error(state, "found more than %d files of metrics", CW_CLI_METRICS_DB_MAX);
    chip->own[chip->count++] = arg;
    return 0;
}

static error_t parse_chip(int key, char *arg, struct argp_state *state)
{
    struct cw_cli_chip *chip = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = chip;
        return 0;
    case 'c':
        chip->name = arg;
        return 0;
    case KEY_CHIP_FILE:
        chip->file = arg;
        return 0;
    case ARGP_KEY_ARG: /* the command takes none */
        cw_usage_error(state, "found '%s', expected only options", arg);
        return 0;
    case ARGP_KEY_END:
        if (!chip->name == !chip->file)
            cw_usage_error(state, "one of --chip and --chip-file is required");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option metrics_db_options[] = {
    {"metrics-db", KEY_METRICS_DB, "FILE", 0, "your own metrics by formula, from a YAML file; may be repeated", 0},
    {0},
};
const struct argp cw_cli_metrics_db_argp = {metrics_db_options, parse_metrics_db, NULL, NULL, NULL, NULL, NULL};

static const struct argp_option chip_options[] = {
    {"chip", 'c', "NAME", 0, "the chip (metric-query chips lists them)", 0},
    {"chip-file", KEY_CHIP_FILE, "FILE", 0, "a chip's YAML file, instead of --chip", 0},
    {0},
};
static const struct argp_child chip_children[] = {{&cw_cli_metrics_db_argp, 0, NULL, 0}, {0}};
const struct argp cw_cli_chip_argp = {chip_options, parse_chip, NULL, NULL, chip_children, NULL, NULL};
const struct argp_child cw_cli_chip_child[] = {{&cw_cli_chip_argp, 0, NULL, 0}, {0}};

void cw_cli_tell(void *user, const char *line)
{
    (void)user;
    cw_text_print(stderr, "%s: %s\n", program_invocation_short_name, line);
}

enum cw_status cw_cli_chip_open(struct counterworks_chip **chip, const struct cw_cli_chip *from, struct cw_error *err)
{
    struct counterworks *data;
    struct counterworks_error error;
    enum counterworks_status status = counterworks_open(&data, NULL, &error);
    *chip = NULL;
    if (status == COUNTERWORKS_OK)
        status = from->file ? counterworks_chip_open_file(chip, data, from->file, &error)
                            : counterworks_chip_open(chip, data, from->name, &error);
    counterworks_close(data);
    for (size_t i = 0; status == COUNTERWORKS_OK && i < from->count; i++)
        status = counterworks_chip_add_metrics(*chip, from->own[i], &error);
    if (status == COUNTERWORKS_OK)
        counterworks_chip_tell(*chip, cw_cli_tell, NULL);
    return cw_cli_take(&error, err);
}

int cw_cli_run(const struct argp *argp, int argc, char **argv, void *options, const struct cw_cli_chip *from,
               enum cw_status (*run)(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                                     struct cw_error *err))
{
    struct cw_error err = CW_ERROR_INIT;
    struct counterworks_chip *chip = NULL;
    cw_usage_parse(argp, argc, argv, 0, options);
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? CW_OK : cw_error_nomem(&err);
    if (status == CW_OK && from)
        status = cw_cli_chip_open(&chip, from, &err);
    if (status == CW_OK)
        status = run(options, chip, arena, &err);
    counterworks_chip_close(chip);
    cw_arena_destroy(arena);
    return cw_cli_finish(status, &err);
}
