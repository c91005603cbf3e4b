/* capture-agent: collects counter data on a GPU node. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/command/command.h"
#include "agent/session/program.h"
#include "agent/session/signals.h"
#include "base/start.h"
#include "base/usage.h"

/* Fails if output could not be printed, unless nobody wants to read it. */
static void check_printed(void)
{
    struct cw_error err = CW_ERROR_INIT;
    bool printed = cw_file_flush(&err) == CW_OK, unwanted = errno == EPIPE;
    if (printed)
        return;
    if (!unwanted)
        cw_usage_fail(&err);
    _exit(CW_ERR_IO);
}

int main(int argc, char **argv)
{
    static const struct cw_usage_command table[] = {
        {.name = "range", .summary = "collect counters for each kernel launch of a program", .run = cw_range_command},
        {.name = "pc", .summary = "sample where the warps of a program are, and why they wait", .run = cw_pc_command},
        {.name = "sass", .summary = "count for each instruction of a program's kernels", .run = cw_sass_command},
        {.name = "pm", .summary = "sample counters of a device at equal intervals", .run = cw_pm_command},
        {.name = "trace",
         .summary = "record the events of a program and its GPUs, with their times",
         .run = cw_trace_command},
        {.name = "decode", .summary = "turn NVIDIA's counter data into ours", .run = cw_decode_command},
        {.name = "doctor", .summary = "check whether this node can make captures", .run = cw_doctor_command},
    };
    cw_signals_begin();
    cw_start();
    atexit(check_printed);
    argp_err_exit_status = CW_ERR_USAGE;
    argp_program_version = "counterworks " CW_VERSION;
    const int status =
        cw_usage_run(argc, argv, table, sizeof table / sizeof *table, "Collects counter data on a node with a GPU.",
                     "capture-agent range -c plan.cwc -o run.cwd -- ./app");
    cw_program_tell_parent(status);
    return status;
}
