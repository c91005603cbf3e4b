/* How long metric-query takes to answer, as a whole process, beside the least program over NVIDIA's host library.
 *
 *     query_bench [RUNS]
 *
 * Every line is the median of RUNS runs (20); what is printed is read through a pipe. The commands are those of the
 * same build. "straight from YAML" is a chip file that has no compiled form. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "metricdb/chip_files.h"

extern char **environ;
enum { MOST_RUNS = 1000, MOST_ARGUMENTS = 8 };

struct answer {
    double ms, cpu; /* cpu: of the process */
    size_t bytes, lines;
    int code;
};

static char query[PATH_MAX], rival[PATH_MAX];
static int runs = 20;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "query_bench: %s\n", what);
    exit(1);
}

static struct answer ask(const char *const *command)
{
    static char buffer[1 << 20];
    struct answer a = {0};
    int ends[2];
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0)
        die("no pipe");
    (void)fcntl(ends[1], F_SETPIPE_SZ, (int)sizeof buffer);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    double start = now();
    if (posix_spawn(&child, command[0], &actions, NULL, (char **)(uintptr_t)command, environ) != 0)
        die(command[0]);
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0; a.bytes += (size_t)n)
        for (char *at = buffer; (at = memchr(at, '\n', (size_t)(buffer + n - at))); at++)
            a.lines++;
    struct rusage used;
    wait4(child, &a.code, 0, &used);
    a.ms = now() - start;
    a.cpu = 1e3 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
            1e-3 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    close(ends[0]);
    posix_spawn_file_actions_destroy(&actions);
    return a;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct answer *)a)->ms, y = ((const struct answer *)b)->ms;
    return (x > y) - (x < y);
}

static int by_cpu(const void *a, const void *b)
{
    double x = ((const struct answer *)a)->cpu, y = ((const struct answer *)b)->cpu;
    return (x > y) - (x < y);
}

static struct answer median(const char *const *command)
{
    static struct answer answers[MOST_RUNS];
    ask(command); /* files into memory */
    for (int i = 0; i < runs; i++)
        answers[i] = ask(command);
    qsort(answers, (size_t)runs, sizeof *answers, by_cpu);
    double cpu = answers[runs / 2].cpu;
    qsort(answers, (size_t)runs, sizeof *answers, by_time);
    answers[runs / 2].cpu = cpu;
    return answers[runs / 2];
}

#define ASK(...) median((const char *const[MOST_ARGUMENTS]){__VA_ARGS__, NULL})

static void tell(const char *what, struct answer ours, const struct answer *theirs)
{
    if (ours.code != 0)
        die(what);
    printf("%-52s %8.2f %7.2f", what, ours.ms, ours.cpu);
    if (theirs && theirs->code == 0)
        printf(" %10.2f %7.2f %7.1f %7.1f", theirs->ms, theirs->cpu, theirs->ms / ours.ms, theirs->cpu / ours.cpu);
    else
        printf(" %10s %7s %7s %7s", "-", "-", "-", "-");
    printf("  %zu lines\n", ours.lines);
}

/* A copy under another name, which no compiled form has. */
static void copy_chip(const struct cw_chip_file *file, const char *to)
{
    struct cw_bytes bytes;
    if (cw_file_read(&bytes, file->path, 64 << 20, NULL) != CW_OK ||
        cw_file_write(to, bytes.data, bytes.size, NULL) != CW_OK)
        die(to);
    cw_bytes_free(&bytes);
}

/* The slowest chip, whichever that is, and its file. */
static struct answer slowest(const struct cw_chip_file *files, size_t count, char *name, bool yaml)
{
    struct answer worst = {0};
    char copy[] = "/tmp/query_bench_copy.yaml";
    for (size_t i = 0; i < count; i++) {
        const char *chip = files[i].names[0];
        if (yaml)
            copy_chip(&files[i], copy);
        struct answer a = yaml ? ASK(query, "describe", "--chip-file", copy, "sm__inst_executed.sum")
                               : ASK(query, "describe", "--chip", chip, "sm__inst_executed.sum");
        if (a.code != 0)
            die(chip);
        if (a.ms > worst.ms) {
            worst = a;
            snprintf(name, 128, "describe, the slowest chip%s: %s", yaml ? ", straight from YAML" : "", chip);
        }
    }
    unlink(copy);
    return worst;
}

