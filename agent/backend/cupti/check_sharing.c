/* Checks the limits of shared GPUs: CUDA's multi-process service (MPS), and parts of a GPU (MIG). */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/backend/cupti/check.h"

/* Captures that CUPTI counts by context; samples over time are of the whole GPU. */
static const char *const by_context[] = {
    [CW_NEED_RANGE] = "range", [CW_NEED_PC] = "pc", [CW_NEED_SASS] = "sass", [CW_NEED_ALL] = NULL};

bool cw_check_mps(FILE *to, enum cw_need need, int device)
{
    bool good = true;
    for (int way = CW_NEED_RANGE; way < CW_NEED_ALL; way++) {
        if (need != CW_NEED_ALL && (int)need != way)
            continue;
        if (by_context[way])
            good = cw_answer(to, CW_ERR_UNSUPPORTED,
                             "GPU %d is used through CUDA's multi-process service (MPS), where CUPTI does no '%s': end "
                             "MPS by 'echo quit | nvidia-cuda-mps-control', or name an empty folder in "
                             "CUDA_MPS_PIPE_DIRECTORY",
                             device, by_context[way]) &&
                   good;
        else
            cw_answer(to, CW_ANSWER_NOTE,
                      "GPU %d is used through CUDA's multi-process service (MPS): samples hold the work of all its "
                      "clients",
                      device);
    }
    return good;
}

/* Whether /proc lists a process of this name (its first 15 characters). */
static bool runs(const char *proc, const char *name)
{
    bool found = false;
    DIR *all = opendir(proc);
    const struct dirent *one;
    while (all && !found && (one = readdir(all))) {
        char path[512], comm[64] = "";
        snprintf(path, sizeof path, "%.200s/%.200s/comm", proc, one->d_name);
        FILE *f = isdigit((unsigned char)one->d_name[0]) ? fopen(path, "re") : NULL;
        found = f && fgets(comm, sizeof comm, f) && strncmp(comm, name, strlen(name)) == 0;
        if (f)
            fclose(f);
    }
    if (all)
        closedir(all);
    return found;
}

void cw_check_mps_daemon(FILE *to, const char *proc)
{
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    char pipes[512];
    snprintf(pipes, sizeof pipes, "%.480s/control", folder ? folder : "/tmp/nvidia-mps");
    const bool here = access(pipes, F_OK) == 0, daemon = runs(proc, "nvidia-cuda-mps");
    if (daemon)
        cw_answer(to, CW_ANSWER_NOTE,
                  "CUDA's multi-process service (MPS) runs on this node: of a program that uses it (%s), only samples "
                  "over time (pm) can be captured",
                  here ? pipes : "its CUDA_MPS_PIPE_DIRECTORY is not this one");
    else if (here)
        cw_answer(to, CW_ANSWER_NOTE,
                  "found %s of CUDA's multi-process service (MPS) and no process of it, which may run outside of this "
                  "container: of a program that reaches it, only samples over time (pm) can be captured",
                  pipes);
}

void cw_check_mig(FILE *to, int device, const char *pci, bool split)
{
    if (split)
        cw_answer(to, CW_ANSWER_NOTE,
                  "GPU %d is split by MIG: units that its parts share cannot be counted, and ranges hold the work of "
                  "the launching context alone; 'nvidia-smi -i %s -mig 0' makes it whole again",
                  device, pci);
    else
        cw_answer(to, CW_ANSWER_OK, "GPU %d is not split by MIG", device);
}
