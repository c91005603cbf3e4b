/* Checks a node. Asks driver and CUPTI in a process of its own: the agent itself never holds a GPU context, and a
 * library that crashes stops only the check. */
#define _GNU_SOURCE
#include "agent/backend/cupti/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/backend/node_facts.h"
#include "host/nvperf/nvperf.h"

/* ---- asking ----------------------------------------------------------------------------------------------------- */

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
        cw_check_environment(to);
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
    char line[CW_LONGEST_ANSWER + 16];
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
