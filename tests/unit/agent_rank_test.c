/* Which launcher tells a process its rank, and how many ranks there are: environments as launchers make them. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "agent/common/file_name.h"

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