static void measure(const struct cw_chip_file *files, size_t count)
{
    char name[128], copy[] = "/tmp/query_bench_gh100.yaml";
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].names[0], "GH100") == 0)
            copy_chip(&files[i], copy);
    struct answer names = ASK(rival, "GH100"), one = ASK(rival, "GH100", "sm__inst_executed.sum");
    printf("%-52s %8s %7s %10s %7s %7s %7s\n", "whole process", "ours ms", "cpu", "NVIDIA ms", "cpu", "ratio", "cpu");
    tell("describe, GH100", ASK(query, "describe", "--chip", "GH100", "sm__inst_executed.sum"), &one);
    struct answer worst = slowest(files, count, name, false);
    tell(name, worst, NULL);
    worst = slowest(files, count, name, true);
    tell(name, worst, &one);
    tell("list, all names of GH100", ASK(query, "list", "--chip", "GH100", "--all-submetrics"), &names);
    tell("list, all names, straight from YAML", ASK(query, "list", "--chip-file", copy, "--all-submetrics"), &names);
    tell("list, GH100, a name each", ASK(query, "list", "--chip", "GH100"), NULL);
    tell("list --search 'l2 hit rate'", ASK(query, "list", "--chip", "GH100", "--search", "l2 hit rate"), NULL);
    tell("compare GA100 and GH100", ASK(query, "compare", "--chip", "GA100", "--chip", "GH100"), NULL);
    tell("chips", ASK(query, "chips"), NULL);
    tell("complete metrics, one chip", ASK(query, "complete", "metrics", "--chip", "GH100", "lts__t_se"), NULL);
    tell("complete metrics, any chip", ASK(query, "complete", "metrics", "lts__t_se"), NULL);
    unlink(copy);
    if (names.code == 0)
        printf("NVIDIA's library listed %zu names\n", names.lines);
    else
        printf("NVIDIA's host library was not found\n");
}

static void print_sizes(const struct cw_chip_file *files, size_t count)
{
    char folder[PATH_MAX];
    off_t yaml = 0, compiled = 0;
    snprintf(folder, sizeof folder, "%s", query);
    *strrchr(folder, '/') = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        char path[2 * PATH_MAX];
        const char *base = strrchr(files[i].path, '/') + 1;
        snprintf(path, sizeof path, "%s/../share/counterworks/compiled/%.*s.cwchip", folder, (int)strcspn(base, "."),
                 base);
        if (stat(files[i].path, &st) == 0)
            yaml += st.st_size;
        if (stat(path, &st) == 0)
            compiled += st.st_size;
    }
    printf("%zu chip files: %.2f MB of YAML, %.2f MB compiled\n", count, 1e-6 * (double)yaml, 1e-6 * (double)compiled);
}

int main(int argc, char **argv)
{
    const struct cw_chip_file *files = NULL;
    size_t count = 0;
    struct cw_arena *arena = cw_arena_create();
    char here[PATH_MAX - 64];
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    runs = argc > 1 ? atoi(argv[1]) : runs;
    if (length < 0 || runs < 1 || runs > MOST_RUNS)
        die("found no number of runs from 1 to 1000");
    here[length] = 0;
    *strrchr(here, '/') = 0;
    snprintf(query, sizeof query, "%s/../bin/metric-query", here);
    snprintf(rival, sizeof rival, "%s/nvperf_names", here);
    if (access(rival, X_OK) != 0)
        snprintf(rival, sizeof rival, "/bin/false");
    if (!arena || cw_chip_files(&files, &count, NULL, arena, NULL) != CW_OK)
        die("found no chip files");
    measure(files, count);
    print_sizes(files, count);
    cw_arena_destroy(arena);
    return 0;
}
