/* Checks a node. Asks driver and CUPTI in a process of its own: the agent itself never holds a GPU context, and a
 * library that crashes stops only the check. */
#define _GNU_SOURCE
#include "agent/backend/cupti/check.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/backend/node_facts.h"
#include "base/text.h"
#include "host/nvperf/nvperf.h"

enum { LONGEST_ANSWER = 1024 };

bool cw_answer(FILE *to, int kind, const char *format, ...)
{
    char text[LONGEST_ANSWER];
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
        const char *value = getenv(variables[i]);
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

static void check_environment(FILE *to)
{
    if (in_container())
        cw_answer(to, CW_ANSWER_OK, "in a container%s", has_capability() ? " with the right to administer" : "");
    check_restriction(to);
    check_tools(to);
    cw_check_mps_daemon(to, "/proc");
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static void check_host_library(FILE *to, enum cw_need need)
{
    const struct cw_nvperf *library;
    struct cw_error missing = CW_ERROR_INIT;
    if (need == CW_NEED_PC || need == CW_NEED_SASS || need == CW_NEED_TRACE)
        return;
    if (cw_nvperf_open(&library, NULL, &missing) == CW_OK)
        cw_answer(to, CW_ANSWER_OK, "NVIDIA's host library");
    else
        cw_answer(to, missing.code, "%s", missing.message);
}

static void check_all(FILE *to, const struct cw_node_needs *needs)
{
    check_host_library(to, needs->need);
    if (needs->report)
        check_environment(to);
    cw_check_gpu(to, needs);
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

static void take_fact(struct cw_node_facts *facts, const char *text)
{
    char word[16] = "", key[64] = "";
    unsigned number;
    int read = 0;
    if (sscanf(text, "gpu %u %n", &number, &read) == 1 && read)
        cw_node_facts_gpu(facts, number, text + read);
    else if (sscanf(text, "attribute %63s %n", key, &read) == 1 && read)
        cw_node_facts_attribute(facts, key, text + read);
    else if (sscanf(text, "%15s %63s", word, key) >= 1 && strcmp(word, "does") == 0)
        cw_node_facts_does(facts, key);
    else if (strcmp(word, "lacks") == 0)
        cw_node_facts_lacks(facts, *key ? key : NULL);
}

static void take_line(const struct cw_node_needs *needs, int kind, const char *text, struct cw_error *err)
{
    if (kind == CW_ANSWER_FACT) {
        if (needs->facts)
            take_fact(needs->facts, text);
        return;
    }
    if (kind == CW_ANSWER_CHIP) {
        if (needs->found_chip)
            snprintf(needs->found_chip, CW_CHIP_NAME_SIZE, "%s", text);
        return;
    }
    if (kind == CW_ANSWER_DEVICE) {
        unsigned long number = strtoul(text, NULL, 10);
        if (needs->found_devices && number < 64)
            *needs->found_devices |= UINT64_C(1) << number;
        return;
    }
    if (kind == CW_ANSWER_METRIC) {
        puts(text);
        return;
    }
    if (needs->report)
        printf("%-5s %s\n", kind == CW_ANSWER_OK ? "ok" : kind == CW_ANSWER_NOTE ? "note" : "FAIL", text);
    if (kind > CW_ANSWER_NOTE)
        cw_error_set(err, (enum cw_status)kind, "%s", text);
}

static void read_answers(FILE *from, const struct cw_node_needs *needs, struct cw_error *err)
{
    char line[LONGEST_ANSWER + 16];
    while (fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = 0;
        char *text;
        int kind = (int)strtol(line, &text, 10);
        take_line(needs, kind, text + (*text == ' '), err);
    }
}

enum cw_status cw_node_check(const struct cw_node_needs *needs, struct cw_error *err)
{
    int ends[2];
    struct cw_error first = CW_ERROR_INIT; /* `err` may be NULL */
    if (needs->found_chip)
        *needs->found_chip = 0;
    if (needs->found_devices)
        *needs->found_devices = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cw_error_set(err, CW_ERR_IO, "cannot create a pipe");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        FILE *to = fdopen(ends[1], "w");
        if (to)
            check_all(to, needs);
        _exit(to ? 0 : CW_ERR_NOMEM);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    if (pid > 0 && from)
        read_answers(from, needs, &first);
    else
        cw_error_nomem(&first);
    if (from)
        fclose(from);
    int how = 0;
    if (pid > 0 && waitpid(pid, &how, 0) == pid && WIFSIGNALED(how))
        cw_error_set(&first, CW_ERR_DEVICE, "the check of driver and CUPTI crashed with signal %d", WTERMSIG(how));
    else if (pid > 0 && WIFEXITED(how) && WEXITSTATUS(how) == CW_ERR_NOMEM)
        cw_error_nomem(&first);
    else if (pid > 0 && how)
        cw_error_set(&first, CW_ERR_DEVICE, "the check of driver and CUPTI ended with status %d, expected 0",
                     WEXITSTATUS(how));
    return first.code == CW_OK ? CW_OK : cw_error_set(err, first.code, "%s", first.message);
}
