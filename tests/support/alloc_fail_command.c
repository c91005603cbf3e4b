/* Makes a whole command run out of memory. How many allocations of our code and of jansson there were is written to the file
 * CW_ALLOC_SEEN. With CW_ALLOC_SWEEP="N N ..." in its environment it runs once for each N, and the allocation after N more
 * fails: in the folder N, which is made, with an empty folder `made` in it, its output in the files `out` and `err` and its
 * exit status in `status`, as a shell has it. Each is a fork from before main, for with sanitizers a start takes longer than
 * what most commands do. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/support/alloc_fail.h"

static void check(bool done, const char *what)
{
    if (!done) {
        perror(what);
        _exit(99);
    }
}

static void enter(const char *folder)
{
    char made[64];
    snprintf(made, sizeof made, "%s/made", folder);
    check(mkdir(folder, 0777) == 0 && mkdir(made, 0777) == 0 && chdir(folder) == 0, folder);
    for (int to = 1; to <= 2; to++) {
        int file = open(to == 1 ? "out" : "err", O_WRONLY | O_CREAT | O_EXCL, 0666);
        check(file >= 0 && dup2(file, to) == to && close(file) == 0, folder);
    }
}

static void note_status(const char *folder, int status)
{
    char path[64];
    snprintf(path, sizeof path, "%s/status", folder);
    FILE *file = fopen(path, "w");
    check(file, path);
    fprintf(file, "%d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    check(fclose(file) == 0, path);
}

/* Returns in each fork, and ends where it was called. */
static void fork_each(const char *list)
{
    char *end;
    for (long at = strtol(list, &end, 10); end != list; list = end, at = strtol(list, &end, 10)) {
        char folder[32];
        int status;
        snprintf(folder, sizeof folder, "%ld", at);
        pid_t child = fork();
        check(child >= 0, "fork");
        if (child == 0) {
            enter(folder);
            cw_alloc_fail_after(at);
            return;
        }
        check(waitpid(child, &status, 0) == child, "waitpid");
        note_status(folder, status);
    }
    _exit(0);
}

__attribute__((constructor)) static void begin(void)
{
    const char *list = getenv("CW_ALLOC_SWEEP");
    json_set_alloc_funcs(malloc, free); /* the ones that can fail */
    cw_alloc_fail_after(-1);
    if (list)
        fork_each(list);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("CW_ALLOC_SEEN");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "%ld\n", cw_alloc_seen());
        fclose(out);
    }
}
