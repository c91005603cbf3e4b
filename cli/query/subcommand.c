#define _GNU_SOURCE
#include "cli/query/subcommand.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/common/cli.h"

static void print_help(const struct cw_subcommand *table, size_t count, const char *about, const char *example)
{
    const char *name = program_invocation_short_name;
    cw_text_print(stdout, "Usage: %s COMMAND [OPTION...]\n%s\n\nCommands:\n", name, about);
    for (size_t i = 0; i < count; i++)
        cw_text_print(stdout, "  %-10s %s\n", table[i].name, table[i].summary);
    cw_text_print(stdout, "\nExample:\n  %s\n\n\"%s COMMAND --help\" explains a command.\n", example, name);
}

static int unknown(const char *wanted, const struct cw_subcommand *table, size_t count)
{
    struct cw_suggest near;
    char text[256], all[512] = "";
    size_t used = 0;
    cw_suggest_init(&near, wanted);
    for (size_t i = 0; i < count; i++) {
        cw_suggest_offer(&near, table[i].name);
        if (used < sizeof all)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? i + 1 == count ? " or " : ", " : "",
                                     table[i].name);
    }
    return cw_cli_usage("found the command '%.60s', expected %s%s", wanted, all,
                        cw_suggest_text(&near, text, sizeof text));
}

int cw_subcommand_main(int argc, char **argv, const struct cw_subcommand *table, size_t count, const char *about,
                       const char *example)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    if (!*wanted)
        return cw_cli_usage("found no command; %s --help lists them", program_invocation_short_name);
    if (strcmp(wanted, "--help") == 0 || strcmp(wanted, "-?") == 0 || strcmp(wanted, "help") == 0) {
        print_help(table, count, about, example);
        return cw_cli_finish(CW_OK, NULL);
    }
    if (strcmp(wanted, "--version") == 0 || strcmp(wanted, "-V") == 0) {
        cw_text_print(stdout, "%s\n", argp_program_version);
        return cw_cli_finish(CW_OK, NULL);
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(wanted, table[i].name) == 0) {
            char name[256]; /* what argp calls the program in its messages */
            snprintf(name, sizeof name, "%s %s", program_invocation_short_name, table[i].name);
            argv[1] = name;
            int code = table[i].run(argc - 1, argv + 1);
            argv[1] = NULL;
            return code;
        }
    return unknown(wanted, table, count);
}
