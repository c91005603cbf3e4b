/* Checks that need neither driver nor CUPTI: files and variables of the process, and limits of GPUs that are shared by
 * CUDA's multi-process service (MPS) or split into parts (MIG). */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/backend/cupti/check.h"
#include "agent/common/other_tool.h"
#include "base/text.h"

bool cw_answer(FILE *to, int kind, const char *format, ...)
{
    char text[CW_LONGEST_ANSWER];
    va_list args;
    va_start(args, format);
    cw_text_vformat(text, sizeof text, format, args);
    va_end(args);
    fprintf(to, "%d %s\n", kind, text);
    fflush(to);
    return kind <= CW_ANSWER_NOTE;
}

/* ---- files and variables ---------------------------------------------------------------------------------------- */

enum { CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38 };

/* Reads the text behind `key` in the first line of a file that begins with it; false if there is none. */
static bool find_line(const char *path, const char *key, char *value, size_t size)
{
    char line[512];
    bool found = false;
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        found = strncmp(line, key, strlen(key)) == 0;
        line[strcspn(line, "\n")] = 0;
        if (found)
            snprintf(value, size, "%s", line + strlen(key) + strspn(line + strlen(key), " \t"));
    }
    if (f)
        fclose(f);
    return found;
}

static bool has_capability(void)
{
    char text[64];
    if (!find_line("/proc/self/status", "CapEff:", text, sizeof text))
        return false;
    unsigned long long bits = strtoull(text, NULL, 16);
    return bits >> CAP_SYS_ADMIN_BIT & 1 || bits >> CAP_PERFMON_BIT & 1;
}

static bool in_container(void)
{
    char text[64];
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 || getenv("SINGULARITY_NAME") ||
           getenv("APPTAINER_NAME") || getenv("KUBERNETES_SERVICE_HOST") ||
           (find_line("/proc/1/environ", "container=", text, sizeof text));
}

const char *cw_check_permission_advice(void)
{
    if (has_capability())
        return "";
    if (in_container())
        return "start the container with --cap-add=SYS_ADMIN, or load the node's driver with "
               "NVreg_RestrictProfilingToAdminUsers=0";
    return "run as root or with CAP_SYS_ADMIN, or let the administrator load the driver with "
           "NVreg_RestrictProfilingToAdminUsers=0";
}

static void check_restriction(FILE *to)
{
    char text[64];
    if (!find_line("/proc/driver/nvidia/params", "RmProfilingAdminOnly:", text, sizeof text))
        return;
    bool restricted = strcmp(text, "0") != 0;
    const char *advice = restricted ? cw_check_permission_advice() : "";
    if (*advice)
        cw_answer(to, CW_ANSWER_NOTE, "the driver gives counters to administrators only: %s", advice);
    else
        cw_answer(to, CW_ANSWER_OK,
                  restricted ? "the driver gives counters to administrators only, and this process runs as one"
                             : "the driver lets every user read counters");
}

static void check_tools(FILE *to)
{
    static const char *const variables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
    bool clear = true;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = cw_other_tool(variables[i]);
        if (!value)
            continue;
        clear = false;
        /* a program takes one injected library only */
        cw_answer(to, i == 0 ? (int)CW_ERR_DEVICE : (int)CW_ANSWER_NOTE,
                  "%s is set to %s: another tool profiles already; unset it", variables[i], value);
    }
    if (clear)
        cw_answer(to, CW_ANSWER_OK, "no other tool is set to be loaded into programs");
}

/* ---- shared GPUs ------------------------------------------------------------------------------------------------ */

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
                  "CUDA's multi-process service (MPS) runs on this node: a program that uses it (%s) can only be "
                  "captured by samples over time (pm)",
                  here ? pipes : "its CUDA_MPS_PIPE_DIRECTORY is not this one");
    else if (here)
        cw_answer(to, CW_ANSWER_NOTE,
                  "found %s of CUDA's multi-process service (MPS) and no process of it, which may run outside of this "
                  "container: a program that reaches it can only be captured by samples over time (pm)",
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

/* ---- all -------------------------------------------------------------------------------------------------------- */

void cw_check_environment(FILE *to)
{
    if (in_container())
        cw_answer(to, CW_ANSWER_OK, "in a container%s", has_capability() ? " with the right to administer" : "");
    check_restriction(to);
    check_tools(to);
    cw_check_mps_daemon(to, "/proc");
}
