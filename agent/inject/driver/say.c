#define _GNU_SOURCE
#include "agent/inject/driver/say.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/inject/driver/descriptor.h"

static struct stat standard_error; /* no inode: there was none */

void cw_say_begin(void)
{
    if (fstat(STDERR_FILENO, &standard_error) != 0)
        standard_error.st_ino = 0;
}

/* A program may close it, and its next file gets the number. */
static bool is_still_there(struct stat *now)
{
    return standard_error.st_ino && fstat(STDERR_FILENO, now) == 0 && now->st_dev == standard_error.st_dev &&
           now->st_ino == standard_error.st_ino;
}

/* Else a write would wait, or end the program by SIGPIPE or SIGXFSZ. */
static bool takes_a_line(size_t size)
{
    struct stat now;
    struct pollfd file = {.fd = STDERR_FILENO, .events = POLLOUT};
    return is_still_there(&now) && (!S_ISREG(now.st_mode) || cw_descriptor_may_grow((size_t)now.st_size + size)) &&
           poll(&file, 1, 0) == 1 && file.revents == POLLOUT;
}

void cw_say(const char *format, ...)
{
    char line[600] = "counterworks: ";
    size_t start = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + start, sizeof line - start - 1, format, args);
    va_end(args);
    size_t size = strlen(line);
    line[size++] = '\n';
    if (takes_a_line(size))
        (void)!write(STDERR_FILENO, line, size);
}
