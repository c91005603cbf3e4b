#define _GNU_SOURCE
#include "agent/inject/driver/say.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void cw_say_begin(void)
{
    struct stat file;
    if (fstat(STDERR_FILENO, &file) == 0)
        *cw_standard_error = (struct cw_descriptor){STDERR_FILENO, file.st_dev, file.st_ino};
}

/* Whether a line can be written at once: otherwise the write would block, or end the program by SIGPIPE or SIGXFSZ. */
static bool takes_a_line(size_t size)
{
    struct stat now;
    struct pollfd file = {.fd = STDERR_FILENO, .events = POLLOUT};
    return cw_descriptor_number(cw_standard_error) >= 0 && fstat(STDERR_FILENO, &now) == 0 &&
           (!S_ISREG(now.st_mode) || cw_descriptor_may_grow((size_t)now.st_size + size)) && poll(&file, 1, 0) == 1 &&
           file.revents == POLLOUT;
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
