/* counterworks: all commands in one program. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "base/usage.h"
#include "cli/common/cli.h"
#include "cli/config/metric_config.h"
#include "cli/eval/session.h"
#include "cli/front/beside.h"
#include "cli/front/run_command.h"
#include "cli/query/query.h"

/* ---- commands of other programs --------------------------------------------------------------------------------- */

static int run_agent(const char *command, int argc, char **argv)
{
    return cw_front_become("capture-agent", "it captures, on the node with the GPU", command, argc, argv);
}

static int capture(int argc, char **argv)
{
    return run_agent("range", argc, argv);
}

static int trace(int argc, char **argv)
{
    return run_agent("trace", argc, argv);
}

static int sample(int argc, char **argv)
{
    return run_agent("pm", argc, argv);
}

static int hot(int argc, char **argv)
{
    return run_agent("pc", argc, argv);
}

static int sass(int argc, char **argv)
{
    return run_agent("sass", argc, argv);
}

static int decode(int argc, char **argv)
{
    return run_agent("decode", argc, argv);
}

static int doctor(int argc, char **argv)
{
    return run_agent("doctor", argc, argv);
}

static int import(int argc, char **argv)
{
    return cw_front_become("metricdb-import", "a build with CUDA's headers has it", NULL, argc, argv);
}

static int mpi(int argc, char **argv)
{
    return cw_front_become("metric-eval-mpi", "a build with MPI has it", NULL, argc, argv);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static const struct cw_usage_command commands[] = {
    {"run", "all in one: plan, capture, and print the limits of kernels", cw_front_run, "Begin", false},
    {"find", "metrics of a chip, by words", cw_query_list, "Plan", false},
    {"describe", "the meaning and the parts of a metric", cw_query_describe, NULL, false},
    {"plan", "the counters of metrics, in passes", cw_config_plan, NULL, false},
    {"doctor", "obstacles to a capture on this node", doctor, "Capture", false},
    {"capture", "counters of each kernel launch of a program", capture, NULL, false},
    {"trace", "the timeline of a program and its GPUs", trace, NULL, false},
    {"sample", "counters of a GPU at equal intervals", sample, NULL, false},
    {"table", "kernels and metrics; \"counterworks RUN.cwd\" is short for it", cw_eval_table, "Look", false},
    {"show", "the content of a capture: device, plan, counters", cw_eval_show, NULL, false},
    {"explain", "how a value came about", cw_eval_explain, NULL, false},
    {"advise", "the limit of each kernel, and how to change it", cw_eval_advise, NULL, false},
    {"report", "a page of HTML", cw_eval_report, NULL, false},
    {"export", "files for Perfetto, flame graphs, monitors and scripts", cw_eval_export, NULL, false},
    {"diff", "the changes between two captures", cw_eval_diff, "Compare", false},
    {"gate", "whether a run is worse than another, for CI", cw_eval_gate, NULL, false},
    {"ranks", "how the ranks of a parallel job differ", cw_eval_ranks, NULL, false},
    {"join", "a trace with the metrics of its launches", cw_eval_join, NULL, false},
    {"merge", "several captures as one", cw_eval_merge, NULL, false},
    {"chips", "the chips of the database", cw_query_chips, "Database", true},
    {"list", "the same as find", cw_query_list, NULL, true},
    {"sets", "the metric sets, and the metrics in them", cw_query_sets, NULL, true},
    {"units", "the units of a chip", cw_query_units, NULL, true},
    {"compare", "the differences between two chips", cw_query_compare, NULL, true},
    {"legacy", "CUPTI's old metrics and events, as formulas", cw_query_legacy, NULL, true},
    {"lint", "check a chip's database", cw_query_lint, NULL, true},
    {"compile", "make chip files load faster", cw_query_compile, NULL, true},
    {"import", "chip files from NVIDIA's library", import, NULL, true},
    {"pc", "where the warps of a program are, and what they wait for", hot, "More", true},
    {"sass", "counts for each instruction of a program's kernels", sass, NULL, true},
    {"decode", "a capture from NVIDIA's counter data", decode, NULL, true},
    {"check", "compare values with reference values", cw_eval_check, NULL, true},
    {"index", "find the ranks of a job faster", cw_eval_index, NULL, true},
    {"mpi", "evaluate a large job on several nodes", mpi, NULL, true},
    {"complete", "the possible ends of a word, for shells", cw_query_complete, NULL, true},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* Whether the first word is a capture or an option of the table. */
static bool is_for_table(const char *word)
{
    static const char *const own[] = {"--help", "--help=all", "-h", "-?", "help", "--version", "-V"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(word, own[i]) == 0)
            return false;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(word, commands[i].name) == 0)
            return false;
    return *word == '-' || strpbrk(word, "./@") || access(word, F_OK) == 0;
}

int main(int argc, char **argv)
{
    cw_cli_init();
    if (argc > 1 && is_for_table(argv[1])) {
        argv[0] = (char[]){"counterworks table"};
        return cw_eval_table(argc, argv);
    }
    const int code = cw_usage_run(argc, argv, commands, COMMAND_COUNT,
                                  "Measures the work of NVIDIA GPUs. Only Capture needs a GPU.", NULL);
    return code ? code : cw_cli_finish(CW_OK, NULL);
}
