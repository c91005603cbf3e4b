#define _GNU_SOURCE
#include "cli/query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

enum { KEY_CHIP_FILE = 512 };

static error_t parse_chip(int key, char *arg, struct argp_state *state)
{
    struct cw_query_chip *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->metrics_db;
        return 0;
    case 'c':
        o->name = arg;
        return 0;
    case KEY_CHIP_FILE:
        o->file = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->name == !o->file)
            argp_error(state, "one of --chip and --chip-file is required");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option chip_options[] = {
    {"chip", 'c', "NAME", 0, "the chip (metric-query chips lists them)", 0},
    {"chip-file", KEY_CHIP_FILE, "FILE", 0, "a chip's YAML file, instead of --chip", 0},
    {0},
};

static const struct argp_child chip_children[] = {{&cw_metrics_db_argp, 0, NULL, 0}, {0}};
const struct argp cw_query_chip_argp = {chip_options, parse_chip, NULL, NULL, chip_children, NULL, NULL};

enum cw_status cw_query_load(const struct cw_chip **chip, const struct cw_query_chip *from, struct cw_arena *arena,
                             struct cw_error *err)
{
    enum cw_status status =
        from->file ? cw_chip_load_file(chip, from->file, arena, err) : cw_chip_load(chip, from->name, arena, err);
    return status == CW_OK ? cw_metrics_db_load(chip, &from->metrics_db, arena, err) : status;
}

enum cw_query_format cw_query_format(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"text", "csv", "json"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum cw_query_format)i;
    argp_error(state, "found the format '%s', expected text, csv or json", text);
    return CW_QUERY_TEXT;
}

struct cw_metric cw_query_usual(const struct cw_chip *chip, enum cw_metric_type type, uint32_t base)
{
    struct cw_metric m = {.type = type, .base = base};
    if (type == CW_THROUGHPUT) {
        m.rollup = 1;
        m.sub = CW_SUB_PCT_ELAPSED;
    } else if (type == CW_RATIO) {
        m.sub = strstr(chip->ratios[base].name, "hit_rate") ? CW_SUB_RATIO_PCT : CW_SUB_RATIO;
    }
    return m;
}

void cw_query_print_csv(const char *text, const char *end)
{
    bool quote = strpbrk(text, ",\"\n");
    if (quote)
        putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    printf("%s%s", quote ? "\"" : "", end);
}

int cw_query_finish(enum cw_status status, struct cw_error *err)
{
    errno = 0;
    if ((fflush(stdout) || ferror(stdout)) && status == CW_OK)
        status = cw_error_set(err, CW_ERR_IO, "standard output: %s", strerror(errno ? errno : EIO));
    return status == CW_OK ? 0 : cw_cli_fail(err);
}
