#define _GNU_SOURCE
#include "cli/front/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/front/beside.h"

extern char **environ;

void cw_shell_put(FILE *line, const char *word)
{
    const bool plain = cw_text_is_plain_word(word);
    fputs(plain ? " " : " '", line);
    for (; *word; word++)
        *word == '\'' ? fputs("'\\''", line) : fputc(*word, line);
    fputs(plain ? "" : "'", line);
}

/* Puts a part of a line that is quoted with its quotes, or as $'...': sh may be dash, which does not know the latter.
 */
static const char *put_quoted(FILE *out, const char *from, const char *end)
{
    char *text = strndup(from + 1, (size_t)(end - from) - 1), *word = text ? cw_text_quote(text) : NULL;
    if (word && *word == '$')
        fputs(word, out);
    else
        cw_text_print(out, "'%s'", text ? text : "");
    free(text);
    free(word);
    return end + 1;
}

/* Prints the line as one that people can paste. */
static void print_line(const char *line)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (const char *end; out && *line;) {
        if (*line == '\'' && (end = strchr(line + 1, '\''))) {
            line = put_quoted(out, line, end);
            continue;
        }
        const size_t length = *line == '\\' && line[1] ? 2 : 1;
        fwrite(line, 1, length, out);
        line += length;
    }
    if (out && fclose(out) == 0)
        cw_text_print(stderr, "$ %s\n", text);
    free(text);
}

/* ---- signals ---------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t running; /* a process that gets the signals of this one, or 0 */

static void pass_on(int signal_number)
{
    if (running > 0)
        kill(running, signal_number);
}

static const int passed[] = {SIGTERM, SIGHUP}, left_alone[] = {SIGINT, SIGQUIT};
enum { PASSED = sizeof passed / sizeof *passed, LEFT_ALONE = sizeof left_alone / sizeof *left_alone };

/* A signal that is ignored stays so, here and in the command, as under nohup. */
static void take_signals(struct sigaction old[PASSED + LEFT_ALONE])
{
    const struct sigaction pass = {.sa_handler = pass_on}, none = {.sa_handler = SIG_IGN};
    for (int i = 0; i < PASSED; i++) {
        sigaction(passed[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN)
            sigaction(passed[i], &pass, NULL);
    }
    for (int i = 0; i < LEFT_ALONE; i++)
        sigaction(left_alone[i], &none, &old[PASSED + i]);
}

static void give_signals_back(const struct sigaction old[PASSED + LEFT_ALONE])
{
    for (int i = 0; i < PASSED; i++)
        sigaction(passed[i], &old[i], NULL);
    for (int i = 0; i < LEFT_ALONE; i++)
        sigaction(left_alone[i], &old[PASSED + i], NULL);
}

/* The signals that a new process gets back, as they were for this program. */
static void default_signals(posix_spawnattr_t *attributes, const struct sigaction old[PASSED + LEFT_ALONE])
{
    sigset_t back;
    sigemptyset(&back);
    for (int i = 0; i < LEFT_ALONE; i++)
        if (old[PASSED + i].sa_handler != SIG_IGN)
            sigaddset(&back, left_alone[i]);
    posix_spawnattr_setsigdefault(attributes, &back);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Reads the first line, and drops the rest. */
static void read_answer(int from, char *answer, size_t size)
{
    FILE *in = fdopen(from, "r");
    *answer = '\0';
    if (!in) {
        close(from);
        return;
    }
    if (!fgets(answer, (int)size, in))
        *answer = '\0';
    answer[strcspn(answer, "\n")] = '\0';
    while (getc(in) != EOF)
        ;
    fclose(in);
}

/* Runs a line, whose $0 is `own`; its standard output goes into `pipe_ends` if there are some. */
static int run(const char *line, const char *own, int pipe_ends[2], char *answer, size_t size)
{
    struct sigaction old[PASSED + LEFT_ALONE];
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    pid_t child;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    if (pipe_ends)
        posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    fflush(NULL);
    take_signals(old);
    default_signals(&attributes, old);
    const char *const words[] = {"sh", "-c", line, own, NULL};
    const int failed = posix_spawn(&child, "/bin/sh", &actions, &attributes, (char *const *)(uintptr_t)words, environ);
    running = failed ? 0 : (sig_atomic_t)child;
    if (pipe_ends) {
        close(pipe_ends[1]);
        read_answer(pipe_ends[0], answer, size);
    }
    const int status = failed ? 127 : wait_for(child);
    running = 0;
    give_signals_back(old);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return status;
}

int cw_shell_run(const char *line, bool quiet)
{
    static const char name[] = "counterworks";
    char *command = NULL, folder[PATH_MAX], own[PATH_MAX + sizeof name];
    if (!quiet)
        print_line(line);
    /* the one of this folder, whatever PATH has: PATH is the program's */
    cw_front_folder(folder, sizeof folder);
    snprintf(own, sizeof own, "%s/%s", folder, name);
    const bool ours = strncmp(line, "counterworks ", sizeof name) == 0 && access(own, X_OK) == 0;
    /* exec: signals are for the command, not for its shell */
    if (asprintf(&command, "exec %s%s", ours ? "\"$0\"" : "", line + (ours ? strlen(name) : 0)) < 0)
        return CW_ERR_NOMEM;
    const int status = run(command, ours ? own : "sh", NULL, NULL, 0);
    free(command);
    return status;
}

int cw_shell_ask(const char *line, bool quiet, char *answer, size_t size)
{
    int pipe_ends[2];
    if (!quiet)
        print_line(line);
    return pipe2(pipe_ends, O_CLOEXEC) ? 127 : run(line, "sh", pipe_ends, answer, size);
}
