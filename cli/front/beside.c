#define _GNU_SOURCE
#include "cli/front/beside.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/usage.h"

void cw_front_folder(char *folder, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

int cw_front_become(const char *program, const char *has, const char *command, int argc, char **argv)
{
    struct cw_error err = CW_ERROR_INIT;
    char folder[PATH_MAX], path[PATH_MAX + 64];
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words)
        return cw_usage_fail((cw_error_nomem(&err), &err));
    size_t count = 0;
    words[count++] = argv[0];
    if (command)
        words[count++] = (char *)(uintptr_t)command;
    memcpy(words + count, argv + 1, (size_t)(argc - 1) * sizeof *words);
    cw_front_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s", folder, program);
    execv(path, words);
    if (errno == ENOENT)
        execvp(program, words);
    const int reason = errno;
    free(words);
    if (reason == ENOENT)
        cw_error_set(&err, CW_ERR_UNSUPPORTED, "found no %s in %s or PATH, expected it there: %s", program, folder,
                     has);
    else
        cw_error_set(&err, CW_ERR_IO, "cannot run %s: %s", path, strerror(reason));
    return cw_usage_fail(&err);
}
