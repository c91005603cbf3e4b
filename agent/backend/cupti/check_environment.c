/* What a node says of itself in files and variables. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/backend/cupti/check.h"

enum { CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38 };

/* The text after `key` in the first line of a file that begins with it; false where there is none. */
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

static void check_restriction(const struct cw_answers *a)
{
    char text[64];
    if (!find_line("/proc/driver/nvidia/params", "RmProfilingAdminOnly:", text, sizeof text))
        return;
    bool restricted = strcmp(text, "0") != 0;
    const char *advice = restricted ? cw_check_permission_advice() : "";
    if (*advice)
        cw_answer(a, CW_ANSWER_NOTE, "the driver gives counters to administrators only: %s", advice);
    else
        cw_answer(a, CW_ANSWER_OK,
                  restricted ? "the driver gives counters to administrators only, and this process runs as one"
                             : "the driver lets every user read counters");
}

static void check_tools(const struct cw_answers *a)
{
    static const char *const variables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
    bool clear = true;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (!value)
            continue;
        clear = false;
        /* a program takes one injected library only */
        cw_answer(a, i == 0 ? (int)CW_ERR_DEVICE : (int)CW_ANSWER_NOTE,
                  "%s is set to %s: another tool profiles already; unset it", variables[i], value);
    }
    if (clear)
        cw_answer(a, CW_ANSWER_OK, "no other tool is set to be loaded into programs");
}

static void check_mps(const struct cw_answers *a)
{
    char path[512];
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    snprintf(path, sizeof path, "%s/control", folder ? folder : "/tmp/nvidia-mps");
    if (access(path, F_OK) == 0)
        cw_answer(a, CW_ANSWER_NOTE,
                  "CUDA's multi-process service runs (%s): counters then hold the work of all its clients; stop it by "
                  "'echo quit | nvidia-cuda-mps-control'",
                  path);
}

void cw_check_environment(const struct cw_answers *a)
{
    if (in_container())
        cw_answer(a, CW_ANSWER_OK, "in a container%s", has_capability() ? " with the right to administer" : "");
    check_restriction(a);
    check_tools(a);
    check_mps(a);
}
