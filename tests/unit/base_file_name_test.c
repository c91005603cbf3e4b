/* Which launcher tells a process its rank, and how many ranks there are: environments as launchers make them. Names
 * that are filled in with it. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_name.h"

/* "A=1 B=2": the whole environment. */
static void set_environment(const char *variables)
{
    char *text = strdup(variables), *rest = text;
    clearenv();
    for (char *one = strtok_r(text, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(one, '=');
        *value++ = 0;
        setenv(one, value, 1);
    }
    free(text);
}

static void expect_text(const char *found, const char *expected, const char *what, const char *variables)
{
    cr_expect(expected ? found && strcmp(found, expected) == 0 : !found, "%s of '%s': found %s, expected %s", what,
              variables, found ? found : "none", expected ? expected : "none");
}

static void expect(const char *variables, const char *rank, const char *count)
{
    set_environment(variables);
    expect_text(cw_rank(), rank, "rank", variables);
    expect_text(cw_rank_count(), count, "count", variables);
}

#define STEP "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 "

Test(rank, each_launcher_by_itself)
{
    expect("", NULL, NULL);
    expect("RANK=9 LOCAL_RANK=1 WORLD_SIZE=16 TORCHELASTIC_RUN_ID=none", "9", "16");
    expect("HOROVOD_RANK=2 HOROVOD_SIZE=4", "2", "4");
    expect("OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 PMIX_RANK=3", "3", "8");
    expect("PMI_RANK=3 PMI_SIZE=8", "3", "8");
    expect("MV2_COMM_WORLD_RANK=3 MV2_COMM_WORLD_SIZE=8", "3", "8");
    expect("MVP_COMM_WORLD_RANK=3 MVP_COMM_WORLD_SIZE=8", "3", "8");
    expect("FLUX_TASK_RANK=3 FLUX_JOB_SIZE=8", "3", "8");
    expect("JSM_NAMESPACE_RANK=3 JSM_NAMESPACE_SIZE=8", "3", "8");
    expect("PALS_RANKID=3 PMI_RANK=3 PMI_SIZE=8", "3", "8");
    expect("PALS_RANKID=3", "3", NULL);
    expect("ALPS_APP_PE=3", "3", NULL);
    expect("PMIX_RANK=3", "3", NULL);
    expect(STEP, "1", "2");
    expect("SLURM_PROCID=3 SLURM_NTASKS=4", "3", "4");
    expect("RANK=3 WORLD_SIZE=4", "3", "4");
}

Test(rank, the_innermost_launcher_tells)
{
    expect(STEP "RANK=9 LOCAL_RANK=1 WORLD_SIZE=16", "9", "16");
    expect(STEP "RANK=9 TORCHELASTIC_RUN_ID=none WORLD_SIZE=16", "9", "16");
    expect(STEP "RANK=0 WORLD_SIZE=2", "1", "2"); /* the number of a node, in a script that calls torchrun */
    expect("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 RANK=9 LOCAL_RANK=1 WORLD_SIZE=16", "9", "16");
    expect("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 LOCAL_RANK=1", "1", "2");
    expect(STEP "OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 PMIX_RANK=5", "5", "8"); /* what mpirun is started by */
    expect(STEP "PMI_RANK=5 PMI_SIZE=8", "5", "8");
    expect(STEP "FLUX_TASK_RANK=5 FLUX_JOB_SIZE=8", "5", "8");
    expect(STEP "PMIX_RANK=1", "1", "2"); /* srun --mpi=pmix */
    expect(STEP "PMIX_RANK=0", "0", NULL);
}

Test(rank, the_script_of_an_allocation_is_no_rank)
{
    expect("SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=64", NULL, NULL);
    expect("SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=64 SLURM_STEP_ID=4294967290", NULL, NULL);
    expect("SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=64 SLURM_STEP_ID=batch", NULL, NULL);
    expect("SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=64 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4", "2", "4");
    expect("SLURM_PROCID=0 SLURM_NTASKS=64 SLURM_STEPID=3 SLURM_STEP_NUM_TASKS=32", "0", "32");
    expect("SLURM_PROCID=0 SLURM_NTASKS=64 SLURM_STEP_ID= SLURM_STEPID=3", "0", "64");
}

Test(rank, a_text_that_is_no_number_is_no_rank)
{
    expect("SLURM_PROCID= RANK=3", "3", NULL);
    expect("OMPI_COMM_WORLD_RANK= PMI_RANK=4 PMI_SIZE=", "4", NULL);
    expect("RANK=abc", NULL, NULL);
    expect("RANK=-1", NULL, NULL);
    expect("RANK=+1", NULL, NULL);
    expect("RANK=3x", NULL, NULL);
    expect("RANK=0x3", NULL, NULL);
    expect("RANK=4294967296", NULL, NULL);
    expect("RANK=18446744073709551616", NULL, NULL);
    expect("RANK=4294967295 WORLD_SIZE=4294967296", "4294967295", NULL);
    expect("RANK=../3 SLURM_PROCID=2 LOCAL_RANK=0", "2", NULL);
    expect("RANK=9 LOCAL_RANK= TORCHELASTIC_RUN_ID= SLURM_PROCID=2", "2", NULL);
    expect("RANK=8 WORLD_SIZE=8", "8", NULL); /* no job has such a rank */
    expect("RANK=0 WORLD_SIZE=8x", "0", NULL);
}

static void expect_name(const char *pattern, const char *want)
{
    char *name = NULL;
    struct cw_error err = CW_ERROR_INIT;
    const struct cw_file_name_parts parts = {.host = "node", .rank = "3", .process = 42};
    cr_expect(cw_file_name(&name, pattern, &parts, &err) == (want ? CW_OK : CW_ERR_USAGE), "%s", pattern);
    cr_expect(want ? name && strcmp(name, want) == 0 : !name, "%s", pattern);
    free(name);
}

Test(file_name, parts_are_filled_in)
{
    setenv("CW_TEST_JOB", "night", 1);
    unsetenv("CW_TEST_NONE");
    expect_name("run.%h.%p.r%r.cwd", "run.node.42.r3.cwd");
    expect_name("%q{CW_TEST_JOB}%q{CW_TEST_NONE}-100%%", "night-100%");
    expect_name("plain", "plain");
    expect_name("run.%", NULL);
    expect_name("run.%x", NULL);
    expect_name("run.%q{", NULL);
    expect_name("run.%qJOB", NULL);
}

static void expect_refused(const char *pattern, const char *value, const struct cw_file_name_parts *parts)
{
    char *name, expected[200];
    struct cw_error told = CW_ERROR_INIT;
    snprintf(expected, sizeof expected, "found '%s' for %s in the file name '%s', expected a value that is no path",
             value, pattern, pattern);
    cr_expect(cw_file_name(&name, pattern, parts, &told) == CW_ERR_USAGE && !name);
    cr_expect_str_eq(told.message, expected);
}

Test(file_name, a_value_leads_to_no_other_folder)
{
    const char *const bad[] = {"/etc", "../x", "a/b", "/", ".", "..", "...."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("CW_TEST_JOB", bad[i], 1);
        expect_refused("%q{CW_TEST_JOB}", bad[i], &(struct cw_file_name_parts){.rank = "3"});
        expect_refused("%h", bad[i], &(struct cw_file_name_parts){.host = bad[i]});
        expect_refused("%r", bad[i], &(struct cw_file_name_parts){.rank = bad[i]});
    }
    setenv("CW_TEST_JOB", "..a.b..", 1);
    expect_name("../%q{CW_TEST_JOB}/x", "../..a.b../x");
}

static void expect_glob(const char *pattern, bool any_host, const char *want)
{
    char *glob = NULL;
    struct cw_error err = CW_ERROR_INIT;
    setenv("CW_TEST_JOB", "a*b", 1);
    cr_expect(cw_file_name_glob(&glob, pattern, any_host, &err) == (want ? CW_OK : CW_ERR_USAGE), "%s", pattern);
    cr_expect(want ? glob && strcmp(glob, want) == 0 : !glob, "%s: %s", pattern, glob ? glob : "none");
    free(glob);
}

Test(file_name, names_of_other_processes_are_found_by_a_glob)
{
    char host[256] = "", of_host[300];
    gethostname(host, sizeof host - 1);
    snprintf(of_host, sizeof of_host, "%s.[0-9]*", host);
    expect_glob("run.%p.%r%%.cwd", false, "run.[0-9]*.[0-9n]*%.cwd");
    expect_glob("%h.%p", false, of_host);
    expect_glob("%h.%p", true, "*.[0-9]*");
    expect_glob("[1]?*\\%q{CW_TEST_JOB}", false, "\\[1]\\?\\*\\\\a\\*b");
    expect_glob("run.%q{CW_TEST_JOB}.cwd", true, "run.*.cwd"); /* another host has another value */
    expect_glob("run.%x", true, NULL);
    expect_glob("run.%q{", true, NULL);
}

static void expect_fit(const char *pattern, const char *name, bool fits)
{
    char *glob = NULL;
    cr_assert(cw_file_name_glob(&glob, pattern, true, NULL) == CW_OK);
    cr_expect(cw_file_name_fits(glob, name) == fits, "%s: %s", pattern, name);
    free(glob);
}

Test(file_name, a_process_is_digits_and_a_rank_may_be_none)
{
    expect_fit("of/%p.cwd", "of/12.cwd", true);
    expect_fit("of/%p.cwd", "of/other.cwd", false);
    expect_fit("of/%p.cwd", "of/.cwd", false);
    expect_fit("of/%p.cwd", "of/1x.cwd", false);
    expect_fit("of/%p.cwd", "of/none.cwd", false);
    expect_fit("%p%p2", "122", true);
    expect_fit("%p%p2", "12", false);
    expect_fit("%r.cwd", "0.cwd", true);
    expect_fit("%r.cwd", "none.cwd", true);
    expect_fit("%r.cwd", "n.cwd", false);
    expect_fit("%r.cwd", "none1.cwd", false);
    expect_fit("%h.%q{JOB}.cwd", "node.1.night.x.cwd", true);
    expect_fit("%h.%q{JOB}.cwd", "..cwd", true);
    expect_fit("%h.cwd", "a/b.cwd", false);
    expect_fit("[0-9]*%p\\?.cwd", "[0-9]*7\\?.cwd", true);
    expect_fit("[0-9]*%p\\?.cwd", "77\\?.cwd", false);
    expect_fit("plain", "plain.cwd", false);
    expect_fit("plain.cwd", "plain", false);
}

Test(file_name, every_name_has_a_pattern)
{
    const char *const plain[] = {"", "run.cwd", "50%", "%", "a%pb%%.%r"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        char *pattern = cw_file_name_literal(plain[i]);
        cr_assert(pattern);
        expect_name(pattern, plain[i]);
        free(pattern);
    }
}
