/* capture-agent: collects counter data on a GPU node. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/command/command.h"
#include "agent/session/signals.h"
#include "base/start.h"
#include "base/text.h"

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"range", "collect counters for each kernel launch of a program", cw_range_command},
    {"pc", "sample where the warps of a program are and what they wait for", cw_pc_command},
    {"sass", "count for each instruction of a program's kernels", cw_sass_command},
    {"pm", "sample counters of a device at equal intervals, around a program or alone", cw_pm_command},
    {"decode", "turn NVIDIA's counter data into ours", cw_decode_command},
    {"doctor", "say what on this node would stop a capture", cw_doctor_command},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void usage(FILE *to)
{
    fprintf(to, "Usage: capture-agent COMMAND [OPTION...]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\ncapture-agent COMMAND --help says more. Example:\n"
                "  capture-agent range -c plan.cwc -o run.cwd -- ./app\n");
}

/* What was to be printed and could not be is an error, unless nobody wants to read it. */
static void check_printed(void)
{
    struct cw_error err = CW_ERROR_INIT;
    bool printed = cw_file_flush(&err) == CW_OK, unwanted = errno == EPIPE;
    if (printed)
        return;
    if (!unwanted)
        cw_command_fail(&err);
    _exit(CW_ERR_IO);
}

int main(int argc, char **argv)
{
    cw_signals_begin();
    cw_start();
    atexit(check_printed);
    argp_err_exit_status = CW_ERR_USAGE;
    argp_program_version = "counterworks " CW_VERSION;
    const char *name = argc > 1 ? argv[1] : "";
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0) {
            char title[64];
            snprintf(title, sizeof title, "capture-agent %s", name);
            argv[1] = title;
            return commands[i].run(argc - 1, argv + 1);
        }
    if (strcmp(name, "--help") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0) {
        puts(argp_program_version);
        return 0;
    }
    if (*name)
        cw_text_print(stderr, "capture-agent: found the command '%s', expected range, pm, pc, sass, decode or doctor\n",
                      name);
    else
        usage(stderr);
    return CW_ERR_USAGE;
}
